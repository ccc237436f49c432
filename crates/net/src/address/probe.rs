//! Asks the neighbours whether somebody has an address, and tells them who has it now.
//!
//! **Source.** RFC 5227, section 2.1: several probes, then a wait. Its waits are seconds long; here
//! they are as long as a message and its answer may take in this group, because a lease is.
//!
//! **Promise.** Asking ends when somebody answers, when the time is over, or when it is told to.
//! No socket is closed between the last question and the announcement: the kernel takes some
//! milliseconds for that.

use super::Address;
use super::arp::Arp;
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
/// What failed.
pub(super) const ASKING: &str = "cannot ask for the address";
/// The most packets of one socket that are read before the clock is.
const PACKETS_PER_TURN: usize = 64;
/// How many packets are discarded before the first question: more than the buffer of a socket
/// holds, and no more, because somebody may send them all the time.
const DISCARDED_MAX: usize = 4096;

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
enum Neighbours {
    V4(Arp),
    V6(Ndp),
}

impl Neighbours {
    /// The neighbours of an interface; none if it is no Ethernet.
    fn of(kernel: &Netlink, address: &Address) -> io::Result<Option<Self>> {
        let link = kernel.link(&address.interface)?;
        let Some(mac) = link.mac else { return Ok(None) };
        Ok(Some(match address.ip {
            IpAddr::V4(ip) => Self::V4(Arp::new(link, mac, ip)?),
            IpAddr::V6(ip) => Self::V6(Ndp::new(link, mac, ip, &address.interface)?),
        }))
    }

    fn probe(&self) -> io::Result<()> {
        match self {
            Self::V4(arp) => arp.probe(),
            Self::V6(ndp) => ndp.probe(),
        }
    }

    fn announce(&self) -> io::Result<()> {
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

/// The neighbours of each address that has an Ethernet.
#[derive(Debug, Default)]
pub(crate) struct Neighbourhood(Vec<(Address, Neighbours)>);

impl Neighbourhood {
    pub(super) fn of<'a>(
        kernel: &Netlink,
        addresses: impl Iterator<Item = &'a Address>,
    ) -> io::Result<Self> {
        let mut all = Vec::new();
        for address in addresses {
            let neighbours = Neighbours::of(kernel, address)?;
            all.extend(neighbours.map(|neighbours| (address.clone(), neighbours)));
        }
        Ok(Self(all))
    }

    /// Asks for all addresses for so long; stops at once if `stop` is woken.
    ///
    /// # Errors
    /// If the system sends nothing.
    pub(crate) fn probe(&self, wait: Duration, stop: &WakeFd) -> io::Result<Probed> {
        if self.0.is_empty() {
            return Ok(Probed::Free);
        }
        self.forget();
        let begun = BootTime.now();
        for number in 1..=PROBES {
            for (_, neighbours) in &self.0 {
                let asked = neighbours.probe();
                asked.map_err(|error| io::Error::other(format!("{ASKING}: {error}")))?;
            }
            let turn = begun + Duration::from_nanos(wait.as_nanos() / PROBES * number);
            while BootTime.now() < turn {
                if self.stops(turn.since(BootTime.now()), stop) {
                    return Ok(Probed::Stopped);
                }
                if let Some(text) = self.owned() {
                    return Ok(Probed::InUse(text));
                }
            }
        }
        Ok(Probed::Free)
    }

    /// Discards answers to earlier questions.
    fn forget(&self) {
        for (_, neighbours) in &self.0 {
            discard(|| neighbours.hear().is_ok());
        }
    }

    /// Waits for a packet, at most for so long; whether it is told to stop.
    fn stops(&self, left: Duration, stop: &WakeFd) -> bool {
        let mut events = vec![PollFd::new(stop, PollFlags::IN)];
        let sockets = self.0.iter().map(|(_, neighbours)| neighbours.fd());
        events.extend(sockets.map(|socket| PollFd::from_borrowed_fd(socket, PollFlags::IN)));
        let left = std::time::Duration::from_nanos(left.as_nanos());
        let _ = poll(&mut events, Timespec::try_from(left).ok().as_ref()); // or look again
        !events[0].revents().is_empty()
    }

    /// Who has one of the addresses, among the packets that are there.
    fn owned(&self) -> Option<String> {
        let owner = |(address, neighbours): &(Address, Neighbours)| {
            neighbours.owner().map(|mac| in_use(address, mac))
        };
        self.0.iter().find_map(owner)
    }

    /// Announces each address once. What is lost is repeated.
    pub(crate) fn announce(&self) {
        for (_, neighbours) in &self.0 {
            let _ = neighbours.announce(); // the interface may be down: the next one may succeed
        }
    }
}

/// Takes packets until none is there, or [`DISCARDED_MAX`] were taken; how many they were.
fn discard(mut take: impl FnMut() -> bool) -> usize {
    (0..DISCARDED_MAX).take_while(|_| take()).count()
}

fn in_use(address: &Address, mac: [u8; 6]) -> String {
    let mac = mac.map(|byte| format!("{byte:02x}")).join(":");
    format!("{} is answered for by {mac} on {}", address.ip, address.interface)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_packets_does_not_delay_the_first_question_for_ever() {
        assert_eq!(discard(|| true), DISCARDED_MAX);
        let mut left = 3;
        let take = || {
            left -= 1;
            left > 0
        };
        assert_eq!(discard(take), 2, "and without one it goes on at once");
    }
}
