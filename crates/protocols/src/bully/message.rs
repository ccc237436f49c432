//! The messages of bully.

use super::known::Availability;
use alloc::vec::Vec;
use bellwether_core::{Instant, Malformed, Message as Wire, NodeId, Reader, Rebase, WireWrite};

/// A message: the sender's availability and the contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Message {
    /// The sender's availability.
    pub availability: Availability,
    /// The contents.
    pub says: Says,
}

/// The contents of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Says {
    /// "I hold an election; greater processes, take over."
    Election {
        /// The round; zero from a process that has forgotten the number.
        round: u64,
        /// When and by whom it was called, if elections are stamped.
        stamp: Option<Stamp>,
    },
    /// "I am alive and greater, and I take over."
    Ok {
        /// The latest round that the sender knows.
        round: u64,
        /// The round of the Election message that this answers.
        of: u64,
    },
    /// "I lead."
    Coordinator {
        /// The latest round that the sender knows.
        round: u64,
    },
    /// "I do not want to lead."
    Resign,
    /// "Who leads?"
    Query,
    /// "This one does", or nobody, as far as the sender knows.
    Leader(Option<NodeId>),
}

/// When an election was called, on the caller's clock. Earlier is older; at equal times the lesser
/// id is older.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp {
    /// When it was called.
    pub at: Instant,
    /// The caller.
    pub by: NodeId,
}

impl Stamp {
    pub(super) fn rebase(&mut self, rebase: &Rebase<'_>) {
        rebase.foreign(self.by, &mut self.at);
    }
}

impl Wire for Message {
    fn kind(&self) -> &'static str {
        match self.says {
            Says::Election { .. } => "election",
            Says::Ok { .. } => "ok",
            Says::Coordinator { .. } => "coordinator",
            Says::Resign => "resign",
            Says::Query => "query",
            Says::Leader(_) => "leader",
        }
    }

    fn latest(&self) -> u64 {
        match self.says {
            Says::Election { round, .. } | Says::Coordinator { round } => round,
            Says::Ok { round, of } => round.max(of),
            Says::Resign | Says::Query | Says::Leader(_) => 0,
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        self.availability.encode(out);
        match self.says {
            Says::Election { round, stamp } => {
                out.put_u8(0);
                out.put_u64(round);
                out.put_flag(stamp.is_some());
                if let Some(Stamp { at, by }) = stamp {
                    out.put_instant(at);
                    out.put_node(by);
                }
            }
            Says::Ok { round, of } => {
                out.put_u8(1);
                out.put_u64(round);
                out.put_u64(of);
            }
            Says::Coordinator { round } => {
                out.put_u8(2);
                out.put_u64(round);
            }
            Says::Resign => out.put_u8(3),
            Says::Query => out.put_u8(4),
            Says::Leader(leader) => {
                out.put_u8(5);
                out.put_flag(leader.is_some());
                if let Some(leader) = leader {
                    out.put_node(leader);
                }
            }
        }
    }

    fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        let availability = Availability::decode(input)?;
        let says = match input.u8()? {
            0 => {
                let round = input.u64()?;
                let stamp = match input.flag()? {
                    true => Some(Stamp { at: input.instant()?, by: input.node()? }),
                    false => None,
                };
                Says::Election { round, stamp }
            }
            1 => Says::Ok { round: input.u64()?, of: input.u64()? },
            2 => Says::Coordinator { round: input.u64()? },
            3 => Says::Resign,
            4 => Says::Query,
            5 => Says::Leader(if input.flag()? { Some(input.node()?) } else { None }),
            _ => return Err(Malformed),
        };
        Ok(Self { availability, says })
    }

    fn instants(&mut self, _to: NodeId, rebase: &Rebase<'_>) {
        if let Says::Election { stamp: Some(stamp), .. } = &mut self.says {
            stamp.rebase(rebase);
        }
    }
}
