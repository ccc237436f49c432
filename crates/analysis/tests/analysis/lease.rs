//! Plans of leases: whatever is asked for, what is planned is valid and keeps to the goals.

use bellwether_analysis::Loss;
use bellwether_analysis::plan::Effort;
use bellwether_analysis::plan::lease::{Goals, LOSS_MAX, Plan, Refused, budget};
use bellwether_core::Duration;
use bellwether_protocols::local_leader::Params;
use bellwether_sim::network::DelayModel;
use proptest::prelude::*;

fn goals() -> Goals {
    Goals {
        nodes: 5,
        loss: Loss::Uncorrelated(0.01),
        delay: Duration::from_millis(2),
        delay_model: DelayModel::Constant,
        scheduling: Duration::from_millis(20),
        drift_ppm: 200,
        fsync: Duration::ZERO,
        detect: Duration::from_secs(1),
        losses_per_year: 1.0,
    }
}

fn check(plan: &Plan) {
    let goals = plan.goals;
    assert_eq!(Params::try_from(plan.config.clone()).as_ref(), Ok(&plan.params));
    assert!(plan.takeover_within() <= goals.detect, "{goals:?}");
    assert!(plan.losses_after_stalls() <= goals.losses_per_year, "{goals:?}");
    let [least, most] = plan.renewal().losses_per_second();
    assert!(least <= most * (1.0 + 1e-9) && most.is_finite(), "{goals:?}: {least} {most}");
    assert!(plan.renewal().requests_in_a_lease() >= 3, "{goals:?}");
    let [sent, crossing] = plan.renewal().datagrams_per_second();
    assert!(0.0 < sent && sent <= crossing && crossing.is_finite(), "{goals:?}");
    // A message and the one before it, stored for as long as it takes, are certain to be fast.
    let hold = plan.params.refresh() + plan.params.period();
    let twice = plan.params.timely(hold) * 2;
    assert!(twice >= goals.slowest().0 * 2 + goals.fsync, "{goals:?}");
    for bar in budget(plan) {
        let sum = bar.parts.iter().fold(Duration::ZERO, |sum, part| sum + part.length);
        assert_eq!(sum, bar.whole, "{goals:?}: {}", bar.title);
    }
}

fn length() -> impl Strategy<Value = Duration> {
    let any = (0_u32..8, 0_u64..10).prop_map(|(power, digit)| digit * 10_u64.pow(power));
    prop_oneof![9 => any.prop_map(Duration::from_micros), 1 => Just(Duration::MAX)]
}

proptest! {
    #[test]
    fn every_plan_is_valid_and_what_is_refused_can_be_had_as_told(
        nodes in 0_u32..40,
        (rate, together) in (0.0..0.25, any::<bool>()),
        (delay, scheduling, fsync) in (length(), length(), length()),
        model in 0..4_usize,
        drift_ppm in prop_oneof![Just(0), Just(200), 0_u32..=100_000],
        detect in length(),
        power in -12..3_i32,
    ) {
        let models = [
            DelayModel::Constant,
            DelayModel::Uniform,
            DelayModel::Exponential,
            DelayModel::LogNormal,
        ];
        let loss = if together { Loss::together(rate) } else { Loss::apart(rate) };
        let (delay_model, losses_per_year) = (models[model], 10_f64.powi(power));
        let goals = Goals {
            nodes, loss, delay, delay_model, scheduling, drift_ppm, fsync, detect, losses_per_year,
        };
        match Plan::new(goals) {
            Ok(plan) => check(&plan),
            Err(Refused::Detect { soonest, .. }) => {
                assert!(soonest > detect, "{goals:?}: {soonest}");
                let unhurried = Goals { detect: soonest, losses_per_year: f64::INFINITY, ..goals };
                check(&Plan::new(unhurried).expect("it was told"));
            }
            Err(Refused::Losses { fewest, .. }) => {
                assert!(fewest > losses_per_year, "{goals:?}: {fewest}");
                let patient = Goals { losses_per_year: fewest, ..goals };
                check(&Plan::new(patient).expect("it was told"));
            }
            Err(Refused::Config(bad)) => panic!("{goals:?}: {bad}"),
            Err(_) => {}
        }
    }
}

/// Statistical: fixed seeds, each prediction judged at 99.9 %.
#[test]
fn simulations_confirm_plans_of_all_kinds() {
    let ms = Duration::from_millis;
    let usual = goals();
    let all = [
        usual,
        Goals { loss: Loss::None, nodes: 3, detect: ms(300), ..usual },
        Goals { loss: Loss::Uncorrelated(0.05), nodes: 3, ..usual },
        Goals { loss: Loss::Uncorrelated(LOSS_MAX), nodes: 3, detect: ms(3000), ..usual },
        Goals { loss: Loss::Uncorrelated(LOSS_MAX), nodes: 7, detect: ms(3000), ..usual },
        Goals { loss: Loss::Correlated(0.05), nodes: 4, detect: ms(2000), ..usual },
        Goals { delay: ms(20), delay_model: DelayModel::Exponential, detect: ms(5000), ..usual },
        Goals { delay: ms(5), delay_model: DelayModel::Uniform, nodes: 9, ..usual },
        Goals { delay: ms(5), delay_model: DelayModel::LogNormal, detect: ms(3000), ..usual },
        Goals { fsync: ms(10), scheduling: ms(5), nodes: 6, drift_ppm: 1000, ..usual },
    ];
    let mut doubts = Vec::new();
    for goals in all {
        let plan = Plan::new(goals).expect("it can be planned");
        check(&plan);
        let effort = Effort { runs: 50, seed: 3, threads: 0 };
        let found = plan.confirm(effort, &|_| {}).expect("it can be simulated");
        let late = found.in_time.runs - found.in_time.successes;
        if !found.doubts().is_empty() || late > 1 {
            let far = found.comparisons.iter().map(|one| {
                let (predicted, mean) = (one.predicted, one.simulated.mean);
                format!("\n  {predicted:?} {mean} ± {} {}", one.simulated.stderr, one.command)
            });
            let (doubts_here, far) = (found.doubts(), far.collect::<String>());
            doubts.push(format!("{goals:?}: {late} late, {doubts_here:?}{far}"));
        }
    }
    assert!(doubts.is_empty(), "{}", doubts.join("\n"));
}
