//! Sweeps: one question at many points, whose answers become the rows of one table.
//!
//! **What it is.** A [`Sweep`] says which command is asked, which of its flags have which values,
//! and how many runs each point gets. [`work`] makes the runs, in pieces that are kept one by one.
//! A run is whatever a point has many of: simulated runs, replications of the estimate of a rare
//! event, schedules of faults.
//!
//! **Promise.** The rows depend on the sweep alone: not on threads, not on the size of pieces, not
//! on who made which piece, and not on how often the work was stopped and begun again. A row has
//! the numbers that the command of its point prints for the same runs and seed.
//!
//! **What it refuses to do.** It reads no file and no clock: pieces go to whoever implements
//! [`work::Keep`].
//!
//! | module | what it holds |
//! |---|---|
//! | [`axes`] | lists, ranges, and points made of them |
//! | [`looks`] | how many runs, or when an interval is narrow enough |
//! | [`piece`] | some runs of a point, under a name made of what they are |
//! | [`work`] | all pieces, over threads, or a share of them |

pub mod axes;
pub mod looks;
pub mod piece;
pub mod work;

use axes::{Axis, Setting, flag_name, value};
use bellwether_core::Fnv1a;
use looks::Rule;
use serde_json::{Map, Value};
use std::fmt;

/// Which command a sweep asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    /// What a simulation measures.
    Sim,
    /// What formulas give.
    Analyze,
    /// How often schedules of faults break a promise.
    Check,
}

impl Asks {
    /// The name of the command.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sim => "sim",
            Self::Analyze => "analyze",
            Self::Check => "check",
        }
    }

    /// The flag by which it is told how many runs there are.
    pub fn runs_flag(self) -> &'static str {
        match self {
            Self::Sim => "runs",
            Self::Analyze => "simulate",
            Self::Check => "schedules",
        }
    }

    /// All of them.
    pub const ALL: [Self; 3] = [Self::Sim, Self::Analyze, Self::Check];
}

/// One question at many points.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// The command.
    pub asks: Asks,
    /// Of what: protocols or quantities.
    pub targets: Vec<String>,
    /// The flags that are the same at all points.
    pub fixed: Vec<Setting>,
    /// The flags that differ; the points are all combinations.
    pub axes: Vec<Axis>,
    /// The measures that rows are made of, in their order; all if it is empty.
    pub measures: Vec<String>,
    /// How many runs; none if only formulas are asked.
    pub rule: Option<Rule>,
    /// Each point's seed is derived from this one and from the point.
    pub seed: u64,
    /// How many runs a piece has at most. No result depends on it.
    pub piece: u64,
}

/// One point: of what, and the values on the axes.
#[derive(Clone, Debug, PartialEq)]
pub struct At {
    /// A protocol or a quantity.
    pub target: String,
    /// The flags of the axes, in their order.
    pub settings: Vec<Setting>,
}

/// What is wrong with a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadSweep {
    /// The key, with the keys around it.
    pub key: String,
    /// The rule, and the way out.
    pub rule: String,
}

impl fmt::Display for BadSweep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.key, self.rule)
    }
}

impl std::error::Error for BadSweep {}

pub(crate) fn bad<T>(key: impl Into<String>, rule: impl Into<String>) -> Result<T, BadSweep> {
    Err(BadSweep { key: key.into(), rule: rule.into() })
}

/// The flag that makes points rare events.
pub const RARE: &str = "rare";
/// More points than anybody reads the rows of.
const POINTS_MAX: usize = 1_000_000;
/// How many runs a piece has by default.
const PIECE: u64 = 1000;
/// The keys of a sweep.
const KEYS: [&str; 10] =
    ["sim", "analyze", "check", "fixed", "axis", "measures", "runs", "seed", "piece", "confidence"];
/// What a sweep says itself, so that no point may.
const OWN: [&str; 19] = [
    "runs",
    "threads",
    "format",
    "samples",
    "trace",
    "simulate",
    "list",
    "errata",
    "help",
    "version",
    "replications",
    "schedules",
    "schedule",
    "out",
    "explore",
    "faults",
    "svg",
    "shard",
    "slurm",
];
/// How many replications a piece of a rare event has by default: each piece makes the pilot runs
/// again, which cost about as much as three.
const PIECE_OF_ESTIMATES: u64 = 10;

impl Sweep {
    /// Reads a sweep from the values of its keys.
    ///
    /// # Errors
    /// [`BadSweep`], which names the key and the rule.
    pub fn of(text: &Map<String, Value>) -> Result<Self, BadSweep> {
        if let Some(key) = text.keys().find(|key| !KEYS.contains(&key.as_str())) {
            return bad(key, format!("a sweep has no such key; it has {}", KEYS.join(", ")));
        }
        let (asks, targets) = targets(text)?;
        let none = Map::new();
        let fixed = match text.get("fixed") {
            None => &none,
            Some(Value::Object(fixed)) => fixed,
            Some(_) => return bad("fixed", "it must be a table, [fixed], of flags and values"),
        };
        let fixed: Result<_, _> = fixed.iter().map(|(name, value)| setting(name, value)).collect();
        let axes = match text.get("axis") {
            None => Vec::new(),
            Some(Value::Array(axes)) => axes.iter().map(Axis::of).collect::<Result<_, _>>()?,
            Some(_) => return bad("axis", "an axis must be a table of its own, [[axis]]"),
        };
        let confidence = match text.get("confidence").map(Value::as_f64) {
            None => 0.95,
            Some(Some(part)) if part > 0.0 && part < 1.0 => part,
            Some(_) => return bad("confidence", "it must be a number between 0 and 1, as 0.95"),
        };
        let rule = match (text.get("runs"), asks) {
            (None, Asks::Analyze) => None,
            (runs, _) => Some(Rule::of(runs, confidence)?),
        };
        let sweep = Self {
            asks,
            targets,
            fixed: fixed?,
            axes,
            measures: names(text, "measures")?,
            rule,
            seed: whole(text, "seed", 0, 1)?,
            piece: 0,
        };
        let usual = if sweep.is_rare() { PIECE_OF_ESTIMATES } else { PIECE };
        let sweep = Self { piece: whole(text, "piece", 1, usual)?, ..sweep };
        sweep.check()?;
        Ok(sweep)
    }

    fn check(&self) -> Result<(), BadSweep> {
        let mut known: Vec<&str> = Vec::new();
        let axes = self.axes.iter().flat_map(|axis| axis.columns.iter().map(|(name, _)| name));
        for name in self.fixed.iter().map(|(name, _)| name).chain(axes) {
            if OWN.contains(&name.as_str()) {
                return bad(name, "a sweep says this itself, for all points; leave it out");
            }
            if known.contains(&name.as_str()) {
                return bad(name, "it is there twice; give it in one [[axis]] or in [fixed]");
            }
            known.push(name);
        }
        if let Some(narrow) = self.rule.as_ref().and_then(|rule| rule.narrow.as_ref()) {
            let lacks = |name: &&String| !self.measures.contains(name);
            let lacking = narrow.of.iter().find(lacks).filter(|_| !self.measures.is_empty());
            if let Some(name) = lacking {
                return bad("runs.of", format!("{name} is not among the measures; add it there"));
            }
        }
        match self.len() {
            Some(1..=POINTS_MAX) => Ok(()),
            Some(0) => bad("axis", "an axis without a value leaves no point; give it one"),
            _ => bad("axis", format!("these are more than {POINTS_MAX} points; choose fewer")),
        }
    }

    /// Whether points are rare events.
    pub fn is_rare(&self) -> bool {
        self.fixed.iter().any(|(name, _)| name == RARE) || self.columns().contains(&RARE)
    }

    /// How many points there are, if that can be counted.
    pub fn len(&self) -> Option<usize> {
        let lengths = self.axes.iter().map(Axis::len);
        lengths.chain([self.targets.len()]).try_fold(1_usize, usize::checked_mul)
    }

    /// Whether there is no point.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// All points: those of the first target first, and the last axis changes fastest.
    pub fn points(&self) -> impl Iterator<Item = At> {
        let each = self.axes.iter().map(Axis::len).product::<usize>();
        (0..self.targets.len() * each).map(move |number| {
            let mut rest = number % each;
            let mut places: Vec<usize> = Vec::new();
            for axis in self.axes.iter().rev() {
                places.push(rest % axis.len());
                rest /= axis.len();
            }
            let chosen = self.axes.iter().zip(places.into_iter().rev());
            let settings = chosen.flat_map(|(axis, place)| axis.at(place));
            let target = self.targets[number / each].clone();
            At { target, settings: settings.collect() }
        })
    }

    /// The names of the flags on the axes, in their order.
    pub fn columns(&self) -> Vec<&str> {
        let columns = self.axes.iter().flat_map(|axis| &axis.columns);
        columns.map(|(name, _)| name.as_str()).collect()
    }
}

/// The seed of one of many points, from the seed of all and from what says which point it is: its
/// command or its name. Small enough to be typed.
pub fn seed_of(seed: u64, point: &str) -> u64 {
    let mut hash = Fnv1a::default();
    hash.add(&seed.to_le_bytes());
    hash.add(point.as_bytes());
    let hash = hash.value();
    (hash ^ (hash >> 32)) % 1_000_000_000
}

/// The command, and of what.
fn targets(text: &Map<String, Value>) -> Result<(Asks, Vec<String>), BadSweep> {
    let asked: Vec<Asks> =
        Asks::ALL.into_iter().filter(|asks| text.contains_key(asks.name())).collect();
    let [asks] = asked[..] else {
        let rule = "name a protocol, sim = \"le-s\" or check = \"le-s\", or a quantity, analyze = \
                    \"…\"; one of the three";
        return bad("sim", rule);
    };
    let targets = names(text, asks.name())?;
    if targets.is_empty() { bad(asks.name(), "name at least one") } else { Ok((asks, targets)) }
}

/// A flag and its value.
fn setting(name: &str, text: &Value) -> Result<Setting, BadSweep> {
    let name = flag_name(name)?;
    match value(text) {
        Some(value) => Ok((name, value)),
        None => bad(name, "it must be a value, or a list for a flag that is given several times"),
    }
}

/// A name or a list of names; none if there is no such key.
pub(crate) fn names(text: &Map<String, Value>, key: &str) -> Result<Vec<String>, BadSweep> {
    let rule = "it must be a name or a list of names";
    let name = |value: &Value| match value {
        Value::String(name) => Ok(name.clone()),
        _ => bad(key, rule),
    };
    match text.get(key) {
        None => Ok(Vec::new()),
        Some(Value::Array(all)) => all.iter().map(name).collect(),
        Some(one) => Ok(vec![name(one)?]),
    }
}

/// A whole number of at least `least`; `usual` if there is no such key.
pub(crate) fn whole(
    text: &Map<String, Value>,
    key: &str,
    least: u64,
    usual: u64,
) -> Result<u64, BadSweep> {
    match text.get(key).map(Value::as_u64) {
        None => Ok(usual),
        Some(Some(number)) if number >= least => Ok(number),
        Some(_) => bad(key, format!("it must be a whole number, at least {least}")),
    }
}

#[cfg(test)]
mod tests;
