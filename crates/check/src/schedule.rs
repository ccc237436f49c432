//! The faults of one run, and the calm after them.

use crate::fault_kind::Occurrences;
use crate::links::Links;
use crate::nodes::Nodes;
use bellwether_core::{Duration, SimTime};
use bellwether_protocols::time_scales::TimeScales;
use bellwether_sim::network::Topology;
use bellwether_sim::{Fault, Network, Plan, RunSeed, Who};

/// The faults of a run, when they end, and how the group is connected then.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    /// The simulated plan with its faults.
    pub plan: Plan,
    /// From then on there are no faults.
    pub calm: SimTime,
    /// The connections from then on.
    pub links: Links,
    /// The seed of the run, as in a scenario file.
    pub luck: u64,
    /// The kinds of its faults.
    pub trouble: Occurrences,
}

impl Schedule {
    /// The schedule of a plan that somebody wrote. It is calm once its last fault is over, if
    /// nothing goes wrong from then on; otherwise it is never calm, and only what must hold at all
    /// times is checked. A plan of links is never calm: what is connected changes with them.
    pub fn of_plan(plan: &Plan, luck: u64, time_scales: &TimeScales) -> Self {
        let mut state = State::new(plan.nodes, &plan.network);
        let mut last = SimTime::ZERO;
        for timed in &plan.faults {
            last = last.max(timed.time());
            state.take(timed.time(), &timed.fault);
        }
        let (calm, links) = (last.max(state.stale), state.links());
        let whole = plan.network.topology == Topology::Group && plan.view.is_certain();
        let mut schedule = Self {
            plan: plan.clone(),
            calm,
            links: links.unwrap_or_else(|| Links::all(plan.nodes)),
            luck,
            trouble: Occurrences::default(),
        };
        if !(whole && schedule.is_calm(time_scales)) {
            schedule.calm = SimTime::NEVER;
        }
        schedule
    }

    /// The random numbers of its run.
    pub fn run_seed(&self) -> RunSeed {
        RunSeed::new(self.luck, 0)
    }

    /// Whether there are really no faults from `calm` on: delays are timely, no message is lost or
    /// late, no process is paused or slow, and the connections are those of `links`. Otherwise a
    /// protocol that does not settle is not at fault.
    pub fn is_calm(&self, time_scales: &TimeScales) -> bool {
        let mut state = State::new(self.plan.nodes, &self.plan.network);
        for timed in &self.plan.faults {
            let at = timed.time();
            if at > self.calm {
                return false; // calm means that there are no faults
            }
            state.take(at, &timed.fault);
        }
        let slowest = state.slow.iter().copied().max().unwrap_or_default();
        state.stale <= self.calm
            && state.paused.is_empty()
            && state.renumbered.is_empty()
            && state.links().as_ref() == Some(&self.links)
            && is_benign(state.network, time_scales, slowest)
    }
}

/// Whether no message is lost and all delays, with the reaction time, are timely.
fn is_benign(network: &Network, time_scales: &TimeScales, slowest: Duration) -> bool {
    use bellwether_sim::network::{Loss, Probability};
    let lossless = [&network.multicast, &network.unicast].iter().all(|c| c.loss == Loss::None);
    lossless
        && network.links.is_empty()
        && network.reorder == Probability::ZERO
        && network.duplicate == Probability::ZERO
        && network.longest() + slowest <= time_scales.timely
        && slowest <= time_scales.scheduling
}

/// The active faults at one moment of a schedule.
struct State<'a> {
    network: &'a Network,
    severed: Vec<Nodes>,
    paused: Nodes,
    /// The processes that are certainly down. Restarting a running process does nothing.
    down: Nodes,
    /// The processes whose current or next incarnation has the number of an earlier one.
    renumbering: Nodes,
    renumbered: Nodes,
    slow: Vec<Duration>,
    /// The end of late messages and reactions.
    stale: SimTime,
}

impl<'a> State<'a> {
    fn new(nodes: u32, network: &'a Network) -> Self {
        Self {
            network,
            severed: vec![Nodes::NONE; nodes as usize],
            paused: Nodes::NONE,
            down: Nodes::NONE,
            renumbering: Nodes::NONE,
            renumbered: Nodes::NONE,
            slow: vec![Duration::ZERO; nodes as usize],
            stale: SimTime::ZERO,
        }
    }

    fn take(&mut self, at: SimTime, fault: &'a Fault) {
        let nodes = self.slow.len() as u32;
        let meant = |who: &Who| match who {
            Who::Node(node) => Nodes::only(*node),
            Who::Leader => Nodes::first(nodes), // it may be any process
        };
        match fault {
            Fault::Network { network } => {
                self.stale = self.stale.max(at + self.network.longest());
                self.network = network;
            }
            Fault::Cut { from, to } => {
                let to = to.iter().copied().collect();
                for sender in from {
                    let severed = &mut self.severed[*sender as usize];
                    *severed = severed.or(to);
                }
            }
            Fault::Heal => self.severed.fill(Nodes::NONE),
            Fault::Mend { from, to } => {
                let to = to.iter().copied().collect();
                for sender in from {
                    let severed = &mut self.severed[*sender as usize];
                    *severed = severed.without(to);
                }
            }
            Fault::Pause { node } => self.paused = self.paused.or(meant(node)),
            Fault::Resume { node: Who::Node(node) } => self.paused.set(*node, false),
            Fault::Renumber { node: Who::Node(node), .. } => self.renumbering.set(*node, true),
            Fault::Crash { node: Who::Node(node) } => self.down.set(*node, true),
            Fault::Kill { node, release } => {
                self.stale = self.stale.max(at + *release + self.network.longest());
                if let Who::Node(node) = node {
                    self.down.set(*node, true);
                }
            }
            Fault::Restart { node: Who::Node(node), .. } => {
                if self.renumbering.contains(*node) {
                    self.renumbered.set(*node, true);
                } else if self.down.contains(*node) {
                    self.renumbered.set(*node, false);
                }
                self.renumbering.set(*node, false);
                self.down.set(*node, false);
            }
            Fault::Slow { node, by } => {
                for node in meant(node).iter() {
                    let slow = &mut self.slow[node as usize];
                    self.stale = self.stale.max(at + *slow);
                    *slow = *by;
                }
            }
            _ => {}
        }
    }

    /// The connections; `None` if a link works in one direction only. Two processes are either
    /// connected or disconnected (section X).
    fn links(&self) -> Option<Links> {
        let nodes = self.severed.len() as u32;
        let mut links = Links::none(nodes);
        let hears = |a: u32, b: u32| !self.severed[a as usize].contains(b);
        for a in 0..nodes {
            for b in 0..a {
                match (hears(a, b), hears(b, a)) {
                    (true, true) => links.join(a, b),
                    (false, false) => {}
                    _ => return None,
                }
            }
        }
        Some(links)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault_kind::FaultKind;
    use crate::fault_mix::{FaultMix, FinalLinks};
    use crate::invariants::scenes::time_scales;
    use crate::swarm;

    fn drawn(kinds: &[FaultKind], finale: FinalLinks) -> Schedule {
        let mix = FaultMix { finale: Some(finale), ..FaultMix::only(kinds) };
        swarm::draw(1, 0, 4, &time_scales(), &mix)
    }

    /// Whether the schedule is still calm without its last fault of this kind.
    fn is_calm_without(mut schedule: Schedule, is: impl Fn(&Fault) -> bool) -> bool {
        let last = schedule.plan.faults.iter().rposition(|timed| is(&timed.fault));
        schedule.plan.faults.remove(last.expect("there is one"));
        schedule.is_calm(&time_scales())
    }

    #[test]
    fn what_is_not_mended_is_not_calm() {
        let whole = |kind| drawn(&[kind], FinalLinks::Whole);
        let network = |fault: &Fault| matches!(fault, Fault::Network { .. });
        assert!(!is_calm_without(whole(FaultKind::Loss), network), "it goes on losing");
        assert!(!is_calm_without(whole(FaultKind::Tails), network), "delays stay long");
        assert!(!is_calm_without(whole(FaultKind::LongPause), |fault| {
            matches!(fault, Fault::Resume { .. })
        }));
        assert!(!is_calm_without(whole(FaultKind::VerySlow), |fault| {
            matches!(fault, Fault::Slow { .. })
        }));
        assert!(!is_calm_without(whole(FaultKind::LowerLife), |fault| {
            matches!(fault, Fault::Crash { .. })
        }));
        let halves = drawn(&[], FinalLinks::Halves);
        assert!(halves.is_calm(&time_scales()));
        let cut = |fault: &Fault| matches!(fault, Fault::Cut { .. });
        assert!(!is_calm_without(halves, cut), "some hear others that do not hear them");
        let mut early = whole(FaultKind::Tails);
        early.calm = SimTime::ZERO + early.plan.faults.last().expect("the network's end").at;
        assert!(!early.is_calm(&time_scales()), "something late is still under way");
    }
}
