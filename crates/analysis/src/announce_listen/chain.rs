//! How many say yes: a count that each of several processes in turn raises by one, or not.
//!
//! *Promise:* exact but for a part of the probability that is cut off at either side,
//! [`NEGLIGIBLE`] a step.

/// What is cut off at either side of the distribution of a count.
pub(super) const NEGLIGIBLE: f64 = 1e-24;

/// The distribution of the count.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    /// The count that `chance[0]` stands for.
    least: usize,
    chance: Vec<f64>,
}

impl Chain {
    /// The count is known.
    pub(super) fn at(count: usize) -> Self {
        Self { least: count, chance: vec![1.0] }
    }

    /// One more process, which says yes with this probability, given the count so far.
    pub(super) fn step(&mut self, yes: impl Fn(usize) -> f64) {
        let mut below = 0.0;
        for (count, chance) in (self.least..).zip(&mut self.chance) {
            let moved = *chance * yes(count);
            *chance += below - moved;
            below = moved;
        }
        if below > NEGLIGIBLE {
            self.chance.push(below);
        }
        if self.chance[0] < NEGLIGIBLE && self.chance.len() > 1 {
            self.chance.remove(0);
            self.least += 1;
        }
    }

    /// Every count with its probability.
    pub(super) fn counts(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        (self.least..).zip(self.chance.iter().copied())
    }

    /// The largest count that is likely enough.
    pub(super) fn most(&self) -> usize {
        self.least + self.chance.len() - 1
    }

    /// The mean of a function of the count.
    pub(super) fn mean(&self, of: impl Fn(usize) -> f64) -> f64 {
        self.counts().map(|(count, chance)| chance * of(count)).sum()
    }
}
