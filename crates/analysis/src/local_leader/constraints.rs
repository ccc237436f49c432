//! The inequalities between the time constants, two quantities for each: its right side, and its
//! left side under the same name with `.left`. A note says whether the inequality holds.
//!
//! | inequality | where | printed |
//! |---|---|---|
//! | expires ≥ EP + 2(1+ρ)(Δ−δmin) | IX-C | the same |
//! | expires > (1+ρ)(EP(1+ρ)+Δ−δmin) | IX-C | the same |
//! | lockTime > (2Δ+σ)(1+3ρ) | IX-C.2 | the same |
//! | lockTime ≤ (1−ρ)[(EP−σ)(1−ρ)−Δ+δmin] | IX-C.2 | so in the text; figure 30 omits σ |
//! | lockTime(1−2ρ)−2ε > 2Δ(1+ρ)+σ | X, figure 31 | not an inequality, but an alarm that lies in the past without it |
//! | lockTime(1−2ρ)−2ε ≥ P+2Δ(1+ρ)+σ | ours (C6) | – |
//! | lockTime(1−2ρ)−2ε > P+4Δ(1+ρ) | ours (C6) | – |
//! | P ≥ 2Δ(1+ρ) | ours (C6) | – |
//!
//! The right sides come from [`Params::constraints`], which is what the protocol itself checks.

use super::{TIME, point_of};
use crate::inputs::{Loss, OutOfDomain, ValidInputs};
use crate::point::Point;
use crate::quantity::Quantity;
use bellwether_protocols::local_leader::{Constraint, Params};
use bellwether_sim::{Measure, Scenario};

/// The inequality that begins like this.
fn constraint(params: &Params, begins: &str) -> Result<Constraint, OutOfDomain> {
    let mut all = params.constraints().into_iter();
    let found = all.find(|constraint| constraint.rule.starts_with(begins));
    found.ok_or(OutOfDomain::NoValue("the printed protocol has no such constraint"))
}

/// The right side of an inequality, as printed and as corrected, and whether it holds; and the left
/// side, which is a quantity of this name.
macro_rules! sides {
    ($($begins:literal: $printed:ident, $corrected:ident, $note:ident, $left:literal;)+) => {
        $(
        fn $printed(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
            Ok(constraint(&inputs.leases.printed()?, $begins)?.right.as_secs_f64())
        }

        fn $corrected(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
            Ok(constraint(&inputs.leases.corrected()?, $begins)?.right.as_secs_f64())
        }

        fn $note(inputs: &ValidInputs) -> &'static str {
            let params = inputs.leases.corrected().map_err(OutOfDomain::from);
            match params.and_then(|params| constraint(&params, $begins)) {
                Ok(Constraint { holds: true, .. }) => concat!($begins, " …: it holds"),
                _ => concat!($begins, " …: it does not hold"),
            }
        }
        )+

        /// The left sides.
        pub(super) const LEFT_SIDES: &[&Quantity] = &[$(
            &Quantity {
                name: concat!("local-leader.constraint.", $left, ".left"),
                about: concat!("the left side of ", $begins, " …; the right side has no .left"),
                printed: |inputs| {
                    Ok(constraint(&inputs.leases.printed()?, $begins)?.left.as_secs_f64())
                },
                corrected: |inputs| {
                    Ok(constraint(&inputs.leases.corrected()?, $begins)?.left.as_secs_f64())
                },
                note: $note,
                ..SIDE
            },
        )+];
    };
}

sides! {
    "expires >= EP": expires_printed, expires, expires_note, "expires";
    "expires > (1+ρ)": heard_printed, heard, heard_note, "expires-heard";
    "lockTime > (2Δ+σ)": lock_least_printed, lock_least, lock_least_note, "lock-least";
    "lockTime <= (1-ρ)": lock_most_printed, lock_most, lock_most_note, "lock-most";
    "lockTime(1-2ρ)-2ε > 2Δ": alarm_printed, alarm, alarm_note, "alarm";
    "lockTime(1-2ρ)-2ε >= P": renewal_printed, renewal, renewal_note, "renewal";
    "lockTime(1-2ρ)-2ε > P": retries_printed, retries, retries_note, "retries";
    "P >= 2Δ": renew_printed, renew, renew_note, "renew";
}

/// The length of a lease, as printed.
///
/// # Errors
/// [`OutOfDomain::Leases`].
pub fn lease_printed(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    Ok(inputs.leases.printed()?.lease().as_secs_f64())
}

/// The length of a lease from the sending of its request.
///
/// # Errors
/// [`OutOfDomain::Leases`].
pub fn lease(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    Ok(inputs.leases.corrected()?.lease().as_secs_f64())
}

/// How long after a request the next one follows, as section X prints it: without σ.
///
/// # Errors
/// [`OutOfDomain::Leases`], and where a lease is shorter than a round.
pub fn next_request_printed(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    between(&inputs.leases.printed()?, false)
}

/// The same by figure 31, with room for an alarm that comes late.
///
/// # Errors
/// As [`next_request_printed`].
pub fn next_request(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    between(&inputs.leases.printed()?, true)
}

/// How long before the end of its lease a leader of the printed protocol asks again, and from that
/// how long it waits after the last request.
fn between(params: &Params, with_sigma: bool) -> Result<f64, OutOfDomain> {
    let sigma = if with_sigma { params.sigma().as_secs_f64() } else { 0.0 };
    let wait = params.lease().as_secs_f64() - params.round().as_secs_f64() - sigma;
    if wait > 0.0 {
        return Ok(wait);
    }
    Err(OutOfDomain::Condition {
        rule: "lockTime(1-2ρ) <= 2Δ(1+ρ)+σ: the alarm lies in the past, and comes at once",
        way_out: "raise `lock` or `period`, or lower `delta` or `sigma`",
    })
}

/// Five processes that run the protocol of figures 30 and 31, and messages of a millisecond.
fn as_published(inputs: &ValidInputs) -> Option<Point> {
    next_request(inputs).ok()?;
    let inputs = inputs.with(|given| {
        (given.nodes, given.delay, given.loss) = (5, 0.001, Loss::None);
    });
    Some(point_of(&inputs.ok()?, true).scenario(Scenario::Start, 5.0))
}

/// A side; to be completed.
const SIDE: Quantity = Quantity { section: "Fetzer and Cristian IX-C", ..TIME };
/// The right side of an inequality of ours.
const OURS: Quantity = Quantity { section: "Fetzer and Cristian, our correction C6", ..TIME };

/// The quantities of this file.
pub(super) const QUANTITIES: &[&Quantity] = &[
    &Quantity {
        name: "local-leader.constraint.expires",
        about: "the least expires with which a leader and its supporters stay alive to each other",
        printed: expires_printed,
        corrected: expires,
        note: expires_note,
        ..SIDE
    },
    &Quantity {
        name: "local-leader.constraint.expires-heard",
        about: "what expires must exceed for a leader to stay alive to its supporters",
        printed: heard_printed,
        corrected: heard,
        note: heard_note,
        ..SIDE
    },
    &Quantity {
        name: "local-leader.constraint.lock-least",
        section: "Fetzer and Cristian IX-C.2",
        about: "what lockTime must exceed for a leadership not to be over before it begins",
        printed: lock_least_printed,
        corrected: lock_least,
        note: lock_least_note,
        ..SIDE
    },
    &Quantity {
        name: "local-leader.constraint.lock-most",
        section: "Fetzer and Cristian IX-C.2, figure 30",
        about: "the longest lockTime that lapses between two requests (figure 30 omits σ)",
        printed: lock_most_printed,
        corrected: lock_most,
        note: lock_most_note,
        ..SIDE
    },
    &Quantity {
        name: "local-leader.constraint.alarm",
        section: "Fetzer and Cristian X, figure 31",
        about: "what a lease must exceed for the alarm of its renewal not to lie in the past",
        printed: alarm_printed,
        corrected: alarm,
        note: alarm_note,
        ..SIDE
    },
    &Quantity {
        name: "local-leader.constraint.renewal",
        about: "the shortest lease in which a request after P is answered",
        printed: renewal_printed,
        corrected: renewal,
        note: renewal_note,
        ..OURS
    },
    &Quantity {
        name: "local-leader.constraint.retries",
        about: "what a lease must exceed for two retries to be sent in time",
        printed: retries_printed,
        corrected: retries,
        note: retries_note,
        ..OURS
    },
    &Quantity {
        name: "local-leader.constraint.renew",
        about: "the least P: a request is answered before the next one is sent",
        printed: renew_printed,
        corrected: renew,
        note: renew_note,
        ..OURS
    },
    &Quantity {
        name: "local-leader.lease",
        section: "Fetzer and Cristian IX-A, figure 31",
        about: "the length of a lease, from the sending of its request",
        printed: lease_printed,
        corrected: lease,
        note: |_| "lockTime(1-2ρ); our clocks may also gain or lose ε between two readings",
        ..TIME
    },
    &Quantity {
        name: "local-leader.next-request",
        section: "Fetzer and Cristian VIII and X, figure 31",
        about: "from one request of a leader to the next, one in a lease",
        printed: next_request_printed,
        corrected: next_request,
        note: |_| "the text's alarm leaves no room for coming σ late; the figure's does",
        simulation: |inputs| Some((as_published(inputs)?, Measure::RequestInterval)),
        ..TIME
    },
];

#[cfg(test)]
mod tests {
    use super::super::testing::inputs;
    use super::*;
    use bellwether_core::Duration;
    use bellwether_protocols::local_leader::Preset;

    #[test]
    fn the_papers_constants_break_two_constraints() {
        let at = inputs(|leases| leases.preset = Preset::Paper);
        let broken = ["constraint.lock-least", "constraint.alarm"];
        for quantity in QUANTITIES.iter().take(5) {
            let short = quantity.name.trim_start_matches("local-leader.");
            let holds = (quantity.note)(&at).ends_with("it holds");
            assert_eq!(!holds, broken.contains(&short), "{}", quantity.name);
        }
        // lockTime is 34.98 ms by figure 30, 4.99 ms by the text; (2Δ+σ)(1+3ρ) is 60.04 ms.
        let most = [lock_most_printed(&at).unwrap(), lock_most(&at).unwrap()];
        assert!(
            (most[0] - 0.034_983).abs() < 1e-6 && (most[1] - 0.004_995).abs() < 1e-6,
            "{most:?}"
        );
        assert!((lock_least(&at).unwrap() - 0.060_036).abs() < 1e-6);
        assert!(next_request(&at).is_err());
    }

    #[test]
    fn a_feasible_neighbour_keeps_all_of_them() {
        let at = inputs(|leases| {
            leases.preset = Preset::Paper;
            leases.period = Some(Duration::from_millis(250));
            leases.expires = Some(Duration::from_millis(500));
        });
        for quantity in QUANTITIES.iter().take(8) {
            assert!((quantity.note)(&at).ends_with("it holds"), "{}", quantity.name);
        }
    }

    /// What a reader computes from both sides is what the note says.
    #[test]
    fn both_sides_of_each_constraint_tell_whether_it_holds() {
        for preset in [Preset::Paper, Preset::Lan] {
            let at = inputs(|leases| leases.preset = preset);
            assert_eq!(LEFT_SIDES.len(), 8);
            for (side, quantity) in LEFT_SIDES.iter().zip(QUANTITIES) {
                assert_eq!(side.name.strip_suffix(".left"), Some(quantity.name));
                let [left, right] = [side, quantity].map(|side| (side.corrected)(&at).unwrap());
                let note = (quantity.note)(&at);
                let holds = if note.contains("<=") { left <= right } else { left >= right };
                assert_eq!(holds, note.ends_with("it holds"), "{note}: {left} and {right}");
            }
        }
    }

    #[test]
    fn what_the_text_forgets_of_an_alarm_is_sigma() {
        let at = inputs(|_| {});
        let gap = next_request_printed(&at).unwrap() - next_request(&at).unwrap();
        assert!((gap - 0.02).abs() < 1e-12, "{gap}");
        let shorter =
            lease_printed(&inputs(|leases| leases.lock = Some(Duration::from_millis(150))));
        assert!((shorter.unwrap() - 0.149_94).abs() < 1e-9);
    }
}
