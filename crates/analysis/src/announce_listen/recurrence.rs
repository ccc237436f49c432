//! The recurrence of section 5.3.3.3: messages of LE-S with uncorrelated loss and Δ = 0.
//!
//! Q(i, n, r): the probability that the n greatest processes send i messages in round r. S(n, r):
//! the probability that the last of them reaches round r. a_i = ∫ (1 − (1−l)P)^i dP = (1 −
//! l^{i+1})/((i+1)(1−l)), b_i = ∫ ((1−l)P)^i dP = (1−l)^i/(i+1).
//!
//! **Printed.** Round 1 is the Q(i, n) without rounds that precedes it; with rounds
//!
//! * Q(i,n) = a_{i−1} Q(i−1,n−1) + (1 − a_i) Q(i,n−1)
//! * Q(i,n,r) = S(n,r−1) [∫ Q(i−1,n−1,r−1)(…)^{i−q} + Q(i,n−1,r−1)(1 − (…))^i], q undefined; read
//!   as 1 that is S(n,r−1) [a_{i−1} Q(i−1,n−1,r−1) + b_i Q(i,n−1,r−1)]
//! * S(n,r) = Π_{k<r} Σ_{i=1..n−1} Q(i,n−1,k) l^i
//! * Q(0,n,r) = 0, Q(i,i,r) = l^{r·i(i−1)/2}
//! * messages: Σ_{r≥1} Σ_{1≤i<N} i·r·Q(i,N,r)
//!
//! **Typing errors mended.** The exponent is i − 1; the last term is 1 − (…)^i, as without rounds;
//! what is sent in round r depends on who sends in round r and not r − 1; S(n,r) is the probability
//! to be there and belongs before the first term and, inside, the second; sums begin with i = 0, or
//! the leader does not survive; and a sender need not have reached every later process in time:
//!
//! * Q(i,n,r) = S(n,r) a_{i−1} Q(i−1,n−1,r) + (1 − S(n,r) a_i) Q(i,n−1,r), Q(0,0,r) = 1
//! * S(n,r) = S(n,r−1) Σ_{i=0..n−1} Q(i,n−1,r−1) l^i, S(n,1) = S(1,r) = 1
//! * that all send, Q(i,i,r) = l^{(r−1)i(i−1)/2} Π_{j≤i} (1−l^j)/(j(1−l)): the printed form
//!   omits processes that a late message could not reach anyway, and has one round too many
//! * messages: Σ_r [Σ_i i·Q(i,N,r) − (1−l^{r−1})^{N−1}]: the factor r counts a message once per
//!   round before it; and the leader sends in every round, of which those after convergence do not
//!   count. With Q as the text describes it, a probability with Q(0,n,r) = 0, the printed sum would
//!   diverge: its terms are at least r. With Q as printed, S multiplies both terms of Q. Then Q
//!   does not sum to 1 and shrinks each round: the sum is finite, and means nothing.
//!
//! **Still not right.** It takes the times of the messages as independent of who sent them, and who
//! reaches a round as independent of who else does. Without loss it should give H_N and does not;
//! and from three processes in the second round on, it disagrees with the exact Q(i,i,r). Beside
//! simulation it is too high in large groups (at l = .4 by 45 % for 100 processes and 165 % for
//! 1000), and a little too low in small ones with heavy loss (at .9 by 1 to 2 % up to 20). For
//! small groups and l from .7 on it is as good as the [`closure`](super::closure), which is what to
//! use elsewhere.
//!
//! *Assumes* Δ = 0 and T_A ≥ T_S.

use super::chain::Chain;
use super::closure::{needs_no_delay, needs_own_losses};
use super::sums::any_of;
use crate::inputs::{OutOfDomain, ValidInputs};
use crate::quantity::{Quantity, Unit};
use bellwether_protocols::announce_listen::announcements_beyond_first;
use libm::pow;

/// The largest group for which the recurrence is computed: each round takes N² steps.
pub const NODES_MAX: u32 = 2000;

/// The latest round for which Q and S are computed.
pub const ROUND_MAX: u32 = 10_000;

fn needs_domain(inputs: &ValidInputs) -> Result<(), OutOfDomain> {
    needs_own_losses(inputs)?;
    needs_no_delay(inputs)?;
    inputs.needs_nodes(1, NODES_MAX)?;
    if inputs.round > ROUND_MAX {
        let rule = "the recurrence is computed for rounds up to 10000 only";
        return Err(OutOfDomain::Condition { rule, way_out: "choose an earlier round" });
    }
    Ok(())
}

/// a_i for uniform P: the mean probability that i messages at independent times do not silence.
fn unheard(i: usize, l: f64) -> f64 {
    let i = i as f64 + 1.0;
    any_of(1.0 - l, i) / (i * (1.0 - l))
}

/// The largest group for which the printed total is summed: every round takes N² steps.
const SUMMED_MAX: u32 = 500;

/// The printed total with the printed Q, letter by letter but for q, which is read as 1.
///
/// # Errors
/// [`OutOfDomain`], outside the domain.
pub fn printed(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    needs_domain(inputs)?;
    inputs.needs_nodes(2, SUMMED_MAX)?;
    let mut total = 0.0;
    let nodes = inputs.nodes as usize;
    literal_rounds(nodes, inputs.loss.rate(), |round, row, _| {
        let sent: f64 = (1..nodes).map(|i| i as f64 * row[i]).sum();
        let term = f64::from(round) * sent;
        total += term;
        round < ROUND_MAX && (round < 3 || term > 1e-13 * total)
    });
    Ok(total)
}

/// The total, mended.
///
/// # Errors
/// [`OutOfDomain`], outside the domain or for a single process.
pub fn corrected(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    needs_domain(inputs)?;
    inputs.needs_nodes(2, NODES_MAX)?;
    let l = inputs.loss.rate();
    let leader = 1.0 + announcements_beyond_first(u64::from(inputs.nodes - 1), l);
    let (mut group, mut others) = (Rounds::new(inputs), 0.0);
    loop {
        let sent = group.next_round().mean(|i| i as f64 - 1.0);
        others += sent;
        if sent < 1e-13 * others.max(1.0) {
            return Ok(leader + others);
        }
    }
}

/// Σ_i i·Q(i,N,1), of which the print leaves out i = N: messages in [0, T_S].
///
/// # Errors
/// [`OutOfDomain`], outside the domain.
pub fn first_round_messages(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    needs_domain(inputs)?;
    let row = literal_first(inputs.nodes as usize, inputs.loss.rate());
    Ok((1..inputs.nodes as usize).map(|i| i as f64 * row[i]).sum())
}

/// The mended recurrence, round by round.
struct Rounds {
    /// S(n, r) of the next round, from n = 1 on, as far as it is worth counting.
    reaches: Vec<f64>,
    unheard: Vec<f64>,
    lost: Vec<f64>,
}

impl Rounds {
    fn new(inputs: &ValidInputs) -> Self {
        let (l, n) = (inputs.loss.rate(), inputs.nodes as usize);
        Self {
            reaches: vec![1.0; n],
            unheard: (0..=n).map(|i| unheard(i, l)).collect(),
            lost: (0..=n).map(|i| pow(l, i as f64)).collect(),
        }
    }

    /// Q(·, N, r) of the next round; S moves on by a round.
    fn next_round(&mut self) -> Chain {
        let mut sent = Chain::at(0);
        for reach in &mut self.reaches {
            let survives = sent.mean(|i| self.lost[i]);
            let here = *reach;
            sent.step(|i| here * self.unheard[i]);
            *reach *= survives;
        }
        // S falls with n: nobody behind one who does not reach a round reaches it.
        let there = self.reaches.iter().take_while(|reach| **reach > 1e-20).count();
        self.reaches.truncate(there);
        sent
    }
}

/// Q(i, n, r) mended.
///
/// # Errors
/// [`OutOfDomain`], outside the domain or if more messages are asked for than there are processes.
pub fn q(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let sent = needs_sent(inputs)?;
    let mut group = Rounds::new(inputs);
    let mut round = group.next_round();
    for _ in 1..inputs.round {
        round = group.next_round();
    }
    Ok(round.counts().find(|(count, _)| *count == sent).map_or(0.0, |(_, chance)| chance))
}

/// S(n, r) mended.
///
/// # Errors
/// [`OutOfDomain`], outside the domain.
pub fn s(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    needs_domain(inputs)?;
    let mut group = Rounds::new(inputs);
    for _ in 1..inputs.round {
        group.next_round();
    }
    Ok(group.reaches.get(inputs.nodes as usize - 1).copied().unwrap_or(0.0))
}

/// i of Q(i, n, r), which is at most n.
fn needs_sent(inputs: &ValidInputs) -> Result<usize, OutOfDomain> {
    needs_domain(inputs)?;
    if inputs.sent > inputs.nodes {
        let rule = "sent must be at most nodes: nobody sends twice in a round";
        return Err(OutOfDomain::Condition { rule, way_out: "choose fewer sent or more nodes" });
    }
    Ok(inputs.sent as usize)
}

/// Q(i, i, r) as printed: l^{r·i(i−1)/2}.
fn literal_all(i: usize, r: u32, l: f64) -> f64 {
    let pairs = i as f64 * (i as f64 - 1.0) / 2.0;
    if pairs == 0.0 { 1.0 } else { pow(l, f64::from(r) * pairs) }
}

/// Q(·, n) of the print, the first round: Q(0, n) = 0, Q(i, i) as printed.
fn literal_first(n: usize, l: f64) -> Vec<f64> {
    literal(n, 1, l).0
}

/// Q(·, n, r) and S(n, r) letter by letter, q read as 1.
fn literal(n: usize, r: u32, l: f64) -> (Vec<f64>, f64) {
    let mut found = (Vec::new(), 1.0);
    literal_rounds(n, l, |round, row, reach| {
        if round == r {
            found = (row.to_vec(), reach);
        }
        round < r
    });
    found
}

/// The same for one round after the other, while `more` asks for them.
fn literal_rounds(n: usize, l: f64, mut more: impl FnMut(u32, &[f64], f64) -> bool) {
    let late = |i: usize| pow(1.0 - l, i as f64) / (i as f64 + 1.0);
    let survive = |row: &[f64]| -> f64 {
        row.iter().enumerate().skip(1).map(|(i, q)| q * pow(l, i as f64)).sum()
    };
    // rows[m] = Q(·, m, round), reaches[m] = S(m, round).
    let mut rows: Vec<Vec<f64>> = vec![vec![0.0]];
    for m in 1..=n {
        let before = &rows[m - 1];
        let inner =
            |i: usize| unheard(i - 1, l) * before[i - 1] + (1.0 - unheard(i, l)) * before[i];
        let mut row: Vec<f64> = (0..m).map(|i| if i == 0 { 0.0 } else { inner(i) }).collect();
        row.push(literal_all(m, 1, l));
        rows.push(row);
    }
    let mut reaches = vec![1.0; n + 1];
    let mut round = 1;
    while more(round, &rows[n], reaches[n]) {
        round += 1;
        let mut next: Vec<Vec<f64>> = vec![vec![0.0]];
        for m in 1..=n {
            let before = &rows[m - 1];
            let inner =
                |i: usize| reaches[m] * (unheard(i - 1, l) * before[i - 1] + late(i) * before[i]);
            let mut row: Vec<f64> = (0..m).map(|i| if i == 0 { 0.0 } else { inner(i) }).collect();
            row.push(literal_all(m, round, l));
            next.push(row);
        }
        for m in 1..=n {
            reaches[m] *= survive(&rows[m - 1]);
        }
        rows = next;
    }
}

/// The work of reading the print letter by letter: N² steps for every round.
fn needs_few_steps(inputs: &ValidInputs) -> Result<(), OutOfDomain> {
    let steps = u64::from(inputs.nodes).pow(2) * u64::from(inputs.round);
    if steps <= 20_000_000 {
        return Ok(());
    }
    let rule = "the printed recurrence is computed for nodes^2 * round <= 20000000 only";
    Err(OutOfDomain::Condition { rule, way_out: "choose fewer nodes or an earlier round" })
}

/// Q(i, n, r) as printed, letter by letter but for q, which is read as 1.
///
/// # Errors
/// [`OutOfDomain`], outside the domain.
pub fn printed_q(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let sent = needs_sent(inputs)?;
    needs_few_steps(inputs)?;
    let (row, _) = literal(inputs.nodes as usize, inputs.round, inputs.loss.rate());
    Ok(row[sent])
}

/// S(n, r) as printed.
///
/// # Errors
/// [`OutOfDomain`], outside the domain.
pub fn printed_s(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    needs_domain(inputs)?;
    needs_few_steps(inputs)?;
    let (_, reaches) = literal(inputs.nodes as usize, inputs.round, inputs.loss.rate());
    Ok(reaches)
}

/// `le-s.recurrence`.
pub(super) const TOTAL: Quantity = Quantity {
    name: "le-s.recurrence",
    section: "5.3.3.3",
    about: "messages of LE-S until convergence by the recurrence of the text",
    unit: Unit::Messages,
    reads: &["nodes", "loss", "delay", "suppress", "announce"],
    printed,
    corrected,
    note: |_| {
        "with the printed Q, which is no probability, the sum is finite and wrong; mended it takes \
         send times as independent: too high in large groups, see le-s.closure"
    },
    exact: |_| false,
    is_percentile: false,
    simulation: super::closure::simulation,
};

/// `le-s.recurrence.q`.
pub(super) const Q: Quantity = Quantity {
    name: "le-s.recurrence.q",
    about: "Q(i, n, r): probability that n processes send i messages in round r",
    unit: Unit::Fraction,
    reads: &["nodes", "loss", "delay", "suppress", "announce", "round", "sent"],
    printed: printed_q,
    corrected: q,
    note: |_| {
        "printed letter by letter, q as 1: a round refers to the one before, and Q(i,i,r) \
         leaves out messages that come too late"
    },
    simulation: |_| None,
    ..TOTAL
};

/// `le-s.recurrence.s`.
pub(super) const S: Quantity = Quantity {
    name: "le-s.recurrence.s",
    about: "S(n, r): probability that the process behind n - 1 greater ones reaches round r",
    reads: &["nodes", "loss", "delay", "suppress", "announce", "round"],
    printed: printed_s,
    corrected: s,
    note: |_| "the printed sum begins with i = 1, so that the leader itself never reaches round 2",
    ..Q
};

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_near, float, inputs, rational};
    use super::*;
    use crate::{Inputs, Loss};
    use num_rational::BigRational;

    fn at(nodes: u32, l: f64, round: u32, sent: u32) -> ValidInputs {
        inputs(nodes, Loss::Uncorrelated(l), |given| {
            (given.delay, given.round, given.sent) = (0.0, round, sent);
        })
    }

    /// The first rounds of the printed total: Σ_{r≤rounds} Σ_i i·r·Q(i,N,r), typing errors mended.
    fn printed_up_to(inputs: &ValidInputs, rounds: u32) -> f64 {
        let mut group = Rounds::new(inputs);
        (1..=rounds).map(|r| f64::from(r) * group.next_round().mean(|i| i as f64)).sum()
    }

    /// Q(n, n, r) exactly: all of n send in round r.
    fn all_send(inputs: &ValidInputs) -> f64 {
        let (n, l) = (inputs.nodes as usize, inputs.loss.rate());
        let in_time: f64 = (0..n).map(|i| unheard(i, l)).product();
        in_time * literal_all(n, inputs.round - 1, l)
    }

    /// a_i for l = 2/5.
    fn unheard_exactly(i: usize) -> BigRational {
        let (one, l) = (rational(1, 1), rational(2, 5));
        (&one - l.pow(i as i32 + 1)) / (rational(i as i128 + 1, 1) * (&one - &l))
    }

    /// Q(i, n, r) and S(n, r) of our reading, in exact arithmetic, straight from the equations.
    fn q_exactly(i: usize, n: usize, r: u32) -> BigRational {
        if i > n {
            return rational(0, 1);
        }
        if n == 0 {
            return rational(1, 1);
        }
        let here = s_exactly(n, r);
        let sends = if i == 0 {
            rational(0, 1)
        } else {
            &here * unheard_exactly(i - 1) * q_exactly(i - 1, n - 1, r)
        };
        sends + (rational(1, 1) - here * unheard_exactly(i)) * q_exactly(i, n - 1, r)
    }

    fn s_exactly(n: usize, r: u32) -> BigRational {
        if n == 1 || r == 1 {
            return rational(1, 1);
        }
        let lost = (0..n).map(|i| q_exactly(i, n - 1, r - 1) * rational(2, 5).pow(i as i32));
        s_exactly(n, r - 1) * lost.fold(rational(0, 1), |sum, term| sum + term)
    }

    #[test]
    fn mended_it_is_what_the_equations_say() {
        for n in 1..=4u32 {
            for r in 1..=3 {
                let expected = float(&s_exactly(n as usize, r));
                assert_near(s(&at(n, 0.4, r, 0)).unwrap(), expected, 1e-12);
                for i in 0..=n {
                    let expected = float(&q_exactly(i as usize, n as usize, r));
                    let got = q(&at(n, 0.4, r, i)).unwrap();
                    assert!((got - expected).abs() < 1e-13, "{i} {n} {r}: {got} {expected}");
                }
            }
        }
    }

    /// Who is heard in time, by all orders of wake-up of three processes: the product over all of
    /// l^{greater ones that woke before}.
    #[test]
    fn that_all_send_is_likelier_than_printed() {
        let l = 0.4f64;
        let before =
            [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]].map(|order| {
                let pairs = [(0, 1), (0, 2), (1, 2)];
                let place = |who| order.iter().position(|other| *other == who);
                pairs.iter().filter(|(greater, less)| place(*greater) < place(*less)).count()
            });
        let first: f64 = before.iter().map(|lost| l.powi(*lost as i32)).sum::<f64>() / 6.0;
        for round in 1..=3u32 {
            let three = at(3, l, round, 3);
            let exact = all_send(&three);
            assert_near(exact, first * l.powi(3 * (round as i32 - 1)), 1e-12);
            assert_near(printed_q(&three).unwrap(), l.powi(3 * round as i32), 1e-12);
            assert!(exact > 1.5 * printed_q(&three).unwrap());
            if round == 1 {
                assert_near(q(&three).unwrap(), exact, 1e-12);
            } else {
                assert!(q(&three).unwrap() > 1.4 * exact, "others are not independent");
            }
            let two = at(2, l, round, 2);
            assert_near(q(&two).unwrap(), all_send(&two), 1e-12);
        }
    }

    #[test]
    fn mended_it_is_a_distribution_and_printed_it_is_not() {
        let all = |of: fn(&ValidInputs) -> Result<f64, OutOfDomain>, r| -> f64 {
            (0..=6).map(|i| of(&at(6, 0.4, r, i)).unwrap()).sum()
        };
        for r in 1..=4 {
            assert_near(all(q, r), 1.0, 1e-12);
            assert!(all(printed_q, r) < 0.9, "round {r}");
        }
        assert!(all(printed_q, 4) < 0.1 * all(printed_q, 1), "it dies out");
        // By hand for two processes, first round: (1−l)/2 and l.
        assert_near(printed_q(&at(2, 0.4, 1, 1)).unwrap(), 0.3, 1e-14);
        assert_near(printed_q(&at(2, 0.4, 1, 2)).unwrap(), 0.4, 1e-14);
        assert_near(first_round_messages(&at(2, 0.4, 1, 0)).unwrap(), 0.3, 1e-14);
    }

    /// The sum over an empty set of greater processes.
    #[test]
    fn the_printed_leader_does_not_survive_the_first_round() {
        assert_eq!(printed_s(&at(1, 0.4, 2, 0)), Ok(0.0));
        assert_eq!(s(&at(1, 0.4, 2, 0)), Ok(1.0));
        // For the second the leader's message is what counts, and both forms agree.
        assert_near(printed_s(&at(2, 0.4, 2, 0)).unwrap(), 0.4, 1e-14);
        assert_near(s(&at(2, 0.4, 2, 0)).unwrap(), 0.4, 1e-14);
    }

    #[test]
    fn with_q_mended_the_printed_total_would_grow_without_end() {
        let group = at(10, 0.4, 1, 0);
        let up_to = |rounds: u32| printed_up_to(&group, rounds);
        for rounds in [10, 100, 1000] {
            assert!(up_to(rounds) >= f64::from(rounds) * f64::from(rounds + 1) / 2.0);
        }
        assert!(corrected(&group).unwrap() < 20.0);
    }

    /// An independent computation gave 3.5675 for five processes.
    #[test]
    fn with_q_as_printed_the_total_is_finite() {
        let group = at(5, 0.4, 1, 0);
        assert_near(printed(&group).unwrap(), 3.5675, 5e-5);
        let term = |r: u32| -> f64 {
            let (row, _) = literal(5, r, 0.4);
            f64::from(r) * (1..5).map(|i| i as f64 * row[i]).sum::<f64>()
        };
        assert_near(printed(&group).unwrap(), (1..=100).map(term).sum(), 1e-9);
        assert!(printed(&group).unwrap() < corrected(&group).unwrap());
        assert!(matches!(printed(&at(501, 0.4, 1, 0)), Err(OutOfDomain::Nodes { .. })));
    }

    /// Without loss H_N would be right.
    #[test]
    fn even_mended_it_is_too_high_for_many_processes() {
        let harmonic: f64 = (1..=1000).map(|k| 1.0 / f64::from(k)).sum();
        let lossless = corrected(&at(1000, 0.0, 1, 0)).unwrap();
        assert!(lossless > 2.0 * harmonic, "{lossless} {harmonic}");
        let closure = super::super::closure::messages(&at(1000, 0.4, 1, 0)).unwrap();
        assert!(corrected(&at(1000, 0.4, 1, 0)).unwrap() > 1.5 * closure);
    }

    /// For two processes nothing is approximate about it.
    #[test]
    fn for_two_processes_it_is_exact() {
        for l in [0.0, 0.4, 0.9] {
            let exact = 1.0 / (1.0 - l) + (1.0 + l) / 2.0 / (1.0 - l);
            assert_near(corrected(&at(2, l, 1, 0)).unwrap(), exact, 1e-11);
        }
    }

    #[test]
    fn outside_its_domain_there_is_no_value() {
        let condition = |result| matches!(result, Err(OutOfDomain::Condition { .. }));
        assert!(condition(q(&at(3, 0.4, 1, 4))));
        assert!(condition(printed_q(&at(3, 0.4, 1, 4))));
        assert!(condition(s(&at(3, 0.4, ROUND_MAX + 1, 0))));
        assert!(condition(printed_q(&at(2000, 0.4, 100, 4))), "too much work");
        let late = inputs(3, Loss::Uncorrelated(0.4), |given: &mut Inputs| given.delay = 0.1);
        assert!(condition(corrected(&late)));
        let together = inputs(5, Loss::Correlated(0.4), |given| given.delay = 0.0);
        assert!(condition(corrected(&together)), "another model of loss");
        let many = corrected(&at(NODES_MAX + 1, 0.4, 1, 0));
        assert!(matches!(many, Err(OutOfDomain::Nodes { most: NODES_MAX, .. })));
    }
}
