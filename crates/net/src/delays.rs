//! How long messages take, as the member's own thread measures it: counts in classes of lengths.
//!
//! **Source.** The stamps of fail-aware datagrams give a bound on the delay of each message that
//! arrives; a leader knows when it asked for its lease, and when enough members had answered.
//!
//! **Promise.** The member's thread adds to counters, without locks and without allocating. Whoever
//! reads them meanwhile may miss the latest measurement.

use crate::status::Took;
use bellwether_core::Duration;
use std::sync::atomic::{AtomicU64, Ordering};

/// The upper ends of the classes but the last, in microseconds.
const CLASSES: [u64; 14] = [
    50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000,
];

/// Lengths by classes.
#[derive(Debug, Default)]
pub(crate) struct Histogram {
    counts: [AtomicU64; CLASSES.len() + 1],
    nanos: AtomicU64,
    last: AtomicU64,
}

impl Histogram {
    /// Adds a length.
    pub(crate) fn add(&self, length: Duration) {
        let nanos = length.as_nanos();
        let class = CLASSES.iter().position(|end| nanos <= end * 1_000);
        self.counts[class.unwrap_or(CLASSES.len())].fetch_add(1, Ordering::Relaxed);
        self.nanos.fetch_add(nanos, Ordering::Relaxed);
        self.last.store(nanos, Ordering::Relaxed);
    }

    fn read(&self) -> Lengths {
        let ends = CLASSES.iter().map(|micros| *micros as f64 / 1e6).chain([f64::INFINITY]);
        let counts = self.counts.iter().map(|count| count.load(Ordering::Relaxed));
        let sum = self.nanos.load(Ordering::Relaxed) as f64 / 1e9;
        Lengths { classes: ends.zip(counts).collect(), sum }
    }

    /// In short; nothing if nothing was measured.
    pub(crate) fn told(&self) -> Option<Took> {
        let count: u64 = self.counts.iter().map(|count| count.load(Ordering::Relaxed)).sum();
        let ms = |nanos: &AtomicU64| nanos.load(Ordering::Relaxed) as f64 / 1e6;
        let mean_ms = ms(&self.nanos) / count as f64;
        (count > 0).then_some(Took { count, last_ms: ms(&self.last), mean_ms })
    }
}

/// What the member's thread measures.
#[derive(Debug, Default)]
pub(crate) struct Delays {
    pub(crate) round_trips: Histogram,
    pub(crate) bounds: Histogram,
}

impl Delays {
    pub(crate) fn read(&self) -> Measured {
        Measured { round_trips: self.round_trips.read(), delay_bounds: self.bounds.read() }
    }
}

/// How long messages took since the member was started.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Measured {
    /// While it leads: from its request for a lease until so many had answered that it has it.
    pub round_trips: Lengths,
    /// The bounds on the delays of messages that it received, where their stamps gave one.
    pub delay_bounds: Lengths,
}

/// How often each class of lengths was measured.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Lengths {
    /// The upper end of each class in seconds, of the last one infinity, and its count.
    pub classes: Vec<(f64, u64)>,
    /// The sum of all lengths, in seconds.
    pub sum: f64,
}

impl Lengths {
    /// How many were measured.
    pub fn count(&self) -> u64 {
        self.classes.iter().map(|(_, count)| count).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_counts_in_the_first_class_that_it_fits() {
        let histogram = Histogram::default();
        for micros in [50, 51, 1_000_000, 1_000_001, 90_000_000] {
            histogram.add(Duration::from_micros(micros));
        }
        let lengths = histogram.read();
        let found: Vec<_> = lengths.classes.iter().filter(|(_, count)| *count > 0).collect();
        assert_eq!(found, [&(0.000_05, 1), &(0.000_1, 1), &(1.0, 1), &(f64::INFINITY, 2)]);
        assert_eq!(lengths.count(), 5);
        assert!((lengths.sum - 92.000_102).abs() < 1e-9, "{}", lengths.sum);
    }
}
