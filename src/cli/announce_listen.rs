//! The flags of the announce-listen family.

use super::failure::Failure;
use super::group::{Surroundings, finite, name, number};
use bellwether::core::Duration;
use bellwether::protocols::announce_listen::{
    Config, Criterion, Mapping, Opening, Params, Shape, Variant, bye_copies,
};
use bellwether::sim::Ranks;
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

#[derive(Args, Debug)]
pub(super) struct AnnounceListen {
    #[command(flatten)]
    timers: Timers,
    #[command(flatten)]
    rules: Rules,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Timers (announce-listen)")]
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
    /// How steep an exponential timer is, over its whole interval [default: 10]
    #[arg(long, value_name = "X", value_parser = number, allow_negative_numbers = true)]
    timer_rate: Option<f64>,
    /// How long a query waits for answers [default: two delays and the reply spread]
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    patience: Option<Duration>,
    /// Answers to a query are spread over this [default: one delay for suppress-query, else 0]
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    reply_spread: Option<Duration>,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Rules (announce-listen)")]
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

#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Timer {
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

impl Timer {
    /// How steep it is, as was said or by default; a uniform one is not.
    pub(super) fn rate(self, said: Option<f64>) -> Option<f64> {
        (self != Self::Uniform).then_some(said.unwrap_or(10.0))
    }

    /// The distribution, this steep where that means something.
    pub(super) fn shape(self, said: Option<f64>) -> Result<Shape, Failure> {
        match (self.rate(said), said) {
            (Some(rate), _) if self == Self::ExponentialFalling => Ok(Shape::Falling { rate }),
            (Some(rate), _) => Ok(Shape::Rising { rate }),
            (None, None) => Ok(Shape::Uniform),
            (None, Some(rate)) => Err(Failure::usage(format!(
                "--timer-rate {rate} changes nothing about a uniform timer; add --timer \
                 exponential, or leave it out"
            ))),
        }
    }
}

impl AnnounceListen {
    /// What was asked for, of this member of the family.
    pub(super) fn config(
        &self,
        variant: Variant,
        around: &Surroundings,
    ) -> Result<Config, Failure> {
        let (timers, rules) = (&self.timers, &self.rules);
        let reply_spread = self.reply_spread(variant.rules().0, around.delay);
        Ok(Config {
            suppress: timers.suppress,
            shape: timers.timer.shape(timers.timer_rate)?,
            mapping: self.mapping(around.ids),
            announce: timers.announce,
            listen: timers.listen,
            aging: timers.aging,
            criterion: rules.criterion.map(|rule| match rule {
                Rule::HighestId => Criterion::HighestId,
                Rule::EarliestWakeUp => Criterion::EarliestWakeUp,
                Rule::Rank => Criterion::Rank,
            }),
            leaders: rules.leaders,
            bye_copies: self.bye_copies(around)?,
            bye_from_all: rules.bye_from_all,
            as_printed: around.as_printed,
            patience: self.patience(reply_spread, around.delay),
            reply_spread,
            ..Config::new(variant)
        })
    }

    /// Where ranks come from.
    pub(super) fn ranks(&self) -> Ranks {
        if self.rules.criterion == Some(Rule::Rank) { Ranks::Random } else { Ranks::ById }
    }

    /// What is not the same in every experiment, for people to read.
    pub(super) fn conditions(&self, params: &Params) -> String {
        let mut text = String::new();
        if self.timers.listen != Duration::MAX {
            text += &format!(", listen {}", self.timers.listen);
        }
        if let copies @ 1.. = params.bye_copies() {
            text += &format!(", {copies} goodbyes");
        }
        text
    }

    /// All of it, for programs: enough to ask the same again, under the names of the flags.
    pub(super) fn to_json(&self, params: &Params, delay: Duration) -> Map<String, Value> {
        let Self { timers, rules } = self;
        let reply_spread = self.reply_spread(params.opening(), delay);
        let mut map = Map::new();
        let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
        put("suppress", json!(finite(timers.suppress)));
        put("announce", json!(finite(timers.announce)));
        put("listen", json!(finite(timers.listen)));
        put("aging", json!(timers.aging.and_then(finite)));
        put("timer", json!(name(timers.timer)));
        put("timer_rate", json!(timers.timer.rate(timers.timer_rate)));
        put("patience", json!(finite(self.patience(reply_spread, delay))));
        put("reply_spread", json!(finite(reply_spread)));
        put("criterion", json!(params.criterion().name()));
        put("ranks", json!(if self.ranks() == Ranks::Random { "random" } else { "by-id" }));
        put("mapping", json!(name(rules.mapping)));
        put("jitter", json!(finite(rules.jitter)));
        put("leaders", json!(params.leaders()));
        put("bye_copies", json!(params.bye_copies()));
        put("bye_from_all", json!(rules.bye_from_all));
        put("as_printed", json!(params.is_as_printed()));
        map
    }

    /// Over what answers are spread: where all would answer at once, over the time one takes.
    fn reply_spread(&self, opening: Opening, delay: Duration) -> Duration {
        let spread = if opening.suppresses() { delay } else { Duration::ZERO };
        self.timers.reply_spread.unwrap_or(spread)
    }

    /// How long a query waits: just longer than the last answer takes.
    fn patience(&self, reply_spread: Duration, delay: Duration) -> Duration {
        let round_trip = delay * 2 + reply_spread + Duration::from_nanos(1);
        self.timers.patience.unwrap_or(round_trip)
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

    fn bye_copies(&self, around: &Surroundings) -> Result<u32, Failure> {
        if let Some(copies) = self.rules.bye_copies {
            return Ok(copies);
        }
        if !self.rules.bye {
            return Ok(u32::from(self.rules.bye_from_all));
        }
        bye_copies(u64::from(around.nodes - 1), around.loss)
            .ok_or_else(|| Failure::usage("loss = 1: no number of goodbyes would be heard"))
    }
}
