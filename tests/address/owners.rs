//! Which hosts have an address, and when: each is asked thousands of times a second.
//!
//! **Promise.** A host *certainly* had the address between two samples that found it there. Only
//! such times count, so a machine that stalls never makes two owners of one.

use crate::lab::clock::{now, sleep};
use crate::lab::network::Network;
use bellwether::core::{Duration, Instant};
use std::net::{IpAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

const SAMPLE: Duration = Duration::from_micros(300);

/// A time in which a host certainly had the address.
#[derive(Clone, Copy, Debug)]
struct Reign {
    host: u64,
    from: Instant,
    to: Instant,
    /// When it was first found without it; `None` if it had it when it was last asked.
    gone: Option<Instant>,
}

/// Watches some hosts until it is dropped.
pub(crate) struct Owners {
    reigns: Arc<Mutex<Vec<Reign>>>,
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Owners {
    pub(crate) fn watch(network: &Network, hosts: &[u64], ip: IpAddr) -> Self {
        let reigns: Arc<Mutex<Vec<Reign>>> = Arc::default();
        let over = Arc::new(AtomicBool::new(false));
        let watch = |host: &u64| {
            let (host, reigns, over) = (*host, Arc::clone(&reigns), Arc::clone(&over));
            network.thread(host, move || sample(host, ip, &reigns, &over))
        };
        let threads = hosts.iter().map(watch).collect();
        Self { reigns, over, threads }
    }

    fn reigns(&self) -> Vec<Reign> {
        self.reigns.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The hosts that had it when they were last asked.
    pub(crate) fn now(&self) -> Vec<u64> {
        self.reigns().iter().filter(|reign| reign.gone.is_none()).map(|reign| reign.host).collect()
    }

    /// When a host was last found to have lost it. Up to a sample before, or longer if the machine
    /// stalled, it may have had it.
    pub(crate) fn lost(&self, host: u64) -> Option<Instant> {
        self.reigns().iter().filter(|reign| reign.host == host).filter_map(|reign| reign.gone).max()
    }

    /// The time in which two hosts had it at once.
    pub(crate) fn overlap(&self) -> Duration {
        let reigns = self.reigns();
        let mut overlap = Duration::ZERO;
        for (number, one) in reigns.iter().enumerate() {
            for other in reigns.iter().skip(number + 1).filter(|other| other.host != one.host) {
                let (from, to) = (one.from.max(other.from), one.to.min(other.to));
                overlap = overlap + to.since(from);
            }
        }
        overlap
    }
}

/// Only a host that has an address can bind a socket to it.
fn sample(host: u64, ip: IpAddr, reigns: &Mutex<Vec<Reign>>, over: &AtomicBool) {
    let mut own: Option<usize> = None;
    while !over.load(Ordering::Relaxed) {
        let before = now();
        let has = UdpSocket::bind((ip, 0)).is_ok();
        let after = now();
        let mut reigns = reigns.lock().unwrap_or_else(PoisonError::into_inner);
        match own {
            Some(number) if has => reigns[number].to = before,
            Some(number) => {
                reigns[number].gone = Some(after);
                own = None;
            }
            None if has => {
                own = Some(reigns.len());
                reigns.push(Reign { host, from: after, to: before, gone: None });
            }
            None => {}
        }
        drop(reigns);
        sleep(SAMPLE);
    }
}

impl Drop for Owners {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join(); // a panic was reported
        }
    }
}
