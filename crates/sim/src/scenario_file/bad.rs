//! Errors of scenario files, with their places.

use super::row::BadRow;
use crate::ineffective_fault::IneffectiveFault;
use crate::plan::BadPlan;
use bellwether_core::Duration;
use bellwether_protocols::choice::{BadConfig, GroupTooLarge, names};
use bellwether_protocols::promise::BadPromise;
use std::fmt;

/// Why a file is not a valid scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct BadScenario {
    /// The place; absent for something missing that has no place.
    pub place: Option<Place>,
    /// The problem.
    pub problem: Problem,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line, from 1.
    pub line: usize,
    /// The key with its tables, for example `faults.node`; absent outside all tables.
    pub key: Option<String>,
}

/// What is wrong with a scenario.
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// The text does not have the right form.
    Form(String),
    /// No protocol has this name.
    Protocol(String),
    /// No promise has this name.
    Promise(BadPromise),
    /// The parameters break a rule.
    Config(BadConfig),
    /// The plan breaks a rule.
    Plan(BadPlan),
    /// A fault lacks a key, or has one that it must not have.
    Row(BadRow),
    /// A fault can have no effect.
    IneffectiveFault(IneffectiveFault),
    /// The group is too large for the protocol.
    GroupTooLarge(GroupTooLarge),
    /// The captions are not in order of time, or one comes after the end, which is then.
    Captions(Duration),
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
                let names = names().join(", ");
                write!(f, "protocol = \"{name}\", but no protocol has that name; there are {names}")
            }
            Self::Promise(bad) => bad.fmt(f),
            Self::Config(bad) => bad.fmt(f),
            Self::Plan(bad) => bad.fmt(f),
            Self::Row(bad) => bad.fmt(f),
            Self::IneffectiveFault(idle) => idle.fmt(f),
            Self::GroupTooLarge(bad) => bad.fmt(f),
            Self::Captions(until) => write!(
                f,
                "captions come in order of time, and none after the end of the run at {until}; \
                 change their `at`"
            ),
            Self::Unused(protocol, why) => {
                write!(f, "this has no effect, because {protocol} {why}; leave it out")
            }
        }
    }
}

impl std::error::Error for BadScenario {}
