//! Messages of LE-S with uncorrelated loss and Δ = 0, approximately: what the recurrence of section
//! 5.3.3.3 is meant to give.
//!
//! Without delay only the order of wake-ups matters, and, if T_A ≥ T_S, it is the same in every round.
//! Let P_k^r be the probability that the process behind k greater ones sends in round r.
//!
//! * Round 1. If m of the k greater ones wake before it, those m are a group like any other, as if the
//!   rest did not exist: P_k = (1/(k+1)) Σ_{m≤k} A_m, A_m = Π_{j<m} (1 − (1−l) P_j).
//! * Round r ≥ 2. P_k^r = ∫₀¹ Π_{j<k} [f_j(r−1) − (1−l) l^{r−1} u P_j^r] du, where
//!   f_j(r) = 1 − (1−l) Σ_{s≤r} l^{s−1} P_j^s is the probability to have lost all that j sent.
//! * Messages: 1 + X(N−1) of the leader, and Σ_r Σ_{k≥1} P_k^r.
//!
//! *Approximate*, since what the greater processes send is taken as independent of each other: who is
//! silenced by one is no longer heard, so it is not. Without loss it is exact, H_N; with it 1 to 4 %
//! too high (a test compares).
//!
//! *Promise:* large k are taken in blocks of at most k/256 each, which changes less than 1e-6 of the
//! closure; that makes a million processes a matter of milliseconds.

use crate::cell::Cell;
use crate::quantity::{Quantity, Unit};
use crate::setting::{Given, Loss, OutOfDomain, Setting};
use bellwether_protocols::announce_listen::{Variant, announcements_beyond_first};
use bellwether_sim::Measure;
use gauss_quad::GaussLegendre;
use libm::{exp, log};
use std::num::NonZeroUsize;

/// A round in which the others send less than this is the last that counts.
const NOTHING: f64 = 1e-13;

/// Points of the integral over u, which is near a low power.
const POINTS: NonZeroUsize = NonZeroUsize::new(16).expect("sixteen is not nought");

/// Messages until the group has converged.
///
/// # Errors
/// [`OutOfDomain`], for a single process, for Δ > 0 or T_A < T_S.
pub fn messages(setting: &Setting) -> Result<f64, OutOfDomain> {
    needs_no_delay(setting)?;
    setting.needs_nodes(2, u32::MAX)?;
    let l = setting.loss.rate();
    let leader = 1.0 + announcements_beyond_first(u64::from(setting.nodes - 1), l);
    Ok(leader + others(setting.nodes, l, 256))
}

/// Messages in the first round.
///
/// # Errors
/// [`OutOfDomain`], for Δ > 0 or T_A < T_S.
pub fn first_round_messages(setting: &Setting) -> Result<f64, OutOfDomain> {
    needs_no_delay(setting)?;
    Ok(FirstRound::new(setting.loss.rate()).take(setting.nodes as usize).sum())
}

/// The chapter, too, treats this case without delay.
pub(super) fn needs_no_delay(setting: &Setting) -> Result<(), OutOfDomain> {
    if setting.delay == 0.0 && setting.announce >= setting.suppress {
        return Ok(());
    }
    let rule = "with uncorrelated loss this holds for delay = 0, announce >= suppress only";
    let way_out = "choose --delay 0 or --loss-model correlated, or simulate";
    Err(OutOfDomain::Condition { rule, way_out })
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
        let sends = self.sum / self.k;
        self.product *= 1.0 - self.kept * sends;
        Some(sends)
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
fn others(nodes: u32, l: f64, fineness: u32) -> f64 {
    let mut blocks = blocks(nodes, l, fineness);
    let rule = GaussLegendre::new(POINTS);
    let mut total: f64 = blocks[1..].iter().map(|block| block.size * block.sends).sum();
    let mut weight = 1.0 - l; // (1−l) l^{r−1}
    loop {
        for block in &mut blocks {
            block.unheard -= weight * block.sends;
        }
        weight *= l;
        let sent = next_round(&mut blocks, weight, &rule);
        total += sent;
        if sent < NOTHING * total {
            return total;
        }
    }
}

/// P_k^r for all k; returns their sum without the leader's. `weight` is (1−l) l^{r−1}.
fn next_round(blocks: &mut Vec<Block>, weight: f64, rule: &GaussLegendre) -> f64 {
    let mut points: Vec<Point> = rule.iter().map(|&(x, w)| Point::new(x, w)).collect();
    let (mut sum, mut ranks) = (0.0, 0);
    for block in &mut *blocks {
        // Of the first in the block, and, if there are more, of the one in the middle for all.
        let mut sends = mean(&points);
        if block.size > 1.0 {
            let mut middle = points.clone();
            pass(&mut middle, block.unheard, weight * sends, (block.size - 1.0) / 2.0);
            sends = mean(&middle);
        }
        pass(&mut points, block.unheard, weight * sends, block.size);
        block.sends = sends;
        if ranks > 0 {
            sum += block.size * sends;
        }
        ranks += 1;
        if sends < 1e-20 {
            break;
        }
    }
    // Whoever is behind those sends neither now nor later.
    blocks.truncate(ranks);
    sum
}

/// A point of the integral over u.
#[derive(Clone, Copy)]
struct Point {
    u: f64,
    share: f64,
    /// The product over all ranks so far.
    product: f64,
}

impl Point {
    /// From a node and its weight over [−1, 1].
    fn new(x: f64, weight: f64) -> Self {
        Self { u: (x + 1.0) / 2.0, share: weight / 2.0, product: 1.0 }
    }
}

/// The integral.
fn mean(points: &[Point]) -> f64 {
    points.iter().map(|point| point.share * point.product).sum()
}

/// Multiplies by [f − u·sent]^count.
fn pass(points: &mut [Point], unheard: f64, sent: f64, count: f64) {
    for point in points {
        let lost = (unheard - point.u * sent).max(0.0);
        point.product *= if count == 1.0 { lost } else { exp(count * log(lost)) };
    }
}

/// What is simulated beside it: uncorrelated loss, Δ = 0.
pub(super) fn simulation(setting: &Setting) -> Option<(Cell, Measure)> {
    let apart = |given: &mut Given| given.loss = Loss::Uncorrelated(given.loss.rate());
    let cell = Cell::of(Variant::LeS, &setting.with(apart).ok()?).listen(f64::INFINITY);
    Some((cell, Measure::Messages))
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
    note: |_| "what the recurrence of the text was to give; approximate, 1 to 4 % too high",
    exact: |setting| setting.loss.rate() == 0.0 || setting.nodes == 2,
    simulation,
};
