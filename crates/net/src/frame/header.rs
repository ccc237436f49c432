//! The fixed front of every frame: who speaks, in which life, and under which charter.
//!
//! All of it is readable by anyone on the path and authenticated as associated data, so that none
//! of it can be changed. Integers are little endian, like those of the messages.
//!
//! | bytes | what |
//! |---|---|
//! | 0..2 | magic |
//! | 2 | version of this format |
//! | 3 | [`Kind`] |
//! | 4..8 | key id |
//! | 8..16 | group tag |
//! | 16..24 | sender |
//! | 24..32 | incarnation |
//! | 32..48 | [`Session`] |
//! | 48..56 | sequence |
//! | 56..60 | charter: list |
//! | 60..64 | charter: terms |

use super::charter::Charter;
use super::refusal::Refusal;
use super::{FRAME_MAX, HEADER, TAG};
use bellwether_core::NodeId;
use sha2::{Digest, Sha256};
use std::fmt;

/// How a frame begins, so that stray traffic is told from ours.
const MAGIC: [u8; 2] = *b"Bw";

/// The version of the format. Another one is another language: nothing behind it is looked at.
const VERSION: u8 = 1;

/// What the body of a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A message of the protocol.
    Message = 1,
    /// A word of the runtime itself: who I am and where, for members who do not know me yet.
    Beacon = 2,
}

impl Kind {
    /// The kind with this number, if there is one.
    pub(super) fn of(number: u8) -> Option<Self> {
        [Self::Message, Self::Beacon].into_iter().find(|kind| *kind as u8 == number)
    }
}

/// Sixteen random bytes, drawn once per life of a process.
///
/// They are two thirds of every nonce. So no two lives share a nonce, without anything that would
/// have to survive a crash; and two processes that were given the same id and incarnation by
/// mistake are told apart.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Session(pub [u8; 16]);

impl Session {
    /// A new one, from the machine's source of randomness.
    ///
    /// # Errors
    /// If the machine has none.
    pub fn draw() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes))
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Session({:032x})", u128::from_be_bytes(self.0))
    }
}

/// What names a group on the wire. Two names may share a tag by chance; their keys still differ,
/// because the whole name goes into the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GroupTag([u8; 8]);

impl GroupTag {
    pub(super) fn of(group: &str) -> Self {
        let hash = Sha256::new().chain_update("bellwether group v1").chain_update(group).finalize();
        Self(front(&hash))
    }
}

/// The header, taken apart. `kind` is still a number: one that we do not know is news only if
/// the frame is authentic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) kind: u8,
    pub(super) key: [u8; 4],
    pub(super) group: GroupTag,
    pub(super) sender: NodeId,
    pub(super) incarnation: u64,
    pub(super) session: Session,
    pub(super) sequence: u64,
    pub(super) charter: Charter,
}

impl Header {
    pub(super) fn encode(&self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[0..2].copy_from_slice(&MAGIC);
        bytes[2] = VERSION;
        bytes[3] = self.kind;
        bytes[4..8].copy_from_slice(&self.key);
        bytes[8..16].copy_from_slice(&self.group.0);
        bytes[16..24].copy_from_slice(&self.sender.0.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.incarnation.to_le_bytes());
        bytes[32..48].copy_from_slice(&self.session.0);
        bytes[48..56].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[56..60].copy_from_slice(&self.charter.list.to_le_bytes());
        bytes[60..64].copy_from_slice(&self.charter.terms.to_le_bytes());
        bytes
    }

    /// The header of a datagram, its bytes, and the sealed rest.
    pub(super) fn decode(datagram: &[u8]) -> Result<(Self, &[u8; HEADER], &[u8]), Refusal> {
        if datagram.len() > FRAME_MAX {
            return Err(Refusal::Long);
        }
        let (bytes, sealed) = datagram.split_first_chunk::<HEADER>().ok_or(Refusal::Short)?;
        if sealed.len() < TAG {
            return Err(Refusal::Short);
        }
        if bytes[0..2] != MAGIC {
            return Err(Refusal::Magic);
        }
        if bytes[2] != VERSION {
            return Err(Refusal::Version);
        }
        let header = Self {
            kind: bytes[3],
            key: front(&bytes[4..8]),
            group: GroupTag(front(&bytes[8..16])),
            sender: NodeId(u64::from_le_bytes(front(&bytes[16..24]))),
            incarnation: u64::from_le_bytes(front(&bytes[24..32])),
            session: Session(front(&bytes[32..48])),
            sequence: u64::from_le_bytes(front(&bytes[48..56])),
            charter: Charter {
                list: u32::from_le_bytes(front(&bytes[56..60])),
                terms: u32::from_le_bytes(front(&bytes[60..64])),
            },
        };
        Ok((header, bytes, sealed))
    }

    /// Used once in the life of a key: sessions differ, and a session counts its frames.
    pub(super) fn nonce(&self) -> [u8; 24] {
        let mut nonce = [0; 24];
        nonce[..16].copy_from_slice(&self.session.0);
        nonce[16..].copy_from_slice(&self.sequence.to_le_bytes());
        nonce
    }
}

/// The first `N` bytes of at least as many.
pub(super) fn front<const N: usize>(bytes: &[u8]) -> [u8; N] {
    *bytes.first_chunk().expect("callers give a slice or a hash that is long enough")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        Header {
            kind: Kind::Beacon as u8,
            key: [1, 2, 3, 4],
            group: GroupTag([5; 8]),
            sender: NodeId(0x0807_0605_0403_0201),
            incarnation: 9,
            session: Session([7; 16]),
            sequence: 0x0203,
            charter: Charter { list: 0xa1a2_a3a4, terms: 0xb1b2_b3b4 },
        }
    }

    #[test]
    fn the_layout_is_the_one_in_the_table() {
        let bytes = header().encode();
        assert_eq!(bytes[..8], [b'B', b'w', 1, 2, 1, 2, 3, 4]);
        assert_eq!(bytes[8..16], [5; 8]);
        assert_eq!(bytes[16..24], [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(bytes[24..32], [9, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[32..48], [7; 16]);
        assert_eq!(bytes[48..56], [3, 2, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[56..], [0xa4, 0xa3, 0xa2, 0xa1, 0xb4, 0xb3, 0xb2, 0xb1]);
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        let mut datagram = header().encode().to_vec();
        datagram.extend([0xee; TAG]);
        let (found, bytes, sealed) = Header::decode(&datagram).unwrap();
        assert_eq!((found, *bytes), (header(), header().encode()));
        assert_eq!(sealed, [0xee; TAG]);
    }

    #[test]
    fn the_nonce_is_the_session_and_the_sequence() {
        let nonce = header().nonce();
        assert_eq!(nonce[..16], [7; 16]);
        assert_eq!(nonce[16..], 0x0203_u64.to_le_bytes());
    }

    #[test]
    fn kinds_have_numbers_of_their_own() {
        let known: Vec<_> = (0..=u8::MAX).filter_map(Kind::of).collect();
        assert_eq!(known, [Kind::Message, Kind::Beacon]);
    }
}
