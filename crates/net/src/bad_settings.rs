//! Why a member cannot be started with its settings.

use crate::book::JoinRefused;
use crate::control::{BadPlace, ServeError};
use crate::directory::several_addresses;
use crate::peers::{BadPeers, Peers};
use crate::program::BadProgram;
use crate::setting::{NamesSettings, Setting};
use bellwether_core::{Duration, NodeId};
use bellwether_protocols::answers::{GroupTooLarge, NotLive};
use bellwether_protocols::choice::BadText;
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
    /// The members are given, and also whom to ask for them.
    JoinsAndLists,
    /// A member that joins a running group is not told its id.
    JoinsWithoutId,
    /// Only groups with leases from a majority and durable tokens accept members while they run.
    JoinsOtherKind,
    /// The group does not accept this member.
    NotTakenUp {
        /// Why not.
        why: JoinRefused,
    },
    /// A place through which it joins is none.
    JoinsThrough(BadPeers),
    /// None of the places through which it joins has an address.
    NoWay {
        /// These places.
        through: Vec<String>,
    },
    /// A member that joins is given what it learns from the group: the voters or its record.
    JoinLearns,
    /// The group to be joined has no list of members.
    JoinsOpenGroup {
        /// Its members as they are given.
        list: String,
    },
    /// The parameters of the group to be joined cannot be read.
    GroupParams(BadText),
    /// A member that joins has other parameters than the group, in what all must share.
    OtherParams {
        /// Those of the group.
        group: String,
        /// Those of this member.
        own: String,
    },
    /// A member that joins, and is not told where to listen, cannot listen at the address by which
    /// it reaches the group.
    JoinsAt(SocketAddr, io::Error),
    /// The member joined the group at another address.
    JoinedElsewhere {
        /// The id of this member.
        id: NodeId,
        /// Where the group has it.
        at: SocketAddr,
        /// Where it would listen now.
        listen: SocketAddr,
    },
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
    /// It is said that the member never voted, but it has a record of votes, or may have lost it.
    HasVoted {
        /// Where its record is, or may have been.
        place: String,
        /// What else can be done if it certainly never voted; empty if it has.
        unless: String,
    },
    /// The protocol is unknown, or its parameters break a rule.
    Program(BadProgram),
    /// The protocol cannot run live with these parameters.
    NotLive(NotLive),
    /// Clocks are trusted to be better than any is.
    DriftTooSmall {
        /// The least drift, in parts per million.
        least: u32,
    },
    /// A vote would bind for too long.
    LockTooLong {
        /// For how long.
        lock: Duration,
        /// For how long it may.
        most: Duration,
    },
    /// More members vote than the protocol is made for.
    TooLarge(GroupTooLarge),
    /// The messages of so many voters do not fit a datagram.
    TooManyVoters {
        /// How many vote.
        voters: usize,
        /// How many may.
        most: usize,
        /// The bytes of the longest message.
        longest: usize,
        /// How many bytes fit.
        fit: usize,
    },
    /// Voters are named, but nobody votes with this protocol and these parameters.
    NobodyVotes {
        /// The protocol.
        protocol: &'static str,
    },
    /// The list of voters is empty.
    NoVoter,
    /// A voter is named twice.
    VoterTwice(NodeId),
    /// A voter is not listed.
    UnknownVoter {
        /// The voter.
        id: NodeId,
        /// The list.
        peers: Peers,
    },
    /// More members are to vote than are listed.
    BestOfFewer {
        /// How many are to vote.
        wanted: usize,
        /// How many are listed.
        listed: usize,
    },
    /// A member that is not listed has a priority.
    UnknownPriority {
        /// The member.
        id: NodeId,
        /// The list.
        peers: Peers,
    },
    /// A member has a priority twice.
    PriorityTwice(NodeId),
    /// This member's own priority is another one than that which all members know.
    TwoPriorities {
        /// The id of this member.
        id: NodeId,
        /// Its own.
        own: u32,
        /// What all know.
        listed: u32,
    },
    /// The best members are to vote, and only this member knows its priority.
    OwnPriority {
        /// The id of this member.
        id: NodeId,
        /// Its priority.
        own: u32,
    },
    /// A priority or a witness is asked for, which this protocol has not with these parameters.
    NoCandidacy {
        /// The protocol.
        protocol: &'static str,
    },
    /// A witness has a priority.
    WitnessWithPriority {
        /// The priority.
        priority: u32,
    },
    /// The listed name of a member has several addresses.
    SeveralAddresses {
        /// The member.
        id: NodeId,
        /// Its listed name.
        place: String,
        /// Its addresses.
        addresses: Vec<SocketAddr>,
    },
    /// The multicast address is none.
    NotMulticast {
        /// The address.
        group: SocketAddr,
    },
    /// A multicast address is for listed members.
    MulticastOfOpenGroup {
        /// The address.
        group: SocketAddr,
        /// The members as they are given.
        peers: Peers,
    },
    /// The multicast address is of another family than the address of this member.
    MulticastOtherFamily {
        /// The multicast address.
        group: SocketAddr,
        /// Where the member listens.
        listen: SocketAddr,
    },
    /// The member listens at all its addresses, at the port of the multicast address.
    MulticastSamePort {
        /// The multicast address.
        group: SocketAddr,
        /// Where the member listens.
        listen: SocketAddr,
    },
    /// The member listens at all its addresses of IPv6, and a multicast would leave from another
    /// one than the listed one.
    MulticastEverywhere {
        /// The multicast address.
        group: SocketAddr,
        /// Where the member listens.
        listen: SocketAddr,
    },
    /// The system does not let the member use the multicast address.
    Multicast {
        /// The multicast address.
        group: SocketAddr,
        /// The address whose interface is used.
        at: SocketAddr,
        /// Why not.
        error: io::Error,
    },
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
            Self::State(_)
            | Self::Record(..)
            | Self::Listen(..)
            | Self::JoinsAt(..)
            | Self::Multicast { .. }
            | Self::System(..) => false,
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
                "there is no key: give all members the same key file, and set {} to it; or set {}, \
                 if everybody who reaches the port may lead",
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
            Self::HasVoted { place, unless } => format!(
                "{0} says that this member has never voted, but {place}: leave {0} out{unless}",
                name(Setting::Bootstrap)
            ),
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
            Self::Listen(at, error) => format!(
                "cannot listen at {at}: {error}; end the process that listens there, or choose an \
                 address of this machine that is free"
            ),
            Self::System(what, error) => format!("{what}: {error}"),
            joining_or_voting => joining_or_voting.explain_joining(name),
        }
    }
}

impl BadSettings {
    /// The text of an error about the multicast address.
    fn explain_multicast(&self, name: &dyn Fn(Setting) -> String) -> String {
        let setting = name(Setting::Multicast);
        match self {
            Self::NotMulticast { group } => format!(
                "{setting} is {group}, which is no multicast address with a port: they are \
                 224.0.0.0 to 239.255.255.255 and ff00::/8; write 239.1.2.3:7401 or \
                 [ff02::b311]:7401, or leave it out"
            ),
            Self::MulticastOfOpenGroup { group, peers } => format!(
                "{setting} is {group}, but {peers} is no list of members, and only listed members \
                 know who should hear them: list the members in {} (1=HOST:PORT,…), or leave \
                 {setting} out",
                name(Setting::Peers)
            ),
            Self::MulticastOtherFamily { group, listen } => format!(
                "{setting} is {group}, but the member listens at {listen}, which is of the other \
                 family of addresses: choose an address of the same one"
            ),
            Self::MulticastSamePort { group, listen } => format!(
                "{setting} is {group}, but the member listens at {listen}, at all addresses and \
                 the same port: choose another port for {setting}, or set {} to one address",
                name(Setting::Listen)
            ),
            Self::MulticastEverywhere { group, listen } => format!(
                "{setting} is {group}, but the member listens at {listen}, at all addresses: its \
                 multicasts would leave from another one than the listed one, and be refused; set \
                 {} to one address, or leave {setting} out",
                name(Setting::Listen)
            ),
            Self::Multicast { group, at, error } => format!(
                "cannot use the multicast address {group} on the interface of {at}: {error}; let \
                 the machine have {}, or leave {setting} out",
                at.ip()
            ),
            other => format!("{other:?}"), // no other comes here
        }
    }
}

impl BadSettings {
    /// The text of an error of a member that joins a running group.
    fn explain_joining(&self, name: &dyn Fn(Setting) -> String) -> String {
        match self {
            Self::JoinsAndLists => format!(
                "{} founds a group, {} joins a running one: leave one of them out",
                name(Setting::Peers),
                name(Setting::Join)
            ),
            Self::JoinsWithoutId => format!(
                "a member that joins a running group needs an id that no other member has: set {}",
                name(Setting::Id)
            ),
            Self::JoinsOtherKind => format!(
                "only groups with leases from a majority and durable tokens accept members while \
                 they run: leave {} out, or set {} to majority and {} to durable in all members",
                name(Setting::Join),
                name(Setting::Mode),
                name(Setting::Tokens)
            ),
            Self::JoinsAt(at, error) => format!(
                "cannot listen at {at}, by which it reaches the group: {error}; set {} to a free \
                 address that the other members reach",
                name(Setting::Listen)
            ),
            Self::JoinedElsewhere { id, at, listen } => format!(
                "member {id} joined at {at}, and would listen at {listen} now: set {} to {at}; or \
                 let the group forget it, remove its book, and join again",
                name(Setting::Listen)
            ),
            Self::NotTakenUp { why } => format!("the group does not accept this member: {why}"),
            Self::JoinsThrough(bad) => format!("{}: {bad}", name(Setting::Join)),
            Self::NoWay { through } => {
                format!("{} has no address; correct {}", through.join(" or "), name(Setting::Join))
            }
            Self::JoinLearns => format!(
                "a joining member reads the voters and its record from the group: leave out {} and \
                 {}",
                name(Setting::Voters),
                name(Setting::Bootstrap)
            ),
            Self::JoinsOpenGroup { list } => {
                format!("the group has no list of members: {list}; nobody can join it")
            }
            Self::GroupParams(bad) => format!("the group's parameters: {bad}"),
            Self::OtherParams { group, own } => format!(
                "the group has {group}, this member {own}: leave the parameters out, and it takes \
                 over those of the group"
            ),
            protocol => protocol.explain_protocol(name),
        }
    }

    /// The text of an error about the protocol, and who votes and leads.
    fn explain_protocol(&self, name: &dyn Fn(Setting) -> String) -> String {
        match self {
            Self::Program(bad) => bad.to_string(),
            Self::NotLive(why) => why.to_string(),
            Self::DriftTooSmall { least } => format!(
                "drift-ppm is less than {least}, but no clock is that good: leave it out, or say \
                 how wrong the clocks of the members may be"
            ),
            Self::LockTooLong { lock, most } => {
                format!("lock = {lock}, but lock <= {most} must hold; choose less")
            }
            Self::TooLarge(bad) => bad.to_string(),
            Self::TooManyVoters { voters, most, longest, fit } => format!(
                "with {voters} voters a message may have {longest} bytes, but a datagram holds \
                 {fit}: a group has at most {most} voters; let fewer members vote, or use a \
                 protocol without leases"
            ),
            Self::NobodyVotes { protocol } => format!(
                "voters are named, but {protocol} has none with these parameters: only leases from \
                 a majority do; leave {} out",
                name(Setting::Voters)
            ),
            Self::NoVoter => {
                format!(
                    "no voter is named, but at least one must vote: add to {}",
                    name(Setting::Voters)
                )
            }
            Self::VoterTwice(id) => format!("voter {id} is named twice; name it once"),
            Self::UnknownVoter { id, peers } => {
                format!("voter {id} is not in the list of members, {peers}")
            }
            priorities => priorities.explain_priorities(name),
        }
    }

    /// The text of an error about who leads before whom.
    fn explain_priorities(&self, name: &dyn Fn(Setting) -> String) -> String {
        match self {
            Self::BestOfFewer { wanted, listed } => format!(
                "the best {wanted} members are to vote, but {listed} are listed: ask for fewer in \
                 {}",
                name(Setting::Voters)
            ),
            Self::UnknownPriority { id, peers } => format!(
                "{} has member {id}, which is not in the list of members, {peers}",
                name(Setting::Priorities)
            ),
            Self::PriorityTwice(id) => {
                format!("{} has member {id} twice; name it once", name(Setting::Priorities))
            }
            Self::TwoPriorities { id, own, listed } => format!(
                "{} is {own}, but {} has {listed} for member {id}: leave one of them out",
                name(Setting::Priority),
                name(Setting::Priorities)
            ),
            Self::OwnPriority { id, own } => format!(
                "{} is {own}, but the best members are to vote, and the others do not know it: set \
                 {} to {id}={own} in all members",
                name(Setting::Priority),
                name(Setting::Priorities)
            ),
            Self::NoCandidacy { protocol } => format!(
                "{protocol} has no priorities and no witnesses with these parameters: only leases \
                 from a majority do; leave {} and {} out",
                name(Setting::Priority),
                name(Setting::Witness)
            ),
            Self::WitnessWithPriority { priority } => format!(
                "{} is {priority}, but a witness never leads: leave it or {} out",
                name(Setting::Priority),
                name(Setting::Witness)
            ),
            Self::SeveralAddresses { id, place, addresses } => {
                format!("member {id}: {}", several_addresses(place, addresses))
            }
            multicast => multicast.explain_multicast(name),
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
        let here: SocketAddr = "10.0.0.1:7400".parse().unwrap();
        for (error, names) in [
            (BadSettings::NoPeers, &["peers"][..]),
            (BadSettings::NoKey, &["key", "insecure"]),
            (BadSettings::JoinsAndLists, &["peers", "join"]),
            (BadSettings::JoinsWithoutId, &["id"]),
            (BadSettings::JoinLearns, &["voters", "bootstrap"]),
            (BadSettings::JoinsAt(here, denied()), &["listen"]),
            (BadSettings::JoinsThrough(BadPeers::NoPort("a".into())), &["join"]),
            (BadSettings::NobodyVotes { protocol: "le-s" }, &["voters"]),
            (BadSettings::NoVoter, &["voters"]),
            (BadSettings::NoCandidacy { protocol: "le-s" }, &["priority", "witness"]),
            (BadSettings::BestOfFewer { wanted: 5, listed: 3 }, &["voters"]),
            (BadSettings::PriorityTwice(NodeId(1)), &["priorities"]),
            (
                BadSettings::TwoPriorities { id: NodeId(1), own: 1, listed: 2 },
                &["priority", "priorities"],
            ),
            (BadSettings::OwnPriority { id: NodeId(1), own: 1 }, &["priority", "priorities"]),
            (BadSettings::WitnessWithPriority { priority: 5 }, &["priority", "witness"]),
            (BadSettings::JoinsOtherKind, &["join", "mode", "tokens"]),
            (BadSettings::NoAddress { id: NodeId(1), place: "a:1".into() }, &["listen"]),
            (BadSettings::WhichMember { here: 0, peers: peers.clone() }, &["id"]),
            (BadSettings::WhichMember { here: 2, peers: peers.clone() }, &["id"]),
            (BadSettings::NotMulticast { group: here }, &["multicast"]),
            (
                BadSettings::MulticastOfOpenGroup { group: here, peers: peers.clone() },
                &["multicast", "peers"],
            ),
            (BadSettings::MulticastOtherFamily { group: here, listen: here }, &["multicast"]),
            (
                BadSettings::MulticastSamePort { group: here, listen: here },
                &["multicast", "listen"],
            ),
            (
                BadSettings::MulticastEverywhere { group: here, listen: here },
                &["multicast", "listen"],
            ),
            (BadSettings::Multicast { group: here, at: here, error: denied() }, &["multicast"]),
            (BadSettings::NoList { peers }, &["mode"]),
            (BadSettings::NoDir, &["dir", "tokens"]),
            (BadSettings::NoRecords, &["bootstrap", "tokens"]),
            (BadSettings::HasVoted { place: "g".into(), unless: String::new() }, &["bootstrap"]),
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
