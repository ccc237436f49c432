//! The parameters of the layer: what it assumes of clocks and network, and how often it sends.

use super::super::rules::{Rule, Rules};
use super::bound::{Bound, Clocks, RoundTrip};
use bellwether_core::Duration;

/// The parameters of the layer and of the inner protocol.
///
/// Only `drift_ppm`, `clock_error` and `fastest` enter a bound: if a clock or the network breaks
/// one of them, a bound may be too small. The others decide how often there is a bound and how
/// tight it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params<I> {
    /// ρ: the largest error of a clock's rate, in millionths, unless the inner protocol knows
    /// better. From a million on a clock may stand still, and every bound is infinite.
    pub drift_ppm: u32,
    /// ε: how much a clock may gain or lose beyond that between two readings.
    pub clock_error: Duration,
    /// δmin: the smallest delay of a message. Zero is always true.
    pub fastest: Duration,
    /// How long after its last broadcast a process sends an empty one, so that stamps stay recent:
    /// a bound loosens by up to about 4ρ of their age. [`Duration::MAX`]: never.
    pub refresh: Duration,
    /// Above this many rows a broadcast, which carries one row for each known peer, becomes a
    /// unicast to each member with one row. A row is 32 bytes; a datagram should fit the MTU.
    pub rows_max: usize,
    /// A body that may have taken longer is answered with a stamp as well: the last message heard
    /// from this process may itself have been slow, and nothing would be fast before the next
    /// refresh. [`Duration::MAX`]: only frames without a bound are answered.
    pub fast: Duration,
    /// The rules in force. Four concern the layer: answers, lives, drift and rounding in bounds.
    /// All are in force, except where a test removes one to show its purpose.
    pub rules: Rules,
    /// The parameters of the protocol inside.
    pub inner: I,
}

impl<I> Params<I> {
    /// What bounds the delay of the message that completed this round trip.
    pub(super) fn bound(&self, trip: RoundTrip, drift_ppm: u32) -> Bound {
        let drift_ppm = if self.rules.keep(Rule::DriftInBounds) { drift_ppm } else { 0 };
        Bound {
            trip,
            clocks: Clocks { drift_ppm, error: self.clock_error },
            fastest: self.fastest,
            outward: self.rules.keep(Rule::OutwardRounding),
        }
    }
}
