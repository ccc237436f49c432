//! Section 5.3.1: how long until all have the leader's announcement, and in how many rounds.

use crate::support::{D, Report, SIZES, Trial, losses, runs, start};
use bellwether_analysis::announce_listen::losses::beyond_first;
use bellwether_analysis::announce_listen::{
    convergence, leadership_delay, messages, messages_le_a, messages_le_m,
};
use bellwether_analysis::quantity::Formula;
use bellwether_analysis::{Loss, ValidInputs};
use bellwether_protocols::announce_listen::{Shape, Variant};
use bellwether_sim::Measure;

/// Every measure of a start that depends on the leader alone, and the messages, of which there is
/// an exact form for these losses.
fn grid(variant: Variant, messages: Formula, exact: fn(Loss) -> bool) {
    let mut report = Report::default();
    for nodes in SIZES {
        for loss in losses() {
            let point = start(variant, nodes, loss).runs(runs(nodes));
            let inputs = point.inputs();
            let form = |form: Formula| form(&inputs).expect("a form for this inputs");
            let mut expected = leader_alone(variant, &inputs);
            if exact(loss) {
                expected.push((Measure::Messages, form(messages)));
            }
            report.all_agree(&point, &expected);
        }
    }
    report.finish();
}

fn leader_alone(variant: Variant, inputs: &ValidInputs) -> Vec<(Measure, f64)> {
    let forms = [
        (Measure::ConvergenceTime, convergence::time_corrected(variant, inputs)),
        (Measure::LeadershipDelay, leadership_delay::corrected(variant, inputs)),
        (Measure::Rounds, convergence::rounds_corrected(inputs)),
        (Measure::AverageRounds, convergence::average_rounds(inputs)),
    ];
    let value = |form: Result<f64, _>| form.expect("a form for this inputs");
    forms.into_iter().map(|(measure, form)| (measure, value(form))).collect()
}

fn together(loss: Loss) -> bool {
    !matches!(loss, Loss::Uncorrelated(_))
}

/// Sections 5.3.1.1 to 5.3.1.3, "leadership delay LE-A". Messages: sections 5.3.3.2 and 5.3.3.3
/// with T_S = 0, a recurrence and a chain over how many announce.
#[test]
fn le_a_takes_one_delay_and_an_interval_for_every_announcement_lost() {
    grid(Variant::LeA, messages_le_a::corrected, |_| true);
}

/// Sections 5.3.1.1 to 5.3.1.3, "leadership delay LE-S"; the .5 for any N of section 5.4.1.
/// Messages: section 5.3.3.1 until convergence, N·Δ + H_N − Δ, and section 5.3.3.2 continued to all
/// rounds, which the text leaves to "the uncorrelated case below".
#[test]
fn le_s_takes_the_leaders_wake_up_longer_than_le_a() {
    grid(Variant::LeS, messages::corrected, together);
}

/// Section 5.4.3. The earliest to wake never gives way, so it leads, and E[min t_i] = T_S/(N+1).
#[test]
fn le_m_takes_the_earliest_wake_up_longer_than_le_a() {
    grid(Variant::LeM, messages_le_m::corrected, together);
}

/// Section 5.4.2: AL begins at once, and converges when all have the leader's announcement; "all
/// processes generate messages with every round".
#[test]
fn al_converges_as_le_a_does() {
    grid(Variant::Al, messages_le_a::al, |_| true);
}

/// The same with T_S, T_A and Δ all different, so that none can stand for another.
#[test]
fn each_timer_has_its_own_part_in_the_delay() {
    let mut report = Report::default();
    for (loss, nodes) in
        [(Loss::None, 7), (Loss::Correlated(0.3), 7), (Loss::Uncorrelated(0.3), 20)]
    {
        for variant in [Variant::LeA, Variant::LeS, Variant::LeM] {
            let point = start(variant, nodes, loss).timers(0.5, 2.0).delay(0.03).runs(10_000);
            report.all_agree(&point, &leader_alone(variant, &point.inputs())[..2]);
        }
    }
    report.finish();
}

/// Section 5.4.3, Nonnenmacher's timer and its mirror image: E[t_s] is all that changes.
#[test]
fn exponential_timers_change_the_mean_wake_up_only() {
    let mut report = Report::default();
    for shape in [
        Shape::Rising { rate: 3.0 },
        Shape::Rising { rate: 10.0 },
        Shape::Falling { rate: 3.0 },
        Shape::Falling { rate: 10.0 },
    ] {
        for loss in [Loss::None, Loss::Correlated(0.4), Loss::Uncorrelated(0.4)] {
            for variant in [Variant::LeS, Variant::LeM] {
                let point = start(variant, 10, loss).shape(shape).runs(10_000);
                report.all_agree(&point, &leader_alone(variant, &point.inputs())[..1]);
            }
        }
    }
    report.finish();
}

/// Section 5.3.1.3 prints Σ_{i=1..N} (−1)^{i+1} C(N,i)/(1−l^i) = 1 + X(N): attempts, where only
/// those beyond the first take time, and N receivers, where the leader is none.
#[test]
fn the_printed_delay_with_uncorrelated_loss_is_rejected() {
    let mut report = Report::default();
    let loss = Loss::Uncorrelated(0.4);
    let point = start(Variant::LeS, 10, loss).runs(10_000);
    let (answer, inputs) = (point.simulated(), point.inputs());
    let delay = Measure::LeadershipDelay;
    let right = leadership_delay::corrected(Variant::LeS, &inputs).unwrap();
    let printed = leadership_delay::printed(Variant::LeS, &inputs).unwrap();
    report.agrees(&point, &answer, delay, right);
    report.rejects(&point, &answer, delay, printed);
    // Neither of the two mistakes alone goes unnoticed.
    report.rejects(&point, &answer, delay, 0.5 + D + 1.0 + beyond_first(9, loss));
    report.rejects(&point, &answer, delay, 0.5 + D + beyond_first(10, loss));
    report.finish();
}
