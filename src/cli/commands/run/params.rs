//! The parameters of the protocol: those of a file's `[params]`, overridden by flags.

use super::layers::{self, of_member, unknown};
use super::options::Options;
use crate::cli::failure::Failure;
use crate::cli::flags::{self, Live, Offers};
use bellwether::core::Duration;
use bellwether::net::Peers;
use bellwether::protocols::choice::{self, BadText, Config, Entry};
use bellwether::protocols::local_leader::BadConfig;
use bellwether::protocols::param::{BadParam, GivenParams};
use bellwether::protocols::surroundings::Surroundings;
use bellwether::sim::Ranks;
use serde_json::{Map, Value};

/// The assumed loss, for parameters whose defaults depend on it.
const LOSS: f64 = 0.01;

/// The key of the length of leases in `[params]`.
const LEASE: &str = "lease";
/// The parameters that follow from it.
const FOLLOW: [&str; 7] = ["preset", "delta", "sigma", "renew", "lock", "period", "expires"];

/// The parameters of the chosen protocol, and the length of leases if they follow from that;
/// `given` are the flags that were set, anywhere.
pub(super) fn config(
    options: &Options,
    given: &[String],
    file: layers::Params,
) -> Result<(Config, Option<Duration>), Failure> {
    let (entry, table) = (options.protocol, options.protocol.params());
    flags::refuse_foreign(entry, given, &flags::all::<Live>(), &flags::own::<Live>(entry))?;
    let bad = |error: serde_json::Error| Failure::Config(format!("[params]: {error}"));
    let written = serde_json::to_value(&file.table).map_err(bad)?;
    let mut written = written.as_object().cloned().unwrap_or_default();
    let in_file = written.remove(LEASE).map(|value| lease_in(&value, &file)).transpose()?;
    check_each(entry, &written, &file)?;
    let mut params = GivenParams::of_values(table, written).map_err(refused)?;
    for (name, text) in options.params.pairs() {
        let of_flag = |bad| Failure::Config(flags::refused::<Live>(bad));
        params.put(table, name, text).map_err(of_flag)?;
    }
    let unfit = |bad: BadParam| match bad.name().is_some_and(|name| is_flag(options, name)) {
        true => Failure::Config(flags::refused::<Live>(bad)),
        false => refused(bad),
    };
    let config = entry.config(&surroundings(options), &params).map_err(unfit)?;
    match options.lease.or(in_file) {
        None => Ok((config, None)),
        Some(lease) => Ok((with_lease(entry, config, lease, &params)?, Some(lease))),
    }
}

/// Which rule the parameters break: those that a flag gave have its name, the others their own.
pub(super) fn broken(options: &Options, bad: &choice::BadConfig) -> String {
    bad.explain(&|name| match is_flag(options, name) {
        true => format!("--{}", Live::long(name)),
        false => name.to_owned(),
    })
}

/// Whether a flag gives this parameter, and not `[params]` of the file.
fn is_flag(options: &Options, param: &str) -> bool {
    options.params.pairs().any(|(name, _)| name == param)
}

/// The same for a member whose command, addresses and hooks have their own time to end before it
/// hands over to a better candidate: the loop has it hand over. Hooks may come with a reload, so
/// that is so for all.
pub(super) fn asking(config: Config) -> Config {
    let preempts = config.to_map().contains(&("preempt".to_owned(), Value::Bool(true)));
    let asking = preempts.then(|| config.with("preempt-asks", "true").ok()).flatten();
    asking.unwrap_or(config)
}

/// The length of leases in a file's `[params]`.
fn lease_in(value: &Value, file: &layers::Params) -> Result<Duration, Failure> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    text.parse().map_err(|why| {
        let place = file.place(LEASE);
        Failure::Config(format!("{place}[params] {LEASE}: invalid value '{text}': {why}"))
    })
}

/// The parameters with all times that follow from this length of leases. A time that was given
/// too is refused: nobody could tell which of the two counts.
fn with_lease(
    entry: &Entry,
    config: Config,
    lease: Duration,
    given: &GivenParams,
) -> Result<Config, Failure> {
    let Config::LocalLeader(leases) = config else {
        return Err(Failure::Config(format!(
            "--lease {lease}: {} has no leases; leave it out, or choose --protocol local-leader",
            entry.name
        )));
    };
    if let Some(name) = FOLLOW.into_iter().find(|name| given.has(name)) {
        return Err(Failure::Config(format!(
            "--lease {lease} sets all times of the leases, and --{name} would set one of them \
             again: leave out --{name}, or --lease and set the times one by one"
        )));
    }
    let bad = |bad: BadConfig| Failure::Config(format!("--lease {lease}: {bad}"));
    Ok(Config::LocalLeader(leases.with_lease(lease).map_err(bad)?))
}

/// The times that follow from the length of leases, as a line.
pub(super) fn times_of(config: &Config) -> String {
    let times = config.arguments(&config.family().default_config());
    let own = times.iter().filter(|(name, _)| FOLLOW.contains(name) && *name != "preset");
    own.map(|(name, text)| format!("{name} = {text}")).collect::<Vec<_>>().join(", ")
}

/// A parameter of the file that is refused beside all others.
fn refused(bad: BadParam) -> Failure {
    Failure::Config(format!("[params]: {}", explained(bad)))
}

/// Adds the nearest name if the parameter is unknown.
fn explained(bad: BadParam) -> String {
    match bad {
        BadParam::Unknown { name, known } => {
            let hint = of_member(&name, "[params]");
            unknown(&name, &known.into_iter().map(str::to_owned).collect()) + &hint
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
