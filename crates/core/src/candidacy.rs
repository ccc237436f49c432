//! How willing a process is to lead.

use serde::{Deserialize, Serialize};

/// How willing a process is to lead, for protocols that ask. It is the process's own, and may
/// change ([`Command::Candidacy`](crate::Command::Candidacy)). The default is that of an ordinary
/// process.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(default)]
pub struct Candidacy {
    /// Of several that could lead, one with a greater priority comes first.
    pub priority: u32,
    /// Whether it votes and never leads.
    pub witness: bool,
}

impl Candidacy {
    /// Whether it is that of an ordinary process.
    pub fn is_ordinary(&self) -> bool {
        *self == Self::default()
    }
}
