//! The bound of section 4.

use super::*;

/// Figure 4's.
const FOUR: Conditions =
    Conditions { nodes: 10_000.0, view: 0.4, unicast_loss: 0.01, multicast_loss: 0.01, fail: 0.01 };

#[test]
fn the_bound_peaks_near_the_published_value() {
    let success = |relays: u32| Odds::of(f64::from(relays), &FOUR).success();
    let peak = (2..=65).map(success).fold(0.0, f64::max);
    assert!((0.55..0.65).contains(&peak), "the paper says .6: {peak}");
    assert!(success(40) > success(10));
}

#[test]
fn a_factor_is_a_probability_whatever_the_conditions() {
    for relays in [1.0, 7.0, 40.0, 10_000.0] {
        for rate in [0.0, 0.001, 0.5, 0.999] {
            for view in [0.0, 0.5, 1.0] {
                let conditions = Conditions {
                    nodes: 1e6,
                    view,
                    unicast_loss: rate,
                    multicast_loss: rate,
                    fail: rate,
                };
                let odds = Odds::of(relays, &conditions);
                let Odds { relays, connected, same, heard, lives } = odds;
                for factor in [relays, connected, same, heard, lives, odds.success()] {
                    assert!((0.0..=1.0).contains(&factor), "{odds:?} {conditions:?}");
                }
            }
        }
    }
}

#[test]
fn factors_agree_with_values_worked_out_by_hand() {
    let calm =
        Conditions { nodes: 100.0, view: 0.5, unicast_loss: 0.0, multicast_loss: 0.0, fail: 0.0 };
    let odds = Odds::of(8.0, &calm);
    // 1 − 4 √(2 / 8π) e⁻¹, and e^(−4 / 8).
    assert!((odds.relays - 0.584_89).abs() < 1e-5, "{odds:?}");
    assert!((odds.connected - 0.606_53).abs() < 1e-5, "{odds:?}");
    assert_eq!((odds.same, odds.heard, odds.lives), (1.0, 1.0, 1.0));
    assert!((Odds::of(7.0, &calm).success() - 0.267_8).abs() < 1e-4, "the first round's");
}
