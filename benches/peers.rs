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
//!
//! **How to read it.** *Given up after* is the time after which a silent leader is given up by the
//! timers that were chosen: only rows with about the same value can be compared. A failover of etcd
//! is that of Raft itself; what an application elects by etcd's leases comes later. Keepalived
//! leaves its address behind if it is killed, and while it is stopped: then two have it.
//!
//! **Assumptions.** Root, `ip`, `nft`, and Debian's packages keepalived, corosync, etcd-server. A
//! system that is not installed is left out, and the last line says so.
//!
//! `-- --quick` makes few repetitions, and `-- WORD` measures what has this word in its name.

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

use ::bellwether::core::{Duration, Entropy, Instant};
use ::bellwether::protocols::local_leader::Preset;
use ::bellwether::sim::{RunSeed, StreamPurpose};
use cluster::{Cluster, System};
use lab::clock::{millis, now, sleep};
use table::{Figures, Table};

/// What befalls the leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    Kill,
    Cut,
    Pause,
    Terminate,
}

impl Fault {
    const ALL: [Self; 4] = [Self::Kill, Self::Cut, Self::Pause, Self::Terminate];
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
const HELD: Duration = Duration::from_millis(500);

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
            sleep(Duration::from_secs(1) + Duration::from_nanos(luck.below(1 << 28)));
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

fn systems() -> Vec<Box<dyn System>> {
    let mut all: Vec<Box<dyn System>> = Vec::new();
    for advert in [10, 40, 1000] {
        all.push(Box::new(keepalived::Keepalived { advert: Duration::from_millis(advert) }));
    }
    all.push(Box::new(corosync::Corosync { token: Duration::from_millis(250) }));
    let election = Duration::from_millis(150);
    all.push(Box::new(etcd::Etcd { heartbeat: Duration::from_millis(20), election }));
    all
}

fn main() {
    // Cargo adds flags of its own, such as --bench.
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let quick = arguments.iter().any(|argument| argument == "--quick");
    let word = arguments.iter().find(|word| !word.starts_with('-'));
    let asked = |name: &str| word.is_none_or(|word| name.contains(word.as_str()));
    let repetitions = if quick { 2 } else { 30 };
    let watched = Duration::from_secs(if quick { 2 } else { 20 });
    let mut table = Table::new(repetitions);
    for preset in [Preset::Fast, Preset::Lan] {
        if asked(&bellwether::name(preset)) {
            let ours = Box::new(bellwether::Ours::started(preset));
            table.push(&measure(ours, repetitions, watched));
        }
    }
    let mut missing = Vec::new();
    for system in systems() {
        if !asked(&system.name()) {
            continue;
        }
        if cluster::is_installed(system.program()) {
            table.push(&measure(Box::new(Cluster::started(system)), repetitions, watched));
        } else if !missing.contains(&system.package()) {
            missing.push(system.package());
        }
    }
    if !missing.is_empty() {
        println!("left out, because not installed: apt-get install {}", missing.join(" "));
    }
}
