//! Messages of LE-A, which is LE-S with T_S = 0, and of AL, until the group has converged.
//!
//! Section 5.3.3 has no formula for LE-A beyond "N messages" (section 5.1.1), right for one round
//! without loss, and none for AL. Ours:
//!
//! * LE-A, nothing lost or all losing together: the process behind k greater ones sends ⌈Δ/T_A⌉
//!   times before it can hear, then once more for each round in which all k were lost: 1/(1−l) +
//!   Σ_{k=1..N−1} 1/(1−l^k) for Δ ≤ T_A. Our reading has this as the recursion
//!   f(n)(1−l^n−l^{n−1}(1−l)) = n + Σ_{j=1..n−2} l^j(1−l) f(j+1), which it solves.
//! * LE-A, each losing for itself: of n that announce at once the one behind p greater ones goes on
//!   with probability l^p, each for itself; so how many announce is a chain. The leader's own are
//!   1 + X(N−1). Holds for 0 < Δ ≤ T_A.
//! * AL: everybody announces as often as the leader needs, N·(1 + X(N−1)), with l/(1−l) in place of
//!   X if all lose together; ⌈Δ/T_A⌉ − 1 more of each while the last is under way.

use super::chain::Chain;
use super::point_of;
use super::sums::overrun;
use crate::inputs::{Loss, OutOfDomain, ValidInputs};
use crate::quantity::{Quantity, Unit};
use bellwether_protocols::announce_listen::{Variant, announcements_beyond_first};
use bellwether_sim::Measure;
use libm::{log, pow};

/// N, as section 5.1.1 says of the first round and, without loss, of all.
///
/// # Errors
/// [`OutOfDomain::NoValue`] with loss, where the text has no formula.
pub fn printed(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    inputs.needs_nodes(2, u32::MAX)?;
    match inputs.loss {
        Loss::None => Ok(f64::from(inputs.nodes)),
        _ => Err(OutOfDomain::NoValue("the text says N messages without loss, and nothing with")),
    }
}

/// Messages of LE-A until the group has converged.
///
/// # Errors
/// [`OutOfDomain`], for a single process, for Δ = 0, and with uncorrelated loss for Δ > T_A.
pub fn corrected(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    inputs.needs_nodes(2, u32::MAX)?;
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
pub(super) fn others_together(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    needs_a_delay(inputs)?;
    let l = inputs.loss.rate();
    let others = inputs.nodes - 1;
    let (mut sum, mut power) = (0.0, 1.0);
    for _ in 0..others {
        power *= l;
        if power < 1e-20 {
            break;
        }
        sum += power / (1.0 - power);
    }
    Ok(f64::from(others) * (1.0 + overrun(inputs)) + sum)
}

/// The same, each losing for itself.
fn others_apart(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    needs_a_delay(inputs)?;
    if inputs.delay > inputs.announce {
        let rule = "with uncorrelated loss this holds for delay <= announce";
        let way_out = "raise `announce` or lower `delay`";
        return Err(OutOfDomain::Condition { rule, way_out });
    }
    let l = inputs.loss.rate();
    // A process behind more than this many goes on with a probability below 1e-18.
    let far = if l == 0.0 { 1.0 } else { (-42.0 / log(l)).max(1.0) };
    let mut left = Chain::at(1);
    for place in 1..inputs.nodes.min(far as u32 + 1) {
        let lost = pow(l, f64::from(place));
        left.step(|_| lost);
    }
    let others = others_by_announcers(l, left.most());
    Ok(f64::from(inputs.nodes - 1) + left.mean(|count| others[count]))
}

/// All announce at the same moment: without a delay the order of events would decide.
fn needs_a_delay(inputs: &ValidInputs) -> Result<(), OutOfDomain> {
    if inputs.delay > 0.0 {
        return Ok(());
    }
    let rule = "delay = 0, but all announce at once, and a message must take time to be later";
    Err(OutOfDomain::Condition { rule, way_out: "choose a delay above 0" })
}

/// others[n] for n up to `most`: the messages of all but the leader from a round on in which n
/// announce. How many of them go on is a sum of independent yes and no; the leader does.
fn others_by_announcers(l: f64, most: usize) -> Vec<f64> {
    let mut others = vec![0.0, 0.0];
    let (mut left, mut lost) = (Chain::at(1), 1.0);
    for n in 2..=most {
        lost *= l;
        left.step(|_| lost);
        let later = left.mean(|count| if count < n { others[count] } else { 0.0 });
        // All may announce again, any number of times.
        let stays = left.mean(|count| if count < n { 0.0 } else { 1.0 });
        others.push(((n - 1) as f64 + later) / (1.0 - stays));
    }
    others
}

/// Messages of AL until the group has converged.
///
/// # Errors
/// [`OutOfDomain`], for a single process.
pub fn al(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    inputs.needs_nodes(2, u32::MAX)?;
    let l = inputs.loss.rate();
    let beyond = match inputs.loss {
        Loss::Uncorrelated(_) => announcements_beyond_first(u64::from(inputs.nodes - 1), l),
        _ => l / (1.0 - l),
    };
    Ok(f64::from(inputs.nodes) * (1.0 + beyond + overrun(inputs)))
}

fn note(inputs: &ValidInputs) -> &'static str {
    match inputs.loss {
        Loss::None => "all announce once",
        Loss::Correlated(_) => "nothing is printed; exact, 1/(1-l) + sum of 1/(1-l^k), k < N",
        Loss::Uncorrelated(_) => "nothing is printed; exact, a chain over how many announce",
    }
}

/// `le-a.messages`.
pub(super) const LE_A: Quantity = Quantity {
    name: "le-a.messages",
    section: "5.1.1, 5.3.3",
    about: "messages that LE-A sends until all have heard the leader",
    unit: Unit::Messages,
    reads: &["nodes", "loss", "loss-model", "delay", "announce"],
    printed,
    corrected,
    note,
    exact: |_| true,
    is_percentile: false,
    simulation: |inputs| {
        Some((point_of(Variant::LeA, inputs).listen(f64::INFINITY), Measure::Messages))
    },
};

/// `le-a.messages-in-first-round`.
pub(super) const FIRST_ROUND: Quantity = Quantity {
    name: "le-a.messages-in-first-round",
    section: "5.1.1",
    about: "processes of LE-A that announce themselves at the start: all of them",
    reads: &["nodes", "loss", "loss-model", "delay", "announce"],
    printed: |inputs| Ok(f64::from(inputs.nodes)),
    corrected: |inputs| {
        inputs.needs_nodes(2, u32::MAX)?;
        needs_a_delay(inputs)?;
        Ok(f64::from(inputs.nodes))
    },
    note: |_| "nobody has heard anybody yet: N, whatever is lost",
    simulation: |inputs| {
        let point = point_of(Variant::LeA, inputs).listen(f64::INFINITY);
        Some((point, Measure::MessagesInFirstRound))
    },
    ..LE_A
};

/// `al.messages`.
pub(super) const AL: Quantity = Quantity {
    name: "al.messages",
    section: "5.4.2",
    about: "messages that AL sends until all have heard the leader",
    printed: |_| Err(OutOfDomain::NoValue("the text says that all send in every round, no more")),
    corrected: al,
    note: |_| "nothing is printed; all send as often as the leader needs",
    simulation: |inputs| {
        Some((point_of(Variant::Al, inputs).listen(f64::INFINITY), Measure::Messages))
    },
    ..LE_A
};

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_near, float, inputs, rational};
    use super::*;
    use num_rational::BigRational;

    /// Our reading's f(n), in exact arithmetic, for l = 2/5.
    fn by_recursion(nodes: usize) -> BigRational {
        let (one, l) = (rational(1, 1), rational(2, 5));
        let power = |j: usize| l.pow(j as i32);
        let mut f = vec![rational(0, 1), one.clone()];
        for n in 2..=nodes {
            let fewer = (1..n - 1).map(|j| power(j) * (&one - &l) * &f[j + 1]);
            let sum = fewer.fold(rational(n as i128, 1), |sum, term| sum + term);
            f.push(sum / (&one - power(n) - power(n - 1) * (&one - &l)));
        }
        f[nodes].clone()
    }

    #[test]
    fn the_sum_solves_the_recursion() {
        for nodes in [2, 3, 4, 20] {
            let at = inputs(nodes, Loss::Correlated(0.4), |_| ());
            assert_near(corrected(&at).unwrap(), float(&by_recursion(nodes as usize)), 1e-14);
        }
    }

    /// Every set of survivors of every round, for a few processes: which bits are left of `set`.
    fn by_enumeration(nodes: u32, l: f64) -> f64 {
        let mut chance = vec![0.0; 1 << nodes];
        chance[(1 << nodes) - 1] = 1.0;
        let mut messages = 0.0;
        for _ in 0..2000 {
            let mut next = vec![0.0; 1 << nodes];
            for set in (0..1usize << nodes).filter(|set| chance[*set] > 0.0) {
                messages += chance[set] * f64::from((set >> 1).count_ones());
                for left in (0..=set).filter(|left| left & !set == 0 && left & 1 == 1) {
                    let goes = |p: u32| {
                        let greater = (set & ((1 << p) - 1)).count_ones();
                        let on = l.powi(greater as i32);
                        if left >> p & 1 == 1 { on } else { 1.0 - on }
                    };
                    let of: f64 = (0..nodes).filter(|p| set >> p & 1 == 1).map(goes).product();
                    next[left] += chance[set] * of;
                }
            }
            chance = next;
        }
        messages + 1.0 + announcements_beyond_first(u64::from(nodes) - 1, l)
    }

    #[test]
    fn the_chain_is_the_enumeration() {
        for l in [0.1, 0.4, 0.9] {
            for nodes in 2..=5 {
                let at = inputs(nodes, Loss::Uncorrelated(l), |_| ());
                assert_near(corrected(&at).unwrap(), by_enumeration(nodes, l), 1e-9);
            }
        }
    }

    /// Where nobody is left out: the same chain to the last of N.
    #[test]
    fn leaving_out_the_last_in_line_changes_nothing() {
        for (l, nodes) in [(0.4, 300), (0.9, 1500)] {
            let at = inputs(nodes, Loss::Uncorrelated(l), |_| ());
            let whole = others_by_announcers(l, nodes as usize)[nodes as usize];
            assert_near(others_apart(&at).unwrap(), whole, 1e-12);
        }
    }

    #[test]
    fn more_loss_and_losing_apart_cost_more() {
        for nodes in [3, 1000, 1_000_000] {
            let mut before = f64::from(nodes);
            for l in [0.1, 0.5, 0.9, 0.99] {
                let together = corrected(&inputs(nodes, Loss::Correlated(l), |_| ())).unwrap();
                let apart = corrected(&inputs(nodes, Loss::Uncorrelated(l), |_| ())).unwrap();
                assert!(before < together && together < apart && apart.is_finite(), "{nodes} {l}");
                before = together;
            }
        }
    }

    #[test]
    fn al_sends_n_times_what_its_leader_needs() {
        let of = |loss| al(&inputs(3, loss, |_| ())).unwrap();
        assert_near(of(Loss::None), 3.0, 1e-15);
        assert_near(of(Loss::Correlated(0.5)), 6.0, 1e-15);
        // X(2) at l = 1/2: 2/(1−1/2) − 1/(1−1/4) − 1 = 5/3.
        assert_near(of(Loss::Uncorrelated(0.5)), 8.0, 1e-14);
        let slow = inputs(3, Loss::None, |given| given.delay = 2.5);
        assert_near(al(&slow).unwrap(), 9.0, 1e-15);
    }

    #[test]
    fn outside_its_domain_there_is_no_value() {
        let condition = |result| matches!(result, Err(OutOfDomain::Condition { .. }));
        assert!(condition(corrected(&inputs(3, Loss::None, |given| given.delay = 0.0))));
        let slow = |loss| corrected(&inputs(3, loss, |given| given.delay = 1.5));
        assert!(condition(slow(Loss::Uncorrelated(0.4))));
        assert!(slow(Loss::Correlated(0.4)).is_ok());
        let one = inputs(1, Loss::None, |_| ());
        for formula in [printed, corrected, al] {
            assert!(matches!(formula(&one), Err(OutOfDomain::Nodes { least: 2, .. })));
        }
        let lossy = printed(&inputs(3, Loss::Correlated(0.4), |_| ()));
        assert!(matches!(lossy, Err(OutOfDomain::NoValue(_))));
    }
}
