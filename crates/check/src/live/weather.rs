//! What the fault schedule says of the present: who can hear whom, who stands still.
//!
//! Fetzer and Cristian, section X: two processes are connected or disconnected. Where one hears
//! another that does not hear it, nothing is promised, and it is not calm.

use super::lives::Group;
use crate::links::Links;
use crate::nodes::Nodes;
use bellwether_core::{Event, NodeId};

/// What is wrong at some moment of a live run.
pub(super) struct Weather {
    /// Whom each process cannot reach.
    severed: Vec<Nodes>,
    /// Those that stand still, or were not heard of any more.
    pub(super) still: Nodes,
    /// Whether anybody was asked to stop leading.
    pub(super) resigned: bool,
}

impl Weather {
    pub(super) fn new(numbers: u32) -> Self {
        let severed = vec![Nodes::NONE; numbers as usize];
        Self { severed, still: Nodes::NONE, resigned: false }
    }

    /// Something befalls the process with this number, or the network.
    pub(super) fn take(&mut self, event: &Event, node: Option<u32>, group: &Group<'_>) {
        match event {
            Event::Cut { from, to } => self.cut(group, from, to),
            Event::Heal => self.severed.fill(Nodes::NONE),
            Event::Pause => self.set_still(node, true),
            Event::Resume | Event::Crash => self.set_still(node, false),
            _ => {}
        }
    }

    pub(super) fn set_still(&mut self, node: Option<u32>, still: bool) {
        if let Some(node) = node {
            self.still.set(node, still);
        }
    }

    fn cut(&mut self, group: &Group<'_>, from: &[NodeId], to: &[NodeId]) {
        let to: Nodes = to.iter().filter_map(|id| group.number(*id)).collect();
        for sender in from.iter().filter_map(|id| group.number(*id)) {
            let severed = &mut self.severed[sender as usize];
            *severed = severed.or(to);
        }
    }

    /// Who can talk to whom; nobody can say if some are heard by others that they do not hear.
    pub(super) fn links(&self) -> Option<Links> {
        let numbers = self.severed.len() as u32;
        let mut links = Links::none(numbers);
        let hears = |a: u32, b: u32| !self.severed[a as usize].contains(b);
        for a in (0..numbers).filter(|a| !self.still.contains(*a)) {
            for b in (0..a).filter(|b| !self.still.contains(*b)) {
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
