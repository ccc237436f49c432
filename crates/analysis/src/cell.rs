//! One simulated point: an experiment, and the command that makes it again.
//!
//! Cells are compared with formulas, drawn into figures and offered to readers; so each can say
//! how to get its numbers without this crate: [`Cell::command`].

use crate::setting::{Loss, Setting};
use bellwether_core::Duration;
use bellwether_protocols::announce_listen::{Config, Criterion, Params, Shape, Variant, WakeBy};
use bellwether_sim::network::{self, Delay, Network, Probability};
use bellwether_sim::{
    Answer, BadExperiment, Churn, Convening, Engine, Experiment, Ranks, Scenario,
};
use std::fmt::Display;

/// One point of a grid or a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The protocol and its parameters.
    pub config: Config,
    /// The group's size; before the event, where there is one.
    pub nodes: u32,
    /// What is lost.
    pub loss: Loss,
    /// How long a message takes.
    pub delay: Duration,
    /// What happens.
    pub scenario: Scenario,
    /// How long a disturbed group is watched.
    pub window: Duration,
    /// How many runs.
    pub runs: u64,
    /// Where luck comes from.
    pub seed: u64,
}

/// A length of time from the seconds of a formula: none is shorter than nothing, and what cannot be
/// counted is for ever.
pub fn duration(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX)
}

impl Cell {
    /// A start with the parameters of the thesis's figures: T_S = T_A = 1, Δ = .1, T_L infinite.
    pub fn new(variant: Variant, nodes: u32, loss: Loss) -> Self {
        Self {
            config: Config::new(variant),
            nodes,
            loss,
            delay: Duration::from_millis(100),
            scenario: Scenario::Start,
            window: Duration::from_secs(100),
            runs: 1000,
            seed: 1,
        }
    }

    /// The simulation of what formulas are asked about.
    pub fn of(variant: Variant, setting: &Setting) -> Self {
        let mut cell = Self::new(variant, setting.nodes, setting.loss);
        cell.delay = duration(setting.delay);
        cell.config.suppress = duration(setting.suppress);
        cell.config.announce = duration(setting.announce);
        cell.config.listen = duration(setting.listen);
        cell.config = cell.config.shaped(setting.shape);
        cell
    }

    /// With this scenario, watched for so many seconds.
    #[must_use]
    pub fn scenario(self, scenario: Scenario, window: f64) -> Self {
        Self { scenario, window: duration(window), ..self }
    }

    /// With so many runs.
    #[must_use]
    pub fn runs(self, runs: u64) -> Self {
        Self { runs, ..self }
    }

    /// With this T_L, in seconds.
    #[must_use]
    pub fn listen(mut self, listen: f64) -> Self {
        self.config.listen = duration(listen);
        self
    }

    /// Asks the simulator, `progress` being told after every run.
    ///
    /// # Errors
    /// [`BadExperiment`], if there is no answer to the question.
    pub fn answer(
        &self,
        threads: usize,
        progress: &(dyn Fn() + Sync),
    ) -> Result<Answer, BadExperiment> {
        self.experiment(threads)?.run(progress)
    }

    /// The experiment.
    ///
    /// # Errors
    /// [`BadExperiment`], if the parameters break a rule.
    pub fn experiment(&self, threads: usize) -> Result<Experiment, BadExperiment> {
        let refused = |why: String| BadExperiment::Parameters(why);
        let mut config = self.config.clone();
        if config.variant.rules().0.queries() {
            // As the command line does: answers take a round trip, spread where all would answer.
            let spreads = config.variant.rules().0.suppresses();
            config.reply_spread = if spreads { self.delay } else { Duration::ZERO };
            config.patience = self.delay * 2 + config.reply_spread + Duration::from_nanos(1);
        }
        let params = Params::try_from(config).map_err(|bad| refused(bad.to_string()))?;
        let rate =
            Probability::try_from(self.loss.rate()).map_err(|bad| refused(bad.to_string()))?;
        let loss = match self.loss {
            Loss::None => network::Loss::None,
            Loss::Correlated(_) => network::Loss::Correlated(rate),
            Loss::Uncorrelated(_) => network::Loss::Uncorrelated(rate),
        };
        let ranked = self.config.criterion == Some(Criterion::Rank);
        Ok(Experiment {
            choice: params.into(),
            nodes: self.nodes,
            network: Network::uniform(Delay::Constant(self.delay), loss),
            ranks: if ranked { Ranks::Random } else { Ranks::ById },
            drift: 0,
            convening: Convening::default(),
            scenario: self.scenario,
            window: self.window,
            runs: self.runs,
            seed: self.seed,
            threads,
            engine: Engine::Auto,
        })
    }

    /// The command that prints the same numbers.
    pub fn command(&self) -> String {
        let config = &self.config;
        let mut line = format!("bellwether sim {} --nodes {}", config.variant.name(), self.nodes);
        let usual = Self::new(config.variant, self.nodes, self.loss);
        let mut add = |flag: &str, value: &dyn Display, shown: bool| {
            if shown {
                line += format!(" --{flag} {value}").trim_end(); // a switch has no value
            }
        };
        let lossy = self.loss != Loss::None;
        add("loss", &self.loss.rate(), lossy);
        add("loss-model", &self.loss.name(), lossy);
        add("delay", &self.delay, self.delay != usual.delay);
        let own = &usual.config;
        add("suppress", &config.suppress, config.suppress != own.suppress);
        add("announce", &config.announce, config.announce != own.announce);
        add("listen", &config.listen, config.listen != own.listen);
        if let Shape::Rising { rate } | Shape::Falling { rate } = config.shape() {
            add("timer", &config.timer.name(), true);
            add("timer-rate", &rate, true);
        }
        if let Some(criterion) = config.criterion {
            add("criterion", &criterion.name(), true);
        }
        if config.mapping == WakeBy::Standing {
            add("mapping", &config.mapping.name(), true);
            add("jitter", &config.jitter, config.jitter > Duration::ZERO);
        }
        add("leaders", &config.leaders, config.leaders != 1);
        add("bye-copies", &config.bye_copies, config.bye_copies > 0);
        add("as-printed", &"", config.as_printed);
        let disturbed = self.scenario != Scenario::Start;
        add("scenario", &self.scenario.name(), disturbed);
        if let Scenario::Churn(Churn { departures, arrivals }) = self.scenario {
            add("departures", &departures, true);
            add("arrivals", &arrivals, true);
        }
        add("window", &self.window, self.window != usual.window);
        add("runs", &self.runs, true);
        add("seed", &self.seed, true);
        line
    }
}
