//! Bad weather on the loopback: a relay between members that delays, loses, doubles and reorders.
//!
//! **How.** Every member has a listed address, which is the relay's, and one where it really is.
//! What a member sends to a listed address comes to the relay, and goes on to where that member
//! really is, from the listed address of the sender: nobody notices.
//!
//! **Promise.** The fate of a datagram depends on the seed and on the order of arrival alone.

use super::clock::now;
use bellwether::core::{Duration, Entropy, Instant};
use bellwether::sim::coin::Stream;
use bellwether::sim::{RunSeed, StreamPurpose};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// More than this is never under way at once; what comes then is lost, as in any full queue.
const UNDER_WAY_MAX: usize = 10_000;
const DATAGRAM_MAX: usize = 2048;

/// What befalls datagrams.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weather {
    pub(crate) seed: u64,
    /// Each takes at least this.
    pub(crate) delay: Duration,
    /// And up to so much more, by luck: who is lucky overtakes.
    pub(crate) jitter: Duration,
    /// How many of a thousand are lost.
    pub(crate) lost: u64,
    /// How many of a thousand arrive twice.
    pub(crate) doubled: u64,
}

/// Where a member is listed, and where it is.
struct Door {
    listed: UdpSocket,
    really: SocketAddr,
}

/// A datagram under way; those due first come first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct UnderWay {
    due: Instant,
    number: u64,
    from: usize,
    to: usize,
    bytes: Vec<u8>,
}

/// The relay, for as long as it lives.
pub(crate) struct Relay {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    listed: Vec<SocketAddr>,
    weather: Arc<Mutex<Weather>>,
}

impl Relay {
    /// Stands between members that really are at these addresses.
    pub(crate) fn start(really: &[SocketAddr], weather: Weather) -> Self {
        let open = |really: &SocketAddr| {
            let listed = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
            listed.set_nonblocking(true).expect("a socket need not block");
            Door { listed, really: *really }
        };
        let doors: Vec<Door> = really.iter().map(open).collect();
        let address = |door: &Door| door.listed.local_addr().expect("a socket has an address");
        let listed = doors.iter().map(address).collect();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let seed = weather.seed;
        let weather = Arc::new(Mutex::new(weather));
        let present = Arc::clone(&weather);
        let thread = std::thread::spawn(move || {
            let luck = RunSeed::new(seed, 0).world(StreamPurpose::Caller(0));
            let mut way =
                Way { weather: present, luck, doors, queue: BinaryHeap::new(), number: 0 };
            while !stopped.load(Ordering::Relaxed) {
                way.turn();
            }
        });
        Self { stop, thread: Some(thread), listed, weather }
    }

    /// From now on this befalls datagrams. The stream of random numbers goes on as it was seeded.
    pub(crate) fn change(&self, weather: Weather) {
        *self.weather.lock().unwrap_or_else(PoisonError::into_inner) = weather;
    }

    /// The addresses for the list of members, in the order of those given.
    pub(crate) fn listed(&self) -> &[SocketAddr] {
        &self.listed
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

struct Way {
    weather: Arc<Mutex<Weather>>,
    luck: Stream,
    doors: Vec<Door>,
    queue: BinaryHeap<Reverse<UnderWay>>,
    number: u64,
}

impl Way {
    /// Waits for the next arrival or departure, and sees to all that are due.
    fn turn(&mut self) {
        let idle = Duration::from_millis(20);
        let due = self.queue.peek().map_or(idle, |Reverse(next)| next.due.since(now())).min(idle);
        let wait = Timespec { tv_sec: 0, tv_nsec: due.as_nanos() as i64 };
        let mut doors: Vec<PollFd<'_>> =
            self.doors.iter().map(|door| PollFd::new(&door.listed, PollFlags::IN)).collect();
        // A signal ends the wait early, which does no harm.
        let _ = poll(&mut doors, Some(&wait));
        (0..self.doors.len()).for_each(|to| self.receive(to));
        while let Some(Reverse(first)) = self.queue.peek()
            && first.due <= now()
            && let Some(Reverse(first)) = self.queue.pop()
        {
            // Nobody may be there: then it is lost, as it would be.
            let there = self.doors[first.to].really;
            let _ = self.doors[first.from].listed.send_to(&first.bytes, there);
        }
    }

    fn receive(&mut self, to: usize) {
        let mut bytes = [0; DATAGRAM_MAX];
        let weather = *self.weather.lock().unwrap_or_else(PoisonError::into_inner);
        while let Ok((length, sender)) = self.doors[to].listed.recv_from(&mut bytes) {
            let Some(from) = self.doors.iter().position(|door| door.really == sender) else {
                continue;
            };
            let lost = self.luck.below(1000) < weather.lost;
            let copies = 1 + u64::from(self.luck.below(1000) < weather.doubled);
            for _ in 0..copies {
                let luck = self.luck.below(weather.jitter.as_nanos() + 1);
                if lost || self.queue.len() >= UNDER_WAY_MAX {
                    continue;
                }
                let due = now() + weather.delay + Duration::from_nanos(luck);
                let (number, bytes) = (self.number, bytes[..length].to_vec());
                self.queue.push(Reverse(UnderWay { due, number, from, to, bytes }));
                self.number += 1;
            }
        }
    }
}
