//! The messages of the collecting ring.
//!
//! A list may hold all processes. It belongs to the message and is moved from hop to hop.

use super::key::Key;
use alloc::vec::Vec;
use bellwether_core::{Instant, Malformed, Message as Wire, NodeId, Reader, Rebase, WireWrite};
use core::mem::replace;

/// An election: its caller, and its number among all elections of that caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// When it was called, on the caller's clock, if elections are stamped.
    pub at: Option<Instant>,
    /// The caller.
    pub by: NodeId,
    /// The caller's incarnation.
    pub life: u64,
    /// How many elections it had called in that incarnation, including this one.
    pub number: u64,
}

impl Call {
    /// Whether this was called before another, by a total order: equal times are ordered by id.
    pub(super) fn is_older(&self, than: &Self) -> bool {
        (self.at, self.by) < (than.at, than.by)
    }

    pub(super) fn rebase(&mut self, rebase: &Rebase<'_>) {
        if let Some(at) = &mut self.at {
            rebase.foreign(self.by, at);
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_flag(self.at.is_some());
        if let Some(at) = self.at {
            out.put_instant(at);
        }
        out.put_node(self.by);
        out.put_u64(self.life);
        out.put_u64(self.number);
    }

    fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        let at = if input.flag()? { Some(input.instant()?) } else { None };
        Ok(Self { at, by: input.node()?, life: input.u64()?, number: input.u64()? })
    }
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// "Who is there?"
    Election {
        /// The election.
        call: Call,
        /// The greatest round that any process on its way knows.
        round: u64,
        /// The processes on its way, the caller first.
        keys: Vec<Key>,
    },
    /// "This one leads."
    Coordinator {
        /// The election that found the leader.
        call: Call,
        /// Greater than every round that the live processes had been told.
        round: u64,
        /// The leader.
        leader: Key,
        /// The live processes, if they are told.
        living: Vec<Key>,
        /// How many processes forwarded it.
        hops: u32,
    },
}

impl Wire for Message {
    fn take(&mut self) -> Self {
        let (Self::Election { call, .. } | Self::Coordinator { call, .. }) = *self;
        replace(self, Self::Election { call, round: 0, keys: Vec::new() })
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Election { .. } => "election",
            Self::Coordinator { .. } => "coordinator",
        }
    }

    fn latest(&self) -> u64 {
        let (Self::Election { call, round, .. } | Self::Coordinator { call, round, .. }) = self;
        call.life.max(call.number).max(*round)
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Election { call, round, keys } => {
                out.put_u8(0);
                call.encode(out);
                out.put_u64(*round);
                put_keys(keys, out);
            }
            Self::Coordinator { call, round, leader, living, hops } => {
                out.put_u8(1);
                call.encode(out);
                out.put_u64(*round);
                leader.encode(out);
                put_keys(living, out);
                out.put_u32(*hops);
            }
        }
    }

    fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        let kind = input.u8()?;
        let (call, round) = (Call::decode(input)?, input.u64()?);
        match kind {
            0 => Ok(Self::Election { call, round, keys: read_keys(input)? }),
            1 => {
                let leader = Key::decode(input)?;
                let (living, hops) = (read_keys(input)?, input.u32()?);
                Ok(Self::Coordinator { call, round, leader, living, hops })
            }
            _ => Err(Malformed),
        }
    }

    fn instants(&mut self, _to: NodeId, rebase: &Rebase<'_>) {
        match self {
            Self::Election { call, .. } | Self::Coordinator { call, .. } => call.rebase(rebase),
        }
    }
}

/// Appends a list of any length; those of [`WireWrite::put_list`] end at 65,535.
fn put_keys(keys: &[Key], out: &mut Vec<u8>) {
    out.put_u64(keys.len() as u64);
    keys.iter().for_each(|key| key.encode(out));
}

/// The bytes are taken before anything is allocated, so a false count fails without an allocation.
fn read_keys(input: &mut Reader<'_>) -> Result<Vec<Key>, Malformed> {
    let count = usize::try_from(input.u64()?).map_err(|_| Malformed)?;
    let mut bytes = Reader::new(input.bytes(count.checked_mul(Key::LEN).ok_or(Malformed)?)?);
    (0..count).map(|_| Key::decode(&mut bytes)).collect()
}
