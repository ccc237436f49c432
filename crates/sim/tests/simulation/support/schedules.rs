//! Random faults, then none: at the end all name the same live process, and the best one.
//!
//! The tests of bully and of the rings draw their schedules here. A failure names its seed and
//! shows the last events; with the named environment variable set, a test runs only that seed.

use super::{fault, ms, p};
use bellwether_core::{Duration, Entropy, Fact, Protocol, Seeded};
use bellwether_protocols::detect;
use bellwether_sim::network::{Delay, Loss, Network, Probability};
use bellwether_sim::{Disk, Fault, Order, Plan, RunSeed, Timed, Tracer, Who, World};

/// How many of the last events a failure shows.
const TOLD: usize = 250;
/// No fault happens after this many milliseconds.
const QUIET: u64 = 20_000;
/// The largest group.
pub(crate) const NODES_MAX: usize = 7;

/// A layer that detects failures.
pub(crate) const LAYER: detect::Config =
    detect::Config { beat: ms(500), suspect: ms(2_500), resend: ms(600), tries: 4 };

/// Which schedules a test draws.
#[derive(Clone, Copy)]
pub(crate) struct Schedules {
    /// How many.
    pub(crate) count: u64,
    /// The variable that names one seed to run alone.
    pub(crate) variable: &'static str,
    /// Whether processes also leave and are slow.
    pub(crate) slow: bool,
    /// The orders in which processes may see each other.
    pub(crate) orders: &'static [Order],
}

fn chance(percent: u64) -> Probability {
    p(percent as f64 / 100.0)
}

/// The random stream of one schedule.
struct Luck(Seeded);

impl Luck {
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

    /// A fault of a process.
    fn mishap(&mut self, nodes: u32, slow: bool) -> Fault {
        let node = match self.below(4) {
            0 => Who::Leader,
            _ => Who::Node(self.below(u64::from(nodes)) as u32),
        };
        match self.below(if slow { 14 } else { 12 }) {
            0..=3 => Fault::Crash { node },
            4..=6 => Fault::Restart { node, disk: Disk::Kept, reboot: self.below(2) == 0 },
            7 => Fault::Resign { node: Who::Leader },
            8 => Fault::Pause { node },
            9 => Fault::Resume { node },
            10 if slow => Fault::Leave { node },
            11 if slow => Fault::Slow { node, by: ms(self.below(3_000)) },
            _ => Fault::Campaign { node },
        }
    }

    /// Some processes cannot reach some others, one way or both.
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

    /// All faults of a schedule.
    fn troubles(&mut self, nodes: u32, slow: bool, harsh: bool) -> Vec<Timed> {
        let mut faults = Vec::new();
        for _ in 0..self.below(14) {
            let when = self.below(QUIET);
            faults.push(fault(when, self.mishap(nodes, slow)));
            if harsh && self.below(3) == 0 {
                let when = self.below(QUIET);
                let cuts = if self.below(3) > 0 { self.cuts(nodes) } else { vec![Fault::Heal] };
                faults.extend(cuts.into_iter().map(|cut| fault(when, cut)));
            }
        }
        faults.sort_by_key(|timed| timed.at);
        faults
    }

    /// A schedule of crashes and resignations; with losses and partitions if `harsh`.
    fn plan(&mut self, schedules: &Schedules, harsh: bool) -> Plan {
        let nodes = 1 + self.below(NODES_MAX as u64) as u32;
        let mut faults = self.troubles(nodes, schedules.slow, harsh);
        faults.push(fault(QUIET, Fault::Heal));
        faults.push(fault(QUIET, Fault::Network { network: Box::new(self.network(0)) }));
        for node in (0..nodes).map(Who::Node) {
            faults.push(fault(QUIET, Fault::Resume { node }));
            if schedules.slow {
                faults.push(fault(QUIET, Fault::Slow { node, by: Duration::ZERO }));
            }
        }
        let network = self.network(if harsh { 30 } else { 0 });
        let absent: Vec<u32> = (0..nodes).filter(|_| self.below(8) == 0).collect();
        let joins = |node: &u32| fault(QUIET, Fault::Join { node: Who::Node(*node) });
        faults.extend(absent.iter().filter(|_| harsh).map(joins));
        let detection = (!harsh).then(|| ms(self.below(500)));
        let drift = if self.below(2) == 0 { 0 } else { 200_000 };
        let order = match schedules.orders {
            [only] => only.clone(),
            several => several[self.below(several.len() as u64) as usize].clone(),
        };
        let offset = ms(5_000);
        Plan { absent, network, detection, faults, drift, offset, order, ..Plan::new(nodes) }
    }
}

/// What is wrong at the end, if anything: all name the same live process, and the best if `best`.
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

impl Schedules {
    /// The seeds to run: all, or the one that is asked for.
    fn seeds(&self) -> Vec<u64> {
        let asked = std::env::var(self.variable).ok().and_then(|seed| seed.parse().ok());
        asked.map_or_else(|| (0..self.count).collect(), |seed| vec![seed])
    }

    /// Runs all schedules; all must agree within this time after the last fault, on the best if
    /// `best`.
    pub(crate) fn agree<P: Protocol>(
        &self,
        params: P::Params,
        harsh: bool,
        best: bool,
        settles: Duration,
        what: &str,
    ) {
        let mut world = World::<P>::new(params);
        for seed in self.seeds() {
            let drawn = Luck(Seeded::new(seed)).plan(self, harsh);
            let plan = Plan { horizon: ms(QUIET) + settles, ..drawn };
            assert_eq!(plan.check(), Ok(()), "seed {seed}");
            world.run(&plan, RunSeed::new(seed, 0), &mut ());
            if let Some(wrong) = complaint(&world, plan.nodes, best) {
                let story = story(&mut world, &plan, seed);
                panic!("{story}\n{plan:?}\n{what}, {}={seed}: {wrong}", self.variable);
            }
        }
    }
}

/// The last events of a run, without heartbeats and the like.
fn story<P: Protocol>(world: &mut World<P>, plan: &Plan, seed: u64) -> String {
    let mut tracer = Tracer::default();
    world.run(plan, RunSeed::new(seed, 0), &mut tracer);
    let dull = |line: &String| ["heartbeat", "ack", "Own("].iter().any(|dull| line.contains(dull));
    let lines = tracer.records.iter().map(|record| format!("{record:?}"));
    let story: Vec<String> = lines.filter(|line| !dull(line)).collect();
    story[story.len().saturating_sub(TOLD)..].join("\n")
}
