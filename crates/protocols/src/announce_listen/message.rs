//! The messages of this family.

use super::{Class, STANDING_MAX, weigh};
use alloc::vec::Vec;
use bellwether_core::{Malformed, Message as Wire, Reader, WireWrite};

/// A message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Message {
    /// "I lead", with the weight of the claim; see [`weigh`](super::weigh).
    Announce(u64),
    /// "Who leads? I would, with this weight." Leaders answer with an announcement.
    Query(u64),
    /// "I no longer lead" or "I am leaving".
    Bye,
}

impl Wire for Message {
    fn kind(&self) -> &'static str {
        match self {
            Self::Announce(_) => "announce",
            Self::Query(_) => "query",
            Self::Bye => "bye",
        }
    }

    /// Queries and Byes also concern processes far above the sender, so no minimum weight filters
    /// them.
    #[inline]
    fn weight(&self) -> u64 {
        match self {
            Self::Announce(weight) => *weight,
            Self::Query(_) | Self::Bye => u64::MAX,
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Announce(weight) => {
                out.push(0);
                out.put_u64(*weight);
            }
            Self::Query(weight) => {
                out.push(1);
                out.put_u64(*weight);
            }
            Self::Bye => out.push(2),
        }
    }

    fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        match input.u8()? {
            0 => input.u64().and_then(claim).map(Self::Announce),
            1 => input.u64().and_then(claim).map(Self::Query),
            2 => Ok(Self::Bye),
            _ => Err(Malformed),
        }
    }
}

/// Rejects the unused fourth class of claims, which would pass every minimum weight.
fn claim(weight: u64) -> Result<u64, Malformed> {
    if weight > weigh(Class::Established, STANDING_MAX) { Err(Malformed) } else { Ok(weight) }
}
