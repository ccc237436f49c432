//! The form of a scenario file, for reading and for writing.

use super::document::Document;
use super::row::Row;
use super::telling::{Caption, StatedOutcome};
use super::{BadScenario, Problem};
use crate::ineffective_fault::idle;
use crate::network::{Network, Probability};
use crate::order::Order;
use crate::plan::{Key, Plan, Ranks};
use bellwether_core::Duration;
use bellwether_protocols::promise::Promise;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A scenario without its protocol's parameters.
pub(super) struct Written {
    pub(super) about: String,
    pub(super) protocol: String,
    pub(super) seed: u64,
    pub(super) plan: Plan,
    pub(super) promise: Option<Promise>,
    pub(super) captions: Vec<Caption>,
    pub(super) outcome: Option<StatedOutcome>,
}

/// What a file says that its run does not depend on.
#[derive(Clone, Copy, Default)]
pub(super) struct Beside<'a> {
    pub(super) promise: Option<Promise>,
    pub(super) captions: &'a [Caption],
    pub(super) outcome: Option<&'a StatedOutcome>,
}

/// A file, with its keys in the order in which people read them.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File<P> {
    #[serde(default)]
    about: String,
    protocol: String,
    nodes: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    absent: Vec<u32>,
    /// Who votes at first; all if absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    founders: Vec<u32>,
    /// Whether nobody can tell a first life from a lost memory.
    #[serde(default, skip_serializing_if = "is_usual")]
    unknown_first_lives: bool,
    #[serde(default)]
    ranks: Ranks,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    priorities: Vec<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    witnesses: Vec<u32>,
    /// The probability that one process sees another.
    #[serde(default = "always", skip_serializing_if = "is_certain")]
    view: Probability,
    /// How long each message takes to be handled.
    #[serde(default, skip_serializing_if = "is_usual")]
    processing: Duration,
    /// How soon all are told of stops and starts; never if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    detection: Option<Duration>,
    #[serde(default = "first")]
    seed: u64,
    until: Duration,
    /// Clock drift within ± this, in parts per 10⁹.
    #[serde(default, skip_serializing_if = "is_usual")]
    drift: u32,
    /// Each clock starts at a random reading below this.
    #[serde(default)]
    offset: Duration,
    /// The order of the ring.
    #[serde(default, skip_serializing_if = "is_usual")]
    order: Order,
    /// The promise that the run is judged by; the protocol's own if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    promise: Option<String>,
    /// The parameters. Their keys are known only once the protocol is.
    #[serde(default)]
    params: P,
    #[serde(default)]
    network: Network,
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    faults: Vec<Row>,
    /// What a reader is told, and from when on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    caption: Vec<Caption>,
    /// What the run comes to.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<StatedOutcome>,
}

fn first() -> u64 {
    1
}

fn always() -> Probability {
    Probability::ONE
}

fn is_certain(probability: &Probability) -> bool {
    probability.is_certain()
}

fn is_usual<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Written {
    pub(super) fn read(document: &Document<'_>) -> Result<Self, BadScenario> {
        let file: File<toml::Table> = document.read()?;
        let promise = file.promise.as_deref().map(str::parse).transpose();
        let promise = promise.map_err(|bad| document.refuse("promise", Problem::Promise(bad)))?;
        let mut faults = Vec::new();
        for (number, row) in file.faults.into_iter().enumerate() {
            faults.push(
                row.read().map_err(|bad| {
                    document.refuse(Key::Fault(number, bad.key), Problem::Row(bad))
                })?,
            );
        }
        let plan = Plan {
            nodes: file.nodes,
            absent: file.absent,
            founders: file.founders,
            unknown_first_lives: file.unknown_first_lives,
            ranks: file.ranks,
            priorities: file.priorities,
            witnesses: file.witnesses,
            order: file.order,
            view: file.view,
            processing: file.processing,
            detection: file.detection,
            network: file.network,
            faults,
            drift: file.drift,
            offset: file.offset,
            horizon: file.until,
        };
        Ok(Self {
            about: file.about,
            protocol: file.protocol,
            seed: file.seed,
            plan,
            promise,
            captions: file.caption,
            outcome: file.outcome,
        })
    }
}

/// See [`ScenarioFile::write`](super::ScenarioFile::write).
pub(super) fn write<C: Serialize>(
    about: &str,
    protocol: &str,
    params: &C,
    plan: &Plan,
    seed: u64,
    Beside { promise, captions, outcome }: Beside<'_>,
) -> Result<String, Unwritable> {
    let idle = idle(plan);
    let has_effect = |number: &usize| idle.iter().all(|(other, _)| other != number);
    let faults = plan.faults.iter().enumerate().filter(|(number, _)| has_effect(number));
    let file = File {
        about: about.to_owned(),
        protocol: protocol.to_owned(),
        nodes: plan.nodes,
        absent: plan.absent.clone(),
        founders: plan.founders.clone(),
        unknown_first_lives: plan.unknown_first_lives,
        ranks: plan.ranks,
        priorities: plan.priorities.clone(),
        witnesses: plan.witnesses.clone(),
        order: plan.order.clone(),
        view: plan.view,
        processing: plan.processing,
        detection: plan.detection,
        seed,
        until: plan.horizon,
        drift: plan.drift,
        offset: plan.offset,
        promise: promise.map(|promise| promise.name().to_owned()),
        params,
        network: plan.network.clone(),
        faults: faults.map(|(_, timed)| Row::from(timed)).collect(),
        caption: captions.to_vec(),
        outcome: outcome.cloned(),
    };
    toml::to_string(&file).map_err(|error| Unwritable(error.to_string()))
}

/// A scenario that cannot be written as a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwritable(String);

impl fmt::Display for Unwritable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the schedule cannot be written as a scenario: {}", self.0)
    }
}

impl std::error::Error for Unwritable {}
