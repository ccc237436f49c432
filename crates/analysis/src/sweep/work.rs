//! Makes all pieces of a sweep, or a share of them, and sums them up.
//!
//! Pieces run side by side, each on one thread, if there are enough of them; otherwise the runs of
//! each piece are distributed over the threads. The result is the same.
//!
//! A share of a sweep with a fixed number of runs is every N-th piece. If the number of runs
//! follows from the intervals, it is every N-th point: whether a point needs more pieces is known
//! only to whoever has all of its pieces.

use super::looks::Rule;
use super::piece::Key;
use bellwether_sim::part::{BROKEN, column, cut, interval_of, measures, summary_of};
use bellwether_sim::rare::Rare;
use bellwether_sim::stats::Summary;
use bellwether_sim::{Control, Experiment, Part};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Keeps pieces under their names. A name says what was simulated, not by which code: what is kept
/// beyond the end of a process is given back to the same build of the program only.
pub trait Keep: Sync {
    /// The bytes under this name, if there are any.
    fn load(&self, name: &str) -> Option<Vec<u8>>;

    /// Keeps these bytes: all of them, or, if the program is stopped, none.
    ///
    /// # Errors
    /// Why they cannot be kept, in one line.
    fn keep(&self, name: &str, bytes: &[u8]) -> Result<(), String>;
}

/// Keeps pieces in memory.
#[derive(Debug, Default)]
pub struct InMemory(Mutex<BTreeMap<String, Vec<u8>>>);

impl Keep for InMemory {
    fn load(&self, name: &str) -> Option<Vec<u8>> {
        self.0.lock().ok()?.get(name).cloned()
    }

    fn keep(&self, name: &str, bytes: &[u8]) -> Result<(), String> {
        match self.0.lock() {
            Ok(mut kept) => drop(kept.insert(name.to_owned(), bytes.to_vec())),
            Err(_) => return Err("another thread has failed".to_owned()),
        }
        Ok(())
    }
}

/// Makes the runs of a point.
pub trait Make: Send + Sync {
    /// Makes these runs on so many threads; fewer, if it is told to stop.
    ///
    /// # Errors
    /// Why they cannot be made, in one line.
    fn make(
        &self,
        runs: Range<u64>,
        threads: usize,
        over: &(dyn Fn() -> bool + Sync),
    ) -> Result<Part, String>;
}

impl Make for Experiment {
    fn make(
        &self,
        runs: Range<u64>,
        threads: usize,
        over: &(dyn Fn() -> bool + Sync),
    ) -> Result<Part, String> {
        let experiment = Self { threads, ..self.clone() };
        let control = Control { progress: &|| (), over };
        experiment.run_part(runs, control).map_err(|why| why.to_string())
    }
}

/// A rare event: each run is a replication of the estimate of its probability.
#[derive(Clone, Debug)]
pub struct Estimated {
    /// Where it is looked for.
    pub experiment: Experiment,
    /// What, and how.
    pub rare: Rare,
}

impl Make for Estimated {
    fn make(
        &self,
        runs: Range<u64>,
        threads: usize,
        over: &(dyn Fn() -> bool + Sync),
    ) -> Result<Part, String> {
        let experiment = Experiment { threads, ..self.experiment.clone() };
        let [from, to] = [runs.start, runs.end].map(|number| u32::try_from(number).ok());
        let (Some(from), Some(to)) = (from, to) else {
            return Err(format!("{} replications are too many; choose fewer", runs.end));
        };
        let control = Control { progress: &|| (), over };
        experiment.estimate_part(&self.rare, from..to, control).map_err(|why| why.to_string())
    }
}

/// A point to simulate.
#[derive(Clone)]
pub struct Task {
    /// The command of the point, with its seed.
    pub command: String,
    /// What makes its runs, with that seed.
    pub make: Arc<dyn Make>,
    /// The measures that are kept; all if it is empty.
    pub measures: Vec<String>,
}

/// Share number `part` of `of`, both counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Which.
    pub part: u64,
    /// Of how many.
    pub of: u64,
}

impl Share {
    /// Whether the piece or point of this number, counted from 0, belongs to it.
    pub fn has(self, number: usize) -> bool {
        number as u64 % self.of == self.part - 1
    }
}

/// A piece that is there.
struct Piece {
    part: Part,
    /// Whether it was made just now.
    is_new: bool,
}

/// All points of a sweep, and how they are simulated.
pub struct Work<'a> {
    /// The points.
    pub tasks: &'a [Task],
    /// How many runs each gets.
    pub rule: &'a Rule,
    /// How many runs a piece has at most.
    pub piece: u64,
    /// Where pieces are kept.
    pub keep: &'a dyn Keep,
    /// How many threads there are.
    pub threads: usize,
    /// Told about runs that are made.
    pub made: &'a (dyn Fn(u64) + Sync),
    /// Told about runs that need not be made: they were kept, or their point needs no more. With
    /// those that are made they come to the most that all points may get.
    pub spared: &'a (dyn Fn(u64) + Sync),
    /// Asked whether to begin no more.
    pub over: &'a (dyn Fn() -> bool + Sync),
}

/// What is known of one point.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// How many runs were made.
    pub runs: u64,
    /// In how many of them the group did not settle.
    pub unsettled: u64,
    /// Whether the intervals are narrow enough; nothing if nobody asked.
    pub narrow: Option<bool>,
    /// The number of the first run that broke a promise, if one did.
    pub broke: Option<u64>,
    /// What was measured.
    pub measured: Vec<Measured>,
}

/// What is known of one measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Its name.
    pub name: String,
    /// As one experiment with all these runs would sum it up.
    pub summary: Summary,
    /// Where the true mean is, with the confidence of the sweep; both ends are the mean where some
    /// runs were cut, which says nothing.
    pub interval: [f64; 2],
    /// How many runs lack it because they ended before the group had settled.
    pub cut: u64,
}

/// Why a sweep has no result.
#[derive(Clone, Debug, PartialEq)]
pub enum NotSwept {
    /// It was told to stop. What was finished is kept.
    Stopped,
    /// A point cannot be simulated.
    Refused(String, String),
    /// A piece cannot be kept.
    NotKept(String),
    /// So many pieces are not there; the first belongs to this command, with these runs.
    Missing(u64, String, Range<u64>),
    /// There are no threads to be had.
    Threads(String),
}

impl fmt::Display for NotSwept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stopped => f.write_str("it was stopped"),
            Self::Refused(command, why) => write!(f, "{command}: {why}"),
            Self::NotKept(why) => f.write_str(why),
            Self::Missing(count, command, runs) => {
                let (pieces, are) = if *count == 1 { ("piece", "is") } else { ("pieces", "are") };
                write!(
                    f,
                    "{count} {pieces} {are} missing; the first is {command}, runs {} to {}",
                    runs.start, runs.end
                )
            }
            Self::Threads(why) => write!(f, "there are no threads to be had: {why}"),
        }
    }
}

impl std::error::Error for NotSwept {}

impl Work<'_> {
    /// Makes what is missing, and sums up all points, in their order.
    ///
    /// # Errors
    /// [`NotSwept`]
    pub fn whole(&self) -> Result<Vec<Outcome>, NotSwept> {
        if self.rule.narrow.is_none() {
            self.make_pieces(None)?;
        }
        let points: Vec<&Task> = self.tasks.iter().collect();
        self.each(&points, &|task, threads| self.follow(task, Some(threads)))
    }

    /// Makes what is missing of a share. Returns how many pieces or points it has.
    ///
    /// # Errors
    /// [`NotSwept`]
    pub fn share(&self, share: Share) -> Result<u64, NotSwept> {
        if self.rule.narrow.is_none() {
            return self.make_pieces(Some(share));
        }
        let mine = self.tasks.iter().enumerate().filter(|(number, _)| share.has(*number));
        let mine: Vec<&Task> = mine.map(|(_, task)| task).collect();
        self.each(&mine, &|task, threads| self.follow(task, Some(threads)))?;
        Ok(mine.len() as u64)
    }

    /// Whether some piece of a share is not there.
    pub fn lacks(&self, share: Share) -> bool {
        let is_there = |task: &Task, runs| self.part(task, runs, None).is_ok();
        if self.rule.narrow.is_none() {
            return self.pieces(Some(share)).into_iter().any(|(task, runs)| !is_there(task, runs));
        }
        let mut mine = self.tasks.iter().enumerate().filter(|(number, _)| share.has(*number));
        mine.any(|(_, task)| self.follow(task, None).is_err())
    }

    /// Sums up all points from pieces that are there.
    ///
    /// # Errors
    /// [`NotSwept::Missing`]
    pub fn join(&self) -> Result<Vec<Outcome>, NotSwept> {
        let (mut outcomes, mut missing) = (Vec::new(), None);
        for task in self.tasks {
            match self.follow(task, None) {
                Ok(outcome) => outcomes.push(outcome),
                Err(NotSwept::Missing(count, command, runs)) => {
                    let first = missing.get_or_insert((0, command, runs));
                    first.0 += count;
                }
                Err(other) => return Err(other),
            }
        }
        match missing {
            None => Ok(outcomes),
            Some((count, command, runs)) => Err(NotSwept::Missing(count, command, runs)),
        }
    }

    /// Makes the pieces of a fixed number of runs; returns how many there are.
    fn make_pieces(&self, share: Option<Share>) -> Result<u64, NotSwept> {
        let mine = self.pieces(share);
        self.each(&mine, &|(task, runs), threads| {
            self.part(task, runs.clone(), Some(threads)).map(|part| self.tell(&part))
        })?;
        Ok(mine.len() as u64)
    }

    /// The pieces of a fixed number of runs.
    fn pieces(&self, share: Option<Share>) -> Vec<(&Task, Range<u64>)> {
        let of_task = |task| self.cut(0..self.rule.most()).map(move |runs| (task, runs));
        let pieces = self.tasks.iter().flat_map(of_task).enumerate();
        let mine = pieces.filter(|(number, _)| share.is_none_or(|share| share.has(*number)));
        mine.map(|(_, piece)| piece).collect()
    }

    /// Does something with each, side by side if there are enough, with so many threads for each.
    fn each<T: Sync, R: Send>(
        &self,
        all: &[T],
        make: &(dyn Fn(&T, usize) -> Result<R, NotSwept> + Sync),
    ) -> Result<Vec<R>, NotSwept> {
        if all.len() < 2 * self.threads || self.threads == 1 {
            return all.iter().map(|one| make(one, self.threads)).collect();
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads).build();
        let pool = pool.map_err(|error| NotSwept::Threads(error.to_string()))?;
        pool.install(|| all.par_iter().with_max_len(1).map(|one| make(one, 1)).collect())
    }

    /// Cuts runs into pieces, the same ones whatever the range.
    fn cut(&self, runs: Range<u64>) -> impl Iterator<Item = Range<u64>> + use<> {
        let (piece, mut at) = (self.piece, runs.start);
        std::iter::from_fn(move || {
            let end = ((at / piece + 1).saturating_mul(piece)).min(runs.end);
            let next = (at < runs.end).then_some(at..end);
            at = end;
            next
        })
    }

    /// Looks at a point until it has runs enough. Without threads, nothing is made.
    fn follow(&self, task: &Task, threads: Option<usize>) -> Result<Outcome, NotSwept> {
        let (mut parts, mut seen, mut narrow, mut missing) = (Vec::new(), 0, None, None);
        for &runs in &self.rule.schedule {
            for piece in self.cut(seen..runs) {
                match self.part(task, piece, threads) {
                    Ok(part) => {
                        if self.rule.narrow.is_some() {
                            self.tell(&part);
                        }
                        parts.push(part.part);
                    }
                    Err(NotSwept::Missing(_, command, runs)) => {
                        missing.get_or_insert((0, command, runs)).0 += 1;
                    }
                    Err(other) => return Err(other),
                }
            }
            seen = runs;
            if missing.is_some() {
                break;
            }
            narrow = self.rule.narrow.is_some().then(|| self.is_narrow(&parts));
            if narrow == Some(true) {
                break;
            }
        }
        if let Some((count, command, runs)) = missing {
            return Err(NotSwept::Missing(count, command, runs));
        }
        if self.rule.narrow.is_some() {
            (self.spared)(self.rule.most() - seen);
        }
        Ok(self.outcome(task, &parts, seen, narrow))
    }

    /// Whether the measures that the rule names are known well enough.
    fn is_narrow(&self, parts: &[Part]) -> bool {
        let named = self.rule.narrow.as_ref().map_or(&[][..], |narrow| &narrow.of);
        let all = if named.is_empty() { measures(parts) } else { named.to_vec() };
        let known = |name: &String| cut(parts, name) == 0;
        all.iter().all(|name| known(name) && self.rule.is_narrow(name, &column(parts, name)))
    }

    fn outcome(&self, task: &Task, parts: &[Part], runs: u64, narrow: Option<bool>) -> Outcome {
        let known = measures(parts);
        let asked = task.measures.iter().filter(|name| known.contains(name)).cloned();
        let names = if task.measures.is_empty() { known.clone() } else { asked.collect() };
        let measured = names.into_iter().filter_map(|name| {
            let column = column(parts, &name);
            let summary = summary_of(&name, &column)?;
            let interval = interval_of(&name, &column, &summary, self.rule.at_each_look());
            let cut = cut(parts, &name);
            let interval = if cut > 0 { [summary.mean; 2] } else { interval };
            Some(Measured { name, summary, interval, cut })
        });
        let settled = parts.iter().flat_map(|part| &part.settled);
        Outcome {
            runs,
            unsettled: settled.filter(|settled| !**settled).count() as u64,
            narrow,
            broke: (0..)
                .zip(column(parts, BROKEN))
                .find_map(|(run, broke)| (broke > 0.0).then_some(run)),
            measured: measured.collect(),
        }
    }

    fn tell(&self, piece: &Piece) {
        let tell = if piece.is_new { self.made } else { self.spared };
        tell(piece.part.runs());
    }

    /// A piece, made if it is not there and there are threads.
    fn part(
        &self,
        task: &Task,
        runs: Range<u64>,
        threads: Option<usize>,
    ) -> Result<Piece, NotSwept> {
        let Task { command, measures, .. } = task;
        let key = Key { command: command.clone(), measures: measures.clone(), runs: runs.clone() };
        let name = key.name();
        if let Some(part) = self.keep.load(&name).and_then(|bytes| key.decode(&bytes)) {
            return Ok(Piece { part, is_new: false });
        }
        let Some(threads) = threads else {
            return Err(NotSwept::Missing(1, command.clone(), runs));
        };
        let wanted = runs.end - runs.start;
        let made = task.make.make(runs, threads, self.over);
        let part = made.map_err(|why| NotSwept::Refused(command.clone(), why))?;
        if part.runs() < wanted {
            return Err(NotSwept::Stopped);
        }
        let part = part.only(measures);
        self.keep.keep(&name, &key.encode(&part)).map_err(NotSwept::NotKept)?;
        Ok(Piece { part, is_new: true })
    }
}
