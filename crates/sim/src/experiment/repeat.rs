//! Runs a scenario file: once with all its records, or many times, the same plan with other random
//! draws, measured as experiments are.
//!
//! **Assumptions.** The first fault of a group that elects on its own is what disturbs it: what is
//! measured then begins with it. Without faults, the start is measured.
//!
//! **Promise.** The random draws of run `i` are a function of (seed, `i`), as in an experiment. The
//! first run is the one that [`ScenarioFile::trace`] shows.

use super::scenario::Planned;
use super::watch::Watch;
use super::{
    Answer, BadExperiment, Control, Engine, Experiment, Initiation, Sample, Samples, Scenario,
    kept, on_threads,
};
use crate::coin::RunSeed;
use crate::observer::Reader;
use crate::plan::Plan;
use crate::scenario_file::ScenarioFile;
use crate::world::World;
use bellwether_core::{Duration, Protocol, Record, SimTime, Visitor};

impl ScenarioFile {
    /// Runs the scenario so many times, or until it is told to stop.
    ///
    /// # Errors
    /// [`BadExperiment::Threads`] if there are no threads to be had.
    pub fn repeat(
        &self,
        runs: u64,
        seed: u64,
        threads: usize,
        control: Control<'_>,
    ) -> Result<(Answer, Samples), BadExperiment> {
        let plan = &self.plan;
        let first = plan.faults.iter().map(|timed| timed.at).min();
        let at = first.unwrap_or(Duration::ZERO).min(plan.horizon);
        let experiment = Experiment {
            choice: self.choice.clone(),
            nodes: plan.nodes,
            network: plan.network.clone(),
            ranks: plan.ranks,
            drift: plan.drift,
            initiation: Initiation::default(),
            // Which of those that begin with an event does not matter: the plan is the file's.
            scenario: if first.is_some() { Scenario::Departure } else { Scenario::Start },
            window: plan.horizon.saturating_sub(at),
            runs,
            seed,
            threads,
            engine: Engine::Event,
        };
        let planned = Planned { plan: plan.clone(), from: SimTime::ZERO + at, apart: Vec::new() };
        let repeats = Repeats { experiment: &experiment, planned: &planned, control };
        Ok(kept(&self.choice.clone().visit(repeats)?, false))
    }

    /// Runs it once and returns all records.
    pub fn trace(&self, seed: u64) -> Vec<Record> {
        let mut records = Vec::new();
        self.read(seed, &mut records);
        records
    }

    /// Runs it once, and lets `reader` read it while it is made, until the run or the reader is
    /// done.
    pub fn read(&self, seed: u64, reader: &mut dyn Reader) {
        let run_seed = RunSeed::new(seed, 0);
        self.choice.clone().visit(OneRun { plan: &self.plan, run_seed, reader });
    }
}

/// One run with all its records.
struct OneRun<'a> {
    plan: &'a Plan,
    run_seed: RunSeed,
    reader: &'a mut dyn Reader,
}

impl Visitor for OneRun<'_> {
    type Output = ();

    fn visit<P: Protocol>(self, params: P::Params) {
        let mut world = World::<P>::new(params);
        Watch::Nothing.read(&mut world, self.plan, self.run_seed, self.reader);
    }
}

/// All runs of one plan, spread over threads.
struct Repeats<'a> {
    experiment: &'a Experiment,
    planned: &'a Planned,
    control: Control<'a>,
}

impl Visitor for Repeats<'_> {
    type Output = Result<Vec<Sample>, BadExperiment>;

    fn visit<P: Protocol>(self, params: P::Params) -> Self::Output {
        let Self { experiment, planned, control } = self;
        on_threads(experiment, 0..experiment.runs, control, &|| {
            let (mut world, mut watch) = (World::<P>::new(params.clone()), Watch::of(experiment));
            Box::new(move |run_seed| {
                watch.reset(experiment, planned, run_seed);
                watch.run(&mut world, planned, run_seed, control.over)
            })
        })
    }
}
