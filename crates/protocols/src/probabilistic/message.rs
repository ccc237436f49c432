//! The messages of the probabilistic election.

use super::sketch::Sketch;
use alloc::boxed::Box;
use alloc::vec::Vec;
use bellwether_core::{Malformed, Message as Wire, NodeId, Reader, WireWrite};
use core::mem::replace;

/// A round of an election. Later ones are greater. If several processes begin a round, they give it
/// the same name, so that it is one round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoundId {
    /// The election, from 1; zero before the first.
    pub election: u32,
    /// Its round, from 1; zero before the first.
    pub number: u32,
}

impl RoundId {
    /// The first round of an election.
    pub const fn first_of(election: u32) -> Self {
        Self { election, number: 1 }
    }

    /// The round after this one.
    pub(super) fn next(self) -> Self {
        Self { number: self.number.saturating_add(1), ..self }
    }

    /// The first round of the next election, unless the numbers are used up.
    pub(super) fn next_election(self) -> Option<Self> {
        self.election.checked_add(1).map(Self::first_of)
    }

    /// Both numbers as one, in the same order.
    #[inline]
    pub(super) fn weight(self) -> u64 {
        u64::from(self.election) << 32 | u64::from(self.number)
    }
}

/// A process that could lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Candidate {
    /// The process.
    pub id: NodeId,
    /// Its rank, as far as the sender knows; zero where ranks do not matter.
    pub rank: u64,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// To all: "this round begins".
    Initiate(RoundId),
    /// To a relay: "in this round I prefer this one".
    Prefer(RoundId, Candidate),
    /// To all: "in this round we chose this one".
    Final(RoundId, NodeId),
    /// To all: "I am new here; what has happened?", with the number of the attempt.
    Join(u32),
    /// To a process that asked: "this is the latest round, and it elected this one", or nobody yet.
    Welcome(RoundId, Option<NodeId>),
    /// To all, or to one process that does not know: "this one does not stand in elections up to
    /// this".
    Withdraw(NodeId, u32),
    /// To one: "these are the traces of all processes I know of", to count the group.
    Gossip(Box<Sketch>),
}

impl Wire for Message {
    fn take(&mut self) -> Self {
        replace(self, Self::Join(0))
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Initiate(_) => "initiate",
            Self::Prefer(..) => "prefer",
            Self::Final(..) => "final",
            Self::Join(_) => "join",
            Self::Welcome(..) => "welcome",
            Self::Withdraw(..) => "withdraw",
            Self::Gossip(_) => "gossip",
        }
    }

    /// A message of a round does not concern a process in a later round. A process that calls an
    /// election that is over must be told so.
    #[inline]
    fn weight(&self) -> u64 {
        match self {
            Self::Prefer(round, _) | Self::Final(round, _) => round.weight(),
            _ => u64::MAX,
        }
    }

    fn round(&self) -> Option<(u32, u32)> {
        match self {
            Self::Initiate(round) | Self::Prefer(round, _) | Self::Final(round, _) => {
                Some((round.election, round.number))
            }
            Self::Join(_) | Self::Welcome(..) | Self::Withdraw(..) | Self::Gossip(_) => None,
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Initiate(round) => {
                out.put_u8(0);
                put_round(out, *round);
            }
            Self::Prefer(round, choice) => {
                out.put_u8(1);
                put_round(out, *round);
                out.put_node(choice.id);
                out.put_u64(choice.rank);
            }
            Self::Final(round, leader) => {
                out.put_u8(2);
                put_round(out, *round);
                out.put_node(*leader);
            }
            Self::Join(attempt) => {
                out.put_u8(3);
                out.put_u32(*attempt);
            }
            Self::Welcome(round, leader) => {
                out.put_u8(4);
                put_round(out, *round);
                out.put_flag(leader.is_some());
                leader.iter().for_each(|leader| out.put_node(*leader));
            }
            Self::Withdraw(who, until) => {
                out.put_u8(5);
                out.put_node(*who);
                out.put_u32(*until);
            }
            Self::Gossip(sketch) => {
                out.put_u8(6);
                sketch.encode(out);
            }
        }
    }

    fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(match input.u8()? {
            0 => Self::Initiate(round(input)?),
            1 => {
                let round = round(input)?;
                Self::Prefer(round, Candidate { id: input.node()?, rank: input.u64()? })
            }
            2 => Self::Final(round(input)?, input.node()?),
            3 => Self::Join(input.u32()?),
            4 => {
                let round = any_round(input)?;
                Self::Welcome(round, if input.flag()? { Some(input.node()?) } else { None })
            }
            5 => Self::Withdraw(input.node()?, input.u32()?),
            6 => Self::Gossip(Box::new(Sketch::decode(input)?)),
            _ => return Err(Malformed),
        })
    }
}

fn put_round(out: &mut Vec<u8>, round: RoundId) {
    out.put_u32(round.election);
    out.put_u32(round.number);
}

/// Reads a round, or the value for no round.
fn any_round(input: &mut Reader<'_>) -> Result<RoundId, Malformed> {
    let round = RoundId { election: input.u32()?, number: input.u32()? };
    if (round.election == 0) == (round.number == 0) { Ok(round) } else { Err(Malformed) }
}

/// Reads a round.
fn round(input: &mut Reader<'_>) -> Result<RoundId, Malformed> {
    any_round(input).and_then(|round| if round.number == 0 { Err(Malformed) } else { Ok(round) })
}
