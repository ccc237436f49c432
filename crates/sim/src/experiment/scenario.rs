//! What happens to the group.

use super::Experiment;
use crate::coin::{Coins, Stream};
use crate::fault::{Disk, Fault, Timed, Who};
use crate::network::Loss;
use crate::plan::Plan;
use bellwether_core::{Duration, Entropy, SimTime};
use bellwether_protocols::choice::{Goal, Profile};

/// The scenarios of section 5.3.2, the start, and churn (section 5.3.4).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Scenario {
    /// All start at time zero.
    #[default]
    Start,
    /// The leader departs.
    Departure,
    /// Nobody departs, but announcements are lost.
    FalseDeparture,
    /// One joins that is to lead.
    JoinGreater,
    /// One joins that is not.
    JoinSmaller,
    /// Processes come and go.
    Churn(Churn),
}

/// How often processes come and go, per second, at random.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Churn {
    /// Departures, of any process.
    pub departures: f64,
    /// Arrivals, of any that is not there.
    pub arrivals: f64,
}

const LONGEST: Duration = Duration::LONGEST_WRITTEN;

impl Scenario {
    /// Its name on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Departure => "departure",
            Self::FalseDeparture => "false-departure",
            Self::JoinGreater => "join-greater",
            Self::JoinSmaller => "join-smaller",
            Self::Churn(_) => "churn",
        }
    }

    /// How many ids it has for a group of this size: churn needs some to come, a join one.
    pub fn ids(&self, nodes: u32) -> u64 {
        let nodes = u64::from(nodes);
        match self {
            Self::Start | Self::Departure | Self::FalseDeparture => nodes,
            Self::JoinGreater | Self::JoinSmaller => nodes + 1,
            Self::Churn(_) => 2 * nodes,
        }
    }

    /// Whether one event strikes at the beginning of the watch.
    pub(crate) fn has_event(&self) -> bool {
        matches!(self, Self::Departure | Self::JoinGreater | Self::JoinSmaller)
    }

    /// The plan of one run, and when its watch begins.
    pub(super) fn plan(&self, experiment: &Experiment, coins: Coins) -> (Plan, SimTime) {
        let nodes = experiment.nodes;
        let mut plan = Plan {
            network: experiment.network.clone(),
            ranks: experiment.ranks,
            drift: experiment.drift,
            // More than can be counted is more than a plan may have, and is refused as such.
            ..Plan::new(u32::try_from(self.ids(nodes)).unwrap_or(u32::MAX))
        };
        let profile = experiment.choice.profile();
        if *self == Self::Start {
            // Where leaders are given up, or nothing is promised, agreement may never come.
            let settles = matches!(profile.goal, Goal::Leaders(_));
            if profile.trust != Duration::MAX || !settles {
                plan.horizon = (settling_time(experiment) + experiment.window).min(LONGEST);
            }
            return (plan, SimTime::ZERO);
        }
        let mut luck = coins.world(2);
        // Any moment of the announce interval is as likely as another.
        let phase = luck.below(profile.interval.as_nanos().max(1));
        let at = settling_time(experiment) + Duration::from_nanos(phase);
        plan.horizon = (at + experiment.window).min(LONGEST);
        match self {
            Self::Start | Self::FalseDeparture => {}
            Self::Departure => {
                let fault = depart(Who::Leader, experiment);
                plan.faults.push(Timed { at, fault });
            }
            Self::JoinGreater | Self::JoinSmaller => {
                let node = if *self == Self::JoinGreater { nodes } else { 0 };
                plan.absent.push(node);
                plan.faults.push(Timed { at, fault: Fault::Join { node: Who::Node(node) } });
            }
            Self::Churn(churn) => churn_plan(*churn, experiment, &mut plan, at, &mut luck),
        }
        (plan, SimTime::ZERO + at)
    }
}

/// Long enough for the group to have settled, whatever its size and loss.
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

/// Twice as many ids as processes, a random half of them there at first, then a random one of those
/// that are there leaves, or a random one of those that are not comes, each at its rate.
fn churn_plan(
    churn: Churn,
    experiment: &Experiment,
    plan: &mut Plan,
    from: Duration,
    luck: &mut Stream,
) {
    let nodes = experiment.nodes;
    let mut ids: Vec<u32> = (0..plan.nodes).collect();
    for place in (1..ids.len()).rev() {
        ids.swap(place, luck.below(place as u64 + 1) as usize);
    }
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
        // Somebody always stays, and there is a limit to who can come.
        if source.len() <= usize::from(leaves) {
            continue;
        }
        let node = source.swap_remove(luck.below(source.len() as u64) as usize);
        target.push(node);
        let fault = if leaves {
            been[node as usize] = true;
            depart(Who::Node(node), experiment)
        } else if been[node as usize] {
            Fault::Restart { node: Who::Node(node), disk: Disk::Kept }
        } else {
            Fault::Join { node: Who::Node(node) }
        };
        plan.faults.push(Timed { at, fault });
    }
}
