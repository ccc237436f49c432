//! What a simulation is asked, whatever the protocol: how often, with which luck, by which command.

use crate::ballot::Ballot;
use crate::cell::Cell;
use crate::election::Election;
use bellwether_sim::{Answer, BadExperiment, Experiment};

/// One simulated point.
#[derive(Clone, Debug, PartialEq)]
pub enum Point {
    /// Of the announce-listen chapter.
    Announced(Cell),
    /// Of an election that somebody calls.
    Called(Election),
    /// Of an election in rounds.
    Drawn(Ballot),
}

impl From<Cell> for Point {
    fn from(cell: Cell) -> Self {
        Self::Announced(cell)
    }
}

impl From<Election> for Point {
    fn from(election: Election) -> Self {
        Self::Called(election)
    }
}

impl From<Ballot> for Point {
    fn from(ballot: Ballot) -> Self {
        Self::Drawn(ballot)
    }
}

impl Point {
    /// How many runs.
    pub fn runs(&self) -> u64 {
        match self {
            Self::Announced(cell) => cell.runs,
            Self::Called(election) => election.runs,
            Self::Drawn(ballot) => ballot.runs,
        }
    }

    /// The same with so many runs and this luck.
    #[must_use]
    pub fn with(self, runs: u64, seed: u64) -> Self {
        match self {
            Self::Announced(cell) => Cell { runs, seed, ..cell }.into(),
            Self::Called(election) => Election { runs, seed, ..election }.into(),
            Self::Drawn(ballot) => Ballot { runs, seed, ..ballot }.into(),
        }
    }

    /// The experiment.
    ///
    /// # Errors
    /// [`BadExperiment`], if the parameters break a rule.
    pub fn experiment(&self, threads: usize) -> Result<Experiment, BadExperiment> {
        match self {
            Self::Announced(cell) => cell.experiment(threads),
            Self::Called(election) => election.experiment(threads),
            Self::Drawn(ballot) => ballot.experiment(threads),
        }
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

    /// The command that prints the same numbers.
    pub fn command(&self) -> String {
        match self {
            Self::Announced(cell) => cell.command(),
            Self::Called(election) => election.command(),
            Self::Drawn(ballot) => ballot.command(),
        }
    }
}
