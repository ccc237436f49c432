//! Which run a request means: a protocol with flags, a scenario, or the text of a scenario file;
//! and the faults that somebody added to it.
//!
//! **Promise.** Whatever the form, the run is read by the reader of scenario files, so what is
//! refused is refused with its words. Equal requests mean the same run, byte for byte.

use crate::program::{Asked, Flags, Program};
use crate::stage::{NODES_MAX, check_size};
use bellwether_core::Duration;
use bellwether_protocols::choice::find;
use bellwether_sim::{ScenarioFile, Terrain};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use toml::Table;

/// The run that a request means.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunRequest {
    #[serde(default)]
    protocol: Option<String>,
    #[serde(default)]
    flags: Flags,
    #[serde(default)]
    scenario: Option<Value>,
    #[serde(default)]
    toml: Option<String>,
    /// A number, or its digits: the numbers of a page are exact up to 2^53 only.
    #[serde(default)]
    seed: Option<Seed>,
    /// The promise to judge the run by, instead of that of a file or the protocol's own.
    #[serde(default)]
    promise: Option<String>,
    #[serde(default)]
    faults: Vec<Value>,
    /// What a reader is told, in place of the captions of a file.
    #[serde(default)]
    captions: Option<Vec<Value>>,
    /// What the run comes to, in place of what a file states; null if it states nothing.
    #[serde(default, deserialize_with = "given")]
    outcome: Option<Value>,
    /// Of a picture: what it shows, above it, and how wide it is.
    #[serde(default)]
    pub(crate) view: Option<String>,
    #[serde(default)]
    pub(crate) title: Option<String>,
    #[serde(default)]
    pub(crate) width: Option<u32>,
}

/// A seed, as a number or as its digits.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Seed {
    Number(u64),
    Digits(String),
}

impl Seed {
    /// As a file has it.
    fn to_toml(&self) -> Result<i64, String> {
        let seed = match self {
            Self::Number(seed) => i64::try_from(*seed).map_err(|_| seed.to_string()),
            Self::Digits(text) => text.parse().map_err(|_| text.escape_debug().to_string()),
        };
        let seed = seed.and_then(|seed| if seed < 0 { Err(seed.to_string()) } else { Ok(seed) });
        seed.map_err(|seed| format!("seed = {seed}, but a seed is a number up to {}", i64::MAX))
    }
}

/// A run, ready to be made.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    pub(crate) scenario: ScenarioFile,
    pub(crate) terrain: Terrain,
    /// The scenario file, as the library writes it.
    pub(crate) toml: String,
    /// The command that shows the same run, if no file is needed for it.
    command: Option<String>,
}

impl RunRequest {
    /// Of the text of a scenario file.
    pub(crate) fn of_toml(text: &str) -> Self {
        Self { toml: Some(text.to_owned()), ..Self::default() }
    }

    /// Reads the run.
    pub(crate) fn choose(&self, program: &dyn Program) -> Result<Chosen, String> {
        let (text, terrain, command) = self.text(program)?;
        // Before it is parsed, because checking a plan builds one.
        let nodes: Option<Table> = text.parse().ok();
        check_most(nodes.and_then(|table| table.get("nodes")?.as_integer()))?;
        let changed = self.seed.is_some() || !self.faults.is_empty();
        let told = self.captions.is_some() || self.outcome.is_some() || self.promise.is_some();
        let (text, added) = if changed || told { self.changed(&text)? } else { (text, Vec::new()) };
        let scenario = ScenarioFile::parse_added(&text, &added).map_err(|bad| bad.to_string())?;
        let table: Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
        let none = toml::Value::Table(Table::new());
        let params = table.get("params").unwrap_or(&none);
        let toml = scenario.to_toml(params).map_err(|bad| bad.to_string())?;
        Ok(Chosen { scenario, terrain, toml, command: command.filter(|_| !changed) })
    }

    /// The scenario file before anything is added, where its processes are, and the command.
    fn text(&self, program: &dyn Program) -> Result<(String, Terrain, Option<String>), String> {
        match (&self.protocol, &self.scenario, &self.toml) {
            (Some(protocol), None, None) => {
                if find(protocol).is_none() {
                    return Err(format!("no protocol is called '{protocol}'"));
                }
                let nodes = self.flags.get("nodes");
                let digits = nodes.and_then(|nodes| nodes.as_str()?.parse().ok());
                check_most(digits.or_else(|| nodes?.as_i64()))?;
                let staged = program.stage(Asked { protocol, flags: &self.flags })?;
                Ok((staged.toml, staged.terrain, Some(staged.command)))
            }
            (None, Some(scenario), None) if self.flags.is_empty() => {
                let table = toml::Value::try_from(without_nulls(scenario.clone()))
                    .map_err(|error| format!("the scenario cannot be written: {error}"))?;
                let text = toml::to_string(&table)
                    .map_err(|error| format!("the scenario cannot be written: {error}"))?;
                Ok((text, Terrain::Open, None))
            }
            (None, None, Some(text)) if self.flags.is_empty() => {
                Ok((text.clone(), Terrain::Open, None))
            }
            _ => Err("say which run: `protocol` with `flags`, or `scenario`, or `toml`; one of \
                      them, and flags with a protocol alone"
                .to_owned()),
        }
    }

    /// The file with another seed, with more faults, with other words for its reader, and judged
    /// by another promise; and for each fault how many were there before it was added.
    fn changed(&self, text: &str) -> Result<(String, Vec<usize>), String> {
        // The reader of scenario files names the place of what is wrong.
        ScenarioFile::parse(text).map_err(|bad| bad.to_string())?;
        let mut table: Table = text.parse().map_err(|error: toml::de::Error| error.to_string())?;
        if let Some(seed) = &self.seed {
            table.insert("seed".to_owned(), toml::Value::Integer(seed.to_toml()?));
        }
        let mut faults = match table.remove("faults") {
            Some(toml::Value::Array(faults)) => faults,
            _ => Vec::new(),
        };
        let own = faults.len();
        for fault in &self.faults {
            let fault = toml::Value::try_from(without_nulls(fault.clone()))
                .map_err(|error| format!("a fault cannot be written: {error}"))?;
            faults.push(fault);
        }
        let mut timed = Vec::new();
        for (number, fault) in faults.into_iter().enumerate() {
            let at = fault.get("at").cloned();
            let at: Option<Duration> = at.and_then(|at| at.try_into().ok());
            let at = at.ok_or("a fault has no time: give it `at`, such as \"1.5s\"")?;
            // Those of the file were there together.
            timed.push((at, if number < own { 0 } else { number }, fault));
        }
        // A stable sort: at the same time, what was added comes last.
        timed.sort_by_key(|(at, ..)| *at);
        let (added, faults): (Vec<_>, Vec<_>) =
            timed.into_iter().map(|(_, added, fault)| (added, fault)).unzip();
        if !faults.is_empty() {
            table.insert("faults".to_owned(), toml::Value::Array(faults));
        }
        if let Some(promise) = &self.promise {
            table.insert("promise".to_owned(), toml::Value::String(promise.clone()));
        }
        if let Some(captions) = &self.captions {
            put(&mut table, "caption", Value::Array(captions.clone()))?;
        }
        if let Some(outcome) = &self.outcome {
            put(&mut table, "outcome", outcome.clone())?;
        }
        let text = toml::to_string(&table);
        let text = text.map_err(|error| format!("the run cannot be written: {error}"))?;
        Ok((text, added))
    }
}

/// Writes a key of a file, or leaves it out if there is nothing to be said.
fn put(table: &mut Table, key: &str, value: Value) -> Result<(), String> {
    table.remove(key);
    if value.is_null() || value.as_array().is_some_and(Vec::is_empty) {
        return Ok(());
    }
    let value = toml::Value::try_from(without_nulls(value))
        .map_err(|error| format!("{key} cannot be written: {error}"))?;
    table.insert(key.to_owned(), value);
    Ok(())
}

/// A value that was given, also if it is null.
fn given<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(from).map(Some)
}

/// Refuses a group that is too large for the stage before anything is built for it.
fn check_most(nodes: Option<i64>) -> Result<(), String> {
    match nodes.map(|nodes| u32::try_from(nodes).unwrap_or(u32::MAX)) {
        Some(nodes) if nodes > NODES_MAX => check_size(nodes),
        _ => Ok(()),
    }
}

impl Chosen {
    /// The name of a file for it: the one that the command reads, and that a page saves.
    pub(crate) fn file(&self) -> String {
        format!("{}-{}.toml", self.scenario.protocol, self.scenario.seed)
    }

    /// The command that shows the same run; unless flags say it all, it reads the file.
    pub(crate) fn command(&self) -> String {
        match &self.command {
            Some(command) => command.clone(),
            None => format!("bellwether trace {}", self.file()),
        }
    }

    /// The scenario as JSON.
    pub(crate) fn to_json(&self) -> Value {
        let table: Option<Table> = self.toml.parse().ok();
        serde_json::to_value(table).unwrap_or_default()
    }
}

/// The same without what is null, which files cannot say.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(key, value)| (key, without_nulls(value))).collect())
        }
        Value::Array(list) => {
            Value::Array(list.into_iter().filter(|it| !it.is_null()).map(without_nulls).collect())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_fault_is_added_before_one_that_it_makes_idle() {
        let text = "protocol = 'le-s'\nnodes = 3\nuntil = '5s'\n\
                    [[faults]]\nat = 2\nwhat = 'crash'\nnode = 1\n";
        let times = |faults: &[Value]| -> Result<Vec<Duration>, String> {
            let request = RunRequest { faults: faults.to_vec(), ..RunRequest::of_toml(text) };
            let (text, added) = request.changed(text)?;
            let read = ScenarioFile::parse_added(&text, &added).map_err(|bad| bad.to_string())?;
            Ok(read.plan.faults.iter().map(|timed| timed.at).collect())
        };
        let crash = |node: u32, at: &str| json!({ "what": "crash", "node": node, "at": at });
        let [one, two, four] = [1, 2, 4].map(Duration::from_secs);
        assert_eq!(times(&[crash(1, "1s")]), Ok(vec![one]), "one of the file");
        let added = [crash(0, "4s"), crash(0, "1s")];
        assert_eq!(times(&added), Ok(vec![one, two]), "one of the request");
        assert_eq!(times(&added[..1]), Ok(vec![two, four]));
        let told = times(&[crash(1, "4s")]).unwrap_err();
        assert!(told.contains("process 1 is stopped already"), "{told}");
    }
}
