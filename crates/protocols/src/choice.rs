//! The one list of protocols: whoever is in it can be simulated, checked, run and looked at.
//!
//! Protocols that share their parameters are a [`Family`]. A further one is a variant of
//! [`Family`], [`Config`], [`BadConfig`] and [`Choice`], and its row of [`PROTOCOLS`].

use crate::announce_listen::{self, AnnounceListen, Variant, announcements_beyond_first};
use crate::called::{self, Called};
use crate::local_leader::{self, LocalLeader, Mode};
use crate::pace::Pace;
use crate::probabilistic::{self, Probabilistic};
pub use crate::promise::Promise;
use crate::ring;
pub use crate::written::BadText;
use bellwether_core::{Duration, Protocol, Visitor};
use core::fmt;
use serde::Serialize;

/// One row of the table of protocols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it promises, unless its parameters say otherwise; see [`Choice::promise`].
    pub promise: Promise,
    /// What it does, in a line.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Which member of which family.
    pub family: Family,
}

/// Protocols that share their parameters, and which of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// One of the announce-listen family.
    AnnounceListen(Variant),
    /// Leadership by leases.
    LocalLeader,
    /// An election that somebody calls.
    Called(Called),
    /// An election in rounds, for large groups.
    Probabilistic,
}

impl Family {
    /// Whether its leaders lead for no longer than they have support.
    pub fn has_leases(self) -> bool {
        matches!(self, Self::LocalLeader)
    }
}

/// All protocols.
pub const PROTOCOLS: &[Entry] = &[
    announce(Variant::LeA, "announce at once, give way to a greater id", "Program 5.1"),
    announce(Variant::LeS, "wait a random time, announce, give way to a greater id", "Program 5.2"),
    announce(Variant::LeM, "as le-s, but the earliest to wake up leads", "section 5.4.3"),
    announce(
        Variant::Sup,
        "suppression alone: the first to speak silences the rest",
        "chapters 2-3",
    ),
    announce(Variant::Al, "everyone announces for ever, all learn who is greatest", "chapter 4"),
    announce(Variant::Query, "ask who leads, announce if nobody answers", "section 5.7"),
    announce(Variant::SuppressQuery, "wait a random time, then ask", "section 5.7"),
    announce(Variant::SupAlElect, "follow whoever speaks first, for ever", "section 5.7"),
    announce(
        Variant::SupAlLimit,
        "per interval, the first to speak silences the rest",
        "section 5.7",
    ),
    announce(Variant::SupAlSpread, "everyone announces, spread over the interval", "section 5.7"),
    Entry {
        name: "local-leader",
        promise: Promise::NeverTwo,
        summary: "leases from a majority: never two leaders; with --mode local one in each \
                  partition",
        source: "Fetzer and Cristian, sections VIII-X",
        family: Family::LocalLeader,
    },
    called(
        Called::Bully,
        "whoever is asked by a lesser process takes over, unless a greater one does",
        "Garcia-Molina 1982, as taught",
    ),
    called(
        Called::Ring(ring::Variant::Ring),
        "a message collects everyone round the ring, and its sender picks the greatest",
        "the ring of Tanenbaum, as taught",
    ),
    called(
        Called::Ring(ring::Variant::ChangRoberts),
        "everyone's id goes round until it meets a greater one",
        "Chang and Roberts 1979",
    ),
    called(
        Called::Ring(ring::Variant::Merea),
        "as ring, but the election that was called first stops the others",
        "MEREA, Table 3 corrected",
    ),
    called(
        Called::Ring(ring::Variant::HirschbergSinclair),
        "candidates win ever larger neighbourhoods, both ways round",
        "Hirschberg and Sinclair 1980, as taught",
    ),
    called(
        Called::AdHoc,
        "a tree grows through a network of links and brings back the best",
        "Vasudevan, Kurose and Towsley 2004, as taught",
    ),
    Entry {
        name: Probabilistic::NAME,
        promise: Promise::ProbablyOne,
        summary: "a hash lets a few of many through, who agree and tell all: probably one leader",
        source: "Gupta, van Renesse and Birman 2000",
        family: Family::Probabilistic,
    },
];

const fn called(called: Called, summary: &'static str, source: &'static str) -> Entry {
    let promise = Promise::EventuallyOne;
    Entry { name: called.name(), promise, summary, source, family: Family::Called(called) }
}

const fn announce(variant: Variant, summary: &'static str, source: &'static str) -> Entry {
    let promise = match variant {
        Variant::Sup | Variant::SupAlLimit => Promise::ElectsNobody,
        Variant::SupAlElect => Promise::Nothing,
        _ => Promise::EventuallyOne,
    };
    Entry {
        name: variant.name(),
        promise,
        summary,
        source,
        family: Family::AnnounceListen(variant),
    }
}

/// The row with this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    PROTOCOLS.iter().find(|entry| entry.name == name)
}

/// What a simulation must know to plan around a protocol and to see when it is done, whatever the
/// protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// What there is to wait for.
    pub goal: Goal,
    /// The longest a process waits before it first claims to lead.
    pub opening: Duration,
    /// The time between a leader's signs of life.
    pub interval: Duration,
    /// The silence after which a leader is given up; [`Duration::MAX`] if it never is.
    pub trust: Duration,
    /// How long after an attempt to agree the next one begins.
    pub attempt: Duration,
    /// How often a leader that departs says so; nought if it departs without a word.
    pub byes: u32,
    /// Whether luck decides who is better, and not the id or the rank.
    pub by_luck: bool,
    /// Whose support a leader needs, where it leads for no longer than it has that.
    pub leases: Option<Leases>,
    /// Whether an election begins only when somebody calls it.
    pub convened: bool,
    /// Whether something goes on for ever, also when all is well: heartbeats, or patience that
    /// may end.
    pub restless: bool,
}

/// Leadership that ends unless it is renewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leases {
    /// Whether a leader needs more than half of the group; it leads those it can reach otherwise.
    pub majority: bool,
    /// The kind of message by which a process asks to lead.
    pub request: &'static str,
    /// By how much it trusts clocks to be wrong at most, in parts per million.
    pub drift_ppm: u32,
}

impl Leases {
    /// How many processes of a group it takes to have a leader.
    pub fn quorum(&self, group: u32) -> u32 {
        if self.majority { group / 2 + 1 } else { 1 }
    }
}

/// When a group has settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// All have accepted this many best processes.
    Leaders(usize),
    /// All name the same leader, whoever it is.
    Same,
    /// All have spoken or been silenced.
    Quiet,
}

/// What a person writes, of any family.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Config {
    /// One of the announce-listen family.
    AnnounceListen(announce_listen::Config),
    /// Leadership by leases.
    LocalLeader(local_leader::Config),
    /// An election that somebody calls.
    Called(called::Config),
    /// An election in rounds.
    Probabilistic(probabilistic::Config),
}

/// Which rule a [`Config`] breaks, with the values that break it.
#[derive(Clone, Debug, PartialEq)]
pub enum BadConfig {
    /// One of the announce-listen family's.
    AnnounceListen(announce_listen::BadConfig),
    /// One of leases'.
    LocalLeader(local_leader::BadConfig),
    /// One of an election that somebody calls.
    Called(called::BadConfig),
    /// One of an election in rounds.
    Probabilistic(probabilistic::BadConfig),
}

impl fmt::Display for BadConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AnnounceListen(bad) => bad.fmt(f),
            Self::LocalLeader(bad) => bad.fmt(f),
            Self::Called(bad) => bad.fmt(f),
            Self::Probabilistic(bad) => bad.fmt(f),
        }
    }
}

impl core::error::Error for BadConfig {}

/// A protocol chosen at run time, with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// One of the announce-listen family.
    AnnounceListen(announce_listen::Params),
    /// Leadership by leases.
    LocalLeader(local_leader::Params),
    /// An election that somebody calls.
    Called(called::Params),
    /// An election in rounds.
    Probabilistic(probabilistic::Params),
}

impl From<announce_listen::Params> for Choice {
    fn from(params: announce_listen::Params) -> Self {
        Self::AnnounceListen(params)
    }
}

impl From<local_leader::Params> for Choice {
    fn from(params: local_leader::Params) -> Self {
        Self::LocalLeader(params)
    }
}

impl From<called::Params> for Choice {
    fn from(params: called::Params) -> Self {
        Self::Called(params)
    }
}

impl From<probabilistic::Params> for Choice {
    fn from(params: probabilistic::Params) -> Self {
        Self::Probabilistic(params)
    }
}

impl TryFrom<Config> for Choice {
    type Error = BadConfig;

    fn try_from(config: Config) -> Result<Self, BadConfig> {
        match config {
            Config::AnnounceListen(config) => announce_listen::Params::try_from(config)
                .map(Self::AnnounceListen)
                .map_err(BadConfig::AnnounceListen),
            Config::LocalLeader(config) => local_leader::Params::try_from(config)
                .map(Self::LocalLeader)
                .map_err(BadConfig::LocalLeader),
            Config::Called(config) => {
                called::Params::try_from(config).map(Self::Called).map_err(BadConfig::Called)
            }
            Config::Probabilistic(config) => probabilistic::Params::try_from(config)
                .map(Self::Probabilistic)
                .map_err(BadConfig::Probabilistic),
        }
    }
}

/// More processes than the protocol is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crowd {
    /// How many there were to be.
    pub nodes: u64,
    /// How many there may be.
    pub most: u64,
}

impl fmt::Display for Crowd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { nodes, most } = self;
        write!(
            f,
            "local-leader with {nodes} processes, but at most {most} can be: every election \
             carries a row for each member; choose fewer, or a protocol without leases"
        )
    }
}

impl core::error::Error for Crowd {}

impl Choice {
    /// What it promises with these parameters.
    pub fn promise(&self) -> Promise {
        match self {
            Self::AnnounceListen(params) => match params.profile().goal {
                Goal::Leaders(_) => Promise::EventuallyOne,
                Goal::Same => Promise::Nothing,
                Goal::Quiet => Promise::ElectsNobody,
            },
            Self::LocalLeader(params) => match params.mode() {
                Mode::Majority => Promise::NeverTwo,
                Mode::Local => Promise::OnePerPartition,
            },
            Self::Called(_) => Promise::EventuallyOne,
            Self::Probabilistic(_) => Promise::ProbablyOne,
        }
    }

    /// What it promises to so many processes that see each other.
    pub fn promise_to(&self, nodes: u32) -> Promise {
        match self {
            Self::Probabilistic(params)
                if params.is_in_touch() && params.is_certain(nodes.into()) =>
            {
                Promise::EventuallyOne
            }
            other => other.promise(),
        }
    }

    /// What a simulation must know of it.
    pub fn profile(&self) -> Profile {
        match self {
            Self::AnnounceListen(params) => params.profile(),
            Self::LocalLeader(params) => params.profile(),
            Self::Called(params) => params.profile(),
            Self::Probabilistic(params) => params.profile(),
        }
    }

    /// How many attempts beyond the first a group needs to agree, on average, if each receiver
    /// loses a message this often.
    pub fn attempts_beyond_first(&self, nodes: u32, loss: f64) -> f64 {
        let others = u64::from(nodes.saturating_sub(1));
        match self {
            Self::AnnounceListen(_) => announcements_beyond_first(others, loss),
            Self::LocalLeader(params) => params.requests_beyond_first(others, loss),
            Self::Called(_) => 0.0, // what is lost is sent again, to one at a time
            Self::Probabilistic(_) => 0.0, // it gives up after a while
        }
    }

    /// Refuses a group that is too large for it.
    ///
    /// # Errors
    /// [`Crowd`], naming both numbers.
    pub fn check_nodes(&self, nodes: u64) -> Result<(), Crowd> {
        let most = match self {
            Self::AnnounceListen(_) | Self::Called(_) | Self::Probabilistic(_) => u64::MAX,
            Self::LocalLeader(_) => local_leader::NODES_MAX,
        };
        if nodes > most { Err(Crowd { nodes, most }) } else { Ok(()) }
    }

    /// Its time scales in a group of so many processes.
    pub fn pace(&self, nodes: u32) -> Pace {
        match self {
            Self::AnnounceListen(params) => Pace::of_announce_listen(params),
            Self::LocalLeader(params) => Pace::of_local_leader(params, nodes),
            Self::Called(params) => params.pace(nodes),
            Self::Probabilistic(params) => params.pace(nodes),
        }
    }

    /// Hands the protocol to `visitor` as a type.
    pub fn visit<V: Visitor>(self, visitor: V) -> V::Output {
        match self {
            Self::AnnounceListen(params) => visitor.visit::<AnnounceListen>(params),
            Self::LocalLeader(params) => visitor.visit::<LocalLeader>(params.layered()),
            Self::Called(params) => params.visit(visitor),
            Self::Probabilistic(params) => visitor.visit::<Probabilistic>(params),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::param::Given;
    use crate::surroundings::Surroundings;

    /// The protocol of a row, with its defaults.
    fn chosen(entry: &Entry) -> Choice {
        let calm = Surroundings::calm(5, Duration::from_millis(100));
        let config = entry.config(&calm, &Given::default()).unwrap();
        Choice::try_from(config).unwrap()
    }

    #[test]
    fn every_protocol_is_listed_once_under_its_own_name() {
        assert_eq!(PROTOCOLS.len(), Variant::ALL.len() + Called::ALL.len() + 2);
        for called in Called::ALL {
            let family = find(called.name()).map(|entry| entry.family);
            assert_eq!(family, Some(Family::Called(called)));
        }
        for variant in Variant::ALL {
            let family = find(variant.name()).map(|entry| entry.family);
            assert_eq!(family, Some(Family::AnnounceListen(variant)));
        }
        let family = find("probabilistic").map(|entry| entry.family);
        assert_eq!(family, Some(Family::Probabilistic));
        assert_eq!(find("local-leader").map(|entry| entry.family), Some(Family::LocalLeader));
        assert_eq!(find("le-x"), None);
    }

    #[test]
    fn a_protocol_promises_what_its_row_says_unless_its_parameters_say_otherwise() {
        for entry in PROTOCOLS {
            assert_eq!(chosen(entry).promise(), entry.promise, "{}", entry.name);
        }
        let config = local_leader::Config { mode: Mode::Local, ..local_leader::Config::default() };
        let local = Choice::try_from(Config::LocalLeader(config)).unwrap();
        assert_eq!(local.promise(), Promise::OnePerPartition);
    }

    #[test]
    fn only_leases_limit_the_size_of_a_group() {
        for entry in PROTOCOLS {
            let (choice, most) = (chosen(entry), local_leader::NODES_MAX);
            assert_eq!(choice.check_nodes(most), Ok(()));
            let refused = choice.check_nodes(most + 1).is_err();
            assert_eq!(refused, choice.profile().leases.is_some(), "{}", entry.name);
            assert_eq!(refused, entry.family.has_leases(), "{}", entry.name);
        }
    }
}
