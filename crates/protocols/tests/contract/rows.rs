//! Every protocol of the table, with its defaults and with every setting here that it knows.

use bellwether_protocols::choice::{Choice, PROTOCOLS};
use std::fmt;

/// A protocol and its parameters.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) setting: &'static str,
    pub(crate) choice: Choice,
}

impl Row {
    /// Whether processes compare readings of different clocks, which must then agree.
    pub(crate) fn compares_clocks(&self) -> bool {
        self.name == "merea" || self.setting.contains("stamps")
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.setting)
    }
}

/// What is written for a protocol; whoever does not know a name refuses it, or has its defaults.
pub(crate) const SETTINGS: &[&str] = &[
    "{}",
    r#"{"mode":"local"}"#,
    r#"{"mode":"local","as-published":true}"#,
    r#"{"detector":"heartbeats"}"#,
    r#"{"detector":"heartbeats","call-after":"4s","retry":"400ms"}"#,
    r#"{"call-after":"4s","timeout":"3s","retry":"1s","leader-beat":"1s","leader-silence":"4s"}"#,
    r#"{"stamps":true,"recovery":"ask","call-after":"4s"}"#,
    r#"{"criterion":"rank","leaders":2}"#,
    r#"{"as-printed":true}"#,
    r#"{"beat":"1s","silence":"4s","join":"always"}"#,
    r#"{"size":"gossip"}"#,
];

/// All of them.
pub(crate) fn rows() -> Vec<Row> {
    let row = |name: &'static str, setting: &'static str| {
        let choice = Choice::from_json(name, setting).ok()?;
        let known = setting == "{}" || Choice::from_json(name, "{}").as_ref() != Ok(&choice);
        known.then_some(Row { name, setting, choice })
    };
    let of = |name| SETTINGS.iter().filter_map(move |setting| row(name, setting));
    PROTOCOLS.iter().flat_map(|entry| of(entry.name)).collect()
}
