//! Whether a bound is a bound, and how good a one.

use bellwether_core::{Duration, Instant};
use bellwether_protocols::local_leader::fail_aware::Params;

/// Another way to compute the bound, for the judge to refute: A, B, C, D, ρ in millionths, δmin.
pub(crate) type Formula = fn([u64; 4], u64, u64) -> u64;

/// What the observer knows of a round trip.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamped {
    /// A, B, C and D.
    pub(crate) readings: [Instant; 4],
    /// a: the real time of A, if it was read in this life.
    pub(crate) asked: Option<u64>,
    /// b: the real time of B.
    pub(crate) heard: Option<u64>,
}

/// A word that was heard: what was said of its delay, and what is true.
pub(crate) struct Hearing {
    pub(crate) bound: Option<Duration>,
    pub(crate) stamped: Option<Stamped>,
    /// c and d: the real times of C and D.
    pub(crate) sent: u64,
    pub(crate) handled: u64,
    /// A delay that is usual in this history.
    pub(crate) usual: u64,
}

/// What was counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Judge {
    /// Judges by this formula instead of by what the layer says.
    pub(crate) formula: Option<Formula>,
    /// Words that reached a probe.
    pub(crate) words: u64,
    /// Those that came with a bound.
    pub(crate) bounded: u64,
    /// Words whose delay was usual, and those of them that came with a bound.
    pub(crate) timely: u64,
    pub(crate) timely_bounded: u64,
    /// Bounds below the true delay.
    pub(crate) too_small: u64,
    /// The first of them.
    pub(crate) example: Option<String>,
    /// Bounds larger than the slack they are allowed, and larger than the same to the first order.
    pub(crate) too_large: u64,
    pub(crate) beyond_first_order: u64,
    /// Histories that did not come to an end.
    pub(crate) endless: u64,
}

impl Judge {
    pub(crate) fn hears(&mut self, history: u64, params: &Params<()>, word: &Hearing) {
        let delay = word.handled - word.sent;
        let timely = delay <= word.usual;
        self.words += 1;
        self.timely += u64::from(timely);
        let Some(mut bound) = word.bound.map(Duration::as_nanos) else { return };
        self.bounded += 1;
        self.timely_bounded += u64::from(timely);
        let stamped = word.stamped.expect("there is no bound without a row");
        let (drift, fastest) = (params.drift_ppm.into(), params.fastest.as_nanos());
        if let Some(formula) = self.formula {
            bound = formula(stamped.readings.map(Instant::as_nanos), drift, fastest);
        }
        if bound < delay {
            self.too_small += 1;
            self.example.get_or_insert_with(|| {
                format!("history {history}: {bound} ns for {delay} ns; {stamped:?}, {params:?}")
            });
            return;
        }
        if let (Some(asked), Some(heard)) = (stamped.asked, stamped.heard) {
            let excess = u128::from(bound - delay);
            let (away, held) = (word.handled - asked, word.sent - heard);
            let there = u128::from(heard.saturating_sub(asked).saturating_sub(fastest));
            let spread = |length: u64, per: u64| {
                (2 * u128::from(length) * u128::from(drift)).div_ceil(u128::from(per))
            };
            let (slow, fast) = (1_000_000 - drift, 1_000_000 + drift);
            let slack = there + spread(away, slow) + spread(held, fast) + ROUNDING;
            let first_order = there + spread(away + held, 1_000_000) + ROUNDING;
            self.too_large += u64::from(excess > slack);
            self.beyond_first_order += u64::from(excess > first_order);
        }
    }
}

/// Nanoseconds: four readings were cut down, each twice allowed for, and one quotient rounded up.
const ROUNDING: u128 = 6;
