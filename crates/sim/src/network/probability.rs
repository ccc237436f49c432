//! A probability: a number from 0 to 1.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A probability.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Probability(f64);

/// A number that is not a probability.
#[derive(Clone, Debug, PartialEq)]
pub struct BadProbability(String);

impl fmt::Display for BadProbability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' breaks the rule: a probability lies between 0 and 1", self.0)
    }
}

impl std::error::Error for BadProbability {}

impl Probability {
    /// Never.
    pub const ZERO: Self = Self(0.0);
    /// Always.
    pub const ONE: Self = Self(1.0);

    /// The value as a plain number.
    #[inline]
    pub fn value(self) -> f64 {
        self.0
    }

    /// Whether it is 1.
    #[inline]
    pub fn is_certain(self) -> bool {
        self.0 >= 1.0
    }

    /// 32-bit draws below this are hits. A probability of 1 has no threshold that fits: ask
    /// [`is_certain`](Self::is_certain) first.
    #[inline]
    pub(crate) fn threshold(self) -> u32 {
        (self.0 * 2f64.powi(32)) as u32
    }

    /// Whether a 32-bit draw is a hit.
    #[inline]
    pub(crate) fn occurs(self, coin: u32) -> bool {
        coin < self.threshold() || self.is_certain()
    }

    /// Whether a draw in `[0, 1)` is a hit.
    #[inline]
    pub(crate) fn hits(self, unit: f64) -> bool {
        unit < self.0
    }
}

impl TryFrom<f64> for Probability {
    type Error = BadProbability;

    fn try_from(value: f64) -> Result<Self, BadProbability> {
        let good = (0.0..=1.0).contains(&value);
        if good { Ok(Self(value)) } else { Err(BadProbability(value.to_string())) }
    }
}

impl From<Probability> for f64 {
    fn from(probability: Probability) -> Self {
        probability.0
    }
}

impl FromStr for Probability {
    type Err = BadProbability;

    fn from_str(text: &str) -> Result<Self, BadProbability> {
        let bad = || BadProbability(text.to_owned());
        text.trim().parse::<f64>().map_err(|_| bad())?.try_into().map_err(|_| bad())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_from_zero_to_one_are_probabilities() {
        for text in ["-0.1", "1.1", "NaN", "inf", "half", ""] {
            let error = text.parse::<Probability>().unwrap_err().to_string();
            assert!(error.contains(&format!("'{text}'")), "{error}");
        }
        assert_eq!(".4".parse::<Probability>().map(Probability::value), Ok(0.4));
    }

    #[test]
    fn impossible_never_occurs_and_certain_always_does() {
        let (never, always) = (Probability::ZERO, Probability::try_from(1.0).unwrap());
        assert!(!never.occurs(0) && always.occurs(u32::MAX) && always.occurs(0));
    }
}
