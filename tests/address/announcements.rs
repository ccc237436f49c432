//! What neighbours are asked and told of an address.

use crate::lab::clock::now;
use crate::lab::network::Network;
use crate::scene::{Scene, V4};
use crate::stage;
use bellwether::core::{Duration, Instant};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, RecvFlags, SocketType, eth, recv, socket};
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// How soon the thread that waits for packets notices that all is over.
const LOOK: std::time::Duration = std::time::Duration::from_millis(20);
/// Announcements, as requests and as replies.
const ANNOUNCED: [Kind; 2] = [Kind::Request, Kind::Reply];

/// What a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A question who has the address.
    Probe,
    /// An announcement as a request.
    Request,
    /// An announcement as a reply.
    Reply,
}

/// The packets about an address that reach a host, until it is dropped, and when they came.
struct Packets {
    heard: Arc<Mutex<Vec<(Kind, Instant)>>>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Packets {
    fn about(ip: Ipv4Addr, network: &Network, host: u64) -> Self {
        let heard: Arc<Mutex<Vec<(Kind, Instant)>>> = Arc::default();
        let over = Arc::new(AtomicBool::new(false));
        let (all, ends) = (Arc::clone(&heard), Arc::clone(&over));
        let thread = network.thread(host, move || {
            let socket = socket(AddressFamily::PACKET, SocketType::DGRAM, Some(eth::ARP));
            let socket = socket.expect("it is root");
            set_socket_timeout(&socket, Timeout::Recv, Some(LOOK)).expect("it has a time limit");
            while !ends.load(Ordering::Relaxed) {
                let mut packet = [0; 64];
                let Ok((_, 28..)) = recv(&socket, &mut packet[..], RecvFlags::empty()) else {
                    continue;
                };
                let kind = match (packet[7], &packet[14..18]) {
                    _ if packet[24..28] != ip.octets() => continue,
                    // Whoever gives it up names somebody.
                    (1, [0, 0, 0, 0]) if packet[18..24] == [0; 6] => Kind::Probe,
                    (1, sender) if sender == ip.octets() => Kind::Request,
                    (2, sender) if sender == ip.octets() => Kind::Reply,
                    _ => continue,
                };
                all.lock().unwrap_or_else(PoisonError::into_inner).push((kind, now()));
            }
        });
        Self { heard, over, thread: Some(thread) }
    }

    /// When those of this kind came.
    fn times(&self, kind: Kind) -> Vec<Instant> {
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.iter().filter(|(it, _)| *it == kind).map(|(_, at)| *at).collect()
    }
}

impl Drop for Packets {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join); // a panic was reported
    }
}

#[test]
fn an_address_is_announced_when_it_is_set_and_four_times_again() {
    let _stage = stage();
    let mut scene = Scene::new(V4, 24);
    let ip = V4.parse().expect("it is an address");
    let packets = Packets::about(ip, scene.group.network(), scene.client);
    scene.group.start_all();
    scene.settled();
    let since = now();
    scene.wait("all announcements", |_| {
        ANNOUNCED.iter().all(|kind| packets.times(*kind).len() >= 5)
    });
    scene.group.assert_unchanged("one leader", since);
    for kind in ANNOUNCED {
        let times = packets.times(kind);
        let after: Vec<Duration> = times.iter().map(|at| at.since(times[0])).collect();
        println!("announced after {after:?}");
        for (after, due) in after.iter().zip([0, 50, 300, 1_300, 4_300]) {
            let (due, late) = (Duration::from_millis(due), Duration::from_millis(40));
            // The first one may have come late, too.
            assert!(*after + late >= due, "{after} is sooner than {due}");
            scene.group.assert_within("an announcement", *after, due + late, since);
        }
    }
}

#[test]
fn neighbours_are_asked_before_the_lease_of_a_leader_that_is_not_heard_is_over() {
    let _stage = stage();
    let mut scene = Scene::new(V4, 24);
    let ip = V4.parse().expect("it is an address");
    scene.group.start_all();
    let leader = scene.settled();
    let packets = Packets::about(ip, scene.group.network(), scene.client);
    let begun = scene.group.pause(leader);
    let (next, took) = scene.group.replaced(leader, begun);
    scene.reached(next);
    let asked = packets.times(Kind::Probe).into_iter().find(|at| *at >= begun);
    let asked = asked.expect("somebody asked").since(begun);
    println!("asked after {asked}, and {next} leads after {took}");
    assert!(asked < took, "asked after {asked}, and {next} leads after {took}");
    scene.group.resume(leader);
}
