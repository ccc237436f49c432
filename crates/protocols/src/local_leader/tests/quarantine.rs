//! Restarting while locks of a former incarnation may still run.

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
        let vote = tell(1, fit(&process, yes(148)));
        assert_eq!(process.effects().last(), Some(&vote));
    }
}

#[test]
fn a_lock_to_nobody_is_no_support() {
    let process = boot(3, 5, 2, majority());
    let (life, record) = (Fact::Life { number: 2 }, Fact::Record { highest: 0, granted: None });
    assert_eq!(process.facts(), [Fact::Bound { until: at(150) }, life, record]);
}

#[test]
fn nothing_ends_it_early() {
    let mut process = boot(3, 5, 2, majority());
    for from in [1, 2, 3, 4, 5] {
        for life in [0, 1] {
            for leaving in [false, true] {
                let request = Request { life, sent: at(0) };
                hear(&mut process, from, Message::Release { request, leaving, nominee: None });
            }
        }
    }
    hear(&mut process, 2, ask_with_news(10, 1, 0));
    assert_eq!(process.effects().last(), Some(&tell(2, no(10, ms(150) + NANO))));
    assert_eq!(process.command(Command::Campaign).unwrap_err(), Refused::NotNow);
    assert_eq!(process.command(Command::Resign).unwrap_err(), Refused::NotLeading);
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
    let (lock, supporters) = (ms(150), Ids::new());
    let election = Message::Election {
        request,
        term: 1,
        lock,
        supporters,
        farewell: None,
        token: None,
        list: None,
        answerers: None,
        tree: None,
    };
    expect(&process, &[say(election), arm(Timer::Count, 20)], None);
    process.ring();
    let again = arm(Timer::Ask, 161);
    expect(&process, &[disarm(Timer::Count), again], None);
    // No process supported it, so there is none to release.
}

#[test]
fn whoever_begins_for_the_first_time_has_promised_nothing() {
    let mut process = start(3, majority());
    hear(&mut process, 1, ask(0));
    assert_eq!(process.effects().last(), Some(&tell(1, yes(0))));
}

/// A process whose former incarnation was considered dead, and is not.
#[test]
fn the_next_life_of_whom_it_supports_has_to_wait_like_any_other_process() {
    let mut process = start(3, majority());
    hear(&mut process, 1, renew(0, &[1, 2, 3]));
    until(&mut process, 60);
    let election = |life, sent| {
        let (request, lock) = (Request { life, sent: at(sent) }, ms(150));
        Message::Election {
            request,
            term: life,
            lock,
            supporters: Ids::new(),
            farewell: None,
            token: None,
            list: None,
            answerers: None,
            tree: None,
        }
    };
    let answer = |life, sent, support, remaining, highest| {
        let request = Request { life, sent: at(sent) };
        Some(tell(1, Message::Reply { request, support, remaining, highest, list: None }))
    };
    hear(&mut process, 1, election(2, 5));
    let remaining = ms(90) + NANO;
    assert_eq!(process.effects().last(), answer(2, 5, false, remaining, 1).as_ref());
    until(&mut process, 151);
    hear(&mut process, 1, election(2, 96));
    assert_eq!(process.effects().last(), answer(2, 96, true, Duration::ZERO, 2).as_ref());
    // Requests and releases of the former incarnation are ignored then.
    hear(&mut process, 1, election(1, 150));
    assert_eq!(process.effects().last(), answer(1, 150, false, ms(150) + NANO, 2).as_ref());
    hear(&mut process, 1, release(150));
    assert_eq!(lock_of(&process), Some((1, at(301))));
}
