//! Section 5.3.3: how many messages it takes.
//!
//! The measure `messages` counts what was sent before the converging reception. The text counts
//! what was sent in [0, T_S]; where the two differ, both are tested, the latter with an observer of
//! its own. LE-A, LE-S, LE-M and AL on the whole grid are beside their delays in
//! `leadership_delay`, from the same runs.

use crate::exact;
use crate::exact_apart::{by_closure, by_enumeration, by_recurrence};
use crate::support::{
    Case, D, Report, SIZES, correlated, losses_apart, losses_together, uncorrelated,
};
use bellwether_core::{Dest, Duration, SimTime};
use bellwether_protocols::announce_listen::{AnnounceListen, Message, Shape, Variant};
use bellwether_protocols::choice::Choice;
use bellwether_sim::network::Loss;
use bellwether_sim::stats::Summary;
use bellwether_sim::{Coins, Measure, Observer, World};

fn runs(nodes: u32) -> u64 {
    match nodes {
        0..=10 => 20_000,
        11..=100 => 10_000,
        _ => 4_000,
    }
}

/// Section 5.4.1 and the text's chapter on SUP: N·Δ + (1−c^N)/(1−l), and t_max.
#[test]
fn sup_messages_and_times_without_loss_and_with_correlated_loss() {
    let mut report = Report::default();
    for loss in losses_together() {
        for nodes in SIZES {
            let l = loss.rate();
            let case = Case::new(Variant::Sup, nodes, loss).runs(runs(nodes));
            let mut expected = vec![
                (Measure::Messages, exact::sup_messages_together(nodes, l, D)),
                (Measure::ConvergenceTime, exact::sup_convergence_together(nodes, l, D)),
            ];
            if loss == Loss::None {
                expected.push((Measure::LeadershipDelay, exact::sup_delay_lossless(nodes, D)));
            }
            report.all_agree(&case, &expected);
        }
    }
    report.finish();
}

/// Two processes have one receiver per message: both models of loss are one and the same.
#[test]
fn for_two_processes_uncorrelated_loss_is_correlated_loss() {
    let mut report = Report::default();
    for loss in losses_apart() {
        let l = loss.rate();
        for (variant, messages) in [
            (Variant::LeS, exact::le_s_messages_together(2, l, D)),
            (Variant::LeM, exact::le_m_messages_together(2, l, D)),
            (Variant::LeA, exact::le_a_messages_together(2, l)),
            (Variant::Sup, exact::sup_messages_together(2, l, D)),
        ] {
            let case = Case::new(variant, 2, loss).runs(20_000);
            report.all_agree(&case, &[(Measure::Messages, messages)]);
        }
    }
    report.finish();
}

/// Section 5.3.3.3, Δ = 0: exact for groups small enough to enumerate.
#[test]
fn le_s_messages_of_small_groups_with_uncorrelated_loss_and_no_delay() {
    let mut report = Report::default();
    for loss in losses_apart() {
        for nodes in 2..=5 {
            let case = Case::new(Variant::LeS, nodes, loss).delay(0.0).runs(20_000);
            report.all_agree(&case, &[(Measure::Messages, by_enumeration(nodes, loss.rate()))]);
        }
    }
    report.finish();
}

/// Section 5.3.3.3, Δ = 0: the closure of our reading is an approximation. It is 1 to 4 % too high,
/// and 5 % are granted. The recurrence of the text, even mended, is no such thing for larger
/// groups.
#[test]
fn the_closure_is_near_and_the_recurrence_is_not() {
    let mut report = Report::default();
    for l in [0.1, 0.4, 0.7] {
        for nodes in [5, 10, 50, 100] {
            let case = Case::new(Variant::LeS, nodes, uncorrelated(l)).delay(0.0).runs(runs(nodes));
            report.roughly(&case, (Measure::Messages, by_closure(nodes, l)), 0.05);
        }
        let case = Case::new(Variant::LeS, 50, uncorrelated(l)).delay(0.0).runs(runs(50));
        report.rejects(&case, &case.answer(), Measure::Messages, by_recurrence(50, l));
    }
    report.finish();
}

/// Counts what is sent before the end of the plan.
#[derive(Default)]
struct Sent(u64);

impl Observer<AnnounceListen> for Sent {
    fn on_send(&mut self, _at: SimTime, _from: u32, _to: Dest, _message: &Message, _number: u32) {
        self.0 += 1;
    }
}

/// Messages sent in [0, T_S), run by run.
fn messages_in_suppression(case: &Case) -> Summary {
    let experiment = case.experiment();
    let Choice::AnnounceListen(params) = experiment.choice.clone() else {
        panic!("another family");
    };
    let mut world = World::<AnnounceListen>::new(params);
    let count = |run: u64| {
        let coins = Coins::new(experiment.seed, run);
        let (mut plan, _) = experiment.plan(coins);
        plan.horizon = case.config.suppress.saturating_sub(Duration::from_nanos(1));
        let mut sent = Sent::default();
        world.run(&plan, coins, &mut sent);
        sent.0 as f64
    };
    let counts: Vec<f64> = (0..experiment.runs).map(count).collect();
    Summary::of(&counts).expect("some runs")
}

const NOT_A_COMMAND: &str = "messages in T_S are no measure of the command line; first run:";

/// Sections 5.3.3.1 and 5.3.3.2, "number messages in T_S LE-S", corrected: 1/(1−l) belongs before
/// the integral. As printed it stands before N·P(Δ), and simulation rejects that.
#[test]
fn the_printed_number_of_messages_in_the_suppression_interval_is_rejected() {
    let mut report = Report::default();
    // At (50, .1) the misplaced factor happens to change next to nothing.
    for (nodes, l) in [(10, 0.0), (10, 0.4), (50, 0.1), (50, 0.7), (100, 0.4)] {
        let loss = if l == 0.0 { Loss::None } else { correlated(l) };
        let case = Case::new(Variant::LeS, nodes, loss).runs(runs(nodes));
        let got = messages_in_suppression(&case);
        let again = format!("{NOT_A_COMMAND} {}", case.command());
        let expected = exact::le_s_messages_in_suppression_sum(nodes, l, D);
        let by_integral = exact::le_s_messages_in_suppression(nodes, l, D, Shape::Uniform);
        assert!((expected - by_integral).abs() < 1e-9 * expected, "{expected} {by_integral}");
        report.mean_agrees("messages in T_S", &got, expected, &again);
        if l > 0.1 {
            let printed = exact::le_s_messages_in_suppression_printed(nodes, l, D);
            report.mean_rejects("messages in T_S, printed", &got, printed, &again);
        }
    }
    report.finish();
}

/// Section 5.3.3.1 for any timer. With T_A ≥ T_S + Δ (section 5.4.4) nobody announces twice before
/// the group has converged, and messages in T_S are messages until convergence.
#[test]
fn exponential_timers_without_loss_send_what_the_integral_says() {
    let mut report = Report::default();
    for nodes in [10, 100] {
        for shape in [
            Shape::Uniform,
            Shape::Rising { rate: 3.0 },
            Shape::Rising { rate: 10.0 },
            Shape::Falling { rate: 3.0 },
        ] {
            let case = Case::new(Variant::LeS, nodes, Loss::None).timers(1.0, 1.1).shape(shape);
            let expected = exact::le_s_messages_in_suppression(nodes, 0.0, D, shape);
            report.all_agree(&case.runs(runs(nodes)), &[(Measure::Messages, expected)]);
        }
    }
    report.finish();
}
