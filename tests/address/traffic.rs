//! A client that sends a numbered packet every millisecond, and hosts that answer with their own
//! number.

use crate::lab::clock::{now, sleep_until};
use crate::lab::network::Network;
use bellwether::core::{Duration, Instant};
use std::net::{IpAddr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

const PORT: u16 = 7500;
const EVERY: Duration = Duration::from_millis(1);
/// How soon a thread that waits for packets notices that all is over.
const LOOK: std::time::Duration = std::time::Duration::from_millis(20);

/// A packet that was sent, and who answered it when.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Instant,
    answered: Option<(u64, Instant)>,
}

/// The traffic to one address, until it is dropped.
pub(crate) struct Traffic {
    packets: Arc<Mutex<Vec<Sent>>>,
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Traffic {
    /// From `client` to `ip`, which some of these hosts have.
    pub(crate) fn start(network: &Network, client: u64, hosts: &[u64], ip: IpAddr) -> Self {
        let packets: Arc<Mutex<Vec<Sent>>> = Arc::default();
        let over = Arc::new(AtomicBool::new(false));
        let mut threads: Vec<_> = hosts
            .iter()
            .map(|host| {
                let (socket, host, over) = (socket(network, *host, PORT), *host, Arc::clone(&over));
                std::thread::spawn(move || answer(&socket, host, &over))
            })
            .collect();
        let sends = socket(network, client, 0);
        let hears = sends.try_clone().expect("a socket can be cloned");
        let (sent, ends) = (Arc::clone(&packets), Arc::clone(&over));
        let to = SocketAddr::new(ip, PORT);
        threads.push(std::thread::spawn(move || send(&sends, to, &sent, &ends)));
        let (heard, ends) = (Arc::clone(&packets), Arc::clone(&over));
        threads.push(std::thread::spawn(move || hear(&hears, &heard, &ends)));
        Self { packets, over, threads }
    }

    /// The last packet sent before then that was answered, if there is one, and all that were sent
    /// since. What is older is not copied: the sender waits meanwhile.
    fn packets(&self, since: Instant) -> Vec<Sent> {
        let packets = self.packets.lock().unwrap_or_else(PoisonError::into_inner);
        let late = packets.partition_point(|sent| sent.at < since);
        let first = packets[..late].iter().rposition(|sent| sent.answered.is_some());
        packets[first.unwrap_or(late)..].to_vec()
    }

    /// Who answered the last packet that was answered, of those sent since then.
    pub(crate) fn answers(&self, since: Instant) -> Option<u64> {
        self.hosts(since).pop()
    }

    /// Who answered, in turn, of packets sent since then.
    pub(crate) fn hosts(&self, since: Instant) -> Vec<u64> {
        let packets = self.packets(since);
        let late = packets.iter().filter(|sent| sent.at >= since);
        let mut hosts: Vec<u64> = late.filter_map(|sent| Some(sent.answered?.0)).collect();
        hosts.dedup();
        hosts
    }

    /// How many packets of those sent since then were not answered, up to the last that was; and
    /// the longest time between two that were.
    pub(crate) fn outage(&self, since: Instant) -> (usize, Duration) {
        // The last one that was answered before counts, too: the time since then is part of it.
        let packets = self.packets(since);
        let last = packets.iter().rposition(|sent| sent.answered.is_some());
        let Some(last) = last.filter(|_| packets[0].at < since) else {
            return (packets.len(), Duration::MAX);
        };
        let meant = &packets[..=last];
        let lost = meant.iter().filter(|sent| sent.answered.is_none()).count();
        let answered: Vec<Instant> =
            meant.iter().filter(|sent| sent.answered.is_some()).map(|sent| sent.at).collect();
        let gap = answered.windows(2).map(|two| two[1].since(two[0])).max();
        (lost, gap.unwrap_or(Duration::ZERO))
    }
}

fn socket(network: &Network, host: u64, port: u16) -> UdpSocket {
    let socket = network.inside(host, move || UdpSocket::bind((Ipv6Addr::UNSPECIFIED, port)));
    let socket = socket.expect("the port is free");
    socket.set_read_timeout(Some(LOOK)).expect("a socket has a time limit");
    socket
}

fn answer(socket: &UdpSocket, host: u64, over: &AtomicBool) {
    let mut buffer = [0; 16];
    while !over.load(Ordering::Relaxed) {
        if let Ok((8, from)) = socket.recv_from(&mut buffer) {
            buffer[8..].copy_from_slice(&host.to_le_bytes());
            let _ = socket.send_to(&buffer, from); // or it is lost
        }
    }
}

fn send(socket: &UdpSocket, to: SocketAddr, packets: &Mutex<Vec<Sent>>, over: &AtomicBool) {
    // A socket for both families takes IPv4 addresses in the form of IPv6.
    let ip = match to.ip() {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    };
    let to = SocketAddr::new(ip.into(), to.port());
    let mut next = now();
    while !over.load(Ordering::Relaxed) {
        let mut all = packets.lock().unwrap_or_else(PoisonError::into_inner);
        let number = all.len() as u64;
        all.push(Sent { at: now(), answered: None });
        drop(all);
        let _ = socket.send_to(&number.to_le_bytes(), to); // or it is lost
        next = (next + EVERY).max(now());
        sleep_until(next);
    }
}

fn hear(socket: &UdpSocket, packets: &Mutex<Vec<Sent>>, over: &AtomicBool) {
    let mut buffer = [0; 16];
    while !over.load(Ordering::Relaxed) {
        let Ok((16, _)) = socket.recv_from(&mut buffer) else { continue };
        let number = |part: &[u8]| u64::from_le_bytes(part.try_into().unwrap_or_default());
        let (which, host) = (number(&buffer[..8]), number(&buffer[8..]));
        let mut all = packets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sent) = usize::try_from(which).ok().and_then(|which| all.get_mut(which)) {
            sent.answered = Some((host, now()));
        }
    }
}

impl Drop for Traffic {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join(); // a panic was reported
        }
    }
}
