//! Random trouble, then quiet: in the end all name the same live process, and the best.
//!
//! A failure names its seed and tells the end of its story; with `BULLY_SEED=<seed>` in front
//! a test runs that one alone.

use super::support::{at, params};
use bellwether_core::{Duration, Entropy, Fact, Protocol, Seeded};
use bellwether_protocols::bully::{Bully, Config, Recovery, TopAnswers};
use bellwether_protocols::detect::{self, Detect};
use bellwether_sim::network::{Delay, Loss, Network, Probability};
use bellwether_sim::{Coins, Disk, Fault, Plan, Tracer, Who, World};

/// How many schedules a test runs of each variant.
const SCHEDULES: u64 = 2_500;
/// How many of the last events a failure tells.
const TOLD: usize = 200;
/// Nothing happens from outside after this many milliseconds.
const QUIET: u64 = 20_000;

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
        match self.below(14) {
            0..=3 => Fault::Crash { node },
            4..=6 => Fault::Restart { node, disk: Disk::Kept, reboot: self.below(2) == 0 },
            7 => Fault::Resign { node: Who::Leader },
            8 => Fault::Pause { node },
            9 => Fault::Resume { node },
            10 => Fault::Leave { node },
            11 => Fault::Slow { node, by: ms(self.below(3_000)) },
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
        let nodes = 1 + self.below(7) as u32;
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
        for node in (0..nodes).map(Who::Node) {
            faults.push(at(QUIET, Fault::Resume { node }));
            faults.push(at(QUIET, Fault::Slow { node, by: Duration::ZERO }));
        }
        let network = self.network(if harsh { 30 } else { 0 });
        let absent: Vec<u32> = (0..nodes).filter(|_| self.below(8) == 0).collect();
        let joins = |node: &u32| at(QUIET, Fault::Join { node: Who::Node(*node) });
        faults.extend(absent.iter().filter(|_| harsh).map(joins));
        let detection = (!harsh).then(|| ms(self.below(500)));
        let drift = if self.below(2) == 0 { 0 } else { 200_000 };
        Plan { absent, network, detection, faults, drift, offset: ms(5_000), ..Plan::new(nodes) }
    }
}

/// The seeds to run: all, or the one that is asked for.
fn seeds() -> Vec<u64> {
    let asked = std::env::var("BULLY_SEED").ok().and_then(|seed| seed.parse().ok());
    asked.map_or_else(|| (0..SCHEDULES).collect(), |seed| vec![seed])
}

/// What is wrong in the end, if anything.
fn complaint<P: Protocol>(world: &World<P>, nodes: u32, best: bool) -> Option<String> {
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
    let lives = first.first().is_some_and(|leader| world.node(*leader as u32).is_some());
    let same = named.iter().all(|(_, leaders)| *leaders == first);
    let right = !best || first == [u64::from(greatest)];
    (!(lives && same && right)).then(|| format!("{named:?}, but {greatest} is the greatest"))
}

/// Runs all schedules of one kind.
fn agree<P: Protocol>(params: P::Params, harsh: bool, best: bool, settles: Duration) {
    let mut world = World::<P>::new(params);
    for seed in seeds() {
        let plan = Plan { horizon: ms(QUIET) + settles, ..Luck::new(seed).plan(harsh) };
        assert_eq!(plan.check(), Ok(()), "seed {seed}");
        world.run(&plan, Coins::new(seed, 0), &mut ());
        if let Some(wrong) = complaint(&world, plan.nodes, best) {
            let mut tracer = Tracer::default();
            world.run(&plan, Coins::new(seed, 0), &mut tracer);
            let dull =
                |line: &String| ["heartbeat", "ack", "Own("].iter().any(|dull| line.contains(dull));
            let lines = tracer.records.iter().map(|record| format!("{record:?}"));
            let story: Vec<String> = lines.filter(|line| !dull(line)).collect();
            let story = &story[story.len().saturating_sub(TOLD)..];
            panic!("BULLY_SEED={seed}: {wrong}\n{plan:?}\n{}", story.join("\n"));
        }
    }
}

const PATIENCE: Duration = Duration::from_secs(5);

fn variants() -> Vec<Config> {
    let plain = Config { call_after: PATIENCE, ..Config::default() };
    vec![
        plain,
        Config { top_answers: TopAnswers::Coordinator, ..plain },
        Config { stamps: true, ..plain },
    ]
}

fn asking() -> Vec<Config> {
    let ask = Config { call_after: PATIENCE, recovery: Recovery::Ask, ..Config::default() };
    vec![ask, Config { stamps: true, ..ask }]
}

fn detected(config: Config) -> detect::Params<<Bully as Protocol>::Params> {
    let layer = detect::Config { beat: ms(500), suspect: ms(2_500), resend: ms(600), tries: 4 };
    layer.around(params(config)).expect("the layer's parameters keep the rules")
}

#[test]
fn all_name_the_greatest_once_they_are_told_the_truth() {
    for config in variants() {
        agree::<Bully>(params(config), false, true, params(config).settles(ms(1_000)));
    }
}

#[test]
fn all_name_the_same_if_the_recovered_ask() {
    for config in asking() {
        agree::<Bully>(params(config), false, false, params(config).settles(ms(1_000)));
    }
}

#[test]
fn all_name_the_greatest_once_the_network_heals() {
    for config in variants() {
        let settles = params(config).settles(ms(1_000)) + ms(10_000);
        agree::<Detect<Bully>>(detected(config), true, true, settles);
    }
}

#[test]
fn all_name_the_same_once_the_network_heals_if_the_recovered_ask() {
    for config in asking() {
        let settles = params(config).settles(ms(1_000)) + ms(10_000);
        agree::<Detect<Bully>>(detected(config), true, false, settles);
    }
}
