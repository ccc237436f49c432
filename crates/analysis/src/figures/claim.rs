//! What a paper claims, and what the numbers say to it.

use super::finding::Dot;
use serde::Serialize;

/// What the numbers say to a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It holds.
    Confirmed,
    /// It does not hold.
    Refuted,
    /// The text does not say enough to tell.
    NotReproducible,
}

impl Verdict {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Refuted => "refuted",
            Self::NotReproducible => "not reproducible",
        }
    }
}

/// A claim with its verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Claim {
    /// What is claimed, in our words.
    pub says: &'static str,
    /// Where.
    pub section: &'static str,
    /// What the numbers say.
    pub verdict: Verdict,
    /// The numbers, or why there are none.
    pub because: String,
}

impl Claim {
    /// A claim that holds or does not.
    pub fn judged(says: &'static str, section: &'static str, holds: bool, because: String) -> Self {
        let verdict = if holds { Verdict::Confirmed } else { Verdict::Refuted };
        Self { says, section, verdict, because }
    }

    /// A claim that cannot be judged from what the text says.
    pub fn open(says: &'static str, section: &'static str, why: &str) -> Self {
        Self { says, section, verdict: Verdict::NotReproducible, because: why.to_owned() }
    }
}

/// How many standard errors make a difference beyond doubt: chance does this once in 15,000 times.
pub(crate) const DOUBT: f64 = 4.0;

impl Dot {
    /// Whether this is larger than the other beyond doubt.
    pub fn exceeds(&self, other: &Self) -> bool {
        self.y - other.y > DOUBT * libm::hypot(self.stderr, other.stderr)
    }

    /// Whether this may be the same as the other, as far as both can tell; a billionth is rounding.
    pub fn agrees(&self, other: &Self) -> bool {
        let slack = 1e-9 * other.y.abs();
        (self.y - other.y).abs() <= DOUBT * libm::hypot(self.stderr, other.stderr) + slack
    }
}
