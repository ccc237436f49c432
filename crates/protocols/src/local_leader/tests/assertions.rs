//! Assertions on which safety rests: they stop a process before it acts on a state that breaks a
//! rule.
//!
//! No message leads to such a state, so these tests make it by hand.

use super::*;
use crate::local_leader::lock::Lock;
use bellwether_core::harness::Scripted;
use bellwether_core::{Env, Members};

/// Counts its votes again, with this lock; whether it then needs no more votes.
fn decide_with(lock: impl FnOnce(&mut Lock)) -> bool {
    decide(&leader(majority()), lock)
}

/// The same in this group.
fn decide(process: &Process, lock: impl FnOnce(&mut Lock)) -> bool {
    let params = process.params();
    let mut hall = process.node().protocol().0.clone();
    lock(hall.lock.as_mut().expect("a leader supports itself"));
    let peers: Members = others(1, 5).into_iter().collect();
    let (mut entropy, mut effects) = (Scripted::default(), Vec::new());
    let mut env = Env { now: process.now(), peers: &peers, entropy: &mut entropy };
    hall.decide(&mut Cx::new(&mut env, params, &mut effects))
}

#[test]
fn a_lease_that_its_lock_covers_is_taken() {
    decide_with(|_| ());
    decide_with(|lock| lock.until = at(170));
}

#[test]
#[should_panic(expected = "a lease never outlives its holder's lock")]
fn a_lease_that_would_outlive_its_lock_is_not_taken() {
    decide_with(|lock| lock.until = at(170) - NANO);
}

#[test]
#[should_panic(expected = "a lease never outlives its holder's lock")]
fn a_lease_is_not_taken_while_the_lock_is_another_ones() {
    decide_with(|lock| lock.to = Some(NodeId(2)));
}

/// Process 1, whose lease by the founding list ends later than the one that the votes for its list
/// with a shorter lockTime give.
fn led_by_the_list_before() -> Process {
    let mut process = lengths::leader(majority());
    lengths::set(&mut process, 100).expect("it leads");
    hear(&mut process, 2, lists::named(&lengths::lasting(100), yes(25)));
    assert_eq!(led_until(&process), Some(at(170)));
    process
}

#[test]
fn a_lease_by_the_list_before_is_kept_while_its_lock_covers_it() {
    decide(&led_by_the_list_before(), |lock| lock.until = at(170));
}

#[test]
#[should_panic(expected = "a lease never outlives its holder's lock")]
fn a_lease_by_the_list_before_does_not_outlive_its_lock() {
    decide(&led_by_the_list_before(), |lock| lock.until = at(170) - NANO);
}

/// A supporter of 1, locked at zero for 150 ms, is locked to 2 at this millisecond.
fn lock_to_another(now: u64) {
    let mut process = start(3, majority());
    hear(&mut process, 1, ask(0));
    assert_eq!(lock_of(&process), Some((1, at(150))));
    let mut hall = process.node().protocol().0.clone();
    let params = majority();
    let lock = Lock::new(Some(NodeId(2)), request(now), (at(now), ms(150)), false, &params);
    hall.lock(lock, at(now), &params);
}

#[test]
fn a_lock_that_has_lapsed_changes_its_holder() {
    lock_to_another(151);
}

#[test]
#[should_panic(expected = "a lock changes its holder only after it has lapsed or was released")]
fn a_lock_that_holds_does_not_change_its_holder() {
    lock_to_another(150);
}
