//! Compares the rules that the paper leaves open: the table in the protocol's documentation.

use super::support::{Means, Trial, assert_near, many};
use bellwether_protocols::probabilistic::{Config, Reinitiate, Size, WokenBy};

/// The paper's strategy without a last round of everyone, in a group with views of a half.
fn lossy(nodes: u32, loss: f64, config: Config, runs: u64) -> Means {
    let (unicast_loss, multicast_loss) = (loss, loss);
    let calm = Trial::calm(nodes, Config { last_round_all: false, ..config });
    many(&Trial { view: 0.5, unicast_loss, multicast_loss, fail: 0.001, ..calm }, runs)
}

#[test]
fn a_delay_before_the_next_round_succeeds_where_the_hash_lets_nobody_begin_it() {
    for (loss, hash, hash_rounds, delay, delay_rounds) in [
        // 1000 of 1000 in the table: a failure in a thousand would be no surprise.
        (0.05, 0.970, 1.03, 0.999, 1.06),
        (0.1, 0.909, 1.05, 0.998, 1.14),
        (0.2, 0.712, 1.11, 0.981, 1.38),
        (0.4, 0.371, 1.42, 0.970, 2.07),
    ] {
        let rows =
            [(Reinitiate::Hash, hash, hash_rounds), (Reinitiate::Delay, delay, delay_rounds)];
        for (reinitiate, strong, rounds) in rows {
            let runs = 200;
            let means = lossy(1_000, loss, Config { reinitiate, ..Config::default() }, runs);
            // Other seeds than the table's, whose own error is included.
            assert_near(means.strong, strong, runs * 5 / 6);
            assert!((means.rounds - rounds).abs() < 0.3, "{reinitiate:?} at {loss}: {means:?}");
            assert!(means.weak > 0.96 && means.weak >= means.strong, "{means:?}");
        }
    }
}

#[test]
fn where_all_is_well_one_round_and_a_few_messages_are_enough() {
    let means = lossy(300, 0.0, Config::default(), 300);
    assert!(means.strong > 0.985 && means.rounds < 1.05, "{means:?}");
    assert!(means.unicasts < 100.0 && means.multicasts < 10.0, "{means:?}");
    assert_eq!(means.aborted, 0.0);
}

#[test]
fn a_preference_that_wakes_those_who_missed_the_beginning_saves_rounds() {
    let woken_by = |woken_by| lossy(300, 0.3, Config { woken_by, ..Config::default() }, 200);
    let (printed, woken) = (woken_by(WokenBy::Initiation), woken_by(WokenBy::Preference));
    assert!(woken.rounds < printed.rounds - 0.1, "{} {}", printed.rounds, woken.rounds);
}

#[test]
fn the_size_of_a_view_of_half_the_group_doubles_the_relays() {
    let size = |size| lossy(300, 0.0, Config { size, max_rounds: 1, ..Config::default() }, 200);
    let (group, view) = (size(Size::Group), size(Size::View));
    // All multicasts but the first are those of relays.
    let ratio = (view.multicasts - 1.0) / (group.multicasts - 1.0);
    assert!((1.8..2.2).contains(&ratio), "{ratio}");
}
