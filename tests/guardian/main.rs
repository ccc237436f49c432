//! The guardian with real processes: whatever is stopped or killed, nothing of the command is left
//! when its permission ends. The table in `docs/running.md` names the test of each of its lines.
//!
//! Each test starts a member, which is this program again (`member::plays_the_member`), and speaks
//! with it by lines. The command and all that it starts hold the other end of a named pipe: the
//! pipe is at its end when the last of them is gone, and not a moment earlier. The only times that
//! are held against the clock are ends of permissions, a good part of a second after what is to
//! happen. What a broken guardian would leave behind ends by itself in half a minute.

mod containment;
mod load;
#[allow(dead_code, reason = "others need it quiet")]
#[path = "../live/lab/machine.rs"]
mod machine;
mod measure;
mod member;
mod signals;
mod start;
mod stopping;
mod told;
mod watchers;
mod will;

use bellwether_core::Duration;
use member::{LEASE, Member, PLAIN, STUBBORN, Setup, now, send};
use rustix::process::Signal;
use std::fs;
use std::process::{Command, Stdio};
use std::thread;

#[test]
fn a_command_starts_with_the_permission_and_not_before_and_its_exit_code_is_passed_on() {
    let mut member = Member::start("echo cmd in $BELLWETHER_GROUP; exit 7");
    member.say("stop");
    member.expect("report Ended"); // and no start before it
    member.permit(LEASE);
    member.expect_started();
    assert_eq!(member.expect("cmd in "), "flock");
    member.expect("report Exited { code: 7 }");
    member.finish();
}

#[test]
fn a_command_that_dies_of_a_signal_is_reported_with_it() {
    let mut member = Member::start("kill -KILL $$");
    member.permit(LEASE);
    member.expect_started();
    member.expect("report Signalled { signal: 9 }");
    member.finish();
}

#[test]
fn a_command_that_does_not_exist_is_reported_with_the_reason() {
    let mut member = Member::set_up(Setup { program: "/no/such/program", ..PLAIN }, "");
    member.permit(LEASE);
    let rest = member.expect("report NotStarted { error: ");
    assert!(rest.contains("'/no/such/program': No such file or directory"), "{rest}");
    member.finish();
}

#[test]
fn a_permission_that_is_almost_over_starts_nothing() {
    let mut member = Member::start("exit 7");
    member.permit(100);
    member.permit(1050);
    member.say("stop");
    member.expect("report Ended"); // and no start before it
    member.finish();
}

#[test]
fn extensions_keep_a_command_and_a_stop_ends_it_at_once() {
    let mut member = Member::start(STUBBORN);
    let first = member.permit(LEASE);
    member.expect_started();
    member.expect_up(4);
    while now() < first + Duration::from_millis(500) {
        thread::sleep(std::time::Duration::from_millis(200));
        member.permit(LEASE);
    }
    member.permit(600_000);
    member.say("stop");
    member.expect("cmd asked to end");
    member.gone(); // long before its permission ends, or patience would
    member.expect("report Ended"); // the only one: it ran on beyond the first end
    member.finish();
}

#[test]
fn without_an_extension_nothing_is_left_at_the_end_and_a_later_permission_starts_afresh() {
    let mut member = Member::start(STUBBORN);
    let until = member.permit(LEASE);
    member.expect_started();
    member.expect_up(4);
    member.expect("cmd asked to end");
    let gone = member.gone();
    assert!(gone < until, "{gone} is after {until}");
    member.expect("report Ended");
    member.permit(LEASE);
    member.expect_started();
    member.expect_up(4);
    member.finish();
}

#[test]
fn a_process_that_forks_as_it_goes_does_not_escape() {
    let mut member = Member::start(
        "exec 9>$LIFE; trap '' TERM; export HOP='[ -e $LIFE ] && setsid sh -c \"$HOP\" &'
        sh -c \"$HOP\" & echo up >&9; for i in 1 2 3; do sleep 9; done",
    );
    let until = member.permit(LEASE);
    member.expect_started();
    member.expect_up(1);
    let gone = member.gone();
    assert!(gone < until, "{gone} is after {until}");
    member.expect("report Ended");
    member.finish();
}

#[test]
fn what_a_command_leaves_behind_ends_with_it() {
    let mut member = Member::start(
        "exec 9>$LIFE
        setsid sh -c 'trap \"\" TERM; echo up >&9; for i in 1 2 3; do sleep 9; done' &
        while [ ! -e $LIFE.go ]; do sleep .01; done; exit 3",
    );
    member.permit(600_000);
    member.expect_started();
    member.expect_up(1);
    fs::write(member.folder.join("life.go"), "").expect("there is room for a file");
    member.gone();
    member.expect("report Exited { code: 3 }");
    member.finish();
}

#[test]
fn a_killed_member_leaves_nothing_behind() {
    let mut member = Member::start(STUBBORN);
    member.permit(600_000);
    member.expect_started();
    member.expect_up(4);
    send(member.pid(), Signal::KILL);
    member.expect("cmd asked to end");
    member.gone(); // long before its permission ends, or patience would
}

#[test]
fn a_stopped_member_leaves_nothing_behind_when_its_permission_ends() {
    let mut member = Member::start(STUBBORN);
    let until = member.permit(LEASE);
    member.expect_started();
    member.expect_up(4);
    send(member.pid(), Signal::STOP);
    let gone = member.gone();
    assert!(gone < until, "{gone} is after {until}");
    send(member.pid(), Signal::CONT);
    member.expect("report Ended");
    member.finish();
}

#[test]
fn a_killed_guardian_leaves_nothing_behind() {
    let mut member = Member::start(STUBBORN);
    member.permit(600_000);
    member.expect_started();
    member.expect_up(4);
    send(member.guardian, Signal::KILL);
    member.gone(); // long before its permission ends, or patience would
    member.expect("report Lost");
    member.permit(LEASE);
    member.expect("refused");
    member.finish();
}

#[test]
fn a_stopped_guardian_leaves_nothing_behind_though_it_answers_no_extension() {
    let mut member = Member::start(STUBBORN);
    let until = member.permit(LEASE);
    member.expect_started();
    member.expect_up(4);
    send(member.guardian, Signal::STOP);
    member.permit(600_000);
    let gone = member.gone();
    assert!(gone < until, "{gone} is after {until}");
    member.expect("report Lost");
    member.finish();
}

#[test]
fn a_command_dies_with_its_guardian_even_if_the_member_cannot_help() {
    let mut member = Member::start("exec 9>$LIFE; trap '' TERM; echo up >&9; exec sleep 99");
    member.permit(600_000);
    member.expect_started();
    member.expect_up(1);
    send(member.pid(), Signal::STOP);
    send(member.guardian, Signal::KILL);
    member.gone();
}

#[test]
fn a_signal_that_is_passed_on_ends_the_command_and_is_reported() {
    let mut member = Member::start("exec 9>$LIFE; echo up >&9; exec sleep 99");
    member.permit(600_000);
    member.expect_started();
    member.expect_up(1);
    member.say(&format!("signal {}", Signal::KILL.as_raw()));
    member.expect("report Signalled { signal: 9 }");
    member.gone();
    member.finish();
}

#[test]
fn a_command_has_the_streams_of_its_member_and_no_file_of_ours() {
    const LIST: &str = "echo cmd $(ls /proc/self/fd); readlink /proc/$$/fd/0 /proc/$$/fd/1";
    let plain = Command::new("sh").args(["-c", LIST]).output().expect("there is a shell");
    let plain = String::from_utf8(plain.stdout).expect("it is text");
    let mut member = Member::start(LIST);
    let own = |number| {
        let link = format!("/proc/{}/fd/{number}", member.process.id());
        fs::read_link(link).expect("it is open").display().to_string()
    };
    let (stdin, stdout) = (own(0), own(1));
    member.permit(LEASE);
    member.expect_started();
    assert_eq!(Some(format!("cmd {}", member.expect("cmd ")).as_str()), plain.lines().next());
    member.expect(&stdin);
    member.expect(&stdout);
    member.expect("report Exited { code: 0 }");
    member.finish();
}

#[test]
fn a_guardian_without_a_member_says_so_in_one_line() {
    let output = Command::new(env!("CARGO_BIN_EXE_bellwether"))
        .arg("guard")
        .stdin(Stdio::null())
        .output()
        .expect("the command starts");
    let errors = String::from_utf8(output.stderr).expect("errors are text");
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.starts_with("bellwether: guard is part of 'bellwether run'"), "{errors}");
    assert_eq!(errors.lines().count(), 1, "{errors}");
}
