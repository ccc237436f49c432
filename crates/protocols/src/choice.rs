//! The one list of protocols: whoever is in it can be simulated, checked, run and looked at.

use crate::announce_listen::{AnnounceListen, Params, Variant};
use bellwether_core::{Duration, Visitor};
use core::fmt;

/// What a protocol guarantees, and by what it is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Promise {
    /// Once faults stop, all live processes name the same live leader.
    EventuallyOne,
    /// It elects nobody; others are built from it.
    ElectsNobody,
    /// Nothing.
    Nothing,
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::EventuallyOne => "eventually one",
            Self::ElectsNobody => "elects nobody",
            Self::Nothing => "nothing (can deadlock)",
        })
    }
}

/// One row of the table of protocols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it promises.
    pub promise: Promise,
    /// What it does, in a line.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Which member of which family.
    pub variant: Variant,
}

/// All protocols.
pub const PROTOCOLS: &[Entry] = &[
    entry(Variant::LeA, "announce at once, give way to a greater id", "Program 5.1"),
    entry(Variant::LeS, "wait a random time, announce, give way to a greater id", "Program 5.2"),
    entry(Variant::LeM, "as le-s, but the earliest to wake up leads", "section 5.4.3"),
    entry(Variant::Sup, "suppression alone: the first to speak silences the rest", "chapters 2-3"),
    entry(Variant::Al, "everyone announces for ever, all learn who is greatest", "chapter 4"),
    entry(Variant::Query, "ask who leads, announce if nobody answers", "section 5.7"),
    entry(Variant::SuppressQuery, "wait a random time, then ask", "section 5.7"),
    entry(Variant::SupAlElect, "follow whoever speaks first, for ever", "section 5.7"),
    entry(Variant::SupAlLimit, "per interval, the first to speak silences the rest", "section 5.7"),
    entry(Variant::SupAlSpread, "everyone announces, spread over the interval", "section 5.7"),
];

const fn entry(variant: Variant, summary: &'static str, source: &'static str) -> Entry {
    let promise = match variant {
        Variant::Sup | Variant::SupAlLimit => Promise::ElectsNobody,
        Variant::SupAlElect => Promise::Nothing,
        _ => Promise::EventuallyOne,
    };
    Entry { name: variant.name(), promise, summary, source, variant }
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
    /// Whether a leader that leaves says so.
    pub says_bye: bool,
    /// Whether luck decides who is better, and not the id or the rank.
    pub by_luck: bool,
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

/// A protocol chosen at run time, with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// One of the announce-listen family.
    AnnounceListen(Params),
}

impl From<Params> for Choice {
    fn from(params: Params) -> Self {
        Self::AnnounceListen(params)
    }
}

impl Choice {
    /// What a simulation must know of it.
    pub fn profile(&self) -> Profile {
        match self {
            Self::AnnounceListen(params) => params.profile(),
        }
    }

    /// Hands the protocol to `visitor` as a type.
    pub fn visit<V: Visitor>(self, visitor: V) -> V::Output {
        match self {
            Self::AnnounceListen(params) => visitor.visit::<AnnounceListen>(params),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_protocol_is_listed_once_under_its_own_name() {
        assert_eq!(PROTOCOLS.len(), Variant::ALL.len());
        for variant in Variant::ALL {
            assert_eq!(find(variant.name()).map(|entry| entry.variant), Some(variant));
        }
        assert_eq!(find("le-x"), None);
    }
}
