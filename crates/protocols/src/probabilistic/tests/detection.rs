//! Rounds without a clear outcome.

use super::*;

/// A process that waits for the final messages of the first round.
fn waiting(reinitiate: Reinitiate) -> Process {
    let mut process = relay_in(reinitiate, Size::Given(5));
    process.message(9, Message::Initiate(FIRST));
    process
}

fn relay_in(reinitiate: Reinitiate, size: Size) -> Process {
    start_with(4, &[6], Config { reinitiate, size, ..config() })
}

/// A process that knows of the round only by its final messages.
fn told(reinitiate: Reinitiate, size: Size, leaders: &[u64]) -> Process {
    let mut process = relay_in(reinitiate, size);
    for leader in leaders {
        process.message(6, named(*leader));
    }
    process
}

#[test]
fn who_missed_the_beginning_follows_what_is_told() {
    let mut process = told(Reinitiate::Hash, Size::Given(5), &[2]);
    assert_eq!(process.effects(), [process.armed(Timer::Phase, MULTICAST * 2)]);
    process.message(5, named(2));
    process.ring();
    assert_eq!((process.leader(), round(&process)), (Some(2), in_round(1)));
}

#[test]
fn two_leaders_are_one_too_many_and_the_hash_says_who_begins_again() {
    let mut process = told(Reinitiate::Hash, Size::Given(5), &[2, 3]);
    process.ring();
    assert_eq!(process.packets()[0], to_all(Message::Initiate(SECOND)), "all pass");
    assert_eq!((process.leader(), round(&process)), (None, in_round(2)));
    process.message(6, Message::Prefer(SECOND, someone(2)));
    process.ring();
    assert_eq!(process.packets(), [to_all(Message::Final(SECOND, NodeId(2)))], "it is a relay");
    let mut process = told(Reinitiate::Hash, Size::Given(u64::MAX), &[2, 3]);
    process.ring();
    assert_eq!((process.effects(), process.is_quiet()), (vec![Effect::Disarm(Timer::Phase)], true));
    assert_eq!((process.leader(), stage(&process)), (None, Stage::Undecided));
    assert_eq!(process.facts()[1], Fact::Unclear { leaders: 2 });
}

#[test]
fn silence_is_no_outcome_either() {
    let mut process = bystander();
    process.message(9, Message::Initiate(FIRST));
    process.draws(&[0]).ring();
    assert_eq!(process.facts()[1], Fact::Unclear { leaders: 0 });
    assert_eq!(process.effects(), [process.armed(Timer::Phase, Duration::ZERO)]);
    process.ring();
    assert_eq!(process.packets()[0], to_all(Message::Initiate(SECOND)));
}

/// There is no final message whose name could be hashed. Whether the process passes by the name of
/// the round is the opposite of what another name would say.
#[test]
fn whoever_heard_nothing_hashes_the_name_of_the_round() {
    let reinitiate = Reinitiate::Hash;
    let config = Config { reinitiate, size: Size::Given(1000), ..config() };
    let passes = |name, id: u64| Filter::new(0, name, 7, 1000).passes(NodeId(id));
    for begins in [true, false] {
        let is_one = |id: &u64| {
            !passes(Name::Initiate(FIRST), *id)
                && passes(Name::Silence(FIRST), *id) == begins
                && passes(Name::Loss(FIRST), *id) != begins
        };
        let me = (10..).find(is_one).expect("there are such");
        let mut process = start_with(me, &[1, 2, 3], config.clone());
        process.message(9, Message::Initiate(FIRST));
        process.ring();
        let doubts = process.facts().contains(&Fact::Unclear { leaders: 0 });
        assert_eq!(doubts, !begins, "whoever begins the next round is in doubt no longer");
        let asked = process.packets().first().cloned();
        assert_eq!(asked, begins.then(|| to_all(Message::Initiate(SECOND))));
        assert_eq!(process.is_quiet(), !begins);
    }
}

#[test]
fn the_earlier_a_step_the_fewer_draw_it() {
    // 5 members: 3 bits, so 8 draws for the steps 0 to 3.
    for (drawn, step) in [(0, 0), (1, 1), (2, 2), (3, 2), (4, 3), (7, 3)] {
        let mut process = told(Reinitiate::Delay, Size::Given(5), &[2, 3]);
        process.draws(&[drawn]).ring();
        assert_eq!(process.effects(), [process.armed(Timer::Phase, MULTICAST * 2 * step)]);
    }
}

#[test]
fn whoever_hears_that_another_begins_again_need_not() {
    let mut process = told(Reinitiate::Delay, Size::Given(5), &[2, 3]);
    process.draws(&[7]).ring();
    process.message(6, Message::Initiate(SECOND));
    assert_eq!(process.packets(), [to(6, Message::Prefer(SECOND, itself(4)))]);
    assert_eq!(round(&process), in_round(2));
}

#[test]
fn a_late_final_ends_a_silence() {
    let mut process = bystander();
    process.message(9, Message::Initiate(FIRST));
    process.draws(&[1]).ring();
    process.message(1, named(1));
    assert_eq!((process.leader(), process.is_quiet()), (Some(1), true));
}

#[test]
fn a_late_final_that_names_another_is_reason_for_doubt() {
    let mut process = told(Reinitiate::Delay, Size::Given(5), &[2]);
    process.ring();
    process.message(5, named(2));
    assert_eq!(process.effects(), []);
    process.draws(&[0]).message(5, named(1));
    assert_eq!((process.leader(), stage(&process)), (None, Stage::Undecided));
    process.ring();
    assert_eq!(process.packets()[0], to_all(Message::Initiate(SECOND)));
}

#[test]
fn after_the_last_round_it_gives_up_and_a_new_election_begins_afresh() {
    let mut process = waiting(Reinitiate::Hash);
    let last = RoundId { election: 1, number: 5 };
    process.message(6, Message::Initiate(last));
    process.ring();
    process.message(6, Message::Final(last, NodeId(1)));
    process.ring();
    assert_eq!((stage(&process), process.is_quiet()), (Stage::Aborted, true));
    assert_eq!(process.facts()[1], Fact::Unclear { leaders: 2 });
    process.message(6, Message::Final(last, NodeId(2)));
    assert_eq!((process.effects(), stage(&process)), (vec![], Stage::Aborted));
    process.command(Command::Campaign).unwrap();
    assert_eq!(process.packets()[0], to_all(Message::Initiate(RoundId::first_of(2))));
    assert_eq!(stage(&process), Stage::Undecided);
}

#[test]
fn a_leader_that_is_gone_is_reason_for_another_election() {
    for (reinitiate, draws) in [(Reinitiate::Hash, &[][..]), (Reinitiate::Delay, &[0])] {
        let mut process = told(reinitiate, Size::Given(5), &[6]);
        process.ring();
        process.draws(draws).peer(6, Reach::Down);
        if reinitiate == Reinitiate::Delay {
            process.ring();
        }
        let next = RoundId::first_of(2);
        let sent = [to_all(Message::Initiate(next)), to(6, Message::Prefer(next, itself(4)))];
        assert_eq!(process.packets(), sent, "the dead are told, and not chosen");
        assert_eq!(process.leader(), None);
    }
    let mut process = told(Reinitiate::Hash, Size::Given(5), &[6]);
    process.ring();
    process.peer(5, Reach::Down);
    assert_eq!((process.effects(), process.leader()), (vec![], Some(6)), "somebody else");
}

#[test]
fn the_dead_are_chosen_again_once_they_live() {
    let mut process = relay(4, &[1]);
    process.peer(1, Reach::Down);
    process.message(9, Message::Initiate(FIRST));
    assert_eq!(process.packets(), [to(1, Message::Prefer(FIRST, itself(4)))]);
    process.peer(1, Reach::Up);
    process.message(9, Message::Initiate(SECOND));
    assert_eq!(process.packets(), [to(1, Message::Prefer(SECOND, someone(1)))]);
}
