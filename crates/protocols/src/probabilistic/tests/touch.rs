//! Heartbeats of leaders, and silence.

use super::*;

const BEAT: Duration = Duration::from_secs(1);
const SILENCE: Duration = Duration::from_secs(4);
const STEP: Duration = Duration::from_millis(400);
const NEXT: RoundId = RoundId::first_of(2);

fn in_touch() -> Config {
    Config { size: Size::Given(5), beat: BEAT, silence: SILENCE, ..config() }
}

/// Process 4, which sees 6, and draws the first of all delays when it starts.
fn process(config: Config) -> Process {
    boot(Boot::first(NodeId(4)), &[6], config, &[0])
}

/// The same process, following this one, or leading.
fn following(leader: u64, config: Config) -> Process {
    let mut process = process(config);
    process.message(9, named(leader)).ring();
    assert_eq!(process.leader(), Some(leader));
    process
}

fn armed(process: &Process, after: Duration) -> Vec<Asked> {
    vec![process.armed(Timer::Phase, after)]
}

#[test]
fn a_leader_says_every_beat_what_ended_its_round() {
    let mut process = following(4, in_touch());
    assert_eq!(process.effects(), armed(&process, BEAT));
    for _ in 0..3 {
        process.ring();
        let word = to_all(Message::Final(FIRST, NodeId(4)));
        assert_eq!(process.effects(), [word, process.armed(Timer::Phase, BEAT)]);
    }
    assert_eq!(process.leader(), Some(4));
}

#[test]
fn every_word_of_the_leader_itself_is_good_for_another_silence() {
    let mut process = following(6, in_touch());
    assert_eq!(process.effects(), armed(&process, SILENCE));
    process.wait(BEAT).message(6, named(6));
    assert_eq!(process.effects(), armed(&process, SILENCE));
    process.wait(BEAT).message(9, named(6));
    assert_eq!(process.effects(), [], "others may speak of the dead");
    process.wait(BEAT).message(6, Message::Join(1));
    assert!(process.effects().iter().all(|effect| matches!(effect, Effect::Send(..))));
}

#[test]
fn a_leader_that_is_silent_is_reason_for_another_election() {
    let mut process = following(6, in_touch());
    process.draws(&[1]).ring();
    assert_eq!((process.leader(), process.effects()), (None, armed(&process, STEP)));
    process.ring();
    let sent = [to_all(Message::Initiate(NEXT)), to(6, Message::Prefer(NEXT, itself(4)))];
    assert_eq!(process.packets(), sent);
    let mut process = following(6, Config { reinitiate: Reinitiate::Hash, ..in_touch() });
    process.ring();
    assert_eq!(process.packets(), sent, "all pass, and nobody waits");
}

#[test]
fn a_word_that_was_only_late_is_believed() {
    let mut process = following(6, in_touch());
    process.draws(&[1]).ring();
    process.message(6, named(6));
    assert_eq!(process.leader(), Some(6));
    assert!(process.effects().contains(&process.armed(Timer::Phase, SILENCE)));
}

#[test]
fn whoever_was_silent_is_not_chosen_until_it_is_heard() {
    let lowest = |heard: bool| {
        let mut process = boot(Boot::first(NodeId(4)), &[1], in_touch(), &[0, 0]);
        process.message(9, named(1)).ring();
        process.ring(); // a silence later
        if heard {
            process.message(1, Message::Join(1));
        }
        process.ring();
        process.packets().pop()
    };
    assert_eq!(lowest(false), Some(to(1, Message::Prefer(NEXT, itself(4)))));
    assert_eq!(lowest(true), Some(to(1, Message::Prefer(NEXT, someone(1)))));
}

#[test]
fn whoever_prefers_the_silent_is_told_for_this_election_and_not_for_good() {
    let mut process = following(6, in_touch());
    process.draws(&[0]).ring();
    process.ring();
    process.message(9, Message::Prefer(NEXT, someone(6)));
    assert_eq!(process.packets(), [to(9, Message::Withdraw(NodeId(6), 2))]);
}

#[test]
fn whoever_puts_itself_forward_stands_whatever_others_say() {
    let mut process = relay(4, &[1]);
    process.message(9, Message::Initiate(FIRST));
    process.message(9, Message::Withdraw(NodeId(1), u32::MAX));
    assert_eq!(process.facts()[1], Fact::Relay { choice: NodeId(4) });
    process.message(9, prefer(1));
    assert_eq!(process.packets(), [to(9, Message::Withdraw(NodeId(1), u32::MAX))]);
    process.message(1, prefer(1));
    assert_eq!(process.facts()[1], Fact::Relay { choice: NodeId(1) });
    process.message(9, Message::Withdraw(NodeId(1), u32::MAX));
    assert_eq!(
        (process.effects(), process.facts()[1]),
        (vec![], Fact::Relay { choice: NodeId(1) })
    );
    process.message(1, Message::Withdraw(NodeId(1), 1));
    assert_eq!(process.facts()[1], Fact::Relay { choice: NodeId(4) }, "it says so itself");
}

#[test]
fn whoever_never_had_a_leader_calls_an_election() {
    for (drawn, steps) in [(0, 0), (1, 1), (7, 3)] {
        let mut process = boot(Boot::first(NodeId(4)), &[6], in_touch(), &[drawn]);
        assert_eq!(process.effects(), armed(&process, SILENCE + STEP * steps));
        process.ring();
        assert_eq!(process.packets()[0], to_all(Message::Initiate(FIRST)));
    }
}

#[test]
fn whoever_asked_in_vain_has_been_silent_long_enough() {
    let config = Config { join: Join::Always, max_rounds: 1, ..in_touch() };
    let mut process = boot(Boot::first(NodeId(4)), &[6], config, &[]);
    process.draws(&[7, 1]).ring();
    assert_eq!(process.effects().pop(), Some(process.armed(Timer::Phase, STEP)));
    process.ring();
    assert_eq!(process.packets()[0], to_all(Message::Initiate(FIRST)));
}

#[test]
fn whoever_gave_up_calls_another_election() {
    let mut process = process(Config { max_rounds: 1, ..in_touch() });
    process.message(9, named(1)).message(9, named(2)).draws(&[1]).ring();
    assert_eq!(stage(&process), Stage::Aborted);
    assert_eq!(process.effects(), armed(&process, SILENCE + STEP));
    process.ring();
    assert_eq!(process.packets()[0], to_all(Message::Initiate(NEXT)));
}

#[test]
fn whoever_gave_up_in_silence_follows_the_first_word() {
    for (config, follows) in [(in_touch(), Some(1)), (config(), None)] {
        let mut process = boot(
            Boot::first(NodeId(4)),
            &[6],
            Config { max_rounds: 1, size: Size::Given(u64::MAX), ..config },
            &[0; 2],
        );
        process.message(9, Message::Initiate(FIRST)).ring();
        assert_eq!(stage(&process), Stage::Aborted);
        process.message(1, named(1));
        assert_eq!(process.leader(), follows, "without words that end a silence, as printed");
    }
}

#[test]
fn whomever_the_hash_does_not_let_through_does_not_wait_for_ever() {
    let config = Config { reinitiate: Reinitiate::Hash, size: Size::Given(u64::MAX), ..in_touch() };
    let mut process = boot(Boot::first(NodeId(4)), &[6], config, &[0, 1]);
    process.message(9, named(1)).message(9, named(2)).ring();
    assert_eq!(process.effects(), armed(&process, SILENCE + STEP));
    process.ring();
    assert_eq!(process.packets()[0], to_all(Message::Initiate(SECOND)));
}

#[test]
fn two_leaders_of_one_round_hear_each_other() {
    let mut process = following(4, in_touch());
    process.draws(&[0]).message(6, named(6));
    assert_eq!(process.leader(), None);
    process.ring();
    assert_eq!(process.packets()[0], to_all(Message::Initiate(SECOND)));
}

#[test]
fn the_word_of_a_later_election_ends_an_older_one() {
    let mut process = following(4, in_touch());
    process.message(6, Message::Final(NEXT, NodeId(6)));
    assert_eq!(process.leader(), None);
    process.ring();
    assert_eq!((process.leader(), process.packets()), (Some(6), vec![]));
}

#[test]
fn whoever_resigned_stands_again_if_nobody_else_does() {
    let mut process = following(4, in_touch());
    process.command(Command::Resign).unwrap();
    assert_eq!(process.packets()[1], to_all(Message::Initiate(NEXT)));
    process.draws(&[0]).ring();
    assert_eq!(process.leader(), None, "nobody else is there");
    process.ring();
    process.ring();
    assert_eq!(process.packets(), [to_all(Message::Final(NEXT.next(), NodeId(4)))]);
}

#[test]
fn whoever_has_left_rests_for_ever() {
    let mut process = following(6, in_touch());
    process.command(Command::Leave).unwrap();
    assert!(process.is_quiet());
}

#[test]
fn where_numbers_have_come_to_an_end_nobody_calls() {
    let last = RoundId::first_of(u32::MAX);
    let mut process = process(Config { max_rounds: 1, ..in_touch() });
    process.message(9, Message::Final(last, NodeId(1)));
    process.message(9, Message::Final(last, NodeId(2))).draws(&[0]).ring();
    assert_eq!(stage(&process), Stage::Aborted);
    process.ring();
    assert!(process.is_quiet() && process.packets().is_empty());
}

#[test]
fn without_beats_nothing_of_this_happens() {
    let config = Config { beat: Duration::MAX, silence: Duration::MAX, ..in_touch() };
    let process = boot(Boot::first(NodeId(4)), &[6], config.clone(), &[]);
    assert_eq!(process.effects(), []);
    for leader in [4, 6] {
        let mut process = boot(Boot::first(NodeId(4)), &[6], config.clone(), &[]);
        process.message(9, named(leader)).ring();
        assert!(process.is_quiet());
    }
}
