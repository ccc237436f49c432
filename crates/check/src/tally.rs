//! What was tested, in numbers: so that a reader sees that something was.

use crate::trouble::Occurrences;

/// Counts over one run or many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Runs.
    pub schedules: u64,
    /// Simulated time, in nanoseconds.
    pub simulated: u128,
    /// How often a process began to lead.
    pub elections: u64,
    /// Calm time in which nobody led, in nanoseconds.
    pub leaderless: u128,
    /// Messages received.
    pub deliveries: u64,
    /// The trouble there was.
    pub trouble: Occurrences,
    /// What each invariant found.
    pub checks: Vec<Checks>,
}

/// How often an invariant looked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checks {
    /// Looks at something it speaks of.
    pub checks: u64,
    /// Those of them that found it broken.
    pub breaches: u64,
}

impl Tally {
    /// Nothing yet, for so many invariants.
    pub fn new(invariants: usize) -> Self {
        Self { checks: vec![Checks::default(); invariants], ..Self::default() }
    }

    /// And these.
    pub fn add(&mut self, others: &Self) {
        self.schedules += others.schedules;
        self.simulated += others.simulated;
        self.elections += others.elections;
        self.leaderless += others.leaderless;
        self.deliveries += others.deliveries;
        self.trouble.add(&others.trouble);
        self.checks.resize(self.checks.len().max(others.checks.len()), Checks::default());
        for (mine, others) in self.checks.iter_mut().zip(&others.checks) {
            mine.checks += others.checks;
            mine.breaches += others.breaches;
        }
    }
}
