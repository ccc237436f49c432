//! Makes points and trials side by side, all on the threads of one pool.
//!
//! The runs of a point are spread over the threads, and so are the points. So no thread waits for
//! the last run of a point while another point has work for it. The costliest are begun first. What
//! a job gives is a function of the job alone, and whoever asked for it is told in the order in
//! which jobs end.

use super::Trial;
use super::known::Known;
use super::workbench::SimulationFailed;
use crate::point::Point;
use bellwether_sim::{BadExperiment, Control, RunsMade};
use rayon::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;

/// Tells whether to stop.
pub(super) type Over<'a> = &'a (dyn Fn() -> bool + Sync);

/// Something to be made, under its name.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) name: String,
    /// What it is called, however many runs it has.
    pub(super) source: String,
    pub(super) asked: Asked,
    /// The first of its runs, if they were made before.
    pub(super) before: Option<Made>,
    /// About how much work it is, to order jobs by.
    pub(super) work: u64,
}

/// What is to be made.
#[derive(Clone, Debug)]
pub(super) enum Asked {
    Point(Box<Point>),
    /// So many runs of a trial, from this seed.
    Trial {
        trial: Trial,
        runs: u64,
        seed: u64,
    },
}

/// What each run gave, for more runs to follow them.
#[derive(Clone, Debug)]
pub(super) enum Made {
    Point(RunsMade),
    Trial(Vec<Option<f64>>),
}

/// The jobs, on so many threads; zero for as many as there are cores. Calls `found` with each on
/// the caller's thread. Returns whether all were made, or it was told to stop before that.
///
/// # Errors
/// Why one of them cannot be made; then the others are given up.
pub(super) fn make(
    mut jobs: Vec<Job>,
    threads: usize,
    over: Over<'_>,
    found: &mut dyn FnMut(&Job, Known, Made),
) -> Result<bool, SimulationFailed> {
    let Some(first) = jobs.first() else { return Ok(true) };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| {
        let why = BadExperiment::Threads(error.to_string());
        SimulationFailed { command: first.name.clone(), why }
    })?;
    jobs.sort_by_key(|job| std::cmp::Reverse(job.work));
    let failed = AtomicBool::new(false);
    let over: Over<'_> = &|| failed.load(Ordering::Relaxed) || over();
    let (send, receive) = channel();
    let (mut left, mut failure) = (jobs.len(), None);
    thread::scope(|scope| {
        let failed = &failed;
        scope.spawn(move || {
            pool.in_place_scope_fifo(|scope| {
                for mut job in jobs {
                    let send: Sender<_> = send.clone();
                    scope.spawn_fifo(move |_| {
                        let made = job.make(threads, over);
                        failed.fetch_or(made.is_err(), Ordering::Relaxed);
                        // Whoever asked is there until all are made.
                        let _ = send.send((job, made));
                    });
                }
            });
        });
        for (job, made) in receive {
            match made {
                Ok(Some((known, made))) => {
                    found(&job, known, made);
                    left -= 1;
                }
                Ok(None) => {}
                Err(why) => {
                    let command = job.name;
                    failure.get_or_insert(SimulationFailed { command, why });
                }
            }
        }
    });
    failure.map_or(Ok(left == 0), Err)
}

impl Job {
    pub(super) fn runs(&self) -> u64 {
        match &self.asked {
            Asked::Point(point) => point.runs,
            Asked::Trial { runs, .. } => *runs,
        }
    }

    /// What it gives, unless it is told to stop. The runs that were made before are used up.
    fn make(
        &mut self,
        threads: usize,
        over: Over<'_>,
    ) -> Result<Option<(Known, Made)>, BadExperiment> {
        if over() {
            return Ok(None);
        }
        let made = match (&self.asked, self.before.take()) {
            (Asked::Point(point), before) => {
                let before = match before {
                    Some(Made::Point(before)) => before,
                    _ => RunsMade::default(),
                };
                let control = Control { progress: &|| (), over };
                let (answer, made) = point.experiment(threads)?.run_on(before, control)?;
                (Known::of(&answer), Made::Point(made))
            }
            (Asked::Trial { trial, runs, seed }, before) => {
                let mut samples = match before {
                    Some(Made::Trial(before)) => before,
                    _ => Vec::new(),
                };
                let run = |run| (trial.run)(trial.argument, *seed, run);
                samples.par_extend((samples.len() as u64..*runs).into_par_iter().map(run));
                (Known::of_trial(&samples), Made::Trial(samples))
            }
        };
        // What was stopped is not the answer.
        Ok((!over()).then_some(made))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Law;
    use std::collections::BTreeSet;

    fn trial(argument: u32, run: fn(u32, u64, u64) -> Option<f64>) -> Job {
        let law = Law::Mean;
        let trial = Trial { name: "some", argument, runs: 5, messages: 1, law, run };
        let asked = Asked::Trial { trial, runs: 5, seed: 3 };
        let (name, source) = (format!("some {argument}"), String::new());
        Job { name, source, asked, before: None, work: u64::from(argument) }
    }

    fn of_points(nodes: &[u32]) -> Vec<Job> {
        let job = |nodes: &u32| {
            let point = Point::new("le-s", *nodes).runs(4);
            let (name, source, asked) =
                (point.command(), String::new(), Asked::Point(point.into()));
            Job { name, source, asked, before: None, work: u64::from(*nodes) }
        };
        nodes.iter().map(job).collect()
    }

    #[test]
    fn each_job_is_told_of_once_and_does_not_depend_on_threads() {
        let jobs = || {
            let trials = (0..20).map(|place| {
                trial(place, |argument, seed, run| Some(f64::from(argument) + (seed * run) as f64))
            });
            trials.chain(of_points(&[3, 50, 4])).collect::<Vec<_>>()
        };
        let on = |threads| {
            let mut all: Vec<(String, Known)> = Vec::new();
            let mut found = |job: &Job, known, _| all.push((job.name.clone(), known));
            assert_eq!(make(jobs(), threads, &|| false, &mut found), Ok(true));
            all.sort_by(|one, other| one.0.cmp(&other.0));
            all
        };
        let alone = on(1);
        let names: BTreeSet<&String> = alone.iter().map(|(name, _)| name).collect();
        assert_eq!((alone.len(), names.len()), (23, 23));
        assert_eq!(on(3), alone);
    }

    #[test]
    fn who_is_told_to_stop_says_so() {
        let mut none = |_: &Job, _, _| panic!("nothing was made");
        assert_eq!(make(of_points(&[3]), 1, &|| true, &mut none), Ok(false));
        assert_eq!(make(Vec::new(), 1, &|| true, &mut none), Ok(true));
    }

    #[test]
    fn what_cannot_be_simulated_is_an_error_of_that_name() {
        let mut jobs = of_points(&[3, 4, 5]);
        let bad = Point::new("nobody", 3);
        let (name, source, asked) = ("the bad one".into(), String::new(), Asked::Point(bad.into()));
        jobs.push(Job { name, source, asked, before: None, work: 1 });
        let failed = make(jobs, 2, &|| false, &mut |_, _, _| ()).expect_err("nobody knows it");
        assert_eq!(failed.command, "the bad one");
    }

    #[test]
    fn runs_that_follow_others_give_what_all_give_at_once() {
        let made = |mut jobs: Vec<Job>, before: Vec<Option<Made>>| {
            for (job, before) in jobs.iter_mut().zip(before) {
                job.before = before;
            }
            let mut all: Vec<(String, Known, Made)> = Vec::new();
            let mut found = |job: &Job, known, made| all.push((job.name.clone(), known, made));
            assert_eq!(make(jobs, 2, &|| false, &mut found), Ok(true));
            all.sort_by(|one, other| one.0.cmp(&other.0));
            all
        };
        let jobs = |runs: u64| {
            let mut trial = trial(3, |argument, seed, run| {
                (run % 3 > 0).then(|| f64::from(argument) + (seed * run) as f64)
            });
            trial.asked = match trial.asked {
                Asked::Trial { trial, seed, .. } => Asked::Trial { trial, runs, seed },
                asked => asked,
            };
            let lossy = Point::new("le-s", 20).loss(crate::inputs::Loss::Correlated(0.4));
            let asked = Asked::Point(lossy.runs(runs).into());
            let name = "a lossy point".to_owned();
            vec![Job { name, source: String::new(), asked, before: None, work: 1 }, trial]
        };
        let first: Vec<_> = made(jobs(5), vec![None, None]).into_iter().map(|all| all.2).collect();
        let on = made(jobs(40), first.into_iter().map(Some).collect());
        let at_once = made(jobs(40), vec![None, None]);
        for ((name, known, _), (_, all, _)) in on.iter().zip(&at_once) {
            assert_eq!(known, all, "{name}");
        }
    }
}
