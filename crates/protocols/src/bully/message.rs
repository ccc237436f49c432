//! What processes say to each other.

use super::known::Standing;
use alloc::vec::Vec;
use bellwether_core::{Instant, Malformed, Message as Wire, NodeId, Reader, Rebase, Write};

/// One message: how its sender stands, and what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Message {
    /// How the sender stands for election.
    pub standing: Standing,
    /// What it says.
    pub says: Says,
}

/// One of six things.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Says {
    /// "I hold an election; whoever is greater, take over."
    Election {
        /// Which election; nought from a process that has forgotten how many there were.
        round: u64,
        /// When it was called and by whom, where that matters.
        stamp: Option<Stamp>,
    },
    /// "I live, am greater and take over."
    Ok {
        /// The latest election that the sender knows of.
        round: u64,
        /// The round of the Election message that this answers.
        of: u64,
    },
    /// "I lead."
    Coordinator {
        /// The latest election that the sender knows of.
        round: u64,
    },
    /// "I would rather not lead."
    Resign,
    /// "Who leads?"
    Query,
    /// "This one does", or nobody, as far as the sender knows.
    Leader(Option<NodeId>),
}

/// When an election was called, on the clock of whoever called it. Earlier is older, and of two at
/// the same time that of the lesser id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stamp {
    /// When.
    pub at: Instant,
    /// By whom.
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

    fn encode(&self, out: &mut Vec<u8>) {
        self.standing.encode(out);
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
        let standing = Standing::decode(input)?;
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
        Ok(Self { standing, says })
    }

    fn instants(&mut self, _to: NodeId, rebase: &Rebase<'_>) {
        if let Says::Election { stamp: Some(stamp), .. } = &mut self.says {
            stamp.rebase(rebase);
        }
    }
}
