//! What is in the state file.
//!
//! A line that names the format and holds the SHA-256 of all that follows it, and one object:
//!
//! ```text
//! bellwether-state 1 5c0e…
//! {"member":"billing.1","incarnation":1790000000000000000,"binds":330000000,"memory":"01fe"}
//! ```
//!
//! Fields that a release does not know are ignored by it, and those that an older one did not write
//! have a default: what is added needs no other version. A file without such a first line is
//! damaged like any other.

use bellwether_core::Duration;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::io;

/// What a member remembers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) incarnation: u64,
    /// For how long, in nanoseconds, a promise of that life may bind.
    pub(super) binds: u64,
    /// What the protocol stored, in hexadecimal digits.
    #[serde(default)]
    pub(super) memory: Option<String>,
}

/// The same, and whose it is.
#[derive(Serialize, Deserialize)]
struct Owned {
    member: String,
    #[serde(flatten)]
    kept: Kept,
}

/// No protocol stores more.
pub(super) const FILE_MAX: usize = 1 << 20;

/// No promise binds for longer: a file that says so is wrong, and settings that do are refused.
pub(crate) const BINDS_MAX: Duration = Duration::from_secs(24 * 3600);

const FORMAT: &str = "bellwether-state 1";

impl Kept {
    /// The file of this member.
    pub(super) fn encode(&self, member: &str) -> io::Result<String> {
        let owned = Owned { member: member.to_owned(), kept: self.clone() };
        let body = serde_json::to_string(&owned).map_err(io::Error::other)? + "\n";
        Ok(format!("{FORMAT} {}\n{body}", checksum(body.as_bytes())))
    }

    /// What a file says, if it is whole, this member's, and can be true. The reason otherwise.
    ///
    /// A life beyond `latest` is not believed: the others would refuse it, and the next one would
    /// have to be later still. A clock that was set back does not matter: `latest` is a century
    /// beyond it.
    pub(super) fn decode(bytes: &[u8], member: &str, latest: u64) -> Result<Self, String> {
        if bytes.len() >= FILE_MAX {
            return Err(format!("it is longer than {FILE_MAX} bytes"));
        }
        let first = bytes.iter().position(|byte| *byte == b'\n');
        let (line, body) = first.map_or((&b""[..], bytes), |at| (&bytes[..at], &bytes[at + 1..]));
        let Some(sum) = line.strip_prefix(format!("{FORMAT} ").as_bytes()) else {
            return Err(format!("it does not begin with '{FORMAT}' and a checksum"));
        };
        if sum != checksum(body).as_bytes() {
            return Err("its checksum is not that of its content".to_owned());
        }
        let owned: Owned = serde_json::from_slice(body).map_err(|error| error.to_string())?;
        if owned.member != member {
            return Err(format!("it is that of member {}, not of {member}", owned.member));
        }
        let kept = owned.kept;
        if kept.incarnation > latest {
            return Err(format!("its life {} cannot have begun yet", kept.incarnation));
        }
        if kept.binds > BINDS_MAX.as_nanos() {
            return Err(format!("no promise binds for more than {BINDS_MAX}"));
        }
        Ok(kept)
    }
}

fn checksum(body: &[u8]) -> String {
    super::to_hex(&Sha256::digest(body))
}
