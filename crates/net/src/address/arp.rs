//! ARP: asks whether somebody has an IPv4 address, and says who has it now.
//!
//! **Source.** RFC 826, and RFC 5227 for probes (no sender address) and announcements (sender and
//! target are the address).
//!
//! **Promise.** No packet makes the reader panic; packets of our own interface are no conflict.

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

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Asks who has the address.
    pub(super) fn probe(&self) -> io::Result<()> {
        self.send(REQUEST, Ipv4Addr::UNSPECIFIED)
    }

    /// Says that this interface has the address, in both ways that neighbours learn it.
    pub(super) fn announce(&self) -> io::Result<()> {
        self.send(REQUEST, self.ip)?;
        self.send(REPLY, self.ip)
    }

    fn send(&self, operation: u8, sender: Ipv4Addr) -> io::Result<()> {
        let packet = packet(operation, self.mac, sender, self.ip);
        let to = Ethernet { index: self.index, to: [0xff; 6] };
        sendto(&self.socket, &packet, SendFlags::empty(), &to)?;
        Ok(())
    }

    /// The hardware address of somebody who has the address, if a packet says so. Call it until
    /// there is an error: that nothing was received, usually.
    pub(super) fn hear(&self) -> io::Result<Option<[u8; 6]>> {
        let mut buffer = [0; 128];
        let (_, length) = recv(&self.socket, &mut buffer[..], RecvFlags::DONTWAIT)?;
        let packet = buffer.get(..length).unwrap_or_default();
        Ok(owner(packet, self.ip).filter(|mac| *mac != self.mac))
    }
}

fn packet(operation: u8, mac: [u8; 6], sender: Ipv4Addr, target: Ipv4Addr) -> [u8; LENGTH] {
    let mut packet = [0; LENGTH];
    packet[..7].copy_from_slice(&HEAD);
    packet[7] = operation;
    packet[8..14].copy_from_slice(&mac);
    packet[14..18].copy_from_slice(&sender.octets());
    packet[24..28].copy_from_slice(&target.octets());
    packet
}

/// Who says that it has this address.
fn owner(packet: &[u8], ip: Ipv4Addr) -> Option<[u8; 6]> {
    let is_ours = packet.starts_with(&HEAD) && packet.get(14..18)? == ip.octets();
    packet.get(8..14)?.try_into().ok().filter(|_| is_ours)
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
    fn a_probe_has_no_owner_and_an_announcement_has() {
        assert_eq!(owner(&packet(REQUEST, MAC, Ipv4Addr::UNSPECIFIED, IP), IP), None);
        for operation in [REQUEST, REPLY] {
            let told = packet(operation, MAC, IP, IP);
            assert_eq!(owner(&told, IP), Some(MAC));
            assert_eq!(owner(&told, Ipv4Addr::new(10, 0, 0, 101)), None, "of another address");
            assert_eq!(owner(&told[..20], IP), Some(MAC), "what is needed is there");
            assert_eq!(owner(&told[..17], IP), None, "cut short");
        }
        let mut of_another_kind = packet(REPLY, MAC, IP, IP);
        of_another_kind[2] = 9;
        assert_eq!(owner(&of_another_kind, IP), None);
    }

    proptest! {
        #[test]
        fn no_packet_makes_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = owner(&bytes, IP);
        }
    }
}
