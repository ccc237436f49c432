//! The one thing that fail-aware datagrams owe: no bound is below the true delay.
//!
//! Over random histories of the real layer around a [probe](probe::Probe): two or three processes,
//! clocks that start anywhere and drift within ±ρ (up to 10 %, also always at their limits), delays
//! from δmin to five minutes, loss, doubling, overtaking, pauses, and restarts with the clock kept
//! or set back. Clocks and delays are exact; nothing is rounded but what the layer rounds.
//!
//! A million histories hold 17.9 million words, 11.6 million of them with a bound. None is too
//! small, and none larger than its round trip explains (`bound.rs`). The same histories refute
//! every formula that gives a little less, and the layer without its rule about lives.

mod clock;
mod history;
mod judge;
mod probe;
mod weather;
mod world;

use judge::{Formula, Judge};

/// Lives through so many histories.
fn judged(histories: u64, lives: bool, formula: Option<Formula>) -> Judge {
    let mut judge = Judge { formula, ..Judge::default() };
    (0..histories).for_each(|history| history::live(history, lives, &mut judge));
    judge
}

/// A quotient rounded down and one rounded up, in nanoseconds.
fn quotients(length: u64, rate: u64) -> [u64; 2] {
    let (length, rate) = (u128::from(length) * 1_000_000, u128::from(rate));
    [length / rate, length.div_ceil(rate)]
        .map(|nanos| u64::try_from(nanos).expect("a history is short"))
}

/// The formula with each quotient rounded the wrong way.
fn inward([a, b, c, d]: [u64; 4], drift: u64, fastest: u64) -> u64 {
    let (away, held) = (quotients(d - a, 1_000_000 - drift), quotients(c - b, 1_000_000 + drift));
    away[0].saturating_sub(held[1]).saturating_sub(fastest)
}

/// The formula with each quotient rounded the right way, for clocks that could be read exactly.
fn uncut([a, b, c, d]: [u64; 4], drift: u64, fastest: u64) -> u64 {
    let (away, held) = (quotients(d - a, 1_000_000 - drift), quotients(c - b, 1_000_000 + drift));
    away[1].saturating_sub(held[0]).saturating_sub(fastest)
}

/// The formula for clocks that do not drift.
fn driftless([a, b, c, d]: [u64; 4], _drift: u64, fastest: u64) -> u64 {
    (d - a).saturating_sub(c - b).saturating_sub(fastest)
}

/// The formula for a network that is a nanosecond slower than it is.
fn hasty(readings: [u64; 4], drift: u64, fastest: u64) -> u64 {
    uncut(readings, drift, fastest + 1)
}

#[test]
fn no_bound_is_below_the_true_delay_in_a_million_histories() {
    let judge = judged(1_000_000, true, None);
    println!("{judge:#?}");
    assert_eq!(judge.example, None, "{} of {}", judge.too_small, judge.bounded);
    assert_eq!(judge.too_large, 0, "a bound beyond what its round trip explains");
    assert_eq!(judge.endless, 0, "answers went back and forth for ever");
    assert!(judge.words > 15_000_000, "{} words are few", judge.words);
    let (bounded, timely) = (judge.timely_bounded, judge.timely);
    assert!(2 * bounded > timely, "{bounded} of {timely} timely words had a bound");
    // The printed slack, of the first order in the drift, is too little for bad clocks.
    assert!(judge.beyond_first_order > 0);
}

#[test]
fn a_process_that_takes_its_former_lifes_stamps_for_its_own_is_wrong_and_may_talk_for_ever() {
    let judge = judged(20_000, false, None);
    assert!(judge.too_small > 0);
    assert!(judge.endless > 0);
}

#[test]
fn a_bound_that_is_a_little_smaller_is_none() {
    for (name, formula) in [
        ("inward", inward as Formula),
        ("uncut", uncut),
        ("driftless", driftless),
        ("hasty", hasty),
    ] {
        let judge = judged(20_000, true, Some(formula));
        println!("{name}: {} of {} too small", judge.too_small, judge.bounded);
        assert!(judge.too_small > 0, "{name}: the histories are too kind");
    }
}
