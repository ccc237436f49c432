//! Counts of what was tested, so that a reader sees that the check was not empty.

use crate::fault_kind::Occurrences;
use std::collections::BTreeMap;

/// Counts over one run or many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Runs.
    pub schedules: u64,
    /// Simulated time, in nanoseconds.
    pub simulated: u128,
    /// How often a process began to lead.
    pub elections: u64,
    /// Calm time without a leader, in nanoseconds.
    pub leaderless: u128,
    /// Messages received.
    pub deliveries: u64,
    /// The faults by kind.
    pub trouble: Occurrences,
    /// How many schedules drew each parameter, if they drew any.
    pub parameters: BTreeMap<&'static str, u64>,
    /// The counts of each invariant.
    pub checks: Vec<Checks>,
}

/// How often an invariant was checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// Checks in which it applied.
    pub checks: u64,
    /// Checks in which it was broken.
    pub breaches: u64,
}

impl Tally {
    /// Zero counts for this many invariants.
    pub fn new(invariants: usize) -> Self {
        Self { checks: vec![Checks::default(); invariants], ..Self::default() }
    }

    /// Adds other counts.
    pub fn add(&mut self, others: &Self) {
        self.schedules += others.schedules;
        self.simulated += others.simulated;
        self.elections += others.elections;
        self.leaderless += others.leaderless;
        self.deliveries += others.deliveries;
        self.trouble.add(&others.trouble);
        for (name, count) in &others.parameters {
            *self.parameters.entry(name).or_default() += count;
        }
        self.checks.resize(self.checks.len().max(others.checks.len()), Checks::default());
        for (mine, others) in self.checks.iter_mut().zip(&others.checks) {
            mine.checks += others.checks;
            mine.breaches += others.breaches;
        }
    }
}
