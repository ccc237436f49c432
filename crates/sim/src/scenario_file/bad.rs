//! Why a text is no scenario, and where.

use super::row::BadRow;
use crate::idle::Idle;
use crate::plan::BadPlan;
use bellwether_protocols::choice::{BadConfig, GroupTooLarge};
use std::fmt;

/// Why a file is no scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct BadScenario {
    /// Where; absent if something is missing that has no place.
    pub place: Option<Place>,
    /// What is wrong there.
    pub problem: Problem,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line, from 1.
    pub line: usize,
    /// The key with the tables it is in, for example `faults.node`; absent outside all of them.
    pub key: Option<String>,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// It does not have the right form.
    Form(String),
    /// Nobody knows the protocol.
    Protocol(String),
    /// The parameters break a rule.
    Config(BadConfig),
    /// The plan breaks a rule.
    Plan(BadPlan),
    /// A fault has a key too many or too few.
    Row(BadRow),
    /// A fault can have no effect.
    Idle(Idle),
    /// The group is too large for the protocol.
    GroupTooLarge(GroupTooLarge),
    /// The protocol with this name has no use for the key, for this reason.
    Unused(String, &'static str),
}

impl fmt::Display for BadScenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, problem } = self;
        match place {
            Some(Place { line, key: Some(key) }) => {
                write!(f, "line {line}: {problem} (in `{key}`)")
            }
            Some(Place { line, key: None }) => write!(f, "line {line}: {problem}"),
            None => problem.fmt(f),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form(problem) => f.write_str(problem),
            Self::Protocol(name) => {
                write!(f, "protocol = \"{name}\", but no protocol has that name; see `protocols`")
            }
            Self::Config(bad) => bad.fmt(f),
            Self::Plan(bad) => bad.fmt(f),
            Self::Row(bad) => bad.fmt(f),
            Self::Idle(idle) => idle.fmt(f),
            Self::GroupTooLarge(bad) => bad.fmt(f),
            Self::Unused(protocol, why) => {
                write!(f, "this has no effect, because {protocol} {why}; leave it out")
            }
        }
    }
}

impl std::error::Error for BadScenario {}
