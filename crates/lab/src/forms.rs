//! What formulas give for what is measured.
//!
//! **Promise.** A formula stands beside a measure only if the simulation that measures its quantity
//! is the very experiment: the same protocol, parameters, group, network and event. Nobody lists
//! which formula belongs to which measure; the quantities themselves say what measures them.

use bellwether_analysis::local_leader::Leases;
use bellwether_analysis::{Inputs, Loss, ValidInputs, quantities};
use bellwether_core::Duration;
use bellwether_protocols::announce_listen::Shape;
use bellwether_sim::network::{LossModel, Probability};
use bellwether_sim::{Churn, Engine, Experiment, Initiators, Scenario, Terrain};
use serde_json::{Map, Value, json};

/// What a formula gives for this measure of this experiment, if one does.
pub(crate) fn of(
    experiment: &Experiment,
    params: &Map<String, Value>,
    measure: &str,
) -> Option<Value> {
    let inputs = ValidInputs::try_from(inputs(experiment, params)).ok()?;
    let same = fingerprint(experiment);
    let mut means = quantities().filter(|quantity| !quantity.is_percentile);
    let found = means.find(|quantity| {
        let Some((point, measured)) = (quantity.simulation)(&inputs) else { return false };
        measured.name() == measure
            && point.experiment(1).is_ok_and(|simulated| fingerprint(&simulated) == same)
    })?;
    let (printed, corrected) = ((found.printed)(&inputs), (found.corrected)(&inputs));
    Some(json!({
        "quantity": found.name,
        "section": found.section,
        "about": found.about,
        "unit": found.unit.name(),
        "printed": printed.ok(),
        "corrected": corrected.as_ref().ok(),
        "exact": corrected.is_ok() && (found.exact)(&inputs),
        "note": (found.note)(&inputs),
    }))
}

/// All that decides what is measured, as text: an experiment without how often it is made, and for
/// how long each run is watched: no formula depends on that.
fn fingerprint(experiment: &Experiment) -> String {
    let (engine, window) = (Engine::Auto, Duration::ZERO);
    let plain = Experiment { runs: 0, seed: 0, threads: 0, engine, window, ..experiment.clone() };
    format!("{plain:?}")
}

/// What formulas are asked about, as far as this experiment says it.
fn inputs(experiment: &Experiment, params: &Map<String, Value>) -> Inputs {
    let usual = Inputs::default();
    let number = |key: &str| params.get(key).and_then(Value::as_f64);
    let Experiment { network, initiation, .. } = experiment;
    let rate = |loss: bellwether_sim::network::Loss| loss.rate();
    let loss = match network.multicast.loss {
        bellwether_sim::network::Loss::None => Some(Loss::None),
        bellwether_sim::network::Loss::Correlated(_) => {
            Loss::of(LossModel::Correlated, rate(network.multicast.loss))
        }
        _ => Loss::of(LossModel::Uncorrelated, rate(network.multicast.loss)),
    };
    let churn = match experiment.scenario {
        Scenario::Churn(churn) => churn,
        _ => Churn { departures: usual.departures, arrivals: usual.arrivals },
    };
    let (initiators, initiator) = match &initiation.initiators {
        Initiators::One => (Some(1), 0),
        Initiators::All => (Some(experiment.nodes), 0),
        Initiators::Some(count) => (Some(*count), 0),
        Initiators::Named(named) => (Some(1), named.first().copied().unwrap_or(0)),
        Initiators::Random => (None, 0),
    };
    let links = match initiation.terrain {
        Terrain::Random { links } => Some(links as u64),
        _ => None,
    };
    let chance = |probability: Probability| probability.value();
    Inputs {
        nodes: experiment.nodes,
        loss: loss.unwrap_or(usual.loss),
        delay: network.constant_delay().map_or(usual.delay, Duration::as_secs_f64),
        suppress: number("suppress").unwrap_or(usual.suppress),
        announce: number("announce").unwrap_or(usual.announce),
        listen: number("listen").unwrap_or(f64::INFINITY),
        shape: shape(params),
        departures: churn.departures,
        arrivals: churn.arrivals,
        initiators,
        initiator,
        links,
        processing: initiation.processing.as_secs_f64(),
        reply: number("reply"),
        k: number("k").map_or(usual.k, |k| k as u32),
        view: chance(initiation.view),
        fail: chance(initiation.fail),
        unicast_loss: rate(network.unicast.loss),
        multicast_loss: rate(network.multicast.loss),
        leases: Leases::of(&experiment.choice).unwrap_or_default(),
        ..usual
    }
}

/// The distribution of wake-up times.
fn shape(params: &Map<String, Value>) -> Shape {
    let rate = params.get("timer_rate").and_then(Value::as_f64).unwrap_or(1.0);
    match params.get("timer").and_then(Value::as_str) {
        Some("exponential") => Shape::Rising { rate },
        Some("exponential-falling") => Shape::Falling { rate },
        _ => Shape::Uniform,
    }
}
