//! Runs many schedules on all cores; the result does not depend on the number of cores.

use crate::invariants::BrokenInvariant;
use crate::judge::{Judge, Trial, Verdict};
use crate::tally::Tally;
use crate::vary::{OneOf, Varied};
use bellwether_core::{Protocol, Visitor};
use bellwether_protocols::choice::Choice;
use rayon::prelude::*;
use std::fmt;
use std::ops::Range;

/// The schedules of a trial to run, and how.
pub struct Fuzz<'a> {
    /// The trial.
    pub trial: &'a Trial,
    /// The numbers of the schedules.
    pub numbers: Range<u64>,
    /// The number of threads; the result does not depend on it.
    pub threads: usize,
    /// Called after every schedule.
    pub progress: &'a (dyn Fn() + Sync),
}

/// The result of many schedules.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Counts of what was tested.
    pub tally: Tally,
    /// The violating schedule with the least number.
    pub violation: Option<Violation>,
}

/// A schedule that broke an invariant.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// Its number.
    pub number: u64,
    /// The broken invariant.
    pub breach: BrokenInvariant,
}

/// The threads could not be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoThreads(String);

impl fmt::Display for NoThreads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the threads could not be started: {}", self.0)
    }
}

impl std::error::Error for NoThreads {}

/// How many schedules one thread runs in a row, in one world.
const PIECE: u64 = 32;
/// How many schedules run before violations are looked for.
const BATCH: u64 = 32 * PIECE;

/// Runs the schedule with a number.
type RunOne = Box<dyn FnMut(u64) -> Verdict>;
/// Makes a judge for one thread.
type NewJudge<'a> = dyn Fn() -> RunOne + Sync + 'a;
/// Whether to stop.
type Over<'a> = dyn Fn() -> bool + Sync + 'a;

impl Fuzz<'_> {
    /// Runs the schedules until one breaks an invariant. The rest of its batch is run too, so that
    /// the violation with the least number is found, and the counts are the same on any number of
    /// threads.
    ///
    /// # Errors
    /// [`NoThreads`] if they cannot be started.
    pub fn run<P: Protocol>(&self, params: &P::Params) -> Result<Report, NoThreads> {
        self.run_until(&|| judging::<P>(self.trial, params.clone()), &|| false)
    }

    fn run_until(&self, judge: &NewJudge<'_>, over: &Over<'_>) -> Result<Report, NoThreads> {
        let pool = self.pool()?;
        let mut report = Report { tally: Tally::default(), violation: None };
        for batch in split(self.numbers.clone(), BATCH) {
            let pieces: Vec<_> = split(batch, PIECE).collect();
            let parts: Vec<Report> = pool.install(|| {
                pieces.into_par_iter().map(|piece| self.run_piece(piece, judge, over)).collect()
            });
            for part in parts {
                report.tally.add(&part.tally);
                report.violation = report.violation.or(part.violation);
            }
            if report.violation.is_some() || over() {
                break;
            }
        }
        Ok(report)
    }

    /// Runs the schedules for a protocol chosen at run time.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_choice(&self, choice: Choice) -> Result<Report, NoThreads> {
        self.run_choice_until(choice, &|| false)
    }

    /// The same until `over` says to stop; reports the schedules run by then.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_choice_until(&self, choice: Choice, over: &Over<'_>) -> Result<Report, NoThreads> {
        choice.visit(Judged { trial: self.trial, then: &|judge| self.run_until(judge, over) })
    }

    /// Runs the schedules, each with the parameters that it draws, until `over` says to stop.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_varied_until(&self, varied: &Varied, over: &Over<'_>) -> Result<Report, NoThreads> {
        let judge = || -> RunOne {
            let varied = varied.clone();
            Box::new(move |number| run_varied(&varied, number))
        };
        self.run_until(&judge, over)
    }

    /// Runs all schedules, whatever they break, and gives the verdict on each, in their order.
    /// Fewer, if `over` says to stop.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn verdicts(&self, choice: Choice, over: &Over<'_>) -> Result<Vec<Verdict>, NoThreads> {
        choice.visit(Judged { trial: self.trial, then: &|judge| self.judge_each(judge, over) })
    }

    fn judge_each(&self, judge: &NewJudge<'_>, over: &Over<'_>) -> Result<Vec<Verdict>, NoThreads> {
        let judged = |piece: Range<u64>| {
            let mut judge = judge();
            let wanted = piece.take_while(|_| !over());
            let verdict = |number| {
                let verdict = judge(number);
                (self.progress)();
                verdict
            };
            wanted.map(verdict).collect::<Vec<_>>()
        };
        let pieces: Vec<_> = split(self.numbers.clone(), PIECE).collect();
        let pool = self.pool()?;
        let all: Vec<Vec<Verdict>> = pool.install(|| pieces.into_par_iter().map(judged).collect());
        Ok(all.concat())
    }

    fn pool(&self) -> Result<rayon::ThreadPool, NoThreads> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads).build();
        pool.map_err(|error| NoThreads(error.to_string()))
    }

    fn run_piece(&self, numbers: Range<u64>, judge: &NewJudge<'_>, over: &Over<'_>) -> Report {
        let mut judge = judge();
        let mut report = Report { tally: Tally::default(), violation: None };
        for number in numbers {
            if over() {
                break;
            }
            let verdict = judge(number);
            report.tally.add(&verdict.tally);
            if report.violation.is_none() {
                report.violation = verdict.breach.map(|breach| Violation { number, breach });
            }
            (self.progress)();
        }
        report
    }
}

/// Hands judges of a protocol on without its type: what runs on many threads is compiled once.
struct Judged<'a, T> {
    trial: &'a Trial,
    then: &'a dyn Fn(&NewJudge<'_>) -> T,
}

impl<T> Visitor for Judged<'_, T> {
    type Output = T;

    fn visit<P: Protocol>(self, params: P::Params) -> T {
        (self.then)(&|| judging::<P>(self.trial, params.clone()))
    }
}

/// A judge of this protocol.
fn judging<P: Protocol>(trial: &Trial, params: P::Params) -> RunOne {
    let mut judge = Judge::<P>::new(trial, params);
    Box::new(move |number| judge.run(number))
}

/// Runs the schedule with this number, with the parameters that it draws.
fn run_varied(varied: &Varied, number: u64) -> Verdict {
    let OneOf { trial, choice, drawn, .. } = varied.of(number);
    let mut verdict = choice.visit(Judged { trial: &trial, then: &|judge| judge()(number) });
    verdict.tally.parameters = drawn.into_iter().map(|name| (name, 1)).collect();
    verdict
}

/// Splits a range into pieces of this length; the last may be shorter.
fn split(range: Range<u64>, length: u64) -> impl Iterator<Item = Range<u64>> {
    let end = range.end;
    let starts = std::iter::successors(Some(range.start), move |at| at.checked_add(length));
    starts.take_while(move |at| *at < end).map(move |at| at..at.saturating_add(length).min(end))
}
