//! Why an address cannot be one that moves.

use super::Address;
use rustix::io::Errno;
use std::fmt;
use std::io;
use std::net::IpAddr;

/// An address that cannot be set, and what to do.
#[derive(Debug)]
#[non_exhaustive]
pub enum BadAddress {
    /// It is not written as an address with a prefix and an interface.
    Form {
        /// What was written.
        text: String,
    },
    /// The name of its interface can be no name.
    Name {
        /// What was written.
        text: String,
    },
    /// Its prefix is too short or too long.
    Prefix {
        /// What was written.
        text: String,
        /// The longest prefix of such addresses.
        longest: u8,
    },
    /// It is the address of no host: of a network, of all, or of this machine itself.
    NoHost {
        /// What was written.
        text: String,
    },
    /// It is listed twice.
    Twice {
        /// The address.
        ip: IpAddr,
    },
    /// Its interface is not there.
    Interface {
        /// The address.
        address: Address,
        /// What the system says.
        error: io::Error,
    },
    /// This process may not set addresses, or send the packets that announce them.
    NotPermitted {
        /// The address.
        address: Address,
        /// The capabilities that are missing.
        missing: String,
    },
    /// Another interface of this machine has it.
    Elsewhere {
        /// The address.
        address: Address,
        /// That interface.
        other: String,
    },
    /// The system refused to read or change addresses.
    Refused {
        /// The address.
        address: Address,
        /// What the system says.
        error: io::Error,
    },
}

impl fmt::Display for BadAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form { text } => {
                write!(f, "'{text}': write IP/LEN@INTERFACE, as in 10.0.0.100/24@eth0")
            }
            Self::Name { text } => write!(
                f,
                "'{text}': an interface has a name of 1 to 15 letters, as in 10.0.0.100/24@eth0; \
                 `ip link` lists them"
            ),
            Self::Prefix { text, longest } => write!(
                f,
                "'{text}': the length of the prefix is from 1 to {longest}; write that of the \
                 network, or {longest}"
            ),
            Self::NoHost { text } => write!(
                f,
                "'{text}': no host can have it, since it is the address of a network, of all hosts \
                 or of every machine itself; choose another one"
            ),
            Self::Twice { ip } => {
                write!(f, "the address {ip} is listed twice; leave one of them out")
            }
            Self::Interface { address, error } if is_missing(error) => write!(
                f,
                "address {address}: no interface is called '{}'; `ip link` lists them",
                address.interface
            ),
            Self::Interface { address, error } => {
                write!(f, "address {address}: cannot look for its interface: {error}")
            }
            Self::NotPermitted { address, missing } => write!(
                f,
                "address {address}: this process lacks {missing}, which it takes to set and \
                 announce an address; start it as root, or give a service \
                 AmbientCapabilities=CAP_NET_ADMIN CAP_NET_RAW"
            ),
            Self::Elsewhere { address, other } => write!(
                f,
                "address {address}: this machine has {} on {other} already; remove it there (ip \
                 address del), or name another address",
                address.ip
            ),
            Self::Refused { address, error } => {
                write!(f, "address {address}: the system does not let it be changed: {error}")
            }
        }
    }
}

fn is_missing(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::NODEV.raw_os_error())
}

impl std::error::Error for BadAddress {}

impl PartialEq for BadAddress {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}
