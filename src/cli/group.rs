//! The options that `sim`, `trace` and `check` share.
//!
//! Each family of protocols has flags and defaults of its own. [`Group`] is what was written;
//! [`Setting`] is that, for one protocol.

use super::announce_listen::AnnounceListen;
use super::called::Elections;
use super::channel::Channel;
use super::failure::Failure;
use super::leases::Leases;
use super::probabilistic::Probabilistic;
use super::protocols::parse;
use bellwether::core::Duration;
use bellwether::protocols::choice::{Choice, Config, Entry, Family};
use bellwether::protocols::ring::Variant;
use bellwether::protocols::surroundings::Surroundings;
use bellwether::sim::network::Network;
use bellwether::sim::{Convening, NODES_MAX, Ranks};
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

#[derive(Args, Debug)]
pub(super) struct Group {
    /// How many processes there are [default: 100; local-leader: 5; bully, rings, ad-hoc: 10;
    /// probabilistic: 1000]
    #[arg(long, short, value_name = "N", allow_negative_numbers = true, value_parser = nodes)]
    nodes: Option<u32>,
    /// Where all luck comes from: the same seed, the same runs [default: 1]
    #[arg(long, value_name = "S")]
    pub(super) seed: Option<u64>,
    #[command(flatten)]
    announce_listen: AnnounceListen,
    #[command(flatten)]
    leases: Leases,
    #[command(flatten)]
    elections: Elections,
    #[command(flatten)]
    probabilistic: Probabilistic,
    #[command(flatten)]
    printed: Printed,
    #[command(flatten)]
    channel: Channel,
    /// Each clock runs fast or slow by its own amount up to this, in parts per million
    /// [default: 0; local-leader: as --drift-ppm]
    #[arg(long, value_name = "PPM", help_heading = "Clocks")]
    #[arg(value_parser = parts_per_million, allow_negative_numbers = true)]
    clock_drift: Option<u32>,
}

/// What several families have.
#[derive(Args, Debug)]
pub(super) struct Printed {
    /// As the text prints it, mistakes included: announce-listen as in Programs 5.1 and
    /// 5.2, merea as in Table 3
    #[arg(long)]
    pub(super) as_printed: bool,
}

/// Parses a number of processes.
pub(super) fn nodes(text: &str) -> Result<u32, String> {
    let rule = format!("a group has from 1 to {NODES_MAX} processes");
    match text.parse::<u32>() {
        Ok(nodes) if (1..=NODES_MAX).contains(&nodes) => Ok(nodes),
        _ => Err(rule),
    }
}

/// Parses a drift. A clock that loses everything stands still.
fn parts_per_million(text: &str) -> Result<u32, String> {
    match text.parse::<u32>() {
        Ok(parts) if parts < 1_000_000 => Ok(parts),
        _ => Err("a drift is a whole number of parts per million, from 0 to 999999".to_owned()),
    }
}

/// Parses a number that is one: what is not would break no rule that compares it.
pub(super) fn number(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err("it must be a finite number".to_owned()),
    }
}

/// Parses the name of a protocol.
pub(super) fn protocol(name: &str) -> Result<&'static Entry, String> {
    parse(name)
}

/// A length of time in seconds, unless it is infinite.
pub(super) fn finite(length: Duration) -> Option<f64> {
    (length != Duration::MAX).then(|| length.as_secs_f64())
}

/// What a value is called on the command line.
pub(super) fn name(value: impl ValueEnum) -> Option<String> {
    value.to_possible_value().map(|value| value.get_name().to_owned())
}

impl Group {
    /// Where luck comes from, if nothing else says so.
    pub(super) fn seed(&self) -> u64 {
        self.seed.unwrap_or(1)
    }

    /// What was asked for, for this protocol; `given` are the flags that were written.
    pub(super) fn with(
        &self,
        entry: &'static Entry,
        given: &[String],
    ) -> Result<Setting<'_>, Failure> {
        let own = own_flags(entry.family);
        let mut all = [flags::<AnnounceListen>(), flags::<Leases>(), flags::<Elections>()].concat();
        all.extend(flags::<Probabilistic>());
        let foreign = |flag: &&String| all.contains(flag) || flag.as_str() == AS_PRINTED;
        match given.iter().find(|flag| foreign(flag) && !own.contains(flag)) {
            Some(flag) => Err(Failure::usage(format!(
                "--{flag} is no flag of {}, which has --{}",
                entry.name,
                own.join(" --")
            ))),
            None => Ok(Setting { group: self, entry, unsteady: false, few: false }),
        }
    }
}

const AS_PRINTED: &str = "as-printed";

/// The flags that mean something to a family and not to every other.
fn own_flags(family: Family) -> Vec<String> {
    let mut own = match family {
        Family::AnnounceListen(_) => flags::<AnnounceListen>(),
        Family::Bully | Family::Ring(_) | Family::AdHoc => Elections::flags_of(family),
        Family::Probabilistic => Probabilistic::flags(),
        _ if family.has_leases() => flags::<Leases>(),
        _ => Vec::new(),
    };
    let merea = Family::Ring(Variant::Merea);
    if matches!(family, Family::AnnounceListen(_)) || family == merea {
        own.push(AS_PRINTED.to_owned());
    }
    own
}

/// The flags of one kind, without their dashes.
pub(super) fn flags<A: Args>() -> Vec<String> {
    let command = A::augment_args(clap::Command::new("flags"));
    command.get_arguments().filter_map(|flag| flag.get_long().map(str::to_owned)).collect()
}

/// What was asked for, with the defaults of the protocol it was asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting<'a> {
    group: &'a Group,
    entry: &'static Entry,
    unsteady: bool,
    /// Whether the group is to be looked at, process by process.
    few: bool,
}

impl Setting<'_> {
    /// The same where anything may go wrong.
    pub(super) fn unsteady(self) -> Self {
        Self { unsteady: true, ..self }
    }

    /// The same with no more processes than can be looked at, if nothing else is said.
    pub(super) fn few(self) -> Self {
        Self { few: true, ..self }
    }

    /// Where luck comes from, if nothing else says so.
    pub(super) fn seed(self) -> u64 {
        self.group.seed()
    }

    /// How many processes there are.
    pub(super) fn nodes(self) -> u32 {
        let usual = self.entry.family.usual();
        self.group.nodes.unwrap_or(if self.few { usual.nodes_shown } else { usual.nodes })
    }

    /// The protocol with its parameters, for a group with so many ids.
    pub(super) fn choice(self, ids: u64) -> Result<Choice, Failure> {
        let choice = Choice::try_from(self.config(ids)?).map_err(Failure::usage)?;
        choice.check_nodes(ids).map_err(Failure::usage)?;
        Ok(choice)
    }

    /// The same as a person would write it in a file.
    pub(super) fn config(self, ids: u64) -> Result<Config, Failure> {
        let Group { announce_listen, leases, elections, probabilistic, .. } = self.group;
        let around = self.surroundings(ids)?;
        let mut pairs = match self.entry.family {
            Family::AnnounceListen(_) => announce_listen.pairs()?,
            family @ (Family::Bully | Family::Ring(_) | Family::AdHoc) => {
                elections.pairs(family, &around)?
            }
            Family::Probabilistic => probabilistic.pairs(&self.network()?)?,
            family if family.has_leases() => leases.pairs(),
            _ => Vec::new(),
        };
        if self.group.printed.as_printed {
            pairs.push((AS_PRINTED, true.to_string()));
        }
        let given = self.entry.given(pairs.iter().map(|(name, text)| (*name, text.as_str())));
        given.and_then(|given| self.entry.config(&around, &given)).map_err(Failure::usage)
    }

    /// The group and the network, for so many ids.
    fn surroundings(self, ids: u64) -> Result<Surroundings, Failure> {
        let Group { channel, elections, .. } = self.group;
        let loss = channel.loss()?.rate();
        let longest = match self.entry.family {
            Family::Probabilistic => Probabilistic::longest(&self.network()?),
            _ => None,
        };
        Ok(Surroundings {
            nodes: self.nodes(),
            ids,
            ranks: Ranks::BOUND,
            delay: channel.delay(self.default_delay()),
            longest,
            processing: elections.convened.processing(),
            loss,
            unsteady: self.unsteady || loss > 0.0 || channel.duplicates(),
            unattended: self.unsteady,
            moving: elections.convened.wanders(),
            copies: channel.duplicates(),
            listed: true,
        })
    }

    /// Who calls an election, where somebody does, and where; those who move do so for so long.
    pub(super) fn convening(self, choice: &Choice, lasts: Duration) -> Result<Convening, Failure> {
        let convened = &self.group.elections.convened;
        match choice {
            Choice::Bully(_) | Choice::Ring(_) | Choice::AdHoc(_) => {
                let (family, detects) = (self.entry.family, !choice.must_be_told());
                convened.convening(family, self.nodes(), lasts, detects)
            }
            Choice::Probabilistic(_) => self.group.probabilistic.convening(&convened.call),
            _ => Ok(Convening::default()),
        }
    }

    /// The network.
    pub(super) fn network(self) -> Result<Network, Failure> {
        let network = self.group.channel.network(self.default_delay())?;
        Ok(match self.entry.family {
            Family::Probabilistic => self.group.probabilistic.network(network),
            _ => network,
        })
    }

    /// Where ranks come from.
    pub(super) fn ranks(self) -> Ranks {
        match self.entry.family {
            Family::AnnounceListen(_) => self.group.announce_listen.ranks(),
            _ => Ranks::ById,
        }
    }

    /// By how much clocks are wrong, in parts per 10⁹.
    pub(super) fn drift(self, choice: &Choice) -> u32 {
        self.clock_drift(choice) * 1_000
    }

    /// What is not the same in every experiment, for people to read.
    pub(super) fn conditions(self, choice: &Choice) -> String {
        let Group { announce_listen, leases, elections, probabilistic, channel, .. } = self.group;
        let own = match choice {
            Choice::AnnounceListen(params) => announce_listen.conditions(params),
            Choice::Bully(_) | Choice::Ring(_) | Choice::AdHoc(_) => {
                elections.conditions(self.entry.family, !choice.must_be_told())
            }
            Choice::Probabilistic(_) => probabilistic.conditions(&elections.convened.call),
            _ if self.entry.family.has_leases() => leases.conditions(),
            _ => String::new(),
        };
        let printed = if self.group.printed.as_printed { ", as printed" } else { "" };
        channel.conditions(self.default_delay()) + &own + printed
    }

    /// All of it, for programs: enough to ask the same again, under the names of the flags.
    pub(super) fn to_json(self, choice: &Choice) -> Map<String, Value> {
        let Group { announce_listen, elections, probabilistic, channel, .. } = self.group;
        let delay = self.default_delay();
        let mut map = Map::new();
        if let Ok(config) = self.config(u64::from(self.nodes())) {
            map = match choice {
                Choice::AnnounceListen(_) => announce_listen.to_json(&config),
                Choice::Bully(_) | Choice::Ring(_) | Choice::AdHoc(_) => {
                    elections.to_json(self.entry.family, &config)
                }
                Choice::Probabilistic(_) => {
                    probabilistic.to_json(&config, &elections.convened.call)
                }
                _ => config.to_map().into_iter().collect(),
            };
        }
        map.extend(channel.to_json(delay));
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
