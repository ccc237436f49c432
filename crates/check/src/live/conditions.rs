//! The state of the fault schedule at one moment: connections and paused processes.
//!
//! Fetzer and Cristian, section X: two processes are connected or disconnected. With a link in one
//! direction only nothing is promised, and the run is not calm.

use super::lives::Group;
use crate::links::Links;
use crate::nodes::Nodes;
use bellwether_core::{Event, NodeId};

/// The active faults at one moment of a live run.
pub(super) struct Conditions {
    /// For each process, the ones it cannot reach.
    severed: Vec<Nodes>,
    /// The paused processes, and those whose records ended.
    pub(super) still: Nodes,
    /// Whether a process was asked to resign.
    pub(super) resigned: bool,
}

impl Conditions {
    pub(super) fn new(numbers: u32) -> Self {
        let severed = vec![Nodes::NONE; numbers as usize];
        Self { severed, still: Nodes::NONE, resigned: false }
    }

    /// Applies a fault of the process with this index, or of the network.
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

    /// The connections; `None` if a link works in one direction only.
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
