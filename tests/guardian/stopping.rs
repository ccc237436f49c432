//! A command that is asked to end has the time that its member leaves it, and never more than its
//! permission.

use crate::member::{LEASE, Member, PLAIN, STUBBORN, Setup, WITHOUT_CGROUP, now, send};
use bellwether_core::Duration;
use rustix::process::Signal;
use std::thread;

/// Longer than anybody waits here.
const LONG: &str = "stop 600000";

/// A member whose stubborn command was asked to end, and is permitted until then.
fn asked_to_end(setup: Setup, permission: u64, stop: &str) -> Member {
    let mut member = Member::set_up(setup, STUBBORN);
    member.permit(permission);
    member.expect_started();
    member.expect_up(4);
    member.say(stop);
    member.expect("cmd asked to end");
    member
}

#[test]
fn a_command_that_is_ending_has_its_time_while_it_is_permitted_and_is_killed_then() {
    for setup in [PLAIN, WITHOUT_CGROUP] {
        if !setup.is_possible() {
            continue;
        }
        let begun = now();
        let mut member = asked_to_end(setup, LEASE, "stop 3500");
        let asked = now();
        while now() < begun + Duration::from_millis(LEASE + 500) {
            assert!(member.something_lives(), "it has its time, beyond its first permission");
            thread::sleep(std::time::Duration::from_millis(200));
            member.permit(LEASE);
        }
        member.permit(600_000);
        let gone = member.gone();
        assert!(gone >= begun + Duration::from_millis(3500), "{gone} is too early for {begun}");
        assert!(gone < asked + Duration::from_secs(15), "it was killed by then, and not later");
        member.expect("report Ended");
        member.finish();
    }
}

#[test]
fn a_command_that_is_ending_ends_with_its_permission_if_nobody_extends_that() {
    for setup in [PLAIN, WITHOUT_CGROUP] {
        if !setup.is_possible() {
            continue;
        }
        let mut member = asked_to_end(setup, 600_000, LONG);
        let until = member.permit(LEASE);
        let gone = member.gone();
        assert!(gone < until, "{gone} is after {until}");
        member.expect("report Ended");
        member.permit(LEASE);
        member.expect_started(); // the next run is one like any other
        member.expect_up(4);
        member.finish();
    }
}

/// Stopped, hanging or cut off: no extension comes.
#[test]
fn a_stopped_member_does_not_prolong_the_end_of_its_command() {
    let mut member = asked_to_end(PLAIN, 600_000, LONG);
    let until = member.permit(LEASE);
    send(member.pid(), Signal::STOP);
    let gone = member.gone();
    assert!(gone < until, "{gone} is after {until}");
    send(member.pid(), Signal::CONT);
    member.expect("report Ended");
    member.finish();
}

#[test]
fn a_stopped_guardian_does_not_prolong_the_end_of_a_command() {
    let mut member = asked_to_end(PLAIN, 600_000, LONG);
    let until = member.permit(LEASE);
    thread::sleep(std::time::Duration::from_millis(50)); // it has read that
    send(member.guardian, Signal::STOP);
    member.permit(600_000);
    let gone = member.gone();
    assert!(gone < until, "{gone} is after {until}");
    member.expect("report Lost");
    member.finish();
}

#[test]
fn a_killed_member_shortens_the_end_of_its_command_to_the_grace() {
    let mut member = asked_to_end(PLAIN, 600_000, LONG);
    send(member.pid(), Signal::KILL);
    member.gone(); // long before its permission or its time ends, or patience would
}

#[test]
fn a_shorter_time_counts_and_a_longer_one_does_not() {
    let mut member = asked_to_end(PLAIN, 600_000, "stop 1500");
    member.say(LONG);
    member.gone();
    member.expect("report Ended");
    member.permit(600_000);
    member.expect_started();
    member.expect_up(4);
    member.say(LONG);
    member.expect("cmd asked to end");
    member.say("stop 0");
    member.gone();
    member.expect("report Ended");
    member.finish();
}

/// The end is noticed when it happens: with so long a time nobody would wait for it.
#[test]
fn a_command_that_ends_before_its_time_is_over_is_reported_at_once() {
    for setup in [PLAIN, WITHOUT_CGROUP] {
        if !setup.is_possible() {
            continue;
        }
        let script = "exec 9>$LIFE; setsid sh -c 'exec sleep 99' & echo up >&9; wait";
        let mut member = Member::set_up(setup, script);
        member.permit(600_000);
        member.expect_started();
        member.expect_up(1);
        member.say(LONG);
        member.gone();
        member.expect("report Ended");
        member.finish();
    }
}
