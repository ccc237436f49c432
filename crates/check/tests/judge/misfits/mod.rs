//! Groups in which somebody is configured wrongly: an id used twice, another list of members,
//! another lockTime.
//!
//! Leases alone survive another lockTime and another list, which every request names. They do not
//! survive two processes with one id: a member is one process. That is what the runtime's gate is
//! for, modelled in [`gated`].

mod gated;

use crate::{first_breach, first_unsafe, lan};
use bellwether_check::{BrokenInvariant, FaultKind, FaultMix, Judge, Trial};
use bellwether_core::Duration;
use bellwether_protocols::choice::{Choice, Promise};
use bellwether_protocols::local_leader::{LocalLeader, Mode};
use bellwether_sim::World;
use gated::{Gated, Member};

type Layered = <LocalLeader as bellwether_core::Protocol>::Params;

/// Member `id` of a group of this many, listed as everyone lists it.
fn member(id: u64, group: u64) -> Member<Layered> {
    let list = (0..group).map(|id| (id, id)).collect();
    Member { id, list, gate: true, inner: lan(Mode::Majority).layered() }
}

/// Two that lead at once in one of so many schedules with cuts and crashes.
fn two_leaders(members: &[Member<Layered>], schedules: u64) -> Option<(u64, BrokenInvariant)> {
    let choice = Choice::from(lan(Mode::Majority));
    let nodes = members.len() as u32;
    let trouble =
        [FaultKind::Partition, FaultKind::QuickRestart, FaultKind::Crash, FaultKind::Campaign];
    let trial = Trial {
        own: false,
        validated: true,
        promise: Promise::NeverTwo,
        mix: FaultMix::only(&trouble),
        ..Trial::new(&choice, nodes, None, 1)
    };
    let mut world = World::<Gated<LocalLeader>>::new(members[0].clone());
    for (node, member) in (0..).zip(members) {
        world = world.with_params_of(node, member.clone());
    }
    first_breach(Judge::in_world(&trial, world), schedules)
}

fn expect_two(members: &[Member<Layered>], why: &str) {
    let (_, breach) = two_leaders(members, 2_000).unwrap_or_else(|| panic!("nothing broke: {why}"));
    assert_eq!(breach.invariant, "never-two", "{why}: {breach}");
}

fn without_gate(mut members: Vec<Member<Layered>>) -> Vec<Member<Layered>> {
    members.iter_mut().for_each(|member| member.gate = false);
    members
}

#[test]
fn a_group_that_is_configured_well_passes_its_own_gate() {
    let members: Vec<_> = (0..3).map(|id| member(id, 3)).collect();
    assert_eq!(two_leaders(&members, 500), None);
}

/// The place after the last is a second process that claims id 0.
#[test]
fn an_id_used_twice_has_one_voice_because_it_is_listed_at_one_place() {
    for group in [2, 3, 4, 5] {
        let mut members: Vec<_> = (0..group).map(|id| member(id, group)).collect();
        members.push(member(0, group));
        assert_eq!(two_leaders(&members, 1_000), None, "{group} members");
    }
}

/// The last member of the group finds id 0 at the second process's place: its name has two
/// addresses. A majority with the one and a majority with the other have nobody in common.
#[test]
fn an_id_at_two_places_leads_twice() {
    let mut members: Vec<_> = (0..3).map(|id| member(id, 3)).collect();
    members.push(member(0, 3));
    members[2].list[0] = (0, 3);
    expect_two(&members, "the gate is of no use if a name has two addresses");
    expect_two(&without_gate(members), "and without it neither");
}

/// The last two would be a group of their own by the list of the last one. But the other one of
/// them supports nobody by a list that is not its own, gate or not.
#[test]
fn a_list_of_its_own_gives_nobody_a_majority() {
    for group in [4, 5, 7] {
        let mut members: Vec<_> = (0..group).map(|id| member(id, group)).collect();
        let last = members.len() - 1;
        members[last].list.retain(|(id, _)| *id + 2 >= group);
        assert_eq!(two_leaders(&members, 1_000), None, "{group} members");
        // Requests name the list they are by, so that the protocol refuses another one by itself.
        assert_eq!(two_leaders(&without_gate(members), 1_000), None, "{group} without the gate");
    }
}

/// Another lockTime is refused by the protocol itself: it costs the member that has it, no more.
/// A request has the lockTime of who made it, and so have the votes for it and the lease.
#[test]
fn another_lock_time_never_makes_two() {
    for (nodes, thirds) in [(2, 2), (3, 2), (3, 4), (5, 1), (5, 6)] {
        let common = lan(Mode::Majority);
        let length = Duration::from_nanos(common.lock().as_nanos() / 3 * thirds);
        let other = common.clone().with_lock(length);
        let choice = Choice::from(common.clone());
        // With all invariants a run ends where nobody leads in time; with the one it goes on.
        let all = Trial { locks: vec![(1, length)], ..Trial::new(&choice, nodes, None, 7) };
        let never_two = Trial { own: false, promise: Promise::NeverTwo, ..all.clone() };
        for trial in [all, never_two] {
            let world = World::<LocalLeader>::new(common.layered());
            let judge = Judge::in_world(&trial, world.with_params_of(1, other.layered()));
            let breach = first_unsafe(judge, 1_000);
            assert_eq!(breach, None, "{nodes} members, one with {length}");
        }
    }
}
