//! Checks an experiment before it runs.

use super::rare::NotEstimated;
use super::scenario::minority;
use super::{Churn, Engine, Experiment, Initiation, Initiators, Scenario};
use crate::coin::RunSeed;
use crate::diagram::TooMany;
use crate::graph::Links;
use crate::network::{BadProbability, Topology};
use crate::plan::{BadPlan, Plan, Ranks};
use crate::scenario_file::BadScenario;
use crate::terrain::{BadTerrain, Terrain};
use bellwether_core::Duration;
use bellwether_protocols::choice::{BadConfig, Goal, GroupTooLarge, Leases, names};
use bellwether_protocols::param::BadParam;
use bellwether_protocols::simulated::Layout;
use std::fmt;

/// Why an experiment cannot be done.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum BadExperiment {
    /// The plan is not valid.
    Plan(BadPlan),
    /// The group is too large for the protocol.
    GroupTooLarge(GroupTooLarge),
    /// Everything is lost.
    NeverConverges,
    /// The loss is so high that the group would practically never converge.
    TooManyRounds {
        /// The loss.
        loss: f64,
        /// The mean number of attempts to converge.
        rounds: f64,
    },
    /// No process could take over.
    NobodyLeft,
    /// Too few processes would remain to support a leader.
    NoQuorum {
        /// The scenario.
        scenario: &'static str,
        /// How many would remain.
        left: u32,
        /// How many a leader needs.
        quorum: u32,
    },
    /// The group is too small to be divided.
    NothingToSplit {
        /// The number of processes.
        nodes: u32,
        /// The scenario.
        scenario: &'static str,
    },
    /// The scenario is only for protocols with leases.
    NoLeases(&'static str),
    /// The scenario is not for protocols with leases.
    OnlyAnnounced(&'static str),
    /// The lazy engine does not apply, for this reason.
    NotLazy(&'static str),
    /// The scenario needs a protocol that elects a leader.
    ElectsNobody(&'static str),
    /// The leader departs, but no process ever stops following it.
    NeverGivenUp,
    /// The scenario needs to know who is greater, but that is random.
    NobodyIsGreater(&'static str),
    /// Too many departures and arrivals for one run.
    TooMuchChurn {
        /// The expected number.
        events: f64,
    },
    /// There is only one live process.
    Alone,
    /// An initiator is not a live process.
    NoSuchInitiator {
        /// The initiator.
        node: u32,
        /// The number of live processes; their ids start at 0.
        live: u32,
    },
    /// The number of initiators is zero, or larger than the number of live processes.
    InitiatorCount {
        /// The requested number.
        count: u32,
        /// The number of live processes.
        live: u32,
    },
    /// An initiator is listed twice.
    InitiatorTwice(u32),
    /// The graph is not connected.
    Disconnected {
        /// A process that process 0 cannot reach.
        node: u32,
    },
    /// The network cannot be drawn.
    Terrain(BadTerrain),
    /// The scenario is not for elections that an initiator starts.
    OnlyCalled(&'static str),
    /// No protocol has this name.
    Protocol(String),
    /// A parameter of the protocol is refused.
    Param(BadParam),
    /// The protocol's parameters break a rule.
    Config(BadConfig),
    /// A probability is none.
    Probability(BadProbability),
    /// The scenario file is refused.
    File(Box<BadScenario>),
    /// There are too many processes to draw them.
    TooManyToDraw(TooMany),
    /// The threads could not be started.
    Threads(String),
    /// A rare event that cannot be estimated, for this reason.
    Rare(NotEstimated),
}

/// The most departures and arrivals of one run.
const CHURN_MAX: f64 = 1e6;
/// The largest mean number of attempts to converge.
const ROUNDS_MAX: f64 = 1e6;

impl fmt::Display for BadExperiment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plan(bad) => bad.fmt(f),
            Self::GroupTooLarge(bad) => bad.fmt(f),
            Self::NeverConverges => f.write_str(
                "loss = 1: no message ever arrives, so a group of more than one never converges; \
                 choose a loss below 1",
            ),
            Self::TooManyRounds { loss, rounds } => write!(
                f,
                "loss = {loss}: the group would need about {rounds:.0} attempts to converge, \
                 but at most {ROUNDS_MAX:.0} are simulated; choose less loss"
            ),
            Self::NobodyLeft => f.write_str(
                "nodes = 1: when the only process departs nobody is left to lead; choose 2 or more",
            ),
            Self::NoQuorum { scenario, left, quorum } => write!(
                f,
                "scenario {scenario}: {left} would be left, but a leader needs {quorum} to support \
                 it; choose more nodes, or mode = local"
            ),
            Self::NothingToSplit { nodes, scenario } => write!(
                f,
                "nodes = {nodes}: scenario {scenario} cuts a group into a smaller part and a \
                 larger one; choose 3 or more"
            ),
            Self::NoLeases(scenario) => write!(
                f,
                "scenario {scenario} is for protocols whose leaders hold leases; try local-leader"
            ),
            Self::OnlyAnnounced(scenario) => write!(
                f,
                "scenario {scenario} is for protocols whose leaders announce themselves; with \
                 leases, start watches a group in which nothing happens"
            ),
            Self::NotLazy(why) => {
                write!(f, "the lazy engine does not apply: {why}; use the event engine")
            }
            Self::ElectsNobody(scenario) => write!(
                f,
                "scenario {scenario} watches a leader being replaced, but this protocol promises \
                 none; try le-a, le-s, le-m, al or query"
            ),
            Self::NeverGivenUp => f.write_str(
                "listen is infinite: a leader that departs without notice is followed for ever; \
                 set listen, for example to 3s, or bye",
            ),
            Self::NobodyIsGreater(scenario) => write!(
                f,
                "scenario {scenario} needs to know who is greater, but with this criterion that is \
                 random; try criterion = highest-id"
            ),
            Self::TooMuchChurn { events } => write!(
                f,
                "departures and arrivals make about {events:.0} events in the window, but at most \
                 {CHURN_MAX:.0} can be planned; choose lower rates or a shorter window"
            ),
            Self::Terrain(bad) => bad.fmt(f),
            Self::Protocol(name) => {
                write!(f, "no protocol is called '{name}'; there are {}", names().join(", "))
            }
            Self::Param(bad) => bad.fmt(f),
            Self::Config(bad) => bad.fmt(f),
            Self::Probability(bad) => bad.fmt(f),
            Self::File(bad) => bad.fmt(f),
            Self::TooManyToDraw(bad) => bad.fmt(f),
            Self::Threads(why) => write!(f, "the threads could not be started: {why}"),
            Self::Rare(why) => why.fmt(f),
            uncalled => uncalled.fmt_uncalled(f),
        }
    }
}

impl BadExperiment {
    /// Writes the errors of elections that an initiator starts.
    fn fmt_uncalled(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alone => {
                f.write_str("there is nobody to elect: an election needs 2 or more live processes")
            }
            Self::NoSuchInitiator { node, live } => write!(
                f,
                "initiator {node}: only processes that are alive can call an election, which are 0 \
                 to {}",
                live - 1
            ),
            Self::InitiatorCount { count, live } => write!(
                f,
                "initiators = {count}: from 1 to {live} of the {live} live processes can call an \
                 election"
            ),
            Self::InitiatorTwice(node) => {
                write!(f, "initiator {node} is named twice; name everyone once")
            }
            Self::Disconnected { node } => write!(
                f,
                "the graph is not connected: process {node} cannot be reached from process 0; add \
                 links, or choose another seed or a larger range"
            ),
            Self::OnlyCalled(scenario) => write!(
                f,
                "scenario {scenario} is not for elections that are called by somebody; try start"
            ),
            _ => Ok(()), // written by `fmt`
        }
    }
}

impl std::error::Error for BadExperiment {}

macro_rules! from {
    ($($Bad:ty: $Variant:ident),+ $(,)?) => {
        $(impl From<$Bad> for BadExperiment {
            fn from(bad: $Bad) -> Self {
                Self::$Variant(bad)
            }
        })+
    };
}

from! {
    BadPlan: Plan,
    GroupTooLarge: GroupTooLarge,
    BadParam: Param,
    BadConfig: Config,
    BadProbability: Probability,
    TooMany: TooManyToDraw,
}

impl From<BadScenario> for BadExperiment {
    fn from(bad: BadScenario) -> Self {
        Self::File(Box::new(bad))
    }
}

impl Experiment {
    /// Checks every rule that can be checked before running.
    ///
    /// # Errors
    /// [`BadExperiment`], naming the rule and the way out.
    pub fn check(&self) -> Result<(), BadExperiment> {
        if let Scenario::Churn(Churn { departures, arrivals }) = self.scenario {
            let events = (departures + arrivals) * self.window.as_secs_f64();
            if events.is_nan() || events > CHURN_MAX {
                return Err(BadExperiment::TooMuchChurn { events });
            }
        }
        if self.nodes == 0 {
            return Err(BadPlan::Nodes(0).into());
        }
        self.choice.check_nodes(self.ids())?;
        self.check_loss()?;
        if self.choice.profile().on_demand {
            self.check_initiation()?; // its error names an unknown initiator better
        }
        self.check_plan()?;
        if self.engine == Engine::Lazy
            && let Some(why) = self.not_lazy()
        {
            return Err(BadExperiment::NotLazy(why));
        }
        self.check_scenario()
    }

    /// Checks the plan of the first run. Radios that move are not drawn for it, because that may
    /// take seconds and breaks no rule of a plan: their links are between those that are there, in
    /// order of time.
    fn check_plan(&self) -> Result<(), BadPlan> {
        let run_seed = RunSeed::new(self.seed, 0);
        if !(self.choice.profile().on_demand && self.initiation.wanders()) {
            return self.plan(run_seed).0.check();
        }
        let terrain = Terrain::Listed(Links::new());
        let initiation = Initiation { terrain, ..self.initiation.clone() };
        let standing = Self { initiation, ..self.clone() };
        Plan { horizon: self.window, ..standing.plan(run_seed).0 }.check()
    }

    fn check_loss(&self) -> Result<(), BadExperiment> {
        let loss = self.network.multicast.loss.rate();
        if self.nodes > 1 && loss >= 1.0 {
            return Err(BadExperiment::NeverConverges);
        }
        let rounds = self.choice.attempts_beyond_first(self.nodes, loss);
        if rounds > ROUNDS_MAX {
            return Err(BadExperiment::TooManyRounds { loss, rounds });
        }
        Ok(())
    }

    fn check_scenario(&self) -> Result<(), BadExperiment> {
        let name = self.scenario.name();
        let profile = self.choice.profile();
        if profile.on_demand {
            return Ok(());
        }
        if let Some(leases) = profile.leases {
            return self.check_leases(leases);
        }
        match self.scenario {
            Scenario::Start => return Ok(()),
            Scenario::Split | Scenario::Merge => return Err(BadExperiment::NoLeases(name)),
            _ => {}
        }
        let Goal::Leaders(_) = profile.goal else {
            return Err(BadExperiment::ElectsNobody(name));
        };
        let joins = matches!(self.scenario, Scenario::JoinGreater | Scenario::JoinSmaller);
        // A random draw does not displace an established leader, but no leader counts as
        // established if trust never ends.
        let greater = self.scenario == Scenario::JoinGreater;
        let by_luck = self.ranks == Ranks::Random
            || (profile.by_luck && (greater || profile.trust == Duration::MAX));
        if joins && by_luck {
            return Err(BadExperiment::NobodyIsGreater(name));
        }
        if self.scenario == Scenario::Departure && self.nodes < 2 {
            return Err(BadExperiment::NobodyLeft);
        }
        let departs = matches!(self.scenario, Scenario::Departure | Scenario::Churn(_));
        if departs && profile.trust == Duration::MAX && profile.byes == 0 {
            return Err(BadExperiment::NeverGivenUp);
        }
        Ok(())
    }

    /// Every initiator must be alive, and every process must be reachable.
    fn check_initiation(&self) -> Result<(), BadExperiment> {
        if self.scenario != Scenario::Start {
            return Err(BadExperiment::OnlyCalled(self.scenario.name()));
        }
        let live = self.nodes - u32::from(self.initiation.top_dead);
        let ring = matches!(self.choice.layout(), Some(Layout::Ring { .. }));
        if self.nodes < 2 || (ring && live < 2) {
            return Err(BadExperiment::Alone);
        }
        match &self.initiation.initiators {
            Initiators::One | Initiators::All | Initiators::Random => {}
            Initiators::Some(count) if (1..=live).contains(count) => {}
            Initiators::Some(count) => {
                return Err(BadExperiment::InitiatorCount { count: *count, live });
            }
            Initiators::Named(named) => {
                if named.is_empty() {
                    return Err(BadExperiment::InitiatorCount { count: 0, live });
                }
                if let Some(&node) = named.iter().find(|node| **node >= live) {
                    return Err(BadExperiment::NoSuchInitiator { node, live });
                }
                let mut sorted = named.clone();
                sorted.sort_unstable();
                if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
                    return Err(BadExperiment::InitiatorTwice(pair[0]));
                }
            }
        }
        let terrain = &self.initiation.terrain;
        if self.initiation.wanders() {
            return terrain.check(live).map_err(BadExperiment::Terrain);
        }
        let drawn = terrain.draw(live, RunSeed::new(self.seed, 0));
        let drawn = drawn.map_err(BadExperiment::Terrain)?;
        let drawn = drawn.links.map(|links| Topology::Graph { links });
        if let Some(topology) = &drawn {
            if let Some(node) = topology.loops() {
                return Err(BadPlan::Loop { node }.into());
            }
            if let Some(node) = topology.highest().filter(|node| *node >= live) {
                return Err(BadPlan::NoSuchNode { node, nodes: live }.into());
            }
        }
        match drawn.as_ref().unwrap_or(&self.network.topology).unreached(live) {
            Some(node) => Err(BadExperiment::Disconnected { node }),
            None => Ok(()),
        }
    }

    /// Before and after the event there must be enough processes for a leader.
    fn check_leases(&self, leases: Leases) -> Result<(), BadExperiment> {
        let scenario = self.scenario.name();
        let left = match self.scenario {
            Scenario::FalseDeparture => return Err(BadExperiment::OnlyAnnounced(scenario)),
            Scenario::Departure => self.nodes - 1,
            Scenario::Split | Scenario::Merge if minority(self.nodes) == 0 => {
                return Err(BadExperiment::NothingToSplit { nodes: self.nodes, scenario });
            }
            Scenario::Split | Scenario::Merge => self.nodes - minority(self.nodes),
            _ => self.nodes,
        };
        let quorum = leases.quorum(u32::try_from(self.ids()).unwrap_or(u32::MAX));
        if left < quorum {
            return Err(BadExperiment::NoQuorum { scenario, left, quorum });
        }
        Ok(())
    }
}
