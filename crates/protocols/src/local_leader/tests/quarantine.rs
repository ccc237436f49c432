//! Beginning again while promises of a former life may still run.

use super::*;

#[test]
fn whoever_begins_again_supports_nobody_for_the_time_of_a_lock() {
    for params in [majority(), local()] {
        let mut process = boot(3, 5, 2, params);
        until(&mut process, 150);
        hear(&mut process, 1, ask(145));
        let effects = process.effects();
        assert_eq!(effects.last(), Some(&tell(1, no(145, NANO))), "up to the last instant");
        assert_eq!(process.leadership(), Leadership::NONE);
        process.wait(NANO);
        hear(&mut process, 1, ask(148));
        assert_eq!(process.effects().last(), Some(&tell(1, yes(148))));
    }
}

#[test]
fn a_lock_to_nobody_is_no_support() {
    assert_eq!(lock_of(&boot(3, 5, 2, majority())), None);
}

#[test]
fn nothing_ends_it_early() {
    let mut process = boot(3, 5, 2, majority());
    for from in [1, 2, 3, 4, 5] {
        for life in [0, 1] {
            for leaving in [false, true] {
                let request = Request { life, sent: at(0) };
                hear(&mut process, from, Message::Release { request, leaving });
            }
        }
    }
    hear(&mut process, 2, ask_with_news(10, 1, 0));
    assert_eq!(process.effects().last(), Some(&tell(2, no(10, ms(150) + NANO))));
    assert_eq!(process.command(Command::Campaign).unwrap_err(), Refused);
    assert_eq!(process.command(Command::Resign).unwrap_err(), Refused);
}

#[test]
fn in_majority_mode_it_asks_in_its_turn_after_that() {
    expect(&boot(1, 5, 2, majority()), &[arm_after(Timer::Ask, 150)], None);
    expect(&boot(3, 5, 2, majority()), &[arm_after(Timer::Ask, 230)], None);
}

#[test]
fn in_local_mode_it_cannot_lead_before_that_for_want_of_its_own_support() {
    let mut process = boot(1, 5, 2, local());
    process.ring();
    let request = Request { life: 2, sent: at(0) };
    let (lock, supporters) = (ms(150), Vec::new());
    let election = Message::Election { request, lock, supporters, farewell: None };
    expect(&process, &[say(election), arm(Timer::Count, 20)], None);
    process.ring();
    let again = arm(Timer::Ask, 161);
    expect(&process, &[disarm(Timer::Count), again], None);
    // Nobody supported it, so there is nobody to release.
}

#[test]
fn whoever_begins_for_the_first_time_has_promised_nothing() {
    let mut process = start(3, majority());
    hear(&mut process, 1, ask(0));
    assert_eq!(process.effects().last(), Some(&tell(1, yes(0))));
}

#[test]
fn the_former_life_of_whom_it_supports_does_not_hinder_the_present_one() {
    let mut process = start(3, majority());
    hear(&mut process, 1, ask(100));
    let request = Request { life: 2, sent: at(5) };
    let (lock, supporters) = (ms(150), Vec::new());
    until(&mut process, 60);
    hear(&mut process, 1, Message::Election { request, lock, supporters, farewell: None });
    assert_eq!(lock_of(&process), Some((1, at(210))));
    hear(&mut process, 1, release(100));
    assert_eq!(lock_of(&process), Some((1, at(210))), "what the former life gave up is past");
    hear(&mut process, 1, Message::Release { request, leaving: false });
    assert_eq!(lock_of(&process), None);
}
