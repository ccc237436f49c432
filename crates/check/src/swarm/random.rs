//! The random numbers by which a schedule is drawn.

use bellwether_core::{Duration, Entropy};
use bellwether_sim::coin::Stream;
use bellwether_sim::network::Probability;
use bellwether_sim::{RunSeed, StreamPurpose};

/// The random numbers of one schedule.
#[derive(Clone, Debug)]
pub struct ScheduleRng(Stream);

/// The random stream of schedules.
const SWARM: u64 = 2;
/// The stream of faults that were added later, so that the others do not change.
const LATER: u64 = 8;
/// The stream of how groups begin, likewise.
const FOUNDING: u64 = 10;
const LATEST: u64 = 11;
const ROLES: u64 = 12;
/// The stream of changes of the voters, likewise.
const MEMBERS: u64 = 14;
/// The stream of changes of lockTime and ρ, likewise.
const LENGTHS: u64 = 17;
/// The stream of restarts of all at once, likewise.
const ALL_RESTART: u64 = 18;
/// The stream of releases, likewise.
const RELEASES: u64 = 16;
/// The stream of parameters, likewise.
const PARAMETERS: u64 = 19;

impl ScheduleRng {
    /// The random numbers of the schedule with this number.
    pub fn new(seed: u64, number: u64) -> Self {
        Self(RunSeed::new(seed, number).world(StreamPurpose::Caller(SWARM)))
    }

    /// A second stream of the same schedule, for [faults added later](crate::FaultKind::LATER).
    pub(crate) fn later(seed: u64, number: u64) -> Self {
        Self(RunSeed::new(seed, number).world(StreamPurpose::Caller(LATER)))
    }

    /// A stream for the [latest faults](crate::FaultKind::LATEST).
    pub(crate) fn latest(seed: u64, number: u64) -> Self {
        Self(RunSeed::new(seed, number).world(StreamPurpose::Caller(LATEST)))
    }

    /// A stream for priorities and witnesses.
    pub(crate) fn roles(seed: u64, number: u64) -> Self {
        Self(RunSeed::new(seed, number).world(StreamPurpose::Caller(ROLES)))
    }

    /// A third stream, for how the group begins.
    pub(crate) fn founding(seed: u64, number: u64) -> Self {
        Self(RunSeed::new(seed, number).world(StreamPurpose::Caller(FOUNDING)))
    }

    /// A fourth stream, for changes of the voters.
    pub(crate) fn members(seed: u64, number: u64) -> Self {
        Self(RunSeed::new(seed, number).world(StreamPurpose::Caller(MEMBERS)))
    }

    /// A stream for changes of lockTime and ρ.
    pub(crate) fn lengths(seed: u64, number: u64) -> Self {
        Self(RunSeed::new(seed, number).world(StreamPurpose::Caller(LENGTHS)))
    }

    /// A stream for restarts of all at once.
    pub(crate) fn all_restart(seed: u64, number: u64) -> Self {
        Self(RunSeed::new(seed, number).world(StreamPurpose::Caller(ALL_RESTART)))
    }

    /// A stream for processes that are killed and released.
    pub(crate) fn releases(seed: u64, number: u64) -> Self {
        Self(RunSeed::new(seed, number).world(StreamPurpose::Caller(RELEASES)))
    }

    /// A stream for [parameters](crate::vary).
    pub(crate) fn parameters(seed: u64, number: u64) -> Self {
        Self(RunSeed::new(seed, number).world(StreamPurpose::Caller(PARAMETERS)))
    }

    /// A seed that a file can hold exactly.
    pub(crate) fn seed(&mut self) -> u64 {
        self.0.below(1 << 53)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0.below(n)
    }

    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.0.unit() < probability
    }

    pub(crate) fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize]
    }

    /// One of these probabilities, which are all between zero and one.
    pub(crate) fn odds(&mut self, choices: &[f64]) -> Probability {
        Probability::try_from(self.pick(choices)).unwrap_or_default()
    }

    /// A number from `least` to below `most`.
    pub(crate) fn within(&mut self, least: Duration, most: Duration) -> Duration {
        let span = most.saturating_sub(least).as_nanos();
        least + Duration::from_nanos(self.below(span.max(1)))
    }

    /// `length` times a number from this range.
    pub(crate) fn stretch(&mut self, length: Duration, (least, most): (f64, f64)) -> Duration {
        let times = least + (most - least) * self.0.unit();
        scaled(length, times)
    }

    /// A process; more often the least or the greatest, which lead in the end.
    pub(crate) fn node(&mut self, nodes: u32) -> u32 {
        match self.below(6) {
            0 => 0,
            1 => nodes - 1,
            _ => self.below(u64::from(nodes)) as u32,
        }
    }
}

/// This multiple of a duration.
pub(crate) fn scaled(length: Duration, times: f64) -> Duration {
    Duration::from_nanos((length.as_nanos() as f64 * times) as u64)
}
