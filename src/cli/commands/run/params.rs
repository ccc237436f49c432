//! The parameters of the protocol: those of a file's `[params]`, overridden by flags.

use super::layers::{self, unknown};
use super::options::Options;
use crate::cli::failure::Failure;
use crate::cli::flags::{self, Live};
use bellwether::core::Duration;
use bellwether::net::Peers;
use bellwether::protocols::choice::{BadText, Config, Entry};
use bellwether::protocols::param::{BadParam, GivenParams};
use bellwether::protocols::surroundings::Surroundings;
use bellwether::sim::Ranks;
use serde_json::{Map, Value};

/// The assumed loss, for parameters whose defaults depend on it.
const LOSS: f64 = 0.01;

/// The parameters of the chosen protocol; `given` are the flags that were set, anywhere.
pub(super) fn config(
    options: &Options,
    given: &[String],
    file: layers::Params,
) -> Result<Config, Failure> {
    let (entry, table) = (options.protocol, options.protocol.params());
    flags::refuse_foreign(entry, given, &flags::all::<Live>(), &flags::own::<Live>(entry))?;
    let bad = |error: serde_json::Error| Failure::Config(format!("[params]: {error}"));
    let written = serde_json::to_value(&file.table).map_err(bad)?;
    let written = written.as_object().cloned().unwrap_or_default();
    check_each(entry, &written, &file)?;
    let mut params = GivenParams::of_values(table, written).map_err(refused)?;
    for (name, text) in options.params.pairs() {
        params.put(table, name, text).map_err(refused)?;
    }
    entry.config(&surroundings(options), &params).map_err(refused)
}

/// A parameter that a flag or the group's form gives, and that is refused.
fn refused(bad: BadParam) -> Failure {
    Failure::Config(format!("[params]: {}", explained(bad)))
}

/// Adds the nearest name if the parameter is unknown.
fn explained(bad: BadParam) -> String {
    match bad {
        BadParam::Unknown { name, known } => {
            unknown(&name, &known.into_iter().map(str::to_owned).collect())
        }
        other => other.to_string(),
    }
}

/// Reads the parameters of a file one by one, so that an error has the name and the line.
fn check_each(
    entry: &Entry,
    params: &Map<String, Value>,
    file: &layers::Params,
) -> Result<(), Failure> {
    for (name, value) in params {
        let alone = Map::from_iter([(name.clone(), value.clone())]);
        let text = Value::Object(alone.clone()).to_string();
        let known = GivenParams::of_values(entry.params(), alone).map_err(explained);
        let read = known.and_then(|_| {
            // The position refers to the text that was just made, and means nothing to the user.
            let shown = |error: BadText| match error.to_string().split_once(" at line ") {
                Some((problem, _)) => problem.to_owned(),
                None => error.to_string(),
            };
            Config::from_json(entry.name, &text).map_err(shown)
        });
        read.map_err(|why| Failure::Config(format!("{}[params] {name}: {why}", file.place(name))))?;
    }
    Ok(())
}

fn surroundings(options: &Options) -> Surroundings {
    let (nodes, greatest) = match &options.peers {
        Some(Peers::Listed(list)) => {
            (list.len(), list.keys().next_back().map_or(1, |greatest| greatest.0))
        }
        _ => (2, u64::MAX - 1),
    };
    let nodes = u32::try_from(nodes).unwrap_or(u32::MAX).max(1);
    Surroundings {
        nodes,
        ids: greatest.saturating_add(1),
        ranks: Ranks::BOUND,
        delay: options.protocol.family.usual().live_delay,
        longest: None,
        processing: Duration::ZERO,
        loss: LOSS,
        unsteady: true,
        unattended: true,
        moving: false,
        copies: false,
        listed: options.peers.as_ref().is_none_or(Peers::is_list),
        live: true,
        joins: !options.through.is_empty(),
    }
}
