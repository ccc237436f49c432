//! Simulates what figures need, each different point once.
//!
//! Every point has a seed of its own, derived from the budget's and from what the point asks: two
//! series that are compared are independent, and a point that two figures share is the same in
//! both.

use super::finding::{Curve, Dot, Finding, Pane};
use super::run::Played;
use super::{Figure, Kind, Points, Series, Trial};
use crate::point::Point;
use bellwether_core::Fnv1a;
use bellwether_sim::stats::Summary;
use bellwether_sim::{Answer, BadExperiment};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fmt;

/// How much work a report may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Runs at every point; points that ask for more or fewer than a thousand keep the proportion.
    pub runs: u64,
    /// The seed of all randomness.
    pub seed: u64,
    /// How many threads; zero for as many as there are cores.
    pub threads: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { runs: 1000, seed: 1, threads: 0 }
    }
}

/// A figure whose simulation cannot be done.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulationFailed {
    /// What was to be simulated.
    pub command: String,
    /// Why it is not.
    pub why: BadExperiment,
}

impl fmt::Display for SimulationFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.command, self.why)
    }
}

impl std::error::Error for SimulationFailed {}

impl Budget {
    /// The runs of a point that has so many of a thousand; a mean needs two for its error.
    fn share(self, of_thousand: u64) -> u64 {
        (u128::from(of_thousand) * u128::from(self.runs) / 1000).clamp(2, u128::from(u64::MAX))
            as u64
    }

    /// The point as it is simulated.
    fn fund(self, point: &Point) -> Point {
        let point = point.clone().runs(self.share(point.runs)).seed(0);
        let seed = self.seed_of(&point.command());
        point.seed(seed)
    }

    /// The seed of the point or trial of this name, small enough to be typed.
    fn seed_of(self, name: &str) -> u64 {
        let mut hash = Fnv1a::default();
        hash.add(&self.seed.to_le_bytes());
        hash.add(name.as_bytes());
        let hash = hash.value();
        (hash ^ (hash >> 32)) % 1_000_000_000
    }
}

/// What has been simulated so far, for figures that are made one after the other.
#[derive(Debug)]
pub struct Workbench {
    budget: Budget,
    /// By command.
    answers: BTreeMap<String, Answer>,
    /// By name and argument.
    trials: BTreeMap<String, Option<Summary>>,
}

impl Workbench {
    /// Nothing is simulated yet.
    pub fn new(budget: Budget) -> Self {
        Self { budget, answers: BTreeMap::new(), trials: BTreeMap::new() }
    }

    /// How many points these figures still need.
    pub fn missing(&self, figures: &[Figure]) -> usize {
        let (points, trials) = self.needed(figures);
        points.len() + trials.len()
    }

    /// The figure with its numbers; `step` is called after every point that was simulated for it.
    ///
    /// # Errors
    /// [`SimulationFailed`], if a point cannot be simulated.
    pub fn finding(
        &mut self,
        figure: Figure,
        step: &mut dyn FnMut(),
    ) -> Result<Finding, SimulationFailed> {
        let (points, trials) = self.needed(std::slice::from_ref(&figure));
        for (command, point) in points {
            let answer = point.answer(self.budget.threads, &|| ());
            let answer =
                answer.map_err(|why| SimulationFailed { command: command.clone(), why })?;
            self.answers.insert(command, answer);
            step();
        }
        for (key, trial) in trials {
            let summary = self.try_out(trial);
            let summary = summary.map_err(|why| SimulationFailed { command: key.clone(), why })?;
            self.trials.insert(key, summary);
            step();
        }
        let played = figure.run.map(|run| {
            let failed = |why| SimulationFailed { command: run.command(), why };
            run.play().map_err(failed)
        });
        Ok(self.find(figure, played.transpose()?))
    }

    /// Everything the figures need that is not there, each once: points by command, trials by key.
    fn needed(&self, figures: &[Figure]) -> (BTreeMap<String, Point>, BTreeMap<String, Trial>) {
        let (mut asked, mut trials) = (BTreeMap::new(), BTreeMap::new());
        let panels = figures.iter().flat_map(|figure| &figure.panels);
        for series in panels.flat_map(|panel| &panel.series) {
            match &series.points {
                Points::Formula(..) => {}
                Points::Simulated(_, points) => asked.extend(points.iter().map(|(_, point)| {
                    let point = self.budget.fund(point);
                    (point.command(), point)
                })),
                Points::Measured(points) => {
                    trials.extend(points.iter().map(|(_, trial)| (key(trial), *trial)));
                }
            }
        }
        asked.retain(|command, _| !self.answers.contains_key(command));
        trials.retain(|key, _| !self.trials.contains_key(key));
        (asked, trials)
    }

    fn try_out(&self, trial: Trial) -> Result<Option<Summary>, BadExperiment> {
        let (runs, seed) = (self.budget.share(trial.runs), self.budget.seed_of(&key(&trial)));
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(self.budget.threads)
            .build()
            .map_err(|error| BadExperiment::Threads(error.to_string()))?;
        let run = |run| (trial.run)(trial.argument, seed, run);
        let samples: Vec<Option<f64>> =
            pool.install(|| (0..runs).into_par_iter().map(run).collect());
        Ok(Summary::of(&samples.into_iter().flatten().collect::<Vec<_>>()))
    }

    fn find(&self, figure: Figure, run: Option<Played>) -> Finding {
        let Budget { runs, seed, .. } = self.budget;
        let command = format!("bellwether reproduce {} --runs {runs} --seed {seed}", figure.id);
        let curve = |series| self.curve(series, &command);
        let panes = figure.panels.into_iter().map(|panel| Pane {
            title: panel.title,
            x: panel.x,
            y: panel.y,
            curves: panel.series.into_iter().map(curve).collect(),
        });
        let mut finding = Finding {
            id: figure.id,
            title: figure.title,
            source: figure.source,
            says: figure.says,
            choices: figure.choices,
            panes: panes.collect(),
            run,
            tables: figure.tables,
            claims: Vec::new(),
            command: command.clone(),
        };
        let claims = (figure.claims)(&finding).into_iter();
        // What is told of one run is a matter of records, and not of numbers.
        let enough = if finding.run.is_some() { u64::MAX } else { runs };
        finding.claims = claims.map(|claim| claim.with_runs(enough)).collect();
        finding
    }

    /// A series with its numbers; what no single simulation makes, the figure's command makes.
    fn curve(&self, series: Series, figure: &str) -> Curve {
        let Series { name, hue, drawn, points } = series;
        let (kind, dots) = match points {
            Points::Formula(kind, points) => (kind, points.into_iter().map(value).collect()),
            Points::Simulated(measure, points) => {
                let dot = |(x, point): (f64, Point)| {
                    let command = self.budget.fund(&point).command();
                    let summary = self.answers.get(&command)?.measure(measure)?;
                    Some(mean(x, summary, command))
                };
                (Kind::Simulated, points.into_iter().filter_map(dot).collect())
            }
            Points::Measured(points) => {
                let dot = |(x, trial): (f64, Trial)| {
                    let summary = self.trials.get(&key(&trial))?.as_ref()?;
                    Some(mean(x, summary, figure.to_owned()))
                };
                (Kind::Simulated, points.into_iter().filter_map(dot).collect())
            }
        };
        Curve { name, kind, hue, drawn, dots }
    }
}

fn key(trial: &Trial) -> String {
    format!("{} {}", trial.name, trial.argument)
}

fn value((x, y): (f64, f64)) -> Dot {
    Dot { x, y, stderr: 0.0, ci95: [y; 2], runs: 0, command: None }
}

fn mean(x: f64, summary: &Summary, command: String) -> Dot {
    let Summary { mean, stderr, ci95, count, .. } = *summary;
    Dot { x, y: mean, stderr, ci95, runs: count, command: Some(command) }
}
