//! How processes stand to each other: on a ring, or in a network.

use super::{PROCESSES_MAX, TooMany};
use crate::coin::Coins;
use crate::fault::Fault;
use crate::graph::{Links, complete};
use crate::network::Topology;
use crate::plan::Plan;
use crate::scenario_file::ScenarioFile;
use bellwether_core::SimTime;
use bellwether_protocols::simulated::Layout;
use std::collections::BTreeSet;

/// How processes stand to each other. They are named by their numbers, as in a [`Plan`].
#[derive(Clone, Debug, PartialEq)]
pub enum Arrangement {
    /// Messages go round.
    Ring {
        /// Who stands at each place.
        order: Vec<u32>,
        /// Whether messages go against the order too. If not, every message went with it, however
        /// many it passed over.
        both_ways: bool,
    },
    /// Messages go along links.
    Graph(Graph),
}

/// Links, the lesser end of each first.
pub(super) type Pairs = BTreeSet<(u32, u32)>;

/// A network whose links may come and go.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    /// How many processes there are.
    pub nodes: u32,
    /// The links at first.
    pub links: Links,
    /// Those that come (true) and go (false), in order of time.
    pub changes: Vec<(SimTime, (u32, u32), bool)>,
    /// Where each process is, with any unit; a picture finds places of its own if this is absent.
    pub places: Option<Vec<[f64; 2]>>,
}

impl Arrangement {
    /// How the processes of a scenario stand, if its protocol has them on a ring or in a network;
    /// and where they are, if that is known.
    pub fn of(scenario: &ScenarioFile, seed: u64, places: Option<Vec<[f64; 2]>>) -> Option<Self> {
        Some(match scenario.choice.layout()? {
            Layout::Ring { both_ways } => {
                Self::ring(&scenario.plan, Coins::new(seed, 0), both_ways)
            }
            Layout::Graph => Self::graph(&scenario.plan, places),
        })
    }

    /// The ring of a run.
    pub fn ring(plan: &Plan, coins: Coins, both_ways: bool) -> Self {
        let mut order = Vec::new();
        plan.order.arrange(plan.nodes, coins, &mut order);
        Self::Ring { order, both_ways }
    }

    /// The network of a plan, with all that becomes of it; and where its processes are, if that is
    /// known.
    pub fn graph(plan: &Plan, places: Option<Vec<[f64; 2]>>) -> Self {
        let links = match &plan.network.topology {
            Topology::Graph { links } => links.clone(),
            // Refused before it is drawn if there are too many, and they are many more.
            Topology::Group if plan.nodes as usize > PROCESSES_MAX => Links::new(),
            Topology::Group => complete(plan.nodes),
        };
        let change = |timed: &crate::Timed| match timed.fault {
            Fault::Link { ends, up } => Some((SimTime::ZERO + timed.at, ends, up)),
            _ => None,
        };
        let changes = plan.faults.iter().filter_map(change).collect();
        Self::Graph(Graph { nodes: plan.nodes, links, changes, places })
    }

    /// Checks that a picture of it can be read.
    ///
    /// # Errors
    /// If there are too many processes.
    pub fn check(&self) -> Result<(), TooMany> {
        let processes = self.len();
        if processes > PROCESSES_MAX { Err(TooMany { processes }) } else { Ok(()) }
    }

    /// How many processes there are.
    fn len(&self) -> usize {
        match self {
            Self::Ring { order, .. } => order.len(),
            Self::Graph(graph) => graph.nodes as usize,
        }
    }
}

impl Graph {
    /// The links there are at this time, and those that were there before it. The lesser end comes
    /// first, and both ends exist.
    pub(super) fn at(&self, time: SimTime) -> (Pairs, Pairs) {
        let tidy = |(a, b): (u32, u32)| (a.min(b), a.max(b));
        let exists = |(a, b): &(u32, u32)| a != b && *b < self.nodes;
        let mut there: BTreeSet<_> = self.links.iter().copied().map(tidy).filter(exists).collect();
        let mut gone = BTreeSet::new();
        for &(_, ends, up) in self.changes.iter().take_while(|(at, ..)| *at <= time) {
            let link = tidy(ends);
            if up && exists(&link) {
                gone.remove(&link);
                there.insert(link);
            } else if there.remove(&link) {
                gone.insert(link);
            }
        }
        (there, gone)
    }
}
