//! Priorities, witnesses, those who change their minds, and leaders that yield.

use super::*;
use bellwether_core::Unfit;

fn turn(process: &Process) -> Instant {
    process.node().deadline(Timer::Ask)
}

#[test]
fn a_witness_says_so_again_and_again_and_asks_for_nothing() {
    let mut process = boot_as(WITNESS, 1, 5, majority());
    expect(&process, &[say(Message::Standing(WITNESS)), arm(Timer::Announce, 500)], None);
    assert_eq!(process.command(Command::Campaign).unwrap_err(), Refused::Witness);
    hear(&mut process, 2, ask(0));
    expect(&process, &[store(1, 2), tell(2, yes(0))], None);
    until(&mut process, 200);
    hear(&mut process, 2, release(0));
    expect(&process, &[], None);
    process.ring();
    assert_eq!(process.now(), at(500));
    expect(&process, &[say(Message::Standing(WITNESS)), arm(Timer::Announce, 1000)], None);
    assert_eq!(turn(&process), Instant::NEVER);
}

#[test]
fn a_witness_that_lost_its_record_reads_those_of_others() {
    let memory = Memory::Lost;
    let boot = Boot { candidacy: WITNESS, memory, incarnation: 2, ..Boot::first(NodeId(1)) };
    let mut process = Process::boot(boot, majority(), &others(1, 3), &[]);
    process.ring();
    assert_eq!(
        process.effects()[0],
        say(Message::Inquiry { life: 2, round: 0, founding: None, needs: false })
    );
    for from in [2, 3] {
        let record = Message::Record { asker: 2, round: 0, life: 1, highest: Some(7), list: None };
        hear(&mut process, from, record);
    }
    process.ring();
    assert_eq!(turn(&process), Instant::NEVER, "it has a record, and does not ask");
    assert!(!process.facts().contains(&Fact::NoRecord));
}

#[test]
fn nobody_waits_for_a_witness_once_it_is_known() {
    let mut process = start(3, majority());
    assert_eq!(turn(&process), at(20 + 2 * 40));
    hear_slow(&mut process, 1, Message::Standing(WITNESS));
    expect(&process, &[arm(Timer::Ask, 20 + 40)], None);
    hear_slow(&mut process, 1, Message::Standing(WITNESS));
    expect(&process, &[], None);
    hear(&mut process, 2, renew(0, &[2, 3, 4]));
    assert_eq!(turn(&process), at(150) + NANO, "1 is a witness, 2 is missing");
}

#[test]
fn the_greatest_priority_asks_first_and_everybody_learns_of_it() {
    let process = boot_as(priority(7), 5, 5, majority());
    assert_eq!(turn(&process), at(20), "before all ordinary ones");
    for (id, turns) in [(1, 1), (3, 3)] {
        let mut process = start(id, majority());
        hear_slow(&mut process, 5, Message::Standing(priority(7)));
        expect(&process, &[arm(Timer::Ask, 20 + 40 * turns)], None);
    }
    let mut process = boot_as(priority(7), 4, 5, majority());
    hear_slow(&mut process, 5, Message::Standing(priority(8)));
    expect(&process, &[arm(Timer::Ask, 20 + 40)], None);
}

#[test]
fn whoever_stepped_back_comes_last_whatever_its_priority() {
    let mut process = start(3, majority());
    hear_slow(&mut process, 5, Message::Standing(priority(7)));
    hear(&mut process, 5, farewell(0));
    let line = &process.node().protocol().0.line;
    assert!(line.place(NodeId(3)) < line.place(NodeId(5)));
    assert!(line.place(NodeId(1)) < line.place(NodeId(3)));
}

#[test]
fn a_new_life_is_an_ordinary_process_until_it_says_otherwise() {
    let mut process = start(3, majority());
    hear_slow(&mut process, 1, Message::Standing(WITNESS));
    process.peer(1, Reach::Up);
    assert!(!process.node().protocol().0.line.is_witness(NodeId(1)));
}

#[test]
fn a_witness_is_no_nominee() {
    let mut process = leader(majority());
    hear(&mut process, 2, Message::Standing(WITNESS));
    let refused = process.command(Command::Transfer(NodeId(2))).unwrap_err();
    assert_eq!(refused, Refused::Nominee(NodeId(2), Unfit::Witness));
}

#[test]
fn in_local_mode_nobody_has_a_priority_or_is_a_witness() {
    let mut process = boot_as(WITNESS, 1, 5, local());
    process.ring();
    assert_eq!(process.effects()[0], say(in_term(0, ask(0))));
    let mut process = start(3, local());
    process.ignores(1, Packet { bound: AT_ONCE, body: Message::Standing(WITNESS) });
}

/// Parameters with which a leader yields to a better process that it has heard for 200 ms.
fn preempting() -> Params {
    let preempt_delay = Some(ms(200));
    valid(Config { preempt: true, preempt_delay, drift_ppm: Some(0), ..Config::default() })
}

/// Lets a leader go on while these grant what it asks for; what it said last, and when.
pub(super) fn go_on(process: &mut Process, voters: &[u64], until: u64) -> (Instant, Message) {
    let mut said = (process.now(), ask(0));
    while process.node().poll_timeout() <= at(until) {
        process.ring();
        for effect in process.effects() {
            let Effect::Send(Dest::Everyone, Packet { body, .. }) = effect else { continue };
            said = (process.now(), body.clone());
            let Message::Election { request, term, .. } = body else { return said };
            for voter in voters {
                let (support, remaining) = (true, Duration::ZERO);
                let (highest, list) = (term, None);
                let reply = Message::Reply { request, support, remaining, highest, list };
                hear(process, *voter, reply);
            }
        }
    }
    said
}

#[test]
fn a_leader_is_not_displaced_by_a_better_process_that_comes() {
    let mut process = leader(majority());
    hear(&mut process, 3, Message::Standing(priority(9)));
    let (_, said) = go_on(&mut process, &[2, 3], 60_000);
    assert!(matches!(said, Message::Election { .. }), "{said:?}");
    assert!(led_until(&process).is_some());
}

#[test]
fn with_preempt_it_lets_its_lease_end_and_hands_over_to_the_better_one() {
    let mut process = leader(preempting());
    hear(&mut process, 3, Message::Standing(priority(9)));
    let (last, said) = go_on(&mut process, &[2, 3], 250);
    assert!(matches!(said, Message::Election { .. }), "not before it has heard it for long");
    let lease = led_until(&process).expect("it leads");
    assert_eq!(lease, last + ms(150));
    let (when, said) = go_on(&mut process, &[2, 3], 2_000);
    let nominee = Some(NodeId(3));
    assert!(matches!(said, Message::Release { nominee: id, .. } if id == nominee), "{said:?}");
    assert!(when >= lease && when < lease + ms(150), "at the end of a lease: {when:?}");
    assert_eq!((led_until(&process), lock_of(&process)), (None, None));
}

#[test]
fn with_preempt_it_stays_if_the_better_one_is_not_there_steadily_or_does_not_vote() {
    // 3 votes for a while, is silent for longer than it is considered alive, and comes back.
    let mut process = leader(preempting());
    hear(&mut process, 3, Message::Standing(priority(9)));
    for (voters, until) in [(&[2, 3][..], 150), (&[2, 4][..], 700), (&[2, 3][..], 850)] {
        let (_, said) = go_on(&mut process, voters, until);
        assert!(matches!(said, Message::Election { .. }), "{said:?}");
    }
    let mut process = leader(preempting());
    hear(&mut process, 5, Message::Standing(priority(9)));
    hear(&mut process, 5, no(25, Duration::ZERO));
    let (_, said) = go_on(&mut process, &[2, 3], 2_000);
    assert!(matches!(said, Message::Election { .. }), "{said:?}");
}

#[test]
fn with_preempt_equals_and_witnesses_and_who_resigned_are_not_better() {
    let mut process = leader(preempting());
    let witness = Candidacy { priority: 9, witness: true };
    hear(&mut process, 2, Message::Standing(witness));
    hear(&mut process, 3, farewell(0));
    hear(&mut process, 3, Message::Standing(priority(9)));
    let (_, said) = go_on(&mut process, &[2, 3, 4], 2_000);
    assert!(matches!(said, Message::Election { .. }), "{said:?}");
}

#[test]
fn without_waiting_a_leader_yields_to_who_has_just_come() {
    for (params, leads) in [(preempting(), true), (preempting().without(Rule::PreemptWaits), false)]
    {
        let mut process = leader(params);
        hear(&mut process, 3, Message::Standing(priority(9)));
        go_on(&mut process, &[2, 3], 210);
        assert_eq!(led_until(&process).is_some(), leads);
    }
}

/// The application hands over when it is done; until then the lease is renewed.
#[test]
fn with_preempt_asks_it_leads_on_and_names_the_better_one_while_that_is_there() {
    let preempt_delay = Some(ms(200));
    let config = Config { preempt: true, preempt_delay, preempt_asks: true, ..Config::default() };
    let mut process = leader(valid(Config { drift_ppm: Some(0), ..config }));
    hear(&mut process, 3, Message::Standing(priority(9)));
    let named = |process: &Process| process.node().successor(process.now());
    go_on(&mut process, &[2, 3], 150);
    assert_eq!(named(&process), None, "not before it has heard it for long");
    let (_, said) = go_on(&mut process, &[2, 3], 5_000);
    assert!(matches!(said, Message::Election { .. }), "it renews its lease: {said:?}");
    assert!(led_until(&process).is_some());
    assert_eq!(named(&process), Some(NodeId(3)));
    go_on(&mut process, &[2, 4], 6_000);
    assert_eq!(named(&process), None, "it has gone");
    go_on(&mut process, &[2, 3], 8_000);
    assert_eq!(named(&process), Some(NodeId(3)));
    process.command(Command::Transfer(NodeId(3))).expect("it can lead");
    assert_eq!((led_until(&process), named(&process)), (None, None));
}

/// Its application needs time to end.
#[test]
fn a_leader_that_becomes_a_witness_renews_its_lease_until_it_resigns_and_asks_no_more() {
    let mut process = leader(majority());
    process.command(Command::Candidacy(WITNESS)).expect("it may");
    let said = [say(Message::Standing(WITNESS)), arm(Timer::Announce, 525)];
    expect(&process, &said, Some((1, 170)));
    let (last, said) = go_on(&mut process, &[2, 3], 500);
    assert!(matches!(said, Message::Election { .. }), "it renews its lease: {said:?}");
    assert!(led_until(&process) >= Some(last + ms(150)), "and leads on");
    process.command(Command::Resign).expect("it leads");
    assert_eq!((led_until(&process), lock_of(&process)), (None, None));
    assert_eq!(process.command(Command::Campaign).unwrap_err(), Refused::Witness);
    while process.node().poll_timeout() <= at(3_000) {
        process.ring();
        let says = |effect: &Effect| match effect {
            Effect::Send(_, Packet { body, .. }) => !matches!(body, Message::Standing(_)),
            _ => false,
        };
        assert!(!process.effects().iter().any(says), "{:?}", process.effects());
    }
    assert_eq!(turn(&process), Instant::NEVER);
}

#[test]
fn a_candidate_that_becomes_a_witness_gives_its_request_up() {
    let mut process = start(1, majority());
    process.ring();
    until(&mut process, 22);
    process.command(Command::Candidacy(WITNESS)).expect("it may");
    let effects = [
        say(Message::Standing(WITNESS)),
        arm(Timer::Announce, 522),
        disarm(Timer::Count),
        say(release(20)),
        disarm(Timer::Ask),
    ];
    expect(&process, &effects, None);
    assert_eq!(lock_of(&process), None);
    hear(&mut process, 2, yes(20));
    hear(&mut process, 3, yes(20));
    assert_eq!(led_until(&process), None, "votes for what was given up are none");
}

#[test]
fn who_is_no_witness_any_more_says_so_again_and_again_and_asks_in_its_turn() {
    let mut process = boot_as(WITNESS, 2, 5, majority());
    hear(&mut process, 1, renew(0, &[1, 2, 3]));
    until(&mut process, 30);
    let ordinary = Candidacy::default();
    process.command(Command::Candidacy(ordinary)).expect("it may");
    let said = say(Message::Standing(ordinary));
    let announces = arm(Timer::Announce, 530);
    expect(&process, &[said.clone(), announces, arm_after(Timer::Ask, 150)], Some((1, 150)));
    process.command(Command::Candidacy(ordinary)).expect("it is");
    expect(&process, &[], Some((1, 150)));
    until(&mut process, 100);
    hear(&mut process, 1, renew(90, &[1, 2, 3]));
    while process.now() < at(530) {
        process.ring();
    }
    assert!(process.effects().contains(&said), "{:?}", process.effects());
}

#[test]
fn a_greater_priority_brings_the_turn_forward_and_a_lesser_one_puts_it_off() {
    let mut process = start(3, majority());
    assert_eq!(turn(&process), at(20 + 2 * 40));
    process.command(Command::Candidacy(priority(2))).expect("it may");
    let said = say(Message::Standing(priority(2)));
    expect(&process, &[said, arm(Timer::Announce, 500), arm(Timer::Ask, 20)], None);
    process.command(Command::Candidacy(priority(0))).expect("it may");
    assert_eq!(turn(&process), at(20 + 2 * 40));
}

#[test]
fn who_could_not_lead_for_a_while_has_its_place_again_when_it_can() {
    let mut process = start(3, majority());
    hear(&mut process, 1, Message::Standing(WITNESS));
    hear(&mut process, 1, farewell(0));
    hear(&mut process, 1, Message::Standing(priority(7)));
    let line = &process.node().protocol().0.line;
    assert!(line.place(NodeId(1)) < line.place(NodeId(3)));
    assert!(!line.is_cooling(NodeId(1), at(0)));
}

#[test]
fn a_leader_whose_priority_falls_yields_to_the_one_that_is_better_now() {
    let mut process = leader(preempting());
    process.command(Command::Candidacy(priority(9))).expect("it may");
    hear(&mut process, 3, Message::Standing(priority(5)));
    let (_, said) = go_on(&mut process, &[2, 3], 450);
    assert!(matches!(said, Message::Election { .. }), "{said:?}");
    process.command(Command::Candidacy(priority(4))).expect("it may");
    let mut said = said;
    while led_until(&process).is_some() && process.now() < at(3_000) {
        said = go_on(&mut process, &[2, 3], 3_000).1;
    }
    let nominee = Some(NodeId(3));
    assert!(matches!(said, Message::Release { nominee: id, .. } if id == nominee), "{said:?}");
}

#[test]
fn in_local_mode_nobody_changes_its_mind() {
    let mut process = start(1, local());
    let refused = process.command(Command::Candidacy(WITNESS)).unwrap_err();
    assert_eq!(refused, Refused::Unsupported);
}
