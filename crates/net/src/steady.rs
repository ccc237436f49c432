//! A group in its usual state: the threads of its members allocate nothing and write to no file.
//!
//! What counts is everything that the event loop does: renewals and answers, stamps, sealing and
//! opening frames, telling the application, and periodic work; and in hand-overs resigning, the
//! campaign and winning. Memory that is allocated there could make an election wait: for the
//! allocator's lock, for the kernel, or for a page. Who writes to a log or a file may wait for its
//! reader or for a disk.

use crate::member::Member;
use crate::resignation::Resigning;
use crate::{Election, Peers};
use bellwether_core::Duration;
use bellwether_protocols::choice::Config;
use bellwether_protocols::local_leader::{self, Preset, Tokens};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;

/// Long enough for stamps to be refreshed, and for beacons of every kind to be due.
const WATCHED: Duration = Duration::from_millis(2_500);
/// Until all buffers have their size.
const WARM: Duration = Duration::from_millis(2_500);

/// Frequent renewals, and leases that a stalled machine does not break.
fn leases(tokens: Tokens) -> Config {
    let millis = |length| Some(Duration::from_millis(length));
    let (delta, renew) = (millis(20), millis(50));
    let preset = Preset::Wan;
    Config::LocalLeader(local_leader::Config { preset, tokens, delta, renew, ..Default::default() })
}

/// What a group is made of.
#[derive(Clone, Copy)]
struct Shape {
    port: u16,
    multicast: Option<SocketAddr>,
    /// Where records are, if tokens are durable.
    dir: Option<&'static str>,
}

const PLAIN: Shape = Shape { port: 7499, multicast: None, dir: None };

/// A member, with a last will for a guardian.
fn member(id: u64, peers: &Peers, shape: Shape) -> Member {
    let mut builder = Election::builder("steady").peers(peers.clone()).id(id).insecure();
    if let Some(group) = shape.multicast {
        builder = builder.multicast(group);
    }
    if let Some(name) = shape.dir {
        builder = builder.dir(folder(name).join(id.to_string()));
    }
    let tokens = if shape.dir.is_some() { Tokens::Durable } else { Tokens::Volatile };
    let mut prepared = builder.protocol("local-leader", leases(tokens)).prepare().unwrap();
    assert!(prepared.last_will().unwrap().is_some());
    prepared.assemble(&mut |_| ()).unwrap().0
}

/// A folder of this process's own.
fn folder(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("bellwether-{name}-{}", std::process::id()))
}

/// What one member did while nothing changed.
struct Seen {
    allocations: u64,
    writes: u64,
    sent: u64,
    multicast: u64,
    received: u64,
    led: bool,
}

/// How often this thread has written to a file, a pipe or a terminal. Datagrams do not count.
fn writes() -> u64 {
    let counts = std::fs::read_to_string("/proc/thread-self/io").unwrap();
    let count = counts.lines().find_map(|line| line.strip_prefix("syscw: ")).unwrap();
    count.parse().unwrap()
}

fn run_for(member: &mut Member, length: Duration) {
    let end = member.shared.now() + length;
    while member.shared.now() < end {
        assert!(member.turn(), "it stays");
    }
}

/// Runs until all have watched a time without a change, and returns what was seen in it.
fn watch(mut member: Member, done: &AtomicUsize) -> Seen {
    member.begin();
    run_for(&mut member, WARM);
    let mut seen = None;
    while done.load(Ordering::Acquire) < 3 {
        let (changes, before, written) = (member.changes, member.traffic.clone(), writes());
        let info = allocation_counter::measure(|| run_for(&mut member, WATCHED));
        let writes = writes() - written;
        if seen.is_none() && member.changes == changes && member.leads_or_follows() {
            let now = member.shared.now();
            seen = Some(Seen {
                allocations: info.count_total,
                writes,
                sent: member.traffic.sent - before.sent,
                multicast: member.traffic.multicast - before.multicast,
                received: member.traffic.received - before.received,
                led: member.leads(now),
            });
            done.fetch_add(1, Ordering::AcqRel);
        }
    }
    seen.unwrap()
}

impl Member {
    fn leads_or_follows(&self) -> bool {
        !self.shared.see().standing.leaders.is_empty()
    }
}

/// Three members that have not begun.
fn members(shape: Shape) -> Vec<Member> {
    let number = std::process::id();
    let (a, b) = (1 + number % 250, number / 250 % 250);
    let places: Vec<String> =
        (1..=3).map(|id| format!("{id}=127.{a}.{b}.{id}:{}", shape.port)).collect();
    let peers: Peers = places.join(",").parse().unwrap();
    (1..=3).map(|id| member(id, &peers, shape)).collect()
}

/// The same, which run until nothing changes; what each saw then.
fn group(shape: Shape) -> Vec<Seen> {
    let members = members(shape);
    let done = AtomicUsize::new(0);
    thread::scope(|scope| {
        let run = |member| scope.spawn(|| watch(member, &done));
        let threads: Vec<_> = members.into_iter().map(run).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn assert_steady(seen: &[Seen]) {
    assert_eq!(seen.iter().filter(|seen| seen.led).count(), 1, "one of them led");
    for Seen { allocations, writes, sent, received, led, .. } in seen {
        assert!(*sent > 20 && *received > 20, "it took part: {sent} sent, {received} received");
        assert_eq!(*writes, 0, "nothing is logged; led: {led}");
        assert_eq!(*allocations, 0, "{sent} sent, {received} received, led: {led}");
    }
}

#[test]
fn renewals_allocate_nothing() {
    let seen = group(PLAIN);
    assert_steady(&seen);
    assert!(seen.iter().all(|seen| seen.multicast == 0));
}

#[test]
fn renewals_with_durable_tokens_allocate_nothing() {
    let dir = Some("steady-renewals");
    let seen = group(Shape { port: 7497, dir, ..PLAIN });
    let _ = std::fs::remove_dir_all(folder("steady-renewals"));
    assert_steady(&seen);
}

#[test]
fn renewals_by_multicast_allocate_nothing() {
    // A port of this process's own: other members on the loopback have another one.
    let port = 20_000 + (std::process::id() % 40_000) as u16;
    let multicast = Some(SocketAddr::from(([239, 77, 0, 2], port)));
    let seen = group(Shape { port: 7498, multicast, ..PLAIN });
    assert_steady(&seen);
    for Seen { sent, multicast, led, .. } in seen {
        assert!(!led || multicast * 10 >= sent * 9, "{multicast} of {sent} were multicast");
    }
}

/// What a test and the threads of its members tell each other.
#[derive(Default)]
struct Orders {
    /// Who is to resign now; 0: nobody.
    resigns: AtomicU64,
    /// Who leads; 0: nobody.
    leader: AtomicU64,
    /// Whether it counts what they do.
    counts: AtomicBool,
    over: AtomicBool,
}

/// Between two hand-overs, until all have heard of the one before.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(500);

/// What one member did while it counted.
#[derive(Debug, Default)]
struct Done {
    allocations: u64,
    writes: u64,
    /// How often it believed something else.
    changes: u64,
}

/// Runs a member until it is over.
fn obey(mut member: Member, orders: &Orders) -> Done {
    member.begin();
    let (me, mut done) = (member.settings.me.0, Done::default());
    while !orders.over.load(Ordering::Acquire) {
        let counts = orders.counts.load(Ordering::Acquire);
        let (written, changes) = (writes(), member.changes);
        let take = |place: &AtomicU64| {
            place.compare_exchange(me, 0, Ordering::AcqRel, Ordering::Acquire).is_ok()
        };
        let info = allocation_counter::measure(|| {
            if take(&orders.resigns) {
                member.give_up(Resigning::default(), member.shared.now());
            }
            run_for(&mut member, Duration::from_millis(5));
        });
        if counts {
            done.allocations += info.count_total;
            done.writes += writes() - written;
            done.changes += member.changes - changes;
        }
        let now = member.shared.now();
        if member.leads(now) {
            orders.leader.store(me, Ordering::Release);
        } else {
            take(&orders.leader);
        }
    }
    done
}

impl Orders {
    /// Waits until another member than this one leads.
    fn next_leader(&self, former: u64, patience: u32) -> Option<u64> {
        (0..patience).find_map(|_| {
            thread::sleep(std::time::Duration::from_millis(1));
            let leader = self.leader.load(Ordering::Acquire);
            (leader != 0 && leader != former).then_some(leader)
        })
    }

    /// Has the leader resign until another one leads: it may be elected again itself.
    fn hand_over(&self) {
        let leader = self.next_leader(0, 30_000).expect("somebody leads");
        let next = (0..30).find_map(|_| {
            self.resigns.store(leader, Ordering::Release);
            self.next_leader(leader, 1_000)
        });
        next.expect("another one leads");
        thread::sleep(PAUSE);
    }
}

/// What each of three members did in some hand-overs, when all had led.
fn hand_overs(shape: Shape) -> Vec<Done> {
    const HAND_OVERS: u64 = 6;
    let (members, orders) = (members(shape), Orders::default());
    thread::scope(|scope| {
        let run = |member| scope.spawn(|| obey(member, &orders));
        let threads: Vec<_> = members.into_iter().map(run).collect();
        // Buffers get their size when a member leads for the first time.
        (0..HAND_OVERS).for_each(|_| orders.hand_over());
        orders.counts.store(true, Ordering::Release);
        (0..HAND_OVERS).for_each(|_| orders.hand_over());
        orders.over.store(true, Ordering::Release);
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn a_hand_over_allocates_what_the_application_is_told_and_writes_nothing() {
    for Done { allocations, writes, changes } in hand_overs(Shape { port: 7496, ..PLAIN }) {
        // The list of leaders of each belief, which whoever is told may keep.
        assert!(changes > 0 && allocations <= changes, "{allocations} in {changes} changes");
        assert_eq!(writes, 0);
    }
}
