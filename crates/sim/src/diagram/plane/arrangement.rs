//! The arrangement of processes: a ring or a network.

use super::{PROCESSES_MAX, TooMany, layout};
use crate::coin::RunSeed;
use crate::fault::Fault;
use crate::graph::{Links, complete};
use crate::network::Topology;
use crate::plan::Plan;
use crate::scenario_file::ScenarioFile;
use bellwether_core::SimTime;
use bellwether_protocols::simulated::Layout;
use std::collections::BTreeSet;

/// The arrangement of processes, which are named by their numbers as in a [`Plan`].
#[derive(Clone, Debug, PartialEq)]
pub enum Arrangement {
    /// Messages pass around a ring.
    Ring {
        /// The process at each place.
        order: Vec<u32>,
        /// Whether messages also go against the order. If not, every message went with it, however
        /// many processes it skipped.
        both_ways: bool,
    },
    /// Messages go along links.
    Graph(Graph),
}

/// Where the processes of a network are drawn in a square of side 1, and how far apart.
const SQUARE: layout::Area = [0.06, 0.06, 0.94, 0.94];
const APART: f64 = 0.07;

/// Links, the smaller end of each first.
pub(super) type Pairs = BTreeSet<(u32, u32)>;

/// A network whose links may change.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    /// How many processes there are.
    pub nodes: u32,
    /// The links at first.
    pub links: Links,
    /// Links that appear (true) and disappear (false), in order of time.
    pub changes: Vec<(SimTime, (u32, u32), bool)>,
    /// The place of each process, in any unit; computed from the links if absent.
    pub places: Option<Vec<[f64; 2]>>,
}

impl Arrangement {
    /// The arrangement of a scenario's processes, if its protocol has a ring or a network; `places`
    /// are used if given.
    pub fn of(scenario: &ScenarioFile, seed: u64, places: Option<Vec<[f64; 2]>>) -> Option<Self> {
        Some(match scenario.choice.layout()? {
            Layout::Ring { both_ways } => {
                Self::ring(&scenario.plan, RunSeed::new(seed, 0), both_ways)
            }
            Layout::Graph => Self::graph(&scenario.plan, places),
        })
    }

    /// The ring of a run.
    pub fn ring(plan: &Plan, run_seed: RunSeed, both_ways: bool) -> Self {
        let mut order = Vec::new();
        plan.order.arrange(plan.nodes, run_seed, &mut order);
        Self::Ring { order, both_ways }
    }

    /// The network of a plan with all its changes; `places` are used if given.
    pub fn graph(plan: &Plan, places: Option<Vec<[f64; 2]>>) -> Self {
        let links = match &plan.network.topology {
            Topology::Graph { links } => links.clone(),
            // Too many processes are rejected before anything is drawn, and their pairs are many
            // more.
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

    /// Checks that a picture of it is readable.
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
    /// Where to draw the processes at first: in the square from (0, 0) to (1, 1), y downwards.
    pub fn points(&self) -> Vec<[f64; 2]> {
        layout::places(self, SimTime::ZERO, SQUARE, APART)
    }

    /// The links at this time, and those that existed before. The smaller end comes first, and both
    /// ends exist.
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
