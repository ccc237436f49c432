//! Processes that speak one after the other, each unless it has heard one before: SUP, and every
//! round of LE-M, with uncorrelated loss and Δ = 0.
//!
//! After c have spoken, the next in line has heard none of them with probability l^c; then it
//! speaks too. So the number that has spoken is a chain that moves from c to c + 1
//! with probability l^c (it counts as Morris's approximate counter does). The first always speaks.
//!
//! In a long line hardly any process speaks, and asking each one would take too long. Let b be the
//! smallest count that is likely at all. A process that has lost what b speakers said *may* speak,
//! with probability l^b; a process that may speak does so with probability l^{c−b}. Which ones may
//! does not depend on what happens in the line: among n processes, a binomial number j may speak,
//! and the i-th of these is on average at position i·(n+1)/(j+1). So only those that may speak are
//! asked.
//!
//! *Promise:* exact but for the part of the probability that `chain.rs` cuts off as well.

use super::chain::NEGLIGIBLE;
use super::sums::power_of_rest;
use libm::{log1p, pow};

/// A crowd is so large that none of it may speak with a probability above e to the minus this. The
/// larger it is, the more rarely b is set anew; the smaller, the more j vary.
const CROWD: f64 = 32.0;

/// How many have spoken, and who was the last, after each process in line.
#[derive(Clone, Debug)]
pub(super) struct Line {
    loss: f64,
    /// l^i, for as many i as there are counts.
    lost: Vec<f64>,
    /// How many processes there were.
    place: u32,
    /// The smallest count that is likely enough, b.
    first: usize,
    /// What is known of each count, from b on.
    counts: Vec<Count>,
}

/// What is known of one count.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    /// Its probability.
    chance: f64,
    /// The mean place of the last that spoke, times that; in a crowd, the place before the crowd
    /// for all in it.
    last: f64,
    /// The mean number of the last that spoke among those in the crowd who may, times that; zero
    /// if it spoke before.
    number: f64,
}

impl Line {
    /// The first process, who speaks.
    pub(super) fn new(loss: f64) -> Self {
        let counts = vec![Count { chance: 1.0, last: 1.0, number: 0.0 }];
        Self { loss, lost: vec![1.0], place: 1, first: 1, counts }
    }

    /// One more process.
    pub(super) fn step(&mut self) {
        self.pass(1);
    }

    /// After so many processes in all.
    pub(super) fn after(loss: f64, nodes: u32) -> Self {
        let mut line = Self::new(loss);
        while line.place < nodes {
            // Beyond all bounds where nobody may speak: the conversion saturates.
            let crowd = (CROWD / -log1p(-line.may_speak())) as u32;
            line.pass(crowd.clamp(1, nodes - line.place));
        }
        line
    }

    /// l^b.
    fn may_speak(&self) -> f64 {
        pow(self.loss, self.first as f64)
    }

    /// A crowd of so many processes.
    fn pass(&mut self, crowd: u32) {
        let (n, may) = (f64::from(crowd), self.may_speak());
        let mut now = self.counts.clone();
        // The probability that j may speak, from j = 0 on.
        let (mut j, mut weight) = (0.0, power_of_rest(may, n));
        self.counts.iter_mut().for_each(|count| count.scale(weight));
        while j < n && (j < n * may || weight > NEGLIGIBLE) {
            weight *= (n - j) / (j + 1.0) * (may / (1.0 - may));
            j += 1.0;
            self.ask(&mut now, j);
            self.counts.resize(now.len(), Count::default());
            let apart = (n + 1.0) / (j + 1.0);
            for (sum, count) in self.counts.iter_mut().zip(&now) {
                sum.chance += weight * count.chance;
                sum.last += weight * (count.last + apart * count.number);
            }
        }
        self.place += crowd;
        let likely = self.counts.iter().position(|count| count.chance >= NEGLIGIBLE);
        let unlikely = likely.unwrap_or(self.counts.len() - 1);
        self.counts.drain(..unlikely);
        self.first += unlikely;
    }

    /// Asks the j-th of those who may speak.
    fn ask(&mut self, counts: &mut Vec<Count>, j: f64) {
        while self.lost.len() < counts.len() {
            self.lost.push(self.lost[self.lost.len() - 1] * self.loss);
        }
        let before = f64::from(self.place);
        let mut speaks = 0.0;
        for (count, lost) in counts.iter_mut().zip(&self.lost) {
            let goes = count.chance * lost;
            count.chance += speaks - goes;
            count.last += speaks * before - count.last * lost;
            count.number += speaks * j - count.number * lost;
            speaks = goes;
        }
        if speaks > NEGLIGIBLE {
            counts.push(Count { chance: speaks, last: speaks * before, number: speaks * j });
        }
    }

    /// The largest count that is likely enough.
    pub(super) fn most(&self) -> usize {
        self.first + self.counts.len() - 1
    }

    /// Every count with its probability.
    pub(super) fn counts(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        (self.first..).zip(self.counts.iter().map(|count| count.chance))
    }

    /// The mean count.
    pub(super) fn mean(&self) -> f64 {
        self.counts().map(|(count, chance)| count as f64 * chance).sum()
    }

    /// The mean place of the last that spoke.
    pub(super) fn mean_last(&self) -> f64 {
        self.counts.iter().map(|count| count.last).sum()
    }
}

impl Count {
    fn scale(&mut self, weight: f64) {
        self.chance *= weight;
        self.last *= weight;
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::assert_near;
    use super::*;

    /// Every combination of who speaks, for a few processes.
    fn by_enumeration(nodes: u32, loss: f64) -> (f64, f64) {
        let (mut mean, mut mean_last) = (0.0, 0.0);
        for speakers in (0..1u32 << nodes).filter(|set| set & 1 == 1) {
            let chance: f64 = (0..nodes)
                .map(|place| {
                    let before = (speakers & ((1 << place) - 1)).count_ones();
                    let speaks = loss.powi(before as i32);
                    if speakers >> place & 1 == 1 { speaks } else { 1.0 - speaks }
                })
                .product();
            mean += chance * f64::from(speakers.count_ones());
            mean_last += chance * f64::from(32 - speakers.leading_zeros());
        }
        (mean, mean_last)
    }

    #[test]
    fn the_chain_is_the_enumeration() {
        for loss in [0.0, 0.1, 0.4, 0.7, 0.99] {
            for nodes in 1..=12 {
                let line = Line::after(loss, nodes);
                let (mean, last) = by_enumeration(nodes, loss);
                assert!((line.mean() - mean).abs() < 1e-12 * mean, "{nodes} {loss}");
                assert!((line.mean_last() - last).abs() < 1e-12 * last, "{nodes} {loss}");
            }
        }
    }

    #[test]
    fn crowds_are_their_processes_one_by_one() {
        for loss in [1e-9, 0.01, 0.4, 0.9, 0.99, 0.999_999] {
            let nodes = 20_000;
            let crowds = Line::after(loss, nodes);
            let mut single = Line::new(loss);
            (1..nodes).for_each(|_| single.step());
            assert_near(crowds.mean(), single.mean(), 1e-12);
            assert_near(crowds.mean_last(), single.mean_last(), 1e-12);
            assert_eq!(crowds.place, single.place);
        }
    }

    /// E[l^{-C}] = 1/l + (n − 1)(1/l − 1): each step adds l^c·(l^{-c-1} − l^{-c}).
    #[test]
    fn the_chain_keeps_its_martingale_for_a_hundred_thousand_processes() {
        for loss in [0.1f64, 0.4, 0.9, 0.99] {
            let line = Line::after(loss, 100_000);
            let got: f64 = line.counts().map(|(c, p)| p * loss.powi(-(c as i32))).sum();
            let expected = 1.0 / loss + 99_999.0 * (1.0 / loss - 1.0);
            assert!((got - expected).abs() < 1e-9 * expected, "{loss}: {got} {expected}");
        }
    }
}
