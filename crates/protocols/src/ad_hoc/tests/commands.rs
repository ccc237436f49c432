//! Commands of the application.

use super::*;

/// Process 4, which called the election (1, 4) and leads.
fn leader() -> Process {
    let mut process = start(Config::restless());
    process.command(Command::Campaign).unwrap();
    for peer in [2, 3, 5] {
        process.message(peer, Message::Ack(wave(1, 4), None));
    }
    assert!(process.leadership().names(NodeId(4)));
    process
}

#[test]
fn a_leader_that_resigns_leads_only_if_nobody_else_would() {
    let mut process = leader();
    process.command(Command::Resign).unwrap();
    process.expect(&calls(&process, wave(2, 4)), &[], Stage::Undecided);
    assert_eq!(process.facts(), [Fact::Claim { weight: weigh(false, 4) }]);
    let mut alone = process.clone();
    for peer in [2, 3, 5] {
        process.message(peer, Message::Ack(wave(2, 4), Some(claim(peer.min(3)))));
        alone.message(peer, Message::Ack(wave(2, 4), None));
    }
    assert!(process.leadership().names(NodeId(3)), "the best of those who would");
    assert!(alone.leadership().names(NodeId(4)));
    process.command(Command::Resign).unwrap();
    process.expect(&[], &[3], Stage::Decided);
    process.command(Command::Campaign).unwrap();
    process.expect(&calls(&process, wave(3, 4)), &[3], Stage::Undecided);
    assert_eq!(process.facts(), [Fact::Claim { weight: weigh(true, 4) }]);
}

#[test]
fn a_follower_that_resigns_will_not_be_elected() {
    let mut process = follower(9);
    process.command(Command::Resign).unwrap();
    process.expect(&[], &[9], Stage::Decided);
    process.message(2, Message::Leader(news(wave(1, 2), 1)));
    process.expect(&[send(2, Message::Leader(news(wave(1, 2), 9)))], &[9], Stage::Decided);
}

#[test]
fn a_campaign_in_the_midst_of_an_election_is_that_election() {
    let mut process = start(Config::restless());
    process.command(Command::Campaign).unwrap();
    let before = process.node().clone();
    process.command(Command::Campaign).unwrap();
    assert_eq!((process.effects(), process.node()), (Vec::new(), &before));
    process.command(Command::Resign).unwrap();
    process.expect(&calls(&process, wave(2, 4)), &[], Stage::Undecided);
}

#[test]
fn a_value_that_changes_the_order_calls_for_an_election() {
    let mut process = follower(9);
    process.command(Command::Rank(8)).unwrap();
    process.expect(&[], &[9], Stage::Decided);
    process.command(Command::Rank(10)).unwrap();
    process.expect(&calls(&process, wave(2, 4)), &[9], Stage::Undecided);
    let mut process = leader();
    process.command(Command::Rank(4)).unwrap();
    process.expect(&[], &[4], Stage::Decided);
    process.command(Command::Rank(3)).unwrap();
    process.expect(&calls(&process, wave(2, 4)), &[], Stage::Undecided);
    let mut process = start(Config::default());
    process.command(Command::Rank(u64::MAX)).unwrap();
    process.expect(&[], &[], Stage::Undecided);
    assert_eq!(process.facts(), [Fact::Claim { weight: u64::MAX }]);
}

#[test]
fn leaving_needs_no_words_and_nothing_is_handed_over() {
    let mut process = leader();
    process.command(Command::Leave).unwrap();
    assert_eq!(process.effects(), []);
    assert!(process.command(Command::Transfer(NodeId(2))).is_err());
}
