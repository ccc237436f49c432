//! Elections in rounds: the measures, compared with the messages and the live processes.

use crate::support::{self, campaign, constant, p};
use bellwether_core::{Duration, Event};
use bellwether_protocols::probabilistic::{Config, Params, Probabilistic, Size};
use bellwether_sim::network::{Loss, Network};
use bellwether_sim::{
    Answer, Experiment, Initiation, Initiators, Measure, Plan, RunSeed, Tracer, World,
};

fn network(loss: f64) -> Network {
    constant(100, if loss > 0.0 { Loss::Uncorrelated(p(loss)) } else { Loss::None })
}

fn params(config: Config) -> Params {
    Params::try_from(config).expect("the rules are kept")
}

fn experiment(nodes: u32, config: Config, loss: f64) -> Experiment {
    let initiators = Initiators::Some(1);
    Experiment {
        initiation: Initiation { initiators, view: p(0.5), ..Initiation::default() },
        runs: 400,
        threads: 0,
        ..support::experiment(params(config), nodes, network(loss))
    }
}

fn answer(experiment: &Experiment) -> Answer {
    experiment.run(&|| ()).expect("it can be run")
}

fn mean(answer: &Answer, measure: Measure) -> f64 {
    answer.measure(measure).unwrap_or_else(|| panic!("no {}", measure.name())).mean
}

/// Of n rounds a process outlives all with (1 − p)^n; tolerance 4 standard deviations.
#[test]
fn everyone_is_as_likely_to_fail_in_every_round() {
    let config = Config { k: 3, max_rounds: 4, last_round_all: false, ..Config::default() };
    let one = experiment(500, config, 0.3);
    // And in every election: these are called one after the other.
    let mut several = experiment(500, Config::default(), 0.0);
    several.initiation.initiators = Initiators::Some(4);
    several.initiation.spread = Duration::from_secs(400);
    for mut experiment in [one, several] {
        experiment.runs = 1;
        experiment.initiation.fail = p(0.1);
        assert_failures(experiment);
    }
}

fn assert_failures(mut experiment: Experiment) {
    let (mut crashes, mut expected, mut variance, mut most) = (0, 0.0, 0.0, 0.0f64);
    for seed in 1..=40 {
        experiment.seed = seed;
        let records = experiment.trace();
        crashes += records.iter().filter(|record| record.event == Event::Crash).count();
        let rounds = mean(&answer(&experiment), Measure::Rounds);
        let lives = libm::pow(0.9, rounds);
        expected += 500.0 * (1.0 - lives);
        variance += 500.0 * lives * (1.0 - lives);
        most = most.max(rounds);
    }
    assert!(most >= 3.0, "several rounds are held: {most}");
    assert!((crashes as f64 - expected).abs() < 4.0 * variance.sqrt(), "{crashes}, {expected}");
}

#[test]
fn messages_are_those_that_were_sent() {
    let mut experiment = Experiment { runs: 1, ..experiment(200, Config::default(), 0.4) };
    for seed in 1..=20 {
        experiment.seed = seed;
        let (records, answer) = (experiment.trace(), answer(&experiment));
        let (mut unicasts, mut multicasts) = (0.0, 0.0);
        for record in records {
            match record.event {
                Event::Send { to: Some(_), .. } => unicasts += 1.0,
                Event::Send { to: None, .. } => multicasts += 1.0,
                _ => {}
            }
        }
        let measured = [Measure::Unicasts, Measure::Multicasts].map(|one| mean(&answer, one));
        assert_eq!(measured, [unicasts, multicasts], "seed {seed}");
    }
}

/// Everyone is a relay, and two know each other with probability 1 − (1 − v)². Tolerance: 4
/// standard errors of 4000 runs.
#[test]
fn components_are_those_of_a_random_graph() {
    for view in [0.2, 0.5] {
        let p = 1.0 - (1.0 - view) * (1.0 - view);
        let q = 1.0 - p;
        let two = [(1.0, p), (2.0, q)].to_vec();
        let three =
            [(1.0, p * p * p + 3.0 * p * p * q), (2.0, 3.0 * p * q * q), (3.0, q * q * q)].to_vec();
        for (nodes, parts) in [(2, two), (3, three)] {
            let config = Config { k: nodes, max_rounds: 1, ..Config::default() };
            let mut experiment = Experiment { runs: 4000, ..experiment(nodes, config, 0.0) };
            experiment.initiation.view = support::p(view);
            let answer = answer(&experiment);
            let expected: f64 = parts.iter().map(|(parts, chance)| parts * chance).sum();
            let square: f64 = parts.iter().map(|(parts, chance)| parts * parts * chance).sum();
            let error = ((square - expected * expected) / 4000.0).sqrt();
            let components = mean(&answer, Measure::Components);
            assert!((components - expected).abs() < 4.0 * error, "{components}, {expected}");
            assert_eq!(mean(&answer, Measure::Relays), f64::from(nodes));
        }
    }
}

/// Detection of failed rounds: with one round, every process that was told of no leader or of
/// several.
#[test]
fn a_round_that_fails_unnoticed_is_not_counted_as_detected() {
    let config = Config { k: 2, max_rounds: 1, ..Config::default() };
    let answer = answer(&experiment(300, config, 0.0));
    let failed = 1.0 - mean(&answer, Measure::StrongSuccess);
    let detected = mean(&answer, Measure::Detected);
    assert!(failed > 0.1, "{failed}");
    // Nothing is lost, so every process hears all final messages, or there are none.
    assert_eq!((detected, mean(&answer, Measure::Aborted)), (failed, failed));
}

/// One event per multicast or one per receiver, and packets shared or stored for each receiver.
#[test]
fn batches_change_nothing() {
    let mut plan = Plan { network: network(0.3), view: p(0.4), ..Plan::new(150) };
    plan.faults = vec![campaign(0, 7)];
    let params = params(Config { size: Size::View, ..Config::default() });
    for run in 0..30 {
        let run_seed = RunSeed::new(3, run);
        let (mut quick, mut slow) = (World::new(params.clone()), World::new(params.clone()));
        slow = slow.without_batches();
        quick.run(&plan, run_seed, &mut ());
        slow.run(&plan, run_seed, &mut Tracer::default());
        for node in 0..150 {
            let state =
                |world: &World<Probabilistic>| world.node(node).map(|n| n.protocol().clone());
            assert_eq!(state(&quick), state(&slow), "run {run}, process {node}");
        }
    }
}
