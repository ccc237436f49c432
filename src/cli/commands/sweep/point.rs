//! Asks `sim`, `analyze` or `check` what a point is: its values become flags, which the command
//! reads with the same description of parameters and the same errors as if somebody had typed them.

use crate::cli::commands::analyze::Forms;
use crate::cli::failure::{Failure, line_of};
use crate::cli::{Bellwether, Command, command, written};
use bellwether::analysis::sweep::axes::Setting;
use bellwether::analysis::sweep::looks::Rule;
use bellwether::analysis::sweep::work::{Estimated, Make, Task};
use bellwether::analysis::sweep::{Asks, At, Sweep, seed_of};
use bellwether::check::{Fuzz, Trial};
use bellwether::protocols::choice::Choice;
use bellwether::sim::part::BROKEN;
use bellwether::sim::rare::{Rare, measures as of_estimates};
use bellwether::sim::{Measure, Part};
use clap::FromArgMatches;
use serde_json::Value;
use std::ops::Range;
use std::sync::Arc;

/// A point, and what is asked there.
pub(super) struct Asked {
    /// Of what, and the flags of the axes.
    pub(super) at: At,
    /// The command that asks for it, without the number of runs.
    pub(super) command: String,
    /// The seed of its runs.
    pub(super) seed: u64,
    /// What formulas give: a name and a value.
    pub(super) forms: Vec<(&'static str, f64)>,
    /// What is simulated.
    pub(super) task: Option<Task>,
}

/// Reads points as their command does. The description of all flags is made once.
pub(super) struct Asker<'a> {
    sweep: &'a Sweep,
    command: clap::Command,
}

impl<'a> Asker<'a> {
    pub(super) fn new(sweep: &'a Sweep) -> Result<Self, Failure> {
        let of = sweep.rule.iter().filter_map(|rule| rule.narrow.as_ref());
        let known = known_measures(sweep);
        for name in sweep.measures.iter().chain(of.flat_map(|narrow| &narrow.of)) {
            let of_kind = sweep.asks == Asks::Sim && !sweep.is_rare();
            let named = name.strip_prefix("messages_").is_some_and(|kind| !kind.is_empty());
            let of_kind = of_kind && named;
            if !known.contains(name) && !of_kind {
                let known = known.join(", ");
                return Err(Failure::Config(format!("no measure is called {name}; {known}")));
            }
        }
        let mut command = command();
        command.build();
        Ok(Self { sweep, command })
    }

    pub(super) fn ask(&mut self, at: &At) -> Result<Asked, Failure> {
        let settings: Vec<Setting> = self.sweep.fixed.iter().chain(&at.settings).cloned().collect();
        let words = self.words(&at.target, &settings)?;
        let typed = words.join(" ");
        let refused = |why: &dyn std::fmt::Display| Failure::Config(format!("{typed}: {why}"));
        let matches = self.command.try_get_matches_from_mut(&words);
        let matches = matches.map_err(|error| refused(&line_of(&error)))?;
        let parsed = Bellwether::from_arg_matches(&matches);
        let parsed = parsed.map_err(|error| refused(&line_of(&error)))?;
        let given: Vec<String> =
            written(&self.command, &matches).into_iter().map(|(flag, _)| flag).collect();
        let own = settings.iter().find(|(name, _)| name == "seed");
        let seed = match own.map(|(_, value)| text(value).parse::<u64>()) {
            Some(Ok(seed)) => seed,
            Some(Err(_)) => return Err(refused(&"a seed is a whole number")),
            None => seed_of(self.sweep.seed, &typed),
        };
        let with_seed = match own {
            Some(_) => typed.clone(),
            None => format!("{typed} --seed {seed}"),
        };
        let mut asked =
            Asked { at: at.clone(), command: with_seed, seed, forms: Vec::new(), task: None };
        match parsed.command {
            Command::Sim(sim) => {
                let mut experiment = sim.of_flags(&given).map_err(|why| refused(&why))?;
                experiment.seed = seed;
                let make: Arc<dyn Make> = match sim.rare_of(&given).map_err(|why| refused(&why))? {
                    None => Arc::new(experiment),
                    Some(rare) => {
                        let rare = Rare { replications: self.replications(), ..rare };
                        Arc::new(Estimated { experiment, rare })
                    }
                };
                asked.task = Some(self.task(&asked, make));
            }
            Command::Check(check) => {
                let tried = check.of_flags(&given).map_err(|why| refused(&why))?;
                let trial = Trial { seed, ..tried.trial };
                let make = Arc::new(Judged { trial, choice: tried.choice });
                asked.task = Some(self.task(&asked, make));
            }
            Command::Analyze(analyze) => {
                let forms = analyze.asked(&given).map_err(|why| refused(&why))?;
                self.analyse(forms, &mut asked).map_err(|why| refused(&why))?;
            }
            _ => return Err(refused(&"only sim, analyze and check have points")),
        }
        Ok(asked)
    }

    fn task(&self, asked: &Asked, make: Arc<dyn Make>) -> Task {
        Task { command: asked.command.clone(), make, measures: self.sweep.measures.clone() }
    }

    /// How many replications a rare event gets.
    fn replications(&self) -> u32 {
        let most = self.sweep.rule.as_ref().map_or(0, Rule::most);
        u32::try_from(most).unwrap_or(u32::MAX)
    }

    /// What formulas give, and the simulation of the same.
    fn analyse(&self, forms: Forms, asked: &mut Asked) -> Result<(), Failure> {
        let Forms { quantity, printed, corrected, simulation } = forms;
        let values = [("printed", printed), ("corrected", corrected)];
        asked.forms = values.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        if let (Some((point, measure)), Some(rule)) = (simulation, &self.sweep.rule) {
            let point = point.runs(rule.most()).seed(asked.seed);
            let experiment = point.experiment(1).map_err(Failure::usage)?;
            experiment.check().map_err(Failure::usage)?;
            let (command, measures) = (asked.command.clone(), vec![measure.name()]);
            asked.task = Some(Task { command, make: Arc::new(experiment), measures });
        }
        if asked.forms.is_empty() && asked.task.is_none() {
            let line = format!("{} has no value there, and nothing simulates it", quantity.name);
            return Err(Failure::usage(line));
        }
        Ok(())
    }

    /// The command as it would be typed.
    fn words(&self, target: &str, settings: &[Setting]) -> Result<Vec<String>, Failure> {
        let name = self.sweep.asks.name();
        let mut words = vec!["bellwether".to_owned(), name.to_owned(), target.to_owned()];
        let Some(command) = self.command.find_subcommand(name) else {
            return Err(Failure::usage(format!("there is no command {name}")));
        };
        for (flag, value) in settings {
            let known = command.get_arguments().find(|known| known.get_long() == Some(flag));
            let Some(known) = known else {
                let near = command.get_arguments().filter_map(clap::Arg::get_long);
                let near = near.max_by(|a, b| {
                    strsim::jaro_winkler(a, flag).total_cmp(&strsim::jaro_winkler(b, flag))
                });
                let near = near.unwrap_or_default();
                let rule = format!("{flag}: {name} has no flag --{flag}; did you mean {near}?");
                return Err(Failure::Config(rule));
            };
            let several = matches!(known.get_action(), clap::ArgAction::Append);
            match (known.get_action().takes_values(), value) {
                (true, Value::Array(all)) if several => {
                    words.extend(all.iter().flat_map(|one| [format!("--{flag}"), text(one)]));
                }
                (true, Value::Array(_)) => {
                    let rule = format!("{flag}: --{flag} is given once; give it one value a point");
                    return Err(Failure::Config(rule));
                }
                (true, value) => words.extend([format!("--{flag}"), text(value)]),
                (false, Value::Bool(true)) => words.push(format!("--{flag}")),
                (false, Value::Bool(false)) => {}
                (false, _) => {
                    let rule = format!("{flag}: --{flag} is a switch; give it true or false");
                    return Err(Failure::Config(rule));
                }
            }
        }
        Ok(words)
    }
}

/// The measures that rows may be made of.
fn known_measures(sweep: &Sweep) -> Vec<String> {
    match sweep.asks {
        Asks::Check => JUDGED.map(str::to_owned).to_vec(),
        Asks::Sim if sweep.is_rare() => of_estimates().map(str::to_owned).to_vec(),
        Asks::Sim | Asks::Analyze => Measure::ALL.iter().map(|measure| measure.name()).collect(),
    }
}

/// What is known of each schedule of faults.
const JUDGED: [&str; 4] = [BROKEN, "elections", "leaderless_seconds", "simulated_seconds"];

/// Schedules of faults, each of which is a run.
struct Judged {
    trial: Trial,
    choice: Choice,
}

impl Make for Judged {
    fn make(
        &self,
        runs: Range<u64>,
        threads: usize,
        over: &(dyn Fn() -> bool + Sync),
    ) -> Result<Part, String> {
        let fuzz = Fuzz { trial: &self.trial, numbers: runs, threads, progress: &|| () };
        let verdicts = fuzz.verdicts(self.choice.clone(), over).map_err(|why| why.to_string())?;
        let seconds = |nanos: u128| nanos as f64 / 1e9;
        let values = verdicts.iter().flat_map(|verdict| {
            let broken = f64::from(u8::from(verdict.breach.is_some()));
            let tally = &verdict.tally;
            let times = [tally.leaderless, tally.simulated].map(seconds);
            [broken, tally.elections as f64, times[0], times[1]]
        });
        Ok(Part {
            measures: JUDGED.map(str::to_owned).to_vec(),
            values: values.collect(),
            settled: vec![true; verdicts.len()],
        })
    }
}

/// A value as it would be typed; several, as a row and a picture name them.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(all) => all.iter().map(text).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

/// What the target of a command is called in rows.
pub(super) fn target_column(asks: Asks) -> &'static str {
    match asks {
        Asks::Sim | Asks::Check => "protocol",
        Asks::Analyze => "quantity",
    }
}
