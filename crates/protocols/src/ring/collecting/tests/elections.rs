//! One election, and several.

use super::*;

#[test]
fn a_process_begins_passive() {
    let process = start(3, careful());
    assert_eq!((process.effects(), process.leader()), (vec![], None));
    assert_eq!(process.leadership().stage, Stage::Undecided);
}

#[test]
fn an_initiator_sends_collects_picks_and_tells() {
    let mut process = start(4, careful());
    process.command(Command::Campaign).unwrap();
    let begins = [sent(5, election(call(4, 1), 0, &[4])), process.armed(Timer::Retry, WAIT)];
    assert_eq!(process.effects(), begins);
    process.command(Command::Campaign).unwrap();
    assert_eq!(process.effects(), [], "it holds one already");
    process.message(3, election(call(4, 1), 6, &[4, 5, 1, 2, 3]));
    let told = coordinator(call(4, 1), 7, 5, &[4, 5, 1, 2, 3]);
    assert_eq!((process.effects(), process.leader()), (vec![sent(5, told.clone())], Some(5)));
    process.message(3, told);
    assert_eq!(process.effects(), [Effect::Disarm(Timer::Retry)], "it has gone round");
    assert_eq!((process.leader(), process.is_quiet()), (Some(5), true));
}

#[test]
fn others_add_themselves_and_follow() {
    let mut process = start(3, ring());
    process.message(2, election(call(1, 1), 0, &[1, 2]));
    assert_eq!(process.effects(), [sent(4, election(call(1, 1), 0, &[1, 2, 3]))]);
    assert_eq!(process.leader(), None);
    let told = coordinator(call(1, 1), 1, 5, &[1, 2, 3, 4, 5]);
    process.message(2, told.clone());
    assert_eq!((process.effects(), process.leader()), (vec![sent(4, passed(told, 1))], Some(5)));
}

#[test]
fn the_message_learns_the_latest_round() {
    let mut process = start(3, ring());
    process.message(2, coordinator(call(1, 1), 9, 5, &[]));
    process.message(2, election(call(2, 1), 4, &[2]));
    assert_eq!(process.packets(), [sent(4, election(call(2, 1), 9, &[2, 3]))]);
    process.message(2, election(call(2, 2), 11, &[2]));
    assert_eq!(process.packets(), [sent(4, election(call(2, 2), 11, &[2, 3]))]);
}

#[test]
fn initiators_do_not_mind_each_other() {
    let mut process = start(3, ring());
    process.command(Command::Campaign).unwrap();
    process.message(2, election(call(1, 1), 0, &[1, 2]));
    assert_eq!(process.effects(), [sent(4, election(call(1, 1), 0, &[1, 2, 3]))]);
    let told = coordinator(call(1, 1), 1, 5, &[1, 2, 3, 4, 5]);
    process.message(2, told.clone());
    assert_eq!((process.packets(), process.leader()), (vec![sent(4, passed(told, 1))], Some(5)));
    process.message(2, election(call(3, 1), 1, &[3, 4, 5, 1, 2]));
    let own = coordinator(call(3, 1), 2, 5, &[3, 4, 5, 1, 2]);
    assert_eq!(process.packets(), [sent(4, own)], "its own goes on");
}

#[test]
fn what_belongs_to_a_former_election_or_life_is_removed() {
    let mut process = boot(3, 2, careful());
    let mine = |number| Call { life: 2, ..call(3, number) };
    assert_eq!(process.packets(), [sent(4, election(mine(1), 0, &[3]))]);
    process.ring();
    assert_eq!(process.packets(), [sent(4, election(mine(2), 0, &[3]))]);
    let round = [3, 4, 5, 1, 2];
    for late in [call(3, 2), mine(1), mine(3)] {
        process.message(2, election(late, 0, &round));
        process.message(2, coordinator(late, 1, 5, &round));
        assert_eq!((process.effects(), process.leader()), (vec![], None), "{late:?}");
    }
    process.message(2, election(mine(2), 0, &round));
    assert_eq!(process.leader(), Some(5));
}

#[test]
fn what_a_former_life_told_others_is_set_right_by_a_new_election() {
    let mut process = boot(3, 2, ring());
    let mine = |number| Call { life: 2, ..call(3, number) };
    process.message(2, election(mine(1), 0, &[3, 4, 5, 1, 2]));
    process.message(2, coordinator(mine(1), 1, 5, &[]));
    assert_eq!(process.leader(), Some(5));
    process.message(2, coordinator(call(3, 7), 9, 4, &[]));
    assert_eq!(process.packets(), [sent(4, election(mine(2), 9, &[3]))], "2 was told of round 9");
    process.message(2, coordinator(call(3, 7), 9, 4, &[]));
    assert_eq!(process.effects(), [], "once");
}

#[test]
fn copies_and_what_has_gone_round_are_removed() {
    let mut process = start(3, ring());
    process.message(2, election(call(1, 1), 0, &[1, 2]));
    process.message(2, election(call(1, 1), 0, &[1, 2]));
    assert_eq!(process.effects(), [], "a copy");
    process.message(2, election(call(1, 2), 0, &[1, 2, 3, 4, 2]));
    assert_eq!(process.effects(), [], "its initiator was not there");
}

#[test]
fn what_has_gone_round_past_its_initiator_is_removed_though_it_is_held_to_be_up() {
    let mut process = start(3, ring());
    let told = coordinator(call(1, 1), 1, 5, &[]);
    process.message(2, passed(told.clone(), 3));
    assert_eq!(process.packets(), [sent(4, passed(told.clone(), 4))], "the last before 1");
    process.message(2, passed(told.clone(), 3));
    assert_eq!(process.packets(), [sent(4, passed(told.clone(), 4))], "a copy goes as far");
    process.message(2, passed(told.clone(), 4));
    assert_eq!(process.packets(), [], "all five passed it on, and 1 was not one of them");
    process.message(2, passed(coordinator(call(1, 2), 2, 5, &[]), 4));
    assert_eq!(process.packets().len(), 1, "news goes on");
}

#[test]
fn later_rounds_are_believed_and_greater_leaders_in_the_same() {
    let mut process = start(1, ring());
    for (round, named, then) in [(3, 4, 4), (2, 5, 4), (3, 3, 4), (3, 5, 5), (4, 2, 2)] {
        let told = coordinator(call(5, round), round, named, &[]);
        process.message(5, told.clone());
        assert_eq!(process.leader(), Some(then), "{named} in round {round}");
        assert_eq!(process.packets(), [sent(2, passed(told, 1))], "it is passed on either way");
    }
}

#[test]
fn whoever_holds_an_election_is_not_content_with_what_was_found_before() {
    for variant in [Variant::Ring, Variant::Merea] {
        let mut process = start(1, Config { variant, ..ring() });
        process.message(5, coordinator(call(5, 3), 3, 4, &[]));
        process.command(Command::Campaign).unwrap();
        process.message(5, coordinator(call(5, 3), 3, 5, &[]));
        assert_eq!((process.packets().len(), process.leader()), (1, None));
        process.message(5, coordinator(call(5, 4), 4, 4, &[]));
        assert_eq!((process.packets().len(), process.leader()), (1, Some(4)));
    }
}

#[test]
fn whoever_knows_better_objects() {
    let mut lesser = start(3, ring());
    lesser.message(2, coordinator(call(1, 1), 4, 2, &[1, 2]));
    assert_eq!(lesser.packets(), [sent(4, election(call(3, 1), 4, &[3]))], "3 is greater than 2");
    let mut told = start(3, ring());
    told.peer(5, Reach::Down);
    told.message(2, coordinator(call(1, 1), 4, 5, &[]));
    assert_eq!(told.packets(), [sent(4, election(call(3, 1), 4, &[3]))], "5 is down");
    let mut late = start(3, ring());
    late.message(2, coordinator(call(1, 2), 9, 5, &[]));
    let old = coordinator(call(1, 1), 8, 2, &[]);
    late.message(2, old.clone());
    assert_eq!(
        late.packets(),
        [sent(4, passed(old, 1))],
        "of an earlier round, which nobody believes"
    );
}

#[test]
fn strangers_are_not_heard() {
    let mut process = start(3, ring());
    process.message(77, election(call(1, 1), 0, &[1]));
    process.message(2, election(call(77, 1), 0, &[77]));
    process.message(2, coordinator(call(1, 1), 1, 77, &[]));
    process.message(2, coordinator(call(77, 1), 1, 5, &[]));
    assert_eq!((process.effects(), process.leader()), (vec![], None));
}

#[test]
fn who_is_alone_leads_at_once() {
    let mut process = start(2, careful());
    for peer in [1, 3, 4, 5] {
        process.peer(peer, Reach::Down);
    }
    process.command(Command::Campaign).unwrap();
    assert_eq!((process.effects(), process.leader()), (vec![], Some(2)));
}
