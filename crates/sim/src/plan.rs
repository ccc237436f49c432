//! The plan of a run: the group, the network, the faults, and the duration.

use crate::coin::{Purpose, RunSeed};
use crate::fault::{Fault, Timed};
use crate::network::{Delay, Network, Probability, Topology};
use crate::order::Order;
use bellwether_core::{Candidacy, Duration, SimTime};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Everything about a run except its random draws.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The number of processes, with ids 0 to `nodes − 1`, including the absent.
    pub nodes: u32,
    /// Processes that do not start at time zero; a [`Fault::Join`] may start them later.
    pub absent: Vec<u32>,
    /// The processes that vote at first, where only some do; all if it is empty.
    pub founders: Vec<u32>,
    /// Whether a process that finds nothing stored cannot tell a first life from a lost memory, as
    /// on a real machine.
    pub unknown_first_lives: bool,
    /// Where ranks come from.
    pub ranks: Ranks,
    /// The priority of each process, in order of their numbers; those that are missing have 0.
    pub priorities: Vec<u32>,
    /// The processes that vote and never lead.
    pub witnesses: Vec<u32>,
    /// The order in which processes see each other: the ring, for protocols that have one.
    pub order: Order,
    /// The probability that a process sees another one. Processes that it does not see can still be
    /// reached.
    pub view: Probability,
    /// The network.
    pub network: Network,
    /// How long a process takes to handle each message, one after the other.
    pub processing: Duration,
    /// How long after a process stops or starts all that see it are told. Absent: they are never
    /// told.
    pub detection: Option<Duration>,
    /// The faults, in order of time.
    pub faults: Vec<Timed>,
    /// Each clock runs fast or slow by a random rate up to this, in parts per 10⁹.
    pub drift: u32,
    /// Each clock starts at a random reading below this; at zero if this is zero.
    pub offset: Duration,
    /// The longest duration of a run.
    pub horizon: Duration,
}

/// Where the ranks of processes come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ranks {
    /// The id.
    #[default]
    ById,
    /// Drawn for each run and process, below [`Ranks::BOUND`].
    Random,
}

impl Ranks {
    /// The bound of random ranks; all are below it.
    pub const BOUND: u64 = 1 << 30;

    /// The rank of one process in one run.
    #[inline]
    pub(crate) fn of(self, run_seed: RunSeed, node: u32) -> u64 {
        match self {
            Self::ById => u64::from(node),
            Self::Random => run_seed.packet(node, u32::MAX).word(Purpose::Rank, node) % Self::BOUND,
        }
    }
}

/// The most processes a world can hold: random draws number receivers with 32 bits.
pub const NODES_MAX: u32 = u32::MAX - 64;

impl Plan {
    /// A plan for a group in the default network, without faults.
    pub fn new(nodes: u32) -> Self {
        Self {
            nodes,
            absent: Vec::new(),
            founders: Vec::new(),
            unknown_first_lives: false,
            ranks: Ranks::ById,
            priorities: Vec::new(),
            witnesses: Vec::new(),
            order: Order::Ascending,
            view: Probability::ONE,
            network: Network::default(),
            processing: Duration::ZERO,
            detection: None,
            faults: Vec::new(),
            drift: 0,
            offset: Duration::ZERO,
            horizon: Duration::LONGEST_WRITTEN,
        }
    }

    /// Checks the rules that the types cannot express.
    ///
    /// # Errors
    /// [`BadPlan`], naming the values and the rule.
    pub fn check(&self) -> Result<(), BadPlan> {
        self.check_keys().map_err(|(_, bad)| bad)
    }

    /// Like [`check`](Self::check); an error also has the key of a scenario file that breaks the
    /// rule.
    pub(crate) fn check_keys(&self) -> Result<(), (Key, BadPlan)> {
        let bad = |key: &'static str, bad| Err((Key::Top(key), bad));
        if self.nodes == 0 || self.nodes > NODES_MAX {
            return bad("nodes", BadPlan::Nodes(self.nodes));
        }
        self.check_names()?;
        if let Some(node) = self.network.topology.loops() {
            return bad("network", BadPlan::Loop { node });
        }
        if !self.view.is_certain()
            && (self.order != Order::Ascending || self.network.topology != Topology::Group)
        {
            return bad("view", BadPlan::PartOfRing);
        }
        if !self.order.is_of(self.nodes) {
            return bad("order", BadPlan::Order { nodes: self.nodes });
        }
        if self.priorities.len() > self.nodes as usize {
            return bad("priorities", BadPlan::Priorities { nodes: self.nodes });
        }
        if (0..self.nodes).all(|node| self.witnesses.contains(&node)) {
            return bad("witnesses", BadPlan::AllWitnesses { nodes: self.nodes });
        }
        let mut pairs = self.faults.windows(2).enumerate();
        if let Some((first, _)) = pairs.find(|(_, pair)| pair[0].at > pair[1].at) {
            return Err((Key::Fault(first + 1, "at"), BadPlan::FaultsOutOfOrder));
        }
        if self.drift > DRIFT_MAX {
            return bad("drift", BadPlan::Drift(self.drift));
        }
        self.check_lengths()
    }

    /// Every process that is named must exist.
    fn check_names(&self) -> Result<(), (Key, BadPlan)> {
        let named = self.faults.iter().enumerate().filter_map(|(number, timed)| {
            let node = timed.fault.highest()?;
            Some((Key::Fault(number, timed.fault.key(node)), node))
        });
        let linked = self.network.highest().map(|node| (Key::Top("network"), node));
        let absent = self.absent.iter().map(|node| (Key::Top("absent"), *node));
        let witnesses = self.witnesses.iter().map(|node| (Key::Top("witnesses"), *node));
        let founders = self.founders.iter().map(|node| (Key::Top("founders"), *node));
        let all = named.chain(linked).chain(absent).chain(witnesses).chain(founders);
        let nodes = self.nodes;
        match all.into_iter().find(|(_, node)| *node >= nodes) {
            Some((key, node)) => Err((key, BadPlan::NoSuchNode { node, nodes })),
            None => Ok(()),
        }
    }

    /// Every duration must be finite.
    fn check_lengths(&self) -> Result<(), (Key, BadPlan)> {
        let top = |key| move |bad| (Key::Top(key), bad);
        check_network(&self.network).map_err(top("network"))?;
        check_length(self.horizon).map_err(top("until"))?;
        check_length(self.offset).map_err(top("offset"))?;
        check_length(self.processing).map_err(top("processing"))?;
        check_length(self.detection.unwrap_or_default()).map_err(top("detection"))?;
        self.faults.iter().enumerate().try_for_each(|(number, timed)| {
            let of = |key| move |bad| (Key::Fault(number, key), bad);
            check_length(timed.at).map_err(of("at"))?;
            match &timed.fault {
                Fault::Slow { by, .. } | Fault::Jump { by, .. } => {
                    check_length(*by).map_err(of("by"))
                }
                Fault::Network { network } => check_network(network).map_err(of("network")),
                _ => Ok(()),
            }
        })
    }

    /// How willing a process is to lead.
    pub fn candidacy(&self, node: u32) -> Candidacy {
        Candidacy {
            priority: self.priorities.get(node as usize).copied().unwrap_or_default(),
            witness: self.witnesses.contains(&node),
        }
    }

    pub(crate) fn end(&self) -> SimTime {
        SimTime::ZERO + self.horizon
    }

    pub(crate) fn has_clock_faults(&self) -> bool {
        let disturbs = |fault: &Fault| {
            matches!(
                fault,
                Fault::Drift { .. } | Fault::Jump { .. } | Fault::Restart { reboot: true, .. }
            )
        };
        let apart = self.drift > 0 || self.offset > Duration::ZERO;
        apart || self.faults.iter().any(|timed| disturbs(&timed.fault))
    }
}

/// A key of a scenario file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// A key at the top of the file.
    Top(&'static str),
    /// A key of the fault with this number, from 0.
    Fault(usize, &'static str),
}

impl From<&'static str> for Key {
    fn from(key: &'static str) -> Self {
        Self::Top(key)
    }
}

/// Which rule a plan breaks.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum BadPlan {
    /// Too few or too many processes.
    Nodes(u32),
    /// A process is named that does not exist.
    NoSuchNode {
        /// The number that was named.
        node: u32,
        /// The number of processes.
        nodes: u32,
    },
    /// A process is linked to itself.
    Loop {
        /// The process.
        node: u32,
    },
    /// An order does not contain every process exactly once.
    Order {
        /// The number of processes.
        nodes: u32,
    },
    /// A partial view was combined with a ring or a graph, which define views themselves.
    PartOfRing,
    /// There are more priorities than processes.
    Priorities {
        /// The number of processes.
        nodes: u32,
    },
    /// All processes are witnesses.
    AllWitnesses {
        /// The number of processes.
        nodes: u32,
    },
    /// The faults are not in order of time.
    FaultsOutOfOrder,
    /// A clock would stop or run twice as fast.
    Drift(u32),
    /// A duration is too long to end.
    Endless,
    /// The parameters of a delay break a rule.
    Delay(Delay),
}

/// The largest drift of clocks, in parts per 10⁹.
const DRIFT_MAX: u32 = 999_999_999;
/// The largest sigma of a log-normal delay.
const SIGMA_MAX: f64 = 10.0;

fn check_network(network: &Network) -> Result<(), BadPlan> {
    let common = [&network.multicast, &network.unicast].map(|channel| &channel.delay);
    let linked = network.links.iter().filter_map(|link| link.delay.as_ref());
    common.into_iter().chain(linked).try_for_each(check_delay)?;
    check_length(network.straggle)
}

fn check_length(length: Duration) -> Result<(), BadPlan> {
    if length <= Duration::LONGEST_WRITTEN { Ok(()) } else { Err(BadPlan::Endless) }
}

fn check_delay(delay: &Delay) -> Result<(), BadPlan> {
    let fits = |length: &Duration| *length <= Duration::LONGEST_WRITTEN;
    let good = match delay {
        Delay::Constant(length) => fits(length),
        Delay::Uniform { min, max } => min <= max && fits(max),
        Delay::Exponential { min, mean } => fits(min) && fits(mean),
        Delay::LogNormal { min, median, sigma } => {
            fits(min) && fits(median) && (0.0..=SIGMA_MAX).contains(sigma)
        }
    };
    if good { Ok(()) } else { Err(BadPlan::Delay(delay.clone())) }
}

impl fmt::Display for BadPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nodes(nodes) => {
                write!(f, "nodes = {nodes}, but 1 <= nodes <= {NODES_MAX} must hold")
            }
            Self::NoSuchNode { node, nodes } => {
                write!(
                    f,
                    "process {node} is named, but with nodes = {nodes} ids end at {}",
                    nodes - 1
                )
            }
            Self::Loop { node } => {
                write!(f, "process {node} is linked to itself; a link has two ends")
            }
            Self::Order { nodes } => {
                write!(f, "an order names each of the {nodes} processes, 0 to {}, once", nodes - 1)
            }
            Self::PartOfRing => write!(
                f,
                "view < 1 with an order or a graph, which say themselves who sees whom; leave one \
                 of them out"
            ),
            Self::Priorities { nodes } => {
                write!(f, "there are more priorities than nodes = {nodes}; leave some out")
            }
            Self::AllWitnesses { nodes } => {
                write!(f, "all {nodes} processes are witnesses, and nobody could lead; name fewer")
            }
            Self::FaultsOutOfOrder => write!(f, "the faults must be in order of time"),
            Self::Drift(drift) => {
                write!(f, "drift = {drift}, but drift <= {DRIFT_MAX} parts per 10^9 must hold")
            }
            Self::Endless => write!(
                f,
                "a run, a delay and a fault must end: every duration is at most {}",
                Duration::LONGEST_WRITTEN
            ),
            Self::Delay(delay) => write!(
                f,
                "delay = {delay:?}, but min <= max, 0 <= sigma <= {SIGMA_MAX} and all lengths \
                 finite must hold"
            ),
        }
    }
}

impl std::error::Error for BadPlan {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Who;

    fn with_delay(delay: Delay) -> Plan {
        let mut plan = Plan::new(3);
        plan.network.unicast.delay = delay;
        plan
    }

    #[test]
    fn what_would_never_end_is_refused_before_it_begins() {
        let ms = Duration::from_millis;
        let node = Who::Node(0);
        let jump = Timed { at: ms(1), fault: Fault::Jump { node, by: Duration::MAX } };
        assert_eq!(Plan::new(3).check(), Ok(()));
        assert_eq!(Plan { horizon: Duration::MAX, ..Plan::new(3) }.check(), Err(BadPlan::Endless));
        assert_eq!(Plan { faults: vec![jump], ..Plan::new(3) }.check(), Err(BadPlan::Endless));
        let drift = 1_000_000_000;
        assert_eq!(Plan { drift, ..Plan::new(3) }.check(), Err(BadPlan::Drift(drift)));
        for delay in [
            Delay::Constant(Duration::MAX),
            Delay::Uniform { min: ms(2), max: ms(1) },
            Delay::LogNormal { min: ms(0), median: ms(1), sigma: f64::INFINITY },
        ] {
            assert_eq!(with_delay(delay.clone()).check(), Err(BadPlan::Delay(delay)));
        }
        let nothing = Delay::LogNormal { min: ms(0), median: ms(1), sigma: f64::NAN };
        assert!(matches!(with_delay(nothing).check(), Err(BadPlan::Delay(_))));
    }

    #[test]
    fn whoever_is_named_must_exist() {
        let crash = Fault::Crash { node: Who::Node(3) };
        let plan =
            Plan { faults: vec![Timed { at: Duration::ZERO, fault: crash }], ..Plan::new(3) };
        assert_eq!(plan.check(), Err(BadPlan::NoSuchNode { node: 3, nodes: 3 }));
        assert_eq!(Plan::new(0).check(), Err(BadPlan::Nodes(0)));
    }
}
