//! A process with members: what the benchmark asks it, and what it answers.

use bellwether_net::{Election, Peers};
use std::fmt::Write as _;
use std::fs::read_to_string;
use std::io::{BufRead as _, BufReader, Write as _};
use std::ops::RangeInclusive;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

/// What is waited for comes within this, or never.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);
/// A member that learns of a new leader later than this says why.
const LATE: Duration = Duration::from_secs(1);
/// How many members vote.
pub(crate) const VOTERS: u64 = 5;

/// A process with members.
pub(crate) struct Host {
    pub(crate) child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// How many members it has.
    pub(crate) members: u64,
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.child.kill(); // it may have ended
        let _ = self.child.wait();
    }
}

impl Host {
    pub(crate) fn start(size: u64, first: u64, last: u64) -> Self {
        let this = std::env::current_exe().expect("this program");
        let mut child = Command::new(this)
            .args(["host".to_owned(), size.to_string(), first.to_string(), last.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a process starts");
        let input = child.stdin.take().expect("its input");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        Self { child, input, output, members: last + 1 - first }
    }

    pub(crate) fn tell(&mut self, line: &str) {
        writeln!(self.input, "{line}").expect("it reads");
    }

    pub(crate) fn hear(&mut self) -> Vec<f64> {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it answers");
        line.split_whitespace().map(|word| word.parse().expect("a number")).collect()
    }
}

/// Asks all at once, and returns the answers.
pub(crate) fn ask(hosts: &mut [Host], line: &str) -> Vec<Vec<f64>> {
    hosts.iter_mut().for_each(|host| host.tell(line));
    hosts.iter_mut().map(Host::hear).collect()
}

/// The wall clock, which processes share, in seconds.
pub(crate) fn wall() -> f64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.expect("after 1970").as_secs_f64()
}

/// A list of so many members on the loopback, at addresses of this size of group.
fn places(size: u64) -> Peers {
    let mut text = String::new();
    for id in 1..=size {
        let (net, host) = (id / 250, 1 + id % 250);
        let _ = write!(text, "{id}=127.{}.{net}.{host}:{},", 100 + size % 100, 7400 + size / 100);
    }
    text.parse().expect("a list")
}

/// Runs these members, and answers questions about them.
pub(crate) fn host_members(size: u64, ids: RangeInclusive<u64>) {
    let peers = places(size);
    let join = |id| {
        let member = Election::builder("large").peers(peers.clone()).id(id).insecure();
        member.voters(1..=VOTERS).join().expect("it joins")
    };
    let members: Vec<Election> = ids.map(join).collect();
    // Whoever watches comes before the thousand threads that it watches. Without the permission to
    // ask for that, times are longer than they are.
    let _ = rustix::process::setpriority_process(None, -20);
    println!("1");
    for line in std::io::stdin().lines() {
        let line = line.expect("a question");
        match line.split_whitespace().collect::<Vec<_>>()[..] {
            ["who"] => {
                let first = named(&members[0]);
                let same = members.iter().all(|member| named(member) == first);
                println!("{}", if same { first } else { 0 });
            }
            ["sent"] => {
                let sent = |member: &Election| member.status().expect("it runs").traffic.sent;
                println!("{}", members.iter().map(sent).sum::<u64>());
            }
            ["used"] => println!("{} {}", memory(), processor()),
            ["watch", leader] => watch(&members, leader.parse().expect("an id")),
            _ => return,
        }
    }
}

/// The leader that a member names; 0 if it knows of none.
fn named(member: &Election) -> u64 {
    member.leadership().leaders.first().map_or(0, |id| id.0)
}

/// Waits until all members name another leader than this one. Says when one of them led, and when
/// all knew.
fn watch(members: &[Election], leader: u64) {
    let (begin, mut led) = (Instant::now(), 0.0);
    let mut unaware: Vec<&Election> = members.iter().collect();
    let mut late = Vec::new();
    loop {
        if led == 0.0 && members.iter().any(|member| member.leadership().leads()) {
            led = wall();
        }
        unaware.retain(|member| {
            let knows = ![0, leader].contains(&named(member));
            if knows && begin.elapsed() > LATE {
                late.push((*member, begin.elapsed()));
            }
            !knows
        });
        if unaware.is_empty() || begin.elapsed() > PATIENCE {
            break;
        }
        sleep(Duration::from_millis(1));
    }
    println!("{led} {}", wall());
    late.extend(unaware.into_iter().map(|member| (member, PATIENCE)));
    late.into_iter().for_each(|(member, after)| explain(member, after));
}

/// Says on standard error what may have kept a member from learning of the new leader.
fn explain(member: &Election, after: Duration) {
    let (me, faults) = (member.leadership().me, member.clock_faults());
    let Ok(status) = member.status() else { return };
    eprintln!(
        "member {me} knew of the new leader {after:.1?} after the watch began: clock faults so far \
         {faults}, role {:?}, warnings {:?}",
        status.role, status.warnings
    );
}

/// Resident memory, in KiB.
fn memory() -> f64 {
    let status = read_to_string("/proc/self/status").expect("a process has a status");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    kib.expect("a process has resident memory")
}

/// Processor time of all threads, in seconds.
fn processor() -> f64 {
    let threads = std::fs::read_dir("/proc/self/task").expect("a process has threads");
    let nanos = threads.filter_map(Result::ok).map(|thread| {
        let stat = read_to_string(thread.path().join("schedstat")).unwrap_or_default();
        stat.split_whitespace().next().and_then(|nanos| nanos.parse::<f64>().ok()).unwrap_or(0.0)
    });
    nanos.sum::<f64>() / 1e9
}
