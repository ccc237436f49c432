//! What joining processes and members say to each other: the bodies of frames of the kind `Join`.
//!
//! A line of JSON, and for one of them bytes after it. All are short, and each question has at most
//! one answer.

use super::{Entry, Founding, JoinRefused};
use serde::{Deserialize, Serialize};

/// What is said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Word {
    /// A process asks for a part of what there is to know of the group, from this byte on.
    Read {
        /// The first byte.
        offset: usize,
    },
    /// That part; its bytes follow the line.
    Part {
        /// The incarnation of the process that asked.
        life: u64,
        /// The first byte.
        offset: usize,
        /// How many bytes there are.
        total: usize,
        /// A number that all parts of one text share.
        sum: u64,
    },
    /// A process wants to be a member.
    Claim(Entry),
    /// It is one, as far as the sender knows, which has stored that.
    Taken {
        /// The incarnation of the process that asked.
        life: u64,
        /// The committed list by which the sender votes, if it does.
        list: Option<u64>,
    },
    /// It is not.
    Refused {
        /// The incarnation of the process that asked.
        life: u64,
        /// Why not.
        why: JoinRefused,
        /// Whether it is in vain to ask again.
        last: bool,
    },
}

/// What there is to know of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GroupFacts {
    pub(crate) founding: Founding,
    /// The version of the list of voters, which is committed.
    pub(crate) list: u64,
    /// Who votes now.
    pub(crate) voters: Vec<u64>,
    /// Who joined.
    pub(crate) entries: Vec<Entry>,
}

/// The most bytes of a part, so that it fits a frame with its line.
pub(crate) const PART: usize = 900;
/// The most bytes of what there is to know: the list and the book of the largest group fit.
pub(crate) const TOLD_MAX: usize = 1 << 20;

impl Word {
    /// Its bytes; `rest` follows the line.
    pub(crate) fn encode(&self, rest: &[u8]) -> Vec<u8> {
        let mut bytes = serde_json::to_vec(self).unwrap_or_default();
        bytes.push(b'\n');
        bytes.extend_from_slice(rest);
        bytes
    }

    /// Reads it, and what follows the line; `None` if it is no such word.
    pub(crate) fn decode(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        Some((serde_json::from_slice(&bytes[..end]).ok()?, &bytes[end + 1..]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::BODY_MAX;

    #[test]
    fn words_come_back_fit_a_frame_and_noise_says_nothing() {
        let most = usize::MAX;
        let part = Word::Part { life: u64::MAX, offset: most, total: most, sum: u64::MAX };
        let bytes = part.encode(&[b'\n'; PART]);
        assert!(bytes.len() <= BODY_MAX, "{}", bytes.len());
        assert_eq!(Word::decode(&bytes), Some((part, &[b'\n'; PART][..])));
        for noise in [&b""[..], b"\n", b"{}\n", b"{\"read\":{\"offset\":-1}}\n", &[0xff; 40]] {
            assert_eq!(Word::decode(noise), None);
        }
    }
}
