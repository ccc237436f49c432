//! Finds faults that can have no effect, which are mistakes in a scenario.
//!
//! Which process leads when a fault happens is known only during the run. A fault on "the leader"
//! may therefore have affected any process. A process that was stopped once may stay down, so a
//! second restart is not reported. A second stop is: nothing starts a process but a fault.

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
    /// It stops a process that is not running.
    Stopped {
        /// The process.
        node: Who,
    },
    /// It ends the slowness of a process that no earlier fault slowed.
    NotSlow {
        /// The process.
        node: Who,
    },
    /// It ends cuts, and no earlier fault cut anything.
    NotCut,
    /// It adds or removes a link in a network without a graph.
    NoGraph,
}

impl IneffectiveFault {
    /// The key of the fault that is wrong, in a scenario file.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::AfterEnd { .. } => "at",
            Self::Running { .. } | Self::Stopped { .. } | Self::NotPaused { .. } => "node",
            Self::NotSlow { .. } => "by",
            Self::NotCut => "what",
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
            Self::Stopped { node } => write!(
                f,
                "{} is stopped already, and no fault in between starts it; restart it first, or \
                 leave the fault out",
                name(node)
            ),
            Self::NotSlow { node } => write!(
                f,
                "{} is not slow, because no fault before this slows it; slow it first, or choose \
                 a longer `by`",
                name(node)
            ),
            Self::NotCut => f.write_str(
                "nothing is cut, because no fault before this cuts anything; cut it first, or \
                 leave the fault out",
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
    idle_among(plan, |_| true)
}

/// The same if only the faults at these positions happen.
pub(crate) fn idle_among(
    plan: &Plan,
    happens: impl Fn(usize) -> bool,
) -> Vec<(usize, IneffectiveFault)> {
    let absent: BTreeSet<u32> = plan.absent.iter().copied().collect();
    let mut before = Before {
        down: absent.clone(),
        stopped: Affected { nodes: absent, anyone: false },
        graph: plan.network.topology != Topology::Group,
        ..Before::default()
    };
    let mut found = Vec::new();
    for (number, timed) in plan.faults.iter().enumerate().filter(|(number, _)| happens(*number)) {
        let (at, until) = (timed.at, plan.horizon);
        let idle = match at > until {
            true => Some(IneffectiveFault::AfterEnd { at, until }),
            false => before.idle(&timed.fault),
        };
        if idle.is_none() {
            before.add(&timed.fault);
        }
        found.extend(idle.map(|idle| (number, idle)));
    }
    found
}

/// What earlier faults came to.
#[derive(Default)]
struct Before {
    /// Who may be stopped, paused and slow.
    stopped: Affected,
    paused: Affected,
    slowed: Affected,
    /// Who is stopped for certain.
    down: BTreeSet<u32>,
    /// Whether anything was cut.
    cut: bool,
    /// Whether processes are linked by a graph.
    graph: bool,
}

impl Before {
    /// Why the fault has no effect after these, if it has none.
    fn idle(&self, fault: &Fault) -> Option<IneffectiveFault> {
        let unless = |holds: bool, idle| if holds { None } else { Some(idle) };
        match *fault {
            Fault::Restart { node, .. } | Fault::Join { node } | Fault::Renumber { node, .. } => {
                unless(self.stopped.may_include(node), IneffectiveFault::Running { node })
            }
            Fault::Crash { node } | Fault::Kill { node, .. } | Fault::Leave { node } => {
                unless(!self.is_down(node), IneffectiveFault::Stopped { node })
            }
            Fault::Resume { node } => {
                unless(self.paused.may_include(node), IneffectiveFault::NotPaused { node })
            }
            Fault::Slow { node, by: Duration::ZERO } => {
                unless(self.slowed.may_include(node), IneffectiveFault::NotSlow { node })
            }
            Fault::Heal | Fault::Mend { .. } => unless(self.cut, IneffectiveFault::NotCut),
            Fault::Link { .. } => unless(self.graph, IneffectiveFault::NoGraph),
            _ => None,
        }
    }

    fn add(&mut self, fault: &Fault) {
        match *fault {
            Fault::Crash { node } | Fault::Kill { node, .. } | Fault::Leave { node } => {
                self.stopped.add(node);
                // A paused process leaves when it goes on.
                let later = matches!(fault, Fault::Leave { .. }) && self.paused.may_include(node);
                if let Who::Node(node) = node
                    && !later
                {
                    self.down.insert(node);
                }
            }
            Fault::Restart { node, .. } | Fault::Join { node } => match node {
                Who::Node(node) => drop(self.down.remove(&node)),
                Who::Leader => self.down.clear(),
            },
            Fault::Pause { node } => self.paused.add(node),
            Fault::Slow { node, .. } => self.slowed.add(node),
            Fault::Cut { .. } => self.cut = true,
            _ => {}
        }
    }

    fn is_down(&self, who: Who) -> bool {
        matches!(who, Who::Node(node) if self.down.contains(&node))
    }
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
