//! Hirschberg and Sinclair: a candidate asks ever greater neighbourhoods, on both sides.
//!
//! In phase k a candidate sends a probe each way. A greater process drops it, and the process 2^k
//! hops away answers. With both answers a candidate enters the next phase. The candidate whose
//! probe returns to it leads. The lecture says O(n log n) and no more.
//!
//! * The bound: at most ⌈n/(2^{k−1}+1)⌉ are greatest among 2^{k−1} on each side and enter phase k,
//!   each with at most 4·2^k messages; with 1 + ⌈log₂ n⌉ phases that is at most 8n(1 + ⌈log₂ n⌉).
//! * The mean over all orders, exactly. Of phase k let L = 2^k and D = L/2 (zero for k = 0). A
//!   process sends to its right for the j-th hop if it is the greatest of itself, D to its left and
//!   max(D, j−1) to its right: one in min(n, 1 + D + max(D, j−1)). Its answer comes back if it is
//!   the greatest of D and L: L messages, one in min(n, 1 + D + L). Where L ≥ n the probe returns
//!   after n hops and nobody answers. Both sides alike, and n for the announcement.
//!
//! The lecture's hop counter starts at 0 and ends at 2^k, and each process that passes the
//! message on increments it: so the process that answers is 2^k + 1 hops away. It must start at 1.
//! The mean with that counter, L = 2^k + 1 and D the L of the phase before, counts as printed.
//!
//! **Time.** The greatest gets its answers after 2·2^k in each phase with 2^k < n, whatever the
//! order; then n hops and n−1 for the announcement: with K = ⌈log₂ n⌉ it is (2(2^K − 1) + 2n − 1)Δ,
//! processing taking no time.

use super::count::{MESSAGES, TIME, all_call, group, timed, whole};
use crate::announce_listen::sums::harmonic_between;
use crate::inputs::{OutOfDomain, ValidInputs};
use crate::point::Point;
use crate::quantity::Quantity;
use bellwether_protocols::ring::Variant;
use bellwether_sim::{Measure, Order};

/// ⌈log₂ n⌉: the first phase in which a probe can return to its sender.
fn phases(n: u128) -> u32 {
    n.next_power_of_two().trailing_zeros()
}

/// 8n(1 + ⌈log₂ n⌉).
///
/// # Errors
/// [`OutOfDomain`] with losses, and for one process alone.
pub fn bound(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let n = group(inputs)?;
    Ok(whole(8 * n * (1 + u128::from(phases(n)))))
}

/// The messages, averaged over all orders of the ring, all being candidates.
///
/// # Errors
/// As [`bound`].
pub fn mean(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    mean_of(inputs, 0)
}

/// The same with the lecture's hop counter, by which a probe goes one hop too far.
///
/// # Errors
/// As [`bound`].
pub fn mean_printed(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    mean_of(inputs, 1)
}

/// If probes go so many hops too far.
fn mean_of(inputs: &ValidInputs, too_far: u32) -> Result<f64, OutOfDomain> {
    let n = inputs.nodes;
    let size = whole(group(inputs)?);
    let (mut settled, mut one_sided) = (0, 0.0);
    for phase in 0.. {
        let reach = (1 << phase) + too_far;
        one_sided += one_side(n, settled, reach);
        if reach >= n {
            break;
        }
        settled = reach;
    }
    Ok(size * (2.0 * one_sided + 1.0))
}

/// What a process sends to one side in the phase that reaches so far, the last one having reached
/// `settled`, and what comes back to it, on average.
fn one_side(n: u32, settled: u32, reach: u32) -> f64 {
    let last = reach.min(n);
    let one_in = |processes: u32| 1.0 / f64::from(processes.min(n));
    // For the first D + 1 hops it need only have come to this phase.
    let near = (settled + 1).min(last);
    let first = f64::from(near) * one_in(1 + 2 * settled);
    // Then, hop by hop, it must be greater than one more, until there are no more.
    let apart = last.min(n - settled).max(near);
    let further = harmonic_between(settled + near, settled + apart);
    let rest = f64::from(last - apart) * one_in(n);
    let answers = if reach < n { f64::from(reach) * one_in(1 + settled + reach) } else { 0.0 };
    first + further + rest + answers
}

/// How long it takes until all know the leader.
///
/// # Errors
/// As [`bound`].
pub fn time(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let n = group(inputs)?;
    let asked = 2 * ((1 << phases(n)) - 1);
    Ok(whole(asked + 2 * n - 1) * inputs.delay)
}

fn simulation(inputs: &ValidInputs) -> Option<(Point, Measure)> {
    Some((all_call(Variant::HirschbergSinclair, inputs, Order::Random)?, Measure::Messages))
}

/// The quantities of this file.
pub(super) const QUANTITIES: &[&Quantity] = &[
    &Quantity {
        name: "hirschberg-sinclair.messages.bound",
        section: "lecture, HS: background",
        about: "what Hirschberg-Sinclair sends at most, whatever the order",
        printed: |_| Err(OutOfDomain::NoValue("the lecture says O(n log n), without a formula")),
        corrected: bound,
        note: |_| "8n(1 + ⌈log2 n⌉): a bound for every order, not reached on average",
        exact: |_| false,
        simulation,
        ..MESSAGES
    },
    &Quantity {
        name: "hirschberg-sinclair.messages.mean",
        section: "lecture, HS: background",
        about: "what Hirschberg-Sinclair sends on average over all orders, all calling",
        printed: mean_printed,
        corrected: mean,
        note: |_| {
            "probes, replies and the announcement; printed: with the lecture's hop counter, which \
             starts at 0, so that a probe goes 2^k + 1 hops"
        },
        simulation,
        ..MESSAGES
    },
    &Quantity {
        name: "hirschberg-sinclair.time",
        section: "lecture, HS: election phases",
        about: "until all know the leader of Hirschberg-Sinclair, all calling, in any order",
        reads: &["nodes", "loss", "delay"],
        corrected: time,
        note: |_| "the greatest's phases, each twice as long as the one before, and the news",
        simulation: |inputs| timed(Variant::HirschbergSinclair, inputs),
        ..TIME
    },
];

#[cfg(test)]
mod tests {
    use super::super::testing::{inputs, orders};
    use super::*;

    /// One ring, probe by probe: what is sent, and in which phase the leader found itself.
    fn held(ring: &[usize], too_far: usize) -> (u128, u32) {
        let n = ring.len();
        let mut candidates: Vec<usize> = (0..n).collect();
        let mut sent = n as u128; // the announcement
        for phase in 0.. {
            let mut home = false;
            let mut answered = vec![0; n];
            for &candidate in &candidates {
                for step in [1, n - 1] {
                    let mut at = candidate;
                    for hop in 1..=(1 << phase) + too_far {
                        (at, sent) = ((at + step) % n, sent + 1);
                        if at == candidate {
                            home = true;
                            break;
                        }
                        if ring[at] > ring[candidate] {
                            break;
                        }
                        if hop == (1 << phase) + too_far {
                            sent += hop as u128;
                            answered[candidate] += 1;
                        }
                    }
                }
            }
            if home {
                return (sent, phase);
            }
            candidates.retain(|candidate| answered[*candidate] == 2);
        }
        unreachable!("some probe comes home")
    }

    #[test]
    fn the_mean_is_that_of_all_orders_and_none_exceeds_the_bound() {
        for n in 2..=8 {
            let at = inputs(n as u32, |_| ());
            let (bound, mut total, mut printed) = (bound(&at).unwrap(), 0, 0);
            let count = orders(n, |ring| {
                let (sent, phase) = held(ring, 0);
                printed += held(ring, 1).0;
                assert_eq!(phase, phases(n as u128));
                assert!(sent as f64 <= bound, "{ring:?}: {sent}");
                total += sent;
            });
            let (mean, exact) = (mean(&at).unwrap(), total as f64 / count as f64);
            assert!((mean - exact).abs() < 1e-12 * exact, "{n}: {mean}, not {exact}");
            let (mean, exact) = (mean_printed(&at).unwrap(), printed as f64 / count as f64);
            assert!((mean - exact).abs() < 1e-12 * exact, "{n}: {mean}, not {exact} as printed");
        }
    }

    /// 3n in phase 0, then only the greatest goes on: 4·2^k a phase, 2n home, n for the news.
    #[test]
    fn ascending_rings_are_counted_by_hand() {
        for n in [3, 4, 5, 8, 9, 100] {
            let ascending: Vec<usize> = (0..n).collect();
            let last = 1 << phases(n as u128);
            assert_eq!(held(&ascending, 0).0 as usize, 3 * n + 4 * (last - 2) + 2 * n + n);
        }
    }

    #[test]
    fn phases_double_and_large_rings_stay_below_the_bound() {
        let phases = [2, 3, 4, 5, 8, 9, 1_000_000].map(phases);
        assert_eq!(phases, [1, 2, 2, 3, 3, 4, 20]);
        assert_eq!(bound(&inputs(1_000_000, |_| ())), Ok(168_000_000.0));
        for nodes in [9, 1000, 1_000_000, 100_000_000] {
            let at = inputs(nodes, |_| ());
            let part = mean(&at).unwrap() / bound(&at).unwrap();
            assert!((0.2..0.6).contains(&part), "{nodes}: {part}");
        }
    }

    /// Two: a phase of one hop and back, two hops home, one for the news.
    #[test]
    fn the_greatest_takes_the_same_time_in_any_order() {
        let hops = |nodes| time(&inputs(nodes, |given| given.delay = 1.0));
        assert_eq!((hops(2), hops(4), hops(5)), (Ok(5.0), Ok(13.0), Ok(23.0)));
    }
}
