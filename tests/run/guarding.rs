//! What `run` does with its guardian: ready before the member joins, with every preset, and what
//! the system does not permit is said.

use super::member::{Folder, Member, command, eventually, peers, refusal};
use rustix::process::Signal;
use std::net::UdpSocket;
use std::process::Command;

/// The same command in a place where something is not mounted; nothing if that is not permitted.
fn without(unmount: &str, command: &Command) -> Option<Command> {
    let script = format!("umount {unmount} && exec \"$@\"");
    let words = ["-m", "sh", "-c", &script, "sh"];
    let mut tried = Command::new("unshare");
    if !tried.args(words).arg("true").output().is_ok_and(|done| done.status.success()) {
        eprintln!("not tested: this machine does not permit `umount {unmount}` in a namespace");
        return None;
    }
    let mut wrapped = Command::new("unshare");
    wrapped.args(words).arg(command.get_program()).args(command.get_args());
    Some(wrapped)
}

/// Two things are wrong, a guardian that cannot be started and a port that is taken. The one that
/// is told is the one that came first.
#[test]
fn the_guardian_is_ready_before_the_member_joins() {
    let folder = Folder::new("ready");
    let peers = peers(1);
    let _taken = UdpSocket::bind(peers.trim_start_matches("1=")).expect("it is free");
    let flags = format!("run web --peers {peers} --id 1 --dir {} --insecure", folder.dir());
    let run = |tail: &str| command(&format!("{flags} {tail}"));
    let line = refusal(&run("").output().expect("it starts"), 1);
    assert!(line.contains("cannot listen at"), "{line}");
    let Some(mut blind) = without("-l /proc", &run("-- true")) else { return };
    let line = refusal(&blind.output().expect("it starts"), 1);
    assert!(line.contains("cannot start the guardian"), "{line}");
}

#[test]
fn every_preset_runs_a_command_without_further_flags() {
    for preset in ["fastest", "fast", "lan", "wan"] {
        let folder = Folder::new(&format!("preset-{preset}"));
        let mut run = command(&format!(
            "run web --peers {} --id 1 --dir {} --insecure --preset {preset} --",
            peers(1),
            folder.dir()
        ));
        run.args(["sh", "-c", "echo $BELLWETHER_GROUP $BELLWETHER_ID; exit 7"]);
        let mut member = Member::spawn(run, &folder.dir(), 1);
        member.line(|line| line == "web 1");
        assert_eq!(member.code(), Some(7), "{preset}");
    }
}

#[test]
fn a_command_without_a_cgroup_is_told_to_whoever_starts_it_and_whoever_asks() {
    const NOTE: &str = "the command has no cgroup of its own";
    let folder = Folder::new("no-cgroup");
    let mut run = command(&format!(
        "run web --peers {} --id 1 --dir {} --insecure --preset wan -- sleep 1000",
        peers(1),
        folder.dir()
    ));
    run.stdin(std::process::Stdio::null());
    let Some(run) = without("-a -t cgroup2", &run) else { return };
    let mut member = Member::spawn(run, &folder.dir(), 1);
    member.error(NOTE);
    let told = |status: serde_json::Value| {
        let warnings = status["warnings"].as_array().cloned().unwrap_or_default();
        warnings.iter().any(|line| line.as_str().is_some_and(|line| line.contains(NOTE)))
    };
    eventually("the warning", || member.status().filter(|status| told(status.clone())));
    member.signal(Signal::TERM);
    assert_eq!(member.code(), Some(0));
}
