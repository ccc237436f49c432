//! Tests of who hears whom by multicast, and who gets a copy.

use super::*;
use crate::directory::Times;
use crate::frame::ConfigDigest;
use bellwether_protocols::choice::Choice;
use bellwether_protocols::local_leader;

const GROUP: &str = "239.1.2.3:7401";

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// A directory of so many members, as member 1 has it.
fn directory(members: u64) -> Directory {
    let rows: Vec<String> = (1..=members).map(|id| format!("{id}=10.0.0.{id}:7400")).collect();
    let peers = rows.join(",").parse().unwrap();
    let times = Times { forget: Duration::from_secs(9), absent: Duration::from_secs(9) };
    Directory::new(NodeId(1), &peers, None, times, 99, || {}).unwrap()
}

fn frame(sender: u64, incarnation: u64, sequence: u64) -> Opened {
    let (kind, digest) = (Kind::Message, ConfigDigest::open(""));
    Opened { sender: NodeId(sender), incarnation, sequence, for_all: true, kind, digest }
}

/// What member 1 knows after its report 0, which these heard.
fn heard_by(members: &[u64]) -> Multicast {
    let mut own = Multicast::new(GROUP.parse().unwrap(), None);
    own.reported(0);
    for id in members {
        own.hear(&frame(*id, 1, 0), false, at(0));
        own.acknowledged(NodeId(*id), 0, at(0));
    }
    own
}

/// Sends a broadcast, which these acknowledge if it is multicast; returns who got a copy, or
/// nothing if it was sent to each.
fn sends(
    own: &mut Multicast,
    number: u64,
    directory: &Directory,
    answers: &[u64],
) -> Option<Vec<u64>> {
    own.choose(number, directory, at(0))?;
    let mut copies = Vec::new();
    directory.listed(&mut |id, _| {
        if !own.covers(id) {
            copies.push(id.0);
        }
    });
    answers.iter().for_each(|id| own.acknowledged(NodeId(*id), number, at(0)));
    Some(copies)
}

#[test]
fn a_broadcast_is_multicast_once_two_members_hear_it_and_copied_to_the_others() {
    let group = directory(5);
    assert_eq!(sends(&mut heard_by(&[]), 1, &group, &[]), None);
    assert_eq!(sends(&mut heard_by(&[3]), 1, &group, &[]), None, "that saves nothing");
    assert_eq!(sends(&mut heard_by(&[2, 3, 4, 5]), 1, &group, &[]), Some(vec![]));
    assert_eq!(sends(&mut heard_by(&[2, 5]), 1, &group, &[]), Some(vec![3, 4]));
}

#[test]
fn after_a_multicast_that_nobody_heard_the_next_one_is_sent_to_each() {
    let group = directory(5);
    let mut own = heard_by(&[2, 3, 4, 5]);
    assert_eq!(sends(&mut own, 1, &group, &[2, 3, 4, 5]), Some(vec![]));
    assert_eq!(sends(&mut own, 2, &group, &[]), Some(vec![]), "it is lost");
    assert_eq!(sends(&mut own, 3, &group, &[]), None);
    assert_eq!(sends(&mut own, 4, &group, &[]), None);
    // It is used again when reports are heard again.
    own.reported(5);
    [2, 3, 4, 5].iter().for_each(|id| own.acknowledged(NodeId(*id), 5, at(0)));
    assert_eq!(sends(&mut own, 6, &group, &[]), Some(vec![]));
}

/// The same where not every voter answers.
fn some_answer(members: &[u64]) -> Multicast {
    Multicast { some_answer: true, ..heard_by(members) }
}

#[test]
fn a_voter_that_missed_one_gets_a_copy_while_the_others_need_none() {
    let group = directory(5);
    let mut own = heard_by(&[2, 3, 4, 5]);
    assert_eq!(sends(&mut own, 1, &group, &[2, 3, 4]), Some(vec![]));
    assert_eq!(sends(&mut own, 2, &group, &[2, 3, 4]), Some(vec![5]));
    assert_eq!(sends(&mut own, 3, &group, &[2, 3, 4, 5]), Some(vec![5]));
    assert_eq!(sends(&mut own, 4, &group, &[2, 3, 4, 5]), Some(vec![]), "it hears again");
}

#[test]
fn where_some_answer_a_voter_may_miss_one_of_two() {
    let group = directory(5);
    let mut own = some_answer(&[2, 3, 4, 5]);
    for (number, silent) in (1..40).zip([2, 3, 4, 5].into_iter().cycle()) {
        let answer: Vec<u64> = (2..=5).filter(|id| *id != silent).collect();
        assert_eq!(sends(&mut own, number, &group, &answer), Some(vec![]));
    }
    assert_eq!(sends(&mut own, 40, &group, &[2, 3, 4]), Some(vec![]));
    assert_eq!(sends(&mut own, 41, &group, &[2, 3, 4]), Some(vec![]));
    assert_eq!(sends(&mut own, 42, &group, &[2, 3, 4]), Some(vec![5]), "it missed two");
}

#[test]
fn where_some_answer_a_multicast_that_less_than_half_heard_is_not_trusted_again() {
    let group = directory(5);
    let mut own = some_answer(&[2, 3, 4, 5]);
    assert_eq!(sends(&mut own, 1, &group, &[2]), Some(vec![]));
    assert_eq!(sends(&mut own, 2, &group, &[2]), None, "only one is covered");
    let mut own = some_answer(&[2, 3, 4, 5]);
    assert_eq!(sends(&mut own, 1, &group, &[2, 3]), Some(vec![]));
    assert_eq!(sends(&mut own, 2, &group, &[2]), Some(vec![]), "half of them is enough");
    assert_eq!(sends(&mut own, 3, &group, &[]), None);
}

#[test]
fn who_votes_answers_and_who_observes_reports() {
    let (group, voters) = (directory(5), Some([1, 2, 3].map(NodeId).to_vec()));
    let mut own = Multicast { voters, ..heard_by(&[2, 3, 4, 5]) };
    for number in 1..50 {
        assert_eq!(sends(&mut own, number, &group, &[2, 3]), Some(vec![]));
    }
    for (report, copies) in [(50, vec![]), (52, vec![]), (54, vec![4, 5])] {
        own.reported(report);
        assert_eq!(sends(&mut own, report + 1, &group, &[2, 3]), Some(copies));
    }
}

#[test]
fn whoever_misses_three_reports_does_not_hear() {
    let group = directory(3);
    let mut own = heard_by(&[2, 3]);
    for (report, hear) in [(1, true), (2, true), (3, false)] {
        own.reported(report);
        assert_eq!(own.status(2, at(0)).heard_by.len(), if hear { 2 } else { 0 });
    }
    assert_eq!(sends(&mut own, 4, &group, &[]), None);
}

#[test]
fn what_a_former_incarnation_sent_is_not_acknowledged() {
    let group = directory(3);
    let mut own = heard_by(&[2, 3]);
    own.begin_again();
    assert_eq!(sends(&mut own, 0, &group, &[]), None);
    own.reported(1);
    [2, 3].iter().for_each(|id| own.acknowledged(NodeId(*id), 7, at(0)));
    assert_eq!(sends(&mut own, 2, &group, &[]), None, "7 was never sent");
    [2, 3].iter().for_each(|id| own.acknowledged(NodeId(*id), 1, at(0)));
    assert_eq!(sends(&mut own, 3, &group, &[2, 3]), Some(vec![]));
    own.hear(&frame(2, 2, 0), false, at(0));
    assert!(!own.status(2, at(0)).heard_by.contains(&2), "it has restarted");
}

#[test]
fn what_a_command_causes_goes_to_each() {
    let group = directory(5);
    let mut own = heard_by(&[2, 3, 4, 5]);
    own.direct = true;
    assert_eq!(sends(&mut own, 1, &group, &[]), None);
    own.direct = false;
    assert_eq!(sends(&mut own, 2, &group, &[]), Some(vec![]));
}

#[test]
fn a_message_acknowledges_what_was_heard_by_multicast_alone() {
    let mut own = Multicast::new(GROUP.parse().unwrap(), None);
    let to = Dest::Node(NodeId(2));
    own.hear(&frame(2, 1, 5), false, at(0));
    assert_eq!(own.front(to, 9), None);
    for (number, by_multicast) in [(7, true), (6, true), (8, false)] {
        own.hear(&frame(2, 1, number), by_multicast, at(0));
        assert_eq!(own.front(to, 9), Some(7_u64.to_le_bytes()));
    }
    assert_eq!(own.front(to, BODY_MAX - NUMBER), Some(7_u64.to_le_bytes()));
    assert_eq!(own.front(to, BODY_MAX - NUMBER + 1), None, "it would not fit");
    assert_eq!(own.front(Dest::Everyone, 9), None);
    own.hear(&frame(2, 2, 0), false, at(0));
    assert_eq!(own.front(to, 9), None, "it has restarted");
    let mut body = [&7_u64.to_le_bytes()[..], b"hello"].concat();
    assert_eq!((take_number(&mut body), body.as_slice()), (Some(7), &b"hello"[..]));
    assert_eq!(take_number(&mut body), None);
    assert_eq!(body, b"hello");
}

#[test]
fn a_report_is_read_as_it_was_written_and_goes_on_where_it_ended() {
    let mut own = Multicast::new(GROUP.parse().unwrap(), None);
    let all = 2..=150_u64;
    all.clone().for_each(|id| own.hear(&frame(id, 1, id * 3), true, at(id)));
    let (lately, mut told) = (Duration::from_millis(1500), Vec::new());
    for _ in 0..3 {
        own.write(lately, at(1500));
        assert!(own.body.len() <= BODY_MAX);
        told.extend(rows(&own.body).unwrap());
    }
    let expected: Vec<_> = all.map(|id| (NodeId(id), id * 3)).collect();
    assert_eq!(told, expected);
    own.write(lately, at(1600));
    assert_eq!(rows(&own.body).unwrap().next(), Some((NodeId(100), 300)), "others fell silent");
    for wrong in [&[0; 15][..], &[0; 17], &[0; BODY_MAX + 1]] {
        assert!(!own.on_report(NodeId(2), NodeId(1), wrong, at(0)));
    }
    assert!(own.on_report(NodeId(2), NodeId(1), &[], at(0)));
}

/// Leases whose messages take up to 10 ms.
fn leases() -> Leases {
    let params = local_leader::Params::try_from(local_leader::Config::default()).unwrap();
    Choice::from(params).profile().leases.unwrap()
}

#[test]
fn a_member_that_hears_multicasts_too_late_gets_the_next_broadcast_directly() {
    let (group, mut own) = (directory(4), heard_by(&[2, 3, 4]));
    let late = leases().round_trip / 2 + Duration::from_millis(1);
    own.in_time = leases().round_trip / 2;
    assert_eq!(sends(&mut own, 1, &group, &[2, 3]), Some(vec![]));
    own.acknowledged(NodeId(4), 1, at(0) + late);
    assert_eq!(sends(&mut own, 2, &group, &[2, 3]), Some(vec![4]));
    own.reported(3);
    own.acknowledged(NodeId(4), 3, at(0) + late);
    assert_eq!(sends(&mut own, 4, &group, &[]), Some(vec![]), "it heard a later report");
}

#[test]
fn a_frame_for_one_member_is_not_heard_by_multicast_whoever_sends_it_there() {
    let mut own = Multicast::new(GROUP.parse().unwrap(), Some(leases()));
    own.hear(&Opened { for_all: false, ..frame(2, 1, 5) }, true, at(0));
    assert_eq!(own.front(Dest::Node(NodeId(2)), 9), None);
    own.hear(&frame(2, 1, 6), true, at(0));
    assert_eq!(own.front(Dest::Node(NodeId(2)), 9), Some(6_u64.to_le_bytes()));
}
