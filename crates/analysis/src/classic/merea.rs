//! MEREA: the ring, on which an older election destroys the younger ones.
//!
//! Every Election message carries when and by whom it was created. A process that has
//! called an older election destroys it; every other adds its id and passes it on. So only the
//! oldest message returns to its sender, and one Coordinator message goes round.
//!
//! | case | as printed | corrected |
//! |---|---|---|
//! | `best`: one calls | 2n (3) | 2n |
//! | `worst-best`: all call, later ones against the ring | n_e + n_c + (n−1)y_e = 3n−1 | 3n−1 |
//! | `worst-worst`: all call, later ones along the ring | n² − n/2 + 2n (4) | n(n−1)/2 + 2n |
//! | `mean`: k call, in any order | "O(n)" | n·H_k + n |
//! | `equal-stamps`: k call at the same time | destroys none: 2kn | the mean: the lesser id is older |
//!
//! **Equation (4).** The text in front of it adds 1 + 2 + … + (n−1) + n + n, and has that as
//! n + n + n(n−1)/2, which is right; the last line then reads "n2 − n/2 + 2n". Read literally, n² −
//! n/2 + 2n, it is twice too large for many processes; (n² − n)/2 + 2n may have been meant.
//!
//! **Average.** "Most of the times" a message is destroyed by the successor, says the text, hence
//! O(n). But of all n calls in any order the j-th oldest travels n/j on average, to the next of
//! the j oldest: n·H_n in all, which grows faster than n.
//!
//! **Table 3.** `if F then (if my T < T_i then destroy) else append`: a process that has called an
//! election itself never appends its id. With k calls the highest id is missed if it is among the
//! callers and not the oldest of them: in (k−1)/n of all cases. See `wrong-leader`.
//!
//! **Time.** As the ring's, (2n−1)(Δ+D): the oldest message goes round, then the Coordinator's.

use super::count::{MESSAGES, TIME, all_call, group, initiators, so_many, survivors, timed, whole};
use super::point_of;
use crate::inputs::{OutOfDomain, ValidInputs};
use crate::point::Point;
use crate::quantity::{Quantity, Unit};
use bellwether_protocols::ring::Variant;
use bellwether_sim::{Measure, Order};

/// One calls: 2n.
///
/// # Errors
/// [`OutOfDomain`] with losses, and for one process alone.
pub fn best(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    Ok(whole(2 * group(inputs)?))
}

/// All call, each destroyed by its successor but for the oldest: 3n − 1.
///
/// # Errors
/// As [`best`].
pub fn worst_best(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    Ok(whole(3 * group(inputs)? - 1))
}

/// Equation (4), to the letter.
///
/// # Errors
/// As [`best`].
pub fn worst_worst_printed(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let n = group(inputs)?;
    Ok(whole(2 * n * n + 3 * n) / 2.0)
}

/// All call, each destroyed by the oldest alone: n(n−1)/2 + 2n.
///
/// # Errors
/// As [`best`].
pub fn worst_worst(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let n = group(inputs)?;
    Ok(whole(n * (n - 1) / 2 + 2 * n))
}

/// k call, anywhere on the ring, each as likely to be older than another as not: n·H_k + n.
///
/// # Errors
/// As [`best`], and if more are to call than there are.
pub fn mean(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let n = group(inputs)?;
    Ok(survivors(n, initiators(inputs, inputs.nodes)?) + whole(n))
}

/// k call at the same time, and as printed nobody's election is older: 2kn.
///
/// # Errors
/// As [`mean`].
pub fn equal_stamps_printed(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let n = group(inputs)?;
    Ok(whole(2 * n * u128::from(initiators(inputs, inputs.nodes)?)))
}

/// How often Table 3 as printed misses the highest id: (k−1)/n.
///
/// # Errors
/// As [`mean`].
pub fn wrong_leader_printed(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let n = group(inputs)?;
    let k = initiators(inputs, inputs.nodes)?;
    Ok(f64::from(k - 1) / whole(n))
}

/// Never, if everyone appends its id.
///
/// # Errors
/// As [`mean`].
pub fn wrong_leader(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    wrong_leader_printed(inputs).map(|_| 0.0)
}

/// All call at the same time, so that the lesser id is older; in this order of ids.
fn all_in(order: Order, inputs: &ValidInputs) -> Option<(Point, Measure)> {
    Some((all_call(Variant::Merea, inputs, order)?, Measure::Messages))
}

/// So many call, standing in any order.
fn some_anywhere(inputs: &ValidInputs) -> Option<(Point, Measure)> {
    mean(inputs).ok()?;
    let who = so_many(initiators(inputs, inputs.nodes).ok()?, inputs.nodes);
    let point = point_of(Variant::Merea.name(), inputs).initiators(who);
    Some((point.order(Order::Random), Measure::Messages))
}

/// The quantities of this file.
pub(super) const QUANTITIES: &[&Quantity] =
    &[&BEST, &WORST_BEST, &WORST_WORST, &MEAN, &EQUAL_STAMPS, &WRONG_LEADER, &ELECTION_TIME];

const BEST: Quantity = Quantity {
    name: "merea.messages.best",
    section: "MEREA 5.A, equation (3)",
    about: "messages of MEREA, one calling",
    printed: best,
    corrected: best,
    note: |_| "as on any ring: once round to collect, once round to tell",
    simulation: |inputs| {
        best(inputs).ok()?;
        Some((point_of(Variant::Merea.name(), inputs).runs(2), Measure::Messages))
    },
    ..MESSAGES
};

const WORST_BEST: Quantity = Quantity {
    name: "merea.messages.worst-best",
    section: "MEREA 5.B.1",
    about: "messages of MEREA, all calling, later ones against the direction of the ring",
    printed: worst_best,
    corrected: worst_best,
    note: |_| "every successor's election is older, and destroys",
    simulation: |inputs| all_in(Order::Descending, inputs),
    ..MESSAGES
};

const WORST_WORST: Quantity = Quantity {
    name: "merea.messages.worst-worst",
    section: "MEREA 5.B.2, equation (4)",
    about: "messages of MEREA, all calling, later ones in the direction of the ring",
    printed: worst_worst_printed,
    corrected: worst_worst,
    note: |_| {
        "printed \"n2 - n/2 + 2n\", read literally; the line before it has n + n + n(n-1)/2, \
         which is right and, for many processes, half of it"
    },
    simulation: |inputs| all_in(Order::Ascending, inputs),
    ..MESSAGES
};

const MEAN: Quantity = Quantity {
    name: "merea.messages.mean",
    section: "MEREA 5.B.2",
    about: "messages of MEREA on average over all orders of calls, all calling by default",
    reads: &["nodes", "loss", "initiators"],
    printed: |_| Err(OutOfDomain::NoValue("the text says O(n) for the average, without a formula")),
    corrected: mean,
    note: |_| "n H_k + n: if all call it grows like n log n, not like n",
    simulation: some_anywhere,
    ..MESSAGES
};

const EQUAL_STAMPS: Quantity = Quantity {
    name: "merea.messages.equal-stamps",
    section: "MEREA, Table 3",
    about: "messages of MEREA on average, all calling at the same time by default",
    reads: &["nodes", "loss", "initiators"],
    printed: equal_stamps_printed,
    corrected: mean,
    note: |_| {
        "printed: of equal stamps none is older, and nothing is destroyed; corrected: the id \
               decides"
    },
    simulation: some_anywhere,
    ..MESSAGES
};

const WRONG_LEADER: Quantity = Quantity {
    name: "merea.wrong-leader",
    section: "MEREA, Table 3",
    about: "how often Table 3 misses the highest process, all calling by default",
    unit: Unit::Fraction,
    reads: &["nodes", "loss", "initiators"],
    printed: wrong_leader_printed,
    corrected: wrong_leader,
    note: |_| "printed: who has called an election appends its id to no other; corrected: all do",
    ..MESSAGES
};

const ELECTION_TIME: Quantity = Quantity {
    name: "merea.time",
    section: "MEREA 6",
    about: "until all know the leader of MEREA, however many call at once",
    simulation: |inputs| timed(Variant::Merea, inputs),
    ..TIME
};

#[cfg(test)]
mod tests {
    use super::super::testing::{inputs, orders, total_of_survivors};
    use super::*;

    /// One ring, message by message: what is sent, and who is elected. `ages[place]` is the age of
    /// the call of the process there, zero for the oldest, if it called; ids are the places'.
    fn held(ages: &[usize], callers: usize, append: bool) -> (u128, usize) {
        let n = ages.len();
        let calls = |place: usize| ages[place] < callers;
        let (mut sent, mut elected) = (n as u128, None);
        for start in (0..n).filter(|place| calls(*place)) {
            let mut list = vec![start];
            for hop in 1..=n {
                let at = (start + hop) % n;
                sent += 1;
                if at == start {
                    elected = list.iter().max().copied();
                } else if calls(at) && ages[at] < ages[start] {
                    break; // destroyed
                } else if append || !calls(at) {
                    list.push(at);
                }
            }
        }
        (sent, elected.expect("the oldest comes home"))
    }

    #[test]
    fn the_means_are_those_of_all_orders() {
        for n in 2..=8 {
            for callers in 1..=n {
                let (mut total, mut wrong, mut least, mut most) = (0, 0, u128::MAX, 0);
                let count = orders(n, |ages| {
                    let (sent, elected) = held(ages, callers, true);
                    assert_eq!(elected, n - 1, "corrected it elects the highest");
                    (total, least, most) = (total + sent, least.min(sent), most.max(sent));
                    let printed = held(ages, callers, false);
                    assert_eq!(printed.0, sent);
                    wrong += u128::from(printed.1 != n - 1);
                });
                let k = Some(callers as u32);
                let at = inputs(n as u32, |given| given.initiators = k);
                let exact = total as f64 / count as f64;
                assert!((mean(&at).unwrap() - exact).abs() < 1e-12 * exact, "{n}, {callers}");
                // (k−1)/n of all orders, exactly.
                assert_eq!(wrong * n as u128, count * (callers as u128 - 1), "{n}, {callers}");
                assert_eq!(wrong_leader_printed(&at), Ok((callers - 1) as f64 / n as f64));
                if callers == 1 {
                    assert_eq!((best(&at), least), (Ok(most as f64), most));
                }
                if callers == n {
                    let usual = inputs(n as u32, |_| ());
                    assert_eq!(mean(&usual), mean(&at), "all call by default");
                    assert_eq!(total, total_of_survivors(n) + count * n as u128);
                    assert_eq!(worst_best(&at), Ok(least as f64));
                    assert_eq!(worst_worst(&at), Ok(most as f64));
                }
            }
        }
    }

    /// The text's own sum, 1 + 2 + … + (n−1) + n + n, and the ages that make it.
    #[test]
    fn equation_4_is_twice_too_large() {
        for n in [2u32, 3, 100, 1000, 1_000_000] {
            let at = inputs(n, |_| ());
            let sum: u64 = (1..u64::from(n)).sum::<u64>() + 2 * u64::from(n);
            assert_eq!(worst_worst(&at), Ok(sum as f64));
        }
        let at = inputs(1000, |_| ());
        assert_eq!((worst_worst_printed(&at), worst_worst(&at)), (Ok(1_001_500.0), Ok(501_500.0)));
        assert_eq!(worst_worst_printed(&inputs(3, |_| ())), Ok(13.5), "half a message");
        let along: Vec<usize> = (0..50).collect();
        let against: Vec<usize> = (0..50).rev().collect();
        let at = inputs(50, |_| ());
        assert_eq!(worst_worst(&at), Ok(held(&along, 50, true).0 as f64));
        assert_eq!(worst_best(&at), Ok(held(&against, 50, true).0 as f64));
    }

    #[test]
    fn equal_stamps_make_it_the_plain_ring() {
        let at = inputs(100, |_| ());
        assert_eq!(equal_stamps_printed(&at), Ok(20_000.0));
        let ring = inputs(100, |given| given.initiators = Some(100));
        assert_eq!(equal_stamps_printed(&at), super::super::ring::messages(&ring));
    }

    #[test]
    fn more_than_all_cannot_call() {
        let at = inputs(9, |given| given.initiators = Some(10));
        for form in [mean, equal_stamps_printed, wrong_leader_printed, wrong_leader] {
            assert!(matches!(form(&at), Err(OutOfDomain::Count { value: 10, most: 9, .. })));
        }
    }
}
