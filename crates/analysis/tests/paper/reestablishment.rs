//! Section 5.3.2: how long a settled group takes after its leader departs or another process joins.
//!
//! The event strikes at any moment of the announce interval, so E[t_d] = T_A/2. T_L is so long that
//! a listener gives up a leader that is there with a probability below 10⁻⁶ per announcement.

use crate::support::{D, Report, Trial, losses, losses_apart, losses_together, start};
use bellwether_analysis::announce_listen::reestablishment::{
    departure, joiner_greater, joiner_smaller,
};
use bellwether_analysis::{Loss, Point};
use bellwether_protocols::announce_listen::{Shape, Variant};
use bellwether_sim::{Measure, Scenario};

const DELAY: Measure = Measure::ReestablishmentDelay;
const RUNS: u64 = 1_500;

/// T_L ≫ T_A: l^{T_L/T_A} < 10⁻⁶.
fn long_listen(loss: Loss) -> f64 {
    match loss.rate() {
        0.0 => 3.0,
        l => (1e-6f64.ln() / l.ln()).ceil(),
    }
}

/// The leader departs from a group that trusts it for long.
fn departing(variant: Variant, nodes: u32, loss: Loss) -> Point {
    let listen = long_listen(loss);
    let point = start(variant, nodes, loss).listen(listen);
    point.scenario(Scenario::Departure, 2.0 * listen + 40.0).runs(RUNS)
}

const BOTH: [Variant; 2] = [Variant::LeA, Variant::LeS];

/// Sections 5.3.2.1 and 5.3.2.2: T_L + 2Δ − E[t_d] + E[t_s], losses before and after cancelling.
#[test]
fn after_a_departure_correlated_loss_costs_nothing() {
    let mut report = Report::default();
    for variant in BOTH {
        for loss in losses_together() {
            for nodes in [3, 10, 50] {
                let point = departing(variant, nodes, loss);
                let expected = departure::corrected(variant, &point.inputs()).unwrap();
                assert_eq!(departure::printed(variant, &point.inputs()), Ok(expected));
                report.all_agree(&point, &[(DELAY, expected)]);
            }
        }
    }
    report.finish();
}

/// Section 5.3.2.1 with one process left: it leads as soon as it notices, so nothing it would have
/// to say is waited for, and what was lost before is gained: T_L + Δ − E[t_d] − T_A·l/(1−l).
#[test]
fn whoever_is_left_alone_leads_as_soon_as_it_notices() {
    let mut report = Report::default();
    for variant in BOTH {
        for loss in losses() {
            let point = departing(variant, 2, loss);
            let expected = departure::corrected(variant, &point.inputs()).unwrap();
            let printed = departure::printed(variant, &point.inputs()).unwrap();
            let answer = point.simulated();
            report.agrees(&point, &answer, DELAY, expected);
            report.rejects(&point, &answer, DELAY, printed);
        }
    }
    report.finish();
}

/// The integral of a function that is linear, from one end to the other: negative if they are
/// exchanged.
fn integral(from: f64, to: f64, linear: impl Fn(f64) -> f64) -> f64 {
    (to - from) * linear(0.5 * (from + to))
}

/// Footnote 2, with a departure at any moment of five intervals: D = 1/5. Its limits are exchanged,
/// its last integral is empty, and its first lacks t. With T_A = 1 the right sum is 1/2.
#[test]
fn the_mean_time_since_an_announcement_is_half_and_negative_as_printed() {
    let (intervals, density) = (5, 0.2);
    let mut printed = integral(1.0, 0.0, |_| density);
    for k in 2..intervals {
        let k = f64::from(k);
        printed += integral(k, k - 1.0, |t| (t - (k - 1.0)) * density);
    }
    let half: f64 = (1..=intervals)
        .map(f64::from)
        .map(|k| integral(k - 1.0, k, |t| (t - (k - 1.0)) * density))
        .sum();
    assert!((printed + 0.5).abs() < 1e-12 && (half - 0.5).abs() < 1e-12, "{printed} and {half}");
    let mut report = Report::default();
    let point = departing(Variant::LeS, 20, Loss::None);
    let answer = point.simulated();
    // The delay is the rest less E[t_d], which the corrected form takes as 1/2.
    let rest = departure::corrected(Variant::LeS, &point.inputs()).unwrap() + 0.5;
    report.agrees(&point, &answer, DELAY, rest - half);
    report.rejects(&point, &answer, DELAY, rest - printed);
    report.finish();
}

/// Section 5.3.3.2 has all go on until they hear q_{N−1}. Section 5.3.3.3 orders processes from the
/// largest address to the smallest: who heard a greater process before it woke is silent. In the
/// model nothing is lost or takes time, so that only the order matters in which they wake. A
/// simulation sends as many messages as it, and those that a delay of Δ adds: (N−1)Δ.
#[test]
fn the_least_process_is_mostly_silent_so_nobody_can_wait_for_it() {
    let nodes = 4;
    let (mut first, mut last, mut all, mut orders) = (0, 0, 0, 0);
    for order in crate::enumeration::orders(nodes) {
        // q_0 is the greatest. It speaks if no greater one woke before it.
        let place = |process| order.iter().position(|woken| *woken == process);
        let speaks = |process: usize| (0..process).all(|greater| place(greater) > place(process));
        first += u32::from(speaks(0));
        last += u32::from(speaks(nodes - 1));
        all += (0..nodes).filter(|process| speaks(*process)).count();
        orders += 1;
    }
    assert_eq!((first, last, orders), (24, 6, 24), "q_0 always, q_3 in one of four orders");
    let messages = all as f64 / f64::from(orders);
    let mut report = Report::default();
    let point = start(Variant::LeS, nodes as u32, Loss::None).runs(RUNS);
    // That it settles in every run is asserted, too: all stop, whether the least one spoke or not.
    report.all_agree(&point, &[(Measure::Messages, messages + 3.0 * D)]);
    report.finish();
}

/// Section 5.3.2.3 says that uncorrelated loss changes nothing either. It does: listeners that
/// still trust the departed leader ignore the new one.
#[test]
fn after_a_departure_uncorrelated_loss_costs_time_which_the_text_denies() {
    let mut report = Report::default();
    for variant in BOTH {
        for loss in losses_apart() {
            for nodes in [3, 10, 50] {
                let point = departing(variant, nodes, loss);
                let answer = point.simulated();
                let expected = departure::corrected(variant, &point.inputs()).unwrap();
                report.agrees(&point, &answer, DELAY, expected);
                if nodes == 50 {
                    let printed = departure::printed(variant, &point.inputs()).unwrap();
                    report.rejects(&point, &answer, DELAY, printed);
                }
            }
        }
    }
    report.finish();
}

/// Section 5.7: with a Bye nobody waits for T_L: Δ for the Bye, E[t_s], Δ for the announcement. If
/// all of c copies are lost, T_L it is.
#[test]
fn a_bye_spares_the_group_the_listen_interval() {
    let mut report = Report::default();
    for variant in BOTH {
        let wake = if variant == Variant::LeS { 0.5 } else { 0.0 };
        for (loss, copies) in
            [(Loss::None, 1), (Loss::Correlated(0.4), 1), (Loss::Correlated(0.4), 3)]
        {
            let point = departing(variant, 10, loss);
            let l = loss.rate();
            let unheard = l.powi(copies);
            let heard = 2.0 * D + wake + l / (1.0 - l);
            let silent = departure::corrected(variant, &point.inputs()).unwrap();
            let expected = (1.0 - unheard) * heard + unheard * silent;
            report.all_agree(&point.bye(copies as u32), &[(DELAY, expected)]);
        }
    }
    report.finish();
}

/// Section 5.3.2, E[t_s] being that of the timer at hand.
#[test]
fn after_a_departure_too_the_timer_counts_by_its_mean() {
    let mut report = Report::default();
    for shape in [Shape::Rising { rate: 5.0 }, Shape::Falling { rate: 5.0 }] {
        for loss in [Loss::Correlated(0.4), Loss::Uncorrelated(0.4)] {
            let point = departing(Variant::LeS, 10, loss).shape(shape);
            let expected = departure::corrected(Variant::LeS, &point.inputs()).unwrap();
            report.all_agree(&point, &[(DELAY, expected)]);
        }
    }
    report.finish();
}

/// Section 5.3.2.3 with T_S three times T_A, so that up to three announcements are excused.
#[test]
fn after_a_departure_a_new_leader_that_wakes_late_is_ignored_less() {
    let mut report = Report::default();
    let point = departing(Variant::LeS, 10, Loss::Uncorrelated(0.7)).timers(3.0, 1.0);
    let expected = departure::corrected(Variant::LeS, &point.inputs()).unwrap();
    let point = point.runs(4 * RUNS);
    let answer = point.simulated();
    report.agrees(&point, &answer, DELAY, expected);
    // As if none were.
    let hasty = point.clone().timers(0.0, 1.0).inputs();
    let hasty = departure::corrected(Variant::LeS, &hasty).unwrap() + 1.5;
    report.rejects(&point, &answer, DELAY, hasty);
    report.finish();
}

/// Sections 5.3.2.1 to 5.3.2.3, joiner > leader: the leadership delay, where all that were there
/// before must hear: E[t_s] + Δ + T_A·X(N). The text has the N of *its* leadership delay.
#[test]
fn a_joiner_that_is_to_lead_must_be_heard_by_all_that_were_there() {
    let mut report = Report::default();
    for variant in BOTH {
        for loss in losses() {
            for nodes in [1, 2, 10, 50] {
                let point = start(variant, nodes, loss).scenario(Scenario::JoinGreater, 70.0);
                let point = point.runs(RUNS);
                let answer = point.simulated();
                let expected = joiner_greater::corrected(variant, &point.inputs()).unwrap();
                report.agrees(&point, &answer, DELAY, expected);
                if let Loss::Uncorrelated(_) = loss {
                    let printed = joiner_greater::printed(variant, &point.inputs()).unwrap();
                    report.rejects(&point, &answer, DELAY, printed);
                }
            }
        }
    }
    report.finish();
}

/// Sections 5.3.2.1 to 5.3.2.3, joiner < leader: the rest of the announce interval, T_A/2, and
/// T_A·l/(1−l), in both models of loss, with and without suppression, whatever N.
#[test]
fn a_joiner_that_is_not_to_lead_waits_for_the_next_announcement_it_hears() {
    let mut report = Report::default();
    for variant in BOTH {
        for loss in losses() {
            for nodes in [1, 10, 50] {
                let point = start(variant, nodes, loss).scenario(Scenario::JoinSmaller, 70.0);
                let point = point.runs(RUNS);
                let answer = point.simulated();
                let expected = joiner_smaller::corrected(variant, &point.inputs()).unwrap();
                report.agrees(&point, &answer, DELAY, expected);
                if matches!(loss, Loss::Uncorrelated(_)) && nodes == 50 {
                    // Section 5.3.2.3 prints the announcements until *all* have one.
                    let printed = joiner_smaller::printed(variant, &point.inputs()).unwrap();
                    report.rejects(&point, &answer, DELAY, printed);
                }
            }
        }
    }
    report.finish();
}
