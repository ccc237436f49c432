//! Faults, and when they happen.

use crate::network::Network;
use crate::observer::id;
use bellwether_core::{Command, Duration, SimTime};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// The process that a fault affects: one by its number, or the one that most processes follow at
/// that time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// The process with this number.
    Node(u32),
    /// The current leader; written `"leader"`.
    Leader,
}

impl Who {
    /// The number, if it is not the leader.
    fn number(self) -> Option<u32> {
        match self {
            Self::Node(node) => Some(node),
            Self::Leader => None,
        }
    }
}

impl Serialize for Who {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Node(node) => serializer.serialize_u32(*node),
            Self::Leader => serializer.serialize_str(LEADER),
        }
    }
}

const LEADER: &str = "leader";

impl<'de> Deserialize<'de> for Who {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AsWritten;

        impl Visitor<'_> for AsWritten {
            type Value = Who;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the number of a process, from 0 on, or the word \"leader\"")
            }
            fn visit_u64<E: de::Error>(self, node: u64) -> Result<Who, E> {
                u32::try_from(node).map(Who::Node).map_err(|_| no_node(&node))
            }
            fn visit_i64<E: de::Error>(self, node: i64) -> Result<Who, E> {
                u32::try_from(node).map(Who::Node).map_err(|_| no_node(&node))
            }
            fn visit_str<E: de::Error>(self, word: &str) -> Result<Who, E> {
                if word == LEADER { Ok(Who::Leader) } else { Err(no_node(&format!("\"{word}\""))) }
            }
        }

        deserializer.deserialize_any(AsWritten)
    }
}

fn no_node<E: de::Error>(written: &dyn fmt::Display) -> E {
    E::custom(format!("node = {written}, but a node is a number from 0 on or the word \"leader\""))
}

/// One fault: an event that happens to the world from outside.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// The process stops without notice; its stored bytes remain.
    Crash {
        /// The process.
        node: Who,
    },
    /// The process crashes, and so much later somebody who knows of it, such as its guardian, sends
    /// the [last will](bellwether_core::Protocol::last_will) of that incarnation. The packets have
    /// the fates of any others of that process.
    Kill {
        /// The process.
        node: Who,
        /// How much later.
        release: Duration,
    },
    /// Somebody sends the last will of the process's present incarnation, or of its last one if it
    /// is stopped. If it runs, this breaks what protocols assume.
    Release {
        /// The process.
        node: Who,
    },
    /// The process starts again.
    Restart {
        /// The process.
        node: Who,
        /// What remains of its stored bytes.
        disk: Disk,
        /// Whether the whole machine rebooted, so that its clock starts at zero.
        reboot: bool,
    },
    /// The next incarnation of a stopped process gets the number of an earlier one, as if the
    /// counter had been lost. The process knows that it ran before. The incarnation after that has
    /// a new number again.
    Renumber {
        /// The process.
        node: Who,
        /// The number it gets.
        life: Renumbered,
    },
    /// The process is suspended; messages to it wait.
    Pause {
        /// The process.
        node: Who,
    },
    /// The process continues, and handles everything that waited.
    Resume {
        /// The process.
        node: Who,
    },
    /// From now on the process reacts late.
    Slow {
        /// The process.
        node: Who,
        /// The longest delay; zero ends the slowness.
        by: Duration,
    },
    /// From now on the process's clock runs fast, or slow if negative.
    Drift {
        /// The process.
        node: Who,
        /// The rate, in parts per 10⁹.
        parts_per_billion: i32,
    },
    /// The process's clock is set forward.
    Jump {
        /// The process.
        node: Who,
        /// By how much.
        by: Duration,
    },
    /// A process that was [absent](crate::Plan::absent) starts.
    Join {
        /// The process.
        node: Who,
    },
    /// The process is asked to leave. It may say goodbye, and then stops.
    Leave {
        /// The process.
        node: Who,
    },
    /// The process is asked to stop leading.
    Resign {
        /// The process.
        node: Who,
    },
    /// The process is asked to stop leading in favour of another.
    Transfer {
        /// The process.
        node: Who,
        /// The other one.
        nominee: u32,
    },
    /// The process is asked to start an election.
    Campaign {
        /// The process.
        node: Who,
    },
    /// The process is asked to let another one vote.
    Add {
        /// The process.
        node: Who,
        /// The new voter.
        voter: u32,
    },
    /// The process is asked to let a voter vote no longer.
    Remove {
        /// The process.
        node: Who,
        /// The voter.
        voter: u32,
    },
    /// The process is asked to let another one vote instead of a voter.
    Replace {
        /// The process.
        node: Who,
        /// The voter.
        voter: u32,
        /// The new voter.
        with: u32,
    },
    /// The process is asked to change lockTime, or how much clocks drift.
    Lengths {
        /// The process.
        node: Who,
        /// The new lockTime, if it is to change.
        lock: Option<Duration>,
        /// The new drift in parts per 10⁶, if it is to change.
        drift_ppm: Option<u32>,
    },
    /// In a graph: a link appears or disappears, and both ends are told.
    Link {
        /// The two ends.
        ends: (u32, u32),
        /// Whether it appears.
        up: bool,
    },
    /// From now on nothing sent by `from` reaches `to`. Both ways make a partition, one way an
    /// asymmetric one, and any set of pairs a non-transitive one.
    Cut {
        /// The senders.
        from: Vec<u32>,
        /// The receivers.
        to: Vec<u32>,
    },
    /// All cuts end.
    Heal,
    /// What `from` sends reaches `to` again; other cuts stay.
    Mend {
        /// The senders.
        from: Vec<u32>,
        /// The receivers.
        to: Vec<u32>,
    },
    /// From now on the network has these properties; cuts and packets in flight remain.
    Network {
        /// The new network.
        network: Box<Network>,
    },
}

/// What a restarted process finds of its stored bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Disk {
    /// All of it.
    #[default]
    Kept,
    /// Nothing.
    Lost,
    /// The first half of the last write.
    Torn,
}

/// The number of an incarnation that has no new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Renumbered {
    /// The number of the previous incarnation.
    Same,
    /// Zero, which is lower than the number of any other incarnation.
    Lower,
}

impl Fault {
    /// The process it affects, if it affects one.
    pub fn node(&self) -> Option<Who> {
        match self {
            Self::Crash { node }
            | Self::Kill { node, .. }
            | Self::Release { node }
            | Self::Restart { node, .. }
            | Self::Renumber { node, .. }
            | Self::Pause { node }
            | Self::Resume { node }
            | Self::Slow { node, .. }
            | Self::Drift { node, .. }
            | Self::Jump { node, .. }
            | Self::Join { node }
            | Self::Leave { node }
            | Self::Resign { node }
            | Self::Transfer { node, .. }
            | Self::Campaign { node }
            | Self::Add { node, .. }
            | Self::Remove { node, .. }
            | Self::Replace { node, .. }
            | Self::Lengths { node, .. } => Some(*node),
            Self::Cut { .. }
            | Self::Heal
            | Self::Mend { .. }
            | Self::Network { .. }
            | Self::Link { .. } => None,
        }
    }

    /// The command it gives, if it gives one.
    pub(crate) fn command(&self) -> Option<Command> {
        match self {
            Self::Leave { .. } => Some(Command::Leave),
            Self::Resign { .. } => Some(Command::Resign),
            Self::Transfer { nominee, .. } => Some(Command::Transfer(id(*nominee))),
            Self::Campaign { .. } => Some(Command::Campaign),
            Self::Add { voter, .. } => Some(Command::Add(id(*voter))),
            Self::Remove { voter, .. } => Some(Command::Remove(id(*voter))),
            Self::Replace { voter, with, .. } => Some(Command::Replace(id(*voter), id(*with))),
            Self::Lengths { lock, drift_ppm, .. } => Some(Command::Lengths(*lock, *drift_ppm)),
            _ => None,
        }
    }

    /// The key under which a scenario file names this process in the fault.
    pub(crate) fn key(&self, node: u32) -> &'static str {
        match self {
            Self::Cut { from, .. } | Self::Mend { from, .. } if from.contains(&node) => "from",
            Self::Cut { .. } | Self::Mend { .. } => "to",
            Self::Network { .. } => "network",
            Self::Link { .. } => "ends",
            Self::Transfer { nominee, .. } if *nominee == node => "nominee",
            Self::Replace { with, .. } if *with == node => "with",
            Self::Add { voter, .. } | Self::Remove { voter, .. } | Self::Replace { voter, .. }
                if *voter == node =>
            {
                "voter"
            }
            _ => "node",
        }
    }

    /// The largest process number in it.
    pub(crate) fn highest(&self) -> Option<u32> {
        match self {
            Self::Cut { from, to } | Self::Mend { from, to } => {
                from.iter().chain(to).copied().max()
            }
            Self::Network { network } => network.highest(),
            Self::Link { ends: (a, b), .. } => Some(*a.max(b)),
            Self::Transfer { node, nominee } => node.number().max(Some(*nominee)),
            Self::Add { node, voter } | Self::Remove { node, voter } => {
                node.number().max(Some(*voter))
            }
            Self::Replace { node, voter, with } => node.number().max(Some(*voter.max(with))),
            _ => self.node().and_then(Who::number),
        }
    }
}

/// A fault and its time.
#[derive(Clone, Debug, PartialEq)]
pub struct Timed {
    /// When it happens, counted from the start of the run.
    pub at: Duration,
    /// The fault.
    pub fault: Fault,
}

impl Timed {
    /// When it happens, as a world time.
    pub fn time(&self) -> SimTime {
        SimTime::ZERO + self.at
    }
}

/// The cuts in force.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cuts(Vec<(Vec<u32>, Vec<u32>)>);

impl Cuts {
    pub(crate) fn add(&mut self, from: &[u32], to: &[u32]) {
        self.0.push((from.to_vec(), to.to_vec()));
    }

    pub(crate) fn heal(&mut self) {
        self.0.clear();
    }

    /// Ends the cuts of these pairs. What is left of a cut is at most two: of the other senders,
    /// and of these senders to the other receivers.
    pub(crate) fn mend(&mut self, from: &[u32], to: &[u32]) {
        let apart = |nodes: Vec<u32>, ends: &[u32]| -> (Vec<u32>, Vec<u32>) {
            nodes.into_iter().partition(|node| ends.contains(node))
        };
        let old = std::mem::take(&mut self.0);
        for (senders, receivers) in old {
            let (mended, senders) = apart(senders, from);
            let (_, others) = apart(receivers.clone(), to);
            let left = [(senders, receivers), (mended, others)];
            self.0.extend(left.into_iter().filter(|(from, to)| !from.is_empty() && !to.is_empty()));
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[inline]
    pub(crate) fn severs(&self, from: u32, to: u32) -> bool {
        self.0.iter().any(|(senders, receivers)| senders.contains(&from) && receivers.contains(&to))
    }
}
