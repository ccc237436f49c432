//! Ours beside others: `cargo bench --locked --bench peers`.
//!
//! **What is measured.** Three members in namespaces of their own, joined by a bridge; each system
//! with the same faults on the same network, one after the other. A failover lasts from the moment
//! before the fault is made to the moment at which another member is seen to lead. *Two led* is for
//! how long, in all repetitions together, two members led at once.
//!
//! | system | who leads | when it is seen |
//! |---|---|---|
//! | bellwether | whoever holds the lease | by its own report; two leaders by the judge of its traces |
//! | keepalived | whoever has the virtual address | by the kernel's report of addresses |
//! | corosync | the least id of a quorate membership | by its log |
//! | etcd | the leader of its Raft group | by asking each member every 2 ms |
//! | zookeeper | the leader of its ensemble | by its log |
//!
//! **How to read it.** *Given up after* is the time after which a silent leader is given up by the
//! timers that were chosen: only rows with about the same value can be compared, and the lines
//! after the table name every column in which ours is behind such a row. *Kill -9 of the member*
//! kills its first process: ours leaves its guardian alive, keepalived its VRRP process, and the
//! others have no second one. *Kill -9 of all* kills all processes of the member. Memory is that of
//! all processes of the largest member; what they share counts in each, with every system. A
//! failover of etcd and of ZooKeeper is that of the group itself; what an application elects by
//! their leases and sessions comes later. Keepalived leaves its address behind if all of it is
//! killed, and while it is stopped: then two have it.
//!
//! **Assumptions.** Root, `ip`, `nft`, and Debian's packages keepalived, corosync, etcd-server,
//! zookeeper and default-jre-headless. A system that is not installed is left out, and the last
//! line says so.
//!
//! `-- --quick` makes few repetitions, `-- --repetitions N` so many, and `-- WORD` measures what
//! has this word in its name. `-- --file FILE` adds each row to the file when it was measured, and
//! shows the rows that are in it already instead of measuring them: a long run can be made in
//! parts.

#[path = "peers/bellwether.rs"]
mod bellwether;
#[path = "peers/claims.rs"]
mod claims;
#[path = "peers/cluster.rs"]
mod cluster;
#[path = "peers/corosync.rs"]
mod corosync;
#[path = "peers/etcd.rs"]
mod etcd;
#[path = "peers/keepalived.rs"]
mod keepalived;
#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../tests/live/lab/mod.rs"]
mod lab;
#[path = "peers/table.rs"]
mod table;
#[path = "peers/verdict.rs"]
mod verdict;
#[path = "peers/zookeeper.rs"]
mod zookeeper;

use ::bellwether::core::{Duration, Entropy, Instant};
use ::bellwether::protocols::local_leader::Preset;
use ::bellwether::sim::{RunSeed, StreamPurpose};
use bellwether::{Lease, Ours};
use cluster::{Cluster, System};
use lab::clock::{millis, now, sleep};
use std::io::Write as _;
use table::{Figures, Table};

/// What befalls the leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// The first process of the member is killed.
    Kill,
    /// All processes of the member are killed.
    KillAll,
    Cut,
    Pause,
    Terminate,
}

impl Fault {
    const ALL: [Self; 5] = [Self::Kill, Self::KillAll, Self::Cut, Self::Pause, Self::Terminate];

    fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill -9 of the member",
            Self::KillAll => "kill -9 of all",
            Self::Cut => "silent cut",
            Self::Pause => "pause",
            Self::Terminate => "SIGTERM",
        }
    }
}

/// A group of three members of some system.
trait Peer {
    /// What it is, with the timers that were chosen.
    fn name(&self) -> String;
    /// After how long a silent leader is given up.
    fn gives_up_after(&self) -> Duration;
    /// Waits until one leads; says who.
    fn settled(&mut self) -> u64;
    /// Makes the fault; says when it began.
    fn strike(&mut self, fault: Fault, id: u64) -> Instant;
    /// Waits until another member leads; says how long that took.
    fn replaced(&mut self, former: u64, since: Instant) -> Duration;
    /// Undoes the fault.
    fn mend(&mut self, fault: Fault, id: u64);
    /// Ends the group; says for how long two have led at once.
    fn two_led(self: Box<Self>) -> Duration;
    /// How many packets all members have sent.
    fn packets(&self) -> u64;
    /// The resident memory of all processes of the largest member, in MiB.
    fn memory(&self) -> f64;
}

/// How long a fault lasts after the leader was replaced.
const HELD: Duration = Duration::from_millis(300);
/// How long a group is left alone before a fault; up to [`PHASE`] nanoseconds are added at random.
const REST: Duration = Duration::from_millis(600);
const PHASE: u64 = 1 << 28;

fn measure(mut peer: Box<dyn Peer>, repetitions: usize, watched: Duration) -> Figures {
    let mut luck = RunSeed::new(1, 0).world(StreamPurpose::Caller(0));
    peer.settled();
    sleep(Duration::from_secs(2)); // what a start costs is not what is asked
    let (began, packets) = (now(), peer.packets());
    sleep(watched);
    let packets = (peer.packets() - packets) as f64 / now().since(began).as_secs_f64();
    let memory = peer.memory();
    let mut failovers = Vec::new();
    for fault in Fault::ALL {
        let mut times: Vec<f64> = Vec::new();
        for _ in 0..repetitions {
            peer.settled();
            sleep(REST + Duration::from_nanos(luck.below(PHASE)));
            let leader = peer.settled();
            let begun = peer.strike(fault, leader);
            times.push(millis(peer.replaced(leader, begun)));
            sleep(HELD);
            peer.mend(fault, leader);
        }
        times.sort_by(f64::total_cmp);
        failovers.push(times);
    }
    peer.settled();
    let (name, gives_up_after) = (peer.name(), millis(peer.gives_up_after()));
    let two_led = millis(peer.two_led());
    Figures { name, gives_up_after, failovers, two_led, packets, memory }
}

/// Ours, with the detection times of the others: keepalived's with adverts of 10 ms, keepalived's
/// with adverts of 40 ms and etcd's, corosync's and ZooKeeper's. `fast` lies between the first two.
fn ours() -> [Lease; 4] {
    let preset = |preset| Lease { preset, lock: None };
    let longer = Lease { preset: Preset::Lan, lock: Some(Duration::from_millis(250)) };
    [preset(Preset::Fastest), preset(Preset::Fast), preset(Preset::Lan), longer]
}

fn systems() -> Vec<Box<dyn System>> {
    let advert = |ms| keepalived::Keepalived { advert: Duration::from_millis(ms) };
    let election = Duration::from_millis(150);
    vec![
        Box::new(advert(10)),
        Box::new(advert(40)),
        Box::new(etcd::Etcd { heartbeat: Duration::from_millis(20), election }),
        Box::new(corosync::Corosync { token: Duration::from_millis(250) }),
        Box::new(zookeeper::ZooKeeper { tick: Duration::from_millis(50) }),
        Box::new(advert(1000)), // its default, which none of ours waits for
    ]
}

/// What is asked for.
struct Wish {
    repetitions: usize,
    watched: Duration,
    /// Where rows are kept.
    file: Option<String>,
    /// What the names of rows have in them.
    word: Option<String>,
}

impl Wish {
    /// Cargo adds flags of its own, such as --bench.
    fn read() -> Self {
        let mut wish =
            Self { repetitions: 30, watched: Duration::from_secs(20), file: None, word: None };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--quick" => {
                    (wish.repetitions, wish.watched) = (2, Duration::from_secs(2));
                }
                "--repetitions" => {
                    let number = arguments.next().and_then(|number| number.parse().ok());
                    wish.repetitions = number.expect("--repetitions takes a number");
                    wish.watched = Duration::from_secs(10);
                }
                "--file" => wish.file = arguments.next(),
                flag if flag.starts_with('-') => {}
                _ => wish.word = Some(argument),
            }
        }
        wish
    }

    /// The row of this name, if it was measured already with as many repetitions.
    fn kept(&self, name: &str) -> Option<Figures> {
        let text = std::fs::read_to_string(self.file.as_ref()?).ok()?;
        let all_times = |figures: &Figures| {
            figures.failovers.iter().all(|times| times.len() == self.repetitions)
        };
        let mut rows = text.lines().filter_map(Figures::of_line);
        rows.find(|figures| figures.name == name && all_times(figures))
    }

    fn keep(&self, figures: &Figures) {
        let Some(file) = &self.file else { return };
        let opened = std::fs::OpenOptions::new().create(true).append(true).open(file);
        let written = opened.and_then(|mut file| writeln!(file, "{}", figures.to_line()));
        written.unwrap_or_else(|error| panic!("{file} cannot be written: {error}"));
    }

    /// Measures a group, unless its row is in the file or is not asked for.
    fn row(&self, table: &mut Table, name: &str, start: impl FnOnce() -> Box<dyn Peer>) {
        if self.word.as_ref().is_some_and(|word| !name.contains(word.as_str())) {
            return;
        }
        let figures = self.kept(name).unwrap_or_else(|| {
            let figures = measure(start(), self.repetitions, self.watched);
            self.keep(&figures);
            figures
        });
        table.push(figures);
    }
}

fn main() {
    let wish = Wish::read();
    let mut table = Table::new(wish.repetitions);
    for lease in ours() {
        wish.row(&mut table, &lease.name(), || Box::new(Ours::started(lease)));
    }
    let mut missing = Vec::new();
    for system in systems() {
        if cluster::is_installed(system.program()) {
            let name = system.name();
            wish.row(&mut table, &name, || Box::new(Cluster::started(system)));
        } else if !missing.contains(&system.package()) {
            missing.push(system.package());
        }
    }
    verdict::print(&table.0);
    if !missing.is_empty() {
        println!("left out, because not installed: apt-get install {}", missing.join(" "));
    }
}
