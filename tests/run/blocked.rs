//! What others hold, fill or put in the way: locks, pipes, connections, disks, names.

use super::member::{Folder, Member, bellwether, command, eventually, now, peers, refusal};
use rustix::fs::{CWD, FileType, FlockOperation, Mode, flock, mknodat};
use std::fs::{File, Permissions};
use std::net::UdpSocket;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A member ends sooner, even on a machine that stalls now and then.
const SOON: Duration = Duration::from_secs(6);

fn pipe(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("there is room");
}

/// A directory for members that exists already.
fn directory(folder: &Folder, mode: u32) -> std::path::PathBuf {
    let dir = folder.file("members");
    std::fs::create_dir(&dir).expect("there is room");
    std::fs::set_permissions(&dir, Permissions::from_mode(mode)).expect("it is ours");
    dir
}

#[test]
fn a_lock_on_the_directory_is_nobodys_business() {
    let folder = Folder::new("flock");
    let dir = directory(&folder, 0o755);
    let lock = File::open(dir).expect("it is there");
    flock(&lock, FlockOperation::NonBlockingLockExclusive).expect("nobody has it");
    let rest = ["--", "sh", "-c", "echo up; exec sleep 1000"];
    let mut member = Member::start(&folder, &peers(1), 1, &rest);
    assert_eq!(member.next_line().as_deref(), Some("up"), "it leads, and its command runs");
    member.becomes("leader");
    let (code, took) = member.end();
    assert_eq!(code, Some(0));
    assert!(took < SOON, "it took {took:?} to end");
}

#[test]
fn a_lock_file_that_another_process_holds_is_waited_for_but_not_for_long() {
    let folder = Folder::new("held");
    let dir = directory(&folder, 0o700);
    let lock = File::create(dir.join("web.1.sock.lock")).expect("there is room");
    flock(&lock, FlockOperation::NonBlockingLockExclusive).expect("nobody has it");
    let arguments =
        format!("run web --peers {} --dir {} --insecure --preset wan", peers(1), dir.display());
    let begin = now();
    let line = refusal(&bellwether(&arguments), 78);
    assert!(line.contains("web.1.sock.lock is locked by another process"), "{line}");
    assert!(now() - begin < SOON, "{:?}", now() - begin);
    let dir = dir.display().to_string();
    let mut waiting = Member::spawn(command(&arguments), &dir, 1);
    drop(lock);
    waiting.becomes("leader");
    assert_eq!(waiting.end().0, Some(0));
}

#[test]
fn whatever_lies_in_the_place_of_the_lock_file_is_refused_by_its_name() {
    for (name, text) in [("pipe", "it is a pipe"), ("link", "it is a symbolic link")] {
        let folder = Folder::new(&format!("instead-{name}"));
        let dir = directory(&folder, 0o700);
        let path = dir.join("web.1.sock.lock");
        match name {
            "pipe" => pipe(&path),
            _ => symlink(folder.file("elsewhere"), &path).expect("there is room"),
        }
        let list = peers(1);
        let arguments = format!("run web --peers {list} --dir {} --insecure", dir.display());
        let line = refusal(&bellwether(&arguments), 1);
        assert!(line.contains("web.1.sock.lock: ") && line.contains(text), "{line}");
        assert!(!folder.file("elsewhere").exists(), "links are not followed");
    }
}

#[test]
fn a_member_whose_socket_cannot_be_served_never_joins() {
    let folder = Folder::new("unserved");
    let dir = directory(&folder, 0o700);
    std::fs::create_dir(dir.join("web.1.sock")).expect("there is room");
    let trace = folder.file("trace");
    let list = peers(1);
    let arguments = format!(
        "run web --peers {list} --dir {} --insecure --record {}",
        dir.display(),
        trace.display()
    );
    refusal(&bellwether(&arguments), 1);
    assert!(!dir.join("web.1.state").exists(), "it began no life");
    assert!(!trace.exists(), "it recorded nothing");
}

#[test]
fn status_is_answered_within_a_second_beside_500_silent_connections() {
    let folder = Folder::new("crowd");
    let mut member = Member::start(&folder, &peers(1), 1, &[]);
    member.becomes("leader");
    let socket = folder.file("members").join("web.1.sock");
    let crowd: Vec<UnixStream> =
        (0..500).map(|_| UnixStream::connect(&socket).expect("it listens")).collect();
    // The best of a few: the machine may stall, the crowd may not matter.
    let ask = || {
        let begin = now();
        assert!(member.ask("status").status.success());
        now() - begin
    };
    let took = (0..5).map(|_| ask()).min().expect("it was asked");
    assert!(took < Duration::from_secs(1), "it took {took:?} to answer");
    let threads = std::fs::read_dir(format!("/proc/{}/task", member.pid()));
    let threads = threads.expect("it runs").count();
    assert!(threads < 20, "{threads} threads");
    let (code, took) = member.end();
    assert_eq!(code, Some(0));
    assert!(took < SOON, "it took {took:?} to end");
    drop(crowd);
}

#[test]
fn settings_keys_and_traces_are_regular_files_and_nobody_waits_for_a_pipe() {
    let folder = Folder::new("pipes");
    let fifo = folder.file("fifo");
    pipe(&fifo);
    let (fifo, dir) = (fifo.display(), folder.0.display());
    let good = format!("run web --peers {} --dir {}", peers(1), folder.dir());
    for (arguments, text) in [
        (format!("run web --config {dir}"), "it is a directory"),
        (format!("run web --config {fifo}"), "it is a pipe"),
        ("run web --config /dev/null".to_owned(), "it is a device"),
        (format!("check-config web --config {fifo}"), "it is a pipe"),
        (format!("{good} --key {fifo}"), "is not a regular file"),
        (format!("{good} --insecure --record {fifo}"), "it is no regular file"),
        (format!("{good} --insecure --record /dev/null"), "it is no regular file"),
    ] {
        let line = refusal(&bellwether(&arguments), 78);
        assert!(line.contains(text), "{arguments}: {line}");
    }
}

#[test]
fn a_trace_that_cannot_grow_ends_and_the_member_goes_on() {
    let folder = Folder::new("full-disk");
    let (trace, dir) = (folder.file("trace"), folder.dir());
    let program = env!("CARGO_BIN_EXE_bellwether");
    let mut limited = Command::new("sh");
    let script = format!(
        "ulimit -f 16; exec {program} run web --peers {} --dir {dir} --preset wan --insecure \
         --record {} -- sh -c 'echo $$; exec sleep 1000'",
        peers(1),
        trace.display()
    );
    limited.args(["-c", &script]).stdin(Stdio::null());
    let mut member = Member::spawn(limited, &dir, 1);
    let pid: u32 = member.next_line().and_then(|pid| pid.parse().ok()).expect("it tells");
    let status = eventually("the end of the trace", || {
        let ended = |status: &serde_json::Value| {
            status["warnings"].to_string().contains("the trace ends here")
        };
        member.status().filter(ended)
    });
    assert_eq!(status["role"], "leader");
    assert!(super::member::lives(pid), "its command runs on");
    let (code, took) = member.end();
    assert_eq!(code, Some(0));
    assert!(took < SOON, "it took {took:?} to end");
}

/// Ends what a test has started, whatever becomes of the test.
struct Silence(std::process::Child);

impl Drop for Silence {
    fn drop(&mut self) {
        let _ = self.0.kill(); // it may have ended
        let _ = self.0.wait();
    }
}

#[test]
fn sigterm_ends_a_member_that_still_looks_names_up() {
    let silent = UdpSocket::bind("127.0.0.53:53").or_else(|_| UdpSocket::bind("127.9.8.7:53"));
    let Ok(silent) = silent else { return }; // only root may be a name server
    let folder = Folder::new("names");
    let server = silent.local_addr().expect("it is bound").ip();
    let names = folder.file("resolv.conf");
    std::fs::write(&names, format!("nameserver {server}\n")).expect("there is room");
    let program = env!("CARGO_BIN_EXE_bellwether");
    let script = format!(
        "mount --bind {} /etc/resolv.conf && exec {program} run web --dir {} --insecure \
         --peers 1=one.test:7400,2=two.test:7400,3=three.test:7400",
        names.display(),
        folder.dir()
    );
    let mut unshared = Command::new("unshare");
    unshared.args(["-m", "sh", "-c", &script]).stdin(Stdio::null()).stderr(Stdio::null());
    let mut member = Silence(unshared.spawn().expect("the command starts"));
    silent.set_read_timeout(Some(Duration::from_secs(20))).expect("it is bound");
    silent.recv(&mut [0; 512]).expect("it asks for the address of a member");
    let begin = now();
    let pid = rustix::process::Pid::from_child(&member.0);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it is there");
    let status = eventually("its end", || member.0.try_wait().expect("it is our child"));
    assert_eq!(status.code(), Some(0));
    assert!(now() - begin < Duration::from_secs(3), "{:?}", now() - begin);
}
