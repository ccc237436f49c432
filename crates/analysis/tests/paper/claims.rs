//! Sections 5.3 to 5.6: what the text claims in words, confirmed or refuted.
//!
//! Claims that follow from an equation are tested where it is: .5 for any N and "correlated delay
//! independent of N" in `leadership_delay`, the equal departure delays and LE-S = LE-A for smaller
//! joiners in `reestablishment`, T_L in `inconsistency`. Figure 5.12's "first round" is not defined
//! closely enough to be tested.

use crate::support::{CONFIDENCE, Report, Trial, measured, start};
use bellwether_analysis::announce_listen::losses::beyond_first;
use bellwether_analysis::announce_listen::{messages_le_m, suppression};
use bellwether_analysis::{Loss, Point};
use bellwether_protocols::announce_listen::{Shape, Variant};
use bellwether_sim::Measure;
use bellwether_sim::stats::Summary;

const TIME: Measure = Measure::ConvergenceTime;
const MESSAGES: Measure = Measure::Messages;

/// The measure of one point less that of another, with luck of its own, and the error of both.
fn difference(more: &Point, less: &Point, measure: Measure) -> Summary {
    let (more, less) = (more.simulated(), less.clone().independent().simulated());
    let (more, less) = (measured(&more, measure), measured(&less, measure));
    Summary {
        mean: more.mean - less.mean,
        stderr: more.stderr.hypot(less.stderr),
        count: more.count.min(less.count),
        ..more.clone()
    }
}

/// The first point has more of the measure than the second, beyond doubt.
fn exceeds(more: &Point, less: &Point, measure: Measure) {
    let [low, high] = difference(more, less, measure).interval(CONFIDENCE);
    let less = less.clone().independent();
    let (name, more, less) = (measure.name(), more.command(), less.command());
    assert!(low > 0.0, "{name}: {low} to {high} is not above 0\n{more}\n{less}");
}

fn point(variant: Variant, nodes: u32, loss: Loss) -> Point {
    start(variant, nodes, loss).runs(if nodes > 20 { 2_000 } else { 5_000 })
}

/// Section 5.6, "leadership delay ... in the limit exhibits asymptotic behavior for the
/// uncorrelated case": it does not. X grows by ln 10 / ln(1/l) for ten times as many processes.
#[test]
fn the_delay_with_uncorrelated_loss_has_no_limit_in_n() {
    let mut report = Report::default();
    let (many, few) = (
        point(Variant::LeS, 500, Loss::Uncorrelated(0.4)),
        point(Variant::LeS, 50, Loss::Uncorrelated(0.4)),
    );
    let [large, small] = [499, 49].map(|others| beyond_first(others, Loss::Uncorrelated(0.4)));
    let growth = large - small;
    assert!((growth - 10f64.ln() / 2.5f64.ln()).abs() < 0.05, "{growth}");
    let got = difference(&many, &few, TIME);
    report.mean_agrees("growth from 50 to 500", &got, growth, &many.command());
    report.mean_rejects("growth from 50 to 500", &got, 0.0, &many.command());
    report.finish();
}

/// Section 5.4.1, figures 5.6 to 5.9: LE-S takes more time and more messages than SUP.
#[test]
fn le_s_is_slower_than_sup_and_sends_more() {
    for nodes in [5, 50] {
        for loss in [Loss::None, Loss::Correlated(0.4), Loss::Uncorrelated(0.4)] {
            for measure in [TIME, MESSAGES] {
                let (le_s, sup) =
                    (point(Variant::LeS, nodes, loss), point(Variant::Sup, nodes, loss));
                exceeds(&le_s, &sup, measure);
            }
        }
    }
}

/// Section 5.4.1: "For both convergence time and number of messages, uncorrelated loss gives upper
/// bounds."
#[test]
fn uncorrelated_loss_is_the_worst_case_of_le_s() {
    for nodes in [10, 100] {
        for measure in [TIME, MESSAGES] {
            let of = |loss| point(Variant::LeS, nodes, loss);
            exceeds(&of(Loss::Uncorrelated(0.4)), &of(Loss::Correlated(0.4)), measure);
            exceeds(&of(Loss::Correlated(0.4)), &of(Loss::None), measure);
        }
    }
}

/// Section 5.4.2, figure 5.11: AL is ahead of LE-S by E[t_s]; LE is said to be superior from N =
/// 200 at l = .4. Not in the model as described: messages sent at once are not lost more often in
/// it. The text has an "adjusted loss" from a chapter that we do not have, and we do not guess it.
#[test]
fn al_stays_ahead_of_le_s_by_the_mean_wake_up() {
    let mut report = Report::default();
    for nodes in [5, 70, 200] {
        let runs = if nodes > 100 { 500 } else { 3_000 };
        let (le_s, al) = (
            point(Variant::LeS, nodes, Loss::Uncorrelated(0.4)),
            point(Variant::Al, nodes, Loss::Uncorrelated(0.4)),
        );
        let got = difference(&le_s.clone().runs(runs), &al.runs(runs), TIME);
        report.mean_agrees("LE-S less AL", &got, 0.5, &le_s.command());
    }
    report.finish();
}

/// Section 5.4.3: the minimum wake-up time as criterion "outperforms the more common approach".
#[test]
fn le_m_is_faster_than_le_s_and_sends_less() {
    for nodes in [5, 50] {
        for loss in [Loss::None, Loss::Correlated(0.4), Loss::Uncorrelated(0.4)] {
            for measure in [TIME, MESSAGES] {
                let (le_s, le_m) =
                    (point(Variant::LeS, nodes, loss), point(Variant::LeM, nodes, loss));
                exceeds(&le_s, &le_m, measure);
            }
        }
    }
}

/// Section 5.4.3: without loss LE-M "behaves identically to SUP". In messages it does. In t_max it
/// is ahead, so that SUP is no lower bound: SUP has converged only when the last message that went
/// out before the first was heard has been sent, which is up to Δ later.
#[test]
fn without_loss_le_m_sends_as_much_as_sup_and_is_faster() {
    for nodes in [2, 10, 50, 500] {
        let inputs = start(Variant::LeM, nodes, Loss::None).inputs();
        let le_m = messages_le_m::corrected(&inputs).unwrap();
        let sup = suppression::messages(&inputs).unwrap();
        assert!((le_m - sup).abs() < 1e-9 * sup, "{nodes}: {le_m} {sup}");
    }
    for nodes in [10, 50] {
        let of = |variant| point(variant, nodes, Loss::None);
        exceeds(&of(Variant::Sup), &of(Variant::LeM), TIME);
    }
}

/// Section 5.4.3, figure 5.13: with loss SUP is the faster, because any message will do.
#[test]
fn with_loss_sup_is_faster_than_le_m() {
    for nodes in [5, 50] {
        for loss in [Loss::Correlated(0.4), Loss::Uncorrelated(0.4)] {
            exceeds(&point(Variant::LeM, nodes, loss), &point(Variant::Sup, nodes, loss), TIME);
        }
    }
}

/// Section 5.4.3: exponential timers "lead to fewer messages under certain conditions": if few wake
/// early and there are many. Of two processes both are likely to speak.
#[test]
fn rising_timers_spare_messages_in_large_groups_and_cost_some_in_small_ones() {
    let rising = Shape::Rising { rate: 10.0 };
    let of = |nodes| point(Variant::LeS, nodes, Loss::None);
    exceeds(&of(100), &of(100).shape(rising), MESSAGES);
    exceeds(&of(2).shape(rising), &of(2), MESSAGES);
    exceeds(&of(100).shape(Shape::Falling { rate: 10.0 }), &of(100), MESSAGES);
}

/// Section 5.4.4: T_A ≥ T_S + Δ, or announcements of processes that will not lead come before the
/// first of the one that will.
#[test]
fn an_announce_interval_shorter_than_the_suppression_costs_messages() {
    // A quarter of a message: a small effect needs many runs.
    let of = |announce| point(Variant::LeS, 50, Loss::None).timers(1.0, announce).runs(20_000);
    exceeds(&of(0.5), &of(1.1), MESSAGES);
    // Nothing is gained above T_S + Δ.
    let mut report = Report::default();
    let got = difference(&of(1.1), &of(5.0), MESSAGES);
    report.mean_agrees("1.1 less 5", &got, 0.0, &of(1.1).command());
    report.finish();
}
