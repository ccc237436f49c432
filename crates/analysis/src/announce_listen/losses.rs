//! Sections 5.3.1.2, 5.3.1.3 and 5.3.2.2: announcements beyond the first, or "consecutive losses".
//!
//! The leader announces until all have heard it. The first announcement is on time; each further
//! one costs T_A. How many are those, on average?
//!
//! | loss | printed | corrected |
//! |---|---|---|
//! | none | 0 | 0 |
//! | correlated | l/(1−l) | l/(1−l) |
//! | uncorrelated | Σ_{i=1..N} (−1)^{i+1} C(N,i)/(1−l^i) = 1 + X(N) | X(N−1) |
//!
//! X(n) = Σ_{i≥1} 1 − (1−l^i)^n. With uncorrelated loss the text counts announcements from 1, where
//! with correlated loss it counts them from 0, so that the first one costs T_A as well; and it has
//! N receivers, though the leader is none. Its alternating sum, equal to 1 + X(N), loses all digits
//! beyond N ≈ 50 and is never used here.

use super::point_of;
use crate::inputs::{Loss, NODES_MAX, OutOfDomain, ValidInputs};
use crate::point::Point;
use crate::quantity::{Quantity, Unit};
use bellwether_protocols::announce_listen::{Variant, announcements_beyond_first};
use bellwether_sim::Measure;

/// The mean number of announcements beyond the first until each of n receivers has one.
pub fn beyond_first(receivers: u64, loss: Loss) -> f64 {
    match loss {
        _ if receivers == 0 => 0.0,
        Loss::None => 0.0,
        Loss::Correlated(l) => l / (1.0 - l),
        Loss::Uncorrelated(l) => announcements_beyond_first(receivers, l),
    }
}

/// The text's E\[# consecutive lost\] in a group of N: with uncorrelated loss the number of all
/// announcements, the first among them, until N have one.
pub fn printed(nodes: u32, loss: Loss) -> f64 {
    let beyond = beyond_first(u64::from(nodes), loss);
    if let Loss::Uncorrelated(_) = loss { 1.0 + beyond } else { beyond }
}

/// The same for the N − 1 that must hear the leader of a group of N.
pub fn corrected(nodes: u32, loss: Loss) -> f64 {
    beyond_first(u64::from(nodes.saturating_sub(1)), loss)
}

/// The quantities of this file.
pub(super) const QUANTITIES: &[&Quantity] = &[&BEYOND_FIRST];

const BEYOND_FIRST: Quantity = Quantity {
    name: "announcements-beyond-first",
    section: "5.3.1.3",
    about: "announcements beyond the first until all other processes have one of the leader's",
    unit: Unit::Announcements,
    reads: &["nodes", "loss"],
    printed: |inputs| agreeing(inputs).map(|()| printed(inputs.nodes, inputs.loss)),
    corrected: |inputs| agreeing(inputs).map(|()| corrected(inputs.nodes, inputs.loss)),
    note,
    exact: |_| true,
    is_percentile: false,
    simulation,
};

/// Section 5.3.1: with one process there is nothing to agree on.
pub(super) fn agreeing(inputs: &ValidInputs) -> Result<(), OutOfDomain> {
    inputs.needs_nodes(2, NODES_MAX)
}

fn note(inputs: &ValidInputs) -> &'static str {
    match inputs.loss {
        Loss::None => "nothing is lost: the first announcement is enough, as printed",
        Loss::Correlated(_) => "l/(1-l), as printed",
        Loss::Uncorrelated(_) => {
            "the printed sum counts the first announcement too, and the leader as a receiver: \
             1 + X(N) for X(N-1)"
        }
    }
}

/// LE-A announces at once, then every T_A = 1 s: its t_max in seconds is the number.
fn simulation(inputs: &ValidInputs) -> Option<(Point, Measure)> {
    let every_second = inputs.with(|given| given.announce = 1.0).ok()?;
    Some((point_of(Variant::LeA, &every_second), Measure::ConvergenceTime))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::announce_listen::testing::{assert_near, rational};
    use crate::inputs::Inputs;

    /// The alternating sum of the text, in exact arithmetic: l = a/b.
    fn alternating(nodes: u32, l: (i128, i128)) -> f64 {
        let l = rational(l.0, l.1);
        let one = rational(1, 1);
        let (mut binomial, mut power, mut sum) = (one.clone(), one.clone(), rational(0, 1));
        for i in 1..=i128::from(nodes) {
            binomial *= rational(i128::from(nodes) + 1 - i, i);
            power *= &l;
            let term = &binomial / (&one - &power);
            sum = if i % 2 == 1 { sum + term } else { sum - term };
        }
        crate::announce_listen::testing::float(&sum)
    }

    #[test]
    fn the_printed_sum_is_one_and_x_of_n_in_exact_arithmetic() {
        for (nodes, l) in [(2, (1, 10)), (5, (2, 5)), (20, (7, 10)), (60, (2, 5)), (100, (99, 100))]
        {
            let loss = Loss::Uncorrelated(l.0 as f64 / l.1 as f64);
            let exact = alternating(nodes, l);
            assert_near(printed(nodes, loss), exact, 1e-12);
            // X(N−1) is the sum for one receiver less, without its first announcement.
            if nodes > 2 {
                assert_near(corrected(nodes, loss), alternating(nodes - 1, l) - 1.0, 1e-11);
            }
        }
    }

    #[test]
    fn the_two_mistakes_cost_one_announcement_and_one_receiver() {
        let loss = Loss::Uncorrelated(0.4);
        let [printed, corrected] = [printed(100, loss), corrected(100, loss)];
        assert!(printed - corrected > 1.0, "{printed} {corrected}");
        // One receiver more of a hundred: about a hundredth of 1/ln(1/l).
        assert!((printed - corrected - 1.0 - 0.01 / libm::log(2.5)).abs() < 2e-3);
        let together = Loss::Correlated(0.4);
        assert_eq!(super::printed(100, together), super::corrected(100, together));
    }

    /// X(2n) − X(n) tends to ln 2/ln(1/l), up to a small oscillation that vanishes as l → 1.
    #[test]
    fn a_million_receivers_take_a_logarithm_more() {
        let x = |receivers| beyond_first(receivers, Loss::Uncorrelated(0.99));
        assert_near(x(1_000_000) - x(500_000), libm::log(2.0) / -libm::log(0.99), 1e-6);
    }

    #[test]
    fn a_group_of_one_has_nothing_to_agree_on() {
        let alone = ValidInputs::try_from(Inputs { nodes: 1, ..Inputs::default() }).unwrap();
        let refused = OutOfDomain::Nodes { nodes: 1, least: 2, most: NODES_MAX };
        for form in [BEYOND_FIRST.printed, BEYOND_FIRST.corrected] {
            assert_eq!(form(&alone), Err(refused.clone()));
        }
        assert_eq!(beyond_first(0, Loss::Correlated(0.5)), 0.0);
    }
}
