//! Member, guardian and watchdog: each of them alone ends the command in time, whatever becomes
//! of the other two; and what happens when all three are gone.

use crate::member::{
    Member, PLAIN, STUBBORN, Setup, WITHOUT_CGROUP, cgroups_can_be_made, eventually, now,
    own_cgroup, send,
};
use bellwether_core::{Duration, Instant};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use std::thread;

/// Long enough for a command to start on a machine under load.
const LEASE: u64 = 3000;

#[derive(Clone, Copy, Debug)]
enum Who {
    Member,
    Guardian,
    Watchdog,
}
use Who::{Guardian, Member as TheMember, Watchdog};

/// The member last: its death makes an orphan of the watchdog's process group, and the kernel lets
/// stopped processes of such a group go on. The watchdog would use that moment.
const ALL_THREE: [Who; 3] = [Watchdog, Guardian, TheMember];

fn process(member: &Member, who: Who) -> Pid {
    match who {
        TheMember => member.pid(),
        Guardian => member.guardian,
        Watchdog => member.watchdog,
    }
}

/// Does this to all of them in the same moment: all are stopped before any is killed.
fn inject(member: &Member, faults: &[(Who, Signal)]) {
    let (first, _) = faults[0];
    send(process(member, first), Signal::STOP);
    // From here on the others may notice, and may be gone before it is their turn: when the
    // guardian ends, the kernel may let a stopped watchdog go on, as it does with orphaned groups.
    for (who, _) in &faults[1..] {
        let _ = kill_process(process(member, *who), Signal::STOP);
    }
    for (who, _) in faults.iter().filter(|(_, signal)| *signal == Signal::KILL) {
        let _ = kill_process(process(member, *who), Signal::KILL);
    }
}

/// A member whose command works, the end of its permission, and the command's cgroup. On a machine
/// that is busy the permission may be nearly over by then.
fn working(setup: Setup, lease: u64) -> (Member, Instant, Option<String>) {
    let mut member = Member::set_up(setup, STUBBORN);
    let until = member.permit(lease);
    let leader = member.expect_started();
    let cgroup = member.cgroup(leader);
    member.expect_up(4);
    (member, until, cgroup)
}

/// Nothing of a command is left when its permission ends, and no cgroup when another member starts.
fn ends_in_time(setup: Setup, faults: &[(Who, Signal)]) {
    let (mut member, until, cgroup) = (1..=4)
        .map(|times| working(setup, LEASE * times))
        .find(|(_, until, _)| now() + Duration::from_millis(LEASE / 4) < *until)
        .expect("the machine starts four processes within twelve seconds");
    inject(&member, faults);
    let gone = member.gone();
    assert!(gone < until, "{faults:?}: {gone} is after {until}");
    let name = cgroup.and_then(|path| path.rsplit('/').next().map(str::to_owned));
    drop(member);
    if let (Some(name), Some(own)) = (name, own_cgroup()) {
        // Whoever was left of its watchers may have been ended here; the next member, of this test
        // or of another one, removes the empty cgroup.
        let next = Member::start("exit 0");
        eventually("the end of the cgroup", || !own.join(&name).exists());
        next.finish();
    }
}

fn one_may_be_lost(setup: Setup) {
    if !setup.is_possible() {
        return;
    }
    thread::scope(|scope| {
        for who in [TheMember, Guardian, Watchdog] {
            for signal in [Signal::KILL, Signal::STOP] {
                scope.spawn(move || ends_in_time(setup, &[(who, signal)]));
            }
        }
    });
}

fn two_may_be_lost(setup: Setup, one: Who, other: Who) {
    if !setup.is_possible() {
        return;
    }
    thread::scope(|scope| {
        for first in [Signal::KILL, Signal::STOP] {
            for second in [Signal::KILL, Signal::STOP] {
                scope.spawn(move || ends_in_time(setup, &[(one, first), (other, second)]));
            }
        }
    });
}

#[test]
fn any_one_may_be_stopped_or_killed() {
    one_may_be_lost(PLAIN);
}

#[test]
fn any_one_may_be_stopped_or_killed_without_a_cgroup() {
    one_may_be_lost(WITHOUT_CGROUP);
}

#[test]
fn member_and_guardian_may_be_stopped_or_killed_together() {
    two_may_be_lost(PLAIN, TheMember, Guardian);
}

#[test]
fn member_and_guardian_may_be_stopped_or_killed_together_without_a_cgroup() {
    two_may_be_lost(WITHOUT_CGROUP, TheMember, Guardian);
}

#[test]
fn member_and_watchdog_may_be_stopped_or_killed_together() {
    two_may_be_lost(PLAIN, TheMember, Watchdog);
}

#[test]
fn member_and_watchdog_may_be_stopped_or_killed_together_without_a_cgroup() {
    two_may_be_lost(WITHOUT_CGROUP, TheMember, Watchdog);
}

#[test]
fn guardian_and_watchdog_may_be_stopped_or_killed_together() {
    two_may_be_lost(PLAIN, Guardian, Watchdog);
}

#[test]
fn guardian_and_watchdog_may_be_stopped_or_killed_together_without_a_cgroup() {
    two_may_be_lost(WITHOUT_CGROUP, Guardian, Watchdog);
}

#[test]
fn a_killed_watchdog_is_missed_at_once_and_the_command_ends() {
    let mut member = Member::start(STUBBORN);
    member.permit(600_000);
    member.expect_started();
    member.expect_up(4);
    send(member.watchdog, Signal::KILL);
    member.gone(); // long before its permission ends, or patience would
    member.expect("report Ended");
    member.expect("report Lost");
    member.finish();
}

/// A member may be stopped while it ends the command of a guardian that was killed; then the
/// watchdog must still be there.
#[test]
fn the_member_kills_the_watchdog_only_when_nothing_of_the_command_is_left() {
    if !WITHOUT_CGROUP.is_possible() {
        return;
    }
    let mut member = Member::set_up(WITHOUT_CGROUP, STUBBORN);
    member.permit(600_000);
    member.expect_started();
    member.expect_up(4);
    let watchdog = pidfd_open(member.watchdog, PidfdFlags::empty()).expect("it is there");
    send(member.watchdog, Signal::STOP); // or it would end the command itself
    send(member.guardian, Signal::KILL);
    poll(&mut [PollFd::new(&watchdog, PollFlags::IN)], None).expect("nothing interrupts us");
    assert!(!member.something_lives());
    member.expect("report Lost");
    member.finish();
}

#[test]
fn member_and_guardian_that_are_killed_leave_nothing_behind_for_a_moment() {
    let mut member = Member::start(STUBBORN);
    member.permit(600_000);
    member.expect_started();
    member.expect_up(4);
    inject(&member, &[(TheMember, Signal::KILL), (Guardian, Signal::KILL)]);
    member.gone(); // long before its permission ends, or patience would
}

/// The limit: nobody is left to end it. What the kernel can do it does.
#[test]
fn all_three_stopped_end_the_command_only_when_one_of_them_goes_on() {
    let mut member = Member::start(STUBBORN);
    let until = member.permit(LEASE);
    member.expect_started();
    member.expect_up(4);
    inject(&member, &ALL_THREE.map(|who| (who, Signal::STOP)));
    while now() < until + Duration::from_millis(100) {
        thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(member.something_lives(), "this is more than the documentation promises");
    send(member.watchdog, Signal::CONT);
    member.gone();
}

#[test]
fn what_all_three_leave_behind_when_they_are_killed_the_next_member_ends_before_it_is_ready() {
    if !cgroups_can_be_made() {
        return;
    }
    let mut member = Member::start(STUBBORN);
    member.permit(600_000);
    member.expect_started();
    member.expect_up(4);
    inject(&member, &ALL_THREE.map(|who| (who, Signal::KILL)));
    // Another test's member may be the next one; so it cannot be told here that it lives on.
    let next = Member::start("exit 0");
    assert!(!member.something_lives(), "it was ready before the other's command had ended");
    member.gone();
    next.finish();
}

/// Whether something of a command stays that has no cgroup, when all three are killed at once.
fn something_stays() -> bool {
    let script = "exec 9>$LIFE; setsid sleep 27 & echo left $!; echo up >&9; wait";
    let mut member = Member::set_up(WITHOUT_CGROUP, script);
    member.permit(600_000);
    member.expect_started();
    member.expect_up(1);
    let left = member.expect("left ").parse().ok().and_then(Pid::from_raw).expect("a number");
    inject(&member, &ALL_THREE.map(|who| (who, Signal::KILL)));
    let next = Member::set_up(WITHOUT_CGROUP, "exit 0");
    let stays = member.something_lives();
    if stays {
        send(left, Signal::KILL);
    }
    member.gone();
    next.finish();
    stays
}

/// The limit: nobody is left who knows of it. On a busy machine the last of the three may act
/// before it is killed, so there are a few tries.
#[test]
fn what_all_three_leave_behind_stays_without_a_cgroup() {
    if WITHOUT_CGROUP.is_possible() {
        let stays = (0..5).any(|_| something_stays());
        assert!(stays, "this is more than the documentation promises");
    }
}

/// What the documentation recommends where even that must be survived.
#[test]
fn a_pid_namespace_ends_with_all_three() {
    const SETUP: Setup = Setup { before: &["unshare", "--pid", "--fork", "--kill-child"], ..PLAIN };
    if !SETUP.is_possible() {
        return;
    }
    let mut member = Member::start(
        "exec 9>$LIFE; exec unshare --pid --fork --kill-child sh -c '
        setsid sh -c \"echo up >&9; for i in 1 2 3; do sleep 9; done\" &
        echo up >&9; for i in 1 2 3; do sleep 9; done'",
    );
    member.permit(600_000);
    member.expect_started();
    member.expect_up(2);
    inject(&member, &ALL_THREE.map(|who| (who, Signal::KILL)));
    member.gone();
}
