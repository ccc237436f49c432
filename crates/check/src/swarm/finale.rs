//! The end of the faults: everything is repaired at once.

use super::Draft;
use crate::fault_mix::FinalLinks;
use crate::links::Links;
use crate::nodes::Nodes;
use bellwether_core::Duration;
use bellwether_sim::{Fault, Who};

impl Draft<'_> {
    /// Ends the faults. Returns the remaining connections, and when the last late message or
    /// reaction is over.
    pub(super) fn draw_finale(&mut self) -> (Links, Duration) {
        let at = self.chaos;
        let slow = self.mend_processes(at);
        let network = Box::new(self.fair(slow));
        self.push(at, Fault::Network { network });
        self.push(at, Fault::Heal);
        let links = self.draw_links(at);
        // Late messages still arrive, and slow processes still react to earlier ones.
        (links, at + self.late.max(self.time_scales.timely) + self.slowest)
    }

    /// Processes resume and react in time; all or some of the dead ones restart.
    fn mend_processes(&mut self, at: Duration) -> Duration {
        let (mut stood, mut slowed, mut fell) = (Nodes::NONE, Nodes::NONE, Nodes::NONE);
        let all = Nodes::first(self.nodes);
        let meant = |who: Who| match who {
            Who::Node(node) => Nodes::only(node),
            Who::Leader => all,
        };
        for timed in &self.faults {
            match timed.fault {
                Fault::Pause { node } => stood = stood.or(meant(node)),
                Fault::Slow { node, .. } => slowed = slowed.or(meant(node)),
                Fault::Crash { node } | Fault::Kill { node, .. } | Fault::Leave { node } => {
                    fell = fell.or(meant(node));
                }
                _ => {}
            }
        }
        // A message must be timely including the receiver's reaction time.
        let room = self.time_scales.timely.saturating_sub(self.time_scales.fastest).as_nanos() / 2;
        let slow = self.time_scales.scheduling.min(Duration::from_nanos(room));
        let by = if self.rng.chance(0.5) { slow } else { Duration::ZERO };
        for node in stood.iter() {
            self.push(at, Fault::Resume { node: Who::Node(node) });
        }
        self.number_anew(at);
        let all_return = self.rng.chance(0.75);
        for node in fell.iter() {
            if all_return || self.rng.chance(0.5) {
                self.restart(at, node);
            }
        }
        for node in self.absent.clone() {
            if all_return {
                self.push(at, Fault::Join { node: Who::Node(node) });
            }
        }
        // Last, because a process that does not run misses it.
        for node in slowed.iter() {
            self.push(at, Fault::Slow { node: Who::Node(node), by });
        }
        by
    }

    fn draw_links(&mut self, at: Duration) -> Links {
        let finale = self.mix.finale.unwrap_or(match self.rng.below(10) {
            0 | 1 => FinalLinks::Halves,
            2 => FinalLinks::Chain,
            _ => FinalLinks::Whole,
        });
        match finale {
            FinalLinks::Whole => Links::all(self.nodes),
            FinalLinks::Halves => {
                let (one, other) = self.halves();
                self.sever(at, one, other);
                self.sever(at, other, one);
                let mut links = Links::none(self.nodes);
                for half in [one, other] {
                    for a in half.iter() {
                        half.iter().for_each(|b| links.join(a, b));
                    }
                }
                links
            }
            FinalLinks::Chain => self.draw_chain(at),
        }
    }

    /// Connects each process only with its neighbours in a random line.
    fn draw_chain(&mut self, at: Duration) -> Links {
        let mut row: Vec<u32> = (0..self.nodes).collect();
        for last in (1..row.len()).rev() {
            row.swap(last, self.rng.below(last as u64 + 1) as usize);
        }
        let mut links = Links::none(self.nodes);
        row.windows(2).for_each(|pair| links.join(pair[0], pair[1]));
        for node in 0..self.nodes {
            let deaf = Nodes::first(self.nodes).without(links.of(node));
            self.sever(at, Nodes::only(node), deaf);
        }
        links
    }
}
