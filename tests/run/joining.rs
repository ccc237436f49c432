//! Members that join a running group with its key and one address, as operators do it.

use super::member::{
    Folder, Member, bellwether, command, eventually, hold, judge_and_replay, leader, now, peers,
    refusal,
};
use bellwether::protocols::local_leader::{Config, Params, Preset};
use rustix::time::{ClockId, clock_gettime};
use std::ops::Range;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// How often the worker marks that it runs.
const MARK: Duration = Duration::from_millis(50);

/// A group whose members have a key, and what is needed to start them.
struct Group {
    folder: Folder,
    list: String,
    places: Vec<String>,
    worker: String,
}

impl Group {
    /// A group of so many founders, with places for six members.
    fn new(name: &str, founders: usize) -> Self {
        let folder = Folder::new(name);
        let all = peers(6);
        let entries: Vec<&str> = all.split(',').collect();
        let list = entries[..founders].join(",");
        let place = |entry: &&str| entry.split_once('=').expect("an id and a place").1.to_owned();
        let places = entries.iter().map(place).collect();
        let made = bellwether(&format!("keygen {}", folder.file("key").display()));
        assert!(made.status.success());
        let worker = worker(&folder);
        Self { folder, list, places, worker }
    }

    fn dir(&self) -> String {
        self.folder.dir()
    }

    fn key(&self) -> String {
        self.folder.file("key").display().to_string()
    }

    fn trace(&self, id: u64) -> String {
        self.folder.file(&format!("{id}.jsonl")).display().to_string()
    }

    fn place(&self, id: u64) -> &str {
        &self.places[id as usize - 1]
    }

    fn spawn(&self, id: u64, words: &str) -> Member {
        let (dir, key, trace) = (self.dir(), self.key(), self.trace(id));
        let mut command =
            command(&format!("run web {words} --id {id} --dir {dir} --key {key} --record {trace}"));
        command.args(["--", &self.worker]);
        Member::spawn(command, &dir, id)
    }

    fn found(&self, id: u64) -> Member {
        self.spawn(id, &format!("--peers {} --preset wan --tokens durable", self.list))
    }

    /// It is told nothing but a key, an address, and where to listen.
    fn join(&self, id: u64) -> Member {
        let (through, here) = (self.place(1), self.place(id));
        self.spawn(id, &format!("--join {through} --listen {here}"))
    }

    fn ask(&self, what: &str, words: &str, id: u64) -> std::process::Output {
        bellwether(&format!("{what} web {words} --id {id} --dir {}", self.dir()))
    }

    /// The refusal of a member that would join; with a directory of its own.
    fn refused(&self, words: &str, code: i32) -> String {
        let dir = self.folder.file("other").display().to_string();
        refusal(&bellwether(&format!("run web {words} --dir {dir}")), code)
    }
}

/// A worker that says so if another one runs, and marks when it runs.
fn worker(folder: &Folder) -> String {
    let (lock, log) = (folder.file("lock"), folder.file("log"));
    let script = format!(
        "exec 9>{0}\nflock -n 9 || echo two >> {1}\n\
         while :; do echo $BELLWETHER_ID $(date +%s%N) >> {1}; sleep {2}; done\n",
        lock.display(),
        log.display(),
        MARK.as_secs_f64(),
    );
    folder.script("worker", &script).display().to_string()
}

/// The times without a mark since so many lines, in the worker's log, from mark to mark.
fn gaps(log: &str, since: usize) -> Vec<Range<Duration>> {
    let marks: Vec<Duration> = log
        .lines()
        .skip(since.saturating_sub(1))
        .filter_map(|line| line.split_once(' ')?.1.parse().ok().map(Duration::from_nanos))
        .collect();
    marks.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

/// The clock of the worker's marks.
fn wall() -> Duration {
    Duration::try_from(clock_gettime(ClockId::Realtime)).expect("it is after 1970")
}

/// When this machine woke a thread late, on as many threads as it has cores: what a bound must be
/// forgiven.
#[derive(Clone, Default)]
struct Stalls(Arc<Mutex<Vec<Range<Duration>>>>);

impl Stalls {
    fn watch() -> Self {
        let stalls = Self::default();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..cores {
            let seen = Arc::downgrade(&stalls.0);
            std::thread::spawn(move || {
                let nap = Duration::from_millis(1);
                while let Some(seen) = seen.upgrade() {
                    let due = wall() + nap * 2;
                    std::thread::sleep(nap);
                    let woken = wall();
                    if woken > due {
                        seen.lock().expect("nobody panics with it").push(due..woken);
                    }
                }
            });
        }
        stalls
    }

    /// For how long of this time a thread should have run and did not. Threads that were late at
    /// the same time count once: what the group does next waits for one of them, not for each.
    fn within(&self, time: &Range<Duration>) -> Duration {
        let mut all = self.0.lock().expect("nobody panics with it").clone();
        all.sort_by_key(|stall| stall.start);
        let (mut sum, mut counted) = (Duration::ZERO, time.start);
        for stall in all {
            let (from, to) = (stall.start.max(counted), stall.end.min(time.end));
            sum += to.saturating_sub(from);
            counted = counted.max(to);
        }
        sum
    }
}

/// As many processes as there are processors, which do nothing but keep them busy.
struct Load(Vec<Child>);

impl Load {
    fn begin() -> Self {
        let count = std::thread::available_parallelism().map_or(1, usize::from);
        let spin = |_| Command::new("sh").args(["-c", "while :; do :; done"]).spawn();
        Self((0..count).map(spin).map(|child| child.expect("a shell starts")).collect())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill(); // nothing else ends it
            let _ = child.wait();
        }
    }
}

/// Without a leader for less than this in a group of five with the preset of the founders: the time
/// to replace a leader that fell silent, whoever of the others is first in line.
fn kappa() -> Duration {
    let config = Config { preset: Preset::Wan, ..Config::default() };
    let params = Params::try_from(config).expect("a preset keeps its own rules");
    Duration::from_nanos((params.failover() + params.stagger() * 5).as_nanos())
}

#[test]
fn three_become_five_and_then_three_others_by_a_key_and_one_address_under_load() {
    let group = Group::new("join", 3);
    let load = Load::begin();
    let stalls = Stalls::watch();
    let mut members: Vec<Member> = (1..=3).map(|id| group.found(id)).collect();
    leader(&members);
    members.extend([4, 5].map(|id| group.join(id)));
    hold(&members, 0, &[1, 2, 3]);
    let said = String::from_utf8(group.ask("members", "", leader(&members)).stdout).unwrap();
    let lengths = "lockTime 900 ms, drift 200 ppm";
    let voters = format!("\n\nvoters 1, 2, 3 (list 0, {lengths}); observers: 4, 5\n");
    assert!(said.ends_with(&voters), "{said}");
    assert!(said.contains(group.place(4)), "{said}");
    let step = |members: &[Member], act: &dyn Fn(u64)| {
        let lines = group.folder.text("log").lines().count();
        act(leader(members));
        leader(members);
        let marked = || group.folder.text("log").lines().count();
        let then = marked();
        eventually("the worker goes on", || (marked() > then + 2).then_some(()));
        for gap in gaps(&group.folder.text("log"), lines) {
            let (length, late) = (gap.end.saturating_sub(gap.start), stalls.within(&gap));
            let text = format!("nobody led for {length:?}; κ is {:?}, stalls {late:?}", kappa());
            assert!(length < kappa() + late, "{text}");
        }
    };
    let change = |members: &[Member], words: &str| {
        step(members, &|leads| {
            let asked = group.ask("members", words, leads);
            let errors = String::from_utf8_lossy(&asked.stderr);
            assert!(asked.status.success(), "{words}: {errors}");
        });
    };
    // A leader does not remove itself: 4 stays until the end.
    let lead_by_4 = |members: &[Member]| {
        if leader(members) != 4 {
            step(members, &|leads| {
                let over = group.ask("transfer", "4", leads);
                assert!(over.status.success(), "{}", String::from_utf8_lossy(&over.stderr));
                eventually("4 leads", || (leader(members) == 4).then_some(()));
            });
        }
    };
    change(&members, "add 4");
    change(&members, "add 5");
    lead_by_4(&members);
    change(&members, "remove 1");
    change(&members, "remove 2");
    hold(&members, 4, &[3, 4, 5]);
    // A sixth place, and the last founder is replaced by it in one step.
    members.push(group.join(6));
    hold(&members, 4, &[3, 4, 5]);
    lead_by_4(&members);
    change(&members, "replace 3 6");
    hold(&members, 5, &[4, 5, 6]);
    drop(load);
    // The founders are stopped for good: also the one that was asked by those that joined.
    for _ in 0..3 {
        assert_eq!(members.remove(0).end().0, Some(0));
    }
    assert!(leader(&members) >= 4);
    drop(members); // 4, 5 and 6 by SIGKILL
    let mut members: Vec<Member> = [4, 5, 6].map(|id| group.join(id)).into();
    hold(&members, 5, &[4, 5, 6]);
    assert!(leader(&members) >= 4);
    let log = group.folder.text("log");
    assert!(log.contains("4 ") && !log.contains("two"), "{log}");
    members.iter_mut().for_each(|member| assert_eq!(member.end().0, Some(0)));
    let traces = (1..=6).map(|id| group.trace(id)).collect::<Vec<_>>().join(" ");
    judge_and_replay(&traces);
}

#[test]
fn who_cannot_join_is_told_so_in_one_line() {
    let group = Group::new("no-join", 3);
    let mut members: Vec<Member> = [1, 2, 3].map(|id| group.found(id)).into();
    leader(&members);
    assert_eq!(members.remove(2).end().0, Some(0));
    leader(&members);
    let (key, one, free, three) = (group.key(), group.place(1), group.place(5), group.place(3));
    let join = format!("--key {key} --join {one}");
    for (words, code, why) in [
        (format!("{join} --id 4 --peers {}", group.list), 2, "cannot be used with"),
        (format!("{join} --id 4 --voters 1"), 2, "cannot be used with"),
        (format!("{join} --listen {free}"), 78, "set --id"),
        (format!("{join} --id 4 --listen {free} --mode local"), 78, "durable tokens accept"),
        (format!("{join} --id 4 --listen {free} --tokens volatile"), 78, "durable tokens accept"),
        (format!("{join} --id 4 --listen {free} --preset fast"), 78, "leave the parameters out"),
        (format!("{join} --id 2 --listen {free}"), 78, "2 is the id of a founding member"),
        (format!("{join} --id 4 --listen {three}"), 78, "is the address of member 3"),
        (format!("--key {key} --join nowhere --id 4"), 78, "a port is missing"),
    ] {
        let line = group.refused(&words, code);
        assert!(line.contains(why), "{words}: {line}");
    }
    let other = group.folder.file("other-key").display().to_string();
    assert!(bellwether(&format!("keygen {other}")).status.success());
    for words in [
        format!("--key {other} --join {one} --listen {free}"),
        format!("--key {key} --join {} --listen {free}", group.place(4)),
    ] {
        let dir = group.folder.file("other").display().to_string();
        let waits = command(&format!("run web {words} --id 4 --dir {dir}"));
        let mut waits = Member::spawn(waits, &dir, 4);
        let line = waits.error("no answer from");
        assert!(line.contains("another key or another group; it is asked again"), "{line}");
        let said = waits.ask("status");
        let said = String::from_utf8_lossy(&said.stderr).into_owned();
        assert!(said.contains("joining web"), "{said}");
        assert_eq!(waits.end().0, Some(0), "SIGTERM ends it at every stage");
    }
    // On one machine: it would take the address of the one that it asks, or one that others use.
    let taken = std::net::UdpSocket::bind("127.0.0.1:7400");
    let dir = group.folder.file("other").display().to_string();
    let waits = command(&format!("run web {join} --id 4 --dir {dir}"));
    let mut waits = Member::spawn(waits, &dir, 4);
    waits.error("at 127.0.0.1:7400, where other machines do not reach it: set `listen`");
    waits.error("; set --listen to a free address that the other members reach");
    assert_eq!(waits.code(), Some(1));
    drop(taken); // or another process has it
    assert!(!group.folder.file("members").join("web.1.book").exists(), "nothing changed");
    // A voter that has gone does not answer: the change is given up, and that is said then.
    let mut four = group.join(4);
    eventually("4 has a record", || four.status()?["voters"].is_object().then_some(()));
    assert_eq!(four.end().0, Some(0));
    let begun = now();
    let line = refusal(&group.ask("members", "add 4", leader(&members)), 1);
    assert!(line.contains("the change was given up"), "{line}");
    assert!(now() - begun < Duration::from_secs(15), "{:?}", now() - begun);
    // It is forgotten, and its id is free again.
    let forgotten = eventually("4 is silent", || {
        let asked = group.ask("members", "forget 4", leader(&members));
        asked.status.success().then_some(asked)
    });
    assert_eq!(String::from_utf8_lossy(&forgotten.stdout), "member 4 is forgotten\n");
    let line = refusal(&group.ask("members", "forget 2", leader(&members)), 1);
    assert!(line.contains("member 2 is in the founding list"), "{line}");
}
