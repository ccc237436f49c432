//! What a simulation must know of a protocol to plan around it and to see when it is done.

use bellwether_core::Duration;

/// What a simulation must know to plan around a protocol and to see when it is done, whatever the
/// protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// What there is to wait for.
    pub goal: Goal,
    /// The longest a process waits before it first claims to lead.
    pub opening: Duration,
    /// The time between a leader's signs of life.
    pub interval: Duration,
    /// The silence after which a leader is given up; [`Duration::MAX`] if it never is.
    pub trust: Duration,
    /// How long after an attempt to agree the next one begins.
    pub attempt: Duration,
    /// How often a leader that departs says so; 0 if it departs without a word.
    pub byes: u32,
    /// Whether luck decides who is better, and not the id or the rank.
    pub by_luck: bool,
    /// The leases, if leadership ends without support.
    pub leases: Option<Leases>,
    /// Whether an election begins only when somebody calls it.
    pub on_demand: bool,
    /// Whether something goes on for ever, also when all is well: heartbeats, or a finite
    /// `call-after`.
    pub restless: bool,
}

impl Profile {
    /// That of a protocol whose leader speaks this often, and is never given up: it claims to lead
    /// at once, departs without a word, and nobody has to call an election.
    pub const fn every(interval: Duration) -> Self {
        Self {
            goal: Goal::Leaders(1),
            opening: Duration::ZERO,
            interval,
            trust: Duration::MAX,
            attempt: interval,
            byes: 0,
            by_luck: false,
            leases: None,
            on_demand: false,
            restless: true,
        }
    }
}

/// Leadership that ends unless it is renewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leases {
    /// Whether a leader needs more than half of the group; it leads those it can reach otherwise.
    pub majority: bool,
    /// The kind of message by which a process asks to lead.
    pub request: &'static str,
    /// The kinds of messages that answer it.
    pub answers: &'static [&'static str],
    /// For how long a promise binds.
    pub lock: Duration,
    /// For how long a leader leads by it.
    pub lease: Duration,
    /// How often it asks for more.
    pub renew: Duration,
    /// The longest that a request and its answer take and still count.
    pub round_trip: Duration,
    /// The longest a process takes to react.
    pub scheduling: Duration,
    /// By how much it trusts clocks to be wrong at most, in parts per million.
    pub drift_ppm: u32,
    /// By how much they may be off beyond that.
    pub clock_error: Duration,
    /// Whether a request that renews a lease is answered by some of those who grant it.
    pub some_answer: bool,
}

impl Leases {
    /// The same with another lockTime and another drift, and the lease that follows.
    #[must_use]
    pub fn with(self, lock: Duration, drift_ppm: u32) -> Self {
        Self { lock, drift_ppm, lease: lease(lock, drift_ppm, self.clock_error), ..self }
    }

    /// How many processes of a group it takes to have a leader.
    pub fn quorum(&self, group: u32) -> u32 {
        if self.majority { group / 2 + 1 } else { 1 }
    }
}

/// How long a leader leads by locks of this length: lockTime(1−2ρ)−2ε, rounded down.
pub(crate) fn lease(lock: Duration, drift_ppm: u32, clock_error: Duration) -> Duration {
    const MILLION: u128 = 1_000_000;
    let parts = MILLION.saturating_sub(2 * u128::from(drift_ppm));
    let nanos = u128::from(lock.as_nanos()) * parts / MILLION;
    let length = Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX));
    length.saturating_sub(clock_error * 2)
}

/// When a group has settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// All have accepted this many best processes.
    Leaders(usize),
    /// All name the same leader, whoever it is.
    Same,
    /// All have spoken or been silenced.
    Quiet,
}
