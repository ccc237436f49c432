//! Why a step of a rotation of keys was not taken, or not by all members.

use super::KeyId;
use crate::setting::{NamesSettings, Setting};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Why a step of a rotation of keys was not taken. Members are named by their ids.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum BadKeyStep {
    /// The group has no key.
    NoKey,
    /// These members do not answer. If the step is forced, they are left out.
    Silent {
        /// Those that do not answer.
        silent: Vec<u64>,
        /// How many members there are.
        of: usize,
    },
    /// Half of the members do not answer, or more. The step cannot be forced.
    MostSilent {
        /// Those that do not answer.
        silent: Vec<u64>,
        /// How many members there are.
        of: usize,
    },
    /// These members do not have the key that is to be used.
    Lacking {
        /// The key.
        key: KeyId,
        /// Those without it.
        members: Vec<u64>,
    },
    /// These members send with the key that is to be removed.
    Sending {
        /// The key.
        key: KeyId,
        /// Those that send with it.
        members: Vec<u64>,
    },
    /// No member that answers has this key.
    Unknown(KeyId),
    /// These members cannot take any step, each for its reason.
    Unable(BTreeMap<u64, String>),
    /// These members did not take the step, each for its reason; the others did.
    Partly(BTreeMap<u64, String>),
    /// Another reason, in a sentence.
    Other(String),
}

impl From<String> for BadKeyStep {
    fn from(why: String) -> Self {
        Self::Other(why)
    }
}

impl From<&str> for BadKeyStep {
    fn from(why: &str) -> Self {
        Self::Other(why.to_owned())
    }
}

impl NamesSettings for BadKeyStep {
    fn explain(&self, name: &dyn Fn(Setting) -> String) -> String {
        match self {
            Self::NoKey => {
                format!("this group has no key: start all members with {}", name(Setting::Key))
            }
            Self::Silent { silent, of } => format!(
                "nothing changed: {} {} not answer ({} of {of}), and would not understand the \
                 others then; start {them}, or force the step, which leaves {them} out",
                members(silent),
                verb(silent, "does", "do"),
                silent.len(),
                them = verb(silent, "it", "them")
            ),
            Self::MostSilent { silent, of } => format!(
                "nothing changed: {} {} not answer ({} of {of}); start {}, or look at the network",
                members(silent),
                verb(silent, "does", "do"),
                silent.len(),
                verb(silent, "it", "them")
            ),
            Self::Lacking { key, members: without } => format!(
                "nothing changed: {} {} not have key {key}; install {key} again, by a member that \
                 has it, and all have it",
                members(without),
                verb(without, "does", "do")
            ),
            Self::Sending { key, members: sending } => format!(
                "nothing changed: {} still {} with key {key}; use another one first",
                members(sending),
                verb(sending, "sends", "send")
            ),
            Self::Unknown(key) => {
                format!("nothing changed: no member that answers has key {key}")
            }
            Self::Unable(why) => format!("nothing changed: {}", reasons(why)),
            Self::Partly(why) => format!(
                "not all took the step, take it again once that is mended: {}; the list shows who \
                 has which keys",
                reasons(why)
            ),
            Self::Other(why) => why.clone(),
        }
    }
}

impl fmt::Display for BadKeyStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.explain(&|setting| setting.to_string()))
    }
}

impl std::error::Error for BadKeyStep {}

/// Each member with its reason.
fn reasons(why: &BTreeMap<u64, String>) -> String {
    let reasons = why.iter().map(|(id, why)| format!("member {id}: {why}"));
    reasons.collect::<Vec<_>>().join("; ")
}

/// These members, as the subject of a sentence.
fn members(ids: &[u64]) -> String {
    let names: Vec<String> = ids.iter().map(u64::to_string).collect();
    format!("{} {}", verb(ids, "member", "members"), names.join(", "))
}

/// The word for one of them, or for several.
fn verb<'a>(ids: &[u64], one: &'a str, several: &'a str) -> &'a str {
    if ids.len() == 1 { one } else { several }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_name_settings_as_their_reader_does() {
        assert!(BadKeyStep::NoKey.to_string().ends_with("start all members with `key`"));
        let flag = BadKeyStep::NoKey.explain(&|setting| format!("--{}", setting.name()));
        assert!(flag.ends_with("start all members with --key"), "{flag}");
    }

    #[test]
    fn members_that_are_silent_are_counted() {
        let one = BadKeyStep::Silent { silent: vec![3], of: 3 }.to_string();
        assert!(one.contains("member 3 does not answer (1 of 3)"), "{one}");
        let two = BadKeyStep::MostSilent { silent: vec![2, 3], of: 3 }.to_string();
        assert!(two.contains("members 2, 3 do not answer (2 of 3); start them"), "{two}");
    }
}
