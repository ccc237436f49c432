//! Voters that are gone: a leader replaces them, if it was told to.
//!
//! The address book has 1 to 7; the founding list names 1, 2 and 3. Process 3 is silent.

use super::lists::{begin_of, list_of};
use super::*;

fn told_to() -> Params {
    let replace_after = Some(ms(1000));
    valid(Config { drift_ppm: Some(0), replace_after, ..Config::default() })
}

/// Process 1, which leads by the votes of 2 for so long; what it sent to observers, and when.
fn lead(params: Params, length: u64, ready: &[u64]) -> (Process, Vec<(u64, u64)>) {
    lead_some(params, length, ready, &[])
}

/// The same, with observers that say what they are.
fn lead_some(
    params: Params,
    length: u64,
    ready: &[u64],
    standings: &[(u64, Candidacy)],
) -> (Process, Vec<(u64, u64)>) {
    let mut process = begin_of(7, Memory::First, 1, 1, params);
    for (from, candidacy) in standings {
        hear_slow(&mut process, *from, Message::Standing(*candidacy));
    }
    go_on(process, length, ready)
}

fn go_on(mut process: Process, length: u64, ready: &[u64]) -> (Process, Vec<(u64, u64)>) {
    let mut invited = Vec::new();
    while process.now() < at(length) {
        process.ring();
        if let Some(sent) = process.node().protocol().0.votes.last_request() {
            let sent = sent.since(Instant::ZERO).as_nanos() / 1_000_000;
            let list = process.node().protocol().0.list.clone().expect("it has one");
            let invites = |(to, packet): (Dest, &Packet)| match (to, &packet.body) {
                (Dest::Node(to), Message::Invite { .. }) => Some(to.0),
                _ => None,
            };
            let asked: Vec<u64> = process.sends().filter_map(invites).collect();
            let now = process.now().since(Instant::ZERO).as_nanos() / 1_000_000;
            for to in asked {
                if invited.last().is_none_or(|(last, _)| *last != to) {
                    invited.push((to, now));
                }
                if ready.contains(&to) {
                    let (asker, round, life, highest) = (1, 0, 1, Some(0));
                    let record = Message::Record { asker, round, life, highest, list: None };
                    hear(&mut process, to, record);
                }
            }
            hear(&mut process, 2, lists::named(&list, yes(sent)));
            let next = process.node().protocol().0.list.clone().expect("it has one");
            if next != list {
                hear(&mut process, 2, lists::named(&next, yes(now)));
            }
        }
    }
    (process, invited)
}

#[test]
fn a_leader_replaces_a_voter_that_it_has_not_heard_for_long() {
    let (process, invited) = lead(told_to(), 1500, &[4]);
    assert_eq!(
        list_of(&process).map(|(version, _, voters)| (version, voters)),
        Some((1, vec![1, 2, 4]))
    );
    let (to, when) = invited[0];
    assert!(to == 4 && (1000..1200).contains(&when), "{invited:?}");
}

#[test]
fn it_waits_long_enough_and_does_nothing_if_it_was_not_told_to() {
    assert_eq!(lead(told_to(), 960, &[4]).1, []);
    assert_eq!(lead(majority(), 3000, &[4]).1, []);
    let volatile =
        Config { replace_after: Some(ms(1000)), tokens: Tokens::Volatile, ..Config::default() };
    assert_eq!(lead(valid(Config { drift_ppm: Some(0), ..volatile }), 3000, &[4]).1, []);
}

#[test]
fn if_an_observer_does_not_answer_the_next_one_is_invited() {
    let (process, invited) = lead(told_to(), 3300, &[6]);
    assert_eq!(invited.iter().map(|(to, _)| *to).collect::<Vec<_>>(), [4, 5, 6]);
    assert_eq!(list_of(&process).map(|(_, _, voters)| voters), Some(vec![1, 2, 6]));
}

fn ids(invited: &[(u64, u64)]) -> Vec<u64> {
    invited.iter().map(|(to, _)| *to).collect()
}

#[test]
fn the_best_observer_is_invited_first_and_a_witness_last() {
    let standings = [(4, WITNESS), (6, priority(2)), (7, priority(9))];
    let (_, invited) = lead_some(told_to(), 5200, &[], &standings);
    assert_eq!(ids(&invited)[..5], [7, 6, 5, 4, 7], "and then from the beginning");
    let (process, _) = lead_some(told_to(), 1500, &[7], &standings);
    assert_eq!(list_of(&process).map(|(_, _, voters)| voters), Some(vec![1, 2, 7]));
}

#[test]
fn the_next_search_begins_with_the_best_one_again() {
    let (process, invited) = lead_some(told_to(), 2800, &[6], &[(5, priority(3))]);
    assert_eq!(ids(&invited), [5, 4, 6]);
    assert_eq!(list_of(&process).map(|(_, _, voters)| voters), Some(vec![1, 2, 6]));
    // The new voter falls silent, too.
    let (process, invited) = go_on(process, 4300, &[5]);
    assert_eq!(ids(&invited), [5]);
    assert_eq!(list_of(&process).map(|(_, _, voters)| voters), Some(vec![1, 2, 5]));
}
