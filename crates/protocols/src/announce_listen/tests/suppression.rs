//! SUP, AL, and the three uses of SUP followed by AL (section 5.7).

use super::*;

#[test]
fn sup_waits_speaks_once_and_is_done() {
    let mut process = start(5, config(Variant::Sup), &[luck(300)]);
    process.expect(&[arm(Timer::Wake, 300)], &[], Stage::Undecided);
    process.ring();
    process.expect(&[say(5)], &[], Stage::Decided);
    assert_eq!(process.node().poll_timeout(), Instant::NEVER);
    process.ignores(9, Message::Announce(plain(9)));
    // Chapters 2 and 3, as section 5.1.2 sums them up.
}

#[test]
fn sup_is_silenced_by_anyone_and_names_nobody() {
    for from in [3, 9] {
        let mut process = start(5, config(Variant::Sup), &[luck(300)]);
        hear(process.wait(ms(100)), from);
        let effects = [disarm(Timer::Wake), disarm(Timer::Listen)];
        process.expect(&effects, &[], Stage::Suppressed);
        assert_eq!(process.node().poll_timeout(), Instant::NEVER);
        process.ignores(9, Message::Announce(plain(9)));
        process.ignores(from, Message::Bye);
    }
    // Section 5.1.2, last paragraph: in SUP the arrival of any message suppresses.
}

#[test]
fn sup_without_an_end_of_trust_does_not_even_look_for_one() {
    let mut process = start(5, Config::new(Variant::Sup), &[luck(300)]);
    hear(&mut process, 3);
    process.expect(&[disarm(Timer::Wake)], &[], Stage::Suppressed);
}

#[test]
fn al_announces_for_ever_whoever_is_greater() {
    let mut process = start(5, config(Variant::Al), &[]);
    process.expect(&[say(5), arm(Timer::Announce, 1000)], &[5], Stage::Decided);
    hear(&mut process, 9);
    process.expect(&[arm(Timer::Listen, 3000)], &[9], Stage::Decided);
    process.ring();
    process.expect(&[say(5), arm(Timer::Announce, 2000)], &[9], Stage::Decided);
    process.ignores(7, Message::Announce(plain(7)));
    // Section 5.4.2: in AL all processes generate messages with every round.
}

#[test]
fn al_names_itself_again_when_the_greatest_is_silent_or_gone() {
    let mut silent = follower(5, 9, config(Variant::Al), &[]);
    silent.ring().ring().wait(ms(1000)).timeout().timeout();
    silent.expect(&[disarm(Timer::Listen)], &[5], Stage::Decided);

    let mut gone = follower(5, 9, config(Variant::Al), &[]);
    gone.message(9, Message::Bye);
    gone.expect(&[disarm(Timer::Listen)], &[5], Stage::Decided);
}

#[test]
fn sup_al_taken_as_an_election_follows_whoever_speaks_first() {
    for from in [3, 9] {
        let mut process = start(5, config(Variant::SupAlElect), &[luck(300)]);
        process.expect(&[arm(Timer::Wake, 300)], &[5], Stage::Undecided);
        hear(process.wait(ms(100)), from);
        let effects = [disarm(Timer::Wake), arm(Timer::Listen, 3100)];
        process.expect(&effects, &[from], Stage::Decided);
        process.ignores(12, Message::Announce(plain(12)));
        hear(process.wait(ms(900)), from);
        process.expect(&[arm(Timer::Listen, 4000)], &[from], Stage::Decided);
    }
    // Section 5.7: elect a leader with the simple receipt of a message.
}

#[test]
fn sup_al_taken_as_an_election_announces_until_anyone_speaks() {
    let mut process = start(5, config(Variant::SupAlElect), &[luck(300)]);
    process.ring();
    process.expect(&[say(5), arm(Timer::Announce, 1300)], &[5], Stage::Decided);
    process.ring();
    process.expect(&[say(5), arm(Timer::Announce, 2300)], &[5], Stage::Decided);
    hear(&mut process, 3);
    let effects = [disarm(Timer::Announce), arm(Timer::Listen, 4300)];
    process.expect(&effects, &[3], Stage::Decided);
}

#[test]
fn sup_al_taken_as_an_election_starts_anew_when_its_leader_is_silent_or_gone() {
    let process = follower(5, 3, config(Variant::SupAlElect), &[luck(300), luck(600)]);
    let mut silent = process.clone();
    silent.ring();
    let effects = [arm(Timer::Wake, 3600), disarm(Timer::Listen)];
    silent.expect(&effects, &[5], Stage::Undecided);
    let mut gone = process;
    gone.message(3, Message::Bye);
    let effects = [arm(Timer::Wake, 600), disarm(Timer::Listen)];
    gone.expect(&effects, &[5], Stage::Undecided);
}

#[test]
fn where_any_message_silences_a_leader_s_lighter_claim_renews_it_too() {
    let ranked = Config { criterion: Some(Criterion::Rank), ..config(Variant::SupAlElect) };
    let mut process = follower(5, 9, ranked, &[luck(300)]);
    process.wait(ms(1000)).message(9, Message::Announce(plain(2)));
    process.expect(&[arm(Timer::Listen, 4000)], &[9], Stage::Decided);
}

#[test]
fn three_that_defer_to_each_other_in_a_circle_wait_for_ever() {
    // A hears only B, B only C, C only A.
    for (me, heard) in [(1, 2), (2, 3), (3, 1)] {
        let config = Config::new(Variant::SupAlElect);
        let mut process = start(me, config, &[luck(300)]);
        hear(process.ring(), heard);
        process.expect(&[disarm(Timer::Announce)], &[heard], Stage::Decided);
        assert_eq!(process.node().poll_timeout(), Instant::NEVER, "it waits for a message");
        for from in 1..=3 {
            process.ignores(from, Message::Announce(plain(from)));
        }
    }
    // Section 5.7: A hears from B, who hears from C, who hears from A.
}

#[test]
fn sup_al_as_a_limiter_draws_anew_in_every_interval() {
    let mut process = start(5, config(Variant::SupAlLimit), &[luck(300)]);
    let effects = [arm(Timer::Wake, 300), arm(Timer::Announce, 1000)];
    process.expect(&effects, &[], Stage::Undecided);
    process.ring();
    process.expect(&[say(5)], &[], Stage::Decided);
    process.draws(&[luck(700)]).ring();
    let effects = [arm(Timer::Wake, 1700), arm(Timer::Announce, 2000)];
    process.expect(&effects, &[], Stage::Undecided);
    // Section 5.7: a random number of announcers in each AL interval.
}

#[test]
fn sup_al_as_a_limiter_is_silenced_for_one_interval() {
    let mut process = start(5, config(Variant::SupAlLimit), &[luck(300)]);
    hear(process.wait(ms(100)), 3);
    let effects = [disarm(Timer::Wake), disarm(Timer::Listen)];
    process.expect(&effects, &[], Stage::Suppressed);
    process.ignores(9, Message::Announce(plain(9)));
    process.draws(&[luck(700)]).ring();
    assert_eq!(process.now(), Instant::ZERO + ms(1000));
    let effects = [arm(Timer::Wake, 1700), arm(Timer::Announce, 2000)];
    process.expect(&effects, &[], Stage::Undecided);
}

#[test]
fn sup_al_as_a_limiter_is_not_silenced_after_it_spoke() {
    let mut process = start(5, config(Variant::SupAlLimit), &[luck(300)]);
    process.ring().ignores(9, Message::Announce(plain(9)));
}

#[test]
fn a_limiter_that_wakes_at_the_end_of_the_interval_speaks_before_the_next() {
    let mapping = Mapping::ByStanding { best: 9, worst: 5, jitter: Duration::ZERO };
    let mut process = start(5, config(Variant::SupAlLimit).mapped(mapping), &[]);
    process.ring();
    process.expect(&[say(5)], &[], Stage::Decided);
    process.timeout();
    let effects = [arm(Timer::Wake, 2000), arm(Timer::Announce, 2000)];
    process.expect(&effects, &[], Stage::Undecided);
}

#[test]
fn sup_al_as_a_spreader_waits_once_and_announces_for_ever() {
    let mut process = start(5, config(Variant::SupAlSpread), &[luck(300)]);
    process.expect(&[arm(Timer::Wake, 300)], &[5], Stage::Undecided);
    hear(process.wait(ms(100)), 9);
    process.expect(&[arm(Timer::Listen, 3100)], &[9], Stage::Undecided);
    process.ring();
    process.expect(&[say(5), arm(Timer::Announce, 1300)], &[9], Stage::Decided);
    process.ring();
    process.expect(&[say(5), arm(Timer::Announce, 2300)], &[9], Stage::Decided);
    // Section 5.7: SUP merely separates the announcements in time.
}

#[test]
fn the_bar_keeps_out_whatever_cannot_silence() {
    let min_weight = |process: &Process| process.node().min_weight();
    let mut sup = start(5, config(Variant::Sup), &[luck(300)]);
    assert_eq!(min_weight(&sup), 0);
    assert_eq!(min_weight(sup.ring()), u64::MAX);
    let limit = follower(5, 3, config(Variant::SupAlLimit), &[luck(300)]);
    assert_eq!(min_weight(&limit), u64::MAX);
    let elect = follower(5, 3, config(Variant::SupAlElect), &[luck(300)]);
    assert_eq!(min_weight(&elect), 0, "the leader's own announcements matter");
    let endless = follower(5, 3, Config::new(Variant::SupAlElect), &[luck(300)]);
    assert_eq!(min_weight(&endless), u64::MAX, "nothing renews what never ends");
    let al = follower(5, 9, config(Variant::Al), &[]);
    assert_eq!(min_weight(&al), plain(9));
}
