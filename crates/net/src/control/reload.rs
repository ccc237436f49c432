//! What a member answers when it is asked to read its settings again.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A setting that a reload changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedSetting {
    /// Its name, as in a file.
    pub setting: String,
    /// What it is now, for people. Never a secret.
    pub now: String,
}

impl fmt::Display for ChangedSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is now {}", self.setting, self.now)
    }
}

/// Why a reload changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotReloaded {
    /// In one line, with the way out.
    pub why: String,
    /// The settings that cannot change while the member runs, if they are the reason.
    #[serde(default)]
    pub fixed: Vec<String>,
    /// Whether the settings break a rule, so that a member would not start with them.
    #[serde(default)]
    pub bad: bool,
}

impl From<String> for NotReloaded {
    fn from(why: String) -> Self {
        Self { why, fixed: Vec::new(), bad: false }
    }
}

impl fmt::Display for NotReloaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl std::error::Error for NotReloaded {}
