//! How many processes of LE-S announce themselves in the first round: the exact law, for Δ = 0.
//!
//! Section 5.3.3.3 has it as Q(i, n, 1) of its recurrence, which takes the times of messages as
//! independent of who sends them ([`recurrence`](super::recurrence)); they are not. Exactly:
//!
//! * Nothing lost: whoever wakes announces itself if it is greater than all that woke before. The
//!   k-th to wake is with probability 1/k, whatever the others do.
//! * All losing together: whoever is greater than M announces itself, M being the greatest whose
//!   announcement got through. Of j that have woken let b be greater than M. The next is greater
//!   than M with probability (b+1)/(j+1). If it gets through it is the new M, and how many of the b
//!   are greater is uniform on 0 to b; if not, b grows by one. Before the first that gets through
//!   all announce themselves.
//! * Each losing for itself: the processes are put in order of time, the greatest first. The next
//!   stands anywhere among them, and announces itself with probability l^a, a being how many
//!   before it have. All 2^n ways are followed, so groups are small.

use super::chain::{Chain, NEGLIGIBLE};
use crate::inputs::{Loss, OutOfDomain, ValidInputs};
use crate::quantity::{Quantity, Unit};
use libm::pow;

/// The largest group with uncorrelated loss.
pub const APART_MAX: u32 = 20;
/// The largest group with correlated loss.
pub const TOGETHER_MAX: u32 = 500;
/// The largest group without loss.
pub const LOSSLESS_MAX: u32 = 100_000;

/// Q(i, N, 1) as the text's recurrence has it.
///
/// # Errors
/// [`OutOfDomain`], with correlated loss, for which there is no recurrence, and outside its domain.
pub fn printed(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    if let Loss::Correlated(_) = inputs.loss {
        return Err(OutOfDomain::NoValue("the recurrence is for uncorrelated loss"));
    }
    super::recurrence::printed_q(&inputs.with(|given| given.round = 1)?)
}

/// The probability that so many of the group announce themselves in the first round.
///
/// # Errors
/// [`OutOfDomain`], if Δ > 0 or the group is too large.
pub fn exactly(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    Ok(law(inputs)?.get(inputs.sent as usize).copied().unwrap_or(0.0))
}

/// The same of every number, from 0.
///
/// # Errors
/// As [`exactly`].
pub fn law(inputs: &ValidInputs) -> Result<Vec<f64>, OutOfDomain> {
    if inputs.delay > 0.0 {
        let rule = "this holds for delay = 0";
        return Err(OutOfDomain::Condition { rule, way_out: "choose `delay` 0" });
    }
    let (nodes, l) = (inputs.nodes, inputs.loss.rate());
    match inputs.loss {
        Loss::Uncorrelated(_) if l > 0.0 => {
            inputs.needs_nodes(1, APART_MAX)?;
            Ok(apart(nodes, l))
        }
        Loss::Correlated(_) if l > 0.0 => {
            inputs.needs_nodes(1, TOGETHER_MAX)?;
            Ok(together(nodes as usize, l))
        }
        _ => {
            inputs.needs_nodes(1, LOSSLESS_MAX)?;
            Ok(lossless(nodes))
        }
    }
}

fn lossless(nodes: u32) -> Vec<f64> {
    let mut greater = Chain::at(0);
    for k in 1..=nodes {
        greater.step(|_| 1.0 / f64::from(k));
    }
    let mut law = vec![0.0; greater.most() + 1];
    greater.counts().for_each(|(count, chance)| law[count] = chance);
    law
}

/// The probabilities of how many have announced themselves, for each number that is greater than
/// the greatest that got through.
type Ahead = Vec<Vec<f64>>;

fn together(nodes: usize, l: f64) -> Vec<f64> {
    let mut ahead: Ahead = Vec::new();
    let mut none = 1.0; // that nothing got through yet
    for woken in 0..nodes {
        let begins = none > NEGLIGIBLE;
        let rows = if begins { woken + 1 } else { ahead.len() + 1 };
        let mut next = vec![vec![0.0; woken + 2]; rows];
        let slots = (woken + 1) as f64;
        // Whoever gets through leaves any number up to b ahead of it: summed from the greatest b.
        let mut through = vec![0.0; woken + 1];
        for (b, counts) in ahead.iter().enumerate().rev() {
            let greater = (b + 1) as f64 / slots;
            for (count, chance) in counts.iter().enumerate().filter(|(_, c)| **c > NEGLIGIBLE) {
                next[b][count] += chance * (1.0 - greater);
                next[b + 1][count + 1] += chance * greater * l;
                through[count] += chance * greater * (1.0 - l) / (b + 1) as f64;
            }
            let announced = next[b].iter_mut().skip(1);
            announced.zip(&through).for_each(|(sum, through)| *sum += through);
        }
        if begins {
            let through = none * (1.0 - l) / slots;
            next.iter_mut().for_each(|counts| counts[woken + 1] += through);
        }
        none *= l;
        while next.last().is_some_and(|counts| counts.iter().all(|c| *c <= NEGLIGIBLE)) {
            next.pop();
        }
        ahead = next;
    }
    let mut law = vec![0.0; nodes + 1];
    for counts in &ahead {
        law.iter_mut().zip(counts).for_each(|(sum, chance)| *sum += chance);
    }
    law[nodes] += none;
    law
}

fn apart(nodes: u32, l: f64) -> Vec<f64> {
    // Bit t of an index: whether the t-th of those so far in order of time announces itself.
    let mut ways = vec![1.0];
    for there in 0..nodes {
        let mut next = vec![0.0; ways.len() * 2];
        let slot = 1.0 / f64::from(there + 1);
        for (way, chance) in ways.iter().enumerate() {
            for place in 0..=there {
                let before = way & ((1 << place) - 1);
                let after = (way >> place) << (place + 1);
                let unheard = pow(l, f64::from(before.count_ones()));
                next[after | before | (1 << place)] += chance * slot * unheard;
                next[after | before] += chance * slot * (1.0 - unheard);
            }
        }
        ways = next;
    }
    let mut law = vec![0.0; nodes as usize + 1];
    for (way, chance) in ways.iter().enumerate() {
        law[way.count_ones() as usize] += chance;
    }
    law
}

/// `le-s.first-round`.
pub(super) const QUANTITY: Quantity = Quantity {
    name: "le-s.first-round",
    section: "5.3.3.3",
    about: "probability that i of n processes of LE-S announce themselves in the first round",
    unit: Unit::Fraction,
    reads: &["nodes", "loss", "loss-model", "delay", "sent"],
    printed,
    corrected: exactly,
    note: |_| "printed: Q(i, n, 1) of the recurrence, whose send times are independent",
    exact: |_| true,
    is_percentile: false,
    simulation: |_| None,
};

#[cfg(test)]
mod tests {
    use super::super::messages_in_suppression;
    use super::super::testing::{assert_near, inputs};
    use super::*;

    fn at(nodes: u32, loss: Loss) -> ValidInputs {
        inputs(nodes, loss, |given| given.delay = 0.0)
    }

    /// All orders of wake-ups, and all losses, one by one.
    fn by_hand(nodes: usize, loss: Loss) -> Vec<f64> {
        let l = loss.rate();
        let mut orders = vec![Vec::new()];
        for _ in 0..nodes {
            let longer = |order: &Vec<usize>| {
                let left = (0..nodes).filter(|node| !order.contains(node));
                left.map(|node| [&order[..], &[node]].concat()).collect::<Vec<_>>()
            };
            orders = orders.iter().flat_map(longer).collect();
        }
        let coins = if let Loss::Correlated(_) = loss { nodes } else { nodes * nodes };
        let mut law = vec![0.0; nodes + 1];
        for (order, tossed) in
            orders.iter().flat_map(|order| (0..1 << coins).map(move |t| (order, t)))
        {
            let coin = |from: usize, to: usize| match loss {
                Loss::Correlated(_) => from,
                _ => from * nodes + to,
            };
            let lost = |from: usize, to: usize| tossed >> coin(from, to) & 1 == 1;
            let mut sent: Vec<usize> = Vec::new();
            for &node in order {
                if sent.iter().all(|from| *from < node || lost(*from, node)) {
                    sent.push(node);
                }
            }
            let heads = u32::count_ones(tossed);
            let chance = l.powi(heads as i32) * (1.0 - l).powi(coins as i32 - heads as i32);
            law[sent.len()] += chance / orders.len() as f64;
        }
        law
    }

    #[test]
    fn small_groups_are_counted_through() {
        for l in [0.0, 0.3, 0.8] {
            for loss in [Loss::Correlated(l), Loss::Uncorrelated(l)] {
                for nodes in 1..=3 {
                    let found = law(&at(nodes, loss)).unwrap();
                    let expected = by_hand(nodes as usize, loss);
                    for (i, expected) in expected.iter().enumerate() {
                        let found = found.get(i).copied().unwrap_or(0.0);
                        assert!((found - expected).abs() < 1e-12, "{nodes} {loss:?} {i}: {found}");
                    }
                }
            }
        }
        let five = law(&at(5, Loss::Correlated(0.4))).unwrap();
        let counted = by_hand(5, Loss::Correlated(0.4));
        five.iter()
            .zip(counted)
            .for_each(|(found, counted)| assert!((found - counted).abs() < 1e-12));
    }

    #[test]
    fn the_mean_is_that_of_the_messages_in_the_opening() {
        for loss in [Loss::None, Loss::Correlated(0.4), Loss::Correlated(0.9)] {
            for nodes in [1, 2, 10, 100] {
                let at = at(nodes, loss);
                let law = law(&at).unwrap();
                assert_near(law.iter().sum(), 1.0, 1e-12);
                let mean: f64 = law.iter().enumerate().map(|(i, chance)| i as f64 * chance).sum();
                assert_near(mean, messages_in_suppression::corrected(&at).unwrap(), 1e-11);
            }
        }
    }

    /// The recurrence of the text has independent times: it is right for two processes only.
    #[test]
    fn the_recurrence_is_right_for_two_processes_and_no_more() {
        let q = |nodes, sent| {
            let at = at(nodes, Loss::Uncorrelated(0.4)).with(|given| given.sent = sent).unwrap();
            (super::super::recurrence::q(&at).unwrap(), exactly(&at).unwrap())
        };
        let (two, exact) = q(2, 2);
        assert_near(two, exact, 1e-12);
        let (ten, exact) = q(10, 4);
        assert!((ten - exact).abs() > 0.01, "{ten} {exact}");
    }
}
