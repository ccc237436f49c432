//! Neighbours that come and go.

use super::*;

#[test]
fn a_child_lost_before_it_answered_is_not_waited_for() {
    let mut process = start(Config::restless());
    process.message(2, Message::Election(wave(1, 2)));
    process.message(3, Message::Ack(wave(1, 2), None));
    process.peer(5, Reach::Down);
    let report = send(2, Message::Ack(wave(1, 2), Some(claim(4))));
    process.expect(&[report], &[], Stage::Undecided);
}

/// What a process does that calls this election when `peer` is gone.
fn calls_without(process: &Process, peer: u64, called: Wave) -> Vec<Effect> {
    let mut effects = calls(process, called);
    effects.retain(|effect| *effect != ask(peer, called));
    effects
}

#[test]
fn a_lost_parent_and_a_child_lost_after_it_reported_call_for_a_new_election() {
    for lost in [2, 5] {
        let mut process = start(Config::restless());
        process.message(2, Message::Election(wave(1, 2)));
        process.message(5, Message::Ack(wave(1, 2), Some(claim(9))));
        process.peer(lost, Reach::Down);
        let effects = calls_without(&process, lost, wave(2, 4));
        process.expect(&effects, &[], Stage::Undecided);
    }
}

#[test]
fn a_neighbour_that_had_nothing_to_report_may_go() {
    let mut process = start(Config::restless());
    process.message(2, Message::Election(wave(1, 2)));
    process.message(3, Message::Ack(wave(1, 2), None));
    process.peer(3, Reach::Down);
    process.expect(&[], &[], Stage::Undecided);
    let mut process = follower(9);
    process.peer(5, Reach::Down);
    process.expect(&[], &[9], Stage::Decided);
    assert!(process.facts().contains(&Fact::Suspect { peer: NodeId(5) }));
}

#[test]
fn a_lost_leader_is_replaced() {
    let mut process = follower(5);
    process.peer(5, Reach::Down);
    process.expect(&calls_without(&process, 5, wave(2, 4)), &[], Stage::Undecided);
}

#[test]
fn a_neighbour_that_comes_is_told_who_leads_or_asked_to_take_part() {
    let mut process = follower(9);
    process.peer(5, Reach::Down).peer(5, Reach::Up);
    let told = send(5, Message::Leader(news(wave(1, 2), 9)));
    process.expect(&[told], &[9], Stage::Decided);
    process.message(3, Message::Election(wave(4, 3)));
    process.message(5, Message::Ack(wave(4, 3), None));
    process.peer(5, Reach::Up);
    process.expect(&[ask(5, wave(4, 3))], &[9], Stage::Undecided);
    process.peer(5, Reach::Up).peer(3, Reach::Up);
    process.expect(&[], &[9], Stage::Undecided);
}

#[test]
fn two_without_a_leader_that_meet_call_an_election() {
    let mut process = start(Config::restless());
    process.peer(5, Reach::Up);
    process.expect(&calls(&process, wave(1, 4)), &[], Stage::Undecided);
    let mut process = start(Config::restless());
    process.peer(8, Reach::Up);
    process.expect(&[], &[], Stage::Undecided);
}

#[test]
fn the_last_words_of_the_dead_are_not_obeyed() {
    let mut process = follower(9);
    process.peer(5, Reach::Down);
    process.ignores(5, Message::Leader(news(wave(4, 5), 11)));
    process.ignores(5, Message::Heartbeat(news(wave(4, 5), 11)));
    // It may have come back unnoticed: an election finds out, but not as its child.
    process.message(5, Message::Election(wave(4, 5)));
    process.expect(&calls_without(&process, 5, wave(5, 4)), &[9], Stage::Undecided);
}

#[test]
fn a_leader_known_to_be_gone_is_not_adopted_by_hearsay() {
    let mut process = follower(7);
    process.peer(5, Reach::Down);
    let risen = Claim { weight: weigh(true, 20), ..claim(5) };
    process.message(3, Message::Leader(News { leader: risen, ..news(wave(1, 2), 5) }));
    process.expect(&calls_without(&process, 5, wave(2, 4)), &[7], Stage::Undecided);
}

#[test]
fn whoever_is_behind_is_told_what_it_missed() {
    let mut process = follower(9);
    process.message(5, Message::Election(wave(1, 1)));
    let told = send(5, Message::Leader(news(wave(1, 2), 9)));
    process.expect(&[told], &[9], Stage::Decided);
}
