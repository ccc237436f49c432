//! Messages of LE-S until the group has converged: section 5.3.3.
//!
//! Counted is everything sent before the leader's announcement has reached the last process.
//!
//! **Nothing lost, or all losing together.** The text counts the messages of [0, T_S] only, and for
//! later rounds refers to the uncorrelated case. They can be counted exactly. Take every process to
//! announce for ever from its wake-up on, whether silenced or not: whatever would have silenced
//! it gets through to all, so this changes nothing about who is silenced when. Then the process
//! behind k greater ones is not silenced at x + Δ if each of those has lost all it sent by x:
//! G(x)^k, where G(x) = 1 − (1−l) Σ_{q≥0} l^q P(x − q·T_A). So the messages are
//!
//! * 1/(1−l) of the leader, and ⌈Δ/T_A⌉ − 1 more while its announcement is under way;
//! * of the others Σ_{r≥0} ∫ p(t) Σ_{k=1..N−1} G(t + r·T_A − Δ)^k dt.
//!
//! From the round on in which everybody has woken, G falls by the factor l from round to round, and
//! Σ_r is 1/(1−l^k). If T_A = T_S and timers are uniform, the rounds of one process fill time
//! without gap or overlap, and the others' messages are (N−1)·Δ/T_S + Σ_{k=1..N−1} (1 −
//! l^{k+1})/((k+1)(1−l)(1−l^k)). Without loss that is (N−1)·Δ/T_S + H_N − 1.
//!
//! **Each losing for itself.** Printed is the recurrence of section 5.3.3.3, whose sum is wrong
//! ([`recurrence`](super::recurrence)); corrected is the [`closure`](super::closure), which knows
//! no delay, and (N−1)·P(Δ) for those who speak before they can have heard anybody. That is a
//! little too much, since they silence others too: in simulations of 3 to 10,000 processes with
//! losses from .01 to .9 and uniform timers the sum was too high by up to 14 %, and never too low.
//! With exponential timers of a rate of 10 it is farther off. If they rise it is too low: by 32 %
//! for 500 processes and a loss of .4, by up to 44 % from 5 to 2,000 processes and losses of .1 to
//! .7. If they fall it is too high: by 3 % for those 500, by up to 22 % for ten processes.

use super::messages_in_suppression;
use super::point_of;
use super::sums::{geometric, needs_few_announcements, overrun};
use super::wake;
use crate::inputs::{Loss, OutOfDomain, ValidInputs};
use crate::integral::Integral;
use crate::quantity::{Quantity, Unit};
use bellwether_protocols::announce_listen::{Shape, Variant};
use bellwether_sim::Measure;
use libm::{ceil, log, pow};

/// Without loss, the messages in [0, T_S], which the text takes for all; with uncorrelated loss,
/// the recurrence.
///
/// # Errors
/// [`OutOfDomain::NoValue`] with correlated loss, where the text has no formula; with uncorrelated
/// loss outside the domain of the recurrence.
pub fn printed(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    match inputs.loss {
        Loss::None => messages_in_suppression::printed(inputs),
        Loss::Correlated(_) => Err(OutOfDomain::NoValue(
            "the text counts later rounds for uncorrelated loss only; \
             see le-s.messages-in-suppression for its first",
        )),
        Loss::Uncorrelated(_) => super::recurrence::printed(inputs),
    }
}

/// As it should read.
///
/// # Errors
/// [`OutOfDomain`], if there is but one process, if T_S or Δ are many times T_A, and with
/// uncorrelated loss where the closure does not hold.
pub fn corrected(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    inputs.needs_nodes(2, u32::MAX)?;
    match inputs.loss {
        // Of two processes only one has something to hear: both models are one.
        Loss::Uncorrelated(_) if inputs.nodes > 2 => {
            let at_once = inputs.with(|given| given.delay = 0.0)?;
            let early = match inputs.delay > 0.0 {
                true => f64::from(inputs.nodes - 1) * wake::cdf(inputs, inputs.delay),
                false => 0.0,
            };
            Ok(early + super::closure::messages(&at_once)?)
        }
        _ => together(inputs),
    }
}

/// The number of messages if all receivers lose a message together.
pub(super) fn together(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let leader = 1.0 / (1.0 - inputs.loss.rate()) + overrun(inputs);
    let others = if inputs.suppress == 0.0 {
        super::messages_le_a::others_together(inputs)?
    } else if inputs.shape == Shape::Uniform && inputs.announce == inputs.suppress {
        others_uniform(inputs)
    } else {
        others_by_integral(inputs)?
    };
    Ok(leader + others)
}

/// The messages of all but the leader with uniform timers and T_A = T_S.
fn others_uniform(inputs: &ValidInputs) -> f64 {
    let others = inputs.nodes - 1;
    let l = inputs.loss.rate();
    let early = f64::from(others) * inputs.delay / inputs.suppress;
    let (mut sum, mut power) = (0.0, l);
    for k in 1..=others {
        let next = power * l;
        sum += (1.0 - next) / (f64::from(k + 1) * (1.0 - power));
        power = next;
    }
    early + sum / (1.0 - l)
}

/// The same for any timers and intervals.
fn others_by_integral(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    needs_few_announcements(inputs)?;
    let n = f64::from(inputs.nodes - 1);
    let integral = Integral::default();
    let places = places(inputs);
    // From this round on everybody has woken when it begins.
    let settled = ceil((inputs.suppress + inputs.delay) / inputs.announce) as u32;
    let after = f64::from(settled) * inputs.announce - inputs.delay;
    let at = |u: f64| silenced(inputs, wake::quantile(inputs, u) + after);
    let sum = |f: &dyn Fn(f64) -> f64| integral.between(&places, 1.0 / n, f);
    let tail = Tail::new(inputs);
    let early: f64 = (0..settled).map(|round| others_in_round(inputs, round)).sum();
    Ok(early + sum(&|u| tail.at(at(u))))
}

/// The messages of all but the leader that are the first of their sender (round 0), the second and
/// so on.
fn others_in_round(inputs: &ValidInputs, round: u32) -> f64 {
    let n = f64::from(inputs.nodes - 1);
    let after = f64::from(round) * inputs.announce - inputs.delay;
    Integral::default().between(&places(inputs), 1.0 / n, &|u| {
        let e = silenced(inputs, wake::quantile(inputs, u) + after);
        (1.0 - e) * geometric(e, n)
    })
}

/// Second messages of processes until the group has converged, nothing lost or all losing together.
///
/// # Errors
/// [`OutOfDomain`], for a single process, with uncorrelated loss, for T_S = 0, and if T_S or Δ are
/// many times T_A.
pub fn second_round(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    inputs.needs_nodes(2, u32::MAX)?;
    needs_few_announcements(inputs)?;
    if matches!(inputs.loss, Loss::Uncorrelated(_)) && inputs.nodes > 2 {
        let rule = "there is no form of one round with uncorrelated loss";
        let way_out = "choose `loss-model` correlated";
        return Err(OutOfDomain::Condition { rule, way_out });
    }
    if inputs.suppress == 0.0 {
        let rule = "suppress = 0, so that nobody waits";
        return Err(OutOfDomain::Condition { rule, way_out: "choose it above 0" });
    }
    // The leader announces itself again if the first was lost, or is still under way.
    let again = if overrun(inputs) > 0.0 { 1.0 } else { inputs.loss.rate() };
    Ok(again + others_in_round(inputs, 1))
}

/// 1 − G(x): the probability that of what one greater process would send by x something gets
/// through.
fn silenced(inputs: &ValidInputs, x: f64) -> f64 {
    let l = inputs.loss.rate();
    let (mut heard, mut lost, mut x) = (0.0, 1.0, x);
    while x > 0.0 && lost > 1e-20 {
        heard += lost * wake::cdf(inputs, x);
        lost *= l;
        x -= inputs.announce;
    }
    ((1.0 - l) * heard).min(1.0)
}

/// Where the integrands have kinks, as probabilities to have woken: where one more announcement of
/// a greater process begins to count, or is certain to.
fn places(inputs: &ValidInputs) -> Vec<f64> {
    let mut places = vec![0.0, 1.0];
    for first in [inputs.delay, inputs.delay + inputs.suppress] {
        let back = ceil(first / inputs.announce) as u32;
        let last = ceil(inputs.suppress / inputs.announce) as u32;
        let kinks = (0..=back + last)
            .map(|i| first + (f64::from(i) - f64::from(back)) * inputs.announce)
            .filter(|t| (0.0..inputs.suppress).contains(t));
        places.extend(kinks.map(|t| wake::cdf(inputs, t)));
    }
    places.sort_by(f64::total_cmp);
    places
}

/// Terms that are added up side by side: a processor is several times faster at independent sums.
const LANES: usize = 8;

/// e to the minus this is nothing.
const NOTHING: f64 = 42.0;

/// Σ_{k=1..n} G^k/(1 − l^k): what a process sends from a round on in which all have woken.
struct Tail {
    /// l^k/(1 − l^k) in rows, until that is negligible.
    beyond: Vec<[f64; LANES]>,
    others: f64,
}

impl Tail {
    fn new(inputs: &ValidInputs) -> Self {
        let l = inputs.loss.rate();
        let others = f64::from(inputs.nodes - 1);
        let terms = if l == 0.0 { 0.0 } else { ceil(-NOTHING / log(l)).min(others) };
        let rows = (terms as usize).div_ceil(LANES);
        let beyond = |k: usize| {
            let power = if k as f64 <= terms { pow(l, k as f64) } else { 0.0 };
            power / (1.0 - power)
        };
        let row = |row: usize| std::array::from_fn(|lane| beyond(row * LANES + lane + 1));
        Self { beyond: (0..rows).map(row).collect(), others }
    }

    /// For G = 1 − e.
    fn at(&self, e: f64) -> f64 {
        let g = 1.0 - e;
        // G^k is at most e^{−ek}; without end, if e is zero.
        let rows = 1 + (NOTHING / e) as usize / LANES;
        let far = pow(g, LANES as f64);
        let mut sums = [0.0; LANES];
        for row in self.beyond.iter().take(rows).rev() {
            for (sum, term) in sums.iter_mut().zip(row) {
                *sum = *sum * far + term;
            }
        }
        let beyond = sums.iter().rev().fold(0.0, |sum, term| (sum + term) * g);
        g * geometric(e, self.others) + beyond
    }
}

/// What differs, for this loss.
fn note(inputs: &ValidInputs) -> &'static str {
    match inputs.loss {
        Loss::None => {
            "printed: messages in [0, T_S]; some later ones come before the leader's is received"
        }
        Loss::Correlated(_) => "nothing is printed; exact, by one sum over all rounds",
        Loss::Uncorrelated(_) => {
            "corrected: the closure, with uniform timers too high by up to 4 % at 100 processes, \
             about a tenth at a million, up to 14 % with a delay; with exponential timers of rate \
             10 too low by up to 44 % if they rise, too high by up to 22 % if they fall"
        }
    }
}

/// `le-s.messages`.
pub(super) const QUANTITY: Quantity = Quantity {
    name: "le-s.messages",
    section: "5.3.3",
    about: "messages that LE-S sends until all have heard the leader",
    unit: Unit::Messages,
    reads: &["nodes", "loss", "loss-model", "delay", "suppress", "announce", "timer", "timer-rate"],
    printed,
    corrected,
    note,
    exact: |inputs| !matches!(inputs.loss, Loss::Uncorrelated(_)) || inputs.nodes == 2,
    is_percentile: false,
    simulation: |inputs| {
        Some((point_of(Variant::LeS, inputs).listen(f64::INFINITY), Measure::Messages))
    },
};

/// `le-s.messages-in-second-round`.
pub(super) const SECOND_ROUND: Quantity = Quantity {
    name: "le-s.messages-in-second-round",
    section: "5.3.3.3",
    about: "second messages of processes of LE-S until all have heard the leader",
    printed: |_| Err(OutOfDomain::NoValue("the text has a recurrence for uncorrelated loss alone")),
    corrected: second_round,
    note: |_| "nothing is printed without loss and with correlated loss; exact",
    exact: |_| true,
    simulation: |inputs| {
        let point = point_of(Variant::LeS, inputs).listen(f64::INFINITY);
        Some((point, Measure::MessagesInSecondRound))
    },
    ..QUANTITY
};

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_near, float, inputs, rational};
    use super::*;
    use crate::Inputs;

    /// 1/(1−l) + (N−1)Δ + Σ (1 − l^{k+1})/((k+1)(1−l)(1−l^k)), exactly, for l = 2/5, Δ = 1/10.
    #[test]
    fn uniform_timers_exactly() {
        let (one, l) = (rational(1, 1), rational(2, 5));
        for nodes in [2u32, 3, 10, 60] {
            let of = |k: u32| {
                let sum = (&one - l.pow(k as i32 + 1)) / (&one - l.pow(k as i32));
                rational(1, 10) + sum / (rational(i128::from(k) + 1, 1) * (&one - &l))
            };
            let others = (1..nodes).map(of).fold(rational(0, 1), |sum, term| sum + term);
            let exact = float(&(others + &one / (&one - &l)));
            let at = inputs(nodes, Loss::Correlated(0.4), |_| ());
            assert_near(corrected(&at).unwrap(), exact, 1e-13);
        }
    }

    /// For two processes by hand: T_A = 2, T_S = 1, Δ = .5. The smaller sends at t unless it heard
    /// (t_0 < t − Δ: 1/8, not lost), and after that once for each loss.
    #[test]
    fn two_processes_whose_announcements_do_not_interleave() {
        let l = 0.3;
        let at = inputs(2, Loss::Correlated(l), |given| {
            (given.announce, given.delay) = (2.0, 0.5);
        });
        // By the second round it has heard nothing with probability l, by the third l².
        let first = 1.0 - (1.0 - l) / 8.0;
        // In round r: lost r − 1, and if t_0 < t − Δ one more.
        let expected = 1.0 / (1.0 - l) + first / (1.0 - l);
        assert_near(corrected(&at).unwrap(), expected, 1e-12);
    }

    #[test]
    fn the_integral_is_the_sum_where_both_hold() {
        for nodes in [2, 3, 50, 1000, 1_000_000] {
            for l in [0.0, 0.1, 0.7, 0.99] {
                for delay in [0.0, 0.1, 0.9, 2.5] {
                    let loss = Loss::Correlated(l);
                    let at = inputs(nodes, loss, |given| given.delay = delay);
                    let (sum, integral) = (others_uniform(&at), others_by_integral(&at).unwrap());
                    assert_near(integral, sum, 1e-10);
                }
            }
        }
    }

    #[test]
    fn the_tail_is_its_sum() {
        for (nodes, l) in [(2, 0.4), (9, 0.4), (10, 0.99), (300, 0.9), (20_000, 0.99)] {
            let tail = Tail::new(&inputs(nodes, Loss::Correlated(l), |_| ()));
            for e in [0.0f64, 1e-9, 1e-4, 0.01, 0.3, 1.0] {
                let term = |k: i32| (1.0 - e).powi(k) / (1.0 - l.powi(k));
                let sum: f64 = (1..nodes as i32).map(term).sum();
                assert_near(tail.at(e), sum, 1e-12);
            }
        }
    }

    /// Section 5.4.4: from T_A = T_S + Δ on nobody announces twice without loss.
    #[test]
    fn without_loss_long_intervals_send_what_is_sent_in_the_suppression_interval() {
        for shape in [Shape::Uniform, Shape::Rising { rate: 9.0 }, Shape::Falling { rate: 9.0 }] {
            let change = |given: &mut Inputs| (given.announce, given.shape) = (1.1, shape);
            let at = inputs(1000, Loss::None, change);
            let first = messages_in_suppression::corrected(&at).unwrap();
            assert_near(corrected(&at).unwrap(), first, 1e-11);
        }
        // But the figures have T_A = T_S, where the printed form is too low by −ln(1−Δ) − Δ.
        let figures = inputs(1000, Loss::None, |_| ());
        let missed = corrected(&figures).unwrap() - printed(&figures).unwrap();
        assert_near(missed, 0.005_360_515_657_826, 1e-9);
    }

    /// A rate so small that the timer is as good as uniform, and T_S so small that all wake at
    /// once.
    #[test]
    fn limits_meet() {
        let loss = Loss::Correlated(0.4);
        let uniform = corrected(&inputs(40, loss, |_| ())).unwrap();
        let nearly = |given: &mut Inputs| given.shape = Shape::Rising { rate: 1e-7 };
        assert_near(corrected(&inputs(40, loss, nearly)).unwrap(), uniform, 1e-6);
        let at_once = inputs(40, loss, |given| given.suppress = 0.0);
        let le_a = super::super::messages_le_a::corrected(&at_once).unwrap();
        let soon = inputs(40, loss, |given| given.suppress = 1e-9);
        assert_near(corrected(&at_once).unwrap(), le_a, 1e-14);
        assert_near(corrected(&soon).unwrap(), le_a, 1e-6);
    }

    #[test]
    fn outside_its_domain_there_is_no_value() {
        let at = |nodes, loss| inputs(nodes, loss, |_| ());
        let one = corrected(&at(1, Loss::None));
        assert!(matches!(one, Err(OutOfDomain::Nodes { least: 2, .. })));
        let busy = inputs(5, Loss::None, |given| given.announce = 0.01);
        assert!(matches!(corrected(&busy), Err(OutOfDomain::Condition { .. })));
        let hasty = inputs(5, Loss::Uncorrelated(0.4), |given| given.announce = 0.5);
        assert!(matches!(corrected(&hasty), Err(OutOfDomain::Condition { .. })));
        let unsaid = printed(&at(5, Loss::Correlated(0.4)));
        assert!(matches!(unsaid, Err(OutOfDomain::NoValue(_))));
        let late = printed(&inputs(5, Loss::Uncorrelated(0.4), |given| given.delay = 0.1));
        assert!(matches!(late, Err(OutOfDomain::Condition { .. })));
    }

    /// Simulated: `bellwether sim le-s --nodes 100 --loss .4 --runs 2000`, 24.38; and 43.50 with
    /// `--delay .3`.
    #[test]
    fn with_a_delay_and_each_losing_for_itself_it_is_a_little_too_high() {
        for (delay, simulated) in [(0.1, 24.38), (0.3, 43.50)] {
            let inputs = inputs(100, Loss::Uncorrelated(0.4), |given| given.delay = delay);
            let ratio = corrected(&inputs).unwrap() / simulated;
            assert!((1.0..1.14).contains(&ratio), "{delay}: {ratio}");
        }
    }
}
