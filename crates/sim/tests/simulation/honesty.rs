//! What an experiment must report: runs without an answer, and questions without one.

use crate::support::{self, constant};
use bellwether_core::Duration;
use bellwether_protocols::announce_listen::{Config, Params, Variant};
use bellwether_sim::network::Loss;
use bellwether_sim::{BadExperiment, Experiment, Measure, Scenario};

fn experiment(config: Config, nodes: u32, scenario: Scenario) -> Experiment {
    let params = Params::try_from(config).expect("a valid config");
    let network = constant(100, Loss::None);
    Experiment { scenario, runs: 100, ..support::experiment(params, nodes, network) }
}

fn listening(variant: Variant) -> Config {
    Config { listen: Duration::from_secs(3), ..Config::new(variant) }
}

/// The delay lies between 2.2 s and 4.2 s, so a window of 3 s sees only the shorter ones.
#[test]
fn a_window_that_is_too_short_is_said_to_be() {
    let whole = experiment(listening(Variant::LeS), 10, Scenario::Departure);
    let short = Experiment { window: Duration::from_secs(3), ..whole.clone() };
    let (whole, short) = (whole.run(&|| ()).unwrap(), short.run(&|| ()).unwrap());
    assert_eq!(whole.unsettled, 0);
    assert!((10..90).contains(&short.unsettled), "{}", short.unsettled);
    let settled = short.measure(Measure::ReestablishmentDelay).unwrap().count as u64;
    assert_eq!(settled + short.unsettled, 100);
}

/// The loss is so high that some process always mistrusts the leader.
#[test]
fn a_group_that_never_agrees_at_one_moment_is_unsettled() {
    let config = Config { listen: Duration::from_millis(1100), ..Config::new(Variant::LeS) };
    let mut experiment = experiment(config, 40, Scenario::Start);
    experiment.network.multicast.loss = Loss::Uncorrelated(0.7.try_into().unwrap());
    experiment.runs = 20;
    let answer = experiment.run(&|| ()).unwrap();
    let agreed = answer.measure(Measure::AgreementTime).map_or(0, |summary| summary.count as u64);
    assert_eq!(agreed + answer.unsettled, 20);
    assert!(answer.unsettled > 0);
    let accepted = answer.measure(Measure::ConvergenceTime).unwrap();
    assert_eq!(accepted.count, 20, "all have accepted the leader once, all the same");
}

#[test]
fn rounds_are_averaged_over_those_who_were_told() {
    let config = Config { leaders: 2, ..Config::new(Variant::LeS) };
    let answer = experiment(config, 2, Scenario::Start).run(&|| ()).unwrap();
    let (most, average) =
        (answer.measure(Measure::Rounds).unwrap(), answer.measure(Measure::AverageRounds).unwrap());
    assert_eq!((most.mean, average.mean), (1.0, 1.0), "each hears the other's first announcement");
}

#[test]
fn questions_without_an_answer_are_refused() {
    let le_m = experiment(Config::new(Variant::LeM), 10, Scenario::JoinSmaller);
    assert_eq!(le_m.check(), Err(BadExperiment::NobodyIsGreater("join-smaller")));
    let alone = experiment(listening(Variant::LeS), 1, Scenario::Departure);
    assert_eq!(alone.check(), Err(BadExperiment::NobodyLeft));
    let mut lossy = experiment(Config::new(Variant::LeS), 10, Scenario::Start);
    lossy.network.multicast.loss = Loss::Uncorrelated((1.0 - 1e-9).try_into().unwrap());
    assert!(matches!(lossy.check(), Err(BadExperiment::TooManyRounds { .. })));
}
