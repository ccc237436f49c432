//! One run of a scenario as a figure: all that happened in it, drawn and judged.

use bellwether_core::{Record, SimTime};
use bellwether_sim::diagram::{Arrangement, Options, plane_and_time, space_time};
use bellwether_sim::{BadExperiment, ScenarioFile};

/// A scenario that is run once.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Its file, without what tells the kind.
    pub scenario: &'static str,
    /// What is written there.
    pub text: &'static str,
}

/// What happened.
#[derive(Clone, Debug)]
pub struct Played {
    /// The scenario's file, without what tells the kind.
    pub scenario: &'static str,
    /// In order of time.
    pub records: Vec<Record>,
    /// How the processes stand to each other, where that matters.
    arrangement: Option<Arrangement>,
    until: SimTime,
}

impl Run {
    /// The command that tells the same.
    pub fn command(&self) -> String {
        command(self.scenario)
    }

    /// Runs it.
    ///
    /// # Errors
    /// [`BadExperiment`], if the scenario is none or has too many processes to draw.
    pub(super) fn play(&self) -> Result<Played, BadExperiment> {
        let Self { scenario, text } = *self;
        let file = ScenarioFile::parse(text)?;
        let arrangement = Arrangement::of(&file, file.seed, None);
        if let Some(arrangement) = &arrangement {
            arrangement.check()?;
        }
        let until = SimTime::ZERO + file.plan.horizon;
        Ok(Played { scenario, records: file.trace(file.seed), arrangement, until })
    }
}

impl Played {
    /// The command that tells the same.
    pub fn command(&self) -> String {
        command(self.scenario)
    }

    /// The ring or the network, where there is one, and the run over time; as SVG.
    pub fn picture(&self, title: &str) -> String {
        let until = Some(self.until);
        let options = Options { title: title.to_owned(), until, ..Options::default() };
        match &self.arrangement {
            Some(arrangement) => plane_and_time(&self.records, arrangement, &options)
                .expect("so many can be drawn, or it would not have been played"),
            None => space_time(&self.records, &options),
        }
    }
}

fn command(scenario: &str) -> String {
    format!("bellwether trace scenarios/{scenario}.toml")
}
