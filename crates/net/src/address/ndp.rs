//! Neighbour discovery: asks whether somebody has an IPv6 address, and says who has it now.
//!
//! **Source.** RFC 4861: a neighbour solicitation to the address's own multicast group; an
//! unsolicited neighbour advertisement with the override flag to all nodes. Unlike duplicate
//! address detection (RFC 4862), the solicitation comes from an address of this interface: the
//! answer comes to us alone, and a raw socket of ICMPv6 is enough.
//!
//! **Promise.** No packet makes the reader panic; packets of our own interface are no conflict.

use super::netlink::Link;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, ipproto, recv, sendto,
    socket_with, sockopt,
};
use std::io;
use std::net::{Ipv6Addr, SocketAddrV6};

const SOLICITATION: u8 = 135;
const ADVERTISEMENT: u8 = 136;
/// Whoever knows another owner forgets it.
const OVERRIDE: u8 = 0x20;
const OF_SOURCE: u8 = 1;
const OF_TARGET: u8 = 2;
const LENGTH: usize = 32;
/// Routers do not forward it, and receivers see that they did not.
const HOPS: u32 = 255;
const ALL_NODES: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);

/// A raw socket, for one interface.
#[derive(Debug)]
pub(super) struct Ndp {
    socket: OwnedFd,
    index: u32,
    mac: [u8; 6],
    ip: Ipv6Addr,
}

impl Ndp {
    /// A socket that sends and hears, on an Ethernet.
    pub(super) fn new(link: Link, mac: [u8; 6], ip: Ipv6Addr) -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let kind = Some(ipproto::ICMPV6);
        let socket = socket_with(AddressFamily::INET6, SocketType::RAW, flags, kind)?;
        sockopt::set_ipv6_multicast_hops(&socket, HOPS)?;
        sockopt::set_ipv6_multicast_loop(&socket, false)?;
        Ok(Self { socket, index: link.index, mac, ip })
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Asks who has the address.
    pub(super) fn probe(&self) -> io::Result<()> {
        let [.., a, b, c] = self.ip.octets();
        let low = u16::from_be_bytes([b, c]);
        let group = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 1, 0xff00 | u16::from(a), low);
        self.send(&packet(SOLICITATION, 0, self.ip, OF_SOURCE, self.mac), group)
    }

    /// Says that this interface has the address.
    pub(super) fn announce(&self) -> io::Result<()> {
        self.send(&packet(ADVERTISEMENT, OVERRIDE, self.ip, OF_TARGET, self.mac), ALL_NODES)
    }

    fn send(&self, packet: &[u8], to: Ipv6Addr) -> io::Result<()> {
        let to = SocketAddrV6::new(to, 0, 0, self.index);
        sendto(&self.socket, packet, SendFlags::empty(), &to)?;
        Ok(())
    }

    /// The hardware address of somebody who has the address, if a packet says so; zeros if it does
    /// not tell its own. Call it until there is an error: that nothing was received, usually.
    pub(super) fn hear(&self) -> io::Result<Option<[u8; 6]>> {
        let mut buffer = [0; 256];
        let (_, length) = recv(&self.socket, &mut buffer[..], RecvFlags::DONTWAIT)?;
        let packet = buffer.get(..length).unwrap_or_default();
        Ok(owner(packet, self.ip).filter(|mac| *mac != self.mac))
    }
}

/// The kernel computes the checksum.
fn packet(kind: u8, flags: u8, target: Ipv6Addr, option: u8, mac: [u8; 6]) -> [u8; LENGTH] {
    let mut packet = [0; LENGTH];
    packet[0] = kind;
    packet[4] = flags;
    packet[8..24].copy_from_slice(&target.octets());
    packet[24] = option;
    packet[25] = 1;
    packet[26..32].copy_from_slice(&mac);
    packet
}

/// Who says that it has this address.
fn owner(packet: &[u8], ip: Ipv6Addr) -> Option<[u8; 6]> {
    let says = packet.first() == Some(&ADVERTISEMENT) && packet.get(8..24)? == ip.octets();
    let named = packet.get(24..32).filter(|option| option.starts_with(&[OF_TARGET, 1]));
    let mac = named.and_then(|option| option.get(2..8)?.try_into().ok()).unwrap_or_default();
    says.then_some(mac)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const IP: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 7);
    const MAC: [u8; 6] = [2, 0, 0, 0, 0, 7];

    #[test]
    fn only_an_advertisement_of_the_address_names_an_owner() {
        let told = packet(ADVERTISEMENT, OVERRIDE, IP, OF_TARGET, MAC);
        assert_eq!(owner(&told, IP), Some(MAC));
        assert_eq!(owner(&told[..24], IP), Some([0; 6]), "it does not tell which");
        assert_eq!(owner(&told[..23], IP), None, "cut short");
        assert_eq!(owner(&told, ALL_NODES), None, "of another address");
        assert_eq!(owner(&packet(SOLICITATION, 0, IP, OF_SOURCE, MAC), IP), None, "a question");
    }

    proptest! {
        #[test]
        fn no_packet_makes_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = owner(&bytes, IP);
        }
    }
}
