//! How a command is started: nobody waits for it, and it has what it should have.

use crate::member::{LEASE, Member, cgroups_can_be_made, eventually, now, own_cgroup, send};
use bellwether_core::Duration;
use rustix::process::{Pid, Signal};
use std::fs;
use std::path::PathBuf;
use std::thread;

/// A field of `/proc/PID/stat`, counted as the manual does.
fn stat(pid: Pid, field: usize) -> i64 {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).expect("it is there");
    let rest = text.rsplit_once(')').expect("it has a name").1;
    rest.split_whitespace().nth(field - 3).and_then(|it| it.parse().ok()).expect("a number")
}

const NICE: usize = 19;
const POLICY: usize = 41;

#[test]
fn guardian_and_watchdog_run_in_real_time_if_they_may_and_the_command_does_not() {
    let mut member = Member::start("exec 9>$LIFE; sleep 9 & echo up >&9; echo child $!; wait");
    member.permit(600_000);
    let leader = member.expect_started();
    member.expect_up(1);
    let child = member.expect("child ").parse().ok().and_then(Pid::from_raw).expect("a number");
    let refused = member.heard.iter().any(|line| line.contains("is not permitted"));
    for watcher in [member.guardian, member.watchdog] {
        assert_eq!(stat(watcher, POLICY) != 0, !refused, "{:?}", member.heard);
    }
    for pid in [leader, child] {
        assert_eq!(stat(pid, POLICY), 0, "as any process");
        assert!(refused || stat(pid, NICE) == 0, "as its plan says");
    }
    member.finish();
}

/// The directory of the cgroup that a member's command will have.
fn cgroup_to_be(member: &Member) -> Option<PathBuf> {
    let name = format!("bellwether-{}-0", member.watchdog);
    cgroups_can_be_made().then(|| own_cgroup().expect("it was found").join(name))
}

/// A process that enters a frozen cgroup stops there: so does a program that takes long to load.
#[test]
fn a_command_that_takes_long_to_start_keeps_nobody_waiting() {
    let mut member = Member::start("exec 9>$LIFE; echo up >&9; for i in 1 2 3; do sleep 9; done");
    let Some(cgroup) = cgroup_to_be(&member) else {
        return;
    };
    fs::write(cgroup.join("cgroup.freeze"), "1").expect("it is ours");
    let first = member.permit(LEASE);
    while now() < first + Duration::from_millis(500) {
        thread::sleep(std::time::Duration::from_millis(200));
        member.permit(LEASE); // and the guardian answers, or it would be lost
    }
    fs::write(cgroup.join("cgroup.freeze"), "0").expect("it is ours");
    member.permit(600_000);
    member.expect_started();
    member.expect_up(1);
    member.finish();
}

#[test]
fn a_command_that_has_not_started_when_its_permission_ends_never_does() {
    let mut member = Member::start("exec 9>$LIFE; echo cmd up; exit 7");
    let Some(cgroup) = cgroup_to_be(&member) else {
        return;
    };
    fs::write(cgroup.join("cgroup.freeze"), "1").expect("it is ours");
    let until = member.permit(LEASE);
    let entered = || fs::read_to_string(cgroup.join("cgroup.procs")).is_ok_and(|it| !it.is_empty());
    eventually("the process in its cgroup", entered);
    member.expect("report Started");
    member.expect("report Ended");
    assert!(now() < until, "it was late");
    fs::write(cgroup.join("cgroup.freeze"), "0").expect("it is ours");
    member.permit(LEASE);
    member.expect_started();
    member.expect("report Exited { code: 7 }");
    member.finish();
}

/// Its program may have begun by then: it has the time that any other has, and no more.
#[test]
fn a_command_that_is_to_end_while_it_starts_has_its_time() {
    let mut member = Member::start("exec 9>$LIFE; for i in 1 2 3; do sleep 9; done");
    let Some(cgroup) = cgroup_to_be(&member) else {
        return;
    };
    let entered = || fs::read_to_string(cgroup.join("cgroup.procs")).is_ok_and(|it| !it.is_empty());
    for (thaws, stop) in [(true, "stop 600000"), (false, "stop 0")] {
        fs::write(cgroup.join("cgroup.freeze"), "1").expect("it is ours");
        let first = member.permit(LEASE);
        eventually("the process in its cgroup", entered);
        member.say(stop);
        while thaws && now() < first + Duration::from_millis(500) {
            thread::sleep(std::time::Duration::from_millis(200));
            member.permit(LEASE); // which keeps it beyond its first permission
            assert!(entered(), "it was killed");
        }
        if thaws {
            fs::write(cgroup.join("cgroup.freeze"), "0").expect("it is ours");
        }
        member.expect("report Started");
        member.expect("report Ended");
    }
    member.finish();
}

#[test]
fn a_guardian_that_was_late_ends_the_command_that_much_earlier_and_says_so() {
    let mut member = Member::start(
        "exec 9>$LIFE; trap '' TERM; echo up >&9
        while :; do sleep .02; done",
    );
    let until = member.permit(9000);
    member.expect_started();
    member.expect_up(1);
    // Longer than twice the margin and half of it: the alarm rings meanwhile, and is seen late.
    send(member.guardian, Signal::STOP);
    thread::sleep(std::time::Duration::from_millis(2200));
    send(member.guardian, Signal::CONT);
    member.expect("late ");
    member.expect("report Ended");
    // SIGKILL is due a margin before the end, and comes half a margin earlier.
    let (ended, usual) = (now(), until - crate::member::MARGIN);
    assert!(ended < usual - Duration::from_millis(200), "{ended} is not long before {usual}");
    member.finish();
}
