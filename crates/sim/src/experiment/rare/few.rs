//! Failed elections by importance sampling: runs in which fewer relays are selected, weighed.
//!
//! **Source.** E. Veach and L. Guibas, *Optimally combining sampling techniques for Monte Carlo
//! rendering*, SIGGRAPH 1995, for the balance heuristic; the election is that of Gupta, van Renesse
//! and Birman, where a hash selects about K of N members to be relays.
//!
//! **How.** With K relays on average an election fails mostly because far fewer than K were
//! selected: of none with (1 − K/N)^N. So the runs are divided among K, K/2, K/4, … 1: in a run of
//! the j-th the hash of the first round selects about K_j members, and nothing else differs. If it
//! selected S of N members, each of which is a coin, the weight of the run is
//!
//! f(S) / Σ_j a_j f_j(S), with f(S) = (K/N)^S (1 − K/N)^(N−S), f_j the same for K_j, and a_j the
//! part of the runs that the j-th has,
//!
//! if the election failed, and zero if it did not.
//!
//! **Promise.** Unbiased: the weight is the likelihood ratio of the coins between the election and
//! the mixture. K itself is one of the mixture, so no weight exceeds the number of its parts:
//! failures of another kind, with as many relays as usual, cannot spoil the estimate, as they would
//! if all runs had few.
//!
//! **Assumptions.** The hash is fair, which is what the protocol assumes; all know the same N.

use super::{BadExperiment, Experiment, Made, NotEstimated, Rare, Spent};
use crate::coin::RunSeed;
use crate::experiment::{Control, Measure};
use bellwether_protocols::choice::Choice;
use bellwether_protocols::simulated::Selection;
use rayon::prelude::*;
use std::ops::Range;

/// The most parts of a mixture: K is at most 2^63.
const PARTS_MAX: usize = 64;

/// Estimates the probability that an election fails, in these replications.
pub(super) fn fail(
    experiment: &Experiment,
    rare: &Rare,
    numbers: Range<u32>,
    control: Control<'_>,
) -> Result<Made, BadExperiment> {
    let mixture = Mixture::of(experiment).ok_or(BadExperiment::Rare(NotEstimated::rule(
        "only relays that a hash selects among a known number of members can be made fewer; with \
         as many relays as members, or another size of the group, leave out {rare} and count \
         failures in plain runs",
    )))?;
    let replicate = |number: u32| {
        let estimate = mixture.replicate(experiment, rare, u64::from(number), control.over)?;
        if estimate.is_some() {
            (control.progress)();
        }
        Ok(estimate)
    };
    let made: Result<Vec<Option<(f64, Spent)>>, BadExperiment> =
        numbers.into_par_iter().map(replicate).collect();
    let estimates = made?.into_iter().map_while(|one| one).collect();
    Ok(Made { levels: Vec::new(), pilot: Spent::default(), estimates })
}

/// The election with fewer and fewer relays.
struct Mixture {
    /// As it is.
    usual: Selection,
    parts: Vec<(Choice, Selection)>,
}

impl Mixture {
    fn of(experiment: &Experiment) -> Option<Self> {
        let (choice, nodes) = (&experiment.choice, experiment.nodes);
        let usual = choice.selection(nodes)?;
        let halves = std::iter::successors(Some(usual.relays), |relays| {
            Some(relays / 2).filter(|half| *half > 0)
        });
        let part = |relays: u64| {
            let choice = choice.selecting(relays)?;
            let selection = choice.selection(nodes)?;
            Some((choice, selection))
        };
        let parts: Option<Vec<_>> = halves.take(PARTS_MAX).map(part).collect();
        Some(Self { usual, parts: parts? })
    }

    /// One estimate: as many runs of each part. Nothing, if it is told to stop.
    fn replicate(
        &self,
        experiment: &Experiment,
        rare: &Rare,
        number: u64,
        over: &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<(f64, Spent)>, BadExperiment> {
        let each = u64::from(rare.effort).div_ceil(self.parts.len() as u64);
        let first = number * each * self.parts.len() as u64;
        let (mut sum, mut spent) = (0.0, Spent::default());
        for ((choice, _), place) in self.parts.iter().zip(0..) {
            let part = Experiment { choice: choice.clone(), threads: 1, ..experiment.clone() };
            let from = first + place * each;
            let runs = part.run_part(from..from + each, Control { progress: &|| (), over })?;
            if over() {
                return Ok(None);
            }
            let took = runs.values_of(&Measure::Time.name());
            spent.add(Spent { runs: each, seconds: took.iter().flatten().sum() });
            for (run, success) in (from..).zip(runs.values_of(&Measure::StrongSuccess.name())) {
                if success == Some(0.0) {
                    let group = RunSeed::new(experiment.seed, run).group();
                    sum += self.weight(choice.selected(group, experiment.nodes));
                }
            }
        }
        Ok(Some((sum / (each * self.parts.len() as u64) as f64, spent)))
    }

    /// The weight of a run in which so many were selected.
    fn weight(&self, selected: u64) -> f64 {
        let usual = self.usual.log_likelihood(selected);
        let all = self.parts.iter();
        // Logarithms: each of these may be too small for a double.
        let ratios = all.map(|(_, part)| libm::exp(part.log_likelihood(selected) - usual));
        self.parts.len() as f64 / ratios.sum::<f64>()
    }
}
