//! A guard's deadline stands, whatever is done with other guards and handles of the same reign.
//!
//! Three members run as processes of their own. Whichever leads holds two guards in two threads,
//! and is told a pair of operations, one for each thread. Each thread *uses its guard to the
//! utmost*: it acts until the latest deadline that it ever read, also after it was told that the
//! reign is over, unless it drops the guard. Whoever acted when is written down by the clock of
//! the machine; this process reads it, and two that acted at once are an overlap.

use crate::support::places;
use bellwether_core::Instant;
use bellwether_net::clock::{BootTime, Clock as _};
use bellwether_net::{Builder, Election, Guard, Peers};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

/// Set for the processes that are members: which one, and the list.
const MEMBER: &str = "BELLWETHER_TEST_GUARDS_MEMBER";

/// What one thread does with its guard, or beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    /// Drops its guard.
    Drop,
    /// Has its guard end the reign.
    GuardResigns,
    /// Has a handle end the reign, and acts on.
    HandleResigns,
    /// Leaves the group, and acts on.
    Leaves,
    /// Takes another guard, and acts by that one too.
    TakesAnother,
    /// Drops its handle, and acts on.
    DropsHandle,
    /// Acts while the lease is renewed, and drops its guard only then.
    HoldsOn,
}

const OPERATIONS: [Operation; 7] = [
    Operation::Drop,
    Operation::GuardResigns,
    Operation::HandleResigns,
    Operation::Leaves,
    Operation::TakesAnother,
    Operation::DropsHandle,
    Operation::HoldsOn,
];

fn now() -> u64 {
    BootTime.now().as_nanos()
}

/// When a guard was acted by.
struct Use {
    from: u64,
    to: u64,
}

impl Use {
    fn begin() -> Self {
        let from = now();
        Self { from, to: from }
    }

    /// Reads the deadline; whether the guard still has one.
    fn read(&mut self, guard: &Guard) -> bool {
        let deadline = guard.deadline().map(Instant::as_nanos);
        self.to = self.to.max(deadline.unwrap_or(0));
        deadline.is_some()
    }

    /// Acts until the latest deadline, whatever the guard says by now.
    fn act_to_the_end(&self) {
        thread::sleep(Duration::from_nanos(self.to.saturating_sub(now())));
    }

    /// Acts no more: the guard is dropped after this.
    fn end(mut self) -> Self {
        self.to = self.to.min(now());
        self
    }
}

/// One thread: acts by its guard, does its operation after a while, and tells when it acted.
fn use_up(
    guard: Guard,
    mut used: Use,
    election: Election,
    operation: Operation,
    delay: Duration,
) -> Vec<Use> {
    let begins = now() + delay.as_nanos() as u64;
    while used.read(&guard) && now() < begins {
        thread::sleep(Duration::from_millis(2));
    }
    let mut others = Vec::new();
    match operation {
        Operation::Drop => {
            let used = used.end();
            drop(guard);
            return vec![used];
        }
        Operation::GuardResigns => {
            let used = used.end();
            let _ = guard.resign(); // the other thread may have been first
            return vec![used];
        }
        Operation::HandleResigns => drop(election.resign()),
        Operation::Leaves => election.leave(),
        Operation::TakesAnother => {
            if let Ok(Some(another)) = election.wait(Some(Duration::from_millis(5))) {
                let mut used = Use::begin();
                used.read(&another);
                used.act_to_the_end();
                others.push(used);
            }
        }
        Operation::DropsHandle => drop(election),
        Operation::HoldsOn => {
            let enough = now() + 200_000_000;
            while used.read(&guard) && now() < enough {
                thread::sleep(Duration::from_millis(2));
            }
        }
    }
    used.act_to_the_end();
    others.push(used);
    others // and the guard is dropped
}

fn builder(id: u64, list: &str) -> Builder {
    let peers: Peers = list.parse().expect("a list");
    Election::builder("guards").peers(peers).id(id).insecure()
}

/// Two guards of one reign, as soon as there can be.
fn two_guards(election: &Election) -> (Guard, Guard) {
    loop {
        let first = election.wait(None).expect("it has not left").expect("there is no limit");
        let second = election.wait(Some(Duration::from_millis(1))).expect("it has not left");
        if let Some(second) = second.filter(|_| first.still_leading()) {
            return (first, second);
        }
    }
}

/// A member: says when it leads, is told what to do, and says when it acted. This is no test in
/// itself: it does something only in the processes that the test below starts.
#[test]
fn member() {
    let Ok(told) = std::env::var(MEMBER) else { return };
    let (id, list) = told.split_once(' ').expect("an id and a list");
    let id = id.parse().expect("a number");
    let mut orders = std::io::stdin().lines();
    let mut election = builder(id, list).join().expect("it joins");
    loop {
        let (first, second) = two_guards(&election);
        let since = now(); // they are in use from now on
        println!("LEADS");
        let Some(Ok(order)) = orders.next() else { return };
        let words: Vec<usize> =
            order.split(' ').map(|word| word.parse().expect("a number")).collect();
        let [one, other, delay, later] = words[..] else { return };
        let threads = [(first, one, delay), (second, other, later)].map(|(guard, which, delay)| {
            let (election, operation) = (election.clone(), OPERATIONS[which]);
            let delay = Duration::from_millis(delay as u64);
            let used = Use { from: since, to: since };
            thread::spawn(move || use_up(guard, used, election, operation, delay))
        });
        for thread in threads {
            for Use { from, to } in thread.join().expect("it does not panic") {
                println!("ACTED {from} {to}");
            }
        }
        println!("DONE");
        if [one, other].iter().any(|which| OPERATIONS[*which] == Operation::Leaves) {
            drop(election);
            election = builder(id, list).join().expect("it joins again");
        }
    }
}

/// A member's process; it ends with this.
struct Process {
    child: Child,
    orders: ChildStdin,
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill(); // it may have ended
        let _ = self.child.wait();
    }
}

fn start(id: u64, list: &str, heard: &Sender<(u64, String)>) -> Process {
    let mut child = Command::new(std::env::current_exe().expect("it runs"))
        .args(["--exact", "guards::member", "--nocapture"])
        .env(MEMBER, format!("{id} {list}"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it can be started again");
    let (orders, told) = (child.stdin.take(), child.stdout.take());
    let (orders, told) = orders.zip(told).expect("both are piped");
    let heard = heard.clone();
    let lines: Lines<BufReader<ChildStdout>> = BufReader::new(told).lines();
    thread::spawn(move || {
        lines.map_while(Result::ok).try_for_each(|line| heard.send((id, line)).ok())
    });
    Process { child, orders }
}

/// Who acted when, and what it was doing.
struct Acted {
    id: u64,
    from: u64,
    to: u64,
    pair: String,
}

/// What this process hears from the members.
struct Observer {
    members: Vec<Process>,
    heard: Receiver<(u64, String)>,
    /// Who say that they lead, and wait to be told what to do.
    leaders: VecDeque<u64>,
    /// What each member was told last.
    told: BTreeMap<u64, String>,
    acted: Vec<Acted>,
}

impl Observer {
    /// Takes the next line that a member says; who said that it is done, if that was it.
    fn hear(&mut self) -> Option<u64> {
        let next = self.heard.recv_timeout(Duration::from_secs(30));
        let (id, line) = next.unwrap_or_else(|_| panic!("nobody says anything: {:?}", self.told));
        let number = |word: &str| word.parse().expect("a time");
        // The test harness of a member prints the test's name before what the test prints.
        match line.split(' ').collect::<Vec<&str>>()[..] {
            [.., "LEADS"] => self.leaders.push_back(id),
            ["ACTED", from, to] => {
                let pair = self.told.get(&id).cloned().unwrap_or_default();
                self.acted.push(Acted { id, from: number(from), to: number(to), pair });
            }
            ["DONE"] => return Some(id),
            _ => {}
        }
        None
    }

    /// Has whoever leads do this pair of operations, and waits until it has.
    fn run_pair(&mut self, order: &str, pair: String) {
        let leader = loop {
            match self.leaders.pop_front() {
                Some(leader) => break leader,
                None => drop(self.hear()),
            }
        };
        self.told.insert(leader, pair);
        writeln!(self.members[leader as usize - 1].orders, "{order}").expect("it reads");
        while self.hear() != Some(leader) {}
    }
}

#[test]
fn no_two_members_act_at_once_whatever_is_done_with_guards_and_handles() {
    let list = places(3).join(",");
    let (tell, heard) = channel();
    let members = (1..=3).map(|id| start(id, &list, &tell)).collect();
    let (leaders, told) = (VecDeque::new(), BTreeMap::new());
    let mut observer = Observer { members, heard, leaders, told, acted: Vec::new() };
    for one in 0..OPERATIONS.len() {
        for other in 0..OPERATIONS.len() {
            let (delay, later) = ((one * 31 + other * 17) % 60, (one * 13 + other * 41) % 60);
            let order = format!("{one} {other} {delay} {later}");
            let [one, other] = [one, other].map(|which| OPERATIONS[which]);
            let pair = format!("{one:?} after {delay} ms, {other:?} after {later} ms");
            observer.run_pair(&order, pair);
        }
    }
    let acted = &observer.acted;
    assert!(acted.len() >= 2 * OPERATIONS.len() * OPERATIONS.len(), "both threads always acted");
    let leaders: BTreeSet<u64> = acted.iter().map(|acted| acted.id).collect();
    assert!(leaders.len() >= 2, "the leadership changed hands: {leaders:?}");
    for (index, one) in acted.iter().enumerate() {
        for other in acted[..index].iter().filter(|other| other.id != one.id) {
            let overlap = one.to.min(other.to).saturating_sub(one.from.max(other.from));
            let who = format!("{} ({}) and {} ({})", one.id, one.pair, other.id, other.pair);
            assert_eq!(overlap, 0, "nanoseconds in which two members acted: {who}");
        }
    }
}
