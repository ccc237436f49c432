//! How many relays each round has, and after how many rounds an election is given up.
//!
//! **Source.** Section 3.2: a strategy is known to all and decided beforehand. The paper's own, of
//! section 5: 7 in the first round, twice as many in each further one, everyone in the fifth and
//! last.

use alloc::string::String;
use alloc::vec::Vec;
use alloc::{borrow::ToOwned, format};
use core::fmt;
use serde::{Deserialize, Serialize};

/// How many relays a round is to have, on average.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub enum Relays {
    /// So many.
    Count(u32),
    /// Everyone; written `"all"`.
    All,
}

impl Relays {
    /// As a number, in a group of this many.
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

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Number(u32),
    Word(String),
}

impl TryFrom<Written> for Relays {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        match written {
            Written::Number(count) => Ok(Self::Count(count)),
            Written::Word(word) if word == "all" => Ok(Self::All),
            Written::Word(word) => {
                Err(format!("K = \"{word}\", but K is a number or the word \"all\""))
            }
        }
    }
}

impl From<Relays> for Written {
    fn from(relays: Relays) -> Self {
        match relays {
            Relays::Count(count) => Self::Number(count),
            Relays::All => Self::Word("all".to_owned()),
        }
    }
}

/// How K follows from the number of the round.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// Twice as many as in the round before.
    #[default]
    Double,
    /// Always the same.
    Fixed,
    /// As listed; further rounds are as the last one listed.
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
