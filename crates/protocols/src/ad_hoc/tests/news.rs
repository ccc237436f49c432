//! News of leaders.

use super::*;

fn beating(leader: u64, number: u64) -> News {
    News { beat: beat(number), ..news(wave(1, 2), leader) }
}

fn pass_on(peers: &[u64], message: &Message) -> Vec<Effect> {
    peers.iter().map(|peer| send(*peer, message.clone())).collect()
}

#[test]
fn a_better_leader_is_adopted_and_passed_on() {
    let mut process = follower(7);
    let better = Message::Leader(news(wave(1, 2), 9));
    process.message(3, better.clone());
    let effects = [pass_on(&[2, 5], &better), timers(&process, 2_000, 0).to_vec()].concat();
    process.expect(&effects, &[9], Stage::Decided);
    process.ignores(5, better);
}

#[test]
fn whoever_follows_a_worse_leader_is_told_of_the_better() {
    let mut process = follower(9);
    process.message(3, Message::Leader(news(wave(1, 1), 7)));
    let told = send(3, Message::Leader(news(wave(1, 2), 9)));
    process.expect(&[told], &[9], Stage::Decided);
    process.message(3, Message::Leader(news(wave(5, 1), 7)));
    let told = send(3, Message::Leader(news(wave(5, 1), 9)));
    process.expect(&[told], &[9], Stage::Decided);
}

#[test]
fn a_better_leader_from_before_the_last_election_is_not_believed_at_first() {
    let mut process = follower(7);
    process.message(3, Message::Leader(news(wave(1, 1), 9)));
    let told = send(3, Message::Leader(news(wave(1, 2), 7)));
    process.expect(&[told], &[7], Stage::Decided);
    process.message(3, Message::Leader(news(wave(1, 2), 9)));
    assert!(process.leadership().names(NodeId(9)), "it says so again, knowing of the election");
}

#[test]
fn a_process_that_would_be_better_calls_an_election_instead() {
    let mut process = start(Config::restless());
    process.message(2, Message::Leader(news(wave(6, 2), 3)));
    process.expect(&calls(&process, wave(7, 4)), &[], Stage::Undecided);
    let mut process = start(Config::restless());
    process.message(2, Message::Leader(News { leader: retired(4), ..news(wave(6, 2), 4) }));
    process.expect(&calls(&process, wave(7, 4)), &[], Stage::Undecided);
}

#[test]
fn a_process_in_an_election_goes_above_one_that_is_over_and_minds_no_lower_one() {
    let mut process = start(Config::restless());
    process.message(2, Message::Election(wave(3, 2)));
    process.ignores(5, Message::Leader(news(wave(2, 5), 9)));
    process.ignores(5, Message::Heartbeat(news(wave(2, 5), 9)));
    process.message(5, Message::Leader(news(wave(8, 1), 9)));
    process.expect(&calls(&process, wave(9, 4)), &[], Stage::Undecided);
}

#[test]
fn the_outcome_is_believed_from_anybody_and_told_to_whoever_reports_later() {
    let mut process = start(Config::restless());
    process.message(2, Message::Election(wave(3, 2)));
    process.message(5, Message::Heartbeat(news(wave(3, 2), 9)));
    let told = send(2, Message::Heartbeat(news(wave(3, 2), 9))); // it waits for a report
    let effects = [&[told][..], &timers(&process, 2_000, 0)].concat();
    process.expect(&effects, &[9], Stage::Decided);
    process.message(3, Message::Ack(wave(3, 2), Some(claim(3))));
    let told = send(3, Message::Leader(news(wave(3, 2), 9)));
    process.expect(&[told], &[9], Stage::Decided);
}

#[test]
fn a_heartbeat_is_passed_on_once_and_renews_trust() {
    let mut process = follower(9);
    process.wait(ms(1_500)).message(3, Message::Heartbeat(beating(9, 4)));
    let passed = pass_on(&[2, 5], &Message::Heartbeat(beating(9, 4)));
    let effects = [passed, timers(&process, 2_000, 0).to_vec()].concat();
    process.expect(&effects, &[9], Stage::Decided);
    for late in 1..=4 {
        process.ignores(2, Message::Heartbeat(beating(9, late)));
    }
    process.wait(ms(1_999)).timeout();
    assert_eq!(process.effects(), []);
    process.wait(ms(1)).timeout();
    process.expect(&calls(&process, wave(2, 4)), &[], Stage::Undecided);
}

#[test]
fn a_leader_tells_every_half_second_that_it_is_there() {
    let mut process = start(Config::restless());
    process.command(Command::Campaign).unwrap();
    for peer in [2, 3, 5] {
        process.message(peer, Message::Ack(wave(1, 4), None));
    }
    process.expect(&timers(&process, 0, 500), &[4], Stage::Decided);
    for number in 1..4 {
        process.ring();
        let news = News { beat: beat(number), ..news(wave(1, 4), 4) };
        let beats = pass_on(&[2, 3, 5], &Message::Heartbeat(news));
        let effects = [beats, timers(&process, 0, 500).to_vec()].concat();
        process.expect(&effects, &[4], Stage::Decided);
        process.ignores(3, Message::Heartbeat(news));
    }
    let (life, number) = (2, 1);
    let forged = News { beat: Beat { life, number }, ..news(wave(1, 4), 4) };
    process.ignores(3, Message::Heartbeat(forged));
}

#[test]
fn a_leader_whose_claim_became_better_is_known_by_its_newest_word() {
    let mut process = follower(9);
    let risen = Claim { weight: weigh(true, 20), ..claim(9) };
    process.message(3, Message::Heartbeat(News { leader: risen, ..beating(9, 2) }));
    assert_eq!(process.effects().len(), 4);
    process.message(5, Message::Heartbeat(beating(9, 1)));
    let told = Message::Leader(News { leader: risen, ..beating(9, 2) });
    process.expect(&[send(5, told)], &[9], Stage::Decided);
    let fallen = Claim { weight: weigh(true, 1), ..claim(9) };
    process.message(3, Message::Heartbeat(News { leader: fallen, ..beating(9, 3) }));
    process.expect(&calls(&process, wave(2, 4)), &[9], Stage::Undecided);
}

#[test]
fn two_claims_of_one_leader_are_settled_by_the_higher_election_or_by_a_new_one() {
    let risen =
        |wave| News { leader: Claim { weight: weigh(true, 20), ..claim(9) }, ..news(wave, 9) };
    let mut process = follower(9);
    process.message(3, Message::Leader(risen(wave(1, 1))));
    process.expect(&[send(3, Message::Leader(news(wave(1, 2), 9)))], &[9], Stage::Decided);
    let mut same = process.clone();
    same.message(3, Message::Leader(risen(wave(1, 2))));
    same.expect(&calls(&same, wave(2, 4)), &[9], Stage::Undecided);
    process.message(3, Message::Leader(risen(wave(1, 3))));
    let passed = pass_on(&[2, 5], &Message::Leader(risen(wave(1, 3))));
    let effects = [passed, timers(&process, 2_000, 0).to_vec()].concat();
    process.expect(&effects, &[9], Stage::Decided);
}

#[test]
fn strangers_are_not_heard() {
    let mut process = follower(7);
    for message in [
        Message::Election(wave(9, 8)),
        Message::Ack(wave(1, 2), Some(claim(9))),
        Message::Leader(news(wave(9, 8), 9)),
        Message::Heartbeat(news(wave(9, 8), 9)),
    ] {
        process.ignores(8, message.clone());
        process.ignores(4, message);
    }
}
