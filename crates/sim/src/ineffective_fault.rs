//! Finds faults that can have no effect, which are mistakes in a scenario.
//!
//! Which process leads when a fault happens is known only during the run. A fault on "the leader"
//! may therefore have affected any process. A process that was stopped once may stay down, so a
//! second restart is not reported.

use crate::fault::{Fault, Who};
use crate::network::Topology;
use crate::plan::Plan;
use bellwether_core::Duration;
use std::collections::BTreeSet;
use std::fmt;

/// Why a fault has no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IneffectiveFault {
    /// It is planned for after the end of the run.
    AfterEnd {
        /// When it is planned.
        at: Duration,
        /// When the run ends.
        until: Duration,
    },
    /// It starts a process that no earlier fault stopped.
    Running {
        /// The process.
        node: Who,
    },
    /// It resumes a process that no earlier fault paused.
    NotPaused {
        /// The process.
        node: Who,
    },
    /// It adds or removes a link in a network without a graph.
    NoGraph,
}

impl IneffectiveFault {
    /// The key of the fault that is wrong, in a scenario file.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::AfterEnd { .. } => "at",
            Self::Running { .. } | Self::NotPaused { .. } => "node",
            Self::NoGraph => "ends",
        }
    }
}

impl fmt::Display for IneffectiveFault {
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

/// All faults of a plan that have no effect, with their positions in the plan.
pub(crate) fn idle(plan: &Plan) -> Vec<(usize, IneffectiveFault)> {
    let mut stopped = Affected { nodes: plan.absent.iter().copied().collect(), anyone: false };
    let mut paused = Affected::default();
    let mut found = Vec::new();
    for (number, timed) in plan.faults.iter().enumerate() {
        let (at, until) = (timed.at, plan.horizon);
        let idle = match &timed.fault {
            _ if at > until => Some(IneffectiveFault::AfterEnd { at, until }),
            Fault::Restart { node, .. } | Fault::Join { node } | Fault::Renumber { node, .. } => {
                (!stopped.may_include(*node)).then_some(IneffectiveFault::Running { node: *node })
            }
            Fault::Resume { node } => {
                (!paused.may_include(*node)).then_some(IneffectiveFault::NotPaused { node: *node })
            }
            Fault::Link { .. } if plan.network.topology == Topology::Group => {
                Some(IneffectiveFault::NoGraph)
            }
            Fault::Crash { node } | Fault::Kill { node, .. } | Fault::Leave { node } => {
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

/// The processes that earlier faults may have affected.
#[derive(Default)]
struct Affected {
    nodes: BTreeSet<u32>,
    /// Whether a fault named the leader, so that any process may be affected.
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
