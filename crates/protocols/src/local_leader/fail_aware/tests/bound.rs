//! The bound as arithmetic.

use super::super::bound::{Bound, Clocks, RoundTrip};
use super::*;
use crate::testing::fixed;
use proptest::prelude::*;

fn nanos(reading: u64) -> Instant {
    Instant::from_nanos(reading)
}

fn bound([a, b, c, d]: [u64; 4], drift_ppm: u32, fastest: u64) -> Option<u64> {
    let trip = RoundTrip::new(nanos(a), nanos(b), nanos(c), nanos(d))?;
    let clocks = Clocks { drift_ppm, error: Duration::ZERO };
    let fastest = Duration::from_nanos(fastest);
    Some(Bound { trip, clocks, fastest, outward: true }.longest().as_nanos())
}

#[test]
fn readings_are_taken_to_be_cut_down_and_the_quotient_is_rounded_up() {
    assert_eq!(bound([100, 7, 27, 150], 0, 0), Some(50 - 20 + 2));
    assert_eq!(bound([100, 7, 27, 150], 0, 10), Some(50 - 20 + 2 - 10));
    // (50 + 1) / 0.9 − (20 − 1) / 1.1 = 39.39…
    assert_eq!(bound([100, 7, 27, 150], 100_000, 0), Some(40));
    // (50 + 1) / 0.5 − (20 − 1) / 1.5 = 89.33…
    assert_eq!(bound([100, 7, 27, 150], 500_000, 0), Some(90));
}

/// Both clocks are read at the very moment the messages pass, and the one back takes 30.
#[test]
fn without_rounding_outward_a_bound_is_below_the_true_delay() {
    // Readings of clocks that advanced almost a nanosecond more than they show: 49.9 away, 20.0
    // held, so a delay of 29.9; the readings say 49 and 20.
    let trip = RoundTrip::new(nanos(100), nanos(7), nanos(27), nanos(149)).expect("in order");
    let clocks = Clocks { drift_ppm: 0, error: Duration::ZERO };
    let bound = |outward| Bound { trip, clocks, fastest: Duration::ZERO, outward }.longest();
    let [outward, plain] = [true, false].map(bound);
    assert_eq!([outward, plain].map(Duration::as_nanos), [31, 29]);
}

#[test]
fn a_bound_is_never_negative() {
    assert_eq!(bound([0, 0, 1000, 10], 0, 0), Some(0), "it held longer than we waited");
    assert_eq!(bound([0, 0, 0, 10], 0, 1000), Some(0), "faster than the fastest");
}

#[test]
fn a_round_trip_on_which_a_clock_ran_back_is_none() {
    assert_eq!(bound([11, 0, 0, 10], 0, 0), None);
    assert_eq!(bound([0, 11, 10, 10], 0, 0), None);
    assert_eq!(bound([10, 10, 10, 10], 0, 0), Some(2), "but it may stand still for a moment");
}

#[test]
fn clocks_that_may_stand_still_bound_nothing() {
    for drift_ppm in [1_000_000, 1_000_001, u32::MAX] {
        assert_eq!(bound([0, 0, 0, 10], drift_ppm, 0), Some(u64::MAX));
    }
    assert_eq!(bound([0, 0, 0, 0], 999_999, 0), Some(1_000_001), "1 / 10^-6 + 1 / 1.999999");
}

#[test]
fn the_longest_round_trip_ends_in_for_ever_and_not_in_a_panic() {
    let most = u64::MAX;
    assert_eq!(bound([0, 0, 0, most], 0, 0), Some(most));
    assert_eq!(bound([0, 0, most, most], 999_999, most), Some(most));
    assert_eq!(bound([0, 0, most, 0], 999_999, most), Some(0));
}

fn reading() -> impl Strategy<Value = u64> {
    prop_oneof![0..100_u64, any::<u64>(), 0..1_000_000_000_000_u64]
}

proptest! {
    #![proptest_config(fixed(2000))]

    #[test]
    fn stamps_taken_early_on_sending_or_late_on_receiving_only_enlarge_a_bound(
        [a, b, c, d] in prop::array::uniform4(reading()),
        [early_a, late_b, early_c, late_d] in prop::array::uniform4(0..1000_u64),
        drift_ppm in prop_oneof![Just(0), 0..1_000_000_u32],
        fastest in 0..1000_u64,
    ) {
        let moved = [
            a.saturating_sub(early_a),
            b.saturating_add(late_b),
            c.saturating_sub(early_c),
            d.saturating_add(late_d),
        ];
        let bounds = [[a, b, c, d], moved].map(|readings| bound(readings, drift_ppm, fastest));
        if let [Some(plain), Some(moved)] = bounds {
            prop_assert!(moved >= plain, "{plain} became {moved}");
        }
    }

    #[test]
    fn no_readings_and_no_parameters_make_it_panic(
        readings in prop::array::uniform4(any::<u64>()),
        drift_ppm in any::<u32>(),
        fastest in any::<u64>(),
    ) {
        let _ = bound(readings, drift_ppm, fastest);
    }
}
