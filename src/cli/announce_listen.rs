//! The flags of the announce-listen family.

use super::failure::Failure;
use super::group::{name, number};
use bellwether::core::Duration;
use bellwether::protocols::announce_listen::{Params, Shape};
use bellwether::protocols::choice::Config;
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
    /// What was asked for, by name and text.
    pub(super) fn pairs(&self) -> Result<Vec<(&'static str, String)>, Failure> {
        let (timers, rules) = (&self.timers, &self.rules);
        timers.timer.shape(timers.timer_rate)?;
        let mut pairs = vec![
            ("suppress", timers.suppress.to_string()),
            ("announce", timers.announce.to_string()),
            ("listen", timers.listen.to_string()),
            ("timer", name(timers.timer).unwrap_or_default()),
            ("mapping", name(rules.mapping).unwrap_or_default()),
            ("leaders", rules.leaders.to_string()),
            ("bye", rules.bye.to_string()),
            ("bye-from-all", rules.bye_from_all.to_string()),
        ];
        let mut put = |name, text: Option<String>| pairs.extend(text.map(|text| (name, text)));
        let length = |length: Option<Duration>| length.map(|length| length.to_string());
        put("aging", length(timers.aging));
        put("timer-rate", timers.timer_rate.map(|rate| rate.to_string()));
        put("patience", length(timers.patience));
        put("reply-spread", length(timers.reply_spread));
        put("criterion", rules.criterion.and_then(name));
        put("jitter", length(Some(rules.jitter).filter(|jitter| *jitter > Duration::ZERO)));
        put("bye-copies", rules.bye_copies.map(|copies| copies.to_string()));
        Ok(pairs)
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
    pub(super) fn to_json(&self, config: &Config) -> Map<String, Value> {
        let mut map = Map::new();
        // There are no flags for the bounds of a mapping, and --bye is said by its copies.
        let shown = |key: &str| !["best", "worst", "bye"].contains(&key);
        for (key, value) in config.to_map().into_iter().filter(|(key, _)| shown(key)) {
            let ranks = key == "criterion";
            map.insert(key, value);
            if ranks {
                let ranks = if self.ranks() == Ranks::Random { "random" } else { "by-id" };
                map.insert("ranks".to_owned(), json!(ranks));
            }
        }
        map
    }
}
