//! Floods from many sources, while leaders fail.

use crate::attacker::{Ear, Mouth, Packet};
use crate::lab::clock::{now, sleep};
use crate::lab::group::Group;
use crate::scene::{memory, places, shape, status};
use crate::stage;
use bellwether::core::{Duration, Entropy as _, Seeded};
use std::net::SocketAddrV4;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

/// How many datagrams a second the attacker sends, to all members together.
const RATE: u64 = 30_000;
/// How much more memory a member may use in a flood, in KiB.
const GROWTH: u64 = 1024;

/// A thread that sends datagrams until it is dropped.
struct Flood {
    over: Arc<AtomicBool>,
    sent: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Flood {
    /// Sends what `make` makes, again and again, at an even rate.
    fn start(mut make: impl FnMut(&mut Seeded) -> Packet + Send + 'static) -> Self {
        let (over, sent) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let (ends, counts) = (Arc::clone(&over), Arc::clone(&sent));
        let thread = std::thread::spawn(move || {
            let (mut mouth, mut luck, begun) = (Mouth::new(), Seeded::new(1), now());
            let mut done = 0;
            while !ends.load(Ordering::Relaxed) {
                let due = now().since(begun).as_nanos() * RATE / 1_000_000_000;
                // What was missed while this thread did not run is not made up for.
                let behind = (due - done).min(RATE / 100);
                for _ in 0..behind {
                    mouth.say(&make(&mut luck));
                }
                done = due;
                counts.fetch_add(behind, Ordering::Relaxed);
                sleep(Duration::from_millis(1));
            }
        });
        Self { over, sent, thread: Some(thread) }
    }
}

impl Drop for Flood {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Any source of the loopback.
fn anybody(luck: &mut Seeded) -> SocketAddrV4 {
    let part = |luck: &mut Seeded| 1 + luck.below(250) as u8;
    let ip = [127, part(luck), part(luck), part(luck)];
    SocketAddrV4::new(ip.into(), 1024 + luck.below(60_000) as u16)
}

/// What is sent, given frames that were heard.
type Kind = fn(&[Packet], &mut Seeded) -> Packet;

fn pick(heard: &[Packet], luck: &mut Seeded) -> Packet {
    heard[luck.below(heard.len() as u64) as usize].clone()
}

/// The kinds of floods, by the reasons for which they are refused.
const KINDS: &[(&str, &[&str], Kind)] = &[
    ("noise", &["magic"], |heard, luck| {
        let mut packet = Packet { from: anybody(luck), ..pick(heard, luck) };
        packet.bytes.iter_mut().for_each(|byte| *byte = luck.below(256) as u8);
        packet.bytes[0] = 0;
        packet
    }),
    (
        "forged frames from the members' own places",
        &["forged", "replayed", "former-life"],
        |heard, luck| {
            let packet = pick(heard, luck);
            let number = (1_u64 << 40) + luck.below(1 << 40);
            packet.with(48, &number.to_le_bytes())
        },
    ),
    ("replays from anywhere", &["replayed"], |heard, luck| Packet {
        from: anybody(luck),
        ..pick(heard, luck)
    }),
];

fn refused(group: &Group, id: u64, reasons: &[&str]) -> u64 {
    let refused = &status(group, id)["traffic"]["refused"];
    reasons.iter().map(|reason| refused[*reason].as_u64().unwrap_or(0)).sum()
}

#[test]
fn a_leader_is_replaced_in_time_while_a_flood_goes_on() {
    let _stage = stage();
    for (name, reasons, make) in KINDS {
        let mut group = Group::started(shape());
        let leader = group.settled(&[1, 2, 3]);
        let places = places(&group, leader);
        let all: Vec<SocketAddrV4> = places.values().copied().collect();
        let mut heard = Ear::new().listen(Duration::from_secs(1), &all);
        heard.retain(|packet| packet.bytes.len() > 96);
        let use_before = [1, 2, 3].map(|id| memory(group.member(id).pid()));
        let logs = [1, 2, 3].map(|id| group.member(id).complaints());

        let begun = now();
        let flood = Flood::start(move |luck| make(&heard, luck));
        sleep(Duration::from_secs(3));
        let rate = flood.sent.load(Ordering::Relaxed) as f64 / now().since(begun).as_secs_f64();
        group.assert_unchanged(name, begun);
        let counted = refused(&group, leader, reasons);
        assert!(counted as f64 > 0.1 * rate, "{name}: {counted} of {rate:.0}/s were refused");
        let used = [1, 2, 3].map(|id| memory(group.member(id).pid()));
        for (before, after) in use_before.iter().zip(used) {
            assert!(after < before + GROWTH, "{name}: from {before} to {after} KiB");
        }

        // Released by its guardian; and killed with it, so that the lease must run out.
        for released in [true, false, true, false] {
            let leader = group.settled(&[1, 2, 3]);
            let begun = if released { group.crash(leader) } else { group.crash_all(leader) };
            let (_, took) = group.replaced(leader, begun);
            let how = if released { "released" } else { "lease" };
            group.assert_within(&format!("{name}, {rate:.0}/s, {how}"), took, group.kappa(), begun);
            let (next, lease) = (begun + took, group.lease(leader));
            let early = lease.since(next);
            assert!(released || next >= lease, "{name}: {early} before the end of the lease");
            group.restart(leader);
            group.settled(&[1, 2, 3]);
        }
        drop(flood);
        assert_eq!(logs, [1, 2, 3].map(|id| group.member(id).complaints()), "{name}: the log");
        group.acquit();
    }
}
