//! How many runs a point gets: a fixed number, or as many as make its interval narrow.
//!
//! **Source.** Whoever looks at an interval again and again, and stops when it pleases, stops with
//! a wrong one more often than its level says (J. Anscombe, *Fixed-sample-size analysis of
//! sequential observations*, Biometrics 10, 1954). Here the looks are fixed beforehand: after
//! `first` runs, twice as many, and so on, and after `most`. If there are K of them, each interval
//! has the confidence 1 − (1 − c)/K.
//!
//! **Promise.** By Bonferroni's inequality all K intervals hold the true value at the same time
//! with probability c at least, if each of them does at its own level. So the one that is reported
//! does, whatever rule chose it. Intervals of probabilities are Clopper and Pearson's, which keep
//! their level for any number of runs; those of means are Student's, which need enough runs to be
//! normal: hence the minimum for `first`. A test measures the coverage for skewed samples.

use super::{BadSweep, bad, names, whole};
use bellwether_sim::part::{interval_of, is_students, summary_of};
use serde_json::{Map, Value};

/// How many runs a point gets.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// When an interval is narrow enough; nothing if the number of runs is fixed.
    pub narrow: Option<Narrow>,
    /// How many runs there are at each look.
    pub schedule: Vec<u64>,
    /// How often the interval that is reported holds the true value.
    pub confidence: f64,
}

/// When an interval is narrow enough.
#[derive(Clone, Debug, PartialEq)]
pub struct Narrow {
    /// Its half is at most this, or this part of the mean.
    pub width: Width,
    /// Of these measures; of all that rows are made of, if it is empty.
    pub of: Vec<String>,
}

/// Half the width of an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Width {
    /// In the unit of the measure.
    Absolute(f64),
    /// As a part of the mean.
    Relative(f64),
}

/// How many runs there are by default.
const RUNS: u64 = 1000;
/// Fewer say too little about the spread of a mean.
const FIRST_MIN: u64 = 100;
const FIRST: u64 = 500;
const MOST: u64 = 1_000_000;
/// With fewer samples that differ from the commonest, the number of such samples varies by a
/// quarter and more of itself, and so does the width of Student's interval.
const OTHERS_MIN: usize = 20;
/// The keys of a rule.
const KEYS: [&str; 5] = ["relative", "absolute", "of", "first", "most"];

impl Rule {
    /// So many runs.
    pub fn fixed(runs: u64, confidence: f64) -> Self {
        Self { narrow: None, schedule: vec![runs], confidence }
    }

    pub(super) fn of(text: Option<&Value>, confidence: f64) -> Result<Self, BadSweep> {
        let rule = "it must be a whole number, at least 2, or a table as { relative = 0.01 }";
        match text {
            None => Ok(Self::fixed(RUNS, confidence)),
            Some(Value::Object(text)) => Self::sequential(text, confidence),
            Some(number) => match number.as_u64() {
                Some(runs) if runs >= 2 => Ok(Self::fixed(runs, confidence)),
                _ => bad("runs", rule),
            },
        }
    }

    fn sequential(text: &Map<String, Value>, confidence: f64) -> Result<Self, BadSweep> {
        if let Some(key) = text.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return bad(format!("runs.{key}"), format!("a rule has {}", KEYS.join(", ")));
        }
        let half = |key: &str| match text.get(key).map(Value::as_f64) {
            None => Ok(None),
            Some(Some(half)) if half > 0.0 && half.is_finite() => Ok(Some(half)),
            Some(_) => bad(format!("runs.{key}"), "half a width is a number above 0"),
        };
        let width = match (half("relative")?, half("absolute")?) {
            (Some(part), None) => Width::Relative(part),
            (None, Some(half)) => Width::Absolute(half),
            _ => return bad("runs", "give one of `relative` and `absolute`, half the width"),
        };
        let inner = |error: BadSweep| BadSweep { key: format!("runs.{}", error.key), ..error };
        let first = whole(text, "first", FIRST_MIN, FIRST).map_err(inner)?;
        let most = whole(text, "most", first, MOST.max(first)).map_err(inner)?;
        let doubled = std::iter::successors(Some(first), |runs| runs.checked_mul(2));
        let schedule = doubled.take_while(|runs| *runs < most).chain([most]).collect();
        let narrow = Some(Narrow { width, of: names(text, "of").map_err(inner)? });
        Ok(Self { narrow, schedule, confidence })
    }

    /// The most runs that a point may get.
    pub fn most(&self) -> u64 {
        self.schedule.last().copied().unwrap_or(RUNS)
    }

    /// The confidence of the interval at each look.
    pub fn at_each_look(&self) -> f64 {
        1.0 - (1.0 - self.confidence) / self.schedule.len() as f64
    }

    /// Whether the interval of these samples of a measure is narrow enough.
    pub fn is_narrow(&self, measure: &str, samples: &[f64]) -> bool {
        let Some(Narrow { width, .. }) = self.narrow else { return true };
        if samples.len() < 2 {
            return false;
        }
        let Some(summary) = summary_of(measure, samples) else { return false };
        let [low, high] = interval_of(measure, samples, &summary, self.at_each_look());
        let mean = samples.iter().sum::<f64>() / samples.len() as f64;
        let half = (mean - low).max(high - mean);
        let narrow = match width {
            Width::Absolute(most) => half <= most,
            Width::Relative(part) => half <= part * mean.abs(),
        };
        narrow && (!is_students(measure) || vary_enough(samples))
    }
}

/// Whether the spread of these samples says something: at least [`OTHERS_MIN`] of them differ from
/// the commonest, or all are equal and not 0.
fn vary_enough(samples: &[f64]) -> bool {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let equal = sorted.chunk_by(|one, next| one == next).map(<[f64]>::len);
    match samples.len() - equal.max().unwrap_or(0) {
        0 => samples.first().is_some_and(|value| *value != 0.0),
        others => others >= OTHERS_MIN,
    }
}
