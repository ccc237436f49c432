//! One point to simulate, of any protocol, and the command that simulates it again.
//!
//! **Source.** A protocol's parameters have the names, texts and defaults of its table
//! ([`bellwether_protocols::param`]). What is not given follows from the group and the network, as
//! it does for `bellwether sim`.
//!
//! **Assumptions.** Messages are lost without memory, each receiver for itself or all together.
//!
//! **Promise.** [`Point::command`] prints the numbers of [`Point::experiment`]. Two points with
//! the same command are the same experiment: figures take it as the key of what they have
//! simulated, and derive a point's seed from it. So the text of a command does not change.

mod command;

use crate::inputs::Loss;
use bellwether_core::Duration;
use bellwether_protocols::announce_listen::{Criterion, Distribution, Shape};
use bellwether_protocols::choice::{Choice, Config, Entry, find};
use bellwether_protocols::simulated::Layout;
use bellwether_protocols::surroundings::Surroundings;
use bellwether_sim::network::{DelayModel, Network};
use bellwether_sim::{
    Answer, BadExperiment, Engine, Experiment, Initiation, Initiators, Order, Ranks, Scenario,
    Terrain,
};
use std::fmt::Display;

/// A protocol with its parameters, a group, its network, what happens, and how often it is run.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The protocol's name.
    pub protocol: &'static str,
    /// The parameters that were given, by name and text; the others follow.
    pub params: Vec<(&'static str, String)>,
    /// The group's size; before the event, where there is one.
    pub nodes: u32,
    /// How long a message takes, on average.
    pub delay: Duration,
    /// How that is distributed.
    pub delay_model: DelayModel,
    /// What is lost of the messages to one process.
    pub unicast_loss: Loss,
    /// What is lost of the messages to everyone.
    pub multicast_loss: Loss,
    /// How probable it is that a process sees another.
    pub view: f64,
    /// How often a process fails in a round, where elections have rounds.
    pub fail: f64,
    /// Who calls an election, in which order they stand, and what they are told. Its `view` and
    /// `fail` are those above.
    pub initiation: Initiation,
    /// What happens.
    pub scenario: Scenario,
    /// How long a disturbed group is watched.
    pub window: Duration,
    /// How many runs.
    pub runs: u64,
    /// The seed of all randomness.
    pub seed: u64,
}

/// A length of time from the seconds of a formula. A negative one is zero, and one that is too
/// long to be counted is infinite.
pub fn duration(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX)
}

/// How many links a random network has by default: two for each process, but no more than there
/// are pairs.
pub fn usual_links(nodes: u32) -> u64 {
    let (nodes, others) = (u64::from(nodes), u64::from(nodes.saturating_sub(1)));
    (2 * nodes).min(nodes * others / 2).max(others)
}

/// How long a message takes in experiments by default.
fn usual_delay(entry: &Entry) -> Duration {
    entry.family.usual().delay
}

impl Point {
    /// A start of so many processes with the defaults of `bellwether sim`, which are those of the
    /// thesis's figures: T_S = T_A = 1, Δ = .1, T_L infinite. Nothing is lost. Where an election
    /// is called process 0 calls it, or any in a group that sees but half of itself; all are alive
    /// and know of failures at once.
    pub fn new(protocol: &'static str, nodes: u32) -> Self {
        let mut point = Self {
            protocol,
            params: Vec::new(),
            nodes,
            delay: find(protocol).map_or(Duration::ZERO, usual_delay),
            delay_model: DelayModel::Constant,
            unicast_loss: Loss::None,
            multicast_loss: Loss::None,
            view: 1.0,
            fail: 0.0,
            initiation: Initiation::default(),
            scenario: Scenario::Start,
            window: Duration::from_secs(100),
            runs: 1000,
            seed: 1,
        };
        // A protocol that nobody knows is refused when it is to be simulated.
        let Ok(choice) = point.choice() else { return point };
        if choice.rounds().is_some() {
            point.view = 0.5;
            point.initiation.initiators = Initiators::Some(1);
        } else if choice.profile().on_demand {
            point.initiation.detection = Some(Duration::ZERO);
        }
        if choice.layout() == Some(Layout::Graph) {
            point.initiation.terrain = Terrain::Random { links: usual_links(nodes) as usize };
        }
        point
    }

    /// With this value of a parameter, whatever it was before.
    #[must_use]
    pub fn with(self, name: &'static str, value: impl Display) -> Self {
        let mut point = self.without(name);
        point.params.push((name, value.to_string()));
        point
    }

    /// With this value of a parameter, if the protocol has it.
    #[must_use]
    pub fn with_own(self, name: &'static str, value: impl Display) -> Self {
        if self.has(name) { self.with(name, value) } else { self }
    }

    /// Whether the protocol has this parameter.
    fn has(&self, name: &str) -> bool {
        find(self.protocol).is_some_and(|entry| entry.own_params().any(|param| param.name == name))
    }

    /// With the default of a parameter.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.params.retain(|(given, _)| *given != name);
        self
    }

    /// With wake-up times distributed like this, if its processes wait.
    #[must_use]
    pub fn shape(self, shape: Shape) -> Self {
        let exponential = |timer: Distribution, rate: f64| {
            self.clone().with_own("timer", timer.name()).with_own("timer-rate", rate)
        };
        match shape {
            Shape::Uniform => self.without("timer").without("timer-rate"),
            Shape::Rising { rate } => exponential(Distribution::Exponential, rate),
            Shape::Falling { rate } => exponential(Distribution::ExponentialFalling, rate),
        }
    }

    /// With this T_L, in seconds.
    #[must_use]
    pub fn listen(self, seconds: f64) -> Self {
        self.with("listen", duration(seconds))
    }

    /// With this loss of all messages.
    #[must_use]
    pub fn loss(self, loss: Loss) -> Self {
        Self { unicast_loss: loss, multicast_loss: loss, ..self }
    }

    /// With this scenario, watched for so many seconds.
    #[must_use]
    pub fn scenario(self, scenario: Scenario, window: f64) -> Self {
        Self { scenario, window: duration(window), ..self }
    }

    /// With these who call.
    #[must_use]
    pub fn initiators(mut self, initiators: Initiators) -> Self {
        self.initiation.initiators = initiators;
        self
    }

    /// With this order on the ring.
    #[must_use]
    pub fn order(mut self, order: Order) -> Self {
        self.initiation.order = order;
        self
    }

    /// With so many runs.
    #[must_use]
    pub fn runs(self, runs: u64) -> Self {
        Self { runs, ..self }
    }

    /// With this seed.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// The text of a parameter, if it was given.
    pub fn param(&self, name: &str) -> Option<&str> {
        self.params.iter().find(|(given, _)| *given == name).map(|(_, text)| text.as_str())
    }

    /// All parameters: those that were given, and those that follow.
    ///
    /// # Errors
    /// [`BadExperiment`], if there is no such protocol or parameter, or a text has no value.
    pub fn config(&self) -> Result<Config, BadExperiment> {
        let unknown = || BadExperiment::Protocol(self.protocol.to_owned());
        let entry = find(self.protocol).ok_or_else(unknown)?;
        let given = entry.given(self.params.iter().map(|(name, text)| (*name, text.as_str())))?;
        Ok(entry.config(&self.surroundings(entry), &given)?)
    }

    /// The group and the network, as far as parameters depend on them.
    fn surroundings(&self, entry: &Entry) -> Surroundings {
        let loss = self.multicast_loss.rate();
        Surroundings {
            ids: self.scenario.ids(self.nodes, entry.family.has_leases()),
            ranks: Ranks::BOUND,
            processing: self.initiation.processing,
            loss,
            unsteady: loss > 0.0 || self.unicast_loss.rate() > 0.0,
            moving: self.initiation.wanders(),
            ..Surroundings::calm(self.nodes, self.delay)
        }
    }

    fn choice(&self) -> Result<Choice, BadExperiment> {
        Ok(Choice::try_from(self.config()?)?)
    }

    /// Whether processes detect failures themselves, so that nobody tells them.
    fn detects(&self) -> bool {
        let heartbeats = |(name, value): &(String, serde_json::Value)| {
            name == "detector" && value == "heartbeats"
        };
        self.config().is_ok_and(|config| config.to_map().iter().any(heartbeats))
    }

    fn network(&self) -> Result<Network, BadExperiment> {
        let delay = self.delay_model.of(self.delay);
        let mut network = Network::uniform(delay, self.unicast_loss.try_into()?);
        network.multicast.loss = self.multicast_loss.try_into()?;
        Ok(network)
    }

    /// The experiment.
    ///
    /// # Errors
    /// [`BadExperiment`], if the parameters break a rule.
    pub fn experiment(&self, threads: usize) -> Result<Experiment, BadExperiment> {
        let (view, fail) = (self.view.try_into()?, self.fail.try_into()?);
        let mut initiation = Initiation { view, fail, ..self.initiation.clone() };
        if self.detects() {
            initiation.detection = None;
        }
        let window = match &initiation.terrain {
            Terrain::Moving(motion) => motion.lasts,
            _ => self.window,
        };
        let ranked = self.param("criterion") == Some(Criterion::Rank.name());
        let choice = self.choice()?;
        Ok(Experiment {
            // Clocks are as wrong as leases allow for.
            drift: choice.profile().leases.map_or(0, |leases| leases.drift_ppm * 1_000),
            choice,
            nodes: self.nodes,
            network: self.network()?,
            ranks: if ranked { Ranks::Random } else { Ranks::ById },
            initiation,
            scenario: self.scenario,
            window,
            runs: self.runs,
            seed: self.seed,
            threads,
            engine: Engine::Auto,
        })
    }

    /// Simulates it, `progress` being told after every run.
    ///
    /// # Errors
    /// [`BadExperiment`], if the parameters break a rule.
    pub fn answer(
        &self,
        threads: usize,
        progress: &(dyn Fn() + Sync),
    ) -> Result<Answer, BadExperiment> {
        self.experiment(threads)?.run(progress)
    }

    /// Whether elections have rounds, in which each message is lost for itself.
    fn has_rounds(&self) -> bool {
        self.choice().is_ok_and(|choice| choice.rounds().is_some())
    }
}

#[cfg(test)]
mod tests;
