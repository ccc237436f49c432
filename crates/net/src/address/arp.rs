//! ARP: asks whether somebody has an IPv4 address, and says who has it now.
//!
//! **Source.** RFC 826, and RFC 5227 for probes (no sender address) and announcements (sender and
//! target are the address). Whoever gives an address up sends a probe that is marked in the field
//! of the target's hardware address, which a probe does not use: to all others it is one more
//! probe.
//!
//! **Promise.** No packet makes the reader panic; packets of our own interface are not heard.

use super::neighbourhood::{GIVEN_UP, Heard, Neighbours};
use super::netlink::Link;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::net::addr::{SocketAddrArg, SocketAddrLen, SocketAddrOpaque};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, recv, sendto, socket_with,
};
use std::io;
use std::net::Ipv4Addr;

const REQUEST: u8 = 1;
const REPLY: u8 = 2;
const LENGTH: usize = 28;
/// The hardware address of nobody.
const NOBODY: [u8; 6] = [0; 6];
/// Ethernet, IPv4, and the lengths of their addresses.
const HEAD: [u8; 7] = [0, 1, 8, 0, 6, 4, 0];

/// A packet socket on one interface.
#[derive(Debug)]
pub(super) struct Arp {
    socket: OwnedFd,
    index: u32,
    mac: [u8; 6],
    ip: Ipv4Addr,
}

impl Arp {
    /// A socket that sends and hears, on an Ethernet.
    pub(super) fn new(link: Link, mac: [u8; 6], ip: Ipv4Addr) -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(AddressFamily::PACKET, SocketType::DGRAM, flags, None)?;
        bind(&socket, &Ethernet { index: link.index, to: [0; 6] })?;
        Ok(Self { socket, index: link.index, mac, ip })
    }

    /// A packet of ours that is about the address.
    fn packet(&self, operation: u8, sender: Ipv4Addr, target: [u8; 6]) -> [u8; LENGTH] {
        packet(operation, (self.mac, sender), (target, self.ip))
    }

    fn send(&self, packet: &[u8]) -> io::Result<()> {
        let to = Ethernet { index: self.index, to: [0xff; 6] };
        sendto(&self.socket, packet, SendFlags::empty(), &to)?;
        Ok(())
    }
}

impl Neighbours for Arp {
    fn probe(&self) -> io::Result<()> {
        self.send(&self.packet(REQUEST, Ipv4Addr::UNSPECIFIED, NOBODY))
    }

    fn announce(&self) -> io::Result<()> {
        self.send(&self.packet(REQUEST, self.ip, NOBODY))?;
        self.send(&self.packet(REPLY, self.ip, NOBODY))
    }

    fn give_up(&self) -> io::Result<()> {
        self.send(&self.packet(REQUEST, Ipv4Addr::UNSPECIFIED, GIVEN_UP))
    }

    fn hear(&self) -> io::Result<Option<Heard>> {
        let mut buffer = [0; 128];
        let (_, length) = recv(&self.socket, &mut buffer[..], RecvFlags::DONTWAIT)?;
        let packet = buffer.get(..length).unwrap_or_default();
        Ok(meaning(packet, self.ip).filter(|heard| heard.sender() != self.mac))
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn packet(
    operation: u8,
    (mac, sender): ([u8; 6], Ipv4Addr),
    (target_mac, target): ([u8; 6], Ipv4Addr),
) -> [u8; LENGTH] {
    let mut packet = [0; LENGTH];
    packet[..7].copy_from_slice(&HEAD);
    packet[7] = operation;
    packet[8..14].copy_from_slice(&mac);
    packet[14..18].copy_from_slice(&sender.octets());
    packet[18..24].copy_from_slice(&target_mac);
    packet[24..28].copy_from_slice(&target.octets());
    packet
}

/// What a packet says of this address.
fn meaning(packet: &[u8], ip: Ipv4Addr) -> Option<Heard> {
    let (mac, sender) = (packet.get(8..14)?.try_into().ok()?, packet.get(14..18)?);
    let gave_up = |target: &[u8]| target[..6] == GIVEN_UP && target[6..] == ip.octets();
    match sender {
        _ if !packet.starts_with(&HEAD) => None,
        _ if sender == ip.octets() => Some(Heard::Has(mac)),
        [0, 0, 0, 0] if packet.get(18..28).is_some_and(gave_up) => Some(Heard::GaveUp(mac)),
        _ => None,
    }
}

/// An address of a packet socket: ARP on this interface.
struct Ethernet {
    index: u32,
    to: [u8; 6],
}

// SAFETY: `with_sockaddr` gives the closure a pointer to a `sockaddr_ll` that lives until the
// closure has returned, and its whole length; all of it is initialised.
#[allow(unsafe_code)]
unsafe impl SocketAddrArg for Ethernet {
    unsafe fn with_sockaddr<R>(
        &self,
        f: impl FnOnce(*const SocketAddrOpaque, SocketAddrLen) -> R,
    ) -> R {
        let [a, b, c, d, e, g] = self.to;
        let address = libc::sockaddr_ll {
            sll_family: libc::AF_PACKET as u16,
            sll_protocol: (libc::ETH_P_ARP as u16).to_be(),
            sll_ifindex: self.index.cast_signed(),
            sll_hatype: 0,
            sll_pkttype: 0,
            sll_halen: 6,
            sll_addr: [a, b, c, d, e, g, 0, 0],
        };
        f((&raw const address).cast(), size_of::<libc::sockaddr_ll>() as SocketAddrLen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const IP: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 100);
    const MAC: [u8; 6] = [2, 0, 0, 0, 0, 7];

    #[test]
    fn an_announcement_has_an_owner_and_a_probe_has_none_and_may_say_that_it_is_given_up() {
        let (nobody, other) = (Ipv4Addr::UNSPECIFIED, Ipv4Addr::new(10, 0, 0, 101));
        let probe = |target| packet(REQUEST, (MAC, nobody), target);
        assert_eq!(meaning(&probe((NOBODY, IP)), IP), None);
        let gave_up = probe((GIVEN_UP, IP));
        assert_eq!(meaning(&gave_up, IP), Some(Heard::GaveUp(MAC)));
        assert_eq!(meaning(&gave_up, other), None, "of another address");
        assert_eq!(meaning(&gave_up[..27], IP), None, "cut short");
        for operation in [REQUEST, REPLY] {
            let told = packet(operation, (MAC, IP), (NOBODY, IP));
            assert_eq!(meaning(&told, IP), Some(Heard::Has(MAC)));
            assert_eq!(meaning(&told, other), None, "of another address");
            assert!(meaning(&told[..20], IP).is_some(), "what is needed is there");
            assert_eq!(meaning(&told[..17], IP), None, "cut short");
        }
        let mut of_another_kind = packet(REPLY, (MAC, IP), (NOBODY, IP));
        of_another_kind[2] = 9;
        assert_eq!(meaning(&of_another_kind, IP), None);
    }

    proptest! {
        #[test]
        fn no_packet_makes_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = meaning(&bytes, IP);
        }
    }
}
