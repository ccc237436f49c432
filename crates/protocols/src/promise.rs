//! What a protocol guarantees, and by what it is judged.

use alloc::borrow::ToOwned;
use alloc::string::String;
use core::fmt;
use core::str::FromStr;

/// What a protocol guarantees, from strong to weak. Each is judged by exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Promise {
    /// At no moment do two processes lead.
    NeverTwo,
    /// Processes that can talk to each other in time have one leader, and no process ever supports
    /// two.
    OnePerPartition,
    /// Once faults stop, all live processes name the same live leader.
    EventuallyOne,
    /// As eventually one, with a probability that is known.
    ProbablyOne,
    /// It elects nobody; others are built from it.
    ElectsNobody,
    /// Nothing.
    Nothing,
}

impl Promise {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::NeverTwo,
        Self::OnePerPartition,
        Self::EventuallyOne,
        Self::ProbablyOne,
        Self::ElectsNobody,
        Self::Nothing,
    ];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NeverTwo => "never-two",
            Self::OnePerPartition => "one-per-partition",
            Self::EventuallyOne => "eventually-one",
            Self::ProbablyOne => "probably-one",
            Self::ElectsNobody => "elects-nobody",
            Self::Nothing => "nothing",
        }
    }
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::NeverTwo => "never two",
            Self::OnePerPartition => "one per partition",
            Self::EventuallyOne => "eventually one",
            Self::ProbablyOne => "probably one",
            Self::ElectsNobody => "elects nobody",
            Self::Nothing => "nothing (can deadlock)",
        })
    }
}

/// A name that no promise has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadPromise(String);

impl fmt::Display for BadPromise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is no promise; choose one of", self.0)?;
        let mut names = Promise::ALL.iter().map(|promise| promise.name());
        names.try_for_each(|name| write!(f, " {name}"))
    }
}

impl core::error::Error for BadPromise {}

impl FromStr for Promise {
    type Err = BadPromise;

    fn from_str(text: &str) -> Result<Self, BadPromise> {
        let known = Self::ALL.into_iter().find(|promise| promise.name() == text);
        known.ok_or_else(|| BadPromise(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_promise_is_read_by_the_name_it_has() {
        for promise in Promise::ALL {
            assert_eq!(promise.name().parse(), Ok(promise));
        }
        let error = "always-one".parse::<Promise>().unwrap_err().to_string();
        assert!(
            error.starts_with("'always-one' is no promise; choose one of never-two"),
            "{error}"
        );
    }
}
