//! Some runs of an experiment, which are joined with others later.
//!
//! **Promise.** A part holds what every run gave and nothing that was computed from several runs.
//! Joined in the order of the runs, parts therefore give the summaries of one experiment with all
//! these runs, to the last bit, wherever and in whatever pieces the runs were made.

use super::measure::{self, Sort};
use super::rare::{self, PROBABILITY};
use super::{BadExperiment, Control, Experiment, Measure, Samples, summary};
use crate::proportion::Proportion;
use crate::stats::Summary;
use std::ops::Range;

/// How the measures of message kinds begin.
const OF_KIND: &str = "messages_";

/// What some runs gave, in their order.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Part {
    /// The names of what was measured in some run.
    pub measures: Vec<String>,
    /// The values of each run, in the order of the measures; NaN where it gave none.
    pub values: Vec<f64>,
    /// Whether each run reached what it was for.
    pub settled: Vec<bool>,
}

impl Experiment {
    /// Makes these runs; [`runs`](Self::runs) does not matter. Fewer, if it is told to stop.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn run_part(&self, runs: Range<u64>, control: Control<'_>) -> Result<Part, BadExperiment> {
        let (samples, _) = self.samples_of(runs, control)?;
        let samples = Samples::of(measure::present(&samples), &samples);
        let values = samples.runs.iter().flat_map(|run| &run.values);
        Ok(Part {
            measures: samples.measures.iter().map(|measure| measure.name()).collect(),
            values: values.map(|value| value.unwrap_or(f64::NAN)).collect(),
            settled: samples.runs.iter().map(|run| run.settled).collect(),
        })
    }
}

impl Part {
    /// How many runs it has.
    pub fn runs(&self) -> u64 {
        self.settled.len() as u64
    }

    /// The part with these measures alone; with all of them, if none is named.
    #[must_use]
    pub fn only(self, measures: &[String]) -> Self {
        if measures.is_empty() {
            return self;
        }
        let kept: Vec<usize> = (0..self.measures.len())
            .filter(|place| measures.contains(&self.measures[*place]))
            .collect();
        let width = self.measures.len();
        let row = |run: usize| kept.iter().map(move |place| run * width + place);
        Self {
            values: (0..self.settled.len()).flat_map(row).map(|at| self.values[at]).collect(),
            measures: kept.iter().map(|place| self.measures[*place].clone()).collect(),
            settled: self.settled.clone(),
        }
    }

    /// The value of a measure in one of the runs, if it has one. A run that settled without a
    /// message of some kind sent none of them.
    fn value(&self, run: usize, place: Option<usize>, of_kind: bool) -> Option<f64> {
        match place {
            Some(place) => {
                let value = self.values[run * self.measures.len() + place];
                (!value.is_nan()).then_some(value)
            }
            None => (of_kind && self.settled[run]).then_some(0.0),
        }
    }

    /// What was measured under this name in each run; nothing where it gave none.
    pub fn values_of(&self, measure: &str) -> Vec<Option<f64>> {
        let place = self.measures.iter().position(|known| known == measure);
        (0..self.settled.len()).map(|run| self.value(run, place, false)).collect()
    }

    fn column<'a>(&'a self, measure: &str) -> impl Iterator<Item = f64> + 'a {
        let place = self.measures.iter().position(|known| known == measure);
        let of_kind = Measure::of_name(measure).is_none() && measure.starts_with(OF_KIND);
        (0..self.settled.len()).filter_map(move |run| self.value(run, place, of_kind))
    }
}

/// What was measured, over all these parts: first the measures of the table, in its order, then
/// those of message kinds by name.
pub fn measures(parts: &[Part]) -> Vec<String> {
    let place = |name: &str| Measure::ALL.iter().position(|known| known.name() == name);
    let mut all: Vec<(usize, &String)> = parts
        .iter()
        .flat_map(|part| &part.measures)
        .map(|name| (place(name).unwrap_or(usize::MAX), name))
        .collect();
    all.sort();
    all.dedup();
    all.into_iter().map(|(_, name)| name.clone()).collect()
}

/// What was measured under this name, over all these parts, in the order of the runs.
pub fn column(parts: &[Part], measure: &str) -> Vec<f64> {
    parts.iter().flat_map(|part| part.column(measure)).collect()
}

/// In how many runs of these parts the measure is missing because the group had not settled when
/// the watch ended. The mean of the other runs is then too low, and no interval holds the true one.
pub fn cut(parts: &[Part], measure: &str) -> u64 {
    let until = |known: Measure| matches!(known.sort(), Sort::Time | Sort::Until);
    if !Measure::of_name(measure).is_some_and(until) {
        return 0;
    }
    let lacking = |part: &Part| {
        let values = part.values_of(measure);
        values
            .iter()
            .zip(&part.settled)
            .filter(|(value, settled)| value.is_none() && !**settled)
            .count()
    };
    parts.iter().map(|part| lacking(part) as u64).sum()
}

/// The summary of such a column, as [`Answer`](super::Answer) has it.
pub fn summary_of(measure: &str, column: &[f64]) -> Option<Summary> {
    let summary = summary(sort_as(measure), column)?;
    let of_estimates = measure == PROBABILITY;
    let ci95 = if of_estimates { rare::interval(column, 0.95) } else { summary.ci95 };
    Some(Summary { ci95, ..summary })
}

/// The confidence interval of the mean of such a column, which has this summary; of a probability,
/// where it is one.
pub fn interval_of(measure: &str, column: &[f64], summary: &Summary, confidence: f64) -> [f64; 2] {
    if measure == PROBABILITY {
        return rare::interval(column, confidence);
    }
    if sort_as(measure).sort() == Sort::Chance {
        let successes = column.iter().filter(|value| **value > 0.0).count() as u64;
        return Proportion { successes, runs: column.len() as u64 }.interval(confidence);
    }
    let [low, high] = summary.interval(confidence);
    [low.max(summary.min.min(0.0)), high]
}

/// Whether the interval of such a column is Student's, which needs samples that vary; not that of a
/// proportion, nor of estimates of a probability.
pub fn is_students(measure: &str) -> bool {
    measure != PROBABILITY && sort_as(measure).sort() != Sort::Chance
}

/// Whether a schedule of faults broke a promise, where such schedules are kept as runs are: 1 or 0.
pub const BROKEN: &str = "broken";

/// The measure whose kind of summary this name uses.
fn sort_as(name: &str) -> Measure {
    let other = if name == BROKEN { Measure::StrongSuccess } else { Measure::Messages };
    Measure::of_name(name).unwrap_or(other)
}
