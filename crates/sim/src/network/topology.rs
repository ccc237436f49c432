//! Who hears whom at all.

use serde::{Deserialize, Serialize};

/// The shape of the network. Rings, graphs and radio discs come with the protocols that need them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Topology {
    /// One multicast group: everyone hears everyone.
    #[default]
    Group,
}

impl Topology {
    /// Whether `to` is within reach of `from`.
    pub fn reaches(&self, from: u32, to: u32) -> bool {
        match self {
            Self::Group => from != to,
        }
    }
}
