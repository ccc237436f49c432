//! Chang-Roberts, input by input: its messages, and what all searches share.

use super::*;
use crate::ring::extrema::{Message, Says};
use crate::ring::{Config, Params, Timer, Variant};
use crate::testing::{Datagram, campaign, deliver_all, fixed, lose, others};
use alloc::vec;
use bellwether_core::harness::{Harness, assert_survives_the_wire};
use bellwether_core::{
    Boot, Command, Dest, Duration, Effect, Fact, Instant, Message as Wire, NodeId, Reach, Refused,
    Stage,
};
use proptest::prelude::*;

type Process = Harness<ChangRoberts>;
type Asked = Effect<ChangRoberts>;

const HOP: Duration = Duration::from_secs(1);
const CALL_AFTER: Duration = Duration::from_secs(60);

fn restless() -> Config {
    Config { call_after: CALL_AFTER, retry: HOP, ..calm() }
}

fn calm() -> Config {
    Config { variant: Variant::ChangRoberts, ..Config::default() }
}

/// A process of the ring 1 2 3 4 5.
fn boot(me: u64, incarnation: u64, config: Config) -> Process {
    let params = Params::try_from(config).expect("the rules are kept");
    Process::boot(Boot { incarnation, ..Boot::first(NodeId(me)) }, params, &others(me, 5), &[])
}

fn start(me: u64) -> Process {
    boot(me, 1, calm())
}

/// One that follows 4 since the third election.
fn settled(me: u64, config: Config) -> Process {
    let mut process = boot(me, 1, config);
    process.message(1 + me % 5, leads(3, 4));
    process
}

fn key(id: u64) -> Key {
    Key::new(true, NodeId(id))
}

fn retired(id: u64) -> Key {
    Key::new(false, NodeId(id))
}

fn runs(round: u64, key: Key) -> Message<Candidate> {
    Message { round, says: Says::Note(Candidate(key)) }
}

fn leads(round: u64, id: u64) -> Message<Candidate> {
    Message { round, says: Says::Announcement(key(id)) }
}

fn sent(to: u64, message: Message<Candidate>) -> Asked {
    Effect::Send(Dest::Node(NodeId(to)), message)
}

/// It waits for the end of an election of all five.
fn waits(process: &Process) -> Asked {
    let params = Params::try_from(restless()).expect("the rules are kept");
    process.armed(Timer::Retry, params.wait(5))
}

#[test]
fn nothing_happens_until_somebody_calls() {
    let process = start(3);
    assert_eq!((process.effects(), process.leader()), (vec![], None));
    assert_eq!(process.leadership().stage, Stage::Undecided);
}

#[test]
fn a_candidate_names_itself_to_the_next_and_leads_when_it_gets_itself_back() {
    let mut process = start(3);
    assert_eq!(campaign(&mut process).effects(), [sent(4, runs(1, key(3)))]);
    assert_eq!(campaign(&mut process).effects(), [], "it takes part already");
    process.message(2, runs(1, key(3)));
    assert_eq!(process.effects(), [sent(4, leads(1, 3))]);
    assert_eq!(process.leader(), Some(3));
    assert_eq!(process.message(2, leads(1, 3)).effects(), [], "it went once round");
}

#[test]
fn a_greater_candidate_is_passed_on_and_a_lesser_one_replaced_once() {
    let mut process = start(5);
    assert_eq!(process.message(4, runs(1, key(4))).effects(), [sent(1, runs(1, key(5)))]);
    assert_eq!(process.message(4, runs(1, key(2))).effects(), [], "it stands already");
    let mut process = start(3);
    assert_eq!(process.message(2, runs(1, key(5))).effects(), [sent(4, runs(1, key(5)))]);
    assert_eq!(process.message(2, runs(1, key(2))).effects(), [], "a greater one passed");
    assert_eq!(process.message(2, runs(1, key(4))).effects(), [sent(4, runs(1, key(4)))]);
    assert_eq!(campaign(&mut process).effects(), [], "it takes part");
}

#[test]
fn an_announcement_is_believed_and_passed_on_once() {
    let mut process = start(3);
    process.message(2, runs(1, key(5)));
    assert_eq!(process.message(2, leads(1, 5)).effects(), [sent(4, leads(1, 5))]);
    assert_eq!(process.leader(), Some(5));
    assert_eq!(process.message(2, leads(1, 5)).effects(), [], "twice told");
    assert_eq!(process.message(2, runs(1, key(5))).effects(), [], "and late");
}

#[test]
fn what_belongs_to_an_older_election_is_ignored_and_a_newer_one_joined() {
    let mut process = settled(3, calm());
    assert_eq!(process.leader(), Some(4));
    for late in [runs(2, key(5)), leads(2, 5), runs(3, key(2)), runs(3, key(4))] {
        assert_eq!(process.message(2, late).effects(), [], "{late:?}");
    }
    assert_eq!(process.message(2, runs(7, key(2))).effects(), [sent(4, runs(7, key(3)))]);
    assert_eq!(process.leader(), None);
}

#[test]
fn a_greater_candidate_of_the_same_election_was_skipped_and_may_still_win() {
    let mut process = settled(3, calm());
    assert_eq!(process.message(2, runs(3, key(5))).effects(), [sent(4, runs(3, key(5)))]);
    assert_eq!(process.message(2, leads(3, 5)).effects(), [sent(4, leads(3, 5))]);
    assert_eq!(process.message(2, leads(3, 4)).effects(), [], "the greater prevails");
    assert_eq!(process.leader(), Some(5));
}

#[test]
fn who_is_greater_than_the_announced_objects() {
    let mut process = start(5);
    assert_eq!(process.message(4, leads(3, 4)).effects(), [sent(1, runs(4, key(5)))]);
    assert_eq!(process.leader(), None);
}

#[test]
fn who_knows_the_announced_to_be_dead_objects() {
    let mut process = start(3);
    process.peer(5, Reach::Down);
    assert_eq!(process.message(2, leads(3, 5)).effects(), [sent(4, runs(4, key(3)))]);
}

/// Others repeatedly elect a process that it considers dead: not all processes hear each other.
#[test]
fn who_has_objected_waits_before_it_objects_again() {
    let mut process = boot(3, 1, restless());
    process.peer(5, Reach::Down);
    process.message(2, leads(3, 5));
    assert_eq!(process.packets(), [sent(4, runs(4, key(3)))]);
    process.message(2, leads(4, 5));
    assert_eq!(process.packets(), [], "not at once");
    assert_eq!((process.effects().last(), process.leader()), (Some(&waits(&process)), None));
    process.ring();
    assert_eq!(process.packets(), [sent(4, runs(5, key(3)))], "but after a while");
    process.peer(1, Reach::Down);
    process.message(2, leads(6, 5));
    assert_eq!(process.packets(), [sent(4, runs(7, key(3)))], "after a report all may be well");
}

#[test]
fn who_never_waits_objects_every_time() {
    let mut process = start(3);
    process.peer(5, Reach::Down);
    for round in [3, 5, 7] {
        let again = [sent(4, runs(round + 1, key(3)))];
        assert_eq!(process.message(2, leads(round, 5)).effects(), again);
    }
}

#[test]
fn the_dead_are_skipped_and_their_candidacies_end() {
    let mut process = start(3);
    process.peer(4, Reach::Down);
    assert_eq!(campaign(&mut process).effects(), [sent(5, runs(1, key(3)))]);
    assert_eq!(process.message(2, runs(1, key(4))).effects(), []);
    process.peer(4, Reach::Up);
    assert_eq!(process.message(2, runs(1, key(4))).effects(), [sent(4, runs(1, key(4)))]);
}

#[test]
fn an_election_that_the_dead_called_is_held_without_them() {
    let mut process = start(3);
    process.peer(5, Reach::Down);
    assert_eq!(process.message(2, runs(1, key(5))).effects(), [sent(4, runs(1, key(3)))]);
    assert_eq!(process.message(2, runs(1, key(5))).effects(), [], "once");
}

#[test]
fn strangers_and_their_candidates_are_ignored() {
    let mut process = start(3);
    assert_eq!(process.message(9, runs(1, key(5))).effects(), []);
    assert_eq!(process.message(3, runs(1, key(5))).effects(), []);
    assert_eq!(process.message(2, runs(1, key(9))).effects(), []);
    assert_eq!(process.message(2, leads(1, 9)).effects(), []);
    assert_eq!(process.peer(3, Reach::Down).effects(), [], "one does not believe to be down");
    assert_eq!(process.leader(), None);
}

#[test]
fn what_a_lost_neighbour_may_have_held_is_said_again_to_the_next() {
    let mut process = start(2);
    process.message(1, runs(1, key(5)));
    process.message(1, runs(1, key(4)));
    assert_eq!(process.peer(3, Reach::Down).effects(), [sent(4, runs(1, key(5)))]);
    process.message(1, leads(1, 5));
    assert_eq!(process.peer(4, Reach::Down).effects(), [sent(5, leads(1, 5))]);
    assert_eq!(process.peer(1, Reach::Down).effects(), [], "nothing goes the other way");
}

#[test]
fn the_loss_of_the_leader_or_of_the_best_candidate_calls_the_next_election() {
    let mut process = settled(3, calm());
    process.peer(4, Reach::Down);
    assert_eq!(process.effects(), [sent(5, runs(4, key(3)))]);
    assert_eq!(process.leader(), None);
    process.message(2, runs(4, key(5)));
    assert_eq!(process.peer(5, Reach::Down).effects(), [sent(1, runs(5, key(3)))]);
}

#[test]
fn the_last_one_leads() {
    let mut process = start(3);
    lose(&mut process, &[1, 2, 4]);
    campaign(&mut process);
    assert_eq!(process.leader(), None);
    assert_eq!(process.peer(5, Reach::Down).effects(), []);
    assert_eq!(process.leader(), Some(3));
    let mut process = start(3);
    lose(&mut process, &[1, 2, 4, 5]);
    assert_eq!(campaign(&mut process).effects(), []);
    assert_eq!(process.leader(), Some(3));
}

#[test]
fn a_recovered_process_calls_without_a_number_and_the_next_gives_it_one() {
    let mut process = boot(5, 2, calm());
    assert_eq!(process.effects(), [sent(1, runs(0, key(5)))]);
    let mut next = settled(1, calm());
    assert_eq!(next.message(5, runs(0, key(5))).effects(), [sent(2, runs(4, key(5)))]);
    assert_eq!(next.message(5, runs(0, key(5))).effects(), [], "it takes part in one");
    process.message(4, runs(4, key(5)));
    assert_eq!(process.effects(), [sent(1, leads(4, 5))]);
    assert_eq!(process.leader(), Some(5));
}

#[test]
fn a_leader_that_resigns_is_a_candidate_after_all_others() {
    let mut process = settled(4, calm());
    assert_eq!(
        process.command(Command::Resign).map(|_| ()),
        Err(Refused::NotLeading),
        "it does not lead"
    );
    process.message(3, runs(4, key(4)));
    assert_eq!(process.leader(), Some(4));
    let resigned = process.command(Command::Resign).expect("it leads");
    assert_eq!(resigned.effects(), [sent(5, runs(5, retired(4)))]);
    assert_eq!(process.leader(), None);
    assert_eq!(process.message(3, runs(5, key(4))).effects(), [], "it is not that any more");
    assert_eq!(process.message(3, runs(5, key(1))).effects(), [sent(5, runs(5, key(1)))]);
    process.message(3, leads(5, 1));
    assert_eq!(process.leader(), Some(1));
    assert_eq!(process.facts()[0], Fact::Claim { weight: 4 });
    assert_eq!(campaign(&mut process).effects(), [sent(5, runs(6, key(4)))]);
    assert_eq!(process.facts()[0], Fact::Claim { weight: 1 << 63 | 4 });
}

#[test]
fn who_has_retired_leads_again_if_nobody_else_would() {
    let mut process = boot(2, 1, calm());
    campaign(&mut process).message(1, runs(1, key(2)));
    process.command(Command::Resign).expect("it leads");
    process.message(1, runs(2, retired(2)));
    assert_eq!(process.leader(), Some(2));
    assert_eq!(
        process.command(Command::Resign).map(|_| ()),
        Err(Refused::NotLeading),
        "it has resigned"
    );
    assert_eq!(process.command(Command::Rank(9)).map(|_| ()), Err(Refused::Unsupported));
    assert_eq!(
        process.command(Command::Transfer(NodeId(1))).map(|_| ()),
        Err(Refused::Unsupported)
    );
}

#[test]
fn a_leader_that_leaves_calls_an_election_and_others_just_go() {
    let mut process = start(2);
    assert_eq!(process.command(Command::Leave).expect("anyone may").effects(), []);
    let mut process = start(2);
    campaign(&mut process).message(1, runs(1, key(2)));
    let left = process.command(Command::Leave).expect("anyone may");
    assert_eq!(left.effects(), [sent(3, runs(2, retired(2)))]);
}

#[test]
fn an_election_without_end_is_held_again() {
    let mut process = boot(3, 1, Config { retry: HOP, ..calm() });
    let wait = HOP * 15;
    campaign(&mut process);
    let retry = process.armed(Timer::Retry, wait);
    assert_eq!(process.effects(), [sent(4, runs(1, key(3))), retry.clone()]);
    process.message(2, runs(1, key(5)));
    assert_eq!(process.effects(), [sent(4, runs(1, key(5)))], "one timer an election");
    process.ring();
    assert_eq!(process.now(), Instant::ZERO + wait);
    assert_eq!(process.packets(), [sent(4, runs(2, key(3)))]);
    process.message(2, leads(2, 5));
    assert_eq!(process.effects(), [Effect::Disarm(Timer::Retry), sent(4, leads(2, 5))]);
    assert!(process.is_quiet());
}

#[test]
fn who_recovered_and_was_not_heard_asks_again_without_a_number() {
    let mut process = boot(3, 2, Config { retry: HOP, ..calm() });
    assert_eq!(process.packets(), [sent(4, runs(0, key(3)))]);
    assert_eq!(process.ring().packets(), [sent(4, runs(0, key(3)))]);
}

#[test]
fn who_has_no_leader_or_sees_a_greater_one_calls_in_the_end() {
    let mut process = boot(3, 1, restless());
    assert_eq!(process.effects(), [process.armed(Timer::CallAfter, CALL_AFTER)]);
    assert_eq!(process.ring().packets(), [sent(4, runs(1, key(3)))]);

    let mut process = settled(3, restless());
    assert!(process.is_quiet());
    process.peer(5, Reach::Down);
    process.peer(5, Reach::Up);
    assert_eq!(process.effects(), [process.armed(Timer::CallAfter, CALL_AFTER)]);
    assert_eq!(process.ring().packets(), [sent(4, runs(4, key(3)))]);

    let mut process = settled(3, calm());
    process.peer(5, Reach::Down);
    assert_eq!(process.peer(5, Reach::Up).effects(), [], "infinite call-after");
}

#[test]
fn a_neighbour_that_comes_up_is_told_who_leads() {
    let mut process = settled(3, restless());
    process.peer(2, Reach::Down);
    assert_eq!(process.peer(2, Reach::Up).effects(), [], "that is not the next one");
    let mut process = settled(1, restless());
    process.peer(2, Reach::Down);
    assert_eq!(process.effects(), [sent(3, leads(3, 4))]);
    assert_eq!(process.peer(2, Reach::Up).effects(), [sent(2, leads(3, 4))]);
}

#[test]
fn messages_survive_the_wire_under_their_names() {
    for key in [key(u64::MAX), retired(0)] {
        let note = runs(7, key);
        let news = Message::<Candidate> { round: u64::MAX, says: Says::Announcement(key) };
        assert_survives_the_wire(&note);
        assert_survives_the_wire(&news);
        assert_eq!((note.kind(), news.kind()), ("election", "announcement"));
    }
}

proptest! {
    #![proptest_config(fixed(256))]

    #[test]
    fn no_bytes_make_a_process_panic_and_what_is_read_is_written(
        packets in prop::collection::vec(
            (0..7_u64, 0..4_u8, 0..3_u8, 0..3_u8, 0..7_u8, any::<bool>(), 0..6_u8),
            1..60,
        ),
        incarnation in 1..3_u64,
    ) {
        let datagram = |(from, round, news, active, id, whole, then)| {
            let bytes = [round, 0, 0, 0, 0, 0, 0, 0, news, active, id, 0, 0, 0, 0, 0, 0, 0];
            (from, bytes[..if whole { 18 } else { 17 }].to_vec(), then)
        };
        let datagrams: Vec<Datagram> = packets.into_iter().map(datagram).collect();
        deliver_all(&mut boot(3, incarnation, restless()), &datagrams, |process| {
            assert!(!process.is_quiet() || process.leader().is_some(), "nobody waits for ever");
        });
    }
}
