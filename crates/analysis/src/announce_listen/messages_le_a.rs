//! Messages of LE-A, which is LE-S with T_S = 0, and of AL, until the group has converged.
//!
//! Section 5.3.3 has no formula for LE-A beyond "N messages" (section 5.1.1), right for one round
//! without loss, and none for AL. Ours:
//!
//! * LE-A, nothing lost or all losing together: the process behind k greater ones sends ⌈Δ/T_A⌉ times
//!   before it can hear, then once more for each round in which all k were lost:
//!   1/(1−l) + Σ_{k=1..N−1} 1/(1−l^k) for Δ ≤ T_A. Our reading has this as the recursion
//!   f(n)(1−l^n−l^{n−1}(1−l)) = n + Σ_{j=1..n−2} l^j(1−l) f(j+1), which it solves.
//! * LE-A, each losing for itself: of n that announce at once the one behind p greater ones goes on
//!   with probability l^p, each for itself; so how many announce is a chain. The leader's own are
//!   1 + X(N−1). Holds for 0 < Δ ≤ T_A.
//! * AL: everybody announces as often as the leader needs, N·(1 + X(N−1)), with l/(1−l) in place of
//!   X if all lose together; ⌈Δ/T_A⌉ − 1 more of each while the last is under way.

use super::chain::Chain;
use super::sums::overrun;
use crate::cell::Cell;
use crate::quantity::{Quantity, Unit};
use crate::setting::{Loss, OutOfDomain, Setting};
use bellwether_protocols::announce_listen::{Variant, announcements_beyond_first};
use bellwether_sim::Measure;
use libm::{log, pow};

/// N, as section 5.1.1 says of the first round and, without loss, of all.
///
/// # Errors
/// [`OutOfDomain::NoValue`] with loss, where the text has no formula.
pub fn printed(setting: &Setting) -> Result<f64, OutOfDomain> {
    setting.needs_nodes(2, u32::MAX)?;
    match setting.loss {
        Loss::None => Ok(f64::from(setting.nodes)),
        _ => Err(OutOfDomain::NoValue("the text says N messages without loss, and nothing with")),
    }
}

/// Messages of LE-A until the group has converged.
///
/// # Errors
/// [`OutOfDomain`], for a single process, for Δ = 0, and with uncorrelated loss for Δ > T_A.
pub fn corrected(setting: &Setting) -> Result<f64, OutOfDomain> {
    setting.needs_nodes(2, u32::MAX)?;
    let l = setting.loss.rate();
    match setting.loss {
        Loss::Uncorrelated(_) if setting.nodes > 2 => {
            let leader = 1.0 + announcements_beyond_first(u64::from(setting.nodes - 1), l);
            Ok(leader + others_apart(setting)?)
        }
        _ => Ok(1.0 / (1.0 - l) + overrun(setting) + others_together(setting)?),
    }
}

/// The messages of all but the leader, nothing lost or all losing together.
pub(super) fn others_together(setting: &Setting) -> Result<f64, OutOfDomain> {
    needs_a_delay(setting)?;
    let l = setting.loss.rate();
    let others = setting.nodes - 1;
    let (mut sum, mut power) = (0.0, 1.0);
    for _ in 0..others {
        power *= l;
        if power < 1e-20 {
            break;
        }
        sum += power / (1.0 - power);
    }
    Ok(f64::from(others) * (1.0 + overrun(setting)) + sum)
}

/// The same, each losing for itself.
fn others_apart(setting: &Setting) -> Result<f64, OutOfDomain> {
    needs_a_delay(setting)?;
    if setting.delay > setting.announce {
        let rule = "with uncorrelated loss this holds for delay <= announce";
        let way_out = "raise --announce or lower --delay, or simulate";
        return Err(OutOfDomain::Condition { rule, way_out });
    }
    let l = setting.loss.rate();
    // Whoever is behind more than this many goes on with a probability below 1e-18.
    let far = if l == 0.0 { 1.0 } else { (-42.0 / log(l)).max(1.0) };
    let mut left = Chain::at(1);
    for place in 1..setting.nodes.min(far as u32 + 1) {
        let lost = pow(l, f64::from(place));
        left.step(|_| lost);
    }
    let others = others_by_announcers(l, left.most());
    Ok(f64::from(setting.nodes - 1) + left.mean(|count| others[count]))
}

/// All announce at the same moment: without a delay the order of events would decide.
fn needs_a_delay(setting: &Setting) -> Result<(), OutOfDomain> {
    if setting.delay > 0.0 {
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
pub fn al(setting: &Setting) -> Result<f64, OutOfDomain> {
    setting.needs_nodes(2, u32::MAX)?;
    let l = setting.loss.rate();
    let beyond = match setting.loss {
        Loss::Uncorrelated(_) => announcements_beyond_first(u64::from(setting.nodes - 1), l),
        _ => l / (1.0 - l),
    };
    Ok(f64::from(setting.nodes) * (1.0 + beyond + overrun(setting)))
}

fn note(setting: &Setting) -> &'static str {
    match setting.loss {
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
    simulation: |setting| {
        Some((Cell::of(Variant::LeA, setting).listen(f64::INFINITY), Measure::Messages))
    },
};

/// `al.messages`.
pub(super) const AL: Quantity = Quantity {
    name: "al.messages",
    section: "5.4.2",
    about: "messages that AL sends until all have heard the leader",
    printed: |_| Err(OutOfDomain::NoValue("the text says that all send in every round, no more")),
    corrected: al,
    note: |_| "nothing is printed; all send as often as the leader needs",
    simulation: |setting| {
        Some((Cell::of(Variant::Al, setting).listen(f64::INFINITY), Measure::Messages))
    },
    ..LE_A
};
