//! Leases whose members take turns, live: supporters answer for each other through a tree, and
//! everybody leads for a while.

use crate::lab::clock::{now, sleep};
use crate::lab::group::{Ground, Group, Shape};
use crate::stage;
use bellwether::core::Duration;
use bellwether::protocols::local_leader::{Config, Params};

/// Five members on the loopback that are started with these flags, too.
fn started(flags: &[&str]) -> Group {
    let mut group = Group::new(Shape { ground: Ground::Loopback, ..Shape::lan(5) });
    group.give_flags(flags);
    group.start_all();
    group
}

#[test]
fn with_a_tree_two_members_answer_for_all_and_the_leader_stays() {
    let _stage = stage();
    let mut group = started(&["--tree", "2"]);
    let leader = group.settled(&group.ids());
    let since = now();
    sleep(Duration::from_secs(3));
    group.assert_unchanged("with a tree", since);
    assert_eq!(group.settled(&group.ids()), leader);
    let all: Vec<usize> = group.ids().iter().map(|id| group.received(*id, "collation")).collect();
    let at_leader = group.received(leader, "collation");
    println!("collated answers by receiver: {all:?}, and {leader} leads");
    // Of its four supporters one answers for itself and two others; who that is changes each time.
    let renewals = Duration::from_secs(3).as_nanos() / group.params().renew().as_nanos();
    assert!(at_leader as u64 > renewals / 2, "{at_leader} answers to {renewals} renewals");
    let relayed = all.iter().sum::<usize>() - at_leader;
    assert!(relayed as u64 > renewals, "{relayed} answers were relayed");
    group.acquit();
}

#[test]
fn every_member_leads_within_as_many_rotations_as_there_are_members() {
    let _stage = stage();
    let mut group = started(&["--preempt", "--rotate-after", "500ms"]);
    let after = Some(Duration::from_millis(500));
    let config = Config { preempt: true, rotate_after: after, ..Config::default() };
    let params = Params::try_from(config).expect("they are valid");
    let rotation = params.rotation().expect("leadership goes round");
    let first = group.settled(&group.ids());
    let since = group.leads_since(first);
    let took = group.all_led(since);
    group.assert_within("everybody led", took, rotation * 5, since);
    group.acquit();
}
