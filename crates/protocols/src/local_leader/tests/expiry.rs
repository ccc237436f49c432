//! Locks and leases at the exact nanosecond.

use super::*;

fn lan(drift_ppm: u32) -> Params {
    valid(Config { drift_ppm: Some(drift_ppm), ..Config::default() })
}

/// What a supporter of 1, locked at zero, answers to 2 at `now`, and whether it waits for a turn.
fn answer(now: Instant) -> Effect {
    let mut process = start(3, majority());
    hear(&mut process, 1, ask(0));
    process.wait(now.since(Instant::ZERO));
    hear(&mut process, 2, in_term(2, ask(140)));
    process.effects().last().cloned().expect("it answers")
}

#[test]
fn a_lock_holds_through_its_last_instant() {
    assert_eq!(answer(at(150) - NANO), tell(2, in_term(1, no(140, NANO + NANO))));
    assert_eq!(answer(at(150)), tell(2, in_term(1, no(140, NANO))));
    assert_eq!(answer(at(150) + NANO), tell(2, in_term(2, yes(140))));
}

#[test]
fn a_lease_is_over_at_its_last_instant() {
    let mut process = leader(majority());
    let length = (at(170) - NANO).since(process.now());
    process.wait(length);
    assert_eq!(led_until(&process), Some(at(170)));
    process.wait(NANO);
    assert_eq!(process.leadership(), Leadership::NONE);
    assert_eq!(supporters(&process), [0; 0]);
    assert_eq!(lock_of(&process), Some((1, at(175))), "its lock is longer, by a later request");
}

#[test]
fn without_drift_a_lease_is_as_long_as_a_lock_and_ends_before_it() {
    let params = majority();
    assert_eq!((params.lease(), params.lock()), (ms(150), ms(150)));
    let mut process = boot(1, 3, 1, params.clone());
    process.ring();
    until(&mut process, 39);
    hear(&mut process, 2, yes(20));
    assert_eq!(led_until(&process), Some(at(170)));
    let mut voter = boot(2, 3, 1, params);
    until(&mut voter, 20);
    hear(&mut voter, 1, ask(20));
    assert_eq!(lock_of(&voter), Some((1, at(170))), "through that instant");
}

#[test]
fn a_lease_is_shorter_than_a_lock_by_twice_the_drift_and_the_error_rounded_down() {
    assert_eq!(lan(200).lease(), Duration::from_nanos(149_940_000 - 200_000));
    assert_eq!(lan(1).lease(), Duration::from_nanos(149_999_700 - 200_000));
    let odd = Config { lock: Some(ms(149) + NANO), ..Config::default() };
    assert_eq!(valid(odd).lease(), Duration::from_nanos(148_940_400 - 200_000));
}

/// In real time no lease outlives a lock that it rests on, at the worst rates and errors of both
/// clocks.
#[test]
fn the_drift_margin_is_enough_at_every_drift() {
    for drift in (0..=100_000_u32).step_by(37) {
        let config = Config { drift_ppm: Some(drift), unchecked: true, ..Config::default() };
        let params = valid(config);
        let (lease, lock) = (params.lease().as_nanos(), params.lock().as_nanos());
        let error = params.clock_error().as_nanos();
        let (slow, fast) = (1_000_000 - u64::from(drift), 1_000_000 + u64::from(drift));
        // (lease+ε)/(1-ρ) <= (lock-ε)/(1+ρ)
        assert!((lease + error) * fast <= (lock - error) * slow, "{drift} ppm");
    }
}

#[test]
fn a_follower_believes_in_its_leader_for_as_long_as_it_is_locked() {
    let mut process = start(2, majority());
    hear(&mut process, 1, renew(0, &[1, 2, 3]));
    let effects = [store(1, 1), arm_after(Timer::Ask, 150), tell(1, yes(0))];
    expect(&process, &effects, Some((1, 150)));
    process.wait(ms(149) + Duration::from_nanos(999_999));
    assert_eq!(process.leadership().leaders, [NodeId(1)]);
    process.wait(NANO);
    assert_eq!(process.leadership(), Leadership::NONE);
    assert_eq!((members(&process), lock_of(&process)), (Vec::new(), Some((1, at(150)))));
}

#[test]
fn the_first_in_line_asks_in_the_first_instant_in_which_it_is_free() {
    let mut process = start(2, majority());
    hear(&mut process, 1, renew(0, &[1, 2, 3]));
    process.ring();
    expect(&process, &[], None);
    assert_eq!(process.now(), at(150), "it is woken for the end of its belief");
    process.ring();
    assert_eq!(process.now(), at(150) + NANO);
    let request = Request { life: 1, sent: at(150) + NANO };
    let (lock, supporters) = (ms(150), Ids::new());
    let election = Message::Election {
        request,
        term: 2,
        lock,
        supporters,
        farewell: None,
        token: None,
        list: None,
        answerers: None,
        tree: None,
    };
    assert_eq!(process.effects()[..2], [store(2, 2), say(election)]);
}
