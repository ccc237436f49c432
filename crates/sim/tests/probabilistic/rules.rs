//! Which of the rules that the paper leaves open are the better ones. The figures of the protocol's
//! documentation are these, with 300 runs each.

use crate::support::{Means, Trial, many};
use bellwether_protocols::probabilistic::{Config, Reinitiate, Size, WokenBy};

/// The paper's strategy, but for a last round of everyone, in a group with views of a half.
fn lossy(loss: f64, config: Config, runs: u64) -> Means {
    let (unicast_loss, multicast_loss) = (loss, loss);
    let calm = Trial::calm(300, Config { last_round_all: false, ..config });
    many(&Trial { view: 0.5, unicast_loss, multicast_loss, fail: 0.001, ..calm }, runs)
}

fn by(reinitiate: Reinitiate) -> Config {
    Config { reinitiate, ..Config::default() }
}

#[test]
fn a_delay_before_the_next_round_succeeds_where_the_hash_lets_nobody_begin_it() {
    for (loss, better_by) in [(0.1, 0.02), (0.3, 0.2), (0.4, 0.35)] {
        let hash = lossy(loss, by(Reinitiate::Hash), 150);
        let delay = lossy(loss, by(Reinitiate::Delay), 150);
        let ahead = delay.strong - hash.strong;
        assert!(ahead > better_by, "at {loss}: {} and {}", hash.strong, delay.strong);
        assert!(delay.strong > 0.9 && delay.weak > 0.999, "at {loss}: {delay:?}");
        assert!(delay.rounds > hash.rounds, "its price: {} {}", hash.rounds, delay.rounds);
    }
}

#[test]
fn where_all_is_well_one_round_and_a_few_messages_are_enough() {
    let means = lossy(0.0, Config::default(), 300);
    assert!(means.strong > 0.985 && means.rounds < 1.05, "{means:?}");
    assert!(means.unicasts < 100.0 && means.multicasts < 10.0, "{means:?}");
    assert_eq!(means.aborted, 0.0);
}

#[test]
fn a_preference_that_wakes_those_who_missed_the_beginning_saves_rounds() {
    let woken_by = |woken_by| lossy(0.3, Config { woken_by, ..Config::default() }, 200);
    let (printed, woken) = (woken_by(WokenBy::Initiation), woken_by(WokenBy::Preference));
    assert!(woken.rounds < printed.rounds - 0.1, "{} {}", printed.rounds, woken.rounds);
}

#[test]
fn the_size_of_a_view_of_half_the_group_doubles_the_relays() {
    let size = |size| lossy(0.0, Config { size, max_rounds: 1, ..Config::default() }, 200);
    let (group, view) = (size(Size::Group), size(Size::View));
    // All multicasts but the first are those of relays.
    let ratio = (view.multicasts - 1.0) / (group.multicasts - 1.0);
    assert!((1.8..2.2).contains(&ratio), "{ratio}");
}
