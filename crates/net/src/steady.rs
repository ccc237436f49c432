//! A group in its usual state: the threads of its members allocate nothing.
//!
//! What counts is everything that the event loop does: renewals and answers, stamps, sealing and
//! opening frames, telling the application, and periodic work. Memory that is allocated there could
//! make an election wait: for the allocator's lock, for the kernel, or for a page.

use crate::member::Member;
use crate::{Election, Peers};
use bellwether_core::Duration;
use bellwether_protocols::choice::Config;
use bellwether_protocols::local_leader::{self, Preset, Tokens};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Long enough for stamps to be refreshed, and for beacons of every kind to be due.
const WATCHED: Duration = Duration::from_millis(2_500);
/// Until all buffers have their size.
const WARM: Duration = Duration::from_millis(2_500);

/// Frequent renewals, and leases that a stalled machine does not break.
fn leases() -> Config {
    let millis = |length| Some(Duration::from_millis(length));
    let (delta, renew) = (millis(20), millis(50));
    let (preset, tokens) = (Preset::Wan, Tokens::Volatile);
    Config::LocalLeader(local_leader::Config { preset, tokens, delta, renew, ..Default::default() })
}

fn member(id: u64, peers: &Peers, multicast: Option<SocketAddr>) -> Member {
    let mut builder = Election::builder("steady").peers(peers.clone()).id(id).insecure();
    if let Some(group) = multicast {
        builder = builder.multicast(group);
    }
    let prepared = builder.protocol("local-leader", leases()).prepare().unwrap();
    prepared.assemble(&mut |_| ()).unwrap().0
}

/// What one member did while nothing changed.
struct Seen {
    allocations: u64,
    sent: u64,
    multicast: u64,
    received: u64,
    led: bool,
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
        let (changes, before) = (member.changes, member.traffic.clone());
        let info = allocation_counter::measure(|| run_for(&mut member, WATCHED));
        if seen.is_none() && member.changes == changes && member.leads_or_follows() {
            let now = member.shared.now();
            seen = Some(Seen {
                allocations: info.count_total,
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

/// Three members that run until nothing changes; what each saw then.
fn group(port: u16, multicast: Option<SocketAddr>) -> Vec<Seen> {
    let number = std::process::id();
    let (a, b) = (1 + number % 250, number / 250 % 250);
    let places: Vec<String> = (1..=3).map(|id| format!("{id}=127.{a}.{b}.{id}:{port}")).collect();
    let peers: Peers = places.join(",").parse().unwrap();
    let members: Vec<Member> = (1..=3).map(|id| member(id, &peers, multicast)).collect();
    let done = AtomicUsize::new(0);
    thread::scope(|scope| {
        let run = |member| scope.spawn(|| watch(member, &done));
        let threads: Vec<_> = members.into_iter().map(run).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn assert_steady(seen: &[Seen]) {
    assert_eq!(seen.iter().filter(|seen| seen.led).count(), 1, "one of them led");
    for Seen { allocations, sent, received, led, .. } in seen {
        assert!(*sent > 20 && *received > 20, "it took part: {sent} sent, {received} received");
        assert_eq!(*allocations, 0, "{sent} sent, {received} received, led: {led}");
    }
}

#[test]
fn renewals_allocate_nothing() {
    let seen = group(7499, None);
    assert_steady(&seen);
    assert!(seen.iter().all(|seen| seen.multicast == 0));
}

#[test]
fn renewals_by_multicast_allocate_nothing() {
    // A port of this process's own: other members on the loopback have another one.
    let port = 20_000 + (std::process::id() % 40_000) as u16;
    let seen = group(7498, Some(SocketAddr::from(([239, 77, 0, 2], port))));
    assert_steady(&seen);
    for Seen { sent, multicast, led, .. } in seen {
        assert!(!led || multicast * 10 >= sent * 9, "{multicast} of {sent} were multicast");
    }
}
