//! Faults that can have no effect: whoever wrote one meant something else.
//!
//! Who leads when a fault strikes is known only in the run, so "the leader" may be anybody: what
//! happened to the leader may have happened to every process. A process that was stopped once may
//! be down ever after, so a second restart is not found here.

use crate::fault::{Fault, Who};
use crate::network::Topology;
use crate::plan::Plan;
use bellwether_core::Duration;
use std::collections::BTreeSet;
use std::fmt;

/// Why a fault has no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// It comes after the end.
    AfterEnd {
        /// When it comes.
        at: Duration,
        /// When the run ends.
        until: Duration,
    },
    /// It starts a process that nothing stopped.
    Running {
        /// Which.
        node: Who,
    },
    /// It lets a process go on that nothing paused.
    NotPaused {
        /// Which.
        node: Who,
    },
    /// A link comes or goes where there are no links.
    NoGraph,
}

impl Idle {
    /// The key of the fault that is wrong.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::AfterEnd { .. } => "at",
            Self::Running { .. } | Self::NotPaused { .. } => "node",
            Self::NoGraph => "ends",
        }
    }
}

impl fmt::Display for Idle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |node: &Who| match node {
            Who::Node(node) => format!("process {node}"),
            Who::Leader => "the leader".to_owned(),
        };
        match self {
            Self::AfterEnd { at, until } => write!(
                f,
                "at = {at}, but the run ends before that, at until = {until}; make `until` later, \
                 or leave the fault out"
            ),
            Self::Running { node } => write!(
                f,
                "{} is running already, because no fault before this stops it; crash it first, or \
                 name it in `absent`",
                name(node)
            ),
            Self::NotPaused { node } => write!(
                f,
                "{} is not paused, because no fault before this pauses it; pause it first",
                name(node)
            ),
            Self::NoGraph => f.write_str(
                "links come and go in a graph only, but here everyone reaches everyone; give \
                 [network.topology.graph], or use what = \"cut\"",
            ),
        }
    }
}

/// All faults of a plan that have no effect, by their numbers.
pub(crate) fn idle(plan: &Plan) -> Vec<(usize, Idle)> {
    let mut stopped = Affected { nodes: plan.absent.iter().copied().collect(), anyone: false };
    let mut paused = Affected::default();
    let mut found = Vec::new();
    for (number, timed) in plan.faults.iter().enumerate() {
        let (at, until) = (timed.at, plan.horizon);
        let idle = match &timed.fault {
            _ if at > until => Some(Idle::AfterEnd { at, until }),
            Fault::Restart { node, .. } | Fault::Join { node } | Fault::Renumber { node, .. } => {
                (!stopped.may_include(*node)).then_some(Idle::Running { node: *node })
            }
            Fault::Resume { node } => {
                (!paused.may_include(*node)).then_some(Idle::NotPaused { node: *node })
            }
            Fault::Link { .. } if plan.network.topology == Topology::Group => Some(Idle::NoGraph),
            Fault::Crash { node } | Fault::Leave { node } => {
                stopped.add(*node);
                None
            }
            Fault::Pause { node } => {
                paused.add(*node);
                None
            }
            _ => None,
        };
        found.extend(idle.map(|idle| (number, idle)));
    }
    found
}

/// To whom something happened.
#[derive(Default)]
struct Affected {
    nodes: BTreeSet<u32>,
    /// Whether it happened to a leader, so that it may be anyone.
    anyone: bool,
}

impl Affected {
    fn add(&mut self, who: Who) {
        match who {
            Who::Node(node) => drop(self.nodes.insert(node)),
            Who::Leader => self.anyone = true,
        }
    }

    fn may_include(&self, who: Who) -> bool {
        self.anyone
            || match who {
                Who::Node(node) => self.nodes.contains(&node),
                Who::Leader => !self.nodes.is_empty(),
            }
    }
}
