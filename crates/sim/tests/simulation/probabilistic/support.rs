//! Repeated elections, and how often they succeed.

use crate::support::{experiment, ms, p};
use bellwether_core::{Duration, SimTime};
use bellwether_protocols::probabilistic::{Config, Params};
use bellwether_sim::network::{Channel, Delay, Loss, Network};
use bellwether_sim::{Engine, Experiment, Initiation, Initiators, Measure};

/// The conditions of the repeated elections.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    pub(crate) nodes: u32,
    pub(crate) config: Config,
    /// The probability that one process sees another.
    pub(crate) view: f64,
    pub(crate) unicast_loss: f64,
    pub(crate) multicast_loss: f64,
    /// The probability that a process crashes within a round, at a random moment of it.
    pub(crate) fail: f64,
}

impl Trial {
    /// Everyone sees everyone, nothing is lost and nobody fails.
    pub(crate) fn calm(nodes: u32, config: Config) -> Self {
        let (unicast_loss, multicast_loss, fail) = (0.0, 0.0, 0.0);
        Self { nodes, config, view: 1.0, unicast_loss, multicast_loss, fail }
    }
}

pub(crate) fn params(config: Config) -> Params {
    Params::try_from(config).expect("the configurations of these tests keep the rules")
}

pub(crate) fn loss(value: f64) -> Loss {
    Loss::Uncorrelated(p(value))
}

fn channel(value: f64) -> Channel {
    Channel { delay: Delay::Constant(ms(100)), loss: loss(value) }
}

/// The results of many elections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Means {
    pub(crate) strong: f64,
    pub(crate) weak: f64,
    pub(crate) rounds: f64,
    pub(crate) unicasts: f64,
    pub(crate) multicasts: f64,
    pub(crate) aborted: f64,
}

/// Holds this many elections, each called by a random process.
pub(crate) fn many(trial: &Trial, runs: u64) -> Means {
    let network = Network {
        unicast: channel(trial.unicast_loss),
        multicast: channel(trial.multicast_loss),
        ..Network::default()
    };
    let experiment = Experiment {
        initiation: Initiation {
            initiators: Initiators::Some(1),
            view: p(trial.view),
            fail: p(trial.fail),
            ..Initiation::default()
        },
        window: Duration::from_secs(1_000_000),
        runs,
        // A different seed from that of the table in the protocol's documentation.
        seed: 1_000_000,
        threads: 0,
        engine: Engine::Event,
        ..experiment(params(trial.config.clone()), trial.nodes, network)
    };
    let answer = experiment.run(&|| {}).expect("the experiments of these tests can be run");
    let mean = |wanted: Measure| {
        let found = answer.measures.iter().find(|(measure, _)| *measure == wanted);
        found.map_or(f64::NAN, |(_, summary)| summary.mean)
    };
    Means {
        strong: mean(Measure::StrongSuccess),
        weak: mean(Measure::WeakSuccess),
        rounds: mean(Measure::Rounds),
        unicasts: mean(Measure::Unicasts),
        multicasts: mean(Measure::Multicasts),
        aborted: mean(Measure::Aborted),
    }
}

/// A moment so many seconds after the beginning.
pub(crate) fn seconds(count: u64) -> SimTime {
    SimTime::ZERO + Duration::from_secs(count)
}

/// Whether the fraction of successes is as expected, within four standard deviations.
pub(crate) fn assert_near(measured: f64, expected: f64, runs: u64) {
    let sigma = (expected * (1.0 - expected) / runs as f64).sqrt();
    let off = (measured - expected) / sigma.max(1e-9);
    assert!(off.abs() < 4.0, "{measured} where {expected} is expected: {off:.1} deviations off");
}
