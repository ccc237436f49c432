//! Why a member cannot be started with its settings.

use crate::control::{BadPlace, ServeError};
use crate::peers::Peers;
use crate::setting::{NamesSettings, Setting};
use bellwether_core::NodeId;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why a member cannot be started. No member has joined, and nothing runs.
#[derive(Debug)]
#[non_exhaustive]
pub enum BadSettings {
    /// The name of the group cannot be part of a file's name.
    Group(BadPlace),
    /// The members are not given.
    NoPeers,
    /// Keys are not given, nor that there are none.
    NoKey,
    /// The list of members does not have this id.
    UnknownId {
        /// The id of this member.
        id: NodeId,
        /// The list.
        peers: Peers,
    },
    /// The listed name of this member has no address, and it is not given where to listen.
    NoAddress {
        /// The id of this member.
        id: NodeId,
        /// Its listed name.
        place: String,
    },
    /// The id is not given, and the addresses of this machine do not tell which member it is.
    WhichMember {
        /// How many of the listed addresses are this machine's: none, or several.
        here: usize,
        /// The list.
        peers: Peers,
    },
    /// Leases from a majority need a list of members.
    NoList {
        /// The members as they are given.
        peers: Peers,
    },
    /// Tokens that grow across restarts need a directory.
    NoDir,
    /// It is said that the member never voted, but it stores no votes with this protocol.
    NoRecords,
    /// It is said that the member never voted, but it has a record of votes.
    HasVoted {
        /// Where its record is, or was.
        place: String,
    },
    /// Another rule is broken; the text names the value, the rule and the way out.
    Rule(String),
    /// The member cannot answer other processes.
    Control(ServeError),
    /// The state cannot be kept.
    State(io::Error),
    /// The trace cannot be written.
    Record(PathBuf, io::Error),
    /// The member cannot listen at this address.
    Listen(SocketAddr, io::Error),
    /// The system refused something else, which the text names.
    System(&'static str, io::Error),
}

impl BadSettings {
    /// Whether the settings are wrong, rather than the machine.
    pub fn is_config(&self) -> bool {
        match self {
            Self::Control(error) => error.is_config(),
            Self::State(_) | Self::Record(..) | Self::Listen(..) | Self::System(..) => false,
            _ => true,
        }
    }
}

impl NamesSettings for BadSettings {
    fn explain(&self, name: &dyn Fn(Setting) -> String) -> String {
        match self {
            Self::Group(bad) => bad.explain(name),
            Self::NoPeers => {
                format!(
                    "the members are not given: set {} to 1=HOST:PORT,2=…",
                    name(Setting::Peers)
                )
            }
            Self::NoKey => format!(
                "there is no key: make one with `bellwether keygen FILE`, give it to all members \
                 and set {} to FILE; or set {}, if everybody who reaches the port may lead",
                name(Setting::Key),
                name(Setting::Insecure)
            ),
            Self::UnknownId { id, peers } => {
                format!("id {id} is not in the list of members, {peers}")
            }
            Self::NoAddress { id, place } => format!(
                "member {id}: {place} has no address; correct the name, or set {}",
                name(Setting::Listen)
            ),
            Self::WhichMember { here: 0, peers } => format!(
                "none of {peers} is an address of this machine: say which member this is with {}",
                name(Setting::Id)
            ),
            Self::WhichMember { here, .. } => format!(
                "{here} of the members have addresses of this machine: say which one this is with \
                 {}",
                name(Setting::Id)
            ),
            Self::NoList { peers } => format!(
                "a majority needs a list of members, and {peers} is none: list the members \
                 (1=HOST:PORT,…), or set {} to local",
                name(Setting::Mode)
            ),
            Self::NoDir => format!(
                "durable tokens are stored, and no directory is given: set {} to one on a disk, or \
                 set {} to volatile",
                name(Setting::Dir),
                name(Setting::Tokens)
            ),
            Self::NoRecords => format!(
                "{} says that this member has never voted, but only leases from a majority with \
                 durable tokens have a record of that: leave it out, or set {} to durable",
                name(Setting::Bootstrap),
                name(Setting::Tokens)
            ),
            Self::HasVoted { place } => format!(
                "{} says that this member has never voted, but it has: {place}; leave it out",
                name(Setting::Bootstrap)
            ),
            Self::Rule(text) => text.clone(),
            Self::Control(error) => error.explain(name),
            Self::State(error) => format!(
                "cannot keep its state: {error}; mend that, or set {} to another directory",
                name(Setting::Dir)
            ),
            Self::Record(path, error) => format!(
                "cannot record in {}: {error}; set {} to another file",
                path.display(),
                name(Setting::Record)
            ),
            Self::Listen(at, error) => format!("cannot listen at {at}: {error}"),
            Self::System(what, error) => format!("{what}: {error}"),
        }
    }
}

impl fmt::Display for BadSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.explain(&|setting| setting.to_string()))
    }
}

impl std::error::Error for BadSettings {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_settings_and_a_program_puts_its_own_names_in() {
        let flag = |setting: Setting| format!("--{}", setting.name());
        let taken = || ServeError::Taken("/run/g.1.sock".into());
        let denied = || io::Error::from(io::ErrorKind::PermissionDenied);
        let peers: Peers = "dns:example.org:7400".parse().unwrap();
        for (error, names) in [
            (BadSettings::NoPeers, &["peers"][..]),
            (BadSettings::NoKey, &["key", "insecure"]),
            (BadSettings::NoAddress { id: NodeId(1), place: "a:1".into() }, &["listen"]),
            (BadSettings::WhichMember { here: 0, peers: peers.clone() }, &["id"]),
            (BadSettings::WhichMember { here: 2, peers: peers.clone() }, &["id"]),
            (BadSettings::NoList { peers }, &["mode"]),
            (BadSettings::NoDir, &["dir", "tokens"]),
            (BadSettings::NoRecords, &["bootstrap", "tokens"]),
            (BadSettings::HasVoted { place: "g.1.state".into() }, &["bootstrap"]),
            (BadSettings::Control(taken()), &["id", "dir"]),
            (BadSettings::State(denied()), &["dir"]),
            (BadSettings::Record("t.jsonl".into(), denied()), &["record"]),
        ] {
            let (plain, shown) = (error.to_string(), error.explain(&flag));
            assert!(!plain.contains("--"), "{plain}");
            for name in names {
                assert!(plain.contains(&format!("`{name}`")), "{plain}");
                assert!(shown.contains(&format!("--{name}")), "{shown}");
            }
        }
    }
}
