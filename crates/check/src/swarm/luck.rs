//! The coins a schedule is drawn with.

use bellwether_core::{Duration, Entropy};
use bellwether_sim::coin::Stream;
use bellwether_sim::network::Probability;
use bellwether_sim::{Coins, For};

/// The luck of one schedule.
#[derive(Clone, Debug)]
pub struct Luck(Stream);

/// The stream of the world's luck that schedules are drawn from.
const SWARM: u64 = 2;
/// The stream for kinds of trouble that were added later, so that the others stay as they were.
const LATER: u64 = 8;

impl Luck {
    /// The luck of the schedule with this number.
    pub fn new(seed: u64, number: u64) -> Self {
        Self(Coins::new(seed, number).world(For::Caller(SWARM)))
    }

    /// More luck of the same schedule, for [what was added later](crate::Trouble::LATER).
    pub(crate) fn later(seed: u64, number: u64) -> Self {
        Self(Coins::new(seed, number).world(For::Caller(LATER)))
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

    /// One of these probabilities, which are all between nought and one.
    pub(crate) fn odds(&mut self, choices: &[f64]) -> Probability {
        Probability::try_from(self.pick(choices)).unwrap_or_default()
    }

    /// Anything from `least` to below `most`.
    pub(crate) fn within(&mut self, least: Duration, most: Duration) -> Duration {
        let span = most.saturating_sub(least).as_nanos();
        least + Duration::from_nanos(self.below(span.max(1)))
    }

    /// So many times `length`, drawn from this range.
    pub(crate) fn stretch(&mut self, length: Duration, (least, most): (f64, f64)) -> Duration {
        let times = least + (most - least) * self.0.unit();
        scaled(length, times)
    }

    /// A process; more often than others the least or the greatest, who lead in the end.
    pub(crate) fn node(&mut self, nodes: u32) -> u32 {
        match self.below(6) {
            0 => 0,
            1 => nodes - 1,
            _ => self.below(u64::from(nodes)) as u32,
        }
    }
}

/// So many times this length.
pub(crate) fn scaled(length: Duration, times: f64) -> Duration {
    Duration::from_nanos((length.as_nanos() as f64 * times) as u64)
}
