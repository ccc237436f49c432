//! Networks for experiments: which processes are linked, and how the links change.
//!
//! Random networks are drawn again for each run.

use crate::coin::{RunSeed, StreamPurpose};
use crate::fault::Timed;
use crate::graph::{self, Links};
use crate::motion::{BadMotion, Motion};
use crate::network::Topology;
use crate::plan::Plan;
use bellwether_core::Duration;
use bellwether_protocols::named;
use std::fmt;

named! {
    /// The shape of a network whose links are not listed.
    pub enum Graph = Random {
        /// A random connected graph.
        Random = "random",
        /// A random tree.
        Tree = "tree",
        /// Rows and columns.
        Grid = "grid",
        /// A row.
        Line = "line",
        /// A circle.
        Circle = "circle",
        /// Everyone with everyone.
        Complete = "complete",
        /// Radios in a square that hear each other within a range.
        Disc = "disc",
        /// Radios that move about the square.
        Moving = "moving",
    }
}

/// The links of a network.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Terrain {
    /// Everyone hears everyone, unless the network itself has a topology.
    #[default]
    Open,
    /// A complete graph.
    Complete,
    /// A circle, in order of id.
    Circle,
    /// A line, in order of id.
    Line,
    /// A grid as close to a square as possible.
    Grid,
    /// A random tree.
    Tree,
    /// A random connected graph.
    Random {
        /// The number of links.
        links: usize,
    },
    /// Radios at random places in a square of side 1, linked within this range. Places are drawn
    /// until the network is connected.
    Disc {
        /// The distance within which they hear each other.
        range: f64,
    },
    /// Radios that move.
    Moving(Motion),
    /// As listed.
    Listed(Links),
}

/// A network that was drawn for one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawn {
    /// The links at the start; everyone hears everyone if absent.
    pub links: Option<Links>,
    /// The links that come and go, in order of time.
    pub changes: Vec<Timed>,
    /// The places at the start, if the network has places; as fractions of the square's side.
    pub places: Vec<[f64; 2]>,
}

/// The most processes for networks whose generation looks at all pairs.
pub const PAIRED_MAX: u32 = 5_000;

/// Why a network cannot be drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum BadTerrain {
    /// The motion breaks a rule.
    Motion(BadMotion),
    /// More processes than pairs can be looked at.
    GroupTooLarge(u32),
    /// A connected graph has at least a tree's links, and not more than there are pairs.
    Links {
        /// The requested number.
        links: usize,
        /// The smallest possible number.
        least: usize,
        /// The largest possible number.
        most: usize,
    },
    /// The range is not a positive number.
    Range(f64),
    /// The range is too short for a connected network.
    Sparse {
        /// The range.
        range: f64,
        /// The number of processes.
        nodes: u32,
    },
}

impl fmt::Display for BadTerrain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Motion(bad) => bad.fmt(f),
            Self::GroupTooLarge(nodes) => write!(
                f,
                "nodes = {nodes}, but graphs are drawn for at most {PAIRED_MAX} processes; choose \
                 fewer, or a graph that is not random: line, circle or grid"
            ),
            Self::Links { links, least, most } => write!(
                f,
                "links = {links}, but {least} <= links <= {most} must hold for a connected graph"
            ),
            Self::Range(range) => {
                write!(f, "range = {range}, but range > 0 must hold, in parts of the square's side")
            }
            Self::Sparse { range, nodes } => write!(
                f,
                "range = {range}: {nodes} processes in the square were never connected, however \
                 often their places were drawn; choose a larger range or more processes"
            ),
        }
    }
}

impl std::error::Error for BadTerrain {}

impl Terrain {
    /// Its shape, if it has one.
    pub fn graph(&self) -> Option<Graph> {
        match self {
            Self::Open | Self::Listed(_) => None,
            Self::Complete => Some(Graph::Complete),
            Self::Circle => Some(Graph::Circle),
            Self::Line => Some(Graph::Line),
            Self::Grid => Some(Graph::Grid),
            Self::Tree => Some(Graph::Tree),
            Self::Random { .. } => Some(Graph::Random),
            Self::Disc { .. } => Some(Graph::Disc),
            Self::Moving(_) => Some(Graph::Moving),
        }
    }

    /// Whether it is the same in every run.
    pub fn is_fixed(&self) -> bool {
        let drawn =
            matches!(self, Self::Tree | Self::Random { .. } | Self::Disc { .. } | Self::Moving(_));
        !drawn
    }

    /// Checks what can be checked before it is drawn.
    ///
    /// # Errors
    /// [`BadTerrain`], naming the values and the rule.
    pub fn check(&self, nodes: u32) -> Result<(), BadTerrain> {
        let paired = matches!(
            self,
            Self::Complete | Self::Random { .. } | Self::Disc { .. } | Self::Moving(_)
        );
        match self {
            _ if paired && nodes > PAIRED_MAX => Err(BadTerrain::GroupTooLarge(nodes)),
            Self::Moving(motion) => motion.check().map_err(BadTerrain::Motion),
            _ => Ok(()),
        }
    }

    /// Draws the network for `nodes` processes.
    ///
    /// # Errors
    /// [`BadTerrain`], naming the values and the rule.
    pub fn draw(&self, nodes: u32, run_seed: RunSeed) -> Result<Drawn, BadTerrain> {
        self.draw_unless(nodes, run_seed, &|| false)
    }

    /// The same until `over` says to give it up; nobody may use what is drawn by then.
    pub(crate) fn draw_unless(
        &self,
        nodes: u32,
        run_seed: RunSeed,
        over: &dyn Fn() -> bool,
    ) -> Result<Drawn, BadTerrain> {
        self.check(nodes)?;
        let mut luck = run_seed.world(StreamPurpose::Terrain);
        let links = match self {
            Self::Open => return Ok(Drawn::default()),
            Self::Moving(motion) => {
                let journey = motion.draw_unless(nodes, run_seed, over);
                let journey = journey.map_err(BadTerrain::Motion)?;
                let place = |node| journey.place(node, Duration::ZERO).unwrap_or_default();
                let places = (0..nodes).map(|node| place(node).map(|way| way / motion.side));
                let places = places.collect();
                return Ok(Drawn { links: Some(journey.links), changes: journey.changes, places });
            }
            Self::Disc { range } => {
                if !(*range > 0.0 && range.is_finite()) {
                    return Err(BadTerrain::Range(*range));
                }
                let sparse = BadTerrain::Sparse { range: *range, nodes };
                let (places, links) = graph::disc(nodes, *range, &mut luck).ok_or(sparse)?;
                return Ok(Drawn { links: Some(links), changes: Vec::new(), places });
            }
            Self::Complete => graph::complete(nodes),
            Self::Circle => graph::circle(nodes),
            Self::Line => graph::grid(1, nodes),
            Self::Grid => graph::square(nodes),
            Self::Tree => graph::tree(nodes, &mut luck),
            Self::Random { links } => {
                let least = nodes.saturating_sub(1) as usize;
                let most = nodes as usize * least / 2;
                if !(least..=most).contains(links) {
                    return Err(BadTerrain::Links { links: *links, least, most });
                }
                graph::connected(nodes, *links, &mut luck)
            }
            Self::Listed(links) => links.clone(),
        };
        Ok(Drawn { links: Some(links), ..Drawn::default() })
    }

    /// The places of all processes at this time of a run, if the network has places.
    pub fn places(&self, nodes: u32, run_seed: RunSeed, at: Duration) -> Option<Vec<[f64; 2]>> {
        match self {
            Self::Moving(motion) => {
                let journey = motion.draw(nodes, run_seed).ok()?;
                (0..nodes).map(|node| journey.place(node, at)).collect()
            }
            Self::Disc { .. } => self.draw(nodes, run_seed).ok().map(|drawn| drawn.places),
            _ => None,
        }
    }
}

impl Drawn {
    /// Adds the links to a plan, next to what else happens in it.
    pub fn enter(self, plan: &mut Plan) {
        if let Some(links) = self.links {
            plan.network.topology = Topology::Graph { links };
        }
        plan.faults.extend(self.changes);
        plan.faults.sort_by_key(|timed| timed.at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Fault;

    fn drawn(terrain: &Terrain, nodes: u32) -> Result<Drawn, BadTerrain> {
        terrain.draw(nodes, RunSeed::new(1, 0))
    }

    #[test]
    fn every_terrain_that_stays_is_connected_and_has_the_links_it_should() {
        for (terrain, count) in [
            (Terrain::Complete, 66),
            (Terrain::Circle, 12),
            (Terrain::Line, 11),
            (Terrain::Grid, 17),
            (Terrain::Tree, 11),
            (Terrain::Random { links: 20 }, 20),
        ] {
            let links = drawn(&terrain, 12).unwrap().links.unwrap();
            assert_eq!(links.len(), count, "{terrain:?}");
            assert_eq!(Topology::Graph { links }.unreached(12), None, "{terrain:?}");
        }
        let disc = drawn(&Terrain::Disc { range: 0.5 }, 12).unwrap();
        assert_eq!(disc.places.len(), 12);
        assert_eq!(Topology::Graph { links: disc.links.unwrap() }.unreached(12), None);
        let moving = drawn(&Terrain::Moving(Motion::default()), 12).unwrap();
        assert!(moving.changes.iter().any(|timed| matches!(timed.fault, Fault::Link { .. })));
        assert!(moving.places.iter().flatten().all(|way| (0.0..=1.0).contains(way)));
        let places = |terrain: &Terrain, seconds| {
            terrain.places(12, RunSeed::new(1, 0), Duration::from_secs(seconds))
        };
        assert_eq!(places(&Terrain::Disc { range: 0.5 }, 9), Some(disc.places));
        let moving = Terrain::Moving(Motion::default());
        assert_ne!(places(&moving, 0), places(&moving, 9));
        assert_eq!(places(&Terrain::Grid, 0), None);
    }

    #[test]
    fn what_cannot_be_is_refused_with_the_values_and_the_rule() {
        let refused = |terrain: Terrain, nodes| drawn(&terrain, nodes).unwrap_err().to_string();
        assert!(refused(Terrain::Random { links: 3 }, 5).contains("4 <= links <= 10"));
        assert!(refused(Terrain::Random { links: 11 }, 5).contains("4 <= links <= 10"));
        assert!(refused(Terrain::Disc { range: 0.01 }, 50).contains("range = 0.01"));
        assert!(refused(Terrain::Disc { range: f64::NAN }, 50).contains("range > 0"));
        assert!(refused(Terrain::Complete, PAIRED_MAX + 1).contains("at most 5000"));
        let motion = Motion { slowest: 0.0, ..Motion::default() };
        assert!(refused(Terrain::Moving(motion), 5).contains("slowest > 0"));
    }
}
