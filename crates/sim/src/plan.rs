//! What is to be simulated: the group, the network, what goes wrong, and for how long.

use crate::coin::{Coins, Purpose};
use crate::fault::{Fault, Timed};
use crate::network::Network;
use bellwether_core::{Duration, SimTime};
use std::fmt;

/// One experiment, without its luck.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// How many processes there are, 0 to `nodes − 1` by id, the absent included.
    pub nodes: u32,
    /// Who does not start at time zero; a [`Fault::Join`] may start them later.
    pub absent: Vec<u32>,
    /// Where ranks come from.
    pub ranks: Ranks,
    /// The network.
    pub network: Network,
    /// What happens from outside, in order of time.
    pub faults: Vec<Timed>,
    /// Clocks run fast or slow by up to this, in parts per 10⁹, each in its own way.
    pub drift: u32,
    /// No run lasts longer.
    pub horizon: Duration,
}

/// Where the ranks of processes come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ranks {
    /// The id.
    #[default]
    ById,
    /// Drawn for each run and process, below [`Ranks::BOUND`].
    Random,
}

impl Ranks {
    /// Random ranks lie below this.
    pub const BOUND: u64 = 1 << 30;

    /// The rank of one process in one run.
    #[inline]
    pub(crate) fn of(self, coins: Coins, node: u32) -> u64 {
        match self {
            Self::ById => u64::from(node),
            Self::Random => coins.packet(node, u32::MAX).word(Purpose::Delay, node) % Self::BOUND,
        }
    }
}

/// The most processes a world can hold: coins count receivers with 32 bits.
pub const NODES_MAX: u32 = u32::MAX - 64;

impl Plan {
    /// A group in the default network, with nothing going wrong.
    pub fn new(nodes: u32) -> Self {
        Self {
            nodes,
            absent: Vec::new(),
            ranks: Ranks::ById,
            network: Network::default(),
            faults: Vec::new(),
            drift: 0,
            horizon: Duration::LONGEST_WRITTEN,
        }
    }

    /// Checks what the types cannot say.
    ///
    /// # Errors
    /// [`BadPlan`], naming the values and the rule.
    pub fn check(&self) -> Result<(), BadPlan> {
        if self.nodes == 0 || self.nodes > NODES_MAX {
            return Err(BadPlan::Nodes(self.nodes));
        }
        let named = self.faults.iter().filter_map(|timed| timed.fault.highest());
        let linked = self.network.links.iter().map(|link| link.from.max(link.to));
        let absent = self.absent.iter().copied();
        match named.chain(linked).chain(absent).max() {
            Some(node) if node >= self.nodes => {
                return Err(BadPlan::NoSuchNode { node, nodes: self.nodes });
            }
            _ => {}
        }
        if !self.faults.is_sorted_by_key(|timed| timed.at) {
            return Err(BadPlan::FaultsOutOfOrder);
        }
        Ok(())
    }

    pub(crate) fn end(&self) -> SimTime {
        SimTime::ZERO + self.horizon
    }

    pub(crate) fn has_clock_faults(&self) -> bool {
        let disturbs = |fault: &Fault| matches!(fault, Fault::Drift { .. } | Fault::Jump { .. });
        self.drift > 0 || self.faults.iter().any(|timed| disturbs(&timed.fault))
    }
}

/// Which rule a plan breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadPlan {
    /// Too few or too many processes.
    Nodes(u32),
    /// A process is named that does not exist.
    NoSuchNode {
        /// The name.
        node: u32,
        /// How many there are.
        nodes: u32,
    },
    /// The faults are not in order of time.
    FaultsOutOfOrder,
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
            Self::FaultsOutOfOrder => write!(f, "the faults must be in order of time"),
        }
    }
}

impl std::error::Error for BadPlan {}
