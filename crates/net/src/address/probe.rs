//! Asks the neighbours whether somebody has an address.
//!
//! **Source.** RFC 5227, section 2.1: several probes, then a wait. Its waits are seconds long; here
//! they are as long as a message and its answer may take in this group, because a lease is.
//!
//! **Promise.** It returns when somebody answers, when the time is over, or when it is told to.

use super::Address;
use super::arp::{Arp, Hears};
use super::ndp::Ndp;
use super::netlink::Netlink;
use crate::clock::{BootTime, Clock as _};
use crate::wake_fd::WakeFd;
use bellwether_core::Duration;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::BorrowedFd;
use std::io;
use std::net::IpAddr;

/// How often each address is asked for.
const PROBES: u64 = 3;
/// The most packets of one socket that are read before the clock is.
const PACKETS_PER_TURN: usize = 64;

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Probed {
    /// Nobody answered in time.
    Free,
    /// Somebody did: which address, and whose hardware address.
    InUse(String),
    /// It was told to stop.
    Stopped,
}

/// A socket of either kind.
#[derive(Debug)]
pub(super) enum Neighbours {
    V4(Arp),
    V6(Ndp),
}

impl Neighbours {
    /// The neighbours of an interface; none if it is no Ethernet.
    pub(super) fn of(
        kernel: &Netlink,
        address: &Address,
        hears: Hears,
    ) -> io::Result<Option<Self>> {
        let link = kernel.link(&address.interface)?;
        let Some(mac) = link.mac else { return Ok(None) };
        Ok(Some(match address.ip {
            IpAddr::V4(ip) => Self::V4(Arp::new(link, mac, ip, hears)?),
            IpAddr::V6(ip) => Self::V6(Ndp::new(link, mac, ip)?),
        }))
    }

    fn probe(&self) -> io::Result<()> {
        match self {
            Self::V4(arp) => arp.probe(),
            Self::V6(ndp) => ndp.probe(),
        }
    }

    pub(super) fn announce(&self) -> io::Result<()> {
        match self {
            Self::V4(arp) => arp.announce(),
            Self::V6(ndp) => ndp.announce(),
        }
    }

    fn hear(&self) -> io::Result<Option<[u8; 6]>> {
        match self {
            Self::V4(arp) => arp.hear(),
            Self::V6(ndp) => ndp.hear(),
        }
    }

    fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::V4(arp) => arp.fd(),
            Self::V6(ndp) => ndp.fd(),
        }
    }

    /// Somebody else who has the address, among the packets that are there.
    fn owner(&self) -> Option<[u8; 6]> {
        for _ in 0..PACKETS_PER_TURN {
            match self.hear() {
                Ok(None) => (),
                Ok(owner) => return owner,
                Err(_) => return None, // nothing is there
            }
        }
        None
    }
}

/// Asks for all of these addresses for so long; stops at once if `stop` is woken.
pub(super) fn probe(
    kernel: &Netlink,
    addresses: &[Address],
    wait: Duration,
    stop: &WakeFd,
) -> io::Result<Probed> {
    let mut asked = Vec::new();
    for address in addresses {
        if let Some(neighbours) = Neighbours::of(kernel, address, Hears::Yes)? {
            asked.push((address, neighbours));
        }
    }
    if asked.is_empty() {
        return Ok(Probed::Free);
    }
    let begun = BootTime.now();
    for number in 1..=PROBES {
        for (_, neighbours) in &asked {
            neighbours.probe()?;
        }
        let turn = begun + Duration::from_nanos(wait.as_nanos() / PROBES * number);
        while BootTime.now() < turn {
            let left = turn.since(BootTime.now());
            let mut events = vec![PollFd::new(stop, PollFlags::IN)];
            let sockets = asked.iter().map(|(_, neighbours)| neighbours.fd());
            events.extend(sockets.map(|socket| PollFd::from_borrowed_fd(socket, PollFlags::IN)));
            let left = std::time::Duration::from_nanos(left.as_nanos());
            let _ = poll(&mut events, Timespec::try_from(left).ok().as_ref()); // or look again
            if !events[0].revents().is_empty() {
                return Ok(Probed::Stopped);
            }
            drop(events);
            let owned = |(address, neighbours): &(&Address, Neighbours)| {
                neighbours.owner().map(|mac| in_use(address, mac))
            };
            if let Some(text) = asked.iter().find_map(owned) {
                return Ok(Probed::InUse(text));
            }
        }
    }
    Ok(Probed::Free)
}

fn in_use(address: &Address, mac: [u8; 6]) -> String {
    let mac = mac.map(|byte| format!("{byte:02x}")).join(":");
    format!("{} is answered for by {mac} on {}", address.ip, address.interface)
}
