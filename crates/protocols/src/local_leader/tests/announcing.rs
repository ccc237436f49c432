//! Announcements: how the observers of a large group learn who leads.
//!
//! The address book has all members, from 1 on; the founding list names 1, 2 and 3. The leader
//! announces itself every 500, and that is believed for 3000.

use super::lists::{committed, founding, without_3};
use super::tokens::token;
use super::*;
use crate::local_leader::announcement::FANOUT;
use alloc::collections::{BTreeMap, VecDeque};
use bellwether_core::harness::Scripted;
use bellwether_core::{Members, Protocol};

/// One of so many, in its first life.
fn one_of<P: Protocol>(size: u64, id: u64, params: P::Params) -> Harness<P> {
    let peers: Members = others(id, size).into_iter().collect();
    let peers = peers.founded_by([1, 2, 3].map(NodeId).into());
    Harness::begin(Boot::first(NodeId(id)), params, peers, Instant::ZERO, Scripted::default())
}

fn member(size: u64, id: u64) -> Process {
    one_of(size, id, majority())
}

/// Process 2, which leads since 65.
fn leader(size: u64) -> Process {
    let mut process = member(size, 2);
    process.ring();
    assert_eq!(process.now(), at(60));
    until(&mut process, 65);
    hear(&mut process, 1, yes(60));
    assert_eq!(led_until(&process), Some(at(210)));
    process
}

/// What its last step announced, and to whom.
fn announced(process: &Process) -> Vec<(u64, Announcement)> {
    let one = |(to, packet): (Dest, &Packet)| match (to, &packet.body) {
        (Dest::Node(to), Message::Announcement(news)) => Some((to.0, news.clone())),
        _ => None,
    };
    process.sends().filter_map(one).collect()
}

/// Lets a group spread what its leader announced, without these processes. Returns how often each
/// one heard of it.
fn spread(news: Vec<(u64, Announcement)>, size: u64, dead: &[u64]) -> BTreeMap<u64, usize> {
    let mut group: BTreeMap<u64, Process> = (1..=size).map(|id| (id, member(size, id))).collect();
    let mut heard = BTreeMap::new();
    let mut ways: VecDeque<_> = news.into();
    while let Some((to, news)) = ways.pop_front() {
        if dead.contains(&to) {
            continue;
        }
        *heard.entry(to).or_default() += 1;
        let process = group.get_mut(&to).expect("a member");
        hear_slow(process, 2, Message::Announcement(news));
        let forwarded = announced(process);
        assert!(forwarded.len() <= FANOUT, "{to} forwards to {}", forwarded.len());
        ways.extend(forwarded);
    }
    heard
}

#[test]
fn everyone_hears_an_announcement_twice_in_a_group_of_any_size() {
    for size in (8..40).chain([341, 1000]) {
        let news = announced(&leader(size));
        assert_eq!(news.len(), 2 * FANOUT);
        let heard = spread(news, size, &[]);
        let all: BTreeMap<u64, usize> =
            (1..=size).filter(|id| *id != 2).map(|id| (id, 2)).collect();
        assert_eq!(heard, all, "{size} members");
    }
}

#[test]
fn one_dead_process_keeps_nobody_else_from_hearing_it() {
    let news = announced(&leader(50));
    for dead in (1..=50).filter(|id| *id != 2) {
        let heard = spread(news.clone(), 50, &[dead]);
        assert_eq!(heard.len(), 48, "without {dead}");
    }
}

#[test]
fn another_announcement_takes_other_ways() {
    let mut process = leader(50);
    let first =
        |process: &Process| announced(process).iter().map(|(to, _)| *to).collect::<Vec<_>>();
    let before = first(&process);
    hear(&mut process, 1, yes(65));
    process.ring();
    assert_ne!(first(&process), before);
}

#[test]
fn where_observers_are_few_the_requests_tell_them() {
    for size in [5, 7] {
        assert_eq!(announced(&leader(size)), [], "{size} members");
    }
}

#[test]
fn a_leader_announces_itself_with_its_first_requests_and_then_now_and_then() {
    let mut process = leader(50);
    let mut times = vec![process.now()];
    let mut asked = at(65);
    while process.now() < at(1700) {
        hear(&mut process, 1, yes(asked.since(Instant::ZERO).as_nanos() / 1_000_000));
        process.ring();
        asked = process.now();
        if !announced(&process).is_empty() {
            times.push(asked);
        }
    }
    assert_eq!(times, [65, 115, 165, 665, 1165, 1665].map(at));
    let news = &announced(&leader(50))[0].1;
    assert_eq!((news.leader, news.request, news.token), (NodeId(2), request(65), 1));
    assert_eq!((news.hold, &news.list), (ms(3000), &founding()));
}

/// An announcement of process 2 to its receiver alone.
fn news(sent: u64, token: u64, hold: u64) -> Announcement {
    let (leader, request, list) = (NodeId(2), request(sent), founding());
    let (hold, last) = (ms(hold), NodeId(9));
    Announcement { leader, request, token, hold, list, last, backwards: false }
}

fn tell_of(process: &mut Process, news: Announcement) -> &mut Process {
    hear_slow(process, 8, Message::Announcement(news))
}

#[test]
fn an_observer_believes_an_announcement_for_a_while() {
    let mut process = member(50, 9);
    tell_of(&mut process, news(5, 4, 3000));
    expect(&process, &[], Some((2, 3000)));
    assert_eq!(token(&process), Some(4));
    until(&mut process, 500);
    tell_of(&mut process, news(505, 4, 3000));
    expect(&process, &[], Some((2, 3500)));
    until(&mut process, 600);
    tell_of(&mut process, news(505, 4, 3000));
    expect(&process, &[], Some((2, 3500))); // it came the other way, too
    until(&mut process, 3500);
    expect(&process, &[], None);
    tell_of(&mut process, Announcement { hold: Duration::MAX, ..news(700, 4, 0) });
    assert_eq!(process.leadership().until, at(3500) + Duration::from_secs(86_400));
}

/// A lease ends a lockTime after the request it rests on, which was sent before it was announced.
#[test]
fn an_observer_tells_when_the_lease_is_over_that_it_heard_of() {
    let end = |process: &Process| process.node().protocol().0.lease_end(process.now());
    let mut process = member(50, 9);
    assert_eq!(end(&process), None);
    tell_of(&mut process, news(5, 4, 3000));
    assert_eq!(end(&process), Some(at(150)), "though it believes for 3000");
    until(&mut process, 100);
    tell_of(&mut process, news(5, 4, 3000));
    assert_eq!(end(&process), Some(at(150)), "the other way says nothing new");
    tell_of(&mut process, news(105, 4, 3000));
    assert_eq!(end(&process), Some(at(250)));
    until(&mut process, 2000);
    assert_eq!((process.leader(), end(&process)), (Some(2), Some(at(250))), "it is over by then");
    tell_of(&mut process, news(105, 4, 0));
    assert_eq!(end(&process), None, "it leads no longer");
    let leads = leader(50);
    assert_eq!(end(&leads), led_until(&leads), "a leader knows its lease");
    let mut voter = member(50, 3);
    hear(&mut voter, 1, renew(0, &[1, 2]));
    assert_eq!(end(&voter), lock_of(&voter).map(|(_, until)| until), "a lock outlives the lease");
}

#[test]
fn what_is_old_is_neither_believed_nor_forwarded() {
    let mut process = member(50, 9);
    let far = |news| Announcement { last: NodeId(30), ..news };
    tell_of(&mut process, far(news(505, 4, 3000)));
    assert_eq!(announced(&process).len(), FANOUT);
    for old in [news(504, 4, 3000), Announcement { leader: NodeId(1), ..news(800, 3, 3000) }] {
        tell_of(&mut process, far(old));
        expect(&process, &[], Some((2, 3000)));
    }
    tell_of(&mut process, far(Announcement { leader: NodeId(1), ..news(3, 5, 3000) }));
    assert_eq!((process.leader(), token(&process)), (Some(1), Some(5)));
    assert_eq!(announced(&process).len(), FANOUT);
}

#[test]
fn nobody_believes_in_a_stranger_or_in_itself() {
    let mut process = member(50, 9);
    for leader in [9, 70] {
        let far = Announcement { leader: NodeId(leader), last: NodeId(30), ..news(5, 4, 3000) };
        tell_of(&mut process, far);
        expect(&process, &[], None);
    }
}

#[test]
fn a_leader_that_resigns_or_fails_says_so_and_observers_believe_it_at_once() {
    let mut process = leader(50);
    process.command(Command::Resign).unwrap();
    let end = announced(&process);
    assert_eq!((end.len(), end[0].1.hold, end[0].1.request), (8, Duration::ZERO, request(65)));
    let mut failing = leader(50);
    while led_until(&failing).is_some() || announced(&failing).is_empty() {
        failing.ring();
    }
    assert_eq!(announced(&failing)[0].1.hold, Duration::ZERO);
    let mut observer = member(50, 9);
    tell_of(&mut observer, news(65, 1, 3000));
    until(&mut observer, 80);
    tell_of(&mut observer, Announcement { last: NodeId(9), ..end[0].1.clone() });
    expect(&observer, &[], None);
    tell_of(&mut observer, Announcement { last: NodeId(20), ..end[0].1.clone() });
    assert_eq!(announced(&observer).len(), FANOUT, "the other way, too");
    for late in [news(65, 1, 3000), news(15, 1, 3000)] {
        tell_of(&mut observer, late);
        expect(&observer, &[], None);
    }
    let mut away = member(50, 10);
    tell_of(&mut away, news(15, 1, 3000));
    tell_of(&mut away, end[0].1.clone());
    tell_of(&mut away, news(64, 1, 3000));
    assert_eq!(away.leader(), None, "what it missed comes late");
}

#[test]
fn a_voter_forwards_announcements_and_is_not_led_by_them() {
    let mut process = member(50, 3);
    tell_of(&mut process, Announcement { last: NodeId(20), ..news(5, 4, 3000) });
    assert_eq!((announced(&process).len(), process.leader()), (FANOUT, None));
}

#[test]
fn whoever_was_removed_learns_it_from_an_announcement() {
    let mut process = member(50, 3);
    let open = Announcement { list: without_3(), ..news(5, 4, 3000) };
    tell_of(&mut process, open.clone());
    assert!(process.state().0.is_voter(), "the list may never be committed");
    tell_of(&mut process, Announcement { list: committed(without_3()), ..open });
    assert!(!process.state().0.is_voter());
    assert_eq!(process.leader(), Some(2), "now it follows");
}

#[test]
fn a_new_list_is_announced_at_once() {
    let mut process = leader(50);
    hear(&mut process, 1, yes(65));
    process.command(Command::Remove(NodeId(3))).unwrap();
    hear(&mut process, 1, lists::named(&without_3(), yes(65)));
    process.ring();
    let lists: Vec<bool> =
        announced(&process).iter().map(|(_, news)| news.list.committed).collect();
    assert_eq!(lists, [true; 8]);
}

#[test]
fn a_leader_that_resigns_right_after_a_change_says_so_too() {
    let mut process = leader(50);
    hear(&mut process, 1, yes(65));
    process.command(Command::Remove(NodeId(3))).unwrap();
    hear(&mut process, 1, lists::named(&without_3(), yes(65)));
    process.command(Command::Resign).unwrap();
    assert_eq!(announced(&process).len(), 8, "observers still believe in it");
}

#[test]
fn whoever_voted_for_a_later_leader_does_not_follow_a_former_one() {
    let mut process = member(50, 3);
    until(&mut process, 151);
    hear(&mut process, 1, lists::whole(&founding(), in_term(10, renew(150, &[1, 2]))));
    assert_eq!((process.leader(), token(&process)), (Some(1), Some(10)));
    let old = Announcement { list: committed(without_3()), ..news(5, 4, 3000) };
    tell_of(&mut process, old);
    assert!(!process.state().0.is_voter());
    assert_eq!((process.leader(), token(&process)), (Some(1), Some(10)));
}

#[test]
fn processes_with_other_address_books_serve_those_whom_they_know() {
    let mut process = member(50, 9);
    let peers: Vec<NodeId> = others(9, 50).into_iter().filter(|id| id.0 % 10 != 5).collect();
    process.set_peers(&peers);
    for (last, backwards, to) in [
        (15, false, vec![10, 11, 12, 13]), // 15 is unknown, and 14 is served by 13
        (5, true, vec![8, 7, 6]),
        (9, false, vec![]),
        (7, true, vec![8, 7]),
    ] {
        let sent = u64::from(backwards) * 100 + last;
        let told = Announcement { last: NodeId(last), backwards, ..news(sent, last + 1, 3000) };
        tell_of(&mut process, told);
        let heads: Vec<u64> = announced(&process).into_iter().map(|(to, _)| to).collect();
        assert_eq!(heads, to, "up to {last}");
        process.restart(Boot::first(NodeId(9)), Instant::ZERO);
        process.set_peers(&peers);
    }
}

/// The receivers of what it sent, over datagrams.
fn receivers(process: &Harness<LocalLeader>) -> Vec<u64> {
    let to = |to| if let Dest::Node(id) = to { id.0 } else { 0 };
    process.sends().map(|(dest, _)| to(dest)).collect()
}

#[test]
fn only_voters_hear_requests_stamps_and_releases_in_a_large_group() {
    for (size, all) in [(50, vec![1, 3]), (7, vec![0])] {
        let mut process = one_of::<LocalLeader>(size, 2, majority().layered());
        assert_eq!(receivers(&process), all, "stamps");
        process.ring();
        assert_eq!(receivers(&process), all, "a request");
        process.ring();
        assert_eq!(receivers(&process), all, "a release");
    }
}

#[test]
fn an_observer_of_a_large_group_asks_few_for_a_record_and_ever_less_often() {
    let mut process = one_of::<LocalLeader>(50, 9, majority().layered());
    let mut times = Vec::new();
    let mut asked = Vec::new();
    for round in 0..8 {
        process.ring();
        while receivers(&process).is_empty() {
            process.ring(); // the layer's own timer
        }
        let mut to = receivers(&process);
        assert_eq!(to.drain(..3).collect::<Vec<_>>(), [1, 2, 3], "the founders");
        assert_eq!(to, [10, 11, 12, 13].map(|id| id + round * 4), "and some others");
        times.push(process.now());
        asked.extend(to);
    }
    let waits: Vec<u64> =
        times.windows(2).map(|w| w[1].since(w[0]).as_nanos() / 181_000_000).collect();
    assert_eq!(waits, [1, 2, 4, 8, 16, 32, 32]);
    assert_eq!(asked.len(), 32);
}

#[test]
fn an_observer_without_a_record_asks_the_leader_that_it_follows() {
    let mut process = member(50, 9);
    tell_of(&mut process, Announcement { leader: NodeId(40), ..news(5, 4, 3000) });
    process.ring();
    let inquires = |(to, packet): (Dest, &Packet)| {
        to == Dest::Node(NodeId(40)) && matches!(packet.body, Message::Inquiry { .. })
    };
    assert!(process.sends().any(inquires));
}

#[test]
fn announcements_leave_no_stamps_and_get_no_answers() {
    use crate::local_leader::fail_aware::{Echoes, Frame};
    let mut process = one_of::<LocalLeader>(50, 3, majority().layered());
    let before = process.state().clone();
    let body = Some(Message::Announcement(Announcement { last: NodeId(3), ..news(5, 4, 3000) }));
    process.message(9, Frame { life: 1, sent: at(3), echoes: Echoes::new(), body });
    assert!(receivers(&process).is_empty());
    assert_eq!(process.state(), &before);
}
