//! The sockets of a member: one of its own, and one for its multicast group if it has one.
//!
//! Everything is sent by its own socket, so a multicast has the address of its sender like any
//! other datagram. Multicasts do not leave the network of the sender: their TTL is 1.
//!
//! **Promise.** The clock is read right after a datagram was taken from the socket, before it is
//! opened or decoded. So the time that it waited in the kernel counts as delay, as leases need it.
//! (The kernel's own stamps are of the wall clock, which can be set.)

use crate::clock::Clock;
use bellwether_core::Instant;
use rustix::event::{PollFd, PollFlags};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, ipproto, socket_with, sockopt};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::thread;

/// The receive buffer: larger than any frame, so that too long ones are noticed.
const BUFFER: usize = 2048;
/// The kernel's receive buffer: a thousand datagrams or more, which are handled within
/// milliseconds.
const RECEIVE_BUFFER: usize = 1 << 20;
/// The most datagrams taken in a row before timers and commands are served.
pub(crate) const BATCH: usize = 64;

/// How often, and after what time, an address that is in use is tried again.
const TRIES: u32 = 10;
const AGAIN: std::time::Duration = std::time::Duration::from_millis(5);

/// The sockets of a member.
#[derive(Debug)]
pub(crate) struct Sockets {
    own: UdpSocket,
    group: Option<UdpSocket>,
    /// Whether the socket of the group is bound to its very address, so that nothing else arrives
    /// there.
    by_address: bool,
    group_first: bool,
    buffer: Box<[u8; BUFFER]>,
}

/// A received datagram.
#[derive(Debug)]
pub(crate) struct Datagram<'a> {
    pub(crate) at: Instant,
    pub(crate) from: SocketAddr,
    /// Whether it was sent to the multicast address of a listed group.
    pub(crate) by_multicast: bool,
    pub(crate) bytes: &'a [u8],
}

impl Sockets {
    /// Binds a socket to this address. The guardian of a member that was killed has it for a moment
    /// (`guardian/will.rs`), so this is tried again for a while.
    pub(crate) fn bind(listen: SocketAddr) -> io::Result<Self> {
        let mut own = udp(listen, false);
        for _ in 0..TRIES {
            match own {
                Err(error) if error.kind() == ErrorKind::AddrInUse => thread::sleep(AGAIN),
                done => return Ok(Self::of(done?)),
            }
            own = udp(listen, false);
        }
        own.map(Self::of)
    }

    fn of(own: UdpSocket) -> Self {
        let buffer = Box::new([0; BUFFER]);
        Self { own, group: None, by_address: false, group_first: false, buffer }
    }

    /// The same with a second socket for the multicast address of a listed group, on the interface
    /// that has this address. `heard_here` says whether other members run on this machine.
    pub(crate) fn hearing(
        mut self,
        group: SocketAddr,
        at: SocketAddr,
        heard_here: bool,
    ) -> io::Result<Self> {
        let shared = match (group, at) {
            (SocketAddr::V4(to), SocketAddr::V4(at)) => {
                let shared = udp(group, true)?;
                shared.join_multicast_v4(to.ip(), at.ip())?;
                sockopt::set_ip_multicast_if(&self.own, at.ip())?;
                self.own.set_multicast_ttl_v4(1)?;
                self.own.set_multicast_loop_v4(heard_here)?;
                shared
            }
            (SocketAddr::V6(to), SocketAddr::V6(at)) => {
                let index = index_at(at)?;
                // An address of one link says nothing without the link.
                let shared = udp(SocketAddrV6::new(*to.ip(), to.port(), 0, index).into(), true)?;
                shared.join_multicast_v6(to.ip(), index)?;
                sockopt::set_ipv6_multicast_if(&self.own, index)?;
                sockopt::set_ipv6_multicast_hops(&self.own, 1)?;
                self.own.set_multicast_loop_v6(heard_here)?;
                shared
            }
            _ => return Err(io::Error::other(format!("{at} cannot send to {group}"))),
        };
        (self.group, self.by_address) = (Some(shared), true);
        Ok(self)
    }

    /// Binds a socket to this address and another one to a multicast group.
    pub(crate) fn join(
        listen: SocketAddr,
        group: SocketAddr,
        interface: Option<&str>,
    ) -> io::Result<Self> {
        let own = udp(listen, false)?;
        let any: IpAddr = match group {
            SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let shared = udp(SocketAddr::new(any, group.port()), true)?;
        let index = interface.map(index_of).transpose()?.unwrap_or(0);
        match group.ip() {
            IpAddr::V4(ip) => {
                let any = Ipv4Addr::UNSPECIFIED;
                sockopt::set_ip_add_membership_with_ifindex(&shared, &ip, &any, index)?;
                if let Some(interface) = interface {
                    bind_device(own.as_fd(), interface)?;
                }
                own.set_multicast_loop_v4(true)?;
            }
            IpAddr::V6(ip) => {
                shared.join_multicast_v6(&ip, index)?;
                if index != 0 {
                    sockopt::set_ipv6_multicast_if(&own, index)?;
                }
                own.set_multicast_loop_v6(true)?;
            }
        }
        Ok(Self { group: Some(shared), ..Self::of(own) })
    }

    /// The address of its own socket.
    pub(crate) fn listens(&self) -> io::Result<SocketAddr> {
        self.own.local_addr()
    }

    /// The descriptors to wait for: of its own socket, and of that of the multicast group.
    pub(crate) fn poll_fds(&self) -> (PollFd<'_>, Option<PollFd<'_>>) {
        let wanted = |socket| PollFd::new(socket, PollFlags::IN);
        (wanted(&self.own), self.group.as_ref().map(wanted))
    }

    /// The next datagram, if there is one.
    pub(crate) fn receive(&mut self, clock: &dyn Clock) -> Option<Datagram<'_>> {
        // In turns: a flood at one socket must not starve the other one.
        self.group_first = !self.group_first;
        let (own, group) = (Some(&self.own), self.group.as_ref());
        let (own, group) = (own.map(|it| (it, false)), group.map(|it| (it, self.by_address)));
        let order = if self.group_first { [group, own] } else { [own, group] };
        for (socket, by_multicast) in order.into_iter().flatten() {
            match socket.recv_from(&mut self.buffer[..]) {
                Ok((length, from)) => {
                    let at = clock.now();
                    return Some(Datagram {
                        at,
                        from,
                        by_multicast,
                        bytes: &self.buffer[..length],
                    });
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                // An error of an earlier send, which the kernel reports here; the next call goes
                // on.
                Err(_) => {}
            }
        }
        None
    }

    /// How many datagrams the kernel dropped because the buffers were full.
    pub(crate) fn unread(&self) -> u64 {
        std::iter::once(&self.own).chain(&self.group).map(|socket| u64::from(drops(socket))).sum()
    }

    /// Sends a datagram.
    pub(crate) fn send(&self, to: SocketAddr, bytes: &[u8]) -> io::Result<()> {
        self.own.send_to(bytes, to).map(|_| ())
    }
}

/// A socket at this address that does not block.
pub(crate) fn udp(at: SocketAddr, shared: bool) -> io::Result<UdpSocket> {
    let family = if at.is_ipv6() { AddressFamily::INET6 } else { AddressFamily::INET };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(family, SocketType::DGRAM, flags, Some(ipproto::UDP))?;
    if at.is_ipv6() {
        sockopt::set_ipv6_v6only(&socket, true)?;
    }
    if shared {
        sockopt::set_socket_reuseaddr(&socket, true)?;
    }
    // Datagrams that do not fit while this process does not run are lost.
    // The kernel may grant less, which is no reason not to start.
    let _ = sockopt::set_socket_recv_buffer_size(&socket, RECEIVE_BUFFER);
    bind(&socket, &at)?;
    Ok(socket.into())
}

/// How many datagrams this socket dropped; zero if the kernel does not tell. `rustix` lacks this
/// option.
#[allow(unsafe_code, reason = "a call that rustix lacks; see SAFETY")]
fn drops(socket: &UdpSocket) -> u32 {
    /// Where among the numbers of `SO_MEMINFO` the drops are (`SK_MEMINFO_DROPS`).
    const DROPS: usize = 8;
    let mut numbers = [0_u32; DROPS + 1];
    let mut length = size_of_val(&numbers) as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes at the pointer, which are those of
    // `numbers`, any of which are valid numbers; it writes how many they were to `length`. Both
    // outlive the call, and the descriptor is open for as long.
    let done = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            numbers.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if done == 0 { numbers[DROPS] } else { 0 }
}

/// Restricts the socket to this interface. `rustix` lacks this option.
#[allow(unsafe_code, reason = "a call that rustix lacks; see SAFETY")]
pub(crate) fn bind_device(socket: BorrowedFd<'_>, interface: &str) -> io::Result<()> {
    let length = libc::socklen_t::try_from(interface.len()).map_err(io::Error::other)?;
    // SAFETY: the kernel reads `length` bytes at the pointer and keeps nothing of them. Both
    // describe `interface`, which outlives the call; the descriptor is open for as long.
    let done = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_BINDTODEVICE,
            interface.as_ptr().cast(),
            length,
        )
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The index of the interface that has this address.
fn index_at(at: SocketAddrV6) -> io::Result<u32> {
    if at.scope_id() != 0 {
        return Ok(at.scope_id());
    }
    if at.ip().is_loopback() {
        return index_of("lo");
    }
    let known = std::fs::read_to_string("/proc/net/if_inet6")?;
    // The address in hexadecimal digits, and the index in some, too.
    let own = format!("{:032x}", u128::from(*at.ip()));
    let index = known.lines().find_map(|line| {
        let rest = line.strip_prefix(&own)?;
        u32::from_str_radix(rest.split_whitespace().next()?, 16).ok()
    });
    index.ok_or_else(|| {
        io::Error::new(ErrorKind::NotFound, format!("no interface has the address {}", at.ip()))
    })
}

fn index_of(interface: &str) -> io::Result<u32> {
    let probe = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    rustix::net::netdevice::name_to_index(&probe, interface).map_err(|error| {
        io::Error::new(ErrorKind::NotFound, format!("no interface '{interface}': {error}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_drops_is_counted() {
        let sockets = Sockets::bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let to = sockets.listens().unwrap();
        let from = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        assert_eq!(sockets.unread(), 0);
        // However much the kernel grants, this does not fit.
        for _ in 0..20_000 {
            from.send_to(&[0; 1000], to).unwrap();
        }
        let unread = sockets.unread();
        assert!((1000..20_000).contains(&unread), "{unread}");
    }
}
