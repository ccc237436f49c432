//! The flags of the probabilistic election: how large a part of the group decides, what each
//! process sees, and what goes wrong.

use super::calling::Call;
use super::failure::Failure;
use super::group::{finite, flags, name};
use bellwether::core::Duration;
use bellwether::protocols::probabilistic::{self, Config, Relays, Strategy};
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
    let words = listed.split(|separates: char| separates.is_whitespace() || separates == ',');
    let relays = |word: &str| match word {
        "all" => Ok(Relays::All),
        number => number.parse().map(Relays::Count).map_err(|_| {
            format!("'{number}' is no K; list whole numbers, or `all`, one for each round")
        }),
    };
    words.filter(|word| !word.is_empty()).map(relays).collect::<Result<_, _>>().map(Strategy::List)
}

impl Probabilistic {
    /// The flags that mean something to it.
    pub(super) fn flags() -> Vec<String> {
        let mut known = flags::<Self>();
        known.extend(flags::<Call>());
        known.retain(|flag| flag != "detection"); // it is told nothing
        known
    }

    /// What was asked for, of the protocol; of one that keeps in touch, if nobody looks after it.
    pub(super) fn config(&self, network: &Network, unsteady: bool) -> Result<Config, Failure> {
        let longest = network.longest();
        let bound = self.bound.unwrap_or(match network.constant_delay() {
            Some(Duration::ZERO) if longest == Duration::ZERO => Duration::from_millis(1),
            Some(delay) if longest == delay => delay * 2,
            _ => longest + Duration::from_nanos(1),
        });
        let mean = network.multicast.delay.mean().max(network.unicast.delay.mean());
        if bound <= mean && mean > Duration::ZERO {
            return Err(Failure::usage(format!(
                "--bound {bound}, but a message takes {mean}: it would be given up before it \
                 arrives; choose more than the delay, or leave it out"
            )));
        }
        let usual = if unsteady {
            Config::restless(Duration::from_nanos(bound.as_nanos() / 2))
        } else {
            Config::default()
        };
        Ok(Config {
            k: self.k,
            strategy: self.strategy.clone(),
            max_rounds: self.max_rounds,
            most_relays: self.most_relays,
            reinitiate: self.reinitiate.into(),
            size: match self.size {
                Size::True => probabilistic::Size::Group,
                Size::View => probabilistic::Size::View,
                Size::Gossip => probabilistic::Size::Gossip,
            },
            choice: match self.choice {
                None => usual.choice,
                Some(Best::LowestId) => probabilistic::Choice::LowestId,
                Some(Best::HighestId) => probabilistic::Choice::HighestId,
                Some(Best::Rank) => probabilistic::Choice::Rank,
                Some(Best::Lot) => probabilistic::Choice::Lot,
            },
            woken_by: match self.woken_by {
                WokenBy::Initiation => probabilistic::WokenBy::Initiation,
                WokenBy::Preference => probabilistic::WokenBy::Preference,
            },
            unicast: bound,
            multicast: bound,
            ..usual
        })
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
        let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
        put("k", json!(self.k));
        put("strategy", json!(self.strategy));
        put("max_rounds", json!(self.max_rounds));
        put("most_relays", json!(self.most_relays));
        put("view", json!(self.view.value()));
        put("ucast_loss", json!(self.ucast_loss.map(Probability::value)));
        put("mcast_loss", json!(self.mcast_loss.map(Probability::value)));
        put("fail", json!(self.fail.value()));
        put("reinitiate", json!(name(self.reinitiate)));
        put("size", json!(name(self.size)));
        put("choice", json!(name(self.choice.unwrap_or(Best::LowestId))));
        put("woken_by", json!(name(self.woken_by)));
        put("bound", json!(finite(config.unicast)));
        map
    }
}
