//! What the service manager is told: `NOTIFY_SOCKET` and the watchdog.

use super::member::{Folder, Member, command, eventually, leader, now, peers};
use rustix::process::Signal;
use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// What is waited for comes within this, or never.
const PATIENCE: Duration = Duration::from_secs(20);
/// The watchdog of these tests is fed four times as often.
const WATCHDOG: Duration = Duration::from_millis(400);

/// A service manager that only listens.
struct Manager {
    socket: UnixDatagram,
    place: OsString,
}

impl Manager {
    fn new(folder: &Folder) -> Self {
        let path = folder.file("notify");
        let socket = UnixDatagram::bind(&path).expect("there is room");
        Self { socket, place: path.into_os_string() }
    }

    /// One without a file.
    fn unnamed(name: &str) -> Self {
        let name = format!("bellwether-{name}-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).expect("it is short");
        let socket = UnixDatagram::bind_addr(&address).expect("nobody has it");
        Self { socket, place: format!("@{name}").into() }
    }

    /// Starts a member of the group `web` as a service.
    fn start(&self, folder: &Folder, list: &str, id: u64, rest: &[&str]) -> Member {
        let dir = folder.dir();
        let words = format!("run web --peers {list} --id {id} --dir {dir} --insecure --preset wan");
        let mut member = command(&words);
        member.args(rest).env("NOTIFY_SOCKET", &self.place);
        member.env("WATCHDOG_USEC", WATCHDOG.as_micros().to_string());
        Member::spawn(member, &dir, id)
    }

    /// The next message.
    fn next(&self, within: Duration) -> Option<String> {
        let mut buffer = [0; 4096];
        self.socket.set_read_timeout(Some(within)).expect("it is not zero");
        let length = self.socket.recv(&mut buffer).ok()?;
        Some(String::from_utf8_lossy(&buffer[..length]).into_owned())
    }

    /// The next message but those that feed the watchdog.
    fn news(&self) -> String {
        let end = now() + PATIENCE;
        while now() < end {
            let message = self.next(PATIENCE).expect("something is told");
            if message != "WATCHDOG=1" {
                return message;
            }
        }
        panic!("nothing is told but that it lives");
    }

    /// Waits until this is told.
    fn hears(&self, what: &str) -> String {
        eventually(what, || Some(self.news()).filter(|message| message.contains(what)))
    }

    /// How often the watchdog is fed in this time.
    fn fed_within(&self, time: Duration) -> usize {
        let end = now() + time;
        let mut count = 0;
        while let Some(left) = end.checked_sub(now()).filter(|left| !left.is_zero()) {
            count += usize::from(self.next(left).as_deref() == Some("WATCHDOG=1"));
        }
        count
    }
}

#[test]
fn the_service_manager_is_told_of_the_start_of_changes_and_of_the_end() {
    let folder = Folder::new("notified");
    let (manager, list) = (Manager::new(&folder), peers(2));
    // It does not end while this file is there.
    let busy = folder.file("busy");
    let wait = format!("while [ -e {} ]; do sleep .05; done", busy.display());
    let patient = format!("trap '{wait}; exit' TERM; echo up; while :; do sleep .05; done");
    let rest = ["--stop-timeout", "45s", "--on-change", "/bin/true", "--hook-timeout", "4s"];
    let rest = [&rest[..], &["--", "sh", "-c", &patient]].concat();
    let one = manager.start(&folder, &list, 1, &rest);
    assert_eq!(manager.news(), "STATUS=joins web");
    assert_eq!(manager.news(), "READY=1", "it has joined, though nobody can lead yet");
    assert_eq!(manager.news(), "STATUS=looks for a leader");
    let mut members = [one, Member::start(&folder, &list, 2, &[])];
    for _ in 0..2 {
        let leads = leader(&members);
        let told = if leads == 1 { "STATUS=leads web since " } else { "STATUS=follows 2" };
        manager.hears(told);
        let asked = members[leads as usize - 1].ask("resign");
        assert!(asked.status.success(), "{}", String::from_utf8_lossy(&asked.stderr));
        eventually("another leader", || Some(leader(&members)).filter(|id| *id != leads));
    }
    if leader(&members) != 1 {
        assert!(members[1].ask("resign").status.success());
    }
    members[0].becomes("leader");
    eventually("its command", || members[0].next_line().filter(|line| line == "up"));
    std::fs::write(&busy, "").expect("there is room");
    members[0].signal(Signal::TERM);
    let end = manager.hears("STOPPING=1");
    // For the command, for the hook and one that runs and a second, and for the rest.
    let micros = (45 + 2 * 4 + 1 + 30) * 1_000_000;
    assert_eq!(end, format!("STOPPING=1\nEXTEND_TIMEOUT_USEC={micros}\nSTATUS=is ending"));
    members[0].becomes("leader"); // its command takes its time, and it leads meanwhile
    std::fs::remove_file(busy).expect("it is there");
    assert_eq!(members[0].code(), Some(0));
}

#[test]
fn what_it_starts_does_not_speak_for_it() {
    let folder = Folder::new("unspoken");
    let manager = Manager::unnamed("unspoken");
    let show = "echo \"<${NOTIFY_SOCKET-}${WATCHDOG_USEC-}>\"";
    let hook = folder.script("hook", &format!("{show} >> {}", folder.file("hook.log").display()));
    let hook = hook.display().to_string();
    let rest = ["--on-change", &hook, "--", "sh", "-c", &format!("{show}; exec sleep 1000")];
    let member = manager.start(&folder, &peers(1), 1, &rest);
    manager.hears("READY=1");
    manager.hears("STATUS=leads web since ");
    assert_eq!(member.next_line().as_deref(), Some("<>"), "its command");
    let log = eventually("its hook", || Some(folder.text("hook.log")).filter(|it| !it.is_empty()));
    assert!(log.lines().all(|line| line == "<>"), "{log}");
}

#[test]
fn a_reload_begins_and_ends() {
    let folder = Folder::new("reloading");
    let manager = Manager::new(&folder);
    let member = manager.start(&folder, &peers(1), 1, &[]);
    manager.hears("STATUS=leads web since ");
    member.signal(Signal::HUP);
    let message = manager.hears("RELOADING=1\nMONOTONIC_USEC=");
    let micros = message.rsplit('=').next().and_then(|number| number.parse::<u64>().ok());
    assert!(micros.is_some_and(|micros| micros > 0), "{message}");
    assert_eq!(manager.news(), "READY=1");
}

#[test]
fn a_socket_that_cannot_be_used_is_reported_and_the_member_runs() {
    let folder = Folder::new("unheard");
    let gone = folder.file("gone").display().to_string();
    for (id, place, why) in [
        (1, "notify", "NOTIFY_SOCKET=notify cannot be used"),
        (2, gone.as_str(), "the service manager cannot be told"),
    ] {
        let (dir, list) = (folder.dir(), peers(2));
        let only = list.split(',').nth(id as usize - 1).expect("there are two");
        let words = format!("run web --peers {only} --dir {dir} --insecure --preset wan");
        let mut member = command(&words);
        member.env("NOTIFY_SOCKET", place);
        let mut member = Member::spawn(member, &dir, id);
        member.error(why);
        member.becomes("leader");
        assert_eq!(member.end().0, Some(0));
    }
}

/// Holds one thread of a process until it is dropped, as a disk that hangs would.
struct Held(Child);

impl Held {
    fn new(pid: u32, thread: &str) -> Self {
        let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).expect("it runs");
        let is = |task: &std::path::PathBuf| {
            std::fs::read_to_string(task.join("comm")).is_ok_and(|name| name.trim() == thread)
        };
        let task = tasks.flatten().map(|task| task.path()).find(is).expect("it has this thread");
        let number = task.file_name().expect("it is a path").to_string_lossy().into_owned();
        // PTRACE_SEIZE and PTRACE_INTERRUPT; the thread goes on when its tracer has ended.
        let hold = "import ctypes, os, sys\n\
            call = ctypes.CDLL(None, use_errno=True).ptrace\n\
            pid = int(sys.argv[1])\n\
            for request in (0x4206, 0x4207):\n\
            \x20   if call(request, pid, None, None) != 0:\n\
            \x20       sys.exit(os.strerror(ctypes.get_errno()))\n\
            os.waitpid(pid, 0x40000000)\n\
            print('held', flush=True)\n\
            sys.stdin.read()\n";
        let mut python = Command::new("/usr/bin/python3");
        python.args(["-c", hold, &number]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut tracer = python.spawn().expect("python3 is there");
        let mut line = String::new();
        let out = tracer.stdout.take().expect("it is piped");
        BufReader::new(out).read_line(&mut line).expect("it can be read");
        assert_eq!(line, "held\n", "root may trace");
        Self(tracer)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

#[test]
fn the_watchdog_is_fed_as_long_as_the_members_own_thread_runs() {
    let folder = Folder::new("watchdog");
    let manager = Manager::new(&folder);
    let log = folder.file("hook.log").display().to_string();
    let stuck = folder.script("stuck", &format!("echo stuck > {log}; exec sleep 1000"));
    let stuck = stuck.display().to_string();
    let rest = ["--on-change", &stuck, "--hook-timeout", "1000s"];
    let member = manager.start(&folder, &peers(1), 1, &rest);
    eventually("a hook that is stuck", || {
        Some(folder.text("hook.log")).filter(|it| !it.is_empty())
    });
    manager.hears("STATUS=leads web since ");
    let fed = || {
        let one = || manager.next(PATIENCE).filter(|message| message == "WATCHDOG=1");
        eventually("that it is fed", one);
    };
    (0..8).for_each(|_| fed());
    let held = Held::new(member.pid(), "bellwether-1");
    let end = now() + PATIENCE;
    while manager.next(WATCHDOG).is_some() {
        assert!(now() < end, "it is fed on and on");
    }
    let count = manager.fed_within(WATCHDOG * 4);
    assert!(count <= 1, "it was fed {count} times: its last answer counts once");
    drop(held);
    fed();
}
