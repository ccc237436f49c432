//! Neighbour discovery: asks whether somebody has an IPv6 address, and says who has it now.
//!
//! **Source.** RFC 4861: a neighbour solicitation to the address's own multicast group; an
//! unsolicited neighbour advertisement with the override flag to all nodes. Unlike duplicate
//! address detection (RFC 4862), the solicitation comes from an address of this interface: the
//! answer comes to us alone, and a raw socket of ICMPv6 is enough. Whoever gives an address up
//! sends a solicitation to all nodes with an option for experiments (RFC 4727), which all others
//! ignore; the option before says who sends it, as section 4.3 demands.
//!
//! **Promise.** No packet makes the reader panic. Packets of our own interface are not heard, nor
//! those that came in by another interface, nor those that a router forwarded: RFC 4861,
//! section 7.1.2, ignores a hop limit below 255.

use super::neighbourhood::{GIVEN_UP, Heard, Neighbours};
use super::netlink::Link;
use crate::socket::bind_device;
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::net::{
    AddressFamily, SendFlags, SocketFlags, SocketType, ipproto, sendto, socket_with, sockopt,
};
use std::io;
use std::net::{Ipv6Addr, SocketAddrV6};

const SOLICITATION: u8 = 135;
const ADVERTISEMENT: u8 = 136;
/// Whoever knows another owner forgets it.
const OVERRIDE: u8 = 0x20;
const OF_SOURCE: u8 = 1;
const OF_TARGET: u8 = 2;
const OF_EXPERIMENTS: u8 = 253;
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
    pub(super) fn new(link: Link, mac: [u8; 6], ip: Ipv6Addr, interface: &str) -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let kind = Some(ipproto::ICMPV6);
        let socket = socket_with(AddressFamily::INET6, SocketType::RAW, flags, kind)?;
        bind_device(socket.as_fd(), interface)?;
        sockopt::set_ipv6_multicast_hops(&socket, HOPS)?;
        sockopt::set_ipv6_multicast_loop(&socket, false)?;
        tell_hops(socket.as_fd())?;
        Ok(Self { socket, index: link.index, mac, ip })
    }

    fn send(&self, packet: &[u8], to: Ipv6Addr) -> io::Result<()> {
        let to = SocketAddrV6::new(to, 0, 0, self.index);
        sendto(&self.socket, packet, SendFlags::empty(), &to)?;
        Ok(())
    }
}

impl Neighbours for Ndp {
    fn probe(&self) -> io::Result<()> {
        let [.., a, b, c] = self.ip.octets();
        let low = u16::from_be_bytes([b, c]);
        let group = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 1, 0xff00 | u16::from(a), low);
        self.send(&packet(SOLICITATION, 0, self.ip, OF_SOURCE, self.mac), group)
    }

    fn announce(&self) -> io::Result<()> {
        self.send(&packet(ADVERTISEMENT, OVERRIDE, self.ip, OF_TARGET, self.mac), ALL_NODES)
    }

    fn give_up(&self) -> io::Result<()> {
        self.send(&farewell(self.ip, self.mac), ALL_NODES)
    }

    fn hear(&self) -> io::Result<Option<Heard>> {
        let mut buffer = [0; 256];
        let (length, hops) = receive(self.socket.as_fd(), &mut buffer)?;
        let packet = buffer.get(..length).unwrap_or_default();
        let others = |heard: &Heard| hops == Some(HOPS) && heard.sender() != self.mac;
        Ok(meaning(packet, self.ip).filter(others))
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Has the kernel tell the hop limit of each packet. `rustix` lacks this option.
#[allow(unsafe_code, reason = "a call that rustix lacks; see SAFETY")]
fn tell_hops(socket: BorrowedFd<'_>) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the kernel reads as many bytes at the pointer as `on` has, and keeps nothing of them;
    // `on` outlives the call, and the descriptor is open for as long.
    let done = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_IPV6,
            libc::IPV6_RECVHOPLIMIT,
            (&raw const on).cast(),
            size_of_val(&on) as libc::socklen_t,
        )
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Memory for what the kernel tells beside a packet, aligned as its heads are.
#[repr(C, align(8))]
struct Beside([u8; 64]);

/// The next packet: its length in the buffer, and its hop limit, if the kernel tells it. Does not
/// wait. `rustix` reads no such messages.
#[allow(unsafe_code, reason = "a call that rustix lacks; see SAFETY")]
fn receive(socket: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<(usize, Option<u32>)> {
    let mut beside = Beside([0; 64]);
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: a head of zeros is a valid one: no name, no parts, nothing beside.
    let mut head: libc::msghdr = unsafe { std::mem::zeroed() };
    head.msg_iov = &raw mut part;
    head.msg_iovlen = 1;
    head.msg_control = beside.0.as_mut_ptr().cast();
    head.msg_controllen = beside.0.len();
    // SAFETY: the kernel writes at most the stated lengths to `buffer` and to `beside`, and the
    // lengths that it wrote to `head`. All of them outlive the call, and nobody else refers to
    // them; the descriptor is open for as long.
    let length = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut head, libc::MSG_DONTWAIT) };
    let length = usize::try_from(length).map_err(|_| io::Error::last_os_error())?;
    let mut hops = None;
    // SAFETY: `head` is as the kernel left it, so its heads lie one after the other within the
    // first `msg_controllen` bytes of `beside`, which are aligned for them. These functions return
    // null, or a head that lies there with all of its data as far as its length says.
    let mut next = unsafe { libc::CMSG_FIRSTHDR(&raw const head) };
    while !next.is_null() {
        // SAFETY: as above, `next` is a whole head.
        let one = unsafe { &*next };
        let is_hops = (one.cmsg_level, one.cmsg_type) == (libc::IPPROTO_IPV6, libc::IPV6_HOPLIMIT);
        // SAFETY: it computes a number from a number.
        let whole = unsafe { libc::CMSG_LEN(size_of::<libc::c_int>() as u32) } as usize;
        if is_hops && one.cmsg_len >= whole {
            // SAFETY: as above; its length says that a number follows, which may be unaligned.
            let number = unsafe { libc::CMSG_DATA(next).cast::<libc::c_int>().read_unaligned() };
            hops = u32::try_from(number).ok();
        }
        // SAFETY: as above; `next` is one of the heads of `head`.
        next = unsafe { libc::CMSG_NXTHDR(&raw const head, next) };
    }
    Ok((length, hops))
}

/// The kernel computes the checksum.
fn packet(kind: u8, flags: u8, target: Ipv6Addr, whose: u8, mac: [u8; 6]) -> [u8; LENGTH] {
    let mut packet = [0; LENGTH];
    packet[0] = kind;
    packet[4] = flags;
    packet[8..24].copy_from_slice(&target.octets());
    packet[24..].copy_from_slice(&option(whose, mac));
    packet
}

/// Says that whoever has this hardware address gave the address up: a question who has it that is
/// marked.
fn farewell(ip: Ipv6Addr, mac: [u8; 6]) -> Vec<u8> {
    let marked = option(OF_EXPERIMENTS, GIVEN_UP);
    [&packet(SOLICITATION, 0, ip, OF_SOURCE, mac)[..], &marked].concat()
}

/// An option with a hardware address, or as many bytes of another kind.
fn option(kind: u8, value: [u8; 6]) -> [u8; 8] {
    let [a, b, c, d, e, f] = value;
    [kind, 1, a, b, c, d, e, f] // its length is counted in eights of bytes
}

/// What a packet says of this address; that somebody has it with a hardware address of zeros, if it
/// does not tell its own.
fn meaning(packet: &[u8], ip: Ipv6Addr) -> Option<Heard> {
    if packet.get(8..24)? != ip.octets() {
        return None;
    }
    let named = |kind| packet.get(24..32)?.strip_prefix(&[kind, 1])?.try_into().ok();
    match packet.get(..2)? {
        [ADVERTISEMENT, 0] => Some(Heard::Has(named(OF_TARGET).unwrap_or_default())),
        [SOLICITATION, 0] if packet.get(32..40)? == option(OF_EXPERIMENTS, GIVEN_UP) => {
            Some(Heard::GaveUp(named(OF_SOURCE)?))
        }
        _ => None,
    }
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
        assert_eq!(meaning(&told, IP), Some(Heard::Has(MAC)));
        assert_eq!(meaning(&told[..24], IP), Some(Heard::Has([0; 6])), "it does not tell which");
        assert_eq!(meaning(&told[..23], IP), None, "cut short");
        assert_eq!(meaning(&told, ALL_NODES), None, "of another address");
        let mut coded = told;
        coded[1] = 1;
        assert_eq!(meaning(&coded, IP), None, "of a code that there is not");
        assert_eq!(meaning(&packet(SOLICITATION, 0, IP, OF_SOURCE, MAC), IP), None, "a question");
    }

    #[test]
    fn a_marked_solicitation_says_that_the_address_is_given_up() {
        let told = farewell(IP, MAC);
        assert_eq!(meaning(&told, IP), Some(Heard::GaveUp(MAC)));
        assert_eq!(meaning(&told, ALL_NODES), None, "of another address");
        assert_eq!(meaning(&told[..39], IP), None, "cut short");
        let question = packet(SOLICITATION, 0, IP, OF_SOURCE, MAC);
        let other = [&question[..], &option(OF_EXPERIMENTS, MAC)].concat();
        assert_eq!(meaning(&other, IP), None, "an experiment of somebody else");
        let nobody = packet(SOLICITATION, 0, IP, OF_TARGET, MAC);
        let unsigned = [&nobody[..], &option(OF_EXPERIMENTS, GIVEN_UP)].concat();
        assert_eq!(meaning(&unsigned, IP), None, "it does not say who");
    }

    proptest! {
        #[test]
        fn no_packet_makes_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = meaning(&bytes, IP);
        }
    }
}
