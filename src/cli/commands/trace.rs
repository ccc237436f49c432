//! `bellwether trace`: simulates one run and shows every event.

use crate::cli::Done;
use crate::cli::commands::live;
use crate::cli::commands::protocols::Named;
use crate::cli::failure::Failure;
use crate::cli::file;
use crate::cli::flags::common::{SIGHT, by_protocol};
use crate::cli::flags::group::{self, Group, own_flags};
use crate::cli::flags::target_file::{self, ProtocolOrFile};
use crate::cli::memory::{self, Load};
use crate::cli::output::TextOrJson;
use crate::cli::output::view::{Places, View};
use bellwether::check::live::{merged, show_carried};
use bellwether::core::{Duration, Record, SimTime};
use bellwether::protocols::choice::{Choice, Config, Entry};
use bellwether::protocols::surroundings::Surroundings;
use bellwether::sim::diagram::{Arrangement, Options};
use bellwether::sim::{
    Engine, Experiment, Fault, RunSeed, Scenario, ScenarioFile, Terrain, Timed, Who, trace,
};
use clap::Args;
use std::io::{self, Write};
use std::path::PathBuf;

/// Simulate one run and show all that happened: as text, JSON lines or a picture
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct Trace {
    /// A protocol, or a scenario file (*.toml), which replaces all flags but --seed and the output
    #[arg(required_unless_present = "from", conflicts_with = "from")]
    #[arg(value_name = "PROTOCOL|FILE", value_parser = Named::or_file())]
    #[arg(hide_possible_values = true)]
    what: Option<ProtocolOrFile>,
    /// Show what live members recorded into these files instead, from the first record on
    #[arg(long, value_name = "FILE", num_args = 1..)]
    from: Vec<PathBuf>,
    /// How long the run lasts
    #[arg(long, value_name = "D")]
    until: Option<Duration>,
    /// The leader crashes at this time
    #[arg(long, value_name = "D")]
    crash_leader: Option<Duration>,
    /// The leader is asked to resign at this time
    #[arg(long, value_name = "D")]
    resign_leader: Option<Duration>,
    /// Draw a picture into this file: the run over time, and the ring or network it was held in
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// What the picture shows
    #[arg(long, value_enum, default_value_t, requires = "svg")]
    view: View,
    /// The picture's title [default: the scenario's own]
    #[arg(long, value_name = "TEXT", requires = "svg")]
    title: Option<String>,
    /// How to write the records
    #[arg(long, value_enum, default_value_t)]
    format: TextOrJson,
    #[command(flatten)]
    group: Group,
}

/// A run that flags describe.
pub(in crate::cli) struct Planned {
    pub(in crate::cli) scenario: ScenarioFile,
    pub(in crate::cli) config: Config,
    pub(in crate::cli) terrain: Terrain,
    /// Where the processes are at the end, if they have places.
    places: Places,
}

const EXAMPLES: &str = "\
Examples:
  bellwether trace le-s --nodes 8 --svg run.svg
  bellwether trace le-s --nodes 6 --loss .3 --listen 2.5s --crash-leader 4s --until 10s
  bellwether trace local-leader --nodes 3 --crash-leader .3s --svg failover.svg
  bellwether trace chang-roberts --nodes 8 --initiators all --order random --svg ring.svg
  bellwether trace ad-hoc --nodes 12 --graph disc --view graph --svg tree.svg
  bellwether trace probabilistic --view-prob .3 --mcast-loss .1 --svg rounds.svg
  bellwether trace scenarios/deadlock.toml
  bellwether trace --from 1.jsonl 2.jsonl 3.jsonl --svg run.svg";

/// The flags that go with a scenario file: the output, and another seed.
const BESIDE_A_FILE: [&str; 5] = ["seed", "svg", "view", "title", "format"];
/// Those that go with recorded traces.
const BESIDE_RECORDS: [&str; 4] = ["from", "svg", "title", "format"];
/// The flag that other commands call `--view`; here `--view` is what a picture shows.
pub(in crate::cli) const VIEW_PROB: &str = "view-prob";

/// Adds the defaults of these protocols, and changes flags that have another meaning than in `sim`.
pub(in crate::cli) fn with_defaults(
    command: clap::Command,
    protocols: &'static [Entry],
) -> clap::Command {
    group::with_defaults(command, protocols, true)
        .mut_arg("until", |flag| by_protocol(flag, protocols, &shown_for))
        .mut_arg(SIGHT, |flag| flag.long(VIEW_PROB))
        .mut_arg("fail", |flag| flag.hide(true))
}

/// How long a run of this protocol lasts by default: if nothing goes wrong, and if something may.
fn shown_for(entry: &Entry) -> String {
    let calm = Surroundings::calm(5, Duration::from_millis(100));
    let shown = |around: Surroundings| {
        let choice = Choice::try_from(entry.family.fitted(&around));
        match choice.map_or(Duration::MAX, |choice| choice.shown_for()) {
            length if length >= Duration::LONGEST_WRITTEN => "until no message is left".to_owned(),
            length => length.to_string(),
        }
    };
    let mut all = [shown(calm), shown(Surroundings { unsteady: true, ..calm })].to_vec();
    all.dedup();
    all.join(", or ")
}

/// The flags of the group that were written, under the names they have in `sim`.
fn of_group(given: &[String]) -> Vec<String> {
    let named = |flag: &String| match flag.as_str() {
        "view" => None,
        VIEW_PROB => Some("view".to_owned()),
        other => Some(other.to_owned()),
    };
    given.iter().filter_map(named).collect()
}

/// Refuses flags that do not go with recorded traces.
fn refuse_beside_records(given: &[String]) -> Done {
    match given.iter().find(|flag| !BESIDE_RECORDS.contains(&flag.as_str())) {
        None => Ok(()),
        Some(flag) => Err(Failure::usage(format!(
            "--{flag} has no effect with --from: the files say what ran; leave it out"
        ))),
    }
}

/// When a run ends, if that is planned.
fn end(scenario: &ScenarioFile) -> Option<SimTime> {
    let endless = scenario.plan.horizon == Duration::LONGEST_WRITTEN;
    (!endless).then_some(SimTime::ZERO + scenario.plan.horizon)
}

/// A run, and what its pictures need: nothing more if it was recorded.
pub(in crate::cli) struct Traced {
    pub(in crate::cli) records: Vec<Record>,
    planned: Option<(ScenarioFile, Places)>,
}

impl Traced {
    /// What ran, in a line.
    pub(in crate::cli) fn about(&self) -> &str {
        self.planned.as_ref().map_or("", |(scenario, _)| &scenario.about)
    }

    /// A picture of it.
    pub(in crate::cli) fn draw(&self, view: View, title: Option<&str>) -> Result<String, Failure> {
        let title = title.unwrap_or(self.about()).to_owned();
        let Some((scenario, places)) = &self.planned else {
            if !matches!(view, View::All | View::Time) {
                let line = "--view: records do not say how the processes stand; take all or time";
                return Err(Failure::usage(line));
            }
            return view.draw(&self.records, None, &Options { title, ..Options::default() });
        };
        let arrangement = view.arrange(scenario, scenario.seed, places.clone())?;
        let options = Options { title, until: end(scenario), ..Options::default() };
        view.draw(&self.records, arrangement.as_ref(), &options)
    }
}

impl Trace {
    /// Runs the command; `given` are the flags that were given.
    pub(in crate::cli) fn run(&self, given: &[String]) -> Done {
        let Some(what) = &self.what else {
            return self.show_recorded(given);
        };
        let (scenario, places) = self.planned(what, given)?;
        let seed = scenario.seed;
        let arrangement = match &self.svg {
            Some(path) => {
                file::check_writable(path)?;
                self.view.arrange(&scenario, seed, places)?
            }
            None => None,
        };
        self.show(&scenario.trace(seed), &scenario.about, end(&scenario), arrangement.as_ref())
    }

    /// The run for a program, with what its pictures need.
    pub(in crate::cli) fn answer(&self, given: &[String]) -> Result<Traced, Failure> {
        let Some(what) = &self.what else {
            refuse_beside_records(given)?;
            return Ok(Traced { records: merged(&live::read_all(&self.from)?), planned: None });
        };
        let planned = self.planned(what, given)?;
        let records = planned.0.trace(planned.0.seed);
        Ok(Traced { records, planned: Some(planned) })
    }

    /// The run that was asked for, with its seed.
    fn planned(
        &self,
        what: &ProtocolOrFile,
        given: &[String],
    ) -> Result<(ScenarioFile, Places), Failure> {
        let (mut scenario, places) = match what {
            ProtocolOrFile::File(path) => (target_file::read(path, given, &BESIDE_A_FILE)?, None),
            ProtocolOrFile::Protocol(entry) => {
                let Planned { scenario, places, .. } = self.plan(entry, given)?;
                (scenario, places)
            }
        };
        scenario.seed = self.group.seed.seed.unwrap_or(scenario.seed);
        memory::check(&Load::of_plan(&scenario.choice, &scenario.plan))
            .map_err(|line| what.refused(line))?;
        Ok((scenario, places))
    }

    /// What live members recorded.
    fn show_recorded(&self, given: &[String]) -> Done {
        refuse_beside_records(given)?;
        if let Some(path) = &self.svg {
            file::check_writable(path)?;
        }
        let mut records = merged(&live::read_all(&self.from)?);
        if records.is_empty() {
            let none = "nothing is recorded in these files, so there is nothing to show";
            return Err(Failure::NoAnswer(none.to_owned()));
        }
        if self.format == TextOrJson::Text && self.svg.is_none() {
            show_carried(&mut records);
        }
        self.show(&records, "", None, None)
    }

    fn show(
        &self,
        records: &[Record],
        about: &str,
        until: Option<SimTime>,
        arrangement: Option<&Arrangement>,
    ) -> Done {
        if let Some(path) = &self.svg {
            let title = self.title.clone().unwrap_or_else(|| about.to_owned());
            let options = Options { title, until, ..Options::default() };
            file::write(path, &self.view.draw(records, arrangement, &options)?)?;
        }
        if self.svg.is_none() || self.format == TextOrJson::Json {
            io::stdout().write_all(self.written(records).as_bytes())?;
        }
        Ok(())
    }

    fn written(&self, records: &[Record]) -> String {
        match self.format {
            TextOrJson::Text => trace::transcript(records),
            TextOrJson::Json => {
                let mut text = String::new();
                trace::to_json_lines(records, &mut text);
                text
            }
        }
    }

    /// The run of this protocol that the flags describe; `given` are those that were given.
    pub(in crate::cli) fn plan(
        &self,
        entry: &'static Entry,
        given: &[String],
    ) -> Result<Planned, Failure> {
        let sees = own_flags(entry).iter().any(|flag| flag == "view");
        if given.iter().any(|flag| flag == VIEW_PROB) && !sees {
            return Err(Failure::usage(format!(
                "--{VIEW_PROB} is no flag of {}, but of probabilistic; leave it out",
                entry.name
            )));
        }
        let given = of_group(given);
        let setting = self.group.with(entry, &given)?.few();
        if given.iter().any(|flag| flag == "fail") {
            return Err(Failure::usage(
                "--fail: `trace` plans all faults before the run, and --fail draws them during it; \
                 use --crash-leader, or a scenario file's [[faults]]",
            ));
        }
        let mut faults = Vec::new();
        let node = Who::Leader;
        let wishes = [
            (self.crash_leader, Fault::Crash { node }),
            (self.resign_leader, Fault::Resign { node }),
        ];
        for (at, fault) in wishes {
            faults.extend(at.map(|at| Timed { at, fault }));
        }
        let nodes = setting.nodes();
        let chosen = setting.choice(u64::from(nodes))?;
        let choice = chosen.1.clone();
        let horizon = self.until.unwrap_or_else(|| choice.shown_for());
        if horizon == Duration::MAX {
            return Err(Failure::usage("--until infinite: a trace must end"));
        }
        let experiment = Experiment {
            nodes,
            network: setting.network()?,
            ranks: setting.ranks(&chosen.0),
            drift: setting.drift(&choice),
            initiation: setting.initiation(&choice, horizon)?,
            choice,
            scenario: Scenario::Start,
            window: horizon,
            runs: 1,
            seed: setting.seed(),
            threads: 1,
            engine: Engine::Event,
        };
        // Before anything else, because checking a plan builds one.
        if memory::check(&Load::of_runs(&experiment, false)).is_err() {
            memory::check(&Load::of_trace(&experiment, horizon)).map_err(Failure::Usage)?;
        }
        experiment.check().map_err(Failure::usage)?;
        let run_seed = RunSeed::new(experiment.seed, 0);
        let (mut plan, _) = experiment.plan(run_seed);
        plan.horizon = horizon;
        plan.faults.extend(faults);
        plan.faults.sort_by_key(|timed| timed.at);
        let Experiment { choice, seed, initiation, .. } = experiment;
        let places = initiation.terrain.places(nodes, run_seed, horizon);
        plan.check().map_err(Failure::usage)?;
        let about = format!("{} with {nodes} processes", entry.name);
        let scenario = ScenarioFile::of(about, entry.name.to_owned(), choice, plan, seed);
        Ok(Planned { scenario, config: chosen.0, terrain: initiation.terrain, places })
    }
}
