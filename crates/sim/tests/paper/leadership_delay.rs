//! Section 5.3.1: how long until all have the leader's announcement, and in how many rounds.

use crate::exact::{self, beyond_first, beyond_first_apart, mean_wake};
use crate::support::{Case, D, Report, SIZES, correlated, losses, uncorrelated};
use bellwether_protocols::announce_listen::{Shape, Variant};
use bellwether_sim::Measure;
use bellwether_sim::network::Loss;

/// More for small groups, where a run is cheap.
fn runs(nodes: u32) -> u64 {
    match nodes {
        0..=10 => 20_000,
        11..=100 => 10_000,
        _ => 4_000,
    }
}

/// Every measure of a start that depends on the leader alone: with `wake` the mean of its first
/// announcement and x the mean number of further ones,
/// t_max = wake + T_A·x, leadership delay = t_max + Δ, rounds = 1 + x, average rounds = 1/(1−l).
/// And the messages, of which there is an exact form for these losses.
fn grid(variant: Variant, wake: impl Fn(u32) -> f64, messages: impl Fn(u32, Loss) -> Option<f64>) {
    let mut report = Report::default();
    for nodes in SIZES {
        for loss in losses() {
            let x = beyond_first(loss, nodes - 1);
            let case = Case::new(variant, nodes, loss).runs(runs(nodes));
            let mut expected = vec![
                (Measure::ConvergenceTime, wake(nodes) + x),
                (Measure::LeadershipDelay, wake(nodes) + x + D),
                (Measure::Rounds, 1.0 + x),
                (Measure::AverageRounds, 1.0 / (1.0 - loss.rate())),
            ];
            expected.extend(messages(nodes, loss).map(|form| (Measure::Messages, form)));
            report.all_agree(&case, &expected);
        }
    }
    report.finish();
}

fn apart(loss: Loss) -> bool {
    matches!(loss, Loss::Uncorrelated(_))
}

/// Sections 5.3.1.1 to 5.3.1.3, "leadership delay LE-A". Messages: sections 5.3.3.2 and 5.3.3.3
/// with T_S = 0, a recurrence and a chain over how many announce.
#[test]
fn le_a_takes_one_delay_and_an_interval_for_every_announcement_lost() {
    let messages = |nodes, loss: Loss| match apart(loss) {
        true => exact::le_a_messages_apart(nodes, loss.rate()),
        false => exact::le_a_messages_together(nodes, loss.rate()),
    };
    grid(Variant::LeA, |_| 0.0, |nodes, loss| Some(messages(nodes, loss)));
}

/// Sections 5.3.1.1 to 5.3.1.3, "leadership delay LE-S"; the .5 for any N of section 5.4.1.
/// Messages: section 5.3.3.1 until convergence, N·Δ + H_N − Δ, and section 5.3.3.2 continued to all
/// rounds, which the text leaves to "the uncorrelated case below".
#[test]
fn le_s_takes_the_leaders_wake_up_longer_than_le_a() {
    let messages = |nodes, loss: Loss| exact::le_s_messages_together(nodes, loss.rate(), D);
    grid(Variant::LeS, |_| 0.5, |nodes, loss| (!apart(loss)).then(|| messages(nodes, loss)));
}

/// Section 5.4.3. The earliest to wake never gives way, so it leads, and E[min t_i] = T_S/(N+1).
#[test]
fn le_m_takes_the_earliest_wake_up_longer_than_le_a() {
    let messages = |nodes, loss: Loss| exact::le_m_messages_together(nodes, loss.rate(), D);
    grid(
        Variant::LeM,
        |nodes| 1.0 / f64::from(nodes + 1),
        |nodes, loss| (!apart(loss)).then(|| messages(nodes, loss)),
    );
}

/// Section 5.4.2: AL begins at once, and converges when all have the leader's announcement; "all
/// processes generate messages with every round".
#[test]
fn al_converges_as_le_a_does() {
    let messages = |nodes, loss| f64::from(nodes) * (1.0 + beyond_first(loss, nodes - 1));
    grid(Variant::Al, |_| 0.0, |nodes, loss| Some(messages(nodes, loss)));
}

/// The same with T_S, T_A and Δ all different, so that none can stand for another.
#[test]
fn each_timer_has_its_own_part_in_the_delay() {
    let mut report = Report::default();
    for (loss, nodes) in [(Loss::None, 7), (correlated(0.3), 7), (uncorrelated(0.3), 20)] {
        for (variant, wake) in
            [(Variant::LeA, 0.0), (Variant::LeS, 0.25), (Variant::LeM, 0.5 / f64::from(nodes + 1))]
        {
            let case = Case::new(variant, nodes, loss).timers(0.5, 2.0).delay(0.03).runs(10_000);
            let expected = wake + 2.0 * beyond_first(loss, nodes - 1);
            report.all_agree(
                &case,
                &[
                    (Measure::ConvergenceTime, expected),
                    (Measure::LeadershipDelay, expected + 0.03),
                ],
            );
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
        for loss in [Loss::None, correlated(0.4), uncorrelated(0.4)] {
            let case = Case::new(Variant::LeS, 10, loss).shape(shape).runs(10_000);
            let expected = mean_wake(shape) + beyond_first(loss, 9);
            report.all_agree(&case, &[(Measure::ConvergenceTime, expected)]);
        }
    }
    report.finish();
}

/// Section 5.3.1.3 prints Σ_{i=1..N} (−1)^{i+1} C(N,i)/(1−l^i) = 1 + X(N): attempts, where only
/// those beyond the first take time, and N receivers, where the leader is none.
#[test]
fn the_printed_delay_with_uncorrelated_loss_is_rejected() {
    let mut report = Report::default();
    let case = Case::new(Variant::LeS, 10, uncorrelated(0.4)).runs(10_000);
    let answer = case.answer();
    let printed: f64 = {
        let mut binomial = 1.0;
        (1..=10)
            .map(|i| {
                binomial *= f64::from(11 - i) / f64::from(i);
                let sign = if i % 2 == 1 { 1.0 } else { -1.0 };
                sign * binomial / (1.0 - 0.4f64.powi(i))
            })
            .sum()
    };
    assert!((printed - 1.0 - beyond_first_apart(10, 0.4)).abs() < 1e-9, "{printed}");
    let delay = Measure::LeadershipDelay;
    report.agrees(&case, &answer, delay, 0.5 + D + beyond_first_apart(9, 0.4));
    report.rejects(&case, &answer, delay, 0.5 + D + printed);
    // Neither of the two mistakes alone goes unnoticed.
    report.rejects(&case, &answer, delay, 0.5 + D + 1.0 + beyond_first_apart(9, 0.4));
    report.rejects(&case, &answer, delay, 0.5 + D + beyond_first_apart(10, 0.4));
    report.finish();
}
