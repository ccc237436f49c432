//! What the server asks this program: what flags mean, and what only a program can start.

use super::forms;
use super::real_group::RealGroup;
use crate::cli::Command;
use crate::cli::ask::{Caller, ParamValue, Parsed, Question};
use crate::cli::commands::report::collect;
use crate::cli::commands::report::http::{self, Url};
use crate::cli::failure::Failure;
use bellwether::check::account::Piece;
use bellwether::lab::{Asked, Cannot, Demo, Flags, Measured, NODES_MAX, Program, Staged, Tried};
use bellwether::protocols::choice::{Config, Entry, find};
use bellwether::sim::{Experiment, ScenarioFile};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// Answers the server.
#[derive(Debug)]
pub(super) struct Answers {
    dirs: Vec<PathBuf>,
    /// They do not change while the program runs.
    protocols: OnceLock<Value>,
}

impl Answers {
    pub(super) fn new(dirs: Vec<PathBuf>) -> Self {
        Self { dirs, protocols: OnceLock::new() }
    }
}

/// The line of a failure.
fn line(failure: Failure) -> Cannot {
    failure.to_string()
}

/// A command that was not the one that was parsed; no page can cause it.
fn strange() -> Cannot {
    "the flags are those of another command".to_owned()
}

/// Parses what a page asks of this command; `more` are words that no page chooses.
fn parse(
    name: &str,
    asked: Asked<'_>,
    more: &[String],
) -> Result<(&'static Entry, Parsed), Cannot> {
    let Some(entry) = find(asked.protocol) else {
        return Err(format!("no protocol is called '{}'", asked.protocol.escape_debug()));
    };
    let flags = given(asked.flags)?;
    let question = Question { name, what: Some(entry.name), flags: &flags, more };
    Ok((entry, question.parse(Caller::Page)?))
}

/// The words of a page's flags for this command, unparsed.
pub(super) fn spell(name: &str, asked: Asked<'_>) -> Result<String, Cannot> {
    let flags = given(asked.flags)?;
    Question { name, what: Some(asked.protocol), flags: &flags, more: &[] }.spell(Caller::Page)
}

/// What `sim` makes of a protocol without any flag.
pub(super) fn usual(entry: &'static Entry) -> Result<(Config, Experiment), Cannot> {
    let (_, parsed) = parse("sim", Asked { protocol: entry.name, flags: &Flags::new() }, &[])?;
    let Parsed { command: Command::Sim(sim), .. } = parsed else { return Err(strange()) };
    sim.asked(entry, &[]).map_err(line)
}

/// Flags of a page, without those that it leaves out.
fn given(flags: &Flags) -> Result<Vec<(String, ParamValue)>, Cannot> {
    let text = |name: &str, value: &Value| match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err(format!("--{}: a value is a text, a number, true or false", name.escape_debug())),
    };
    let mut given = Vec::new();
    for (name, value) in flags.iter().filter(|(_, value)| !value.is_null()) {
        let value = match value {
            Value::Bool(true) => ParamValue::On,
            Value::Bool(false) => ParamValue::Off,
            Value::Array(values) => {
                let texts: Result<_, Cannot> = values.iter().map(|one| text(name, one)).collect();
                ParamValue::Several(texts?)
            }
            one => ParamValue::Text(text(name, one)?),
        };
        given.push((name.clone(), value));
    }
    Ok(given)
}

impl Program for Answers {
    fn protocols(&self) -> Value {
        self.protocols.get_or_init(forms::protocols).clone()
    }

    fn stage(&self, asked: Asked<'_>) -> Result<Staged, Cannot> {
        // Where the usual group has no room on a stage, a smaller one is shown.
        let usual = find(asked.protocol).map(|entry| entry.family.usual().nodes_shown);
        let too_many = usual.is_some_and(|nodes| nodes > NODES_MAX);
        let chosen = asked.flags.get("nodes").is_some_and(|nodes| !nodes.is_null());
        let fewer = format!("--nodes={}", forms::FEWER);
        let more = if too_many && !chosen { vec![fewer] } else { Vec::new() };
        let (entry, parsed) = parse("trace", asked, &more)?;
        let given = parsed.given();
        let Parsed { command: Command::Trace(trace), text, .. } = parsed else {
            return Err(strange());
        };
        let planned = trace.plan(entry, &given).map_err(line)?;
        let scenario = &planned.scenario;
        let toml = ScenarioFile::write(
            &scenario.about,
            entry.name,
            &planned.config,
            &scenario.plan,
            scenario.seed,
        );
        let toml = toml.map_err(|bad| bad.to_string())?;
        Ok(Staged { toml, terrain: planned.terrain, command: text })
    }

    fn measure(&self, asked: Asked<'_>, runs: u64) -> Result<Measured, Cannot> {
        let (entry, parsed) = parse("sim", asked, &[format!("--runs={runs}")])?;
        let given = parsed.given();
        let Parsed { command: Command::Sim(sim), text, .. } = parsed else {
            return Err(strange());
        };
        let (config, experiment) = sim.asked(entry, &given).map_err(line)?;
        Ok(Measured { experiment, command: text, config })
    }

    fn trial(&self, asked: Asked<'_>, promise: Option<&str>) -> Result<Tried, Cannot> {
        let promise: Vec<String> =
            promise.map(|promise| format!("--promise={promise}")).into_iter().collect();
        let (entry, parsed) = parse("check", asked, &promise)?;
        let given = parsed.given();
        let Parsed { command: Command::Check(check), text, .. } = parsed else {
            return Err(strange());
        };
        let tried = check.tried(entry, &given).map_err(line)?;
        Ok(Tried { trial: tried.trial, choice: tried.choice, config: tried.config, command: text })
    }

    fn dirs(&self) -> Vec<PathBuf> {
        self.dirs.clone()
    }

    fn remote_status(&self, url: &str) -> Result<Value, Cannot> {
        http::status(&url.parse::<Url>()?)
    }

    fn remote_past(&self, url: &str) -> Result<Piece, Cannot> {
        collect::remote(&url.parse::<Url>()?, None)
    }

    fn demo(&self) -> Result<Arc<dyn Demo>, Cannot> {
        Ok(Arc::new(RealGroup::start().map_err(line)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn text(protocol: &str, flags: Value) -> Result<String, Cannot> {
        let Value::Object(flags) = flags else { panic!("{flags}") };
        let asked = Asked { protocol, flags: &flags };
        parse("trace", asked, &["--seed=7".to_owned()]).map(|(_, parsed)| parsed.text)
    }

    #[test]
    fn flags_of_a_page_are_the_words_that_somebody_would_write() {
        let flags = json!({ "nodes": 8, "loss": ".3", "bye": true, "leaders": null });
        let expected = "bellwether trace le-s --nodes 8 --loss .3 --bye --seed 7";
        assert_eq!(text("le-s", flags), Ok(expected.to_owned()));
        let flags = json!({ "nodes": "3", "link": ["0-1", "1-2"] });
        let expected = "bellwether trace ad-hoc --nodes 3 --link 0-1 --link 1-2 --seed 7";
        assert_eq!(text("ad-hoc", flags), Ok(expected.to_owned()));
        let expected = "bellwether trace le-s --seed 7";
        assert_eq!(text("le-s", json!({ "bye": false })), Ok(expected.to_owned()));
    }

    #[test]
    fn what_is_no_value_is_refused() {
        let line = text("le-x", json!({})).unwrap_err();
        assert_eq!(line, "no protocol is called 'le-x'");
        for value in [json!({}), json!([[]]), json!([null])] {
            let line = text("le-s", json!({ "nodes": value })).unwrap_err();
            assert!(line.starts_with("--nodes: a value is a text"), "{line}");
        }
    }
}
