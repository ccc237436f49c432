//! Named experiments in files: one run, written down, with everything that happens in it.
//!
//! ```toml
//! about = "The leader crashes and the next one takes over"
//! protocol = "le-s"
//! nodes = 5
//! until = "8s"
//!
//! [params]
//! listen = "3s"
//!
//! [[faults]]
//! at = "4s"
//! what = "crash"
//! node = "leader"
//! ```

use crate::coin::Coins;
use crate::fault::Timed;
use crate::network::{Network, Probability};
use crate::observer::Tracer;
use crate::order::Order;
use crate::plan::{BadPlan, Plan, Ranks};
use crate::world::World;
use bellwether_core::{Duration, Protocol, Record, Visitor};
use bellwether_protocols::announce_listen;
use bellwether_protocols::called::{self, Called};
use bellwether_protocols::choice::{self, BadConfig, Choice, Config, Crowd, Family};
use bellwether_protocols::ring;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::fmt;

/// A file as it is written, with the parameters of one family of protocols.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[serde(bound(deserialize = "P: Default + Deserialize<'de>"))]
struct Written<P> {
    about: String,
    protocol: String,
    nodes: u32,
    #[serde(default)]
    absent: Vec<u32>,
    #[serde(default)]
    ranks: Ranks,
    /// The order of the ring.
    #[serde(default)]
    order: Order,
    /// How probable it is that one sees another.
    #[serde(default = "always")]
    view: Probability,
    /// How long each message takes to be dealt with.
    #[serde(default)]
    processing: Duration,
    /// How soon all are told who is gone and who is back; not at all if absent.
    detection: Option<Duration>,
    #[serde(default = "first")]
    seed: u64,
    until: Duration,
    /// Clock drift within ± this, in parts per 10⁹.
    #[serde(default)]
    drift: u32,
    /// Clocks begin with any reading below this.
    #[serde(default)]
    offset: Duration,
    #[serde(default)]
    params: P,
    #[serde(default)]
    network: Network,
    #[serde(default)]
    faults: Vec<Timed>,
}

fn first() -> u64 {
    1
}

fn always() -> Probability {
    Probability::ONE
}

/// A scenario that can be run.
#[derive(Clone, Debug)]
pub struct ScenarioFile {
    /// What it shows.
    pub about: String,
    /// The protocol's name.
    pub protocol: String,
    /// The protocol and its parameters.
    pub choice: Choice,
    /// What happens.
    pub plan: Plan,
    /// Where luck comes from, unless another seed is wanted.
    pub seed: u64,
}

/// Why a file is no scenario.
#[derive(Clone, Debug, PartialEq)]
pub enum BadScenario {
    /// It does not have the right form.
    Form(String),
    /// Nobody knows the protocol.
    Protocol(String),
    /// The parameters break a rule.
    Config(BadConfig),
    /// The plan breaks a rule.
    Plan(BadPlan),
    /// The group is too large for the protocol.
    Crowd(Crowd),
}

impl fmt::Display for BadScenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form(problem) => f.write_str(problem),
            Self::Protocol(name) => {
                write!(f, "protocol = \"{name}\", but no protocol has that name; see `protocols`")
            }
            Self::Config(bad) => bad.fmt(f),
            Self::Plan(bad) => bad.fmt(f),
            Self::Crowd(crowd) => crowd.fmt(f),
        }
    }
}

impl std::error::Error for BadScenario {}

impl ScenarioFile {
    /// Reads a scenario.
    ///
    /// # Errors
    /// [`BadScenario`], naming the place or the values and the rule.
    pub fn parse(text: &str) -> Result<Self, BadScenario> {
        // Which parameters there are is known only once the protocol is.
        let written: Written<toml::Table> = read(text)?;
        let Some(entry) = choice::find(&written.protocol) else {
            return Err(BadScenario::Protocol(written.protocol));
        };
        let config = match entry.family {
            Family::AnnounceListen(variant) => {
                let params: announce_listen::Config = read_params(text)?;
                Config::AnnounceListen(announce_listen::Config { variant, ..params })
            }
            Family::LocalLeader => Config::LocalLeader(read_params(text)?),
            Family::Called(called) => Config::Called(match called {
                Called::Bully => called::Config::Bully(read_params(text)?),
                Called::Ring(variant) => {
                    called::Config::Ring(ring::Config { variant, ..read_params(text)? })
                }
                Called::AdHoc => called::Config::AdHoc(read_params(text)?),
            }),
            Family::Probabilistic => Config::Probabilistic(read_params(text)?),
        };
        let choice = Choice::try_from(config).map_err(BadScenario::Config)?;
        let plan = Plan {
            nodes: written.nodes,
            absent: written.absent,
            ranks: written.ranks,
            order: written.order,
            view: written.view,
            processing: written.processing,
            detection: written.detection,
            network: written.network,
            faults: written.faults,
            drift: written.drift,
            offset: written.offset,
            horizon: written.until,
        };
        plan.check().map_err(BadScenario::Plan)?;
        choice.check_nodes(u64::from(plan.nodes)).map_err(BadScenario::Crowd)?;
        let (about, protocol, seed) = (written.about, written.protocol, written.seed);
        Ok(Self { about, protocol, choice, plan, seed })
    }

    /// Runs it once and keeps everything that happened.
    pub fn trace(&self, seed: u64) -> Vec<Record> {
        self.choice.clone().visit(OneRun { plan: &self.plan, coins: Coins::new(seed, 0) })
    }
}

/// One run, kept whole.
struct OneRun<'a> {
    plan: &'a Plan,
    coins: Coins,
}

impl Visitor for OneRun<'_> {
    type Output = Vec<Record>;

    fn visit<P: Protocol>(self, params: P::Params) -> Vec<Record> {
        let mut tracer = Tracer::default();
        World::<P>::new(params).run(self.plan, self.coins, &mut tracer);
        tracer.records
    }
}

fn read<T: DeserializeOwned>(text: &str) -> Result<T, BadScenario> {
    toml::from_str(text).map_err(|error| form(&error, text))
}

/// The parameters of a file, read as those of one family; errors name the line.
fn read_params<P: Default + DeserializeOwned>(text: &str) -> Result<P, BadScenario> {
    read::<Written<P>>(text).map(|written| written.params)
}

/// One line: where, and what is wrong there.
fn form(error: &toml::de::Error, text: &str) -> BadScenario {
    let problem = error.message().lines().collect::<Vec<_>>().join("; ");
    match error.span() {
        Some(span) => {
            let line = text[..span.start.min(text.len())].matches('\n').count() + 1;
            BadScenario::Form(format!("line {line}: {problem}"))
        }
        None => BadScenario::Form(problem),
    }
}
