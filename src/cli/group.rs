//! The options that `sim` and `trace` share: the group, its protocol and its network.

use super::failure::Failure;
use super::protocols::parse;
use bellwether::core::Duration;
use bellwether::protocols::announce_listen::{
    BadConfig, Config, Criterion, Mapping, Opening, Params, Shape, bye_copies,
};
use bellwether::protocols::choice::Entry;
use bellwether::sim::network::{Bursts, Delay, Loss, Network, Probability};
use bellwether::sim::{NODES_MAX, Ranks};
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

#[derive(Args, Debug)]
pub(super) struct Group {
    /// How many processes there are
    #[arg(long, short, value_name = "N", default_value = "100", allow_negative_numbers = true)]
    #[arg(value_parser = nodes)]
    pub(super) nodes: u32,
    /// Where all luck comes from: the same seed, the same runs [default: 1]
    #[arg(long, value_name = "S")]
    pub(super) seed: Option<u64>,
    #[command(flatten)]
    timers: Timers,
    #[command(flatten)]
    rules: Rules,
    #[command(flatten)]
    channel: Channel,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Timers")]
struct Timers {
    /// T_S: a process waits for a random time below this before it speaks
    #[arg(long, value_name = "D", default_value = "1s", allow_negative_numbers = true)]
    suppress: Duration,
    /// T_A: the time between a leader's announcements
    #[arg(long, value_name = "D", default_value = "1s", allow_negative_numbers = true)]
    announce: Duration,
    /// T_L: silence after which a leader is given up
    #[arg(long, value_name = "D", default_value = "infinite", allow_negative_numbers = true)]
    listen: Duration,
    /// Silence, below T_L, after which a leader no longer keeps others out
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    aging: Option<Duration>,
    /// How the random wait is distributed
    #[arg(long, value_enum, default_value_t)]
    timer: Timer,
    /// How steep an exponential timer is, over its whole interval
    #[arg(long, value_name = "X", default_value_t = 10.0, allow_negative_numbers = true)]
    #[arg(value_parser = number)]
    timer_rate: f64,
    /// How long a query waits for answers [default: two delays and the reply spread]
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    patience: Option<Duration>,
    /// Answers to a query are spread over this [default: one delay for suppress-query, else 0]
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    reply_spread: Option<Duration>,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Rules")]
struct Rules {
    /// Who leads [default: the protocol's own]
    #[arg(long, value_enum)]
    criterion: Option<Rule>,
    /// Where a wait comes from: luck, or the standing by which leaders are chosen
    #[arg(long, value_enum, default_value_t)]
    mapping: Map_,
    /// With --mapping standing: a random addition below this
    #[arg(long, value_name = "D", default_value = "0s", allow_negative_numbers = true)]
    jitter: Duration,
    /// How many lead together
    #[arg(long, value_name = "K", default_value_t = 1)]
    leaders: usize,
    /// A leader that departs says so, as often as the loss makes necessary
    #[arg(long)]
    bye: bool,
    /// A leader that departs says so this often
    #[arg(long, value_name = "C", conflicts_with = "bye")]
    bye_copies: Option<u32>,
    /// Processes that do not lead say goodbye too
    #[arg(long)]
    bye_from_all: bool,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Network")]
struct Channel {
    /// How often a message is lost
    #[arg(long, value_name = "P", default_value = "0", allow_negative_numbers = true)]
    loss: Probability,
    /// Who loses it: all receivers together, or each for itself [default: each for itself]
    #[arg(long, value_enum)]
    loss_model: Option<LossModel>,
    /// With --loss-model bursts: the mean number of messages lost in a row
    #[arg(long, value_name = "X", default_value_t = 4.0, allow_negative_numbers = true)]
    #[arg(value_parser = number)]
    burst: f64,
    /// How long a message takes, on average
    #[arg(long, value_name = "D", default_value = "0.1s", allow_negative_numbers = true)]
    delay: Duration,
    /// How that varies
    #[arg(long, value_enum, default_value_t)]
    delay_model: DelayModel,
    /// How often a message arrives twice
    #[arg(long, value_name = "P", default_value = "0", allow_negative_numbers = true)]
    duplicate: Probability,
    /// How often a message is held up, so that later ones overtake it
    #[arg(long, value_name = "P", default_value = "0", allow_negative_numbers = true)]
    reorder: Probability,
    /// By how much a second copy or a held-up message is late, at most
    #[arg(long, value_name = "D", default_value = "0.1s", allow_negative_numbers = true)]
    straggle: Duration,
}

#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Timer {
    /// The same density everywhere
    #[default]
    Uniform,
    /// Rising: few wake early
    Exponential,
    /// Falling: most wake early
    ExponentialFalling,
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// The greatest id
    HighestId,
    /// The earliest to wake up
    EarliestWakeUp,
    /// The greatest rank, drawn at random for each process
    Rank,
}

#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Map_ {
    /// Luck
    #[default]
    Random,
    /// The best wakes first
    Standing,
}

#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum LossModel {
    /// Nothing is lost
    None,
    /// All receivers lose it, or none
    Correlated,
    /// Each receiver for itself
    Uncorrelated,
    /// Each receiver for itself, in bursts
    Bursts,
}

#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum DelayModel {
    /// Always the same
    #[default]
    Constant,
    /// Anything from nothing to twice the mean
    Uniform,
    /// A waiting time without memory
    Exponential,
    /// A long tail
    LogNormal,
}

/// Parses a number of processes.
fn nodes(text: &str) -> Result<u32, String> {
    let rule = format!("a group has from 1 to {NODES_MAX} processes");
    match text.parse::<u32>() {
        Ok(nodes) if (1..=NODES_MAX).contains(&nodes) => Ok(nodes),
        _ => Err(rule),
    }
}

/// Parses a number that is one: what is not would break no rule that compares it.
fn number(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok(number),
        _ => Err("it must be a finite number".to_owned()),
    }
}

/// Parses the name of a protocol.
pub(super) fn protocol(name: &str) -> Result<&'static Entry, String> {
    parse(name)
}

impl Group {
    /// Where luck comes from, if nothing else says so.
    pub(super) fn seed(&self) -> u64 {
        self.seed.unwrap_or(1)
    }

    /// The protocol's parameters, for a group with so many ids.
    pub(super) fn params(&self, entry: &Entry, ids: u64) -> Result<Params, Failure> {
        let config = self.config(entry, ids)?;
        Params::try_from(config).map_err(|bad: BadConfig| Failure::usage(bad))
    }

    /// The network.
    pub(super) fn network(&self) -> Result<Network, Failure> {
        let Channel { duplicate, reorder, straggle, .. } = self.channel;
        for (flag, length) in [("delay", self.channel.delay), ("straggle", straggle)] {
            if length == Duration::MAX {
                return Err(Failure::usage(format!(
                    "--{flag} infinite: nothing would ever arrive"
                )));
            }
        }
        let plain = Network::uniform(self.delay(), self.loss()?);
        Ok(Network { duplicate, reorder, straggle, ..plain })
    }

    /// Where ranks come from.
    pub(super) fn ranks(&self) -> Ranks {
        if self.rules.criterion == Some(Rule::Rank) { Ranks::Random } else { Ranks::ById }
    }

    /// What is not the same in every experiment, for people to read.
    pub(super) fn conditions(&self) -> String {
        let mut text = format!(", delay {}", self.channel.delay);
        let loss = self.channel.loss.value();
        if let Some(model) = self.loss_model().to_possible_value().filter(|_| loss > 0.0) {
            text += &format!(", loss {loss} {}", model.get_name());
        }
        if self.timers.listen != Duration::MAX {
            text += &format!(", listen {}", self.timers.listen);
        }
        if let Ok(copies @ 1..) = self.bye_copies() {
            text += &format!(", {copies} goodbyes");
        }
        text
    }

    /// All of it, for programs: enough to ask the same again, under the names of the flags.
    pub(super) fn to_json(&self, params: &Params) -> Map<String, Value> {
        let finite = |length: Duration| (length != Duration::MAX).then(|| length.as_secs_f64());
        let name = |value: Option<clap::builder::PossibleValue>| {
            value.map(|value| value.get_name().to_owned())
        };
        let Self { timers, rules, channel, .. } = self;
        let reply_spread = self.reply_spread(params.opening());
        let mut map = Map::new();
        let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
        put("suppress", json!(finite(timers.suppress)));
        put("announce", json!(finite(timers.announce)));
        put("listen", json!(finite(timers.listen)));
        put("aging", json!(timers.aging.and_then(finite)));
        put("timer", json!(name(timers.timer.to_possible_value())));
        put("timer_rate", json!(timers.timer_rate));
        put("patience", json!(finite(self.patience(reply_spread))));
        put("reply_spread", json!(finite(reply_spread)));
        put("criterion", json!(params.criterion().name()));
        put("ranks", json!(if self.ranks() == Ranks::Random { "random" } else { "by-id" }));
        put("mapping", json!(name(rules.mapping.to_possible_value())));
        put("jitter", json!(finite(rules.jitter)));
        put("leaders", json!(params.leaders()));
        put("bye_copies", json!(params.bye_copies()));
        put("bye_from_all", json!(rules.bye_from_all));
        put("loss", json!(channel.loss.value()));
        put("loss_model", json!(name(self.loss_model().to_possible_value())));
        put("burst", json!(channel.burst));
        put("delay", json!(finite(channel.delay)));
        put("delay_model", json!(name(channel.delay_model.to_possible_value())));
        put("duplicate", json!(channel.duplicate.value()));
        put("reorder", json!(channel.reorder.value()));
        put("straggle", json!(finite(channel.straggle)));
        map
    }

    /// Over what answers are spread: where all would answer at once, over the time one takes.
    fn reply_spread(&self, opening: Opening) -> Duration {
        let spread = if opening.suppresses() { self.channel.delay } else { Duration::ZERO };
        self.timers.reply_spread.unwrap_or(spread)
    }

    /// How long a query waits: just longer than the last answer takes.
    fn patience(&self, reply_spread: Duration) -> Duration {
        let round_trip = self.channel.delay * 2 + reply_spread + Duration::from_nanos(1);
        self.timers.patience.unwrap_or(round_trip)
    }

    fn config(&self, entry: &Entry, ids: u64) -> Result<Config, Failure> {
        let (timers, rules) = (&self.timers, &self.rules);
        let rate = timers.timer_rate;
        let reply_spread = self.reply_spread(entry.variant.rules().0);
        Ok(Config {
            suppress: timers.suppress,
            shape: match timers.timer {
                Timer::Uniform => Shape::Uniform,
                Timer::Exponential => Shape::Rising { rate },
                Timer::ExponentialFalling => Shape::Falling { rate },
            },
            mapping: self.mapping(ids),
            announce: timers.announce,
            listen: timers.listen,
            aging: timers.aging,
            criterion: rules.criterion.map(|rule| match rule {
                Rule::HighestId => Criterion::HighestId,
                Rule::EarliestWakeUp => Criterion::EarliestWakeUp,
                Rule::Rank => Criterion::Rank,
            }),
            leaders: rules.leaders,
            bye_copies: self.bye_copies()?,
            bye_from_all: rules.bye_from_all,
            patience: self.patience(reply_spread),
            reply_spread,
            ..Config::new(entry.variant)
        })
    }

    fn mapping(&self, ids: u64) -> Mapping {
        let jitter = self.rules.jitter;
        match (self.rules.mapping, self.ranks()) {
            (Map_::Random, _) => Mapping::Random,
            (Map_::Standing, Ranks::Random) => {
                Mapping::ByStanding { best: Ranks::BOUND - 1, worst: 0, jitter }
            }
            (Map_::Standing, Ranks::ById) => {
                // The greatest id there can be; alone, any span will do.
                Mapping::ByStanding { best: (ids - 1).max(1), worst: 0, jitter }
            }
        }
    }

    fn bye_copies(&self) -> Result<u32, Failure> {
        if let Some(copies) = self.rules.bye_copies {
            return Ok(copies);
        }
        if !self.rules.bye {
            return Ok(u32::from(self.rules.bye_from_all));
        }
        let others = u64::from(self.nodes - 1);
        bye_copies(others, self.loss()?.rate())
            .ok_or_else(|| Failure::usage("loss = 1: no number of goodbyes would be heard"))
    }

    fn loss_model(&self) -> LossModel {
        let lossless = self.channel.loss == Probability::ZERO;
        self.channel.loss_model.unwrap_or(if lossless {
            LossModel::None
        } else {
            LossModel::Uncorrelated
        })
    }

    fn loss(&self) -> Result<Loss, Failure> {
        let loss = self.channel.loss;
        Ok(match self.loss_model() {
            LossModel::None if loss == Probability::ZERO => Loss::None,
            LossModel::None => {
                let value = loss.value();
                return Err(Failure::usage(format!(
                    "--loss {value} with --loss-model none: choose one of them"
                )));
            }
            LossModel::Correlated => Loss::Correlated(loss),
            LossModel::Uncorrelated => Loss::Uncorrelated(loss),
            LossModel::Bursts => Loss::Bursts(self.bursts()?),
        })
    }

    /// A channel that loses everything while it is bad, with the loss and burst length asked for.
    fn bursts(&self) -> Result<Bursts, Failure> {
        let (loss, length) = (self.channel.loss.value(), self.channel.burst);
        let worsen = loss / ((1.0 - loss) * length);
        if !(length >= 1.0 && length.is_finite() && worsen <= 1.0) {
            return Err(Failure::usage(format!(
                "--burst {length} with --loss {loss}: bursts last at least 1 message and at least \
                 loss/(1-loss) messages; choose longer bursts or less loss"
            )));
        }
        let certain = |value: f64| Probability::try_from(value).map_err(Failure::usage);
        Ok(Bursts {
            worsen: certain(worsen)?,
            recover: certain(1.0 / length)?,
            good: Probability::ZERO,
            bad: certain(1.0)?,
        })
    }

    fn delay(&self) -> Delay {
        let mean = self.channel.delay;
        match self.channel.delay_model {
            DelayModel::Constant => Delay::Constant(mean),
            DelayModel::Uniform => Delay::Uniform { min: Duration::ZERO, max: mean * 2 },
            DelayModel::Exponential => Delay::Exponential { min: Duration::ZERO, mean },
            DelayModel::LogNormal => {
                // The median that gives the mean asked for: a mean is exp(sigma²/2) medians.
                const MEDIANS: f64 = 1.648_721_270_700_128_2;
                let sigma = 1.0;
                let median = mean.as_nanos() as f64 / MEDIANS;
                let median = Duration::from_nanos(median as u64);
                Delay::LogNormal { min: Duration::ZERO, median, sigma }
            }
        }
    }
}
