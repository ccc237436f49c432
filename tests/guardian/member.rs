//! A member for the tests: this program again, spoken with by lines, and what is to be seen of its
//! command.

use bellwether_core::{Duration, Instant};
use bellwether_net::guardian::{Guardian, Lost, Plan};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, open};
use rustix::process::{Pid, Signal, kill_process};
use rustix::time::{ClockId, clock_gettime};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

pub(crate) const LEASE: u64 = 2000;
pub(crate) const MARGIN: Duration = Duration::from_millis(800);
pub(crate) const GRACE: Duration = Duration::from_millis(300);

/// How long to wait for what must come; no test comes near it unless it fails.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(20);

/// Children that ignore SIGTERM: one as it is, one in a session of its own, one forked twice.
pub(crate) const STUBBORN: &str = "
    exec 9>$LIFE
    (trap '' TERM; echo up >&9; for i in 1 2 3; do sleep 9; done) &
    setsid sh -c 'trap \"\" TERM; echo up >&9; for i in 1 2 3; do sleep 9; done' &
    (setsid sh -c '(trap \"\" TERM; echo up >&9; for i in 1 2 3; do sleep 9; done) & exit' &)
    trap 'echo cmd asked to end' TERM
    echo up >&9
    for i in 1 2 3; do sleep 9 & wait $!; done";

pub(crate) fn now() -> Instant {
    let time = clock_gettime(ClockId::Boottime);
    let nanos = i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec);
    Instant::from_nanos(u64::try_from(nanos).expect("the machine has started"))
}

/// What the tests start as their member: lines in, lines out.
#[test]
#[ignore = "it is the member that the other tests start"]
fn plays_the_member() {
    let script = std::env::var_os("SCRIPT").unwrap_or_default();
    let millis = |name, usual| match std::env::var(name).map(|text| text.parse()) {
        Ok(Ok(millis)) => Duration::from_millis(millis),
        _ => usual,
    };
    let plan = Plan {
        program: std::env::var_os("PROGRAM").unwrap_or_else(|| "sh".into()),
        args: vec!["-c".into(), script],
        margin: millis("MARGIN", MARGIN),
        grace: millis("GRACE", GRACE),
        stop_signal: 15,
        nice: 0,
        env: vec![("BELLWETHER_GROUP".into(), "flock".into())],
        addresses: Vec::new(),
        probe: Duration::ZERO,
        believed: Duration::ZERO,
        leader_file: None,
        pass_stdin: true,
        recording: None,
    };
    let mut bystander = Command::new("cat").stdin(Stdio::piped()).spawn().expect("there is a cat");
    let mut command = Command::new(env!("CARGO_BIN_EXE_bellwether"));
    command.arg("guard");
    let mut guardian = Guardian::spawn(command, &plan, None).expect("the guardian starts");
    for note in guardian.notes() {
        println!("\nnote {note}");
    }
    println!("\nwatchdog {}", guardian.watchdog_pid());
    println!("guardian {}", guardian.pid());
    let mut late = false;
    let stdin = std::io::stdin();
    loop {
        while let Some(report) = guardian.poll(now()) {
            println!("report {report:?}");
        }
        if !std::mem::replace(&mut late, guardian.delay() > Duration::ZERO) && late {
            println!("late {}", guardian.delay());
        }
        let left = guardian.poll_timeout().since(now()).as_nanos();
        let timeout =
            std::time::Duration::from_nanos(left).try_into().unwrap_or(Timespec::default());
        let mut events = [
            PollFd::new(&stdin, PollFlags::IN),
            PollFd::from_borrowed_fd(guardian.fd(), PollFlags::IN),
        ];
        poll(&mut events, Some(&timeout)).expect("nothing interrupts us");
        if events[0].revents().is_empty() {
            continue;
        }
        let line = next_line();
        let mut words = line.split_whitespace();
        let (verb, number) = (words.next(), words.next().and_then(|word| word.parse().ok()));
        let done = match (verb, number) {
            (Some("permit"), Some(millis)) => permit(&mut guardian, millis),
            (Some("stop"), Some(within)) => guardian.stop(Duration::from_millis(within)),
            (Some("stop"), None) => guardian.stop(plan.grace),
            (Some("signal"), Some(signal)) => guardian.signal(signal as i32),
            _ => break,
        };
        if done.is_err() {
            println!("refused");
        }
    }
    guardian.end();
    println!("bystander {:?}", bystander.try_wait().expect("it is our child").is_none());
    drop(bystander.stdin.take());
    bystander.wait().expect("it is our child");
}

/// Permits the command for so long, and tells when that ends.
fn permit(guardian: &mut Guardian, millis: u64) -> Result<(), Lost> {
    let until = now() + Duration::from_millis(millis);
    let done = guardian.permit(until, None);
    // Told afterwards: a test may stop this process as soon as it reads that.
    println!("until {}", until.as_nanos());
    done
}

/// A line of the standard input, and not a byte more: the next one must be left to poll for.
fn next_line() -> String {
    let mut line = Vec::new();
    let mut byte = [0];
    while rustix::io::read(std::io::stdin(), &mut byte).is_ok_and(|count| count == 1) {
        if byte == *b"\n" {
            break;
        }
        line.push(byte[0]);
    }
    String::from_utf8(line).expect("the tests write text")
}

/// A member and what is to be seen of its command.
pub(crate) struct Member {
    pub(crate) process: Child,
    pub(crate) guardian: Pid,
    pub(crate) watchdog: Pid,
    pub(crate) lines: Receiver<String>,
    /// Lines that nobody asked for yet.
    pub(crate) heard: Vec<String>,
    pub(crate) life: File,
    pub(crate) folder: PathBuf,
}

/// Where a member is started, and how.
#[derive(Clone, Copy)]
pub(crate) struct Setup {
    /// What comes before the member in its command line.
    pub(crate) before: &'static [&'static str],
    pub(crate) program: &'static str,
    pub(crate) margin: Duration,
    pub(crate) grace: Duration,
}

/// The system as it is: with a cgroup, if one can be had.
pub(crate) const PLAIN: Setup = Setup { before: &[], program: "sh", margin: MARGIN, grace: GRACE };

/// A system on which no cgroup can be had: none is mounted.
pub(crate) const WITHOUT_CGROUP: Setup = Setup {
    before: &["unshare", "-m", "sh", "-c", "umount -a -t cgroup2 && exec \"$@\"", "sh"],
    ..PLAIN
};

impl Setup {
    /// Whether this machine lets us have it; root does.
    pub(crate) fn is_possible(self) -> bool {
        let Some((program, arguments)) = self.before.split_first() else { return true };
        let done = Command::new(program).args(arguments).arg("true").output();
        let possible = done.is_ok_and(|done| done.status.success());
        if !possible {
            eprintln!("not tested: this machine does not permit {:?}", self.before);
        }
        possible
    }
}

/// Whether this machine lets us make cgroups below our own.
pub(crate) fn cgroups_can_be_made() -> bool {
    let made = own_cgroup().is_some_and(|own| {
        let trial = own.join(format!("trial-{}-{:?}", std::process::id(), thread::current().id()));
        let made = fs::create_dir(&trial).is_ok() && trial.join("cgroup.kill").exists();
        let _ = fs::remove_dir(&trial);
        made
    });
    if !made {
        eprintln!("not tested: no cgroup can be made on this machine");
    }
    made
}

/// The directory of the cgroup that this process is in.
pub(crate) fn own_cgroup() -> Option<PathBuf> {
    let own = fs::read_to_string("/proc/self/cgroup").ok()?;
    let own = own.lines().find_map(|line| line.strip_prefix("0::/"))?.to_owned();
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let mount = mounts.lines().find(|line| line.contains(" - cgroup2 "))?;
    Some(PathBuf::from(mount.split(' ').nth(4)?).join(own))
}

impl Member {
    pub(crate) fn start(script: &str) -> Self {
        Self::set_up(PLAIN, script)
    }

    pub(crate) fn set_up(setup: Setup, script: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("bellwether-guardian-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).expect("there is room for a folder");
        let pipe = folder.join("life");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a named pipe");
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let life = File::from(open(&pipe, flags, Mode::empty()).expect("it can be read"));
        let this = std::env::current_exe().expect("this program is a file");
        let this = this.to_str().expect("its path is text");
        let mut words = setup.before.iter().copied().chain([this]);
        let mut process = Command::new(words.next().expect("there is one"))
            .args(words)
            .args(["--exact", "member::plays_the_member", "--ignored", "--nocapture"])
            .env("SCRIPT", script)
            .env("PROGRAM", setup.program)
            .env("MARGIN", (setup.margin.as_nanos() / 1_000_000).to_string())
            .env("GRACE", (setup.grace.as_nanos() / 1_000_000).to_string())
            .env("THIS", this)
            .env("LIFE", &pipe)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the member starts");
        let output = BufReader::new(process.stdout.take().expect("it is piped"));
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let _ = sender.send(line); // a test that is over does not listen
            }
        });
        let (guardian, watchdog, heard) = (Pid::INIT, Pid::INIT, Vec::new());
        let mut member = Self { process, guardian, watchdog, lines, heard, life, folder };
        member.watchdog = pid(&member.expect("watchdog "));
        member.guardian = pid(&member.expect("guardian "));
        member
    }

    pub(crate) fn say(&mut self, line: &str) {
        let stdin = self.process.stdin.as_mut().expect("it is piped");
        writeln!(stdin, "{line}").expect("the member listens");
    }

    /// Permits the command for so long; when that ends.
    pub(crate) fn permit(&mut self, millis: u64) -> Instant {
        self.say(&format!("permit {millis}"));
        Instant::from_nanos(self.expect("until ").parse().expect("it is a number"))
    }

    /// The rest of a line that begins so. Reports come in order and none is passed over; what the
    /// command says comes when it comes.
    pub(crate) fn expect(&mut self, beginning: &str) -> String {
        let report = |line: &str| line.starts_with("report ");
        let wanted = |line: &str| match report(beginning) {
            true => report(line),
            false => line.starts_with(beginning),
        };
        let line = match self.heard.iter().position(|line| wanted(line)) {
            Some(place) => self.heard.remove(place),
            None => loop {
                match self.lines.recv_timeout(PATIENCE) {
                    Ok(line) if wanted(&line) => break line,
                    Ok(line) => self.heard.push(line),
                    Err(error) => panic!("no '{beginning}…': {error}; heard {:?}", self.heard),
                }
            },
        };
        let rest = line.strip_prefix(beginning);
        rest.unwrap_or_else(|| panic!("'{line}' instead of '{beginning}…'")).to_owned()
    }

    /// The command has started; its process.
    pub(crate) fn expect_started(&mut self) -> Pid {
        let rest = self.expect("report Started { pid: ");
        pid(rest.trim_end_matches(" }"))
    }

    /// Waits until so many processes of the command have said that they are there.
    pub(crate) fn expect_up(&mut self, mut count: usize) {
        let end = now() + Duration::from_nanos(PATIENCE.as_nanos() as u64);
        let mut text = [0; 3];
        while count > 0 {
            assert!(now() < end, "{count} processes are missing");
            self.wait_for_life(PATIENCE);
            match self.life.read(&mut text) {
                Ok(3) => count -= 1,
                // The pipe is still at the end of an earlier run.
                Ok(0) => thread::sleep(std::time::Duration::from_millis(5)),
                other => panic!("{count} processes are missing: {other:?}"),
            }
        }
    }

    /// Waits until all processes of the command are gone; when they were.
    pub(crate) fn gone(&mut self) -> Instant {
        let mut rest = [0; 64];
        loop {
            self.wait_for_life(PATIENCE);
            match self.life.read(&mut rest) {
                Ok(0) => return now(),
                Ok(_) => (),
                Err(_) => panic!("something of the command is left:\n{}", self.holders()),
            }
        }
    }

    /// The processes that can write to the pipe, as `/proc/PID/stat` shows them.
    fn holders(&self) -> String {
        let pipe = self.folder.join("life");
        let holds = |process: &PathBuf| {
            let files = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
            files.into_iter().any(|file| fs::read_link(file.path()).is_ok_and(|to| to == pipe))
        };
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let held = processes.map(|entry| entry.path()).filter(holds);
        let stat = |process: PathBuf| fs::read_to_string(process.join("stat")).unwrap_or_default();
        let watchers =
            [("member", self.pid()), ("guardian", self.guardian), ("watchdog", self.watchdog)];
        let watchers = watchers
            .map(|(name, pid)| format!("{name} {pid}: {}\n", stat(format!("/proc/{pid}").into())));
        held.map(stat).chain(watchers).collect()
    }

    /// Whether a process of the command is there now.
    pub(crate) fn something_lives(&mut self) -> bool {
        let mut rest = [0; 64];
        loop {
            match self.life.read(&mut rest) {
                Ok(0) => return false,
                Ok(_) => (),
                Err(_) => return true, // nothing to read yet, but somebody may write
            }
        }
    }

    pub(crate) fn wait_for_life(&self, patience: std::time::Duration) {
        let timeout: Timespec = patience.try_into().expect("it is short");
        let mut events = [PollFd::from_borrowed_fd(self.life.as_fd(), PollFlags::IN)];
        let _ = poll(&mut events, Some(&timeout)); // what is not there, reading will say
    }

    /// The name of the cgroup that a process of the command is in, if it is one of its own.
    pub(crate) fn cgroup(&self, pid: Pid) -> Option<String> {
        let text = fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
        let own = text.lines().find_map(|line| line.strip_prefix("0::"))?;
        let name = own.rsplit('/').next()?;
        name.starts_with(&format!("bellwether-{}-", self.watchdog)).then(|| own.to_owned())
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.process)
    }

    /// Says goodbye, and sees that all went well.
    pub(crate) fn finish(mut self) {
        self.say("end");
        assert_eq!(self.expect("bystander "), "true", "others' children are spared");
        assert!(self.process.wait().expect("it is ours").success());
        let more = self.heard.drain(..).chain(self.lines.iter());
        let more: Vec<String> = more.filter(|line| line.starts_with("report ")).collect();
        assert!(more.is_empty(), "nobody expected {more:?}");
    }
}

impl Drop for Member {
    /// Without its member the guardian ends the command, and goes.
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        for stopped in [self.guardian, self.watchdog] {
            if is_ours(stopped) {
                let _ = kill_process(stopped, Signal::CONT);
            }
        }
        if thread::panicking() {
            self.wait_for_life(std::time::Duration::from_secs(3));
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn pid(text: &str) -> Pid {
    Pid::from_raw(text.parse().expect("it is a number")).expect("it is a process")
}

/// Whether a process is a guardian or a watchdog, and not one that got the number later.
fn is_ours(pid: Pid) -> bool {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0).nth(1) == Some(b"guard")
}

/// Looks again and again until it is so.
pub(crate) fn eventually(what: &str, mut look: impl FnMut() -> bool) {
    let end = now() + Duration::from_nanos(PATIENCE.as_nanos() as u64);
    while !look() {
        assert!(now() < end, "it never came: {what}");
        thread::sleep(std::time::Duration::from_millis(5));
    }
}

pub(crate) fn send(pid: Pid, signal: Signal) {
    kill_process(pid, signal).expect("the process is there");
}
