//! A flood of datagrams that mean nothing, to all members, from a machine of the group.

use crate::lab::clock::{now, sleep};
use bellwether::core::{Duration, Entropy as _, Seeded};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::File;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// So many datagrams a second, to all members together.
const RATE: u64 = 10_000;
const LONGEST: u64 = 400;

/// Goes on until it is dropped.
pub(crate) struct Flood {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Flood {
    /// From this namespace (none: the host's loopback) to these places.
    pub(crate) fn start(namespace: Option<String>, places: Vec<SocketAddr>, seed: u64) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&over);
        let thread = std::thread::spawn(move || {
            if let Some(name) = namespace {
                let Ok(there) = File::open(format!("/run/netns/{name}")) else { return };
                let entered =
                    move_into_link_name_space(there.as_fd(), Some(LinkNameSpaceType::Network));
                if entered.is_err() {
                    return;
                }
            }
            let any = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
            if let Ok(socket) = UdpSocket::bind(any) {
                pour(&socket, &places, seed, &ends);
            }
        });
        Self { over, thread: Some(thread) }
    }
}

fn pour(socket: &UdpSocket, places: &[SocketAddr], seed: u64, over: &AtomicBool) {
    let (mut luck, begun, mut done) = (Seeded::new(seed), now(), 0);
    let mut bytes = [0; LONGEST as usize];
    while !over.load(Ordering::Relaxed) {
        let due = now().since(begun).as_nanos() * RATE / 1_000_000_000;
        // What was missed while this thread did not run is not made up for.
        for _ in 0..(due - done).min(RATE / 100) {
            let length = luck.below(LONGEST) as usize;
            bytes[..length].iter_mut().for_each(|byte| *byte = luck.below(256) as u8);
            let place = places[luck.below(places.len() as u64) as usize];
            let _ = socket.send_to(&bytes[..length], place); // a cut machine cannot send
        }
        done = due;
        sleep(Duration::from_millis(1));
    }
}

impl Drop for Flood {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
