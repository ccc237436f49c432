//! What somebody who makes trouble for a protocol must know of its time scales.
//!
//! Trouble is drawn around these lengths, below and above; and once it ends, the promise must be
//! kept within [`TimeScales::settles`], the κ of Fetzer and Cristian.

use bellwether_core::Duration;

/// The time scales of a protocol with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeScales {
    /// No message is faster (δmin).
    pub fastest: Duration,
    /// The longest a message may take and still count as timely (δ).
    pub timely: Duration,
    /// The longest a process may take to react and still count as timely (σ).
    pub scheduling: Duration,
    /// Clocks run fast or slow by at most this, in parts per 10⁹ (ρ).
    pub drift: u32,
    /// What a clock may gain or lose beyond that between two readings (ε).
    pub clock_error: Duration,
    /// How old the stamps may be by which a process knows how long a message was under way.
    pub stamps: Duration,
    /// How long a promise given to a leader lasts.
    pub lease: Duration,
    /// After how long a leader repeats itself to those that do not vote; zero if it says nothing to
    /// them, or no protocol of this kind has such.
    pub announces: Duration,
    /// Once nothing goes wrong any more, the promise is kept within this (κ).
    pub settles: Duration,
    /// Whether processes tell whom they are locked to, and leaders who supports them.
    pub leases: bool,
    /// Whether the leader must be the best there is, as processes themselves tell.
    pub best: bool,
    /// How many processes it takes to have a leader; any connected set can if absent.
    pub quorum: Option<usize>,
    /// Whether the term of a leader is a fencing token, which grows from leader to leader whatever
    /// is lost, and members tell whether they have a record of the terms they granted.
    pub tokens: bool,
    /// Whether priorities and witnesses have an effect on who leads.
    pub roles: bool,
    /// Whether a model of it is proved, and processes tell of their votes and requests what the
    /// model has.
    pub proved: bool,
    /// If leadership goes round: the longest time from one leader to the next.
    pub rotates: Option<Duration>,
}

impl TimeScales {
    /// The drift of a bad quartz, 200 parts per million.
    pub const QUARTZ: u32 = 200_000;

    /// Clocks of quartz, and neither leases nor a quorum nor a promise that the best leads. All
    /// lengths are zero.
    pub const USUAL: Self = Self {
        fastest: Duration::ZERO,
        timely: Duration::ZERO,
        scheduling: Duration::ZERO,
        drift: Self::QUARTZ,
        clock_error: Duration::ZERO,
        stamps: Duration::ZERO,
        lease: Duration::ZERO,
        announces: Duration::ZERO,
        settles: Duration::ZERO,
        leases: false,
        best: false,
        quorum: None,
        tokens: false,
        roles: false,
        proved: false,
        rotates: None,
    };

    /// How long it takes, at most, until a clock that drifts this much has counted so long.
    pub fn stretched(length: Duration, drift: u32) -> Duration {
        const BILLION: u64 = 1_000_000_000;
        let more = length.as_nanos() / BILLION * u64::from(drift) + u64::from(drift);
        length + Duration::from_nanos(2 * more)
    }
}
