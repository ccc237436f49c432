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
use std::fmt;
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
pub struct BadPeers(String);

impl fmt::Display for BadPeers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
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
            return place(name).map(|()| Self::Dns(name.to_owned()));
        }
        if let Some(address) = text.strip_prefix("multicast:") {
            return multicast(address);
        }
        let entries: Vec<&str> =
            text.split(',').map(str::trim).filter(|entry| !entry.is_empty()).collect();
        if entries.is_empty() || entries.len() > LISTED_MAX {
            return Err(BadPeers(format!(
                "{} members are listed, but there must be from 1 to {LISTED_MAX}: write \
                 1=HOST:PORT,2=HOST:PORT,3=HOST:PORT",
                entries.len()
            )));
        }
        let named = entries.iter().filter(|entry| entry.contains('=')).count();
        match named {
            0 => numbered(entries),
            _ if named == entries.len() => by_id(&entries),
            _ => Err(BadPeers(format!(
                "{named} of {} members have an id: give one to each (1=HOST:PORT), or to none",
                entries.len()
            ))),
        }
    }
}

fn by_id(entries: &[&str]) -> Result<Peers, BadPeers> {
    let mut list = BTreeMap::new();
    for entry in entries {
        let (id, address) = entry.split_once('=').unwrap_or(("", entry));
        let id = id.trim().parse().map(NodeId).map_err(|_| {
            BadPeers(format!(
                "'{id}' in '{entry}' is not an id: ids are numbers, as in 1=HOST:PORT"
            ))
        })?;
        place(address.trim())?;
        if list.insert(id, address.trim().to_owned()).is_some() {
            return Err(BadPeers(format!("member {id} is listed twice")));
        }
    }
    each_place_once(list)
}

/// Numbers the members in alphabetical order, because another machine may write them in another
/// order.
fn numbered(mut entries: Vec<&str>) -> Result<Peers, BadPeers> {
    entries.sort_unstable();
    entries.iter().try_for_each(|entry| place(entry))?;
    let rows = (1..).map(NodeId).zip(entries.iter().map(|entry| (*entry).to_owned()));
    each_place_once(rows.collect())
}

fn each_place_once(list: BTreeMap<NodeId, String>) -> Result<Peers, BadPeers> {
    let mut places: Vec<&String> = list.values().collect();
    places.sort_unstable();
    match places.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(BadPeers(format!("{} is listed twice", pair[0]))),
        None => Ok(Peers::Listed(list)),
    }
}

/// Checks the form `HOST:PORT`. The host is looked up later.
fn place(text: &str) -> Result<(), BadPeers> {
    let wrong =
        |rule: &str| Err(BadPeers(format!("'{text}' is not the place of a member: {rule}")));
    let Some((host, port)) = text.rsplit_once(':') else {
        return wrong("a port is missing, as in HOST:7400");
    };
    if !port.parse().is_ok_and(|port: u16| port > 0) {
        return wrong("the port is a number from 1 to 65535");
    }
    if host.is_empty() || host.contains([' ', '=', '/', ',']) {
        return wrong("write HOST:PORT");
    }
    if host.contains(':') && text.parse::<SocketAddr>().is_err() {
        return wrong("an IPv6 address stands in brackets, as in [fd00::1]:7400");
    }
    Ok(())
}

fn multicast(text: &str) -> Result<Peers, BadPeers> {
    let (address, interface) = match text.split_once('@') {
        Some((address, interface)) => (address, Some(interface.to_owned())),
        None => (text, None),
    };
    let group: SocketAddr = address.parse().map_err(|_| {
        BadPeers(format!("'{address}' is no address and port, as in multicast:239.1.2.3:7400"))
    })?;
    let is_multicast = match group.ip() {
        IpAddr::V4(ip) => ip.is_multicast(),
        IpAddr::V6(ip) => ip.is_multicast(),
    };
    if !is_multicast || group.port() == 0 {
        return Err(BadPeers(format!(
            "{group} is no multicast address with a port: they are 224.0.0.0 to 239.255.255.255 \
             and ff00::/8"
        )));
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
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
