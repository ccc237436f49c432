//! Table 5.1: t_max, rounds and average rounds of a start.
//!
//! | metric | as printed | corrected |
//! |---|---|---|
//! | t_max | the printed leadership delay less Δ (section 5.4.1) | leadership delay less Δ |
//! | rounds | "this term" of section 5.3.1.3: 0, l/(1−l), 1 + X(N) | 1 + x |
//! | avg_rounds | no formula | 1/(1−l) |
//!
//! x is 0, l/(1−l) or X(N−1), the announcements beyond the first. Rounds are the leader's
//! announcements up to the converging one. The text calls the last term of its delay "the expected
//! number of rounds"; with correlated loss that counts the rounds from 0 and with uncorrelated loss
//! from 1, with one receiver too many. Averaged over the receivers, each of which waits for itself,
//! both models of loss are alike.

use super::{leadership_delay, losses, point_of};
use crate::inputs::{Loss, OutOfDomain, ValidInputs};
use crate::quantity::{Quantity, Unit};
use bellwether_protocols::announce_listen::Variant;
use bellwether_sim::Measure;

/// t_max: when the converging announcement was sent, as printed.
///
/// # Errors
/// As [`leadership_delay::printed`].
pub fn time_printed(variant: Variant, inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let immediate = inputs.with(|given| given.delay = 0.0)?;
    leadership_delay::printed(variant, &immediate)
}

/// t_max, as it should read.
///
/// # Errors
/// As [`leadership_delay::corrected`].
pub fn time_corrected(variant: Variant, inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let immediate = inputs.with(|given| given.delay = 0.0)?;
    leadership_delay::corrected(variant, &immediate)
}

/// Rounds until all have heard the leader, as printed.
///
/// # Errors
/// [`OutOfDomain::Nodes`], if there are fewer than two processes.
pub fn rounds_printed(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    losses::agreeing(inputs)?;
    Ok(losses::printed(inputs.nodes, inputs.loss))
}

/// Rounds until all have heard the leader: the first is 1.
///
/// # Errors
/// [`OutOfDomain::Nodes`], if there are fewer than two processes.
pub fn rounds_corrected(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    losses::agreeing(inputs)?;
    Ok(1.0 + losses::corrected(inputs.nodes, inputs.loss))
}

/// Rounds until a process has heard the leader, averaged over all that must.
///
/// # Errors
/// [`OutOfDomain::Nodes`], if there are fewer than two processes.
pub fn average_rounds(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    losses::agreeing(inputs)?;
    Ok(1.0 / (1.0 - inputs.loss.rate()))
}

/// The quantities of this file.
pub(super) const QUANTITIES: &[&Quantity] =
    &[&LE_A_TIME, &LE_S_TIME, &LE_M_TIME, &AL_TIME, &ROUNDS, &AVERAGE_ROUNDS];

const LE_S_TIME: Quantity = Quantity {
    name: "le-s.convergence-time",
    section: "5.4.1",
    about: "t_max of LE-S: when the announcement was sent that the last process heard",
    unit: Unit::Seconds,
    reads: &["nodes", "loss", "suppress", "announce", "timer"],
    printed: |inputs| time_printed(Variant::LeS, inputs),
    corrected: |inputs| time_corrected(Variant::LeS, inputs),
    note: leadership_delay::note,
    exact: |_| true,
    is_percentile: false,
    simulation: |inputs| Some((point_of(Variant::LeS, inputs), Measure::ConvergenceTime)),
};

const LE_A_TIME: Quantity = Quantity {
    name: "le-a.convergence-time",
    about: "t_max of LE-A: when the announcement was sent that the last process heard",
    reads: &["nodes", "loss", "announce"],
    printed: |inputs| time_printed(Variant::LeA, inputs),
    corrected: |inputs| time_corrected(Variant::LeA, inputs),
    simulation: |inputs| Some((point_of(Variant::LeA, inputs), Measure::ConvergenceTime)),
    ..LE_S_TIME
};

const LE_M_TIME: Quantity = Quantity {
    name: "le-m.convergence-time",
    section: "5.4.3",
    about: "t_max of LE-M: when the announcement was sent that the last process heard",
    printed: |inputs| time_printed(Variant::LeM, inputs),
    corrected: |inputs| time_corrected(Variant::LeM, inputs),
    simulation: |inputs| Some((point_of(Variant::LeM, inputs), Measure::ConvergenceTime)),
    ..LE_S_TIME
};

const AL_TIME: Quantity = Quantity {
    name: "al.convergence-time",
    section: "5.4.2",
    about: "t_max of AL: when the announcement was sent that the last process heard",
    printed: |inputs| time_printed(Variant::Al, inputs),
    corrected: |inputs| time_corrected(Variant::Al, inputs),
    simulation: |inputs| Some((point_of(Variant::Al, inputs), Measure::ConvergenceTime)),
    ..LE_A_TIME
};

const ROUNDS: Quantity = Quantity {
    name: "le-s.rounds",
    section: "5.4, Table 5.1",
    about: "announcements of the leader of LE-S until all have heard one",
    unit: Unit::Announcements,
    reads: &["nodes", "loss"],
    printed: rounds_printed,
    corrected: rounds_corrected,
    note: |inputs| match inputs.loss {
        Loss::None | Loss::Correlated(_) => {
            "the text's number of rounds (5.3.1.2) counts from 0; the table's first round is 1"
        }
        Loss::Uncorrelated(_) => {
            "the text's number of rounds (5.3.1.3) has the leader among its receivers: \
             1 + X(N) for 1 + X(N-1)"
        }
    },
    simulation: |inputs| Some((point_of(Variant::LeS, inputs), Measure::Rounds)),
    ..LE_S_TIME
};

const AVERAGE_ROUNDS: Quantity = Quantity {
    name: "le-s.average-rounds",
    about: "announcements of the leader of LE-S until a process has heard one, averaged over them",
    printed: |_| Err(OutOfDomain::NoValue("the text defines avg_rounds but has no formula")),
    corrected: average_rounds,
    note: |_| "1/(1-l) in every model of loss, whatever N: each process waits for itself",
    simulation: |inputs| Some((point_of(Variant::LeS, inputs), Measure::AverageRounds)),
    ..ROUNDS
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::announce_listen::testing::{assert_near, inputs};

    #[test]
    fn the_converging_announcement_is_sent_one_delay_before_it_is_heard() {
        for loss in [Loss::None, Loss::Correlated(0.4), Loss::Uncorrelated(0.4)] {
            let given = inputs(30, loss, |given| given.delay = 0.07);
            for variant in [Variant::LeA, Variant::LeS, Variant::LeM, Variant::Al] {
                let heard = leadership_delay::corrected(variant, &given).unwrap();
                assert_near(time_corrected(variant, &given).unwrap(), heard - 0.07, 1e-12);
                let heard = leadership_delay::printed(variant, &given).unwrap();
                assert_near(time_printed(variant, &given).unwrap(), heard - 0.07, 1e-12);
            }
        }
    }

    /// l = 1/2: X(2) = 5/3, X(3) = 15/7.
    #[test]
    fn rounds_begin_with_one_and_leave_the_leader_out() {
        let together = inputs(3, Loss::Correlated(0.5), |_| ());
        assert_eq!((rounds_printed(&together), rounds_corrected(&together)), (Ok(1.0), Ok(2.0)));
        let apart = inputs(3, Loss::Uncorrelated(0.5), |_| ());
        assert_near(rounds_corrected(&apart).unwrap(), 1.0 + 5.0 / 3.0, 1e-14);
        assert_near(rounds_printed(&apart).unwrap(), 1.0 + 15.0 / 7.0, 1e-14);
        for given in [together, apart] {
            assert_eq!(average_rounds(&given), Ok(2.0));
        }
    }

    #[test]
    fn nobody_converges_alone() {
        let alone = inputs(1, Loss::None, |_| ());
        for form in [rounds_printed, rounds_corrected, average_rounds] {
            assert!(matches!(form(&alone), Err(OutOfDomain::Nodes { .. })));
        }
        assert!(matches!((AVERAGE_ROUNDS.printed)(&alone), Err(OutOfDomain::NoValue(_))));
    }
}
