//! Newcomers, and processes that have forgotten.

use super::*;

fn newcomer() -> Process {
    boot(Boot { incarnation: 2, ..Boot::first(NodeId(3)) }, &[4], config(), &[])
}

const ANSWER: Duration = Duration::from_millis(400);
const LATER: RoundId = RoundId { election: 4, number: 2 };

#[test]
fn whoever_has_lived_before_asks_what_has_happened() {
    let mut process = newcomer();
    assert_eq!(process.effects(), [to_all(Message::Join(1)), process.armed(Timer::Phase, ANSWER)]);
    for attempt in 2..=5 {
        process.ring();
        assert_eq!(process.packets(), [to_all(Message::Join(attempt))]);
    }
    process.ring();
    assert_eq!((process.packets(), process.is_quiet()), (vec![], true), "nobody is there");
    for (join, asks) in [(Join::Never, false), (Join::Always, true)] {
        for incarnation in [1, 2] {
            let boot_as = Boot { incarnation, ..Boot::first(NodeId(3)) };
            let process = boot(boot_as, &[4], Config { join, ..config() }, &[]);
            assert_eq!(!process.packets().is_empty(), asks);
        }
    }
}

#[test]
fn a_newcomer_follows_whom_the_others_follow() {
    let mut process = newcomer();
    process.message(5, Message::Welcome(LATER, Some(NodeId(1))));
    assert_eq!((process.leader(), round(&process)), (Some(1), in_round(2)));
    assert!(process.is_quiet());
    process.message(4, Message::Welcome(LATER, Some(NodeId(1))));
    assert_eq!(process.effects(), []);
    process.command(Command::Campaign).unwrap();
    assert_eq!(process.packets()[0], to_all(Message::Initiate(RoundId::first_of(5))));
}

#[test]
fn a_newcomer_that_is_told_two_leaders_has_noticed_something() {
    let mut process = newcomer();
    process.message(5, Message::Welcome(LATER, Some(NodeId(1))));
    process.draws(&[0]).message(4, Message::Welcome(LATER, Some(NodeId(2))));
    assert_eq!(process.leader(), None);
    process.ring();
    assert_eq!(process.packets()[0], to_all(Message::Initiate(LATER.next())));
}

#[test]
fn a_newcomer_in_the_middle_of_a_round_waits_for_its_end() {
    let mut process = newcomer();
    process.message(5, Message::Welcome(FIRST, None));
    assert_eq!((process.leader(), process.is_quiet()), (None, false));
    process.message(6, named(1));
    process.ring();
    assert_eq!(process.leader(), Some(1));
}

#[test]
fn where_nothing_has_happened_one_answer_is_enough() {
    let mut process = newcomer();
    process.message(5, Message::Welcome(RoundId::default(), None));
    assert_eq!((process.leader(), process.is_quiet()), (None, true));
}

#[test]
fn about_k_members_answer_and_take_the_newcomer_into_their_view() {
    let config = Config { size: Size::Given(1_000), ..config() };
    let answers = |attempt| {
        let asked = |me| {
            let mut process = start_with(me, &[], config.clone());
            process.message(5_000, Message::Join(attempt));
            process.packets()
        };
        let all: Vec<Asked> = (0..1_000).flat_map(asked).collect();
        let welcome = to(5_000, Message::Welcome(RoundId::default(), None));
        assert!(all.iter().all(|answer| *answer == welcome));
        all.len()
    };
    assert!((1..=16).contains(&answers(1)), "{}", answers(1));
    assert!((35..=80).contains(&answers(4)), "{}", answers(4));
    assert_eq!(answers(6), 0, "nobody asks so often");
    let mut process = relay(3, &[]);
    process.message(9, Message::Join(1));
    process.message(8, Message::Initiate(FIRST));
    assert_eq!(process.packets(), [to(9, Message::Prefer(FIRST, itself(3)))]);
}

#[test]
fn whoever_asks_itself_does_not_answer() {
    let mut process = newcomer();
    process.message(4, Message::Join(1));
    assert_eq!(process.effects(), []);
}

#[test]
fn who_calls_an_election_that_is_over_is_told_and_calls_another() {
    let mut member = relay(3, &[4]);
    member.message(9, Message::Final(LATER, NodeId(1))).ring();
    member.message(4, Message::Initiate(FIRST));
    let told = Message::Welcome(LATER, Some(NodeId(1)));
    assert_eq!(member.effects(), [to(4, told.clone())]);
    let mut caller = relay(4, &[3]);
    caller.command(Command::Campaign).unwrap();
    caller.message(3, told.clone());
    assert_eq!(caller.packets()[0], to_all(Message::Initiate(RoundId::first_of(5))));
    caller.message(5, told.clone());
    assert_eq!(caller.effects(), [], "once is enough");
    let mut other = relay(4, &[3]);
    other.message(9, Message::Initiate(FIRST));
    other.message(3, told);
    assert_eq!(other.leader(), Some(1), "it did not call");
}
