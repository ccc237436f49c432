//! A clock that drifts, in exact arithmetic.

use bellwether_core::Instant;

/// Counts millionths of a nanosecond, so that no rate in whole millionths is ever rounded; only a
/// reading is, as readings are: cut down to a whole nanosecond.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    /// What it showed at the real time `at`.
    shown: u128,
    at: u64,
    /// Millionths of a nanosecond per real nanosecond.
    rate: u64,
    /// Every reading of this life and its real time.
    readings: Vec<(Instant, u64)>,
}

impl Clock {
    pub(crate) fn new(shown: u64, rate: u64) -> Self {
        Self { shown: shown.into(), at: 0, rate, readings: Vec::new() }
    }

    fn show(&mut self, now: u64) -> u128 {
        self.shown += u128::from(now - self.at) * u128::from(self.rate);
        self.at = now;
        self.shown
    }

    /// Reads the clock and writes the reading down.
    pub(crate) fn read(&mut self, now: u64) -> Instant {
        let nanos = u64::try_from(self.show(now) / 1_000_000).expect("a history is short");
        let reading = Instant::from_nanos(nanos);
        self.readings.push((reading, now));
        reading
    }

    /// From now on it runs at this rate.
    pub(crate) fn drift(&mut self, now: u64, rate: u64) {
        self.show(now);
        self.rate = rate;
    }

    /// Another life begins, on the same clock or on one set back by so many nanoseconds.
    pub(crate) fn reborn(&mut self, now: u64, back: u64) {
        self.shown = self.show(now).saturating_sub(u128::from(back) * 1_000_000);
        self.readings.clear();
    }

    /// How much can be taken back from what it shows now.
    pub(crate) fn nanos(&mut self, now: u64) -> u64 {
        u64::try_from(self.show(now) / 1_000_000).expect("a history is short")
    }

    /// The first real time at which this life read `reading`.
    pub(crate) fn when(&self, reading: Instant) -> Option<u64> {
        let place = self.readings.partition_point(|(earlier, _)| *earlier < reading);
        self.readings.get(place).filter(|(read, _)| *read == reading).map(|(_, real)| *real)
    }
}
