//! Random trouble, then quiet: in the end all name the same live process, and the best.
//!
//! A failure names its seed and tells the end of its story; with `EXTREMA_SEED=<seed>` in front
//! a test runs that one alone.

use super::support::{at, calm, params};
use bellwether_core::{Duration, Entropy, Fact, Protocol, Seeded};
use bellwether_protocols::detect::{self, Detect};
use bellwether_protocols::ring::{ChangRoberts, Config, HirschbergSinclair, Params, Variant};
use bellwether_sim::network::{Delay, Loss, Network, Probability};
use bellwether_sim::{Coins, Disk, Fault, Order, Plan, Tracer, Who, World};

/// How many schedules a test runs.
const SCHEDULES: u64 = 5_000;
/// How many of the last events a failure tells.
const TOLD: usize = 200;
/// Nothing happens from outside after this many milliseconds.
const QUIET: u64 = 20_000;
/// The largest ring.
const NODES_MAX: usize = 7;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn chance(percent: u64) -> Probability {
    Probability::try_from(percent as f64 / 100.0).expect("percentages are probabilities")
}

/// The luck of one schedule.
struct Luck(Seeded);

impl Luck {
    fn new(seed: u64) -> Self {
        Self(Seeded::new(seed))
    }

    fn below(&mut self, n: u64) -> u64 {
        self.0.below(n)
    }

    /// A network without losses, or with them.
    fn network(&mut self, loss: u64) -> Network {
        let delay = match self.below(3) {
            0 => Delay::Constant(ms(100)),
            1 => Delay::Uniform { min: ms(5), max: ms(250) },
            _ => Delay::Exponential { min: ms(1), mean: ms(60) },
        };
        let loss = match self.below(loss + 1) {
            0 => Loss::None,
            percent => Loss::Uncorrelated(chance(percent)),
        };
        let (duplicate, reorder) = (chance(self.below(30)), chance(self.below(30)));
        Network { duplicate, reorder, straggle: ms(300), ..Network::uniform(delay, loss) }
    }

    /// Something that happens to a process.
    fn mishap(&mut self, nodes: u32) -> Fault {
        let node = match self.below(4) {
            0 => Who::Leader,
            _ => Who::Node(self.below(u64::from(nodes)) as u32),
        };
        match self.below(12) {
            0..=3 => Fault::Crash { node },
            4..=6 => Fault::Restart { node, disk: Disk::Kept, reboot: self.below(2) == 0 },
            7 => Fault::Resign { node: Who::Leader },
            8 => Fault::Pause { node },
            9 => Fault::Resume { node },
            _ => Fault::Campaign { node },
        }
    }

    /// Some cannot reach some, one way or both.
    fn cuts(&mut self, nodes: u32) -> Vec<Fault> {
        let (mut some, mut rest) = (Vec::new(), Vec::new());
        for node in 0..nodes {
            if self.below(2) == 0 { some.push(node) } else { rest.push(node) }
        }
        let mut cuts = vec![Fault::Cut { from: some.clone(), to: rest.clone() }];
        if self.below(3) > 0 {
            cuts.push(Fault::Cut { from: rest, to: some });
        }
        cuts
    }

    /// A schedule of crashes and changes of mind; with losses and partitions if `harsh`.
    fn plan(&mut self, harsh: bool) -> Plan {
        let nodes = 1 + self.below(NODES_MAX as u64) as u32;
        let mut faults = Vec::new();
        for _ in 0..self.below(14) {
            let when = self.below(QUIET);
            faults.push(at(when, self.mishap(nodes)));
            if harsh && self.below(3) == 0 {
                let when = self.below(QUIET);
                let cuts = if self.below(3) > 0 { self.cuts(nodes) } else { vec![Fault::Heal] };
                faults.extend(cuts.into_iter().map(|fault| at(when, fault)));
            }
        }
        faults.sort_by_key(|timed| timed.at);
        faults.push(at(QUIET, Fault::Heal));
        faults.push(at(QUIET, Fault::Network { network: Box::new(self.network(0)) }));
        let resume = |node| at(QUIET, Fault::Resume { node: Who::Node(node) });
        faults.extend((0..nodes).map(resume));
        let network = self.network(if harsh { 30 } else { 0 });
        let absent: Vec<u32> = (0..nodes).filter(|_| self.below(8) == 0).collect();
        let joins = |node: &u32| at(QUIET, Fault::Join { node: Who::Node(*node) });
        faults.extend(absent.iter().filter(|_| harsh).map(joins));
        let detection = (!harsh).then(|| ms(self.below(500)));
        let drift = if self.below(2) == 0 { 0 } else { 200_000 };
        let offset = ms(5_000);
        let order = Order::Random;
        Plan { absent, order, network, detection, faults, drift, offset, ..Plan::new(nodes) }
    }
}

/// The seeds to run: all, or the one that is asked for.
fn seeds() -> Vec<u64> {
    let asked = std::env::var("EXTREMA_SEED").ok().and_then(|seed| seed.parse().ok());
    asked.map_or_else(|| (0..SCHEDULES).collect(), |seed| vec![seed])
}

/// What is wrong in the end, if anything.
fn complaint<P: Protocol>(world: &World<P>, nodes: u32) -> Option<String> {
    let claim = |node: u32| {
        let mut claim = 0;
        world.node(node)?.facts(world.clock(node), &mut |fact| {
            if let Fact::Claim { weight } = fact {
                claim = weight;
            }
        });
        Some((claim, node))
    };
    let (_, greatest) = (0..nodes).filter_map(claim).max()?;
    let named: Vec<(u32, Vec<u64>)> = (0..nodes)
        .filter_map(|node| {
            let leaders = world.node(node)?.leadership(world.clock(node)).leaders;
            Some((node, leaders.iter().map(|leader| leader.0).collect()))
        })
        .collect();
    let first = named.first()?.1.clone();
    let same = named.iter().all(|(_, leaders)| *leaders == first);
    let right = first == [u64::from(greatest)];
    (!(same && right)).then(|| format!("{named:?}, but {greatest} is the greatest"))
}

/// Runs all schedules of one kind.
fn agree<P: Protocol>(params: P::Params, harsh: bool, settles: Duration) {
    let mut world = World::<P>::new(params);
    for seed in seeds() {
        let plan = Plan { horizon: ms(QUIET) + settles, ..Luck::new(seed).plan(harsh) };
        assert_eq!(plan.check(), Ok(()), "seed {seed}");
        world.run(&plan, Coins::new(seed, 0), &mut ());
        if let Some(wrong) = complaint(&world, plan.nodes) {
            let mut tracer = Tracer::default();
            world.run(&plan, Coins::new(seed, 0), &mut tracer);
            let dull =
                |line: &String| ["heartbeat", "ack", "Own("].iter().any(|dull| line.contains(dull));
            let lines = tracer.records.iter().map(|record| format!("{record:?}"));
            let story: Vec<String> = lines.filter(|line| !dull(line)).collect();
            let story = &story[story.len().saturating_sub(TOLD)..];
            panic!("EXTREMA_SEED={seed}: {wrong}\n{plan:?}\n{}", story.join("\n"));
        }
    }
}

/// A hop takes no longer, or rarely.
const RETRY: Duration = Duration::from_millis(300);
const PATIENCE: Duration = Duration::from_secs(5);

/// Whoever is told the truth agrees within what the parameters say.
fn told<P: Protocol<Params = Params>>(variant: Variant) {
    let params = restless(variant);
    agree::<P>(params, false, params.settles(NODES_MAX));
}

/// Whoever has to find out does so too, a while later.
fn finding_out<P: Protocol<Params = Params>>(variant: Variant) {
    let params = restless(variant);
    let layer = detect::Config { beat: ms(500), suspect: ms(2_500), resend: ms(600), tries: 4 };
    let around = layer.around(params).expect("the layer's parameters keep the rules");
    agree::<Detect<P>>(around, true, params.settles(NODES_MAX) + ms(10_000));
}

fn restless(variant: Variant) -> Params {
    params(Config { call_after: PATIENCE, retry: RETRY, ..calm(variant) })
}

#[test]
fn all_name_the_greatest_once_they_are_told_the_truth_chang_roberts() {
    told::<ChangRoberts>(Variant::ChangRoberts);
}

#[test]
fn all_name_the_greatest_once_they_are_told_the_truth_hirschberg_sinclair() {
    told::<HirschbergSinclair>(Variant::HirschbergSinclair);
}

#[test]
fn all_name_the_greatest_once_the_network_heals_chang_roberts() {
    finding_out::<ChangRoberts>(Variant::ChangRoberts);
}

#[test]
fn all_name_the_greatest_once_the_network_heals_hirschberg_sinclair() {
    finding_out::<HirschbergSinclair>(Variant::HirschbergSinclair);
}
