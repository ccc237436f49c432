//! What goes wrong, and when.

use crate::network::Network;
use bellwether_core::{Command, Duration, SimTime};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// To whom something happens: a process by its number, or whoever most processes follow just then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// This one.
    Node(u32),
    /// The present leader; written `"leader"`.
    Leader,
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

/// One thing that happens to the world from outside.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// The process stops without a word; what it stored stays.
    Crash {
        /// Which.
        node: Who,
    },
    /// It starts again.
    Restart {
        /// Which.
        node: Who,
        /// What is left of what it stored.
        disk: Disk,
        /// Whether the whole machine started again, so that its clock begins at nought.
        reboot: bool,
    },
    /// A process that is gone will begin with a number of a former life, as if it had lost count.
    /// It knows that it ran before. The life after that has a number of its own again.
    Renumber {
        /// Which.
        node: Who,
        /// Which number.
        life: Renumbered,
    },
    /// It stands still; what is sent to it waits.
    Pause {
        /// Which.
        node: Who,
    },
    /// It goes on, with everything that waited.
    Resume {
        /// Which.
        node: Who,
    },
    /// From now on it reacts late, by up to this.
    Slow {
        /// Which.
        node: Who,
        /// The most; nought ends it.
        by: Duration,
    },
    /// From now on its clock runs fast, or slow if negative.
    Drift {
        /// Which.
        node: Who,
        /// In parts per 10⁹.
        parts_per_billion: i32,
    },
    /// Its clock is set forward.
    Jump {
        /// Which.
        node: Who,
        /// By this much.
        by: Duration,
    },
    /// A process that was [absent](crate::Plan::absent) starts.
    Join {
        /// Which.
        node: Who,
    },
    /// It is asked to leave, may say goodbye, and is gone.
    Leave {
        /// Which.
        node: Who,
    },
    /// It is asked to stop leading.
    Resign {
        /// Which.
        node: Who,
    },
    /// It is asked to hold an election.
    Campaign {
        /// Which.
        node: Who,
    },
    /// In a graph: a link comes or goes, and both ends are told.
    Link {
        /// The two ends.
        ends: (u32, u32),
        /// Whether it comes.
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
    /// From now on the network is like this; cuts stay, and so does what is under way.
    Network {
        /// The new one.
        network: Box<Network>,
    },
}

/// What a restart finds of what was stored.
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

/// The number of a life that has none of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Renumbered {
    /// That of the life before it.
    Same,
    /// Zero, which is lower than that of any other life.
    Lower,
}

impl Fault {
    /// The process it happens to, if it is one.
    pub fn node(&self) -> Option<Who> {
        match self {
            Self::Crash { node }
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
            | Self::Campaign { node } => Some(*node),
            Self::Cut { .. } | Self::Heal | Self::Network { .. } | Self::Link { .. } => None,
        }
    }

    /// The command it gives, if it is one.
    pub(crate) fn command(&self) -> Option<Command> {
        match self {
            Self::Leave { .. } => Some(Command::Leave),
            Self::Resign { .. } => Some(Command::Resign),
            Self::Campaign { .. } => Some(Command::Campaign),
            _ => None,
        }
    }

    /// The key under which a scenario file names processes in it.
    pub(crate) fn key(&self, node: u32) -> &'static str {
        match self {
            Self::Cut { from, .. } if from.contains(&node) => "from",
            Self::Cut { .. } => "to",
            Self::Network { .. } => "network",
            Self::Link { .. } => "ends",
            _ => "node",
        }
    }

    /// The largest process number in it.
    pub(crate) fn highest(&self) -> Option<u32> {
        match self {
            Self::Cut { from, to } => from.iter().chain(to).copied().max(),
            Self::Network { network } => network.highest(),
            Self::Link { ends: (a, b), .. } => Some(*a.max(b)),
            _ => match self.node() {
                Some(Who::Node(node)) => Some(node),
                Some(Who::Leader) | None => None,
            },
        }
    }
}

/// A fault and its time.
#[derive(Clone, Debug, PartialEq)]
pub struct Timed {
    /// When, counted from the start.
    pub at: Duration,
    /// What.
    pub fault: Fault,
}

impl Timed {
    /// When, as a point in the world's time.
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

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[inline]
    pub(crate) fn severs(&self, from: u32, to: u32) -> bool {
        self.0.iter().any(|(senders, receivers)| senders.contains(&from) && receivers.contains(&to))
    }
}
