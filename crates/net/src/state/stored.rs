//! The content of the state file.
//!
//! A line with the format and the SHA-256 of the rest, and one JSON object:
//!
//! ```text
//! bellwether-state 1 5c0e…
//! {"member":"billing.1","incarnation":1790000000000000000,"binds":330000000,"memory":"01fe",
//!  "founders":["1=10.0.0.1:7400","2=10.0.0.2:7400"],"writes":12}
//! ```
//!
//! A release ignores fields that it does not know, and missing fields have a default, so a new
//! field needs no new version. A file without such a first line is damaged.

use super::checked;
use bellwether_core::Duration;
use serde::{Deserialize, Serialize};
use std::io;

/// The stored state of a member.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stored {
    pub(super) incarnation: u64,
    /// How long, in nanoseconds, a promise of that incarnation may bind.
    pub(super) binds: u64,
    /// What the protocol stored, in hexadecimal digits.
    #[serde(default)]
    pub(super) memory: Option<String>,
    /// The founding voters of its group with their addresses, where members keep a record.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) founders: Vec<String>,
    /// How often the file was written.
    #[serde(default)]
    pub(super) writes: u64,
    /// Whether a file before it was damaged or missing, and the protocol has stored nothing since.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) lost: bool,
}

/// The state with its owner.
#[derive(Serialize, Deserialize)]
struct Owned {
    member: String,
    #[serde(flatten)]
    stored: Stored,
}

/// The longest promise. A file with a longer one is damaged, and settings with a longer one are
/// refused.
pub(crate) const BINDS_MAX: Duration = Duration::from_secs(24 * 3600);

const FORMAT: &str = "bellwether-state 1";

impl Stored {
    /// The bytes of this member's file.
    pub(super) fn encode(&self, member: &str) -> io::Result<String> {
        let owned = Owned { member: member.to_owned(), stored: self.clone() };
        let body = serde_json::to_string(&owned).map_err(io::Error::other)? + "\n";
        Ok(checked::encode(FORMAT, &body))
    }

    /// Reads a file. Fails with the reason if it is damaged, another member's, or cannot be true.
    ///
    /// An incarnation beyond `latest` is refused: other members would drop its frames, and the next
    /// one would have to be later still. A clock that was set back does no harm: `latest` is a
    /// century ahead of it.
    pub(super) fn decode(bytes: &[u8], member: &str, latest: u64) -> Result<Self, String> {
        let body = checked::decode(FORMAT, bytes)?;
        let owned: Owned = serde_json::from_slice(body).map_err(|error| error.to_string())?;
        if owned.member != member {
            return Err(format!("it is that of member {}, not of {member}", owned.member));
        }
        let stored = owned.stored;
        if stored.incarnation > latest {
            return Err(format!("its life {} cannot have begun yet", stored.incarnation));
        }
        if stored.binds > BINDS_MAX.as_nanos() {
            return Err(format!("no promise binds for more than {BINDS_MAX}"));
        }
        Ok(stored)
    }

    /// Whether it is of another group with the same name: none of its founders is one of these, at
    /// the same address. A group may move its members to other addresses, not all of them at once.
    pub(super) fn is_foreign(&self, founders: &[String]) -> bool {
        let known = !self.founders.is_empty() && !founders.is_empty();
        known && !self.founders.iter().any(|founder| founders.contains(founder))
    }
}
