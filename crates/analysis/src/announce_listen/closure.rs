//! Messages of LE-S with uncorrelated loss and Δ = 0, approximately: what the recurrence of section
//! 5.3.3.3 is meant to give.
//!
//! Without delay only the order of wake-ups matters, and, if T_A ≥ T_S, it is the same in every
//! round. Let P_k^r be the probability that the process behind k greater ones sends in round r.
//!
//! * Round 1. If m of the k greater ones wake before it, those m are a group like any other, as if
//!   the rest did not exist: P_k = (1/(k+1)) Σ_{m≤k} A_m, A_m = Π_{j<m} (1 − (1−l) P_j).
//! * Round r ≥ 2. P_k^r = ∫₀¹ Π_{j<k} [f_j(r−1) − (1−l) l^{r−1} u P_j^r] du, where
//!   f_j(r) = 1 − (1−l) Σ_{s≤r} l^{s−1} P_j^s is the probability to have lost all that j sent.
//! * Messages: 1 + X(N−1) of the leader, and Σ_r Σ_{k≥1} P_k^r.
//!
//! *Approximate*: the messages of greater processes are treated as independent. They are not: a
//! silenced process sends nothing. Without loss it is exact, H_N; with loss it is too high, and the
//! error grows with the group. Simulated at l = .1, .4 and .7: up to 4 % for 100
//! processes, 5 % for 1000, 6 % for 10,000, and, at .1 and .4, about 9 % for 100,000 and around a
//! tenth for a million. A test compares up to 1000.
//!
//! *Promise:* large k are taken in blocks of at most k/32 each, late rounds as a geometric series,
//! and processes that hardly ever send are left out. Together that changes less than 3e-6 of the
//! closure, and makes a million processes a matter of milliseconds.

use super::point_of;
use crate::inputs::{Inputs, Loss, OutOfDomain, ValidInputs};
use crate::quantity::{Quantity, Unit};
use bellwether_protocols::announce_listen::{Variant, announcements_beyond_first};
use bellwether_sim::Measure;
use gauss_quad::GaussLegendre;
use libm::{exp, log};
use std::num::NonZeroUsize;

/// How closely the closure is followed.
#[derive(Clone, Copy)]
struct Care {
    /// How many points the integral over u has, whose function is near e^{−cu}, for c up to this.
    points: &'static [(f64, usize)],
    /// Blocks have at most k/fineness processes.
    fineness: u32,
    /// Processes that send less than this part of all are left out.
    nobody: f64,
    /// Rounds that make less than this part of all are taken as a geometric series.
    late: f64,
}

/// What is used. With n points the integral is off by c^{2n} (n!)⁴/((2n+1)(2n)!³) at most: less
/// than 1e-7 here; after a few rounds hardly anybody is heard, and c is small.
const CARE: Care = Care {
    points: &[(0.1, 2), (0.7, 3), (1.6, 4), (f64::INFINITY, 8)],
    fineness: 32,
    nobody: 3e-11,
    late: 1e-6,
};

/// The largest loss: beyond it there are too many rounds to walk through.
pub const LOSS_MAX: f64 = 0.99;

/// Messages until the group has converged.
///
/// # Errors
/// [`OutOfDomain`], for a single process, for Δ > 0, T_A < T_S or l > .99.
pub fn messages(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    needs_own_losses(inputs)?;
    needs_no_delay(inputs)?;
    inputs.needs_nodes(2, u32::MAX)?;
    let l = inputs.loss.rate();
    if l > LOSS_MAX {
        let rule = "with uncorrelated loss this is computed for loss <= 0.99 only";
        return Err(OutOfDomain::Condition { rule, way_out: "choose a smaller loss" });
    }
    let leader = 1.0 + announcements_beyond_first(u64::from(inputs.nodes - 1), l);
    Ok(leader + others(inputs.nodes, l, CARE))
}

/// Messages in the first round.
///
/// # Errors
/// [`OutOfDomain`], for Δ > 0 or T_A < T_S.
pub fn first_round_messages(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    needs_no_delay(inputs)?;
    Ok(FirstRound::new(inputs.loss.rate()).take(inputs.nodes as usize).sum())
}

/// The chapter, too, treats this case without delay.
pub(super) fn needs_no_delay(inputs: &ValidInputs) -> Result<(), OutOfDomain> {
    if inputs.delay == 0.0 && inputs.announce >= inputs.suppress {
        return Ok(());
    }
    let rule = "with uncorrelated loss this holds for delay = 0, announce >= suppress only";
    let way_out = "choose `delay` 0, and `announce` no shorter than `suppress`";
    Err(OutOfDomain::Condition { rule, way_out })
}

/// Closure and recurrence know one model of loss.
pub(super) fn needs_own_losses(inputs: &ValidInputs) -> Result<(), OutOfDomain> {
    if !matches!(inputs.loss, Loss::Correlated(l) if l > 0.0) {
        return Ok(());
    }
    let rule = "this is for uncorrelated loss only";
    Err(OutOfDomain::Condition { rule, way_out: "choose `loss-model` uncorrelated" })
}

/// P_k of the first round, from k = 0 on.
struct FirstRound {
    kept: f64,
    k: f64,
    product: f64,
    sum: f64,
}

impl FirstRound {
    fn new(l: f64) -> Self {
        Self { kept: 1.0 - l, k: 0.0, product: 1.0, sum: 0.0 }
    }
}

impl Iterator for FirstRound {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        self.sum += self.product;
        self.k += 1.0;
        // The quotient is known before the sum is: the next product need not wait for a division.
        let one = 1.0 / self.k;
        self.product *= 1.0 - self.sum * (self.kept * one);
        Some(self.sum * one)
    }
}

/// Neighbours in rank that are taken as one.
struct Block {
    size: f64,
    /// P^r, of the round that is worked on.
    sends: f64,
    /// f(r−1).
    unheard: f64,
}

/// The first round, in blocks of at most k/`fineness`.
fn blocks(nodes: u32, l: f64, fineness: u32) -> Vec<Block> {
    let mut first = FirstRound::new(l);
    let (mut blocks, mut k) = (Vec::new(), 0);
    while k < nodes {
        let size = (k / fineness).clamp(1, nodes - k);
        let sum: f64 = first.by_ref().take(size as usize).sum();
        let sends = sum / f64::from(size);
        blocks.push(Block { size: f64::from(size), sends, unheard: 1.0 });
        k += size;
    }
    blocks
}

/// The messages of all but the leader in all rounds.
fn others(nodes: u32, l: f64, care: Care) -> f64 {
    let mut blocks = blocks(nodes, l, care.fineness);
    let rules: Vec<_> = care.points.iter().map(|(c, points)| (c, Point::all(*points))).collect();
    let mut total: f64 = blocks[1..].iter().map(|block| block.size * block.sends).sum();
    let mut weight = 1.0 - l; // (1−l) l^{r−1}
    loop {
        let mut heard = 0.0;
        for block in &mut blocks {
            block.unheard -= weight * block.sends;
            heard += block.size * block.sends / block.unheard;
        }
        weight *= l;
        // At most this is c: as if nobody had been silenced since.
        let enough = rules.iter().find(|(c, _)| weight * heard <= **c);
        let (_, points) = enough.unwrap_or(&rules[rules.len() - 1]);
        let sent = next_round(&mut blocks, weight, points.clone(), care.nobody * total);
        total += sent;
        // In the end there is only the second process, who reaches a further round as often as it
        // loses the leader's message.
        let rest = sent * l / (1.0 - l);
        if rest <= care.late * total {
            return total + rest;
        }
    }
}

/// P_k^r for all k; returns their sum without the leader's. `weight` is (1−l) l^{r−1}; when all
/// that are left together would send less than `nobody`, they are left out for good.
fn next_round(blocks: &mut Vec<Block>, weight: f64, mut points: Vec<Point>, nobody: f64) -> f64 {
    let (mut sum, mut kept) = (0.0, 0);
    let mut behind: f64 = blocks.iter().map(|block| block.size).sum();
    for block in &mut *blocks {
        // Of the first in the block, and, if there are more, of the one in the middle for all.
        let mut sends: f64 = points.iter().map(|point| point.share).sum();
        if block.size > 1.0 {
            let before = (block.size - 1.0) / 2.0;
            let middle = |point: &Point| point.after(block.unheard, weight * sends, before);
            sends = points.iter().map(middle).sum();
        }
        for point in &mut points {
            point.share = point.after(block.unheard, weight * sends, block.size);
        }
        block.sends = sends;
        if kept > 0 {
            sum += block.size * sends;
        }
        kept += 1;
        behind -= block.size;
        if kept > 1 && behind * sends < nobody {
            break;
        }
    }
    blocks.truncate(kept);
    sum
}

/// A point of the integral over u.
#[derive(Clone, Copy)]
struct Point {
    u: f64,
    /// Its weight, times the product over all ranks so far.
    share: f64,
}

impl Point {
    /// So many, for [0, 1].
    fn all(points: usize) -> Vec<Self> {
        let points = NonZeroUsize::new(points).expect("some points");
        // From a node and its weight over [−1, 1].
        let point = |&(x, weight): &(f64, f64)| Self { u: (x + 1.0) / 2.0, share: weight / 2.0 };
        GaussLegendre::new(points).iter().map(point).collect()
    }

    /// The share times [f − u·sent]^count.
    fn after(&self, unheard: f64, sent: f64, count: f64) -> f64 {
        let lost = (unheard - self.u * sent).max(0.0);
        self.share * if count == 1.0 { lost } else { exp(count * log(lost)) }
    }
}

/// What is simulated beside it: uncorrelated loss, Δ = 0.
pub(super) fn simulation(inputs: &ValidInputs) -> Option<(crate::Point, Measure)> {
    let apart = |given: &mut Inputs| given.loss = Loss::Uncorrelated(given.loss.rate());
    let point = point_of(Variant::LeS, &inputs.with(apart).ok()?).listen(f64::INFINITY);
    Some((point, Measure::Messages))
}

/// `le-s.closure`.
pub(super) const QUANTITY: Quantity = Quantity {
    name: "le-s.closure",
    section: "5.3.3.3",
    about: "messages of LE-S until convergence with uncorrelated loss, by our closure",
    unit: Unit::Messages,
    reads: &["nodes", "loss", "delay", "suppress", "announce"],
    printed: super::recurrence::printed,
    corrected: messages,
    note: |_| {
        "what the recurrence of the text was to give; approximate: too high by up to 4 % at 100 \
         processes, about a tenth at a million"
    },
    exact: |inputs| inputs.loss.rate() == 0.0 || inputs.nodes == 2,
    is_percentile: false,
    simulation,
};

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_near, inputs};
    use super::*;

    const CAREFUL: Care =
        Care { points: &[(f64::INFINITY, 20)], fineness: u32::MAX, nobody: 1e-18, late: 1e-13 };

    #[test]
    fn without_loss_it_is_the_harmonic_number() {
        for nodes in [2u32, 10, 5000] {
            let harmonic: f64 = (1..=nodes).map(|k| 1.0 / f64::from(k)).sum();
            let at = inputs(nodes, Loss::Uncorrelated(0.0), |given| given.delay = 0.0);
            assert_near(messages(&at).unwrap(), harmonic, 1e-12);
            assert_near(first_round_messages(&at).unwrap(), harmonic, 1e-12);
        }
    }

    #[test]
    fn points_blocks_and_series_change_less_than_they_promise() {
        for (l, nodes) in [(0.1, 5000), (0.4, 5000), (0.9, 2000), (0.99, 300)] {
            let (careful, quick) = (others(nodes, l, CAREFUL), others(nodes, l, CARE));
            assert_near(quick, careful, 3e-6);
        }
    }

    /// The leader and one other: P_1 = (1 + l)/2 in the first round, and l times that in the next.
    #[test]
    fn for_two_processes_it_is_exact() {
        for l in [0.1, 0.5, 0.95] {
            let others = others(2, l, CARE);
            assert_near(others, (1.0 + l) / 2.0 / (1.0 - l), 1e-12);
        }
    }

    #[test]
    fn outside_its_domain_there_is_no_value() {
        let condition = |result| matches!(result, Err(OutOfDomain::Condition { .. }));
        let at_once = |given: &mut Inputs| given.delay = 0.0;
        let good = inputs(5, Loss::Uncorrelated(0.4), at_once);
        assert!(messages(&good).is_ok());
        for bad in [
            good.with(|given| given.delay = 0.1).unwrap(),
            good.with(|given| given.announce = 0.5).unwrap(),
            good.with(|given| given.loss = Loss::Uncorrelated(0.995)).unwrap(),
        ] {
            assert!(condition(messages(&bad)));
        }
        let one = messages(&good.with(|given| given.nodes = 1).unwrap());
        assert!(matches!(one, Err(OutOfDomain::Nodes { least: 2, .. })));
    }
}
