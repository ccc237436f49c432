//! Measures a network whose links change: how long processes follow the wrong leader, and the cost
//! of finding the right one.
//!
//! | figure | what it is |
//! |---|---|
//! | `inconsistent_fraction` | the fraction of the time of all live processes in which one does not name the best live process it can reach |
//! | `elections_per_second` | how often a process takes part in an election, averaged over them |
//! | `messages_per_second` | sent by all processes together |

use super::{Measure, Sample};
use crate::fault::Fault;
use crate::network::{Topology, components};
use crate::observer::Observer;
use crate::plan::Plan;
use crate::world::Scene;
use bellwether_core::{Dest, Duration, Fact, Protocol, SimTime, Stage};
use std::collections::{BTreeSet, VecDeque};

/// Measures one run of a plan on a graph.
#[derive(Clone, Debug)]
pub struct Wandering {
    from: SimTime,
    now: SimTime,
    links: BTreeSet<(u32, u32)>,
    /// Links that will appear or disappear.
    changes: VecDeque<(SimTime, (u32, u32), bool)>,
    seen: Vec<Option<Seen>>,
    /// The process that each one should name.
    best: Vec<u64>,
    live: u64,
    wrong: u64,
    live_time: f64,
    wrong_time: f64,
    elections: u64,
    messages: u64,
}

/// The last known state of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    claim: u64,
    names: Option<u64>,
    decided: bool,
}

/// The results of a watch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wanderings {
    /// The fraction of their time in which processes did not name the best one they could reach.
    pub inconsistent_fraction: f64,
    /// Elections a process took part in, per second.
    pub elections_per_second: f64,
    /// Messages of all processes, per second.
    pub messages_per_second: f64,
}

impl Wandering {
    /// Measures a run of this plan, from this time on.
    pub fn new(plan: &Plan, from: Duration) -> Self {
        let links = match &plan.network.topology {
            Topology::Graph { links } => links.iter().copied().map(tidy).collect(),
            Topology::Group => BTreeSet::new(),
        };
        let changes = plan.faults.iter().filter_map(|timed| match timed.fault {
            Fault::Link { ends, up } => Some((timed.time(), tidy(ends), up)),
            _ => None,
        });
        Self {
            from: SimTime::ZERO + from,
            now: SimTime::ZERO,
            links,
            changes: changes.collect(),
            seen: vec![None; plan.nodes as usize],
            best: vec![0; plan.nodes as usize],
            live: 0,
            wrong: 0,
            live_time: 0.0,
            wrong_time: 0.0,
            elections: 0,
            messages: 0,
        }
    }

    /// The results at `end`, at which the run must have ended.
    pub fn finish(mut self, end: SimTime) -> Wanderings {
        self.end(end)
    }

    fn end(&mut self, end: SimTime) -> Wanderings {
        self.advance(end);
        let watched = end.since(self.from).as_secs_f64();
        Wanderings {
            inconsistent_fraction: self.wrong_time / self.live_time,
            elections_per_second: self.elections as f64 / self.live_time,
            messages_per_second: self.messages as f64 / watched,
        }
    }

    /// The results as the sample of one run.
    pub(super) fn sample(&mut self, end: SimTime, deliveries: u64) -> Sample {
        let Wanderings { inconsistent_fraction, elections_per_second, messages_per_second } =
            self.end(end);
        let mut sample = Sample::new(deliveries);
        sample.set(Measure::InconsistentFraction, inconsistent_fraction);
        sample.set(Measure::ElectionsPerSecond, elections_per_second);
        sample.set(Measure::MessagesPerSecond, messages_per_second);
        sample
    }

    /// Counts the time until `to`, and applies the link changes in it.
    fn advance(&mut self, to: SimTime) {
        while let Some((at, ends, up)) = self.changes.front().copied().filter(|c| c.0 <= to) {
            self.changes.pop_front();
            self.pass(at);
            if up {
                self.links.insert(ends)
            } else {
                self.links.remove(&ends)
            };
            self.judge();
        }
        self.pass(to);
    }

    fn pass(&mut self, to: SimTime) {
        let length = to.since(self.now.max(self.from)).as_secs_f64();
        self.live_time += self.live as f64 * length;
        self.wrong_time += self.wrong as f64 * length;
        self.now = self.now.max(to);
    }

    /// Finds the best process for each one, and counts those that name another.
    fn judge(&mut self) {
        let there = |node: u32| self.seen[node as usize].is_some();
        let links = self.links.iter().copied().filter(|(a, b)| there(*a) && there(*b));
        let component = components(self.seen.len() as u32, links);
        let mut best = vec![None; self.seen.len()];
        for (node, seen) in self.seen.iter().enumerate() {
            if let Some(seen) = seen {
                let best = &mut best[component[node] as usize];
                *best = (*best).max(Some((seen.claim, node as u64)));
            }
        }
        for (node, component) in component.into_iter().enumerate() {
            self.best[node] = best[component as usize].map_or(0, |(_, best)| best);
        }
        self.live = self.seen.iter().flatten().count() as u64;
        self.wrong = (0..self.seen.len()).filter(|node| self.is_wrong(*node)).count() as u64;
    }

    fn is_wrong(&self, node: usize) -> bool {
        self.seen[node].is_some_and(|seen| seen.names != Some(self.best[node]))
    }
}

fn tidy((a, b): (u32, u32)) -> (u32, u32) {
    (a.min(b), a.max(b))
}

impl<P: Protocol> Observer<P> for Wandering {
    const LOOKS: bool = true;

    fn on_send(&mut self, at: SimTime, _: u32, _: Dest, _: &P::Message, _: u32) {
        self.messages += u64::from(at >= self.from);
    }

    fn on_step(&mut self, node: u32, scene: &Scene<'_, P>) {
        self.advance(scene.at());
        let seen = scene.node(node).map(|state| {
            let now = scene.clock(node);
            let belief = state.leadership(now);
            let mut claim = 0;
            state.facts(now, &mut |fact| {
                if let Fact::Claim { weight } = fact {
                    claim = weight;
                }
            });
            let names = if let [only] = belief.leaders { Some(only.0) } else { None };
            Seen { claim, names, decided: belief.stage == Stage::Decided }
        });
        let node = node as usize;
        let before = self.seen[node];
        if seen == before {
            return;
        }
        let decided = |seen: Option<Seen>| seen.is_some_and(|seen| seen.decided);
        if decided(before) && seen.is_some() && !decided(seen) && scene.at() >= self.from {
            self.elections += 1;
        }
        let was_wrong = self.is_wrong(node);
        self.seen[node] = seen;
        if before.map(|seen| seen.claim) == seen.map(|seen| seen.claim) {
            self.wrong += u64::from(self.is_wrong(node));
            self.wrong -= u64::from(was_wrong);
        } else {
            self.judge();
        }
    }
}
