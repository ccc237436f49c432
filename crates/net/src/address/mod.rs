//! The address that moves: set on the leader's interface, announced, and removed in time.
//!
//! **Source.** RFC 5227 (probe before use, announce afterwards) and RFC 4861 (the same for IPv6),
//! with waits that fit a lease. The kernel keeps addresses (`netlink`); neighbours are asked and
//! told with packets of our own (`arp`, `ndp`), and `lookout` decides whether an address is free.
//! Otherwise than in RFC 5227, an address that a member of the group gave up is set before it is
//! asked for, and it is given back at once if another host answers.
//!
//! **Assumptions.** Linux, with `CAP_NET_ADMIN` and `CAP_NET_RAW`. The kernel's lock on the network
//! configuration is free within half the margin. Only members of the group set these addresses.
//!
//! **Promise.** The [guardian](crate::guardian) decides when: nothing here knows of leases. An
//! address has an end of its own in the kernel, one to three and a half seconds after its
//! permission: if member, guardian and watchdog are all killed at once, the kernel removes it.

mod addresses;
mod arp;
mod bad_address;
mod knowledge;
mod lookout;
mod ndp;
mod neighbourhood;
mod netlink;
#[cfg(test)]
pub(crate) mod scripted;

pub(crate) use addresses::Addresses;
pub use bad_address::BadAddress;
pub(crate) use lookout::{Lookout, Probed};
pub(crate) use neighbourhood::Neighbourhood;

use netlink::{Found, Netlink};
use rustix::thread::{CapabilitySet, capabilities};
use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;
use std::{fmt, io};

/// The most bytes of an interface's name.
const NAME_MAX: usize = 15;

/// An address that the leader has, as in `10.0.0.100/24@eth0`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The address.
    pub ip: IpAddr,
    /// The length of its prefix.
    pub prefix: u8,
    /// The interface that gets it.
    pub interface: String,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}@{}", self.ip, self.prefix, self.interface)
    }
}

impl FromStr for Address {
    type Err = BadAddress;

    fn from_str(text: &str) -> Result<Self, BadAddress> {
        let form = || BadAddress::Form { text: text.to_owned() };
        let (place, interface) = text.split_once('@').ok_or_else(form)?;
        let (ip, prefix) = place.split_once('/').ok_or_else(form)?;
        let ip: IpAddr = ip.trim().parse().map_err(|_| form())?;
        let prefix: u8 = prefix.trim().parse().map_err(|_| form())?;
        let interface = interface.trim();
        let named = (1..=NAME_MAX).contains(&interface.len())
            && interface.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'/');
        if !named {
            return Err(BadAddress::Name { text: text.to_owned() });
        }
        let longest = if ip.is_ipv4() { 32 } else { 128 };
        if !(1..=longest).contains(&prefix) {
            return Err(BadAddress::Prefix { text: text.to_owned(), longest });
        }
        if ip.is_unspecified() || ip.is_multicast() || ip.is_loopback() || is_of_all(ip, prefix) {
            return Err(BadAddress::NoHost { text: text.to_owned() });
        }
        Ok(Self { ip, prefix, interface: interface.to_owned() })
    }
}

/// Whether it is the first or last address of its network, which is no host's.
fn is_of_all(ip: IpAddr, prefix: u8) -> bool {
    let IpAddr::V4(ip) = ip else { return false };
    let host = u32::MAX.checked_shr(prefix.into()).unwrap_or(0);
    let own = ip.to_bits() & host;
    ip.is_broadcast() || (prefix <= 30 && (own == 0 || own == host))
}

/// Checks that this process can set these addresses: that each is listed once, that the interfaces
/// are there, and that the system permits it.
///
/// # Errors
/// [`BadAddress`] with the first of them that cannot be set, and the way out.
pub fn check(addresses: &[Address]) -> Result<(), BadAddress> {
    let mut seen = BTreeSet::new();
    if let Some(twice) = addresses.iter().find(|address| !seen.insert(address.ip)) {
        return Err(BadAddress::Twice { ip: twice.ip });
    }
    for address in addresses {
        netlink::index(&address.interface)
            .map_err(|error| BadAddress::Interface { address: address.clone(), error })?;
    }
    if addresses.is_empty() {
        return Ok(());
    }
    let effective = capabilities(None).map(|sets| sets.effective).unwrap_or(CapabilitySet::empty());
    let needed =
        [("CAP_NET_ADMIN", CapabilitySet::NET_ADMIN), ("CAP_NET_RAW", CapabilitySet::NET_RAW)];
    let missing = needed.iter().filter(|(_, it)| !effective.contains(*it)).map(|(name, _)| *name);
    let missing: Vec<&str> = missing.collect();
    if missing.is_empty() {
        Ok(())
    } else {
        Err(BadAddress::NotPermitted {
            address: addresses[0].clone(),
            missing: missing.join(" and "),
        })
    }
}

/// Whether an interface is up and has a carrier.
///
/// # Errors
/// If there is no such interface, or the kernel does not answer.
pub fn is_up(interface: &str) -> io::Result<bool> {
    Ok(Netlink::new()?.link(interface)?.runs)
}

/// Whether the interface of this address has another address of the same network, by which
/// neighbours and the machine reach each other.
///
/// # Errors
/// If there is no such interface, or the kernel does not answer.
pub fn is_of_own_network(address: &Address) -> io::Result<bool> {
    let index = netlink::index(&address.interface)?;
    let same = |found: &Found| {
        let others = found.index == index && found.ip != address.ip;
        others && network(found.ip, address.prefix) == network(address.ip, address.prefix)
    };
    Ok(Netlink::new()?.addresses()?.iter().any(same))
}

/// The first address of the network of this one.
fn network(ip: IpAddr, prefix: u8) -> IpAddr {
    let prefix = u32::from(prefix);
    match ip {
        IpAddr::V4(ip) => {
            let mask = u32::MAX.checked_shl(32_u32.saturating_sub(prefix)).unwrap_or(0);
            Ipv4Addr::from_bits(ip.to_bits() & mask).into()
        }
        IpAddr::V6(ip) => {
            let mask = u128::MAX.checked_shl(128_u32.saturating_sub(prefix)).unwrap_or(0);
            Ipv6Addr::from_bits(ip.to_bits() & mask).into()
        }
    }
}

/// Removes these addresses from their interfaces, where an earlier process may have left them;
/// returns those that were there. Call it only while no other process of this member runs.
///
/// # Errors
/// [`BadAddress`] if one of them is on another interface of this machine, or cannot be removed.
pub fn clean_up(addresses: &[Address]) -> Result<Vec<Address>, BadAddress> {
    let cannot = |address: &Address, error| BadAddress::Refused { address: address.clone(), error };
    let Some(first) = addresses.first() else { return Ok(Vec::new()) };
    let kernel = Netlink::new().map_err(|error| cannot(first, error))?;
    let found = kernel.addresses().map_err(|error| cannot(first, error))?;
    let mut left = Vec::new();
    for address in addresses {
        let index = netlink::index(&address.interface)
            .map_err(|error| BadAddress::Interface { address: address.clone(), error })?;
        for found in found.iter().filter(|found| found.ip == address.ip) {
            if found.index != index {
                let other = netlink::name(found.index);
                return Err(BadAddress::Elsewhere { address: address.clone(), other });
            }
            kernel.remove(found.ip, found.prefix, index).map_err(|error| cannot(address, error))?;
            left.push(address.clone());
        }
    }
    Ok(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_written_as_it_is_read() {
        for text in
            ["10.0.0.100/24@eth0", "10.0.0.100/32@br-0.7", "fd00::7/64@eth0", "10.0.0.0/31@x"]
        {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_no_host_can_have_is_refused_with_the_reason() {
        for (text, reason) in [
            ("", "write IP/LEN@INTERFACE, as in 10.0.0.100/24@eth0"),
            ("10.0.0.100@eth0", "write IP/LEN@INTERFACE"),
            ("10.0.0.100/24", "write IP/LEN@INTERFACE"),
            ("10.0.0/24@eth0", "write IP/LEN@INTERFACE"),
            ("10.0.0.1/x@eth0", "write IP/LEN@INTERFACE"),
            ("10.0.0.1/33@eth0", "from 1 to 32"),
            ("10.0.0.1/0@eth0", "from 1 to 32"),
            ("fd00::1/129@eth0", "from 1 to 128"),
            ("10.0.0.1/24@", "an interface has a name of 1 to 15 letters"),
            ("10.0.0.1/24@an-interface-too-long", "an interface has a name"),
            ("10.0.0.1/24@../x", "an interface has a name"),
            ("10.0.0.0/24@eth0", "no host can have it"),
            ("10.0.0.255/24@eth0", "no host can have it"),
            ("255.255.255.255/32@eth0", "no host can have it"),
            ("0.0.0.0/32@eth0", "no host can have it"),
            ("127.0.0.1/8@lo", "no host can have it"),
            ("224.0.0.5/24@eth0", "no host can have it"),
            ("ff02::1/64@eth0", "no host can have it"),
            ("::1/128@lo", "no host can have it"),
        ] {
            let error = text.parse::<Address>().unwrap_err().to_string();
            assert!(error.contains(reason) && error.contains(text), "{text}: {error}");
        }
    }

    #[test]
    fn a_network_is_told_from_others_by_its_prefix() {
        let of = |text: &str| {
            let address: Address = text.parse().unwrap();
            network(address.ip, address.prefix).to_string()
        };
        assert_eq!(of("10.1.2.3/24@x"), "10.1.2.0");
        assert_eq!(of("10.1.2.3/32@x"), "10.1.2.3");
        assert_eq!(of("10.1.2.3/1@x"), "0.0.0.0");
        assert_eq!(of("fd00::1:2/64@x"), "fd00::");
        assert_eq!(of("fd00::1:2/128@x"), "fd00::1:2");
        let other: Address = "127.9.9.9/8@lo".parse().unwrap_or(Address {
            ip: [127, 9, 9, 9].into(),
            prefix: 8,
            interface: "lo".to_owned(),
        });
        assert!(is_of_own_network(&other).unwrap(), "127.0.0.1 is there");
        assert!(!is_of_own_network(&"192.0.2.9/24@lo".parse().unwrap()).unwrap());
    }

    #[test]
    fn what_cannot_be_set_is_named() {
        let read = |text: &str| text.parse::<Address>().unwrap();
        let twice = [read("10.0.0.7/24@lo"), read("10.0.0.7/32@lo")];
        assert!(check(&twice).unwrap_err().to_string().contains("10.0.0.7 is listed twice"));
        let unknown = check(&[read("10.0.0.7/24@nowhere0")]).unwrap_err().to_string();
        assert!(unknown.contains("10.0.0.7/24@nowhere0: no interface is called"), "{unknown}");
        assert_eq!(check(&[]), Ok(()));
    }
}
