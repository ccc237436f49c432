//! Messages that count as fast were fast.
//!
//! Fetzer and Cristian, "A fail-aware datagram service", 1998: the receiver of a message computes a
//! bound on its delay, and considers it fast if that is at most Δ. No message's delay exceeds its
//! bound, so every fast message had a delay of at most Δ.
//!
//! Only a simulation knows the true delay, and a bound means nothing if clocks drift by more than
//! ρ.

use super::{Finding, Invariant};
use crate::view::{Arrival, View};

/// No message's delay exceeds the bound that its receiver computed.
#[derive(Clone, Copy, Debug)]
pub struct DelayBounds;

impl Invariant for DelayBounds {
    fn name(&self) -> &'static str {
        "delay-bounds"
    }

    fn look(&mut self, view: &View<'_>) -> Finding {
        let Some(Arrival { node, from, took, bound: Some(bound) }) = view.arrival else {
            return Finding::Nothing;
        };
        Finding::of((took > bound).then(|| {
            format!(
                "process {node} takes a message of process {from} to have been under way for \
                 {bound} at most, but it was for {took}"
            )
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::scenes::Stage;
    use bellwether_core::Duration;

    #[test]
    fn a_message_takes_no_longer_than_its_bound() {
        let ms = Duration::from_millis;
        let mut stage = Stage::new(2);
        assert_eq!(stage.look(&mut DelayBounds), Finding::Nothing);
        let arrival = Arrival { node: 1, from: 0, took: ms(5), bound: None };
        stage.arrival = Some(arrival);
        assert_eq!(stage.look(&mut DelayBounds), Finding::Nothing, "nothing is claimed");
        stage.arrival = Some(Arrival { bound: Some(ms(5)), ..arrival });
        assert_eq!(stage.look(&mut DelayBounds), Finding::Kept);
        stage.arrival = Some(Arrival { bound: Some(Duration::from_nanos(4_999_999)), ..arrival });
        assert!(stage.breaks(&mut DelayBounds, "for 0.004999999s at most, but it was for 0.005s"));
    }
}
