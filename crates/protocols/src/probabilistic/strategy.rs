//! Strategies: how many relays each round has, and how many rounds an election has.
//!
//! **Source.** Section 3.2: a strategy is fixed and known to all. The paper's own strategy, of
//! section 5: 7 in the first round, twice as many in each further one, everyone in the fifth and
//! last.

use crate::param::{Kind, ParamType};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;
use serde::{Deserialize, Serialize};

/// The mean number of relays of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relays {
    /// This number.
    Count(u32),
    /// Everyone; written `all`.
    All,
}

impl Relays {
    /// The number in a group of this size.
    pub fn among(self, nodes: u64) -> u64 {
        match self {
            Self::Count(count) => u64::from(count),
            Self::All => nodes,
        }
    }

    fn twice(self) -> Self {
        match self {
            Self::Count(count) => Self::Count(count.saturating_mul(2)),
            Self::All => Self::All,
        }
    }
}

impl fmt::Display for Relays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => count.fmt(f),
            Self::All => f.write_str("all"),
        }
    }
}

/// How K depends on the number of the round.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Strategy {
    /// Twice as many as in the round before.
    #[default]
    Double,
    /// Always the same.
    Fixed,
    /// As listed, such as `7,20,all`; further rounds repeat the last one.
    List(Vec<Relays>),
}

impl Strategy {
    /// K of every round.
    pub(super) fn rounds(&self, first: u32, rounds: u32, last_all: bool) -> Vec<Relays> {
        let mut relays = Relays::Count(first);
        let mut all = Vec::new();
        for round in 0..rounds {
            match self {
                Self::Double if round > 0 && round + 1 == rounds && last_all => {
                    relays = Relays::All;
                }
                Self::Double if round > 0 => relays = relays.twice(),
                Self::List(listed) => {
                    relays = listed.get(round as usize).copied().unwrap_or(relays);
                }
                Self::Double | Self::Fixed => {}
            }
            all.push(relays);
        }
        all
    }
}

impl ParamType for Strategy {
    const KIND: Kind = Kind::Text("double, fixed, or K of every round listed, such as 7,20,all");
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Double => f.write_str("double"),
            Self::Fixed => f.write_str("fixed"),
            Self::List(listed) => {
                let listed: Vec<String> = listed.iter().map(Relays::to_string).collect();
                f.write_str(&listed.join(","))
            }
        }
    }
}

/// A text that is not a strategy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadStrategy(String);

impl fmt::Display for BadStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "'{}' is no K; a strategy is double, fixed, or a list of whole numbers or `all`, one \
             for each round, such as 7,20,all",
            self.0
        )
    }
}

impl core::error::Error for BadStrategy {}

impl FromStr for Strategy {
    type Err = BadStrategy;

    /// Reads `double`, `fixed`, or values of K with commas or spaces between them.
    fn from_str(text: &str) -> Result<Self, BadStrategy> {
        let relays = |word: &str| match word {
            "all" => Ok(Relays::All),
            word => word.parse().map(Relays::Count).map_err(|_| BadStrategy(word.to_string())),
        };
        match text.trim() {
            "double" => Ok(Self::Double),
            "fixed" => Ok(Self::Fixed),
            listed => {
                let words = listed.split(|c: char| c.is_whitespace() || c == ',');
                let words = words.filter(|word| !word.is_empty());
                words.map(relays).collect::<Result<_, _>>().map(Self::List)
            }
        }
    }
}

impl TryFrom<String> for Strategy {
    type Error = BadStrategy;

    fn try_from(text: String) -> Result<Self, BadStrategy> {
        text.parse()
    }
}

impl From<Strategy> for String {
    fn from(strategy: Strategy) -> Self {
        strategy.to_string()
    }
}
