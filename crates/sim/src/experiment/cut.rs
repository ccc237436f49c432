//! Measures that the end of the watch cut: in how many runs, and what is known all the same.
//!
//! A run that has not settled when its watch ends has no time until it did, and no count of what
//! was sent by then. It would have had a large one, so the mean of the other runs is too low, and
//! an interval around it would not hold the true mean. Of times, Kaplan and Meier's
//! [estimate](Survival) uses what such runs do say: that it takes longer than they were watched.

use super::measure::Sort;
use super::{Answer, Measure, Sample};
use crate::stats::Summary;
use crate::survival::Survival;
use serde::Serialize;
use serde_json::{Value, json};

/// What the end of the watch cut off.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cut {
    /// In how many runs.
    pub runs: u64,
    /// What is known of it all the same, if it is a time.
    pub survival: Option<Survival>,
}

impl Answer {
    /// The summary of a measure, for programs. If the end of the watch cut it, there is neither a
    /// standard error nor an interval, because the mean of the other runs is too low; in their
    /// place stand how many runs were cut and, of a time, the estimate that counts them.
    pub fn told(&self, measure: Measure) -> Option<Value> {
        let mut told = json!(self.measure(measure)?);
        if let Some(cut) = self.cut(measure) {
            (told["stderr"], told["ci95"]) = (Value::Null, Value::Null);
            told["cut"] = json!(cut.runs);
            if let Some(survival) = &cut.survival {
                told["survival"] = json!(survival);
            }
        }
        Some(told)
    }
}

/// How each of these measures was cut, of those that were.
pub(super) fn cuts(measures: &[(Measure, Summary)], samples: &[Sample]) -> Vec<(Measure, Cut)> {
    if samples.iter().all(|sample| sample.cut.is_none()) {
        return Vec::new();
    }
    let of = |(measure, _): &(Measure, Summary)| Some((*measure, cut(*measure, samples)?));
    measures.iter().filter_map(of).collect()
}

fn cut(measure: Measure, samples: &[Sample]) -> Option<Cut> {
    if !matches!(measure.sort(), Sort::Time | Sort::Until) {
        return None;
    }
    let lacks = |sample: &&Sample| sample.get(measure).is_none();
    let watched: Vec<f64> = samples.iter().filter(lacks).filter_map(|sample| sample.cut).collect();
    if watched.is_empty() {
        return None;
    }
    let seen: Vec<f64> = samples.iter().filter_map(|sample| sample.get(measure)).collect();
    let is_time = measure.sort() == Sort::Time;
    let survival = is_time.then(|| Survival::of(&seen, &watched)).flatten();
    Some(Cut { runs: watched.len() as u64, survival })
}

#[cfg(test)]
mod tests {
    use super::super::summarise;
    use super::*;

    fn run(delay: Option<f64>, cut: Option<f64>) -> Sample {
        let mut sample = Sample::new(0);
        (sample.cut, sample.unsettled) = (cut, delay.is_none());
        sample.set(Measure::LeaderPresence, 0.5);
        if let Some(delay) = delay {
            sample.set(Measure::AgreementTime, delay);
            sample.set(Measure::Messages, 3.0);
        }
        sample
    }

    #[test]
    fn a_time_that_was_cut_is_estimated_and_a_count_is_not() {
        let samples = [run(Some(1.0), None), run(None, Some(4.0)), run(Some(3.0), None)];
        let answer = summarise(&samples, false);
        let time = answer.cut(Measure::AgreementTime).unwrap();
        let survival = time.survival.as_ref().unwrap();
        assert_eq!((time.runs, survival.until), (1, 4.0));
        assert!((survival.restricted_mean - 8.0 / 3.0).abs() < 1e-12, "{survival:?}");
        let sent = answer.cut(Measure::Messages).unwrap();
        assert_eq!((sent.runs, &sent.survival), (1, &None));
        assert_eq!(answer.cut(Measure::LeaderPresence), None, "it has a value in every run");
    }

    #[test]
    fn a_run_that_failed_for_another_reason_is_not_cut() {
        let samples = [run(Some(1.0), None), run(None, None)];
        assert_eq!(summarise(&samples, false).cuts, []);
    }
}
