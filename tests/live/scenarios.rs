//! What can go wrong in a group of leases, with 3 and with 5 members, in a network of namespaces.
//!
//! After each, the time to a new leader is held against κ of the parameters, and what the members
//! recorded is judged by the same invariants as a simulation.

use crate::lab::clock::{now, sleep, sleep_until};
use crate::lab::group::{Ground, Group, Shape};
use crate::lab::network::Family;
use crate::lab::relay::Weather;
use crate::stage;
use bellwether::core::{Duration, Entropy};
use bellwether::protocols::local_leader::Tokens;
use bellwether::sim::{RunSeed, StreamPurpose};

const SIZES: [u64; 2] = [3, 5];

/// Runs a story with a settled group of each size and its leader, then has it judged.
fn in_groups(story: impl Fn(&mut Group, u64)) {
    let _stage = stage();
    let mut luck = RunSeed::new(1, 0).world(StreamPurpose::Caller(0));
    for size in SIZES {
        println!("{size} members");
        let mut group = Group::started(Shape::lan(size));
        group.settled(&group.ids());
        // Some part of a lease.
        sleep(Duration::from_nanos(luck.below(1 << 27)));
        let leader = group.settled(&group.ids());
        story(&mut group, leader);
        group.calm();
        group.acquit();
    }
}

#[test]
fn a_leader_that_crashes_is_replaced_and_follows_when_it_is_back() {
    in_groups(|group, leader| {
        let begun = group.crash(leader);
        let (next, took) = group.replaced(leader, begun);
        group.assert_within("crash", took, group.failover(0), begun);
        group.restart(leader);
        assert_eq!(group.settled(&group.ids()), next, "who leads goes on leading");
    });
}

#[test]
fn as_many_may_crash_as_a_majority_can_do_without() {
    in_groups(|group, first| {
        let mut gone = vec![first];
        let mut begun = group.crash(first);
        let (mut leader, _) = group.replaced(first, begun);
        if group.ids().len() == 5 {
            group.settled(&group.without(&gone));
            begun = group.crash(leader);
            gone.push(leader);
            let (next, took) = group.replaced(leader, begun);
            group.assert_within("second crash", took, group.failover(1), begun);
            leader = next;
        }
        assert_eq!(group.settled(&group.without(&gone)), leader);
        // One more, and no majority is left: nobody may lead.
        let last = group.without(&gone).into_iter().find(|id| *id != leader);
        let last = last.expect("there are at least two of them");
        group.crash(last);
        begun = now(); // until then it may have answered a request
        let over = group.deposed(leader, begun);
        group.assert_within("a leader without a majority", over, group.params().lock(), begun);
        let silence = now();
        group.calm();
        assert_eq!(group.log.reigns(silence), 0, "nobody leads a minority");
        // And back.
        let back = group.restart(last);
        let (_, took) = group.replaced(0, back);
        group.assert_within("majority again", took, group.kappa(), back);
    });
}

#[test]
fn a_leader_that_is_asked_to_stop_hands_over() {
    in_groups(|group, leader| {
        let begun = group.stop(leader);
        let (_, took) = group.replaced(leader, begun);
        // It need not be waited for: its supporters are free at once.
        group.assert_within("graceful stop", took, group.params().lock(), begun);
        let status = group.member(leader).wait();
        assert!(status.success(), "{status}");
    });
}

#[test]
fn a_leader_that_resigns_goes_on_as_a_member() {
    in_groups(|group, leader| {
        let begun = now();
        group.ask("resign", leader, &[]).unwrap_or_else(|error| panic!("{error}"));
        let (next, took) = group.replaced(leader, begun);
        group.assert_within("resignation", took, group.params().lock(), begun);
        assert_eq!(group.settled(&group.ids()), next);
    });
}

#[test]
fn a_pause_shorter_than_the_lease_goes_unnoticed() {
    in_groups(|group, leader| {
        let begun = group.pause(leader);
        sleep_until(begun + Duration::from_millis(60));
        group.resume(leader);
        group.calm();
        group.assert_unchanged("a pause of 60 ms", begun);
    });
}

#[test]
fn a_leader_that_pauses_for_longer_is_replaced_and_knows_it_when_it_wakes_up() {
    in_groups(|group, leader| {
        let begun = group.pause(leader);
        let (next, took) = group.replaced(leader, begun);
        group.assert_within("pause", took, group.failover(0), begun);
        sleep(Duration::from_millis(300));
        let woken = group.resume(leader);
        assert_eq!(group.settled(&group.ids()), next);
        let mut since = group.log.since(woken).into_iter().filter(|said| said.id == leader);
        assert!(!since.any(|said| said.leads()), "it never thinks that it still leads");
    });
}

#[test]
fn a_leader_that_is_cut_off_silently_is_replaced() {
    in_groups(|group, leader| {
        let begun = group.cut_silently(leader);
        let (next, took) = group.replaced(leader, begun);
        group.assert_within("silent cut", took, group.failover(0), begun);
        let over = group.deposed(leader, begun);
        group.assert_within("its own end", over, group.params().lock(), begun);
        group.heal();
        assert_eq!(group.settled(&group.ids()), next);
    });
}

#[test]
fn a_leader_whose_link_is_down_is_replaced() {
    in_groups(|group, leader| {
        let begun = group.link_down(leader);
        let (next, took) = group.replaced(leader, begun);
        group.assert_within("link down", took, group.failover(0), begun);
        group.heal();
        assert_eq!(group.settled(&group.ids()), next);
    });
}

#[test]
fn a_leader_that_hears_nobody_is_replaced() {
    in_groups(|group, leader| {
        let begun = group.cut_one_way(&group.without(&[leader]), &[leader]);
        // What it asks for still binds the others, until it gives up.
        let (_, took) = group.replaced(leader, begun);
        group.assert_within("deaf leader", took, group.kappa(), begun);
        group.heal();
        group.settled(&group.ids());
    });
}

#[test]
fn a_leader_that_nobody_hears_is_replaced() {
    in_groups(|group, leader| {
        let begun = group.cut_one_way(&[leader], &group.without(&[leader]));
        let (_, took) = group.replaced(leader, begun);
        group.assert_within("mute leader", took, group.kappa(), begun);
        group.heal();
        group.settled(&group.ids());
    });
}

#[test]
fn a_leader_with_a_majority_leads_on_though_one_member_hears_it_through_nobody() {
    in_groups(|group, leader| {
        // The leader and the other hear everybody else, but not each other.
        let other = group.without(&[leader])[1];
        let begun = group.cut_between(&[leader], &[other]);
        group.calm();
        group.assert_unchanged("a link that is missing", begun);
        group.heal();
        assert_eq!(group.settled(&group.ids()), leader);
    });
}

#[test]
fn a_leader_in_the_smaller_part_ends_and_all_agree_when_the_parts_are_joined() {
    in_groups(|group, leader| {
        let mut small = vec![leader];
        if group.ids().len() == 5 {
            small.push(group.without(&[leader])[0]);
        }
        let large = group.without(&small);
        let begun = group.cut_between(&small, &large);
        let (next, took) = group.replaced(leader, begun);
        assert!(large.contains(&next), "{next} leads a minority");
        group.assert_within("split", took, group.kappa(), begun);
        group.calm();
        let healed = group.heal();
        assert_eq!(group.settled(&group.ids()), next);
        let agreed = group.log.since(healed).into_iter().map(|said| said.t).max();
        let took = agreed.map_or(Duration::ZERO, |agreed| agreed.since(healed));
        group.assert_within("joined", took, group.kappa(), healed);
    });
}

#[test]
fn a_leader_that_is_back_before_its_locks_lapse_is_bound_to_nobody() {
    in_groups(|group, leader| {
        let begun = group.crash(leader);
        let back = group.restart(leader);
        let down = back.since(begun);
        let lock = group.params().lock();
        assert!(down < lock + group.stalls.total(begun), "it was down for {down}");
        // Whoever it is, also itself: but not before its former life's lease is over, or its
        // guardian has said that it is dead, which may be before it is back.
        let (_, took) = group.replaced(0, begun);
        group.assert_within("quick restart", took, group.kappa() + down, begun);
        group.settled(&group.ids());
    });
}

#[test]
fn members_that_start_at_once_soon_have_a_leader() {
    let _stage = stage();
    for size in SIZES {
        let mut group = Group::new(Shape::lan(size));
        let begun = now();
        group.start_all();
        let (_, took) = group.replaced(0, begun);
        group.assert_within("first election", took, group.kappa(), begun);
        group.settled(&group.ids());
        group.calm();
        group.acquit();
    }
}

#[test]
fn a_better_member_that_comes_late_does_not_depose_a_leader() {
    let _stage = stage();
    for size in SIZES {
        let mut group = Group::new(Shape::lan(size));
        (2..=size).for_each(|id| group.start(id));
        let leader = group.settled(&group.without(&[1]));
        let begun = now();
        group.start(1);
        assert_eq!(group.settled(&group.ids()), leader);
        group.calm();
        group.assert_unchanged("a better one comes", begun);
        group.acquit();
    }
}

/// With tokens that are kept, what is stored is compared with the proof, too.
#[test]
fn durable_tokens_grow_while_leaders_are_killed_cut_off_and_paused() {
    let _stage = stage();
    let mut group = Group::started(Shape { tokens: Tokens::Durable, ..Shape::lan(3) });
    let leader = group.settled(&group.ids());
    let begun = group.crash(leader);
    let (next, took) = group.replaced(leader, begun);
    group.assert_within("crash", took, group.failover(0), begun);
    group.restart(leader);
    assert_eq!(group.settled(&group.ids()), next, "who leads goes on leading");
    let begun = group.cut_silently(next);
    let (third, took) = group.replaced(next, begun);
    group.assert_within("cut", took, group.failover(1), begun);
    group.heal();
    group.settled(&group.ids());
    let begun = group.pause(third);
    let (_, took) = group.replaced(third, begun);
    group.assert_within("pause", took, group.failover(1), begun);
    group.resume(third);
    group.settled(&group.ids());
    group.calm();
    let verdict = group.acquitted();
    for rule in ["never-two", "tokens-grow", "follows-the-proof"] {
        assert_eq!(verdict["invariants"][rule]["verdict"], "holds", "{rule}: {verdict}");
    }
}

/// A crash in a group that stands on other ground.
fn crash_on(ground: Ground) {
    let _stage = stage();
    let mut group = Group::started(Shape { ground, ..Shape::lan(3) });
    let leader = group.settled(&group.ids());
    let begun = group.crash(leader);
    let (_, took) = group.replaced(leader, begun);
    group.assert_within("crash", took, group.kappa(), begun);
    group.restart(leader);
    group.settled(&group.ids());
    group.calm();
    group.acquit();
}

#[test]
fn leases_work_over_ipv6() {
    crash_on(Ground::Listed(Family::V6));
}

#[test]
fn members_find_each_other_by_multicast() {
    crash_on(Ground::Multicast(Family::V4));
}

#[test]
fn members_find_each_other_by_multicast_over_ipv6() {
    crash_on(Ground::Multicast(Family::V6));
}

#[test]
fn members_find_each_other_by_name() {
    crash_on(Ground::Named);
}

#[test]
fn leases_work_in_bad_weather() {
    crash_on(Ground::Relayed(Weather {
        seed: 1,
        delay: Duration::from_micros(200),
        jitter: Duration::from_millis(3),
        lost: 10,
        doubled: 100,
    }));
}
