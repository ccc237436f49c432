//! The members of a group and their addresses, as text.
//!
//! | text | meaning |
//! |---|---|
//! | `1=10.0.0.1:7400,2=10.0.0.2:7400,3=host:7400` | all members, by id |
//! | `10.0.0.1:7400,10.0.0.2:7400` | all members, numbered from 1 in alphabetical order |
//! | `dns:NAME:PORT` | all addresses of this name, looked up repeatedly |
//! | `multicast:ADDRESS:PORT`, `…@INTERFACE` | all processes that send to this address |
//!
//! Only a list says how many members there are, so majorities need a list. A name in a list must
//! have one address: a member is one process at one address.

use bellwether_core::NodeId;
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

/// The members of a group and where they are.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Peers {
    /// All members, by id and place (`HOST:PORT`).
    Listed(BTreeMap<NodeId, String>),
    /// All addresses of this name and port.
    Dns(String),
    /// All processes that send to this address.
    Multicast {
        /// The group's address.
        group: SocketAddr,
        /// The name of the interface, if not the default one.
        interface: Option<String>,
    },
}

/// Why a text does not describe the members of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadPeers {
    /// Nobody is listed, or too many are.
    Count(usize),
    /// Some entries have an id, and some have none.
    SomeIds {
        /// How many have one.
        named: usize,
        /// How many entries there are.
        listed: usize,
    },
    /// An id is no number.
    Id {
        /// The id.
        id: String,
        /// Its entry.
        entry: String,
    },
    /// An id is listed twice.
    IdTwice(NodeId),
    /// A place is listed twice.
    PlaceTwice(String),
    /// A place has no port.
    NoPort(String),
    /// The port of a place is no number from 1 to 65535.
    Port(String),
    /// The host of a place is missing, or has a character that no host has.
    Host(String),
    /// The IPv6 address of a place has no brackets.
    NoBrackets(String),
    /// A multicast group is no address with a port.
    NoAddress(String),
    /// An address is none of multicast, or its port is 0.
    NotMulticast(SocketAddr),
}

/// Writes control characters as escapes.
struct OneLine<'a, 'b>(&'a mut fmt::Formatter<'b>);

impl fmt::Write for OneLine<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|letter| match letter.is_control() {
            true => write!(self.0, "{}", letter.escape_default()),
            false => self.0.write_char(letter),
        })
    }
}

impl fmt::Display for BadPeers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // It quotes what was written, which may hold anything, and is one line all the same.
        let f = &mut OneLine(f);
        let mut wrong =
            |place: &str, rule: &str| write!(f, "'{place}' is not the place of a member: {rule}");
        match self {
            Self::NoPort(place) => wrong(place, "a port is missing, as in HOST:7400"),
            Self::Port(place) => wrong(place, "the port is a number from 1 to 65535"),
            Self::Host(place) => wrong(place, "write HOST:PORT"),
            Self::NoBrackets(place) => {
                wrong(place, "an IPv6 address stands in brackets, as in [fd00::1]:7400")
            }
            Self::Count(listed) => write!(
                f,
                "{listed} members are listed, but there must be from 1 to {LISTED_MAX}: write \
                 1=HOST:PORT,2=HOST:PORT,3=HOST:PORT"
            ),
            Self::SomeIds { named, listed } => write!(
                f,
                "{named} of {listed} members have an id: give one to each (1=HOST:PORT), or to none"
            ),
            Self::Id { id, entry } => {
                write!(f, "'{id}' in '{entry}' is not an id: ids are numbers, as in 1=HOST:PORT")
            }
            Self::IdTwice(id) => write!(f, "member {id} is listed twice; list it once"),
            Self::PlaceTwice(place) => write!(f, "{place} is listed twice; list it once"),
            Self::NoAddress(address) => {
                write!(f, "'{address}' is no address and port, as in multicast:239.1.2.3:7400")
            }
            Self::NotMulticast(group) => write!(
                f,
                "{group} is no multicast address with a port: they are 224.0.0.0 to \
                 239.255.255.255 and ff00::/8"
            ),
        }
    }
}

impl std::error::Error for BadPeers {}

/// The most members of a list.
const LISTED_MAX: usize = 4096;

impl Peers {
    /// Whether the members are listed, so that their number is known.
    pub fn is_list(&self) -> bool {
        matches!(self, Self::Listed(_))
    }
}

impl FromStr for Peers {
    type Err = BadPeers;

    fn from_str(text: &str) -> Result<Self, BadPeers> {
        let text = text.trim();
        if let Some(name) = text.strip_prefix("dns:") {
            return check_place(name).map(|()| Self::Dns(name.to_owned()));
        }
        if let Some(address) = text.strip_prefix("multicast:") {
            return multicast(address);
        }
        let entries: Vec<&str> =
            text.split(',').map(str::trim).filter(|entry| !entry.is_empty()).collect();
        if entries.is_empty() || entries.len() > LISTED_MAX {
            return Err(BadPeers::Count(entries.len()));
        }
        let named = entries.iter().filter(|entry| entry.contains('=')).count();
        match named {
            0 => numbered(entries),
            _ if named == entries.len() => by_id(&entries),
            _ => Err(BadPeers::SomeIds { named, listed: entries.len() }),
        }
    }
}

fn by_id(entries: &[&str]) -> Result<Peers, BadPeers> {
    let mut list = BTreeMap::new();
    for entry in entries {
        let (id, address) = entry.split_once('=').unwrap_or(("", entry));
        let id = id
            .trim()
            .parse()
            .map(NodeId)
            .map_err(|_| BadPeers::Id { id: id.to_owned(), entry: (*entry).to_owned() })?;
        check_place(address.trim())?;
        if list.insert(id, address.trim().to_owned()).is_some() {
            return Err(BadPeers::IdTwice(id));
        }
    }
    each_place_once(list)
}

/// Numbers the members in alphabetical order, because another machine may write them in another
/// order.
fn numbered(mut entries: Vec<&str>) -> Result<Peers, BadPeers> {
    entries.sort_unstable();
    entries.iter().try_for_each(|entry| check_place(entry))?;
    let rows = (1..).map(NodeId).zip(entries.iter().map(|entry| (*entry).to_owned()));
    each_place_once(rows.collect())
}

fn each_place_once(list: BTreeMap<NodeId, String>) -> Result<Peers, BadPeers> {
    let mut places: Vec<&String> = list.values().collect();
    places.sort_unstable();
    match places.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(BadPeers::PlaceTwice(pair[0].clone())),
        None => Ok(Peers::Listed(list)),
    }
}

/// Checks the form `HOST:PORT`. The host is looked up later.
pub(crate) fn check_place(text: &str) -> Result<(), BadPeers> {
    let wrong = |bad: fn(String) -> BadPeers| Err(bad(text.to_owned()));
    let Some((host, port)) = text.rsplit_once(':') else {
        return wrong(BadPeers::NoPort);
    };
    if !port.parse().is_ok_and(|port: u16| port > 0) {
        return wrong(BadPeers::Port);
    }
    let is_odd = |letter: char| {
        letter.is_whitespace() || letter.is_control() || ['=', '/', ','].contains(&letter)
    };
    if host.is_empty() || host.contains(is_odd) {
        return wrong(BadPeers::Host);
    }
    if host.contains(':') && text.parse::<SocketAddr>().is_err() {
        return wrong(BadPeers::NoBrackets);
    }
    Ok(())
}

fn multicast(text: &str) -> Result<Peers, BadPeers> {
    let (address, interface) = match text.split_once('@') {
        Some((address, interface)) => (address, Some(interface.to_owned())),
        None => (text, None),
    };
    let group: SocketAddr = address.parse().map_err(|_| BadPeers::NoAddress(address.to_owned()))?;
    let is_multicast = match group.ip() {
        IpAddr::V4(ip) => ip.is_multicast(),
        IpAddr::V6(ip) => ip.is_multicast(),
    };
    if !is_multicast || group.port() == 0 {
        return Err(BadPeers::NotMulticast(group));
    }
    Ok(Peers::Multicast { group, interface })
}

impl fmt::Display for Peers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listed(list) => {
                let rows: Vec<String> =
                    list.iter().map(|(id, place)| format!("{id}={place}")).collect();
                f.write_str(&rows.join(","))
            }
            Self::Dns(name) => write!(f, "dns:{name}"),
            Self::Multicast { group, interface } => {
                write!(f, "multicast:{group}")?;
                interface.as_ref().map_or(Ok(()), |name| write!(f, "@{name}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Peers, String> {
        text.parse().map_err(|bad: BadPeers| bad.to_string())
    }

    #[test]
    fn a_list_may_name_its_members_or_number_them_in_an_order_of_its_own() {
        let named = read("2=b:1, 1=a:1").unwrap();
        assert_eq!(named.to_string(), "1=a:1,2=b:1");
        assert_eq!(read("b:1,a:1").unwrap(), named, "whatever the order");
        assert_eq!(read(&named.to_string()).unwrap(), named);
    }

    #[test]
    fn names_and_addresses_of_all_kinds_are_read_back() {
        for text in [
            "1=[fd00::1]:7400",
            "dns:workers.example:7400",
            "multicast:239.1.2.3:7400",
            "multicast:[ff02::7]:7400@eth0",
        ] {
            assert_eq!(read(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn every_mistake_is_named() {
        for (text, words) in [
            ("", "0 members are listed"),
            ("a:1,2=b:1", "1 of 2 members have an id"),
            ("x=a:1", "'x' in 'x=a:1' is not an id"),
            ("1=a:1,1=b:1", "member 1 is listed twice"),
            ("1=a:1,2=a:1", "a:1 is listed twice"),
            ("1=a", "a port is missing"),
            ("1=a:0", "from 1 to 65535"),
            ("1=fd00::1:7400", "stands in brackets"),
            ("dns:name", "a port is missing"),
            ("multicast:10.0.0.1:7400", "no multicast address"),
            ("multicast:somewhere:7400", "no address and port"),
            ("1=a\tb:7400", "'a\\tb:7400' is not the place"),
            ("dns\r\n:x", "'dns\\r\\n:x' is not the place"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(words) && !error.contains('\n'), "{text}: {error}");
        }
    }
}
