//! When a process wakes up: the suppression timer as the handlers use it.

use super::*;

/// The first wake-up of process 5, in nanoseconds.
fn first_wake(config: Config, draws: &[u64]) -> u64 {
    let process = start(5, config, draws);
    let wake = process.node().deadline(Timer::Wake);
    let effects = [Effect::Arm(Timer::Wake, wake)];
    process.expect(&effects, &[5], Stage::Undecided);
    wake.as_nanos()
}

fn shaped(shape: Shape) -> Config {
    config(Variant::LeS).shaped(shape)
}

fn mapped(jitter: u64) -> Config {
    let mapping = Mapping::ByStanding { best: 9, worst: 0, jitter: ms(jitter) };
    config(Variant::LeS).mapped(mapping)
}

/// A draw of one half among the 2^53 of a shaped timer.
const HALF: u64 = 1 << 52;
const LAST: u64 = (1 << 53) - 1;

#[test]
fn a_uniform_timer_wakes_where_the_draw_falls() {
    for draw in [0, 123_456_789, 999_999_999] {
        assert_eq!(first_wake(shaped(Shape::Uniform), &[draw]), draw);
    }
    // Program 5.2, line 2.
}

#[test]
fn a_rising_timer_puts_its_median_late() {
    let config = || shaped(Shape::Rising { rate: 1.0 });
    assert_eq!(first_wake(config(), &[0]), 0);
    // The quantile of one half is ln(1 + (e − 1)/2).
    assert_eq!(first_wake(config(), &[HALF]), 620_114_506);
    assert_eq!(first_wake(config(), &[LAST]), 999_999_999);
    // Section 5.4.3, exponential timers.
}

#[test]
fn a_falling_timer_puts_its_median_early() {
    let config = || shaped(Shape::Falling { rate: 1.0 });
    assert_eq!(first_wake(config(), &[0]), 999_999_999, "below T_S even for the first draw");
    assert_eq!(first_wake(config(), &[HALF]), 379_885_493);
    assert_eq!(first_wake(config(), &[LAST]), 0);
}

#[test]
fn a_mapping_wakes_a_process_where_its_standing_lies() {
    // Five of nine: four ninths of the way to the worst.
    assert_eq!(first_wake(mapped(0), &[]), 444_444_444);
    // Section 5.4.3: wake-up time as a function of what governs leadership.
}

#[test]
fn jitter_comes_on_top_of_a_mapping() {
    assert_eq!(first_wake(mapped(10), &[9_999_999]), 444_444_444 + 9_999_999);
    assert_eq!(first_wake(mapped(10), &[0]), 444_444_444);
}

#[test]
fn a_mapping_follows_the_rank_where_ranks_govern() {
    let process = start_ranked(5, 8, mapped(0), &[]);
    assert_eq!(process.node().deadline(Timer::Wake).as_nanos(), 111_111_111);
}

#[test]
fn a_new_rank_governs_the_next_election() {
    let mut process = start_ranked(5, 0, mapped(0), &[]);
    process.message(9, Message::Announce(plain(6)));
    process.command(Command::Rank(3)).unwrap();
    process.ring();
    let wake = Instant::ZERO + ms(3000) + Duration::from_nanos(666_666_666);
    let effects = [Effect::Arm(Timer::Wake, wake), disarm(Timer::Listen)];
    process.expect(&effects, &[5], Stage::Undecided);
}

#[test]
fn a_resigned_process_wakes_where_its_standing_lies() {
    // Resigning takes nothing off the standing, only off what precedes it.
    let mut process = start(5, mapped(0), &[]);
    process.ring().command(Command::Resign).unwrap();
    let wake = Instant::ZERO + Duration::from_nanos(2 * 444_444_444);
    assert_eq!(process.node().deadline(Timer::Wake), wake);
}

#[test]
fn a_mapping_of_the_earliest_wake_up_makes_the_best_rank_the_earliest() {
    let wake = |rank| {
        let config = Config { criterion: None, ..mapped(0) };
        let config = Config { variant: Variant::LeM, ..config };
        let boot = Boot { rank, ..Boot::first(NodeId(5)) };
        Process::boot(boot, valid(config), &[], &[]).node().deadline(Timer::Wake).as_nanos()
    };
    assert_eq!(wake(9), 0);
    assert_eq!(wake(6), 333_333_333);
    assert_eq!(wake(0), 1_000_000_000);
    // Section 5.4.3.
}

#[test]
fn without_a_suppression_interval_le_s_is_le_a_with_a_timer_at_once() {
    let config = Config { suppress: Duration::ZERO, ..config(Variant::LeS) };
    let mut process = start(5, config, &[]);
    process.expect(&[arm(Timer::Wake, 0)], &[5], Stage::Undecided);
    process.timeout();
    process.expect(&[say(5), arm(Timer::Announce, 1000)], &[5], Stage::Decided);
    // Section 5.6: LE-A can be derived from LE-S by T_S = 0.
}
