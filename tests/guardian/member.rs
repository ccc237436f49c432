//! A member for the tests: this program again, spoken with by lines, and what is to be seen of its
//! command.

use bellwether_core::{Duration, Instant};
use bellwether_net::guardian::{Guardian, Plan};
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
    let plan = Plan {
        program: std::env::var_os("PROGRAM").unwrap_or_else(|| "sh".into()),
        args: vec!["-c".into(), script],
        margin: MARGIN,
        grace: GRACE,
        env: vec![("BELLWETHER_GROUP".into(), "flock".into())],
    };
    let mut bystander = Command::new("cat").stdin(Stdio::piped()).spawn().expect("there is a cat");
    let mut command = Command::new(env!("CARGO_BIN_EXE_bellwether"));
    command.arg("guard");
    let mut guardian = Guardian::spawn(command, &plan).expect("the guardian starts");
    println!("\nguardian {}", guardian.pid());
    let stdin = std::io::stdin();
    loop {
        while let Some(report) = guardian.poll(now()) {
            println!("report {report:?}");
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
            (Some("permit"), Some(millis)) => {
                let until = now() + Duration::from_millis(millis);
                println!("until {}", until.as_nanos());
                guardian.permit(until)
            }
            (Some("stop"), _) => guardian.stop(),
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
    pub(crate) lines: Receiver<String>,
    /// Lines that nobody asked for yet.
    pub(crate) heard: Vec<String>,
    pub(crate) life: File,
    pub(crate) folder: PathBuf,
}

impl Member {
    pub(crate) fn start(script: &str) -> Self {
        Self::start_program("sh", script)
    }

    pub(crate) fn start_program(program: &str, script: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("bellwether-guardian-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).expect("there is room for a folder");
        let pipe = folder.join("life");
        mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a named pipe");
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let life = File::from(open(&pipe, flags, Mode::empty()).expect("it can be read"));
        let mut process = Command::new(std::env::current_exe().expect("this program is a file"))
            .args(["--exact", "member::plays_the_member", "--ignored", "--nocapture"])
            .env("SCRIPT", script)
            .env("PROGRAM", program)
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
        let guardian = Pid::INIT;
        let mut member = Self { process, guardian, lines, heard: Vec::new(), life, folder };
        let number = member.expect("guardian ");
        member.guardian =
            Pid::from_raw(number.parse().expect("it is a number")).expect("it is a process");
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
        let number = rest.trim_end_matches(" }").parse().expect("it is a number");
        Pid::from_raw(number).expect("it is a process")
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
                Err(error) => panic!("something of the command is left: {error}"),
            }
        }
    }

    pub(crate) fn wait_for_life(&self, patience: std::time::Duration) {
        let timeout: Timespec = patience.try_into().expect("it is short");
        let mut events = [PollFd::from_borrowed_fd(self.life.as_fd(), PollFlags::IN)];
        let _ = poll(&mut events, Some(&timeout)); // what is not there, reading will say
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
        if thread::panicking() {
            let _ = kill_process(self.guardian, Signal::CONT);
            self.wait_for_life(std::time::Duration::from_secs(3));
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

pub(crate) fn send(pid: Pid, signal: Signal) {
    kill_process(pid, signal).expect("the process is there");
}
