//! The attacker: hears what goes over the loopback, and writes datagrams with any source.

use crate::lab::clock::now;
use bellwether::core::{Duration, NodeId};
use bellwether::net::frame::{ConfigDigest, Session};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, ipproto, recv, sendto, socket};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::OwnedFd;

/// The bytes of the headers of IPv4 and UDP.
const IP: usize = 20;
const UDP: usize = 8;

/// A datagram, heard or to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Packet {
    pub(crate) from: SocketAddrV4,
    pub(crate) to: SocketAddrV4,
    pub(crate) bytes: Vec<u8>,
}

/// What the header of a frame says, by the table in the documentation of frames.
impl Packet {
    fn number(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.bytes[at..at + 8].try_into().expect("a frame has a header"))
    }

    pub(crate) fn sender(&self) -> NodeId {
        NodeId(self.number(16))
    }

    pub(crate) fn incarnation(&self) -> u64 {
        self.number(32)
    }

    pub(crate) fn session(&self) -> Session {
        Session(self.bytes[40..48].try_into().expect("a frame has a header"))
    }

    pub(crate) fn digest(&self) -> ConfigDigest {
        let part = |at: usize| self.bytes[at..at + 4].try_into().expect("a frame has a header");
        ConfigDigest { list: u32::from_le_bytes(part(56)), terms: u32::from_le_bytes(part(60)) }
    }

    /// The same with other bytes at this place.
    pub(crate) fn with(&self, at: usize, bytes: &[u8]) -> Self {
        let mut changed = self.clone();
        changed.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        changed
    }
}

/// A socket that hears all datagrams of the loopback.
pub(crate) struct Ear(OwnedFd);

impl Ear {
    pub(crate) fn new() -> Self {
        let raw = socket(AddressFamily::INET, SocketType::RAW, Some(ipproto::UDP));
        Self(raw.expect("root may open raw sockets"))
    }

    /// What is heard for so long, of those between these places.
    pub(crate) fn listen(&self, length: Duration, among: &[SocketAddrV4]) -> Vec<Packet> {
        let (end, mut buffer, mut heard) = (now() + length, [0; 4096], Vec::new());
        while now() < end {
            match recv(&self.0, &mut buffer[..], RecvFlags::DONTWAIT) {
                Ok((length, _)) => heard.extend(parsed(&buffer[..length])),
                Err(Errno::AGAIN) => std::thread::sleep(std::time::Duration::from_millis(1)),
                Err(error) => panic!("a raw socket can be read: {error}"),
            }
        }
        let of_group = |packet: &Packet| among.contains(&packet.from) && among.contains(&packet.to);
        heard.retain(of_group);
        heard
    }
}

/// The datagram in an IPv4 packet without options.
fn parsed(packet: &[u8]) -> Option<Packet> {
    let place = |ip: usize, port: usize| {
        let ip: [u8; 4] = packet.get(ip..ip + 4)?.try_into().ok()?;
        let port = u16::from_be_bytes(packet.get(port..port + 2)?.try_into().ok()?);
        Some(SocketAddrV4::new(Ipv4Addr::from(ip), port))
    };
    let bytes = packet.get(IP + UDP..)?.to_vec();
    Some(Packet { from: place(12, IP)?, to: place(16, IP + 2)?, bytes })
}

/// A socket that sends datagrams with any source.
pub(crate) struct Mouth {
    raw: OwnedFd,
    buffer: Vec<u8>,
}

impl Mouth {
    pub(crate) fn new() -> Self {
        let raw = socket(AddressFamily::INET, SocketType::RAW, Some(ipproto::RAW));
        Self { raw: raw.expect("root may open raw sockets"), buffer: Vec::new() }
    }

    /// Sends it; the kernel fills in the checksum of the IP header, and UDP needs none.
    pub(crate) fn say(&mut self, packet: &Packet) {
        let length = UDP + packet.bytes.len();
        let total = u16::try_from(IP + length).expect("an attack fits a packet");
        let out = &mut self.buffer;
        out.clear();
        out.extend_from_slice(&[0x45, 0]);
        out.extend_from_slice(&total.to_be_bytes());
        out.extend_from_slice(&[0, 0, 0, 0, 64, 17, 0, 0]);
        out.extend_from_slice(&packet.from.ip().octets());
        out.extend_from_slice(&packet.to.ip().octets());
        out.extend_from_slice(&packet.from.port().to_be_bytes());
        out.extend_from_slice(&packet.to.port().to_be_bytes());
        out.extend_from_slice(&(length as u16).to_be_bytes());
        out.extend_from_slice(&[0, 0]);
        out.extend_from_slice(&packet.bytes);
        // If the buffers of the loopback are full, this one is lost like any other.
        let _ = sendto(&self.raw, out, SendFlags::empty(), &packet.to);
    }
}
