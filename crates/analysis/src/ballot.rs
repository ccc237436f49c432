//! One simulated point of the probabilistic election, and the command that makes it again.
//!
//! As a [`Cell`](crate::Cell) of the announce-listen chapter: the protocol with its parameters, how
//! much each process sees of the group, what is lost, and who fails.

use crate::cell::duration;
use bellwether_core::Duration;
use bellwether_protocols::probabilistic::{
    Choice, Config, Params, Reinitiate, Relays, Size, Strategy, WokenBy,
};
use bellwether_sim::network::{Delay, Loss, Network, Probability};
use bellwether_sim::{BadExperiment, Convening, Engine, Experiment, Initiators, Ranks, Scenario};
use std::fmt::{Display, Write};

/// One point of a grid or a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Ballot {
    /// The protocol's parameters. Its bounds on delays are those of [`delay`](Self::delay).
    pub config: Config,
    /// The group's size.
    pub nodes: u32,
    /// How probable it is that a process sees another.
    pub view: f64,
    /// How often a message to one process is lost.
    pub unicast_loss: f64,
    /// How often a receiver misses a message to everyone.
    pub multicast_loss: f64,
    /// How often a process fails in a round.
    pub fail: f64,
    /// How long a message takes.
    pub delay: Duration,
    /// How many runs, of a thousand.
    pub runs: u64,
    /// Where luck comes from.
    pub seed: u64,
}

impl Ballot {
    /// The paper's strategy in a group of so many: views of a half, losses and failures of .001.
    pub fn new(nodes: u32) -> Self {
        Self {
            config: Config::default(),
            nodes,
            view: 0.5,
            unicast_loss: 0.001,
            multicast_loss: 0.001,
            fail: 0.001,
            delay: Duration::from_millis(100),
            runs: 1000,
            seed: 1,
        }
    }

    /// With this loss for both ways to send.
    #[must_use]
    pub fn loss(self, loss: f64) -> Self {
        Self { unicast_loss: loss, multicast_loss: loss, ..self }
    }

    /// With so many runs.
    #[must_use]
    pub fn runs(self, runs: u64) -> Self {
        Self { runs, ..self }
    }

    /// A single round with K relays on average.
    #[must_use]
    pub fn one_round(mut self, k: u32) -> Self {
        (self.config.k, self.config.max_rounds) = (k, 1);
        self
    }

    /// With this many seconds for a message.
    #[must_use]
    pub fn delay(self, seconds: f64) -> Self {
        Self { delay: duration(seconds), ..self }
    }

    /// Twice the delay, and never nought: what `bellwether sim` takes for longer than any message.
    fn bound(&self) -> Duration {
        if self.delay == Duration::ZERO { Duration::from_millis(1) } else { self.delay * 2 }
    }

    /// The experiment.
    ///
    /// # Errors
    /// [`BadExperiment`], if the parameters break a rule.
    pub fn experiment(&self, threads: usize) -> Result<Experiment, BadExperiment> {
        let refused = |bad: &dyn Display| BadExperiment::Parameters(bad.to_string());
        let config = Config { bound: self.bound(), ..self.config.clone() };
        let params = Params::try_from(config).map_err(|bad| refused(&bad))?;
        let chance = |value: f64| Probability::try_from(value).map_err(|bad| refused(&bad));
        let lossy = |value: f64| {
            chance(value).map(|loss| match loss {
                Probability::ZERO => Loss::None,
                loss => Loss::Uncorrelated(loss),
            })
        };
        let mut network = Network::uniform(Delay::Constant(self.delay), lossy(self.unicast_loss)?);
        network.multicast.loss = lossy(self.multicast_loss)?;
        let (view, fail) = (chance(self.view)?, chance(self.fail)?);
        let initiators = Initiators::Some(1);
        Ok(Experiment {
            choice: params.into(),
            nodes: self.nodes,
            network,
            ranks: Ranks::ById,
            drift: 0,
            convening: Convening { initiators, view, fail, ..Convening::default() },
            scenario: Scenario::Start,
            window: Duration::from_secs(100),
            runs: self.runs,
            seed: self.seed,
            threads,
            engine: Engine::Auto,
        })
    }

    /// The command that prints the same numbers.
    pub fn command(&self) -> String {
        let mut line = format!("bellwether sim probabilistic --nodes {}", self.nodes);
        let usual = Self::new(self.nodes);
        let Config { k, strategy, max_rounds, most_relays, .. } = &self.config;
        let mut add = |flag: &str, value: &dyn Display, shown: bool| {
            if shown {
                // Writing to a string cannot fail.
                let _ = write!(line, " --{flag} {value}");
            }
        };
        add("k", k, *k != usual.config.k);
        match strategy {
            Strategy::Double => {}
            Strategy::Fixed => add("strategy", &"fixed", true),
            Strategy::List(listed) => add("strategy", &listed_inline(listed), true),
        }
        add("max-rounds", max_rounds, *max_rounds != usual.config.max_rounds);
        add("most-relays", most_relays, *most_relays != usual.config.most_relays);
        add("view", &self.view, self.view != 0.5);
        if self.unicast_loss == self.multicast_loss {
            add("loss", &self.unicast_loss, self.unicast_loss > 0.0);
        } else {
            add("ucast-loss", &self.unicast_loss, true);
            add("mcast-loss", &self.multicast_loss, true);
        }
        add("fail", &self.fail, self.fail > 0.0);
        add("reinitiate", &"hash", self.config.reinitiate == Reinitiate::Hash);
        add("size", &"view", self.config.size == Size::View);
        add("size", &"gossip", self.config.size == Size::Gossip);
        let choice = match self.config.choice {
            Choice::LowestId => None,
            Choice::HighestId => Some("highest-id"),
            Choice::Rank => Some("rank"),
            Choice::Lot => Some("lot"),
        };
        add("choice", &choice.unwrap_or_default(), choice.is_some());
        add("woken-by", &"preference", self.config.woken_by == WokenBy::Preference);
        add("delay", &self.delay, self.delay != usual.delay);
        add("runs", &self.runs, true);
        add("seed", &self.seed, true);
        line
    }
}

fn listed_inline(listed: &[Relays]) -> String {
    listed.iter().map(Relays::to_string).collect::<Vec<_>>().join(",")
}
