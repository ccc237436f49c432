//! One simulated point of an election that somebody calls, and the command that makes it again.
//!
//! As a [`Cell`](crate::Cell) of the announce-listen chapter: bully, a ring or an ad hoc network
//! with its parameters, who calls, in which order they stand, and what takes how long. Nothing is
//! lost here.

use crate::cell::duration;
use crate::setting::Setting;
use bellwether_core::Duration;
use bellwether_protocols::bully::{Recovery, TopAnswers};
use bellwether_protocols::choice::{Choice, Config, Family};
use bellwether_protocols::simulated::Layout;
use bellwether_protocols::surroundings::Surroundings;
use bellwether_sim::network::{Delay, Loss, Network};
use bellwether_sim::{
    BadExperiment, Convening, Engine, Experiment, Initiators, Order, Ranks, Scenario, Terrain,
};
use std::fmt::{Display, Write};

/// One point of a grid or a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Election {
    /// The protocol and its parameters.
    pub config: Config,
    /// The group's size, the dead included.
    pub nodes: u32,
    /// Who calls, in which order they stand, and what they are told.
    pub convening: Convening,
    /// How long a message takes.
    pub delay: Duration,
    /// How many runs, of a thousand.
    pub runs: u64,
    /// Where luck comes from.
    pub seed: u64,
}

/// The links that a random network has if nobody says: two for each process, as far as there are
/// pairs.
pub fn usual_links(nodes: u32) -> u64 {
    let (nodes, others) = (u64::from(nodes), u64::from(nodes.saturating_sub(1)));
    (2 * nodes).min(nodes * others / 2).max(others)
}

impl Election {
    /// All are alive and know of failures at once, and process 0 calls: the defaults of `bellwether
    /// sim`.
    pub fn new(family: Family, nodes: u32) -> Self {
        let delay = family.usual().delay;
        let config = plain(family, delay);
        let layout = Choice::try_from(config.clone()).map(|choice| choice.layout());
        let terrain = match layout {
            Ok(Some(Layout::Graph)) => Terrain::Random { links: usual_links(nodes) as usize },
            _ => Terrain::Open,
        };
        let detection = Some(Duration::ZERO);
        Self {
            config,
            nodes,
            convening: Convening { detection, terrain, ..Convening::default() },
            delay,
            runs: 1000,
            seed: 1,
        }
    }

    /// The simulation of what formulas are asked about.
    pub fn of(family: Family, setting: &Setting) -> Self {
        let mut election = Self::new(family, setting.nodes);
        election.delay = duration(setting.delay);
        election.convening.processing = duration(setting.processing);
        election.config = plain(family, election.hop());
        election
    }

    /// With these who call.
    #[must_use]
    pub fn initiators(mut self, initiators: Initiators) -> Self {
        self.convening.initiators = initiators;
        self
    }

    /// With this order on the ring.
    #[must_use]
    pub fn order(mut self, order: Order) -> Self {
        self.convening.order = order;
        self
    }

    /// With so many runs.
    #[must_use]
    pub fn runs(self, runs: u64) -> Self {
        Self { runs, ..self }
    }

    /// How long a message and what is done with it take; time-outs are multiples of it, so it is
    /// never nought.
    fn hop(&self) -> Duration {
        let hop = self.delay + self.convening.processing;
        if hop == Duration::ZERO { Duration::from_millis(1) } else { hop }
    }

    /// The experiment.
    ///
    /// # Errors
    /// [`BadExperiment`], if the parameters break a rule.
    pub fn experiment(&self, threads: usize) -> Result<Experiment, BadExperiment> {
        let refused = |bad: &dyn Display| BadExperiment::Parameters(bad.to_string());
        let choice = Choice::try_from(self.config.clone()).map_err(|bad| refused(&bad))?;
        Ok(Experiment {
            choice,
            nodes: self.nodes,
            network: Network::uniform(Delay::Constant(self.delay), Loss::None),
            ranks: Ranks::ById,
            drift: 0,
            convening: self.convening.clone(),
            scenario: Scenario::Start,
            window: self.window().unwrap_or(Duration::from_secs(100)),
            runs: self.runs,
            seed: self.seed,
            threads,
            engine: Engine::Auto,
        })
    }

    /// How long those who move are watched.
    fn window(&self) -> Option<Duration> {
        match &self.convening.terrain {
            Terrain::Moving(motion) => Some(motion.lasts),
            _ => None,
        }
    }

    /// The command that prints the same numbers.
    pub fn command(&self) -> String {
        let family = self.config.family();
        let mut line = Line(format!("bellwether sim {} --nodes {}", family.name(), self.nodes));
        line.add_if(self.delay != family.usual().delay, "delay", &self.delay);
        self.add_convening(&mut line);
        self.add_terrain(&mut line);
        self.add_config(&mut line);
        line.add("runs", &self.runs);
        line.add("seed", &self.seed);
        line.0
    }

    fn add_convening(&self, line: &mut Line) {
        let Convening { initiators, order, processing, detection, top_dead, .. } = &self.convening;
        match initiators {
            Initiators::One => {}
            Initiators::All => line.add("initiators", &"all"),
            Initiators::Random => line.add("initiators", &"random"),
            Initiators::Some(count) => line.add("initiators", count),
            Initiators::Named(named) => named.iter().for_each(|node| line.add("initiator", node)),
        }
        match order {
            Order::Ascending => {}
            Order::Descending => line.add("order", &"descending"),
            Order::Random => line.add("order", &"random"),
            Order::Listed(order) => line.add("order", &joined(order)),
        }
        line.add_if(*top_dead, "top-dead", &"");
        line.add_if(*processing > Duration::ZERO, "processing", processing);
        match detection {
            Some(detection) => line.add_if(*detection > Duration::ZERO, "detection", detection),
            None if self.must_be_told() => line.add("detection", &"never"),
            None => {}
        }
    }

    fn must_be_told(&self) -> bool {
        Choice::try_from(self.config.clone()).is_ok_and(|choice| choice.must_be_told())
    }

    fn add_terrain(&self, line: &mut Line) {
        match &self.convening.terrain {
            Terrain::Open => {}
            Terrain::Complete => line.add("graph", &"complete"),
            Terrain::Circle => line.add("graph", &"circle"),
            Terrain::Line => line.add("graph", &"line"),
            Terrain::Grid => line.add("graph", &"grid"),
            Terrain::Tree => line.add("graph", &"tree"),
            Terrain::Random { links } => {
                line.add_if(*links as u64 != usual_links(self.nodes), "links", links);
            }
            Terrain::Disc { range } => {
                line.add("graph", &"disc");
                line.add("range", range);
            }
            Terrain::Moving(motion) => {
                line.add("graph", &"moving");
                line.add("range", &motion.range);
                line.add("speed", &motion.fastest);
                line.add("rest", &motion.rest);
                line.add("window", &motion.lasts);
            }
            Terrain::Listed(links) => {
                links.iter().for_each(|(a, b)| line.add("link", &format!("{a}-{b}")));
            }
        }
    }

    fn add_config(&self, line: &mut Line) {
        match (&self.config, plain(self.config.family(), self.hop())) {
            (Config::Bully(config), Config::Bully(usual)) => {
                line.add_if(config.reply != usual.reply, "reply", &config.reply);
                line.add_if(config.wait != usual.wait, "wait", &config.wait);
                let answers = config.top_answers == TopAnswers::Coordinator;
                line.add_if(answers, "top-answers", &"coordinator");
                line.add_if(config.recovery == Recovery::Ask, "recovery", &"ask");
                line.add_if(config.stamps, "stamps", &"");
            }
            (Config::Ring(config), _) => line.add_if(config.as_printed, "as-printed", &""),
            _ => {}
        }
    }
}

/// The parameters where one message takes this long, nothing is lost and failures are told.
fn plain(family: Family, hop: Duration) -> Config {
    family.fitted(&Surroundings::calm(2, hop))
}

fn joined(order: &[u32]) -> String {
    order.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

/// A command under construction.
struct Line(String);

impl Line {
    fn add(&mut self, flag: &str, value: &dyn Display) {
        // Writing to a string cannot fail. A switch has no value.
        let _ = write!(self.0, " --{flag} {value}");
        self.0.truncate(self.0.trim_end().len());
    }

    fn add_if(&mut self, shown: bool, flag: &str, value: &dyn Display) {
        if shown {
            self.add(flag, value);
        }
    }
}
