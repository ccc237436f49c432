//! The cgroup of a command: who is in it, what it reaches, and what is left without one.

use crate::member::{
    Member, PLAIN, Setup, WITHOUT_CGROUP, cgroups_can_be_made, eventually, now, own_cgroup, send,
};
use rustix::process::{Pid, Signal, kill_process};
use std::thread;

const LEASE: u64 = 3000;

/// Root that may signal no other user's processes.
const WITHOUT_KILL: Setup =
    Setup { before: &["setpriv", "--bounding-set=-kill", "--inh-caps=-kill"], ..PLAIN };

/// The same, and no cgroup.
const WITHOUT_BOTH: Setup = Setup {
    before: &[
        "unshare",
        "-m",
        "setpriv",
        "--bounding-set=-kill",
        "--inh-caps=-kill",
        "sh",
        "-c",
        "umount -a -t cgroup2 && exec \"$@\"",
        "sh",
    ],
    ..PLAIN
};

/// A process of another user that ignores SIGTERM.
const ANOTHER_USER: &str = "exec 9>$LIFE; echo cmd $$
    setpriv --reuid=65534 --clear-groups sh -c \
        'trap \"\" TERM; echo up >&9; for i in 1 2 3; do sleep 9; done; exit' &
    echo up >&9; echo other $!; wait";

#[test]
fn the_command_is_in_a_cgroup_of_its_own_and_its_watchers_are_not() {
    if !cgroups_can_be_made() {
        return;
    }
    let mut member = Member::start("exec 9>$LIFE; setsid sleep 99 & echo up >&9; echo $!; wait");
    member.permit(600_000);
    let leader = member.expect_started();
    member.expect_up(1);
    let cgroup = member.cgroup(leader).expect("it is in one");
    assert_eq!(member.cgroup(member.guardian), None);
    assert_eq!(member.cgroup(member.watchdog), None);
    assert_eq!(member.cgroup(member.pid()), None);
    member.say("stop");
    member.expect("report Ended");
    // It is the same for the next run.
    member.permit(600_000);
    let leader = member.expect_started();
    assert_eq!(member.cgroup(leader), Some(cgroup));
    member.finish();
}

#[test]
fn without_a_cgroup_that_is_said() {
    if !WITHOUT_CGROUP.is_possible() {
        return;
    }
    let mut member = Member::set_up(WITHOUT_CGROUP, "exit 0");
    let note = member.expect("note the command has no cgroup of its own ");
    assert!(note.starts_with("(no cgroup v2 is mounted that shows this process)"), "{note}");
    member.finish();
}

#[test]
fn what_became_another_users_ends_in_time_with_a_cgroup() {
    if !WITHOUT_KILL.is_possible() || !cgroups_can_be_made() {
        return;
    }
    let mut member = Member::set_up(WITHOUT_KILL, ANOTHER_USER);
    let until = member.permit(LEASE);
    member.expect_started();
    member.expect_up(2);
    let gone = member.gone();
    assert!(gone < until, "{gone} is after {until}");
    member.expect("report Ended");
    member.finish();
}

#[test]
fn a_process_that_root_moves_elsewhere_ends_in_time_as_a_descendant() {
    let Some(own) = own_cgroup().filter(|_| cgroups_can_be_made()) else { return };
    let script = format!(
        "exec 9>$LIFE; setsid sh -c 'echo $$ >{}/cgroup.procs; trap \"\" TERM; echo up >&9
        for i in 1 2 3; do sleep 9; done' & echo up >&9; echo moved $!; wait",
        own.display()
    );
    let mut member = Member::start(&script);
    let until = member.permit(LEASE);
    member.expect_started();
    member.expect_up(2);
    let moved = member.expect("moved ").parse().ok().and_then(Pid::from_raw).expect("a number");
    assert_eq!(member.cgroup(moved), None);
    let gone = member.gone();
    assert!(gone < until, "{gone} is after {until}");
    member.expect("report Ended");
    member.finish();
}

/// The limit: nobody may end it.
#[test]
fn what_became_another_users_outlives_its_permission_without_a_cgroup() {
    if !WITHOUT_BOTH.is_possible() {
        return;
    }
    let mut member = Member::set_up(WITHOUT_BOTH, ANOTHER_USER);
    let until = member.permit(LEASE);
    member.expect_started();
    member.expect_up(2);
    let other = member.expect("other ").parse().ok().and_then(Pid::from_raw).expect("a number");
    while now() < until {
        thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(member.something_lives(), "this is more than the documentation promises");
    // What it sleeps in is another user's too; both are ours to end here.
    eventually("the end of what the test started", || {
        let children = std::fs::read_to_string(format!("/proc/{other}/task/{other}/children"));
        for child in children.unwrap_or_default().split_whitespace() {
            let _ = child
                .parse()
                .ok()
                .and_then(Pid::from_raw)
                .map(|pid| kill_process(pid, Signal::KILL));
        }
        kill_process(other, Signal::KILL).is_err()
    });
}

/// Thirty chains of processes, each of which starts the next one and exits.
#[test]
fn processes_that_fork_as_fast_as_they_can_end_in_time_with_a_cgroup() {
    if !cgroups_can_be_made() {
        return;
    }
    let mut member = Member::start(
        "exec 9>$LIFE; trap '' TERM; export HOP='[ -e $LIFE ] && setsid sh -c \"$HOP\" &'
        i=0; while [ $i -lt 30 ]; do sh -c \"$HOP\" & i=$((i+1)); done
        echo up >&9; for i in 1 2 3; do sleep 9; done",
    );
    let until = member.permit(LEASE);
    member.expect_started();
    member.expect_up(1);
    // Nobody is there to help: the cgroup is ended by the watchdog in one step.
    send(member.pid(), Signal::STOP);
    send(member.guardian, Signal::STOP);
    let gone = member.gone();
    assert!(gone < until, "{gone} is after {until}");
}
