//! What a protocol tells about its inner state when asked.

use crate::id::{NodeId, Term};
use crate::time::Instant;
use serde::{Deserialize, Serialize};

/// One thing a process holds true, for the judge, the trace and the question "why?".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "fact")]
#[non_exhaustive]
pub enum Fact {
    /// It supports nobody but `to` before `until`.
    Locked {
        /// Whom it supports.
        to: NodeId,
        /// When it is free again.
        until: Instant,
    },
    /// This process supports it.
    Supporter {
        /// The supporter.
        peer: NodeId,
    },
    /// It holds this process to be alive.
    Alive {
        /// The living.
        peer: NodeId,
    },
    /// It holds this process to be dead or cut off.
    Suspect {
        /// The suspect.
        peer: NodeId,
    },
    /// It is in this round.
    Round {
        /// The round's number.
        number: u32,
    },
    /// It is one of the few that choose on behalf of all.
    Relay {
        /// Whom it would have.
        choice: NodeId,
    },
    /// It exchanges choices with this process, another of the few as far as it knows.
    Contact {
        /// The other.
        peer: NodeId,
    },
    /// The round is over for it, without a clear outcome.
    Unclear {
        /// How many were named that it knows of: none, or two for any number but one.
        leaders: u32,
    },
    /// The highest term it has seen.
    Highest {
        /// That term.
        term: Term,
    },
    /// How strong its own claim to lead is, in the order by which the protocol chooses.
    Claim {
        /// Larger is better; equal claims are ordered by id, the larger id first.
        weight: u64,
    },
    /// This process supports the same leader, as that leader said.
    Member {
        /// The member.
        peer: NodeId,
    },
    /// It supports nobody at all before `until`.
    Bound {
        /// When it is free again.
        until: Instant,
    },
    /// What it believes about leadership has been renewed. A driver says so, not a protocol.
    Held {
        /// The first instant at which that no longer holds.
        until: Instant,
    },
    /// Others know of a later life of this process than the present one, and do not listen to it.
    Outlived {
        /// The number of that life.
        life: u64,
    },
    /// How its clock stands to the time of the record. A driver says so, where they differ and
    /// there is something that ends by that clock.
    Clock {
        /// What it reads.
        reads: Instant,
    },
}
