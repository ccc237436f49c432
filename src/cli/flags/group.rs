//! The options that `sim`, `trace` and `check` share.
//!
//! Each protocol has parameters and defaults of its own. [`Group`] is what was written;
//! [`Conditions`] is that, for one protocol.

use crate::cli::failure::Failure;
use crate::cli::flags::calling::{Call, InitiationFlags};
use crate::cli::flags::channel::Channel;
use crate::cli::flags::common::{Nodes, Seed, by_protocol};
use crate::cli::flags::probabilistic::Probabilistic;
use crate::cli::flags::{self, Every, Parameters};
use bellwether::core::Duration;
use bellwether::protocols::choice::{Choice, Config, Entry, Goal};
use bellwether::protocols::param::GivenParams;
use bellwether::protocols::surroundings::Surroundings;
use bellwether::sim::network::Network;
use bellwether::sim::{Initiation, Ranks};
use clap::{Args, Command};
use serde_json::{Map, Value, json};

#[derive(Args, Debug)]
pub(in crate::cli) struct Group {
    #[command(flatten)]
    nodes: Nodes,
    #[command(flatten)]
    pub(in crate::cli) seed: Seed,
    #[command(flatten)]
    params: Parameters<Every>,
    #[command(flatten)]
    convened: InitiationFlags,
    #[command(flatten)]
    probabilistic: Probabilistic,
    #[command(flatten)]
    channel: Channel,
    /// Each clock runs fast or slow by its own amount up to this, in parts per million
    #[arg(long, value_name = "PPM", help_heading = "Clocks")]
    #[arg(value_parser = parts_per_million)]
    clock_drift: Option<u32>,
}

/// Adds the defaults that these protocols have; `few` where every process is looked at.
pub(in crate::cli) fn with_defaults(
    command: Command,
    protocols: &'static [Entry],
    few: bool,
) -> Command {
    let nodes = move |entry: &Entry| usual_nodes(entry, few).to_string();
    let delay = |entry: &Entry| entry.family.usual().delay.to_string();
    let drift = |entry: &Entry| match entry.family.has_leases() {
        true => "as --drift-ppm".to_owned(),
        false => "0".to_owned(),
    };
    command
        .mut_arg("nodes", move |flag| by_protocol(flag, protocols, &nodes))
        .mut_arg("delay", move |flag| by_protocol(flag, protocols, &delay))
        .mut_arg("clock_drift", move |flag| by_protocol(flag, protocols, &drift))
}

/// How many processes a group has, unless somebody says.
fn usual_nodes(entry: &Entry, few: bool) -> u32 {
    let usual = entry.family.usual();
    if few { usual.nodes_shown } else { usual.nodes }
}

/// Parses a drift. A clock that loses everything stands still.
fn parts_per_million(text: &str) -> Result<u32, String> {
    match text.parse::<u32>() {
        Ok(parts) if parts < 1_000_000 => Ok(parts),
        _ => Err("a drift is a whole number of parts per million, from 0 to 999999".to_owned()),
    }
}

/// Parses a number. Rejects NaN and infinity, which would pass every range check.
pub(in crate::cli) fn number(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err("it must be a finite number".to_owned()),
    }
}

/// A length of time in seconds, unless it is infinite.
pub(in crate::cli) fn finite(length: Duration) -> Option<f64> {
    (length != Duration::MAX).then(|| length.as_secs_f64())
}

impl Group {
    /// What was asked for, for this protocol; `given` are the flags that were written.
    pub(in crate::cli) fn with(
        &self,
        entry: &'static Entry,
        given: &[String],
    ) -> Result<Conditions<'_>, Failure> {
        flags::refuse_foreign(entry, given, &all_flags(), &own_flags(entry))?;
        Ok(Conditions { group: self, entry, unsteady: false, few: false })
    }
}

/// The flags that only some protocols have.
pub(in crate::cli) fn all_flags() -> Vec<String> {
    let mut all = flags::all::<Every>();
    all.extend(flags::of::<InitiationFlags>());
    all.extend(flags::of::<Probabilistic>());
    all
}

/// Those of them that this protocol has: its parameters, and what its elections need.
pub(in crate::cli) fn own_flags(entry: &'static Entry) -> Vec<String> {
    let mut own = flags::own::<Every>(entry);
    let calm = Surroundings::calm(5, Duration::from_millis(100));
    let config = entry.config(&calm, &GivenParams::default()).ok();
    let Some(choice) = config.and_then(|config| Choice::try_from(config).ok()) else { return own };
    if choice.rounds().is_some() {
        own.extend(flags::of::<Probabilistic>());
        // Its processes are told of no failures.
        own.extend(flags::of::<Call>().into_iter().filter(|flag| flag != "detection"));
    } else if choice.profile().on_demand {
        own.extend(InitiationFlags::flags_of(choice.layout()));
    }
    own
}

/// What was asked for, with the defaults of the protocol it was asked for.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli) struct Conditions<'a> {
    group: &'a Group,
    entry: &'static Entry,
    unsteady: bool,
    /// Whether every process will be looked at.
    few: bool,
}

impl Conditions<'_> {
    /// The same where anything may go wrong.
    pub(in crate::cli) fn unsteady(self) -> Self {
        Self { unsteady: true, ..self }
    }

    /// The same with no more processes by default than people can look at.
    pub(in crate::cli) fn few(self) -> Self {
        Self { few: true, ..self }
    }

    /// The seed, or its default.
    pub(in crate::cli) fn seed(self) -> u64 {
        self.group.seed.get()
    }

    /// How many processes there are.
    pub(in crate::cli) fn nodes(self) -> u32 {
        self.group.nodes.nodes.unwrap_or_else(|| usual_nodes(self.entry, self.few))
    }

    /// The protocol with its parameters, for a group with so many ids.
    pub(in crate::cli) fn choice(self, ids: u64) -> Result<(Config, Choice), Failure> {
        let config = self.group.params.config(self.entry, &self.surroundings(ids)?)?;
        let broken = |bad| Failure::usage(flags::broken::<Every>(&bad));
        let choice = Choice::try_from(config.clone()).map_err(broken)?;
        choice.check_nodes(ids).map_err(Failure::usage)?;
        match choice.profile().goal {
            Goal::Leaders(leaders) if leaders as u64 > u64::from(self.nodes()) => {
                Err(Failure::usage(format!(
                    "--leaders {leaders}, but there are {0} processes; choose at most {0}",
                    self.nodes()
                )))
            }
            _ => Ok((config, choice)),
        }
    }

    /// What must be written to get from the defaults to these parameters, as flags.
    pub(in crate::cli) fn arguments(self, config: &Config) -> Result<String, Failure> {
        let around = self.surroundings(u64::from(self.nodes()))?;
        let usual = Parameters::<Every>::none().config(self.entry, &around)?;
        Ok(flags::written(&config.arguments(&usual)))
    }

    /// The group and the network, for so many ids.
    fn surroundings(self, ids: u64) -> Result<Surroundings, Failure> {
        let Group { channel, convened, .. } = self.group;
        let (network, loss) = (self.network()?, channel.loss()?.rate());
        let longest = network.longest();
        Ok(Surroundings {
            nodes: self.nodes(),
            ids,
            ranks: Ranks::BOUND,
            delay: channel.delay(self.default_delay()),
            longest: (network.constant_delay() != Some(longest)).then_some(longest),
            processing: convened.processing(),
            loss,
            unsteady: self.unsteady || loss > 0.0 || channel.duplicates(),
            unattended: self.unsteady,
            moving: convened.wanders(),
            copies: channel.duplicates(),
            listed: true,
            live: false,
            joins: false,
        })
    }

    /// Who calls an election, where somebody does, and where; those who move do so for so long.
    pub(in crate::cli) fn initiation(
        self,
        choice: &Choice,
        lasts: Duration,
    ) -> Result<Initiation, Failure> {
        let Group { convened, probabilistic, .. } = self.group;
        if choice.rounds().is_some() {
            return probabilistic.initiation(&convened.call);
        }
        match choice.profile().on_demand {
            true => {
                let detects = !choice.must_be_told();
                convened.initiation(choice.layout(), self.nodes(), lasts, detects)
            }
            false => Ok(Initiation::default()),
        }
    }

    /// The network.
    pub(in crate::cli) fn network(self) -> Result<Network, Failure> {
        let network = self.group.channel.network(self.default_delay())?;
        Ok(self.group.probabilistic.network(network))
    }

    /// Where ranks come from.
    pub(in crate::cli) fn ranks(self, config: &Config) -> Ranks {
        let ranked = |(key, value): (String, Value)| key == "criterion" && value == "rank";
        if config.to_map().into_iter().any(ranked) { Ranks::Random } else { Ranks::ById }
    }

    /// By how much clocks are wrong, in parts per 10⁹.
    pub(in crate::cli) fn drift(self, choice: &Choice) -> u32 {
        self.clock_drift(choice) * 1_000
    }

    /// What differs between experiments, for people to read.
    pub(in crate::cli) fn conditions(self, choice: &Choice) -> String {
        let Group { params, convened, probabilistic, channel, .. } = self.group;
        let circumstances = if choice.rounds().is_some() {
            probabilistic.conditions(&convened.call)
        } else if choice.profile().on_demand {
            let detected = if choice.must_be_told() { "" } else { ", failures detected" };
            convened.conditions(choice.layout()) + detected
        } else {
            String::new()
        };
        channel.conditions(self.default_delay()) + &params.shown() + &circumstances
    }

    /// All of it, for programs: enough to ask the same again, under the names of the flags.
    pub(in crate::cli) fn to_json(self, (config, choice): &(Config, Choice)) -> Map<String, Value> {
        let Group { convened, probabilistic, channel, .. } = self.group;
        let mut map = Map::new();
        if choice.rounds().is_some() {
            map.extend(probabilistic.to_json(&convened.call));
        } else if choice.profile().on_demand {
            map.extend(convened.to_json(choice.layout()));
        }
        for (key, value) in config.to_map() {
            let ranks = key == "criterion";
            map.insert(key, value);
            if ranks {
                let random = self.ranks(config) == Ranks::Random;
                let ranks = if random { "random" } else { "by-id" };
                map.insert("ranks".to_owned(), json!(ranks));
            }
        }
        map.extend(channel.to_json(self.default_delay()));
        map.insert("clock_drift".to_owned(), json!(self.clock_drift(choice)));
        map
    }

    fn clock_drift(self, choice: &Choice) -> u32 {
        let trusted = choice.profile().leases.map_or(0, |leases| leases.drift_ppm);
        self.group.clock_drift.unwrap_or(trusted)
    }

    fn default_delay(self) -> Duration {
        self.entry.family.usual().delay
    }
}
