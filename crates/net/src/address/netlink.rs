//! Addresses of this machine's interfaces, as the kernel keeps them (`rtnetlink(7)`).
//!
//! **Promise.** The kernel has done what is asked when a call returns. Nothing waits for an answer
//! that does not come: the kernel answers while it takes the request. To set an address that is
//! there gives it another end; to remove one that is not there is no error.

use bellwether_core::Duration;
use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL, NLM_F_REPLACE, NLM_F_REQUEST, NetlinkHeader,
    NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::address::{
    AddressAttribute, AddressFlags, AddressHeaderFlags, AddressMessage, CacheInfo,
};
use netlink_packet_route::link::{LinkAttribute, LinkFlags, LinkLayerType, LinkMessage};
use netlink_packet_route::{AddressFamily as Family, RouteNetlinkMessage};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::netdevice::{index_to_name, name_to_index};
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, connect, recv, send, socket_with,
};
use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU32, Ordering};

/// More than any part of an answer of the kernel.
const BUFFER: usize = 1 << 16;
/// The most parts of a list that are read.
const PARTS: usize = 1 << 12;

/// The number of an interface.
pub(super) fn index(interface: &str) -> io::Result<u32> {
    Ok(name_to_index(any_socket()?, interface)?)
}

/// The name of an interface, or its number.
pub(super) fn name(index: u32) -> String {
    let name = any_socket().ok().and_then(|socket| index_to_name(socket, index).ok());
    name.unwrap_or_else(|| format!("interface {index}"))
}

/// Any socket can be asked for interfaces.
fn any_socket() -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC;
    Ok(socket_with(AddressFamily::UNIX, SocketType::DGRAM, flags, None)?)
}

/// An address of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) ip: IpAddr,
    pub(super) prefix: u8,
    pub(super) index: u32,
}

/// What neighbours know an interface by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) index: u32,
    /// Its hardware address, if it is an Ethernet on which neighbours are looked for.
    pub(super) mac: Option<[u8; 6]>,
    /// Whether it is up and can carry packets.
    pub(super) runs: bool,
}

/// A connection to the kernel.
#[derive(Debug)]
pub(super) struct Netlink {
    socket: OwnedFd,
    sequence: AtomicU32,
}

impl Netlink {
    pub(super) fn new() -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None)?;
        connect(&socket, &SocketAddrNetlink::new(0, 0))?;
        Ok(Self { socket, sequence: AtomicU32::new(0) })
    }

    /// Sets an address, for so many seconds; whether it was not there before.
    pub(super) fn set(
        &self,
        ip: IpAddr,
        prefix: u8,
        index: u32,
        valid: Duration,
    ) -> io::Result<bool> {
        let mut message = message(ip, prefix, index);
        // Nobody else has it, as we asked ourselves: the kernel must not ask for a second or two.
        message.header.flags = AddressHeaderFlags::Nodad;
        let seconds =
            u32::try_from(valid.as_nanos().div_ceil(1_000_000_000)).unwrap_or(u32::MAX - 1);
        let mut info = CacheInfo::default();
        info.ifa_valid = seconds;
        // This machine's own connections have its own addresses, also with IPv6.
        info.ifa_preferred = if ip.is_ipv4() { seconds } else { 0 };
        message.attributes.push(AddressAttribute::CacheInfo(info));
        // The route of an IPv6 prefix would get the end of the address, also if the machine's own
        // address needs that route.
        let routes = if ip.is_ipv4() { AddressFlags::empty() } else { AddressFlags::Noprefixroute };
        message.attributes.push(AddressAttribute::Flags(AddressFlags::Nodad | routes));
        // Asked in this way the kernel tells whether it was there.
        let new = RouteNetlinkMessage::NewAddress(message.clone());
        match self.ask(new, NLM_F_CREATE | NLM_F_EXCL) {
            Err(error) if error.raw_os_error() == Some(Errno::EXIST.raw_os_error()) => {
                let flags = NLM_F_CREATE | NLM_F_REPLACE;
                self.ask(RouteNetlinkMessage::NewAddress(message), flags).map(|_| false)
            }
            done => done.map(|_| true),
        }
    }

    /// Removes an address.
    pub(super) fn remove(&self, ip: IpAddr, prefix: u8, index: u32) -> io::Result<()> {
        let message = message(ip, prefix, index);
        match self.ask(RouteNetlinkMessage::DelAddress(message), 0) {
            Err(error) if is_absent(&error) => Ok(()),
            done => done.map(drop),
        }
    }

    /// All addresses of this machine.
    pub(super) fn addresses(&self) -> io::Result<Vec<Found>> {
        let all = RouteNetlinkMessage::GetAddress(AddressMessage::default());
        let answers = self.ask(all, NLM_F_DUMP)?;
        let found = |answer| match answer {
            RouteNetlinkMessage::NewAddress(message) => found(&message),
            _ => None,
        };
        Ok(answers.into_iter().filter_map(found).collect())
    }

    /// An interface, by its name.
    pub(super) fn link(&self, interface: &str) -> io::Result<Link> {
        let index = index(interface)?;
        let mut message = LinkMessage::default();
        message.header.index = index;
        let answers = self.ask(RouteNetlinkMessage::GetLink(message), 0)?;
        let link = answers.into_iter().find_map(|answer| match answer {
            RouteNetlinkMessage::NewLink(message) => Some(message),
            _ => None,
        });
        let mac = link.as_ref().and_then(mac);
        let runs = LinkFlags::Up | LinkFlags::Running;
        let runs = link.is_some_and(|link| link.header.flags.contains(runs));
        Ok(Link { index, mac, runs })
    }

    /// Sends a request, and reads all answers.
    fn ask(
        &self,
        request: RouteNetlinkMessage,
        flags: u16,
    ) -> io::Result<Vec<RouteNetlinkMessage>> {
        let sequence = self.sequence.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let mut header = NetlinkHeader::default();
        header.flags = NLM_F_REQUEST | flags | if flags == NLM_F_DUMP { 0 } else { NLM_F_ACK };
        header.sequence_number = sequence;
        let mut message = NetlinkMessage::new(header, NetlinkPayload::from(request));
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        while let Err(error) = send(&self.socket, &bytes, SendFlags::empty()) {
            if error != Errno::INTR {
                return Err(error.into());
            }
        }
        let (mut answers, mut buffer) = (Vec::new(), vec![0; BUFFER]);
        for _ in 0..PARTS {
            let length = match recv(&self.socket, &mut buffer[..], RecvFlags::DONTWAIT) {
                Ok((_, length)) => length.min(BUFFER),
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            };
            if read(&buffer[..length], sequence, &mut answers)? {
                return Ok(answers);
            }
        }
        Err(io::Error::other("the kernel's list of addresses does not end"))
    }
}

/// Reads one packet of the kernel; whether it was the last of its answer.
fn read(
    mut bytes: &[u8],
    sequence: u32,
    answers: &mut Vec<RouteNetlinkMessage>,
) -> io::Result<bool> {
    while !bytes.is_empty() {
        let message = NetlinkMessage::<RouteNetlinkMessage>::deserialize(bytes)
            .map_err(|error| io::Error::other(error.to_string()))?;
        let length = (message.header.length as usize).next_multiple_of(4).max(16);
        bytes = bytes.get(length..).unwrap_or_default();
        if message.header.sequence_number != sequence {
            continue; // of a request that failed before it was answered
        }
        match message.payload {
            NetlinkPayload::Done(_) => return Ok(true),
            NetlinkPayload::Error(error) if error.code.is_none() => return Ok(true),
            NetlinkPayload::Error(error) => return Err(error.to_io()),
            NetlinkPayload::InnerMessage(inner) => answers.push(inner),
            _ => (),
        }
    }
    Ok(false)
}

fn message(ip: IpAddr, prefix: u8, index: u32) -> AddressMessage {
    let mut message = AddressMessage::default();
    message.header.family = if ip.is_ipv4() { Family::Inet } else { Family::Inet6 };
    message.header.prefix_len = prefix;
    message.header.index = index;
    message.attributes = vec![AddressAttribute::Local(ip), AddressAttribute::Address(ip)];
    message
}

fn found(message: &AddressMessage) -> Option<Found> {
    let local = message.attributes.iter().find_map(|attribute| match attribute {
        AddressAttribute::Local(ip) => Some(*ip),
        _ => None,
    });
    let of_peer = message.attributes.iter().find_map(|attribute| match attribute {
        AddressAttribute::Address(ip) => Some(*ip),
        _ => None,
    });
    let ip = local.or(of_peer)?; // IPv6 has only the latter
    Some(Found { ip, prefix: message.header.prefix_len, index: message.header.index })
}

fn mac(message: &LinkMessage) -> Option<[u8; 6]> {
    let asks = !message.header.flags.contains(LinkFlags::Noarp);
    let is_ethernet = message.header.link_layer_type == LinkLayerType::Ether;
    message.attributes.iter().filter(|_| asks && is_ethernet).find_map(
        |attribute| match attribute {
            LinkAttribute::Address(mac) => mac.as_slice().try_into().ok(),
            _ => None,
        },
    )
}

/// Whether an address was not there, or its interface is gone, and the address with it.
fn is_absent(error: &io::Error) -> bool {
    // The last of them: an interface that has lost IPv6, as one with a small MTU does.
    let absent = [Errno::ADDRNOTAVAIL, Errno::NODEV, Errno::NXIO].map(Errno::raw_os_error);
    error.raw_os_error().is_some_and(|error| absent.contains(&error))
}
