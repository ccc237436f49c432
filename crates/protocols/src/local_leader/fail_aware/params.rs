//! What the layer assumes of clocks and network, and how much it says.

use super::super::rules::{Rule, Rules};
use super::bound::{Clocks, RoundTrip};
use bellwether_core::Duration;

/// The parameters of the layer and, inside, those of the protocol it carries.
///
/// Only `drift_ppm`, `clock_error` and `fastest` enter a bound: if a clock or the network breaks
/// one of them, a bound may be too small. The others decide how often there is a bound and how
/// tight it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params<I> {
    /// ρ: how wrong the rate of a clock may be, in millionths. From a million on, a clock may stand
    /// still, and the only bound left is the infinite one.
    pub drift_ppm: u32,
    /// ε: what a clock may gain or lose beyond that between two readings.
    pub clock_error: Duration,
    /// δmin: no message is under way for less. Zero is always true.
    pub fastest: Duration,
    /// How long after its last broadcast a process sends an empty one, so that stamps stay young:
    /// a bound loosens by up to about 4ρ of their age. [`Duration::MAX`]: never.
    pub refresh: Duration,
    /// Above this many rows a broadcast, which carries one for each known peer, becomes a unicast
    /// to each member, which carries one. A row is 32 bytes; a datagram should fit the MTU.
    pub rows_max: usize,
    /// A body that may have taken longer is answered with a stamp as well: what was last heard of
    /// this process may itself have been slow, and nothing would be fast before the next refresh.
    /// [`Duration::MAX`]: only what cannot be bounded at all is answered.
    pub fast: Duration,
    /// The rules that hold, of which four concern the layer: answers, lives, drift and rounding in
    /// bounds. All of them, except where a test takes one away to show what it is for.
    pub rules: Rules,
    /// The parameters of the protocol inside.
    pub inner: I,
}

impl<I> Params<I> {
    /// How long the message that completed this round trip was under way at most.
    pub(super) fn bound(&self, trip: &RoundTrip) -> Duration {
        let drift_ppm = if self.rules.keep(Rule::DriftInBounds) { self.drift_ppm } else { 0 };
        let clocks = Clocks { drift_ppm, error: self.clock_error };
        trip.way_back(clocks, self.fastest, self.rules.keep(Rule::OutwardRounding))
    }
}
