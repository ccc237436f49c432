//! Processes that speak one after the other, each unless it has heard one before: SUP, and every
//! round of LE-M, with uncorrelated loss and Δ = 0.
//!
//! After c have spoken, the next in line has heard none of them with probability l^c, whoever they
//! were; then it speaks too. So the number that has spoken is a chain that moves from c to c + 1
//! with probability l^c (it counts as Morris's approximate counter does). The first always speaks.
//!
//! *Promise:* exact but for the part of the probability that `chain.rs` cuts off as well.

use super::chain::NEGLIGIBLE;

/// How many have spoken, and who was the last, after each process in line.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// l^c, for every count so far.
    lost: Vec<f64>,
    loss: f64,
    /// How many processes there were.
    place: u32,
    /// The count that `chance[0]` stands for.
    first: usize,
    /// The probability of each count.
    chance: Vec<f64>,
    /// The mean place of the last that spoke, times that probability.
    last: Vec<f64>,
}

impl Line {
    /// The first process, who speaks.
    pub(super) fn new(loss: f64) -> Self {
        let lost = vec![1.0, loss];
        Self { lost, loss, place: 1, first: 1, chance: vec![1.0], last: vec![1.0] }
    }

    /// One more process.
    pub(super) fn step(&mut self) {
        self.place += 1;
        let top = self.first + self.chance.len();
        if self.lost.len() <= top {
            self.lost.push(self.lost[top - 1] * self.loss);
        }
        let place = f64::from(self.place);
        let lost = &self.lost[self.first..top];
        let (mut speaks, mut when) = (0.0, 0.0);
        for ((chance, last), lost) in self.chance.iter_mut().zip(&mut self.last).zip(lost) {
            let goes = *chance * lost;
            *last += when - *last * lost;
            *chance += speaks - goes;
            (speaks, when) = (goes, goes * place);
        }
        if speaks > NEGLIGIBLE {
            self.chance.push(speaks);
            self.last.push(when);
        }
        if self.chance[0] < NEGLIGIBLE && self.chance.len() > 1 {
            self.chance.remove(0);
            self.last.remove(0);
            self.first += 1;
        }
    }

    /// After so many processes in all.
    pub(super) fn after(loss: f64, nodes: u32) -> Self {
        let mut line = Self::new(loss);
        (1..nodes).for_each(|_| line.step());
        line
    }

    /// The largest count that is likely enough.
    pub(super) fn most(&self) -> usize {
        self.first + self.chance.len() - 1
    }

    /// Every count with its probability.
    pub(super) fn counts(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.chance.iter().enumerate().map(|(i, chance)| (self.first + i, *chance))
    }

    /// The mean count.
    pub(super) fn mean(&self) -> f64 {
        self.counts().map(|(count, chance)| count as f64 * chance).sum()
    }

    /// The mean place of the last that spoke.
    pub(super) fn mean_last(&self) -> f64 {
        self.last.iter().sum()
    }
}

#[cfg(test)]
mod tests {
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
