//! Messages of LE-M until the group has converged. Section 5.4.3 has figures, and no formula.
//!
//! A process that wakes earlier is better. As for [LE-S](super::messages), if all receivers lose
//! together all processes may be taken to announce for ever from their wake-up on. A process that
//! wakes at t sends its r-th announcement if each other one wakes later, or has lost all it sent by
//! x = t + (r−1)T_A − Δ: H_r(t)^{N−1}, H_r(t) = 1 − (1−l) Σ_{q≥0} l^q min(P(t), P(x − q·T_A)). In N
//! ∫ p(t) H_r^{N−1} dt the part (1 − P(t))^{N−1} is the leader, who sends 1/(1−l), and ⌈Δ/T_A⌉ − 1
//! more while its announcement is under way. From r = ⌈Δ/T_A⌉ on, H_r − 1 + P falls by the factor l
//! from round to round.
//!
//! If each receiver loses for itself and Δ = 0, T_A ≥ T_S, the processes of a round speak
//! one by one (`one_by_one.rs`), best first, and those who spoke are the line of the next round;
//! the leader sends 1 + X(N−1).

use super::one_by_one::Line;
use super::point_of;
use super::sums::{needs_few_announcements, overrun, power_of_rest};
use super::suppression::LINE_MAX;
use super::wake;
use crate::inputs::{Loss, OutOfDomain, ValidInputs};
use crate::integral::Integral;
use crate::quantity::{Quantity, Unit};
use bellwether_protocols::announce_listen::{Variant, announcements_beyond_first};
use bellwether_sim::Measure;
use libm::ceil;

/// Messages of LE-M until the group has converged.
///
/// # Errors
/// [`OutOfDomain`], for a single process or T_S = 0, if T_S or Δ are many times T_A, and with
/// uncorrelated loss if Δ > 0 or T_A < T_S.
pub fn corrected(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    inputs.needs_nodes(2, u32::MAX)?;
    if inputs.suppress == 0.0 {
        let rule = "suppress = 0, but who leads LE-M is who wakes first";
        let way_out = "choose `suppress` above 0, or le-a.messages";
        return Err(OutOfDomain::Condition { rule, way_out });
    }
    let l = inputs.loss.rate();
    match inputs.loss {
        Loss::Uncorrelated(_) if inputs.nodes > 2 => {
            let leader = 1.0 + announcements_beyond_first(u64::from(inputs.nodes - 1), l);
            Ok(leader + others_apart(inputs)?)
        }
        _ => Ok(1.0 / (1.0 - l) + overrun(inputs) + others_together(inputs)?),
    }
}

/// The messages of all but the leader, nothing lost or all losing together.
fn others_together(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    needs_few_announcements(inputs)?;
    let n = f64::from(inputs.nodes);
    let l = inputs.loss.rate();
    let lag = ceil(inputs.delay / inputs.announce) as u32;
    // 1 − H_r for r up to the lag; and at the lag, from where on it is known.
    let heard = |t: f64, round: u32| {
        let mut before = t + (f64::from(round) - 1.0) * inputs.announce - inputs.delay;
        let (mut sum, mut lost) = (0.0, 1.0 - l);
        while before > 0.0 && lost > 1e-20 {
            sum += lost * wake::cdf(inputs, before);
            lost *= l;
            before -= inputs.announce;
        }
        sum
    };
    let sent = |u: f64| {
        let t = wake::quantile(inputs, u);
        let leads = power_of_rest(u, n - 1.0);
        let first: f64 = (1..lag).map(|r| power_of_rest(heard(t, r), n - 1.0) - leads).sum();
        first + from_the_lag_on((u, u - heard(t, lag), leads), n - 1.0, l, lag == 0)
    };
    let mut places = vec![0.0, 1.0];
    let kinks = (0..=lag + ceil(inputs.suppress / inputs.announce) as u32)
        .map(|i| inputs.delay + (f64::from(i) - f64::from(lag)) * inputs.announce)
        .filter(|t| (0.0..inputs.suppress).contains(t));
    places.extend(kinks.map(|t| wake::cdf(inputs, t)));
    places.sort_by(f64::total_cmp);
    Ok(n * Integral::default().between(&places, 1.0 / n, &sent))
}

/// Σ_j (1 − u + l^j y)^n − (1 − u)^n, from j = 0 or from the second term on.
fn from_the_lag_on((u, y, leads): (f64, f64, f64), n: f64, l: f64, second: bool) -> f64 {
    let mut left = if second { y * l } else { y };
    let mut sum = 0.0;
    loop {
        if left * n < 1e-7 * (1.0 - u) {
            // All further terms are as long as their first order: a geometric series.
            return sum + n * leads / (1.0 - u) * left / (1.0 - l);
        }
        let term = power_of_rest((u - left).clamp(0.0, 1.0), n) - leads;
        sum += term;
        if term <= 1e-17 * sum {
            return sum;
        }
        left *= l;
    }
}

/// The same, each losing for itself, for Δ = 0 and T_A ≥ T_S.
fn others_apart(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    if inputs.delay > 0.0 || inputs.announce < inputs.suppress {
        let rule =
            "with uncorrelated loss LE-M has a form for delay = 0, announce >= suppress only";
        let way_out = "choose `delay` 0 or `loss-model` correlated";
        return Err(OutOfDomain::Condition { rule, way_out });
    }
    inputs.needs_nodes(2, LINE_MAX)?;
    let l = inputs.loss.rate();
    let spoke = Line::after(l, inputs.nodes);
    // others[n]: from a round on for which n are in line.
    let mut others = vec![0.0, 0.0];
    let mut line = Line::new(l);
    for n in 2..=spoke.most() {
        line.step();
        let (mut mean, mut stays) = (0.0, 0.0);
        for (count, chance) in line.counts() {
            mean += chance * (count - 1) as f64;
            if count < n {
                mean += chance * others[count];
            } else {
                // All may speak again, any number of times.
                stays += chance;
            }
        }
        others.push(mean / (1.0 - stays));
    }
    let rounds = |(count, chance): (usize, f64)| chance * ((count - 1) as f64 + others[count]);
    Ok(spoke.counts().map(rounds).sum())
}

/// `le-m.messages`.
pub(super) const QUANTITY: Quantity = Quantity {
    name: "le-m.messages",
    section: "5.4.3",
    about: "messages that LE-M sends until all have heard the leader",
    unit: Unit::Messages,
    reads: &["nodes", "loss", "loss-model", "delay", "suppress", "announce", "timer", "timer-rate"],
    printed: |_| Err(OutOfDomain::NoValue("the text has figures of LE-M, and no formula")),
    corrected,
    note: |inputs| match inputs.loss {
        Loss::None => "nothing is printed; exact, and the same as SUP's",
        Loss::Correlated(_) => "nothing is printed; exact, by integration",
        Loss::Uncorrelated(_) => "nothing is printed; exact for delay 0",
    },
    exact: |_| true,
    is_percentile: false,
    simulation: |inputs| {
        Some((point_of(Variant::LeM, inputs).listen(f64::INFINITY), Measure::Messages))
    },
};

#[cfg(test)]
mod tests {
    use super::super::suppression;
    use super::super::testing::{assert_near, inputs};
    use super::*;
    use crate::Inputs;
    use bellwether_protocols::announce_listen::Shape;

    const SHAPES: [Shape; 3] =
        [Shape::Uniform, Shape::Rising { rate: 9.0 }, Shape::Falling { rate: 9.0 }];

    /// Section 5.4.3: without loss as many as SUP.
    #[test]
    fn without_loss_it_sends_what_sup_sends() {
        for shape in SHAPES {
            for nodes in [2, 10, 1000, 1_000_000] {
                let at = inputs(nodes, Loss::None, |given| given.shape = shape);
                let sup = suppression::messages(&at).unwrap();
                assert_near(corrected(&at).unwrap(), sup, 1e-10);
            }
        }
    }

    /// Uniform timers, T_S = 1, Δ ≤ T_A: each round has a closed form.
    fn by_rounds(nodes: i32, l: f64, delay: f64) -> f64 {
        let c = l + delay - l * delay;
        let mut total = 1.0 / (1.0 - l);
        for r in 1..10_000 {
            let kept = 1.0 - l.powi(r - 1);
            let at_delay = 1.0 - kept * delay;
            let n = nodes;
            let early = if r == 1 { f64::from(n) * delay } else { (1.0 - at_delay.powi(n)) / kept };
            let late = at_delay.powi(n) - (l.powi(r - 1) * c).powi(n);
            total += early + late / (1.0 - l.powi(r)) - 1.0;
        }
        total
    }

    #[test]
    fn uniform_timers_round_by_round() {
        for nodes in [2u32, 5, 100] {
            for l in [0.1, 0.4, 0.9] {
                for delay in [0.0, 0.1, 0.7] {
                    let change = |given: &mut Inputs| (given.delay, given.announce) = (delay, 1.2);
                    let at = inputs(nodes, Loss::Correlated(l), change);
                    assert_near(corrected(&at).unwrap(), by_rounds(nodes as i32, l, delay), 1e-9);
                }
            }
        }
    }

    /// Every combination of who speaks in every round, in line: bit 0 is the leader.
    fn by_enumeration(nodes: u32, l: f64) -> f64 {
        let mut chance = vec![0.0; 1 << nodes];
        chance[(1 << nodes) - 1] = 1.0;
        let mut messages = 0.0;
        for _ in 0..2000 {
            let mut next = vec![0.0; 1 << nodes];
            for set in (0..1usize << nodes).filter(|set| chance[*set] > 0.0) {
                for spoke in (0..=set).filter(|spoke| spoke & !set == 0 && spoke & 1 == 1) {
                    let speaks = |p: u32| {
                        let before = (spoke & ((1 << p) - 1)).count_ones();
                        let on = l.powi(before as i32);
                        if spoke >> p & 1 == 1 { on } else { 1.0 - on }
                    };
                    let of: f64 = (0..nodes).filter(|p| set >> p & 1 == 1).map(speaks).product();
                    next[spoke] += chance[set] * of;
                    messages += chance[set] * of * f64::from((spoke >> 1).count_ones());
                }
            }
            chance = next;
        }
        messages + 1.0 + announcements_beyond_first(u64::from(nodes) - 1, l)
    }

    #[test]
    fn the_line_is_the_enumeration() {
        for l in [0.1, 0.4, 0.9] {
            for nodes in 3..=5 {
                let at = inputs(nodes, Loss::Uncorrelated(l), |given| given.delay = 0.0);
                assert_near(corrected(&at).unwrap(), by_enumeration(nodes, l), 1e-9);
            }
        }
    }

    #[test]
    fn heavy_loss_and_many_processes_have_a_value() {
        for shape in SHAPES {
            for nodes in [2, 1_000_000] {
                let at = inputs(nodes, Loss::Correlated(0.99), |given| given.shape = shape);
                let sup = suppression::messages(&at).unwrap();
                let got = corrected(&at).unwrap();
                assert!(sup < got && got.is_finite(), "{nodes} {shape:?}: {got}");
            }
        }
    }

    #[test]
    fn outside_its_domain_there_is_no_value() {
        let condition = |result| matches!(result, Err(OutOfDomain::Condition { .. }));
        assert!(condition(corrected(&inputs(3, Loss::None, |given| given.suppress = 0.0))));
        assert!(condition(corrected(&inputs(3, Loss::Uncorrelated(0.4), |_| ()))));
        assert!(condition(corrected(&inputs(3, Loss::None, |given| given.announce = 0.001))));
        let one = corrected(&inputs(1, Loss::None, |_| ()));
        assert!(matches!(one, Err(OutOfDomain::Nodes { least: 2, .. })));
    }
}
