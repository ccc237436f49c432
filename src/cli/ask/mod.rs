//! What the commands compute, for those who ask in place of a person: the pages of the laboratory
//! and the Python package.
//!
//! **Source.** The command line itself. Parameters become its words, which its own parser reads and
//! its own code answers, so that a name, a default, a rule and a result are those of the command.
//!
//! **Assumptions.** The caller has a thread for each question, since an answer may take long.
//!
//! **Promise.** Nothing is printed, no file is written unless a member is told to, and no signal is
//! caught. What is refused is said in one line that names the parameters as the caller does.
//!
//! | file | what it holds |
//! |---|---|
//! | `words` | parameters as words of a command line |
//! | `offered` | the parameters that there are, with their help |
//! | `refused` | refusals in the names of a program |

mod offered;
mod refused;
mod words;

pub use crate::cli::output::progress::Follower;
pub use offered::offered;
pub use refused::{Refused, Why};
pub use words::ParamValue;

pub(in crate::cli) use offered::{Offered, offered_by};
pub(in crate::cli) use words::{Caller, Parsed, Question};

use crate::cli::Command;
use crate::cli::commands::{analyze, protocols, trace};
use crate::cli::output::progress;
use crate::cli::output::view::View;
use bellwether::core::Record;
use bellwether::net::Builder;
use bellwether::sim::Samples;
use clap::ValueEnum as _;
use serde_json::Value;
use std::sync::Arc;

/// Parameters by name, and their values.
pub type Parameters<'a> = &'a [(String, ParamValue)];

/// Asks on this thread; the follower is told how far the work is, and may end it.
pub fn follow<T>(follower: Arc<dyn Follower>, ask: impl FnOnce() -> T) -> T {
    progress::follow(follower, ask)
}

/// Parses what a program asks of this command.
fn parse(name: &str, what: Option<&str>, parameters: Parameters<'_>) -> Result<Parsed, Refused> {
    let flag = |(name, value): &(String, ParamValue)| (name.replace('_', "-"), value.clone());
    let flags: Vec<(String, ParamValue)> = parameters.iter().map(flag).collect();
    let question = Question { name, what, flags: &flags, more: &[] };
    question.parse(Caller::Program).map_err(|line| Refused::parameter_line(&line))
}

/// What `sim` finds: its JSON, and the values of every run.
///
/// # Errors
/// [`Refused`].
pub fn simulate(what: &str, parameters: Parameters<'_>) -> Result<(Value, Samples), Refused> {
    let parsed = parse("sim", Some(what), parameters)?;
    let given = parsed.given();
    let Command::Sim(sim) = parsed.command else { return Err(Refused::strange()) };
    Ok(sim.answer(&given)?)
}

/// What `sim --rare` finds: its JSON.
///
/// # Errors
/// [`Refused`].
pub fn estimate(what: &str, parameters: Parameters<'_>) -> Result<Value, Refused> {
    let parsed = parse("sim", Some(what), parameters)?;
    let given = parsed.given();
    let Command::Sim(sim) = parsed.command else { return Err(Refused::strange()) };
    Ok(sim.estimate(&given)?)
}

/// What is swept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Swept {
    /// What this file describes.
    File(String),
    /// What these keys of such a file describe, as JSON.
    Keys(String),
}

/// The rows of `sweep`: an array of objects, with all columns.
///
/// # Errors
/// [`Refused`].
pub fn sweep(what: &Swept, parameters: Parameters<'_>) -> Result<Value, Refused> {
    let (file, keys) = match what {
        Swept::File(path) => (path.as_str(), None),
        Swept::Keys(keys) => ("sweep.toml", Some(keys.as_str())),
    };
    let Parsed { command, .. } = parse("sweep", Some(file), parameters)?;
    let Command::Sweep(sweep) = command else { return Err(Refused::strange()) };
    Ok(sweep.answer(keys)?)
}

/// What `check` finds: its JSON, in which a violation has its scenario and its picture as texts.
///
/// # Errors
/// [`Refused`].
pub fn check(protocol: &str, parameters: Parameters<'_>) -> Result<Value, Refused> {
    let Parsed { command, written, .. } = parse("check", Some(protocol), parameters)?;
    let Command::Check(check) = command else { return Err(Refused::strange()) };
    Ok(check.answer(&written)?)
}

/// What `analyze` finds: its JSON.
///
/// # Errors
/// [`Refused`].
pub fn analyze(quantity: &str, parameters: Parameters<'_>) -> Result<Value, Refused> {
    let parsed = parse("analyze", Some(quantity), parameters)?;
    let given = parsed.given();
    let Command::Analyze(analyze) = parsed.command else { return Err(Refused::strange()) };
    Ok(analyze.answer(&given)?)
}

/// What `plan` finds: its JSON.
///
/// # Errors
/// [`Refused`].
pub fn plan(protocol: &str, parameters: Parameters<'_>) -> Result<Value, Refused> {
    let Parsed { command, .. } = parse("plan", Some(protocol), parameters)?;
    let Command::Plan(plan) = command else { return Err(Refused::strange()) };
    Ok(plan.answer()?)
}

/// A run, simulated or recorded.
pub struct Trace(trace::Traced);

impl Trace {
    /// What happened.
    pub fn records(&self) -> &[Record] {
        &self.0.records
    }

    /// What ran, in a line; nothing if it was recorded.
    pub fn about(&self) -> &str {
        self.0.about()
    }

    /// A picture of it: `all`, `time`, `ring` or `graph`.
    ///
    /// # Errors
    /// [`Refused`] if there is no such view of it.
    pub fn svg(&self, view: &str, title: Option<&str>) -> Result<String, Refused> {
        let known = View::from_str(view, false).map_err(|_| Refused::view(view))?;
        Ok(self.0.draw(known, title)?)
    }
}

/// What `trace` shows: a protocol or a scenario file, or what live members recorded (`from`).
///
/// # Errors
/// [`Refused`].
pub fn trace(what: Option<&str>, parameters: Parameters<'_>) -> Result<Trace, Refused> {
    let parsed = parse("trace", what, parameters)?;
    let given = parsed.given();
    let Command::Trace(trace) = parsed.command else { return Err(Refused::strange()) };
    Ok(Trace(trace.answer(&given)?))
}

/// The member that `run` would start, without a command. Neither a file nor the environment is
/// read, and without a directory nothing is stored.
///
/// # Errors
/// [`Refused`].
pub fn member(group: &str, parameters: Parameters<'_>) -> Result<Builder, Refused> {
    let Parsed { command, written, .. } = parse("run", Some(group), parameters)?;
    let Command::Run(run) = command else { return Err(Refused::strange()) };
    Ok(run.embedded(&written)?)
}

/// All protocols: name, promise, summary and source of each.
pub fn protocols() -> Value {
    protocols::protocols().to_json()
}

/// All quantities of `analyze`: name, section, unit, what it is and what it depends on.
pub fn quantities() -> Value {
    analyze::listed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn given(pairs: &[(&str, &str)]) -> Vec<(String, ParamValue)> {
        let text =
            |(name, text): &(&str, &str)| ((*name).to_owned(), ParamValue::Text((*text).into()));
        pairs.iter().map(text).collect()
    }

    #[test]
    fn a_program_gets_what_the_command_prints_and_the_values_of_every_run() {
        let few = given(&[("nodes", "10"), ("runs", "20"), ("loss", "0.4")]);
        let (result, samples) = simulate("le-s", &few).unwrap();
        assert_eq!((&result["runs"], &result["params"]["loss"]), (&json!(20), &json!(0.4)));
        assert_eq!(samples.runs.len(), 20);
        let at = samples.measures.iter().position(|it| it.name() == "leadership_delay").unwrap();
        let sum: f64 = samples.runs.iter().map(|run| run.values[at].unwrap()).sum();
        let mean = result["metrics"]["leadership_delay"]["mean"].as_f64().unwrap();
        assert!((mean - sum / 20.0).abs() < 1e-12, "{mean} of {sum}");
    }

    #[test]
    fn a_rare_event_has_an_estimate_and_no_runs() {
        let rare = ("rare", "false-departure");
        let few = [("nodes", "2"), ("loss", "0.1"), ("listen", "4.5s"), ("window", "20s"), rare];
        let few = given(&[&few[..], &[("effort", "20"), ("replications", "3")]].concat());
        let found = estimate("le-s", &few).unwrap();
        assert_eq!(found["replications"].as_array().map(Vec::len), Some(3), "{found}");
        assert_eq!(simulate("le-s", &few).unwrap_err().parameter(), Some("rare"));
        let refused = estimate("le-s", &given(&[("nodes", "2")])).unwrap_err();
        assert_eq!(refused.parameter(), Some("rare"), "{refused:?}");
        let endless = given(&[("nodes", "2"), ("loss", "0.1"), rare]);
        let line = estimate("le-s", &endless).unwrap_err().line;
        assert!(line.contains("choose a finite listen"), "{line}");
    }

    #[test]
    fn a_sweep_of_keys_has_the_rows_of_a_file_with_them() {
        let keys = json!({
            "sim": "le-s", "runs": 20, "measures": ["messages"], "fixed": {"nodes": 5},
            "axis": [{"loss": [0.1, 0.3]}, {"suppress": {"from": "1s", "to": "2s", "count": 2}}],
        });
        let rows = sweep(&Swept::Keys(keys.to_string()), &[]).unwrap();
        let file = "sim = \"le-s\"\nruns = 20\nmeasures = [\"messages\"]\n[fixed]\nnodes = 5\n\
            [[axis]]\nloss = [0.1, 0.3]\n\
            [[axis]]\nsuppress = { from = \"1s\", to = \"2s\", count = 2 }\n";
        let path = std::env::temp_dir().join(format!("bellwether-ask-{}.toml", std::process::id()));
        std::fs::write(&path, file).unwrap();
        let read = sweep(&Swept::File(path.display().to_string()), &[]).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(rows, read);
        assert_eq!((rows.as_array().unwrap().len(), &rows[3]["loss"]), (4, &json!(0.3)));
        let refused = sweep(&Swept::Keys("{\"sim\": \"le-x\"}".to_owned()), &[]).unwrap_err();
        assert_eq!(refused.why, Why::Parameter, "{refused:?}");
        let shard = given(&[("shard", "1/2")]);
        let refused = sweep(&Swept::Keys(keys.to_string()), &shard).unwrap_err();
        assert!(refused.line.contains("not for a program"), "{refused:?}");
    }

    #[test]
    fn a_violation_has_its_scenario_and_its_picture_in_it() {
        let (promise, few) = (("promise", "never-two"), ("schedules", "64"));
        let result = check("le-s", &given(&[promise, few])).unwrap();
        assert_eq!(result["verdict"], "violated");
        let found = &result["violations"][0];
        assert!(found["scenario"].as_str().unwrap().contains("protocol = \"le-s\""), "{found}");
        assert!(found["diagram"].as_str().unwrap().starts_with("<svg"), "{found}");
    }

    #[test]
    fn a_run_is_drawn_from_each_side_that_it_has() {
        let run = trace(Some("chang-roberts"), &given(&[("nodes", "4")])).unwrap();
        assert!(run.records().len() > 8 && run.about() == "chang-roberts with 4 processes");
        for view in ["all", "time", "ring"] {
            assert!(run.svg(view, Some("a title")).unwrap().contains("a title"), "{view}");
        }
        let refused = run.svg("graph", None).unwrap_err();
        assert_eq!(refused.parameter(), Some("view"), "{refused:?}");
        assert!(run.svg("side", None).unwrap_err().line.contains("all, time, ring, graph"));
    }

    #[test]
    fn a_member_is_told_what_its_command_would_be() {
        let peers = ("peers", "1=127.0.0.1:7401,2=127.0.0.1:7402");
        let mut all = given(&[peers, ("id", "1"), ("lease", "1s")]);
        all.push(("insecure".to_owned(), ParamValue::On));
        let rules = member("web", &all).unwrap().check().unwrap();
        assert!(rules.iter().any(|rule| rule.text.contains("this is member 1")), "{rules:?}");
        let refused = member("web", &given(&[peers, ("lock", "1s"), ("lease", "1s")])).unwrap_err();
        assert!(refused.line.starts_with("lease 1s sets all times"), "{refused:?}");
    }
}
