//! Turns in majority mode.

use super::*;

/// When process `id` of five that is free at `free` will ask.
fn turn(process: &Process) -> Instant {
    process.node().deadline(Timer::Ask)
}

#[test]
fn each_process_waits_for_those_before_it_but_not_for_who_fell_silent() {
    for (id, before) in [(1, 0), (2, 1), (4, 2), (5, 3)] {
        let mut process = start(id, majority());
        hear(&mut process, 3, renew(0, &[3, 4, 5]));
        assert_eq!(turn(&process), at(150) + NANO + ms(40) * before);
    }
}

#[test]
fn whoever_fell_silent_is_not_waited_for_after_a_failed_attempt_either() {
    // Otherwise the first in line and the second would ask at the same time, again and again.
    let mut process = boot(2, 3, 1, majority());
    hear(&mut process, 1, renew(0, &[1, 2, 3]));
    process.ring().ring();
    assert_eq!(lock_of(&process).map(|(to, _)| to), Some(2), "it asked at 150");
    let sent = process.now();
    let request = Request { life: 1, sent };
    let refusal =
        Message::Reply { request, support: false, remaining: ms(4), highest: 1, list: None };
    process.wait(ms(2));
    hear(&mut process, 3, refusal);
    process.ring();
    assert_eq!(turn(&process), sent + ms(20), "at once");
}

#[test]
fn whoever_speaks_again_is_waited_for_again() {
    let mut process = boot(2, 3, 1, majority());
    hear(&mut process, 1, renew(0, &[1, 2, 3]));
    process.ring().ring();
    let sent = process.now();
    hear_slow(&mut process, 1, no(0, Duration::ZERO));
    process.ring();
    assert_eq!(turn(&process), sent + ms(161) + ms(40) * 2 + ms(40));
}

#[test]
fn whoever_supported_another_in_between_still_does_not_wait_for_who_fell_silent() {
    let mut process = start(3, majority());
    hear(&mut process, 1, renew(0, &[1, 2, 3]));
    until(&mut process, 160);
    hear(&mut process, 2, in_term(2, ask(155)));
    assert_eq!(process.effects().last(), Some(&tell(2, in_term(2, yes(155)))));
    hear(&mut process, 2, release(155));
    assert_eq!(turn(&process), at(160 + 40), "2 comes before it, and 1 is silent");
}

#[test]
fn whoever_stepped_back_is_not_waited_for() {
    let mut process = start(3, majority());
    hear(&mut process, 1, farewell(0));
    until(&mut process, 10);
    hear(&mut process, 2, ask(8));
    until(&mut process, 20);
    hear(&mut process, 2, release(8));
    assert_eq!(turn(&process), at(20 + 40), "1 comes last, and 2 before it");
}

#[test]
fn a_supporter_s_turn_moves_with_every_renewal() {
    let mut process = start(3, majority());
    for sent in [0, 50, 100] {
        until(&mut process, sent + 2);
        hear(&mut process, 1, renew(sent, &[1, 2, 3]));
        assert_eq!(turn(&process), at(sent + 152) + NANO + ms(40));
    }
}

#[test]
fn whoever_was_paused_past_its_turn_asks_at_once() {
    let mut process = start(5, majority());
    hear(&mut process, 1, renew(0, &[1, 2, 3]));
    process.wait(Duration::from_secs(3600)).timeout();
    let request = say(in_term(2, ask(3_600_000)));
    assert_eq!(process.effects()[..2], [store(2, 5), request]);
}

/// Fails repeatedly, one vote short of a majority and refused by another process, and returns how
/// many turns it waits each time.
fn turns_waited(mut process: Process, failures: usize) -> Vec<u64> {
    let wait = |process: &mut Process| {
        process.ring();
        let request = Request { life: 1, sent: process.now() };
        let remaining = Duration::ZERO;
        hear(
            process,
            5,
            Message::Reply { request, support: true, remaining, highest: 2, list: None },
        );
        hear(
            process,
            4,
            Message::Reply { request, support: false, remaining, highest: 0, list: None },
        );
        process.ring();
        let again = request.sent + ms(161);
        turn(process).since(again).as_nanos() / ms(40).as_nanos()
    };
    (0..failures).map(|_| wait(&mut process)).collect()
}

#[test]
fn after_a_second_failure_in_a_row_all_count_so_that_no_two_have_the_same_turn() {
    let mut process = start(3, majority());
    hear(&mut process, 1, renew(0, &[1, 2, 3]));
    // It is locked to 1, and woken for the end of its belief first.
    process.ring();
    assert_eq!(turns_waited(process.clone(), 3), [1, 2, 2], "1 is missing, but not for ever");
    let mut resigned = leader(majority());
    resigned.command(Command::Resign).unwrap();
    assert_eq!(turns_waited(resigned, 2), [0, 0], "by asking it has its place again");
}

#[test]
fn a_failure_is_forgotten_once_somebody_leads() {
    let mut failed = start(3, majority());
    hear(&mut failed, 1, renew(0, &[1, 2, 3]));
    failed.ring();
    assert_eq!(turns_waited(failed.clone(), 2), [1, 2]);
    for _ in 0..2 {
        failed.ring().ring();
    }
    assert_eq!(failed.node().protocol().0.failures, 2);
    hear(&mut failed, 2, in_term(3, renew(0, &[2, 4, 5])));
    assert_eq!(failed.node().protocol().0.failures, 0);
    assert_eq!(turn(&failed), failed.now() + ms(150) + NANO + ms(40), "1 comes before it");
}
