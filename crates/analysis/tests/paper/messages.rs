//! Section 5.3.3: how many messages it takes.
//!
//! The measure `messages` counts what was sent before the converging reception. The text counts
//! what was sent in [0, T_S]; where the two differ, both are tested, the latter with an observer of
//! its own. LE-A, LE-S, LE-M and AL on the whole grid are beside their delays in
//! `leadership_delay`, from the same runs.

use crate::enumeration::{by_enumeration, leader, others_by_enumeration};
use crate::support::{Report, SIZES, Trial, losses_apart, losses_together, runs, start};
use bellwether_analysis::announce_listen::{
    closure, messages, messages_in_suppression, messages_le_a, messages_le_m, recurrence,
    suppression,
};
use bellwether_analysis::point::duration;
use bellwether_analysis::quantity::Formula;
use bellwether_analysis::{Loss, Point};
use bellwether_core::{Dest, Duration, SimTime};
use bellwether_protocols::announce_listen::{AnnounceListen, Message, Shape, Variant};
use bellwether_protocols::choice::Choice;
use bellwether_sim::stats::Summary;
use bellwether_sim::{Measure, Observer, RunSeed, World};

/// Section 5.4.1 and the text's chapter on SUP: N·Δ + (1−c^N)/(1−l), and t_max.
#[test]
fn sup_messages_and_times_without_loss_and_with_correlated_loss() {
    let mut report = Report::default();
    for loss in losses_together() {
        for nodes in SIZES {
            let point = start(Variant::Sup, nodes, loss).runs(runs(nodes));
            let form = |form: Formula| form(&point.inputs()).unwrap();
            let expected = [
                (Measure::Messages, form(suppression::messages)),
                (Measure::ConvergenceTime, form(suppression::convergence_time)),
                (Measure::LeadershipDelay, form(suppression::delay)),
            ];
            report.all_agree(&point, &expected);
        }
    }
    report.finish();
}

/// Two processes have one receiver per message: both models of loss are one and the same.
#[test]
fn for_two_processes_uncorrelated_loss_is_correlated_loss() {
    let mut report = Report::default();
    for (apart, together) in losses_apart().into_iter().zip(&losses_together()[1..]) {
        let forms: [(Variant, Formula); 4] = [
            (Variant::LeS, messages::corrected),
            (Variant::LeM, messages_le_m::corrected),
            (Variant::LeA, messages_le_a::corrected),
            (Variant::Sup, suppression::messages),
        ];
        for (variant, form) in forms {
            let messages = form(&start(variant, 2, *together).inputs()).unwrap();
            let point = start(variant, 2, apart).runs(20_000);
            report.all_agree(&point, &[(Measure::Messages, messages)]);
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
            let point = start(Variant::LeS, nodes, loss).delay(0.0).runs(20_000);
            report.all_agree(&point, &[(Measure::Messages, by_enumeration(nodes, loss.rate()))]);
        }
    }
    report.finish();
}

/// Section 5.3.3.3, Δ = 0: in small groups the closure is near, and on the high side.
#[test]
fn the_closure_is_near_what_small_groups_do() {
    for loss in losses_apart() {
        for nodes in 3..=5 {
            let inputs = start(Variant::LeS, nodes, loss).delay(0.0).inputs();
            let exact = others_by_enumeration(nodes, loss.rate());
            let near = closure::messages(&inputs).unwrap() - leader(nodes, loss.rate());
            assert!(exact < near && near < 1.03 * exact, "{nodes} {loss:?}: {near} {exact}");
        }
    }
}

/// Section 5.3.3.3, Δ = 0: the closure of our reading is an approximation. For up to 100 processes
/// it is up to 4 % too high, and 5 % are granted; for more it is worse. The recurrence of the text,
/// even mended, is no such thing for larger groups.
#[test]
fn the_closure_is_near_and_the_recurrence_is_not() {
    let mut report = Report::default();
    for loss in losses_apart() {
        for nodes in [5, 10, 50, 100] {
            let point = start(Variant::LeS, nodes, loss).delay(0.0).runs(runs(nodes));
            let near = closure::messages(&point.inputs()).unwrap();
            report.roughly(&point, (Measure::Messages, near), 0.05);
        }
        let point = start(Variant::LeS, 50, loss).delay(0.0).runs(runs(50));
        let far = recurrence::corrected(&point.inputs()).unwrap();
        report.rejects(&point, &point.simulated(), Measure::Messages, far);
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
fn sent_in_suppression(point: &Point) -> Summary {
    let experiment = point.funded().experiment(1).expect("a valid experiment");
    let Choice::AnnounceListen(params) = experiment.choice.clone() else {
        panic!("another family");
    };
    let mut world = World::<AnnounceListen>::new(params);
    let count = |run: u64| {
        let run_seed = RunSeed::new(experiment.seed, run);
        let (mut plan, _) = experiment.plan(run_seed);
        plan.horizon = duration(point.inputs().suppress).saturating_sub(Duration::from_nanos(1));
        let mut sent = Sent::default();
        world.run(&plan, run_seed, &mut sent);
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
        let loss = if l == 0.0 { Loss::None } else { Loss::Correlated(l) };
        let point = start(Variant::LeS, nodes, loss).runs(runs(nodes));
        let got = sent_in_suppression(&point);
        let again = format!("{NOT_A_COMMAND} {}", point.command());
        let expected = messages_in_suppression::corrected(&point.inputs()).unwrap();
        report.mean_agrees("messages in T_S", &got, expected, &again);
        if l > 0.1 {
            let printed = messages_in_suppression::printed(&point.inputs()).unwrap();
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
            let point = start(Variant::LeS, nodes, Loss::None).timers(1.0, 1.1).shape(shape);
            let expected = messages_in_suppression::corrected(&point.inputs()).unwrap();
            report.all_agree(&point.runs(runs(nodes)), &[(Measure::Messages, expected)]);
        }
    }
    report.finish();
}
