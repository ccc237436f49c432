//! The parameters of the protocol: a file's `[params]`, and over them the flags that were written.

use super::super::failure::Failure;
use super::super::group::{Printed, Surroundings, flags};
use super::super::leases::Leases;
use super::layers::{self, unknown};
use super::options::Options;
use crate::cli::announce_listen::AnnounceListen;
use bellwether::core::Duration;
use bellwether::net::Peers;
use bellwether::protocols::choice::{Config, Family};
use bellwether::protocols::probabilistic;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// What is thought of a network until it is known better, where a parameter depends on it.
const DELAY: Duration = Duration::from_millis(100);
const LOSS: f64 = 0.01;
/// What a message to one process is thought to take, where all times are multiples of it.
const HOP: Duration = Duration::from_millis(30);

/// What a flag is called among the parameters, where that differs.
const RENAMED: [(&str, &str); 5] = [
    ("listen-for", "listen"),
    ("timer", "shape"),
    ("timer-rate", "shape"),
    ("jitter", "mapping"),
    ("bye", "bye-copies"),
];

/// What a flag says even if it was not written, unless the file does; see `options::named`.
const BY_DEFAULT: [&str; 3] = ["listen", "patience", "reply-spread"];

/// The parameters of the chosen protocol; `given` are the flags that were set, anywhere.
pub(super) fn config(
    options: &Options,
    given: &[String],
    file: layers::Params,
) -> Result<Config, Failure> {
    let entry = options.protocol;
    check_flags(entry.name, entry.family, given)?;
    let flags = match entry.family {
        Family::AnnounceListen(variant) => {
            let around = surroundings(options);
            Config::AnnounceListen(options.announce_listen.config(variant, &around)?)
        }
        Family::LocalLeader => Config::LocalLeader(options.leases.config()),
        Family::Called(called) => Config::Called(called.restless(HOP, surroundings(options).nodes)),
        Family::Probabilistic => Config::Probabilistic(probabilistic::Config::restless(HOP)),
    };
    let bad = |error: serde_json::Error| Failure::Config(format!("[params]: {error}"));
    let flags: Map<String, Value> = serde_json::from_str(&flags.to_json()).map_err(bad)?;
    let written = serde_json::to_value(&file.table).map_err(bad)?;
    let mut params = written.as_object().cloned().unwrap_or_default();
    check_each(entry.name, &params, &file)?;
    let set: BTreeSet<&str> = given.iter().map(|flag| renamed(flag)).collect();
    if entry.family == Family::LocalLeader
        && !params.contains_key("mode")
        && !options.peers.as_ref().is_none_or(Peers::is_list)
    {
        params.insert("mode".to_owned(), Value::from("local"));
    }
    for (key, value) in flags {
        let usual = BY_DEFAULT.contains(&key.as_str()) || is_called(entry.family);
        let by_default = usual && !params.contains_key(&key);
        if set.contains(key.as_str()) || by_default {
            params.insert(key, value);
        }
    }
    if options.printed.as_printed {
        params.insert("as-printed".to_owned(), Value::Bool(true));
    }
    check_simulated(&params)?;
    let text = Value::Object(params).to_string();
    Config::from_json(entry.name, &text)
        .map_err(|error| Failure::Config(format!("[params]: {}", explained(&error.to_string()))))
}

/// Reads the parameters of a file one by one, so that a bad one is told with its name and line.
fn check_each(
    protocol: &str,
    params: &Map<String, Value>,
    file: &layers::Params,
) -> Result<(), Failure> {
    for (name, value) in params {
        let alone = Map::from_iter([(name.clone(), value.clone())]);
        Config::from_json(protocol, &Value::Object(alone).to_string()).map_err(|error| {
            let (place, why) = (file.place(name), explained(&error.to_string()));
            Failure::Config(format!("{place}[params] {name}: {why}"))
        })?;
    }
    Ok(())
}

/// Whether elections are called, and parameters stand in a file.
fn is_called(family: Family) -> bool {
    matches!(family, Family::Called(_) | Family::Probabilistic)
}

fn announcing() -> Vec<String> {
    let flags = flags::<AnnounceListen>().into_iter().chain(flags::<Printed>());
    flags.map(|flag| if flag == "listen" { "listen-for".to_owned() } else { flag }).collect()
}

fn leasing() -> Vec<String> {
    flags::<Leases>()
}

fn renamed(flag: &str) -> &str {
    RENAMED.iter().find(|(name, _)| *name == flag).map_or(flag, |(_, key)| key)
}

fn check_flags(name: &str, family: Family, given: &[String]) -> Result<(), Failure> {
    let (own, foreign) = match family {
        Family::AnnounceListen(_) => (announcing(), leasing()),
        Family::LocalLeader => (leasing(), announcing()),
        Family::Called(_) | Family::Probabilistic => {
            (flags::<Printed>(), [announcing(), leasing()].concat())
        }
    };
    match given.iter().find(|flag| foreign.contains(flag) && !own.contains(flag)) {
        None => Ok(()),
        Some(flag) if is_called(family) => Err(Failure::usage(format!(
            "--{flag} is no flag of {name}, whose parameters stand in a file's [params]"
        ))),
        Some(flag) => Err(Failure::usage(format!(
            "--{flag} is no flag of {name}, which has --{}",
            own.join(" --")
        ))),
    }
}

/// What is for experiments alone is refused: with it, a lease would promise nothing.
fn check_simulated(params: &Map<String, Value>) -> Result<(), Failure> {
    for name in ["unchecked", "as-published", "as-printed"] {
        if params.get(name) == Some(&Value::Bool(true)) {
            return Err(Failure::Config(format!(
                "{name}: a protocol with its mistakes or without its constraints promises nothing; \
                 it is for `sim` and `check`"
            )));
        }
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
    let (unsteady, copies, as_printed) = (true, true, options.printed.as_printed);
    Surroundings {
        nodes,
        ids: greatest.saturating_add(1),
        delay: DELAY,
        loss: LOSS,
        unsteady,
        copies,
        as_printed,
    }
}

/// Says which parameter may have been meant, if that is what is wrong. Where the error was in the
/// JSON that was made of the parameters is nobody's business.
fn explained(error: &str) -> String {
    let error = error.split(" at line ").next().unwrap_or(error);
    let names: Vec<&str> = error.split('`').skip(1).step_by(2).collect();
    match names.as_slice() {
        [name, known @ ..] if error.contains("unknown field") && !known.is_empty() => {
            let known: BTreeSet<String> = known.iter().map(|name| (*name).to_owned()).collect();
            unknown(name, &known)
        }
        _ => error.to_owned(),
    }
}
