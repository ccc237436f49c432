//! Simulates what figures need, each different point once.
//!
//! Every point has a seed of its own, derived from the budget's and from what the point asks: two
//! series that are compared are independent, and a point that two figures share is the same in
//! both.
//!
//! A figure is looked at several times: what leaves a claim undecided gets four times the runs, of
//! the same seed, until the claim is decided or the figure's budget is spent. A verdict that was
//! given stays, with its numbers; where the figure shows others, from more runs, it says so. So a
//! figure does not depend on which others are made, nor on how fast the machine is.

use super::claim::{Claim, ENOUGH_RUNS, Verdict};
use super::finding::{Curve, Dot, Finding, Law, Origin, Pane};
use super::jobs::{self, Asked, Job, Made, Over};
use super::known::{Kept, Known, Measured};
use super::run::Played;
use super::{Figure, Kind, Points, Series, Trial};
use crate::point::Point;
use crate::sweep::seed_of;
use crate::sweep::work::Keep;
use bellwether_sim::stats::Summary;
use bellwether_sim::{BadExperiment, Measure};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// How much work a report may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Runs at every point; points that ask for more or fewer than a thousand keep the proportion.
    pub runs: u64,
    /// The seed of all randomness.
    pub seed: u64,
    /// How many threads; zero for as many as there are cores.
    pub threads: usize,
    /// How often the claims of a figure are looked at, at most; after the first time with more runs
    /// each.
    pub looks: u32,
}

/// How often the claims of a figure are looked at, unless the budget says otherwise.
const LOOKS: u32 = 4;
/// How many times the runs the next look has, of what leaves a claim undecided.
const MORE: u64 = 4;
/// How many messages may be received in the runs that are added to a figure, at a budget of a
/// thousand runs. Those that decide nothing are not counted, nor simulated.
const ADDED: u64 = 300_000_000;

/// So many runs of all points of a figure are remembered for its next look, at most: their memory
/// is some hundred megabytes then. What is not remembered is made again.
const REMEMBERED: u64 = 2_000_000;

impl Default for Budget {
    fn default() -> Self {
        Self { runs: 1000, seed: 1, threads: 0, looks: LOOKS }
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

    /// The point as it is simulated at first.
    fn fund(self, point: &Point) -> Point {
        let point = point.clone().runs(self.share(point.runs)).seed(0);
        let seed = seed_of(self.seed, &point.command());
        point.seed(seed)
    }

    /// How many messages may be received in the runs that are added to a figure.
    fn added(self) -> u64 {
        if self.runs < ENOUGH_RUNS {
            return 0;
        }
        (u128::from(ADDED) * u128::from(self.runs) / 1000).min(u128::from(u64::MAX)) as u64
    }
}

/// What has been simulated so far, for figures that are made one after the other.
#[derive(Debug)]
pub struct Workbench {
    budget: Budget,
    /// By command.
    answers: BTreeMap<String, Known>,
    /// By name, argument and runs.
    trials: BTreeMap<String, Known>,
    /// What each run of a source gave, as far as the next look at a figure may need it, and how
    /// many runs that are.
    made: BTreeMap<String, (u64, Made)>,
    /// Where both are kept for later.
    kept: Kept,
    /// Why something could not be kept.
    not_kept: Option<String>,
}

/// One look at a figure: its number, and how many times the runs of its first look there are, of
/// what has more.
#[derive(Clone, Debug, Default)]
struct Look {
    number: u32,
    times: BTreeMap<String, u64>,
}

impl Look {
    fn times(&self, source: &str) -> u64 {
        self.times.get(source).copied().unwrap_or(1)
    }

    /// The point as it is simulated for this look, and what it is called in all looks.
    fn fund(&self, budget: Budget, point: &Point) -> (String, Point) {
        let point = budget.fund(point);
        let source = point.command();
        let runs = point.runs.saturating_mul(self.times(&source));
        (source, point.runs(runs))
    }

    /// The runs of a trial, and what it is called in all looks.
    fn fund_trial(&self, budget: Budget, trial: &Trial) -> (String, u64) {
        let source = key(trial);
        let runs = budget.share(trial.runs).saturating_mul(self.times(&source));
        (source, runs)
    }
}

impl Workbench {
    /// Nothing is simulated yet.
    pub fn new(budget: Budget) -> Self {
        Self {
            budget,
            answers: BTreeMap::new(),
            trials: BTreeMap::new(),
            made: BTreeMap::new(),
            kept: Kept::default(),
            not_kept: None,
        }
    }

    /// Nothing is simulated that is kept here, and what is simulated is kept: each point by itself,
    /// so that whoever is stopped loses only the one under way, and machines can share the work.
    pub fn keeping(budget: Budget, kept: Arc<dyn Keep + Send>) -> Self {
        Self { kept: Kept(Some(kept)), ..Self::new(budget) }
    }

    /// Why something could not be kept, if so, in one line.
    pub fn not_kept(&self) -> Option<&str> {
        self.not_kept.as_deref()
    }

    /// How many points these figures still need, for their first look.
    pub fn missing(&self, figures: &[Figure]) -> usize {
        self.needed(figures, &Look::default()).len()
    }

    /// The figure with its numbers; `step` is called after every point that was simulated for its
    /// first look.
    ///
    /// # Errors
    /// [`SimulationFailed`], if a point cannot be simulated.
    pub fn finding(
        &mut self,
        figure: Figure,
        step: &mut dyn FnMut(),
    ) -> Result<Finding, SimulationFailed> {
        let found = self.look(&figure, step, &|| false)?;
        Ok(found.expect("nobody told it to stop"))
    }

    /// The same, unless it is told to stop: then there is no figure, and what was simulated for it
    /// is kept.
    ///
    /// # Errors
    /// As [`finding`](Self::finding).
    pub fn finding_until(
        &mut self,
        figure: Figure,
        step: &mut dyn FnMut(),
        over: Over<'_>,
    ) -> Result<Option<Finding>, SimulationFailed> {
        self.look(&figure, step, over)
    }

    /// The figure, if all that it needs is kept: nothing is simulated.
    ///
    /// # Errors
    /// As [`finding`](Self::finding), of a figure that is one run.
    pub fn known(&mut self, figure: Figure) -> Result<Option<Finding>, SimulationFailed> {
        self.look(&figure, &mut || (), &|| true)
    }

    /// Looks at the figure until its claims are decided, its budget is spent, or it is told to
    /// stop.
    fn look(
        &mut self,
        figure: &Figure,
        step: &mut dyn FnMut(),
        over: Over<'_>,
    ) -> Result<Option<Finding>, SimulationFailed> {
        let played = figure.run.map(|run| {
            let failed = |why| SimulationFailed { command: run.command(), why };
            run.play().map_err(failed)
        });
        let played = played.transpose()?;
        let mut look = Look { number: 1, ..Look::default() };
        self.made.clear();
        if !self.simulate(figure, &look, step, over)? {
            return Ok(None);
        }
        let mut finding = self.find(figure, played.clone(), &look);
        let mut shown = finding.claims.clone();
        let mut left = self.budget.added();
        while look.number < self.budget.looks
            && self.grow(figure, &finding.claims, &mut look, &mut left)
        {
            look.number += 1;
            if !self.simulate(figure, &look, &mut || (), over)? {
                return Ok(None);
            }
            let next = self.find(figure, played.clone(), &look);
            shown.clone_from(&next.claims);
            let claims = finding.claims.into_iter().zip(next.claims).map(|(before, now)| {
                if before.verdict == Verdict::Undecided { now } else { before }
            });
            finding = Finding { claims: claims.collect(), ..next };
        }
        let claims = finding.claims.into_iter().zip(&shown);
        finding.claims = claims.map(|(claim, shown)| claim.beside(shown)).collect();
        self.made.clear();
        Ok(Some(finding))
    }

    /// Gives more runs to what undecided claims want, as far as what is left of the budget allows;
    /// returns whether there are any.
    fn grow(&self, figure: &Figure, claims: &[Claim], look: &mut Look, left: &mut u64) -> bool {
        let costs = self.costs(figure, look);
        let mut grown = BTreeMap::new();
        for claim in claims.iter().filter(|claim| claim.verdict == Verdict::Undecided) {
            let new = claim.wants.iter().filter(|source| !grown.contains_key(*source));
            let new: Vec<&String> = new.collect();
            let cost = |source: &&String| costs.get(*source).copied().unwrap_or(u64::MAX);
            let cost = new.iter().map(cost).fold(0, u64::saturating_add).saturating_mul(MORE);
            if cost <= *left {
                *left -= cost;
                grown.extend(new.into_iter().map(|source| (source.clone(), MORE)));
            }
        }
        for (source, more) in &grown {
            *look.times.entry(source.clone()).or_insert(1) *= more;
        }
        !grown.is_empty()
    }

    /// How many messages were received in the runs of each source, or would have been.
    fn costs(&self, figure: &Figure, look: &Look) -> BTreeMap<String, u64> {
        let mut costs = BTreeMap::new();
        for series in figure.panels.iter().flat_map(|panel| &panel.series) {
            match &series.points {
                Points::Formula(..) => {}
                Points::Simulated(_, points) => costs.extend(points.iter().map(|(_, point)| {
                    let (source, point) = look.fund(self.budget, point);
                    let answer = self.answers.get(&point.command());
                    let received = answer.and_then(|answer| answer.deliveries);
                    // The lazy engine draws a few numbers for each process.
                    let few = point.runs.saturating_mul(u64::from(point.nodes)) / 10;
                    (source, received.unwrap_or(few))
                })),
                Points::Measured(points) => costs.extend(points.iter().map(|(_, trial)| {
                    let (source, runs) = look.fund_trial(self.budget, trial);
                    (source, runs.saturating_mul(trial.messages))
                })),
            }
        }
        costs
    }

    /// Simulates what the figure needs for this look and is not there, until it is told to stop;
    /// returns whether all is there.
    fn simulate(
        &mut self,
        figure: &Figure,
        look: &Look,
        step: &mut dyn FnMut(),
        over: Over<'_>,
    ) -> Result<bool, SimulationFailed> {
        let mut jobs = self.needed(std::slice::from_ref(figure), look);
        jobs.retain(|job| match self.kept.load(&job.name) {
            None => true,
            Some(known) => {
                self.known_of(job).insert(job.name.clone(), known);
                step();
                false
            }
        });
        for job in &mut jobs {
            job.before = self.made.remove(&job.source).map(|(_, made)| made);
        }
        let is_last = look.number >= self.budget.looks;
        jobs::make(jobs, self.budget.threads, over, &mut |job, known, made| {
            if let Err(why) = self.kept.keep(&job.name, &known) {
                self.not_kept.get_or_insert(why);
            }
            self.known_of(job).insert(job.name.clone(), known);
            let others: u64 = self.made.values().map(|(runs, _)| runs).sum();
            if !is_last && others + job.runs() <= REMEMBERED {
                self.made.insert(job.source.clone(), (job.runs(), made));
            }
            step();
        })
    }

    /// Where what this job gives is known.
    fn known_of(&mut self, job: &Job) -> &mut BTreeMap<String, Known> {
        match job.asked {
            Asked::Point(_) => &mut self.answers,
            Asked::Trial { .. } => &mut self.trials,
        }
    }

    /// Everything the figures need that is not there, each once.
    fn needed(&self, figures: &[Figure], look: &Look) -> Vec<Job> {
        let mut jobs = BTreeMap::new();
        let panels = figures.iter().flat_map(|figure| &figure.panels);
        for series in panels.flat_map(|panel| &panel.series) {
            match &series.points {
                Points::Formula(..) => {}
                Points::Simulated(_, points) => jobs.extend(points.iter().map(|(_, point)| {
                    let (source, point) = look.fund(self.budget, point);
                    let work = point.runs.saturating_mul(point.nodes.into());
                    let (name, asked, before) =
                        (point.command(), Asked::Point(Box::new(point)), None);
                    (name.clone(), Job { name, source, asked, before, work })
                })),
                Points::Measured(points) => jobs.extend(points.iter().map(|(_, trial)| {
                    let (source, runs) = look.fund_trial(self.budget, trial);
                    let (seed, work) = (seed_of(self.budget.seed, &source), runs * trial.messages);
                    let asked = Asked::Trial { trial: *trial, runs, seed };
                    let (name, before) = (told(&source, runs), None);
                    (name.clone(), Job { name, source, asked, before, work })
                })),
            }
        }
        let mut jobs: Vec<Job> = jobs.into_values().collect();
        let known = |job: &Job| match job.asked {
            Asked::Point(_) => self.answers.contains_key(&job.name),
            Asked::Trial { .. } => self.trials.contains_key(&job.name),
        };
        jobs.retain(|job| !known(job));
        jobs
    }

    fn find(&self, figure: &Figure, run: Option<Played>, look: &Look) -> Finding {
        let Budget { runs, seed, .. } = self.budget;
        let command = format!("bellwether reproduce {} --runs {runs} --seed {seed}", figure.id);
        let curve = |series| self.curve(series, &command, look);
        let panes = figure.panels.iter().map(|panel| Pane {
            title: panel.title,
            x: panel.x,
            y: panel.y,
            curves: panel.series.iter().map(curve).collect(),
        });
        let mut finding = Finding {
            id: figure.id,
            title: figure.title,
            source: figure.source,
            says: figure.says,
            choices: figure.choices,
            panes: panes.collect(),
            run,
            tables: figure.tables.clone(),
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
    fn curve(&self, series: &Series, figure: &str, look: &Look) -> Curve {
        let Series { name, hue, drawn, points } = series;
        let origin = |law, source, open| {
            let (look, sources, open) = (look.number, vec![source], [false, open]);
            Origin { law, look, sources, open }
        };
        let (kind, dots) = match points {
            Points::Formula(kind, points) => {
                (*kind, points.iter().map(|(x, y)| Dot::exactly(*x, *y)).collect())
            }
            Points::Simulated(measure, points) => {
                let dot = |(x, point): &(f64, Point)| {
                    let (source, funded) = look.fund(self.budget, point);
                    let command = funded.command();
                    let known = self.answers.get(&command)?.measure(*measure)?;
                    let origin = origin(law_of(*measure, point), source, known.cut > 0);
                    Some(Dot { origin, ..mean(*x, known, command) })
                };
                (Kind::Simulated, points.iter().filter_map(dot).collect())
            }
            Points::Measured(points) => {
                let dot = |(x, trial): &(f64, Trial)| {
                    let (source, runs) = look.fund_trial(self.budget, trial);
                    let known = self.trials.get(&told(&source, runs))?.trial()?;
                    let origin = origin(trial.law, source, known.cut > 0);
                    Some(Dot { origin, ..mean(*x, known, figure.to_owned()) })
                };
                (Kind::Simulated, points.iter().filter_map(dot).collect())
            }
        };
        Curve { name: name.clone(), kind, hue: *hue, drawn: *drawn, dots }
    }
}

/// What the samples of a measure are. A figure asks for two runs where nothing is random.
fn law_of(measure: Measure, point: &Point) -> Law {
    match measure {
        _ if point.runs == 2 => Law::Fixed,
        Measure::StrongSuccess | Measure::Aborted => Law::Chance,
        Measure::WeakSuccess | Measure::InconsistentFraction | Measure::LeaderPresence => {
            Law::Share
        }
        _ => Law::Mean,
    }
}

fn key(trial: &Trial) -> String {
    format!("{} {}", trial.name, trial.argument)
}

/// What a trial of so many runs is kept under.
fn told(source: &str, runs: u64) -> String {
    format!("{source}, {runs} runs")
}

fn mean(x: f64, known: &Measured, command: String) -> Dot {
    let Summary { mean, stderr, ci95, count, .. } = known.summary;
    let (cut, command) = (known.cut, Some(command));
    let ci95 = if cut > 0 { [mean; 2] } else { ci95 };
    Dot { stderr, ci95, runs: count, cut, command, ..Dot::exactly(x, mean) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::tell::no_less;
    use crate::figures::{Axis, Panel};
    use std::sync::atomic::{AtomicU64, Ordering};

    static MADE: AtomicU64 = AtomicU64::new(0);

    /// Half of all runs give 1, so that nothing decides whether the mean is less than one half.
    fn undecidable() -> Figure {
        let run = |_, _, run: u64| {
            MADE.fetch_add(1, Ordering::Relaxed);
            Some((run % 2) as f64)
        };
        let (name, argument, law) = ("half", 0, Law::Share);
        let trial = Trial { name, argument, runs: 3000, messages: 1, law, run };
        let series = vec![Series::measured(name, 0, std::iter::once((0.0, trial)))];
        let (x, y) = (Axis::linear("", ""), Axis::linear("", ""));
        let claims = |finding: &Finding| {
            let half = finding.curve("half").at(0.0);
            let claim = |says, least| {
                let because = format!("of {} runs", half.runs);
                Claim::compared(says, "1", "no less", &[no_less(half, least)], because)
            };
            vec![claim("It is half.", 0.5), claim("It is more than a third.", 1.0 / 3.0)]
        };
        Figure { panels: vec![Panel { title: "", x, y, series }], claims, ..Figure::BARE }
    }

    #[test]
    fn no_run_is_made_twice_however_often_a_figure_is_looked_at() {
        let mut bench = Workbench::new(Budget { looks: 3, threads: 2, ..Budget::default() });
        let found = bench.finding(undecidable(), &mut || ()).expect("it can be made");
        assert_eq!(found.claims[0].verdict, Verdict::Undecided);
        assert_eq!(found.curve("half").at(0.0).runs, 48_000, "3000, and four times more twice");
        assert_eq!(MADE.load(Ordering::Relaxed), 48_000);
        let [open, early] = &found.claims[..] else { panic!("two claims") };
        assert_eq!([&open.because[..], &early.because], ["of 48000 runs", "of 3000 runs"]);
        assert_eq!(early.verdict, Verdict::Confirmed);
        assert!(early.rule.ends_with("the figure shows a later look, with more runs"), "{early:?}");
        assert!(!open.rule.contains("later look"), "{open:?}");
    }
}
