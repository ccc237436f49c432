//! Readers that do not read, or have gone: nobody waits for them, and nobody dies of them.

use super::member::{Folder, Member, bellwether, command, eventually, lives, peers};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::process::Signal;
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Longer than a lease of these members lasts.
const LEASES: Duration = Duration::from_millis(2500);
/// A member ends sooner, even on a machine that stalls now and then.
const SOON: Duration = Duration::from_secs(6);

/// A pipe with room for nothing more.
fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = std::io::pipe().expect("there are pipes");
    let flags = fcntl_getfl(&writer).expect("it is ours");
    fcntl_setfl(&writer, flags | OFlags::NONBLOCK).expect("it is ours");
    while writer.write(&[b'x'; 4096]).is_ok() {}
    while writer.write(b"x").is_ok() {}
    fcntl_setfl(&writer, flags).expect("it is ours");
    (reader, writer)
}

/// A list of one with a key, and what follows.
fn keyed(folder: &Folder, rest: &[&str]) -> Command {
    let key = folder.file("web.key").display().to_string();
    assert!(bellwether(&format!("keygen {key}")).status.success());
    let (list, dir) = (peers(1), folder.dir());
    let mut command = command(&format!("run web --peers {list} --dir {dir} --preset wan"));
    command.args(["--key", &key]).args(rest);
    command
}

fn next_pid(member: &Member) -> u32 {
    member.next_line().and_then(|pid| pid.parse().ok()).expect("the command tells its number")
}

/// Makes the member say something to its standard error, again and again.
fn provoke(folder: &Folder, member: &Member) {
    std::fs::write(folder.file("web.key"), "no key").expect("there is room");
    for _ in 0..20 {
        member.signal(Signal::HUP);
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A command stays with its member, whose leadership changes, and both end when they are told to.
fn goes_on(folder: &Folder, mut member: Member) {
    let first = next_pid(&member);
    provoke(folder, &member);
    std::thread::sleep(LEASES);
    assert!(lives(first), "the command runs as long as its member leads");
    assert_eq!(member.becomes("leader")["id"], 1);
    assert!(member.ask("resign").status.success());
    assert!(!lives(first), "the command was gone before the leadership was");
    let second = next_pid(&member);
    assert!(lives(second), "it leads again, and so the command runs again");
    provoke(folder, &member);
    let (code, took) = member.end();
    assert_eq!(code, Some(0));
    assert!(took < SOON, "it took {took:?} to end");
    eventually("the end of the command", || (!lives(second)).then_some(()));
}

const WORK: [&str; 4] = ["--", "sh", "-c", "echo $$; exec sleep 1000 2>&-"];

#[test]
fn a_standard_error_that_nobody_reads_holds_up_neither_the_command_nor_the_end() {
    let folder = Folder::new("full");
    let (reader, writer) = full_pipe();
    let command = keyed(&folder, &WORK);
    let member = Member::spawn_with(command, &folder.dir(), 1, Stdio::from(writer));
    goes_on(&folder, member);
    drop(reader);
}

#[test]
fn a_standard_error_whose_reader_has_gone_kills_nobody() {
    let folder = Folder::new("gone");
    let (reader, writer) = std::io::pipe().expect("there are pipes");
    drop(reader);
    let command = keyed(&folder, &WORK);
    let member = Member::spawn_with(command, &folder.dir(), 1, Stdio::from(writer));
    goes_on(&folder, member);
}

#[test]
fn a_standard_error_that_is_read_late_has_all_lines_in_order() {
    let folder = Folder::new("late-reader");
    let (mut reader, writer) = full_pipe();
    let command = keyed(&folder, &WORK);
    let mut member = Member::spawn_with(command, &folder.dir(), 1, Stdio::from(writer));
    next_pid(&member);
    provoke(&folder, &member);
    let said = std::thread::spawn(move || {
        let mut said = String::new();
        reader.read_to_string(&mut said).map(|_| said)
    });
    assert_eq!(member.end().0, Some(0));
    let said = said.join().expect("it reads").expect("it is text");
    let said = said.trim_start_matches('x');
    let (told, rest): (Vec<&str>, Vec<&str>) = said.lines().partition(|line| line.contains("Z ["));
    assert!(told.iter().any(|line| line.contains("member 1 leads web, for")), "{said}");
    assert!(told[told.len() - 2].ends_with("the command was ended"), "{said}");
    assert!(told[told.len() - 1].ends_with("member 1 handed over and left web"), "{said}");
    assert!(rest[0].starts_with("bellwether: key file "), "{said}");
    assert!(rest[rest.len() - 1].ends_with("the keys stay as they were"), "{said}");
    let at = |words: &str| said.find(words).unwrap_or_else(|| panic!("{words}: {said}"));
    // Its guardian tells that it runs, perhaps after the first key file was read.
    assert!(at("member 1 leads web, for") < at("the command runs as process"), "in order: {said}");
    assert!(at("member 1 leads web, for") < at("key file"), "in order: {said}");
    assert!(at("key file") < at("the command was ended"), "in order: {said}");
}

#[test]
fn a_start_that_fails_says_so_to_nobody_and_still_ends_with_its_code() {
    let folder = Folder::new("refused");
    let arguments = format!("run web --peers {} --dir {} --insecure", peers(1), folder.dir());
    let (reader, writer) = std::io::pipe().expect("there are pipes");
    drop(reader);
    let gone = command(&format!("{arguments} --id 9")).stderr(writer).status();
    assert_eq!(gone.expect("the command starts").code(), Some(78));
    let (_reader, writer) = full_pipe();
    let mut full = command(&format!("{arguments} --id 9"));
    let mut full = full.stderr(writer).spawn().expect("the command starts");
    let status = eventually("its end", || full.try_wait().expect("it is our child"));
    assert_eq!(status.code(), Some(78));
}

#[test]
fn changes_that_nobody_reads_hold_up_neither_the_member_nor_the_end() {
    let folder = Folder::new("unread");
    let dir = folder.dir();
    let (_reader, writer) = full_pipe();
    let mut command = command(&format!(
        "run web --peers {} --dir {dir} --preset wan --insecure --format json",
        peers(1)
    ));
    let mut child = command.stdout(writer).stderr(Stdio::null()).spawn().expect("it starts");
    eventually("its leadership", || {
        let status = bellwether(&format!("status web --dir {dir} --format json"));
        String::from_utf8_lossy(&status.stdout).contains("\"role\":\"leader\"").then_some(())
    });
    assert!(bellwether(&format!("resign web --dir {dir}")).status.success());
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), Signal::TERM)
        .expect("it is there");
    let status = eventually("its end", || child.try_wait().expect("it is our child"));
    assert_eq!(status.code(), Some(0));
}
