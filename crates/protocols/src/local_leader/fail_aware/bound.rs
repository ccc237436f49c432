//! An upper bound on the delay of a message, from a round trip.
//!
//! **Source.** Fetzer and Cristian, "A fail-aware datagram service", 1998, derived anew.
//!
//! **Assumptions.** In real time t a clock advances by between (1−ρ)t−ε and (1+ρ)t+ε, and a reading
//! is that clock rounded down to a whole nanosecond. No message is faster than δmin.
//!
//! **Promise.** The bound is not below the time between the reading of C and that of D.
//!
//! Lower-case letters are the real times of the readings of the same name. The peer received our
//! message n before it sent m, so a ≤ b ≤ c ≤ d, and the delay of m was
//!
//! ```text
//! d − c  =  (d − a) − (c − b) − (b − a)
//!       ≤  (D − A + ε)/(1−ρ) − (C − B − ε)/(1+ρ) − δmin
//! ```
//!
//! for clocks that can be read exactly. Since readings are rounded down, D − A may be up to a
//! nanosecond less than the clock advanced, and C − B as much too long; both are corrected outward.
//! The whole expression is one fraction and is rounded up once, so that rounding never reverses the
//! order of two bounds.
//!
//! The bound is too large by the delay of n beyond the fastest, and by what the clocks may have
//! drifted but did not:
//!
//! ```text
//! bound − (d − c)  ≤  (b − a) − δmin + 2ρ/(1−ρ)·(d − a) + 2ρ/(1+ρ)·(c − b)
//!                     + 2ε/(1−ρ) + 2ε/(1+ρ) + 6 ns
//! ```
//!
//! (To the first order in ρ the factors are both 2ρ; that is not enough at a drift of 10 %.)
//!
//! A stamp taken early on sending (A or C) or late on receiving (B or D) only enlarges the bound: a
//! process that is paused between its clock and its socket is slow, never wrong.

use bellwether_core::{Duration, Instant};

const MILLION: i128 = 1_000_000;

/// What a reading loses when it is rounded down to a whole nanosecond.
const CUT: i128 = 1;

/// What is assumed of clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clocks {
    /// ρ, in millionths.
    pub(super) drift_ppm: u32,
    /// ε.
    pub(super) error: Duration,
}

/// The four readings of a message n to a peer and a message m back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RoundTrip {
    /// D − A, on our clock: from the sending of n to the receipt of m.
    away: u64,
    /// C − B, on the peer's clock: from the receipt of n to the sending of m.
    held: u64,
}

impl RoundTrip {
    /// n was sent at A (our clock) and received at B (theirs), m was sent at C (theirs) and
    /// received at D (ours). `None` if either clock ran backwards in between, which no honest
    /// stamps say.
    pub(super) fn new(a: Instant, b: Instant, c: Instant, d: Instant) -> Option<Self> {
        if a > d || b > c {
            return None;
        }
        Some(Self { away: d.since(a).as_nanos(), held: c.since(b).as_nanos() })
    }
}

/// A round trip, and all else that bounds the delay of m. The bound itself is a division, which
/// nobody needs for most messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    pub(super) trip: RoundTrip,
    pub(super) clocks: Clocks,
    /// δmin.
    pub(super) fastest: Duration,
    /// Whether the rounding of the readings is corrected. If not, the bound may be too small by it.
    pub(super) outward: bool,
}

impl Bound {
    /// The longest possible delay of m. Never below zero, and [`Duration::MAX`] if clocks may stand
    /// still.
    pub(super) fn longest(&self) -> Duration {
        let Self { trip, clocks: Clocks { drift_ppm, error }, fastest, outward } = *self;
        let (slow, fast) = (MILLION - i128::from(drift_ppm), MILLION + i128::from(drift_ppm));
        if slow <= 0 {
            return Duration::MAX;
        }
        let cut = if outward { CUT } else { 0 };
        let error = i128::from(error.as_nanos());
        // Below 2^65 · 10^6 · 2·10^6 < 2^107 each.
        let away = (i128::from(trip.away) + cut + error) * MILLION * fast;
        let held = (i128::from(trip.held) - cut - error) * MILLION * slow;
        let fastest = i128::from(fastest.as_nanos()) * slow * fast;
        let rest = u128::try_from(away - held - fastest).unwrap_or(0);
        let parts = (slow * fast).unsigned_abs();
        let down = rest / parts; // one division of this width: it is most of the work
        let nanos = if outward && down * parts < rest { down + 1 } else { down };
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}
