//! The neighbours of the addresses: who is asked for them, and told who has them now.
//!
//! **Promise.** Nothing here waits. The kernel takes some milliseconds to close such a socket, so
//! they stay open as long as the interfaces are the same.

use super::Address;
use super::arp::Arp;
use super::ndp::Ndp;
use super::netlink::{Link, Netlink};
use crate::wake_fd::WakeFd;
use bellwether_core::Duration;
use rustix::fd::BorrowedFd;
use std::net::IpAddr;
use std::sync::Arc;
use std::{fmt, io};

/// The most packets of one socket that are read before the clock is: more than its buffer holds
/// by default, and no more, because somebody may send them all the time.
const PACKETS_PER_TURN: usize = 512;

/// What a packet says of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// Somebody with this hardware address has it.
    Has([u8; 6]),
    /// A member of the group with this hardware address had it, and has removed it.
    GaveUp([u8; 6]),
}

impl Heard {
    /// The hardware address of the sender.
    pub(super) fn sender(self) -> [u8; 6] {
        match self {
            Self::Has(mac) | Self::GaveUp(mac) => mac,
        }
    }
}

/// What a member's packet has in place of a hardware address if it has removed the address. All
/// others ignore that field.
pub(super) const GIVEN_UP: [u8; 6] = *b"bw-bye";

/// The neighbours of one address, by a socket of its kind.
pub(crate) trait Neighbours: fmt::Debug + Send + Sync {
    /// Asks who has the address.
    fn probe(&self) -> io::Result<()>;

    /// Says that this interface has the address, in all ways that neighbours learn it.
    fn announce(&self) -> io::Result<()>;

    /// Says that this interface had the address, and has it no longer.
    fn give_up(&self) -> io::Result<()>;

    /// What the next packet says of the address. Call it until there is an error: that nothing was
    /// received, usually. It does not wait.
    fn hear(&self) -> io::Result<Option<Heard>>;

    /// Readable while there are packets.
    fn fd(&self) -> BorrowedFd<'_>;
}

/// The neighbours of an interface; none if it is no Ethernet.
fn neighbours(link: Link, address: &Address) -> io::Result<Option<Box<dyn Neighbours>>> {
    let Some(mac) = link.mac else { return Ok(None) };
    Ok(Some(match address.ip {
        IpAddr::V4(ip) => Box::new(Arp::new(link, mac, ip)?),
        IpAddr::V6(ip) => Box::new(Ndp::new(link, mac, ip, &address.interface)?),
    }))
}

/// The neighbours of each address that has an Ethernet.
#[derive(Debug, Default)]
pub(crate) struct Neighbourhood {
    /// Number and hardware address of the interface of each address, when it was opened.
    links: Vec<(u32, Option<[u8; 6]>)>,
    all: Vec<(Address, Box<dyn Neighbours>)>,
}

impl Neighbourhood {
    /// The neighbours of these addresses; the former ones, if the interfaces are the same.
    pub(super) fn of<'a>(
        kernel: &Netlink,
        addresses: impl Iterator<Item = &'a Address> + Clone,
        former: &Arc<Self>,
    ) -> io::Result<Arc<Self>> {
        let links = addresses.clone().map(|address| kernel.link(&address.interface));
        let links = links.collect::<io::Result<Vec<Link>>>()?;
        let now: Vec<_> = links.iter().map(|link| (link.index, link.mac)).collect();
        if former.links == now {
            return Ok(Arc::clone(former));
        }
        let mut all = Vec::new();
        for (address, link) in addresses.zip(links) {
            let neighbours = neighbours(link, address)?;
            all.extend(neighbours.map(|neighbours| (address.clone(), neighbours)));
        }
        Ok(Arc::new(Self { links: now, all }))
    }

    #[cfg(test)]
    pub(super) fn scripted(address: Address, neighbours: Box<dyn Neighbours>) -> Self {
        Self { links: Vec::new(), all: vec![(address, neighbours)] }
    }

    /// Of how many addresses.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// Asks who has each address.
    pub(super) fn probe(&self) -> io::Result<()> {
        self.all.iter().try_for_each(|(_, neighbours)| neighbours.probe())
    }

    /// Announces each address once. What is lost is repeated.
    pub(crate) fn announce(&self) {
        for (_, neighbours) in &self.all {
            let _ = neighbours.announce(); // the interface may be down: the next one may succeed
        }
    }

    /// Says that this machine had the addresses and has them no longer. Whoever does not hear it
    /// asks.
    pub(crate) fn give_up(&self) {
        for (_, neighbours) in &self.all {
            let _ = neighbours.give_up(); // the interface may be down
        }
    }

    /// What the packets that are there say of each address, by its number; whether these were all.
    pub(super) fn hear(&self, mut note: impl FnMut(usize, Heard)) -> bool {
        let mut all = true;
        for (number, (_, neighbours)) in self.all.iter().enumerate() {
            let taken = take(|| match neighbours.hear() {
                Ok(heard) => {
                    heard.into_iter().for_each(|heard| note(number, heard));
                    true
                }
                Err(_) => false, // nothing is there
            });
            all &= taken < PACKETS_PER_TURN;
        }
        all
    }

    /// Waits for a packet, at most for so long; whether it was woken.
    pub(super) fn wait(&self, left: Duration, wake: &WakeFd) -> bool {
        wake.wait(left, self.all.iter().map(|(_, neighbours)| neighbours.fd()))
    }

    /// That somebody with this hardware address has the address of this number.
    pub(super) fn in_use(&self, number: usize, mac: [u8; 6]) -> Option<String> {
        let (address, _) = self.all.get(number)?;
        let mac = mac.map(|byte| format!("{byte:02x}")).join(":");
        Some(format!("{} is answered for by {mac} on {}", address.ip, address.interface))
    }
}

/// Takes packets until none is there, or [`PACKETS_PER_TURN`] were taken; how many they were.
fn take(mut one: impl FnMut() -> bool) -> usize {
    (0..PACKETS_PER_TURN).take_while(|_| one()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_packets_does_not_delay_the_first_question_for_ever() {
        assert_eq!(take(|| true), PACKETS_PER_TURN);
        let mut left = 3;
        let one = || {
            left -= 1;
            left > 0
        };
        assert_eq!(take(one), 2, "and without one it goes on at once");
    }
}
