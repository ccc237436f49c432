//! Signals to guardian and watchdog: all are survived that can be, and none of it is inherited.

use crate::member::{LEASE, Member, send};
use rustix::process::{Pid, Signal};
use std::process::Command;

/// Sends any signal, also those without a name.
fn send_number(pid: Pid, signal: i32) {
    let kill = format!("kill -{signal} {pid}");
    assert!(Command::new("sh").args(["-c", &kill]).status().is_ok_and(|it| it.success()), "{kill}");
}

#[test]
fn every_signal_but_kill_and_stop_is_survived() {
    let mut member = Member::start(
        "exec 9>$LIFE; trap 'echo cmd got it' USR1; echo up >&9
        for i in 1 2 3; do sleep 9 & wait $!; done",
    );
    member.permit(600_000);
    member.expect_started();
    member.expect_up(1);
    let fatal = [Signal::KILL.as_raw(), Signal::STOP.as_raw()];
    for signal in (1..=64).filter(|signal| !fatal.contains(signal)) {
        send_number(member.guardian, signal);
        send_number(member.watchdog, signal);
    }
    member.say(&format!("signal {}", Signal::USR1.as_raw()));
    member.expect("cmd got it"); // the guardian is there, and not stopped
    send(member.guardian, Signal::KILL);
    send(member.pid(), Signal::STOP);
    member.gone(); // the watchdog is there, and not stopped
}

/// The signals that are blocked and those that are ignored, but for 32 and 33: what becomes of
/// these two is for the C library to say.
fn sets(line: &str) -> Vec<u64> {
    let words = line.split_whitespace().skip(1).step_by(2);
    let sets = words.map(|word| u64::from_str_radix(word, 16).expect("it is a set"));
    sets.map(|set| set & !(3 << 31)).collect()
}

#[test]
fn a_command_inherits_none_of_it() {
    const LIST: &str = "echo cmd $(grep -E '^Sig(Blk|Ign)' /proc/self/status)";
    let plain = Command::new("sh").args(["-c", LIST]).output().expect("there is a shell");
    let plain = String::from_utf8(plain.stdout).expect("it is text");
    let plain = sets(plain.trim_start_matches("cmd "));
    assert_eq!(plain.len(), 2);
    let mut member = Member::start(LIST);
    member.permit(LEASE);
    member.expect_started();
    assert_eq!(sets(&member.expect("cmd ")), plain);
    member.expect("report Exited { code: 0 }");
    member.finish();
}
