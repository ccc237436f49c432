//! Scenarios: what happens to the group.

use super::Experiment;
use super::initiation::call_elections;
use super::watch::Watch;
use crate::coin::{RunSeed, Stream, StreamPurpose};
use crate::fault::{Disk, Fault, Timed, Who};
use crate::network::Loss;
use crate::observer::id;
use crate::plan::Plan;
use crate::world::World;
use bellwether_core::{Duration, Entropy, Protocol, SimTime};
use bellwether_protocols::choice::Profile;
use bellwether_protocols::named;

named! {
    /// The scenarios of section 5.3.2, the start, and churn (section 5.3.4).
    pub enum ScenarioKind = Start {
        /// All start at once.
        Start = "start",
        /// The leader departs.
        Departure = "departure",
        /// Nobody departs, but announcements are lost.
        FalseDeparture = "false-departure",
        /// One joins with the greatest id.
        JoinGreater = "join-greater",
        /// One joins with the least id.
        JoinSmaller = "join-smaller",
        /// A cut divides the group, with the leader in the smaller part; with leases only.
        Split = "split",
        /// A group that was divided from the start is whole again; with leases only.
        Merge = "merge",
        /// Processes come and go.
        Churn = "churn",
    }
}

/// What happens to the group: a [`ScenarioKind`], and what it depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Scenario {
    /// All start at time zero.
    #[default]
    Start,
    /// The leader departs.
    Departure,
    /// No process departs, but lost announcements make it look so.
    FalseDeparture,
    /// A process joins that will lead.
    JoinGreater,
    /// A process joins that will not lead.
    JoinSmaller,
    /// A cut divides the group at random, with the leader in the smaller part.
    Split,
    /// A group that a cut divided at random from the start is whole again.
    Merge,
    /// Processes join and leave at random.
    Churn(Churn),
}

/// Random rates at which processes leave and join, per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Churn {
    /// Departures, of any running process.
    pub departures: f64,
    /// Arrivals, of any process that is not running.
    pub arrivals: f64,
}

const LONGEST: Duration = Duration::LONGEST_WRITTEN;

impl ScenarioKind {
    /// The scenario of this kind; `churn` is for that kind alone.
    pub fn with(self, churn: Churn) -> Scenario {
        match self {
            Self::Start => Scenario::Start,
            Self::Departure => Scenario::Departure,
            Self::FalseDeparture => Scenario::FalseDeparture,
            Self::JoinGreater => Scenario::JoinGreater,
            Self::JoinSmaller => Scenario::JoinSmaller,
            Self::Split => Scenario::Split,
            Self::Merge => Scenario::Merge,
            Self::Churn => Scenario::Churn(churn),
        }
    }
}

impl Scenario {
    /// Which kind it is.
    pub fn kind(&self) -> ScenarioKind {
        match self {
            Self::Start => ScenarioKind::Start,
            Self::Departure => ScenarioKind::Departure,
            Self::FalseDeparture => ScenarioKind::FalseDeparture,
            Self::JoinGreater => ScenarioKind::JoinGreater,
            Self::JoinSmaller => ScenarioKind::JoinSmaller,
            Self::Split => ScenarioKind::Split,
            Self::Merge => ScenarioKind::Merge,
            Self::Churn(_) => ScenarioKind::Churn,
        }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.kind().name()
    }

    /// The number of ids for a group of this size. A join needs one more, and churn needs ids that
    /// can join. With leases the group is fixed, and in churn the processes that left come back.
    pub fn ids(&self, nodes: u32, leases: bool) -> u64 {
        let nodes = u64::from(nodes);
        match self {
            Self::Start | Self::Departure | Self::FalseDeparture => nodes,
            Self::Split | Self::Merge => nodes,
            Self::JoinGreater | Self::JoinSmaller => nodes + 1,
            Self::Churn(_) if leases => nodes,
            Self::Churn(_) => 2 * nodes,
        }
    }

    /// Whether one event happens at the beginning of the watch.
    pub(crate) fn has_event(&self) -> bool {
        self.replaces() || matches!(self, Self::JoinGreater | Self::JoinSmaller | Self::Merge)
    }

    /// Whether that event removes the leader.
    pub(crate) fn replaces(&self) -> bool {
        matches!(self, Self::Departure | Self::Split)
    }

    /// The plan of one run, and when its watch begins. If `over` says to give it up, nobody may use
    /// the plan.
    pub(super) fn plan(
        &self,
        experiment: &Experiment,
        run_seed: RunSeed,
        over: &dyn Fn() -> bool,
    ) -> (Plan, SimTime) {
        let nodes = experiment.nodes;
        let mut plan = Plan {
            network: experiment.network.clone(),
            ranks: experiment.ranks,
            drift: experiment.drift,
            // A number that overflows is above the limit of a plan, and `check` rejects it as such.
            ..Plan::new(u32::try_from(experiment.ids()).unwrap_or(u32::MAX))
        };
        let profile = experiment.choice.profile();
        if profile.on_demand {
            call_elections(experiment, &mut plan, run_seed, over);
            return (plan, SimTime::ZERO);
        }
        if *self == Self::Start && profile.leases.is_some() {
            plan.horizon = experiment.window;
            return (plan, SimTime::ZERO);
        }
        if *self == Self::Start {
            if !experiment.ends() {
                plan.horizon = (settling_time(experiment) + experiment.window).min(LONGEST);
            }
            return (plan, SimTime::ZERO);
        }
        let mut luck = run_seed.world(StreamPurpose::Event);
        // The event happens at a uniformly random moment of the announce interval.
        let phase = luck.below(profile.interval.as_nanos().max(1));
        let at = settling_time(experiment) + Duration::from_nanos(phase);
        plan.horizon = (at + experiment.window).min(LONGEST);
        match self {
            Self::Start | Self::FalseDeparture | Self::Split => {}
            Self::Departure => {
                let fault = depart(Who::Leader, experiment);
                plan.faults.push(Timed { at, fault });
            }
            Self::JoinGreater | Self::JoinSmaller => {
                let node = if *self == Self::JoinGreater { nodes } else { 0 };
                plan.absent.push(node);
                plan.faults.push(Timed { at, fault: Fault::Join { node: Who::Node(node) } });
            }
            Self::Merge => {
                let mut ids: Vec<u32> = (0..plan.nodes).collect();
                shuffle(&mut ids, &mut run_seed.world(StreamPurpose::Split));
                let rest = ids.split_off(minority(plan.nodes) as usize);
                plan.faults.extend(divide(Duration::ZERO, ids, rest));
                plan.faults.push(Timed { at, fault: Fault::Heal });
            }
            Self::Churn(churn) => churn_plan(*churn, experiment, &mut plan, at, &mut luck),
        }
        (plan, SimTime::ZERO + at)
    }

    /// Like [`plan`](Self::plan), but complete. Who leads when a split happens is known only during
    /// the run, so the run is simulated up to then, unless `over` says to give it up; the same seed
    /// repeats it exactly.
    pub(super) fn rehearse<P: Protocol>(
        &self,
        experiment: &Experiment,
        world: &mut World<P>,
        run_seed: RunSeed,
        over: &dyn Fn() -> bool,
    ) -> Option<Planned> {
        let (mut plan, from) = self.plan(experiment, run_seed, over);
        if experiment.initiation.wanders() && over() {
            return None;
        }
        if *self != Self::Split {
            return Some(Planned { plan, from, apart: Vec::new() });
        }
        let at = from.since(SimTime::ZERO);
        let horizon = at.saturating_sub(Duration::from_nanos(1));
        let until = Plan { horizon, ..plan.clone() };
        world.run_unless(&until, run_seed, &mut Watch::Nothing, over)?;
        let leads = |node: &u32| {
            let state = world.node(*node);
            state.is_some_and(|state| state.leadership(world.clock(*node)).names(id(*node)))
        };
        let leader = (0..plan.nodes).find(leads);
        let mut rest: Vec<u32> = (0..plan.nodes).collect();
        shuffle(&mut rest, &mut run_seed.world(StreamPurpose::Split));
        if let Some(place) = rest.iter().position(|node| Some(*node) == leader) {
            rest.swap(0, place);
        }
        let mut apart: Vec<u32> = rest.drain(..minority(plan.nodes) as usize).collect();
        apart.sort_unstable();
        plan.faults.extend(divide(at, apart.clone(), rest));
        Some(Planned { plan, from, apart })
    }
}

/// The plan of one run, with its watch.
pub(super) struct Planned {
    pub(super) plan: Plan,
    /// When the watch begins.
    pub(super) from: SimTime,
    /// The processes that are cut off from then on.
    pub(super) apart: Vec<u32>,
}

/// The size of the smaller part of a split: the largest one that cannot have a majority, and never
/// half of the group.
pub(super) fn minority(nodes: u32) -> u32 {
    nodes.saturating_sub(1) / 2
}

/// A cut in both directions.
fn divide(at: Duration, mut some: Vec<u32>, mut others: Vec<u32>) -> [Timed; 2] {
    some.sort_unstable();
    others.sort_unstable();
    let cut = |from: &Vec<u32>, to: &Vec<u32>| Fault::Cut { from: from.clone(), to: to.clone() };
    [cut(&some, &others), cut(&others, &some)].map(|fault| Timed { at, fault })
}

fn shuffle(ids: &mut [u32], luck: &mut Stream) {
    for place in (1..ids.len()).rev() {
        ids.swap(place, luck.below(place as u64 + 1) as usize);
    }
}

/// A time after which the group has settled, for any size and loss.
fn settling_time(experiment: &Experiment) -> Duration {
    let Experiment { choice, nodes, network, .. } = experiment;
    let Profile { opening, attempt, trust, .. } = choice.profile();
    let beyond_first = choice.attempts_beyond_first(nodes.saturating_add(1), network.loss().rate());
    let burst = match network.loss() {
        Loss::Bursts(bursts) => 1.0 / bursts.recover.value().max(1e-6),
        _ => 1.0,
    };
    let rounds = 20 + (2.0 * beyond_first * burst).ceil() as u64;
    let finite = |length: Duration| if length == Duration::MAX { Duration::ZERO } else { length };
    opening + network.multicast.delay.mean() * 4 + attempt * rounds + finite(trust)
}

fn depart(node: Who, experiment: &Experiment) -> Fault {
    if experiment.choice.profile().byes > 0 { Fault::Leave { node } } else { Fault::Crash { node } }
}

/// The plan of churn. There are twice as many ids as processes, and a random half of them start.
/// Then random running processes leave and random stopped ones join, each at its rate.
fn churn_plan(
    churn: Churn,
    experiment: &Experiment,
    plan: &mut Plan,
    from: Duration,
    luck: &mut Stream,
) {
    let nodes = experiment.nodes;
    let mut ids: Vec<u32> = (0..plan.nodes).collect();
    shuffle(&mut ids, luck);
    let mut away = ids.split_off(nodes as usize);
    let mut here = ids;
    plan.absent.clone_from(&away);
    let mut been = vec![false; plan.nodes as usize];
    let rate = churn.departures + churn.arrivals;
    let mut at = from;
    loop {
        let wait = -libm::log1p(-luck.unit()) / rate;
        match Duration::from_secs_f64(wait) {
            Ok(wait) if at + wait < from + experiment.window => at = at + wait,
            _ => return,
        }
        let leaves = luck.unit() * rate < churn.departures;
        let (source, target) = if leaves { (&mut here, &mut away) } else { (&mut away, &mut here) };
        // At least one process always stays, and only stopped processes can join.
        if source.len() <= usize::from(leaves) {
            continue;
        }
        let node = source.swap_remove(luck.below(source.len() as u64) as usize);
        target.push(node);
        let fault = if leaves {
            been[node as usize] = true;
            depart(Who::Node(node), experiment)
        } else if been[node as usize] {
            Fault::Restart { node: Who::Node(node), disk: Disk::Kept, reboot: false }
        } else {
            Fault::Join { node: Who::Node(node) }
        };
        plan.faults.push(Timed { at, fault });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_scenario_that_is_called_like_it() {
        for kind in ScenarioKind::ALL {
            let scenario = kind.with(Churn { departures: 1.0, arrivals: 1.0 });
            assert_eq!((scenario.kind(), scenario.name()), (kind, kind.name()));
        }
    }
}
