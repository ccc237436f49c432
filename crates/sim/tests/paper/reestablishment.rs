//! Section 5.3.2: how long a settled group takes after its leader departs or another process joins.
//!
//! The event strikes at any moment of the announce interval, so E[t_d] = T_A/2. T_L is so long that
//! a listener gives up a leader that is there with a probability below 10⁻⁶ per announcement.

use crate::exact::{beyond_first, beyond_first_apart, departure_extra_apart, mean_wake};
use crate::support::{Case, D, Report, correlated, losses, losses_apart, losses_together};
use bellwether_protocols::announce_listen::{Shape, Variant};
use bellwether_sim::network::Loss;
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

fn departure(variant: Variant, nodes: u32, loss: Loss) -> (Case, f64) {
    let listen = long_listen(loss);
    let case = Case::new(variant, nodes, loss).listen(listen);
    (case.scenario(Scenario::Departure, 2.0 * listen + 40.0).runs(RUNS), listen)
}

/// LE-A and LE-S with their E[t_s].
const BOTH: [(Variant, f64); 2] = [(Variant::LeA, 0.0), (Variant::LeS, 0.5)];

/// Sections 5.3.2.1 and 5.3.2.2: T_L + 2Δ − E[t_d] + E[t_s], losses before and after cancelling.
#[test]
fn after_a_departure_correlated_loss_costs_nothing() {
    let mut report = Report::default();
    for (variant, wake) in BOTH {
        for loss in losses_together() {
            for nodes in [3, 10, 50] {
                let (case, listen) = departure(variant, nodes, loss);
                report.all_agree(&case, &[(DELAY, listen + 2.0 * D - 0.5 + wake)]);
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
    for (variant, _) in BOTH {
        for loss in losses() {
            let (case, listen) = departure(variant, 2, loss);
            let gained = loss.rate() / (1.0 - loss.rate());
            report.all_agree(&case, &[(DELAY, listen + D - 0.5 - gained)]);
        }
    }
    report.finish();
}

/// Section 5.3.2.3 says that uncorrelated loss changes nothing either. It does: listeners that
/// still trust the departed leader ignore the new one.
#[test]
fn after_a_departure_uncorrelated_loss_costs_time_which_the_text_denies() {
    let mut report = Report::default();
    for (variant, wake) in BOTH {
        for loss in losses_apart() {
            for nodes in [3, 10, 50] {
                let (case, listen) = departure(variant, nodes, loss);
                let printed = listen + 2.0 * D - 0.5 + wake;
                // ⌊(s+Δ)/T_A⌋ is 1 for the last Δ of T_S.
                let late = if variant == Variant::LeS { D } else { 0.0 };
                let extra = departure_extra_apart(nodes - 2, loss.rate(), late);
                let answer = case.answer();
                report.agrees(&case, &answer, DELAY, printed + extra);
                if nodes == 50 {
                    report.rejects(&case, &answer, DELAY, printed);
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
    for (variant, wake) in BOTH {
        for (loss, copies) in [(Loss::None, 1), (correlated(0.4), 1), (correlated(0.4), 3)] {
            let (case, listen) = departure(variant, 10, loss);
            let l = loss.rate();
            let unheard = l.powi(copies);
            let heard = 2.0 * D + wake + l / (1.0 - l);
            let silent = listen + 2.0 * D - 0.5 + wake;
            let expected = (1.0 - unheard) * heard + unheard * silent;
            report.all_agree(&case.bye(copies as u32), &[(DELAY, expected)]);
        }
    }
    report.finish();
}

/// Section 5.3.2, E[t_s] being that of the timer at hand.
#[test]
fn after_a_departure_too_the_timer_counts_by_its_mean() {
    let mut report = Report::default();
    for shape in [Shape::Rising { rate: 5.0 }, Shape::Falling { rate: 5.0 }] {
        let (case, listen) = departure(Variant::LeS, 10, correlated(0.4));
        let expected = listen + 2.0 * D - 0.5 + mean_wake(shape);
        report.all_agree(&case.shape(shape), &[(DELAY, expected)]);
    }
    report.finish();
}

/// Sections 5.3.2.1 to 5.3.2.3, joiner > leader: the leadership delay, where all that were there
/// before must hear: E[t_s] + Δ + T_A·X(N). The text has the N of *its* leadership delay.
#[test]
fn a_joiner_that_is_to_lead_must_be_heard_by_all_that_were_there() {
    let mut report = Report::default();
    for (variant, wake) in BOTH {
        for loss in losses() {
            for nodes in [1, 2, 10, 50] {
                let case = Case::new(variant, nodes, loss).scenario(Scenario::JoinGreater, 70.0);
                let expected = wake + D + beyond_first(loss, nodes);
                report.all_agree(&case.runs(RUNS), &[(DELAY, expected)]);
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
    for (variant, _) in BOTH {
        for loss in losses() {
            for nodes in [1, 10, 50] {
                let case = Case::new(variant, nodes, loss).scenario(Scenario::JoinSmaller, 70.0);
                let expected = 0.5 + loss.rate() / (1.0 - loss.rate());
                let case = case.runs(RUNS);
                let answer = case.answer();
                report.agrees(&case, &answer, DELAY, expected);
                if matches!(loss, Loss::Uncorrelated(_)) && nodes == 50 {
                    // Section 5.3.2.3 prints the announcements until *all* have one.
                    let printed = 0.5 + 1.0 + beyond_first_apart(nodes, loss.rate());
                    report.rejects(&case, &answer, DELAY, printed);
                }
            }
        }
    }
    report.finish();
}
