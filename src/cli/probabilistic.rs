//! The flags of the probabilistic election: how large a part of the group decides, what each
//! process sees, and what goes wrong.

use super::calling::Call;
use super::failure::Failure;
use super::group::{flags, name};
use bellwether::core::Duration;
use bellwether::protocols::choice::Config;
use bellwether::protocols::probabilistic::{self, BadStrategy, Relays, Strategy};
use bellwether::sim::network::{Loss, Network, Probability};
use bellwether::sim::{Convening, Initiators};
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use std::fs::read_to_string;

/// What clap knows `--view` by: to `trace`, a view is also what a picture shows.
pub(super) const SIGHT: &str = "sight";

/// The flags that say what goes wrong and who sees whom.
pub(super) const CIRCUMSTANCES: [&str; 4] = ["view", "ucast-loss", "mcast-loss", "fail"];

#[derive(Args, Debug)]
#[command(next_help_heading = "Probabilistic")]
pub(super) struct Probabilistic {
    /// K of the first round: about how many processes agree on behalf of all
    #[arg(long, value_name = "K", default_value = "7", allow_negative_numbers = true)]
    k: u32,
    /// K of the further rounds: twice that of the one before, and everyone in the last; the same in
    /// all; or K of every round listed, as 7,20,all or in a file
    #[arg(long, value_name = "double|fixed|LIST|FILE", default_value = "double")]
    #[arg(value_parser = strategy)]
    strategy: Strategy,
    /// After how many rounds it gives up
    #[arg(long, value_name = "R", default_value = "5", allow_negative_numbers = true)]
    max_rounds: u32,
    /// No round has more relays than this, whatever the strategy says
    #[arg(long, value_name = "K", default_value = "6000", allow_negative_numbers = true)]
    most_relays: u32,
    /// How probable it is that a process sees another
    #[arg(id = SIGHT, long = "view", value_name = "P", default_value = "0.5")]
    #[arg(allow_negative_numbers = true)]
    view: Probability,
    /// How often a message to one process is lost [default: as --loss]
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    ucast_loss: Option<Probability>,
    /// How often a receiver misses a message to everyone [default: as --loss]
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    mcast_loss: Option<Probability>,
    /// How often a process crashes in a round, at any moment of it
    #[arg(long, value_name = "P", default_value = "0", allow_negative_numbers = true)]
    fail: Probability,
    /// Who begins another round where one has no clear outcome
    #[arg(long, value_enum, default_value_t)]
    reinitiate: Reinitiate,
    /// Where a process takes the size of the group from
    #[arg(long, value_enum, default_value_t)]
    size: Size,
    /// Which candidate is the better one [default: lowest-id; check: rank]
    #[arg(long, value_enum)]
    choice: Option<Best>,
    /// What makes a process take part if the hash lets it through
    #[arg(long, value_enum, default_value_t)]
    woken_by: WokenBy,
    /// Longer than any message takes; time-outs are multiples of it [default: 2 delays; where
    /// delays vary, the longest there can be]
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    bound: Option<Duration>,
}

#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Reinitiate {
    /// Whoever the hash lets through, at once; as printed
    Hash,
    /// Whoever waits least, after a random delay, unless another has begun
    #[default]
    Delay,
}

impl From<Reinitiate> for probabilistic::Reinitiate {
    fn from(flag: Reinitiate) -> Self {
        match flag {
            Reinitiate::Hash => Self::Hash,
            Reinitiate::Delay => Self::Delay,
        }
    }
}

#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Size {
    /// It knows it
    #[default]
    True,
    /// It takes its own view for all, as printed
    View,
    /// From what is gossiped before the election is called
    Gossip,
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Best {
    /// The lower id
    LowestId,
    /// The higher id
    HighestId,
    /// The greater rank, which only a process itself knows
    Rank,
    /// By lot, anew in each election
    Lot,
}

#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum WokenBy {
    /// The initiating message alone, as printed
    #[default]
    Initiation,
    /// Also the first preference it is told
    Preference,
}

/// Parses how K follows from the round.
fn strategy(text: &str) -> Result<Strategy, String> {
    match text {
        "double" => return Ok(Strategy::Double),
        "fixed" => return Ok(Strategy::Fixed),
        _ => {}
    }
    let inline = text == "all" || text.contains(',') || text.parse::<u32>().is_ok();
    let listed = if inline { Ok(text.to_owned()) } else { read_to_string(text) };
    let listed = listed.map_err(|error| {
        format!("a strategy is double, fixed, a list such as 7,20,all or a file of one: {error}")
    })?;
    listed.parse().map_err(|bad: BadStrategy| bad.to_string())
}

impl Probabilistic {
    /// The flags that mean something to it.
    pub(super) fn flags() -> Vec<String> {
        let mut known = flags::<Self>();
        known.extend(flags::<Call>());
        known.retain(|flag| flag != "detection"); // it is told nothing
        known
    }

    /// What was asked for, by name and text.
    pub(super) fn pairs(&self, network: &Network) -> Result<Vec<(&'static str, String)>, Failure> {
        let mean = network.multicast.delay.mean().max(network.unicast.delay.mean());
        if let Some(bound) = self.bound.filter(|bound| *bound <= mean && mean > Duration::ZERO) {
            return Err(Failure::usage(format!(
                "--bound {bound}, but a message takes {mean}: it would be given up before it \
                 arrives; choose more than the delay, or leave it out"
            )));
        }
        let pairs = [
            ("k", Some(self.k.to_string())),
            ("strategy", Some(self.strategy.to_string())),
            ("max-rounds", Some(self.max_rounds.to_string())),
            ("most-relays", Some(self.most_relays.to_string())),
            ("reinitiate", name(self.reinitiate)),
            ("size", name(self.size)),
            ("choice", self.choice.and_then(name)),
            ("woken-by", name(self.woken_by)),
            ("bound", self.bound.map(|bound| bound.to_string())),
        ];
        Ok(pairs.into_iter().filter_map(|(name, text)| Some((name, text?))).collect())
    }

    /// The longest a message takes, where that varies.
    pub(super) fn longest(network: &Network) -> Option<Duration> {
        Some(network.longest()).filter(|longest| network.constant_delay() != Some(*longest))
    }

    /// The network, with losses of its own for each way to send.
    pub(super) fn network(&self, mut network: Network) -> Network {
        let lossy = |loss: Probability| match loss {
            Probability::ZERO => Loss::None,
            loss => Loss::Uncorrelated(loss),
        };
        if let Some(loss) = self.ucast_loss {
            network.unicast.loss = lossy(loss);
        }
        if let Some(loss) = self.mcast_loss {
            network.multicast.loss = lossy(loss);
        }
        network
    }

    /// Who calls and what they see. Where one calls, it is any.
    pub(super) fn convening(&self, call: &Call) -> Result<Convening, Failure> {
        let called = call.convening()?;
        let initiators = match called.initiators {
            Initiators::One => Initiators::Some(1),
            others => others,
        };
        Ok(Convening { initiators, view: self.view, fail: self.fail, ..called })
    }

    /// What is not the same in every experiment, for people to read.
    pub(super) fn conditions(&self, call: &Call) -> String {
        let k = match &self.strategy {
            Strategy::Double => format!("K {} and doubling", self.k),
            Strategy::Fixed => format!("K {}", self.k),
            Strategy::List(listed) => {
                let listed: Vec<String> = listed.iter().map(Relays::to_string).collect();
                format!("K {}", listed.join(" "))
            }
        };
        let mut text = format!(", {k} for {} rounds, view {}", self.max_rounds, self.view.value());
        let lost = [("unicasts", self.ucast_loss), ("multicasts", self.mcast_loss)];
        for (what, loss) in lost {
            if let Some(loss) = loss {
                text += &format!(", loss of {what} {}", loss.value());
            }
        }
        if self.fail != Probability::ZERO {
            text += &format!(", failures {} a round", self.fail.value());
        }
        text += &format!(", begun again by {}", name(self.reinitiate).unwrap_or_default());
        if self.size != Size::True {
            text += &format!(", size by {}", name(self.size).unwrap_or_default());
        }
        text + &call.conditions("any")
    }

    /// All of it, for programs, under the names of the flags.
    pub(super) fn to_json(&self, config: &Config, call: &Call) -> Map<String, Value> {
        let mut map = call.to_json();
        map.remove("detection");
        let own = config.to_map();
        let first = ["k", "strategy", "max_rounds", "most_relays"];
        let shown = |key: &str| own.iter().find(|(known, _)| known == key).cloned();
        map.extend(first.into_iter().filter_map(shown));
        map.extend([
            ("view".to_owned(), json!(self.view.value())),
            ("ucast_loss".to_owned(), json!(self.ucast_loss.map(Probability::value))),
            ("mcast_loss".to_owned(), json!(self.mcast_loss.map(Probability::value))),
            ("fail".to_owned(), json!(self.fail.value())),
        ]);
        map.extend(own);
        map
    }
}
