//! The header of a frame: sender, receiver, incarnation and config digest.
//!
//! It is not encrypted, but authenticated as associated data, so that none of it can be changed.
//! Integers are little endian, like those of the messages.
//!
//! | bytes | what |
//! |---|---|
//! | 0..2 | magic |
//! | 2 | version of this format |
//! | 3 | [`Kind`] |
//! | 4..8 | key id |
//! | 8..16 | group tag |
//! | 16..24 | sender |
//! | 24..32 | receiver; the sender's own id where the frame is for everyone |
//! | 32..40 | incarnation |
//! | 40..48 | [`Session`] |
//! | 48..56 | sequence |
//! | 56..60 | digest: list |
//! | 60..64 | digest: terms |
//! | 64..80 | [`Salt`] |

use super::config_digest::ConfigDigest;
use super::drop_reason::DropReason;
use super::{FRAME_MAX, HEADER, TAG};
use crate::randomness;
use bellwether_core::NodeId;
use sha2::{Digest, Sha256};
use std::fmt;
use std::io;

/// The first bytes of a frame, which tell it from stray traffic.
const MAGIC: [u8; 2] = *b"Bw";

/// The version of the format. Nothing after another version is read.
const VERSION: u8 = 2;

/// The kind of a frame's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A message of the protocol.
    Message = 1,
    /// A message of the runtime itself: see `beacon.rs`.
    Beacon = 2,
    /// A question of a process that wants to join, or an answer to one: see `joins.rs`.
    Join = 3,
    /// Entries of the address book: see `joins.rs`.
    Book = 4,
    /// Whose multicasts the sender hears: see `multicast.rs`.
    Hearing = 5,
    /// A message of the protocol behind eight bytes, the number of the receiver's last multicast
    /// that the sender heard: see `multicast.rs`.
    Acknowledging = 6,
    /// A question or an answer about the keys of members: see `keys`.
    Keys = 7,
}

impl Kind {
    /// Whether the body is a message of the protocol, or ends with one.
    pub(crate) fn is_message(self) -> bool {
        matches!(self, Self::Message | Self::Acknowledging)
    }

    /// The kind with this number, if there is one.
    pub(super) fn of(number: u8) -> Option<Self> {
        let all = [
            Self::Message,
            Self::Beacon,
            Self::Join,
            Self::Book,
            Self::Hearing,
            Self::Acknowledging,
            Self::Keys,
        ];
        all.into_iter().find(|kind| *kind as u8 == number)
    }
}

/// Eight random bytes, drawn once per incarnation.
///
/// They tell two processes apart that have the same id and incarnation by mistake. They are equal
/// with probability 2^-64.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Session(pub [u8; 8]);

impl Session {
    /// A new one, from the machine's source of randomness.
    ///
    /// # Errors
    /// If the machine has none.
    pub fn draw() -> io::Result<Self> {
        let mut bytes = [0; 8];
        randomness::fill(&mut bytes)?;
        Ok(Self(bytes))
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Session({:016x})", u64::from_be_bytes(self.0))
    }
}

/// Sixteen random bytes, drawn for each frame: two thirds of its nonce.
///
/// The rest of the nonce is the sequence number. Two frames share a nonce only if they have the
/// same number *and* the same salt, with probability 2^-128. The salt does not depend on stored
/// state: neither a crash nor a copy of the machine that continues from the same state repeats a
/// nonce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Salt(pub(super) [u8; 16]);

impl Salt {
    /// A new one, from the machine's source of randomness.
    pub(super) fn draw() -> io::Result<Self> {
        let mut bytes = [0; 16];
        randomness::fill(&mut bytes)?;
        Ok(Self(bytes))
    }
}

/// The tag of a group on the wire. Two names may share a tag by chance; their keys still differ,
/// because the whole name goes into the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GroupTag([u8; 8]);

impl GroupTag {
    pub(super) fn of(group: &str) -> Self {
        let hash = Sha256::new().chain_update("bellwether group v1").chain_update(group).finalize();
        Self(front(&hash))
    }
}

/// A decoded header. `kind` is still a number: an unknown kind matters only if the frame is
/// authentic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) kind: u8,
    pub(super) key: [u8; 4],
    pub(super) group: GroupTag,
    pub(super) sender: NodeId,
    /// The receiver; `None` if it is for everyone.
    pub(super) receiver: Option<NodeId>,
    pub(super) incarnation: u64,
    pub(super) session: Session,
    pub(super) sequence: u64,
    pub(super) digest: ConfigDigest,
    pub(super) salt: Salt,
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
        let receiver = self.receiver.unwrap_or(self.sender);
        bytes[24..32].copy_from_slice(&receiver.0.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.incarnation.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.session.0);
        bytes[48..56].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[56..60].copy_from_slice(&self.digest.list.to_le_bytes());
        bytes[60..64].copy_from_slice(&self.digest.terms.to_le_bytes());
        bytes[64..80].copy_from_slice(&self.salt.0);
        bytes
    }

    /// Splits a datagram into its header, the header's bytes, and the sealed rest.
    pub(super) fn decode(datagram: &[u8]) -> Result<(Self, &[u8; HEADER], &[u8]), DropReason> {
        if datagram.len() > FRAME_MAX {
            return Err(DropReason::Long);
        }
        let (bytes, sealed) = datagram.split_first_chunk::<HEADER>().ok_or(DropReason::Short)?;
        if sealed.len() < TAG {
            return Err(DropReason::Short);
        }
        if bytes[0..2] != MAGIC {
            return Err(DropReason::Magic);
        }
        if bytes[2] != VERSION {
            return Err(DropReason::Version);
        }
        let number = |at: usize| u64::from_le_bytes(front(&bytes[at..at + 8]));
        let (sender, receiver) = (NodeId(number(16)), NodeId(number(24)));
        let header = Self {
            kind: bytes[3],
            key: front(&bytes[4..8]),
            group: GroupTag(front(&bytes[8..16])),
            sender,
            receiver: Some(receiver).filter(|receiver| *receiver != sender),
            incarnation: number(32),
            session: Session(front(&bytes[40..48])),
            sequence: number(48),
            digest: ConfigDigest {
                list: u32::from_le_bytes(front(&bytes[56..60])),
                terms: u32::from_le_bytes(front(&bytes[60..64])),
            },
            salt: Salt(front(&bytes[64..80])),
        };
        Ok((header, bytes, sealed))
    }

    /// The nonce, used once with a key: see [`Salt`].
    pub(super) fn nonce(&self) -> [u8; 24] {
        let mut nonce = [0; 24];
        nonce[..16].copy_from_slice(&self.salt.0);
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
            receiver: Some(NodeId(0x0203)),
            incarnation: 9,
            session: Session([7; 8]),
            sequence: 0x0304,
            digest: ConfigDigest { list: 0xa1a2_a3a4, terms: 0xb1b2_b3b4 },
            salt: Salt([6; 16]),
        }
    }

    #[test]
    fn the_layout_is_the_one_in_the_table() {
        let bytes = header().encode();
        assert_eq!(bytes[..8], [b'B', b'w', 2, 2, 1, 2, 3, 4]);
        assert_eq!(bytes[8..16], [5; 8]);
        assert_eq!(bytes[16..24], [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(bytes[24..32], [3, 2, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[32..40], [9, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[40..48], [7; 8]);
        assert_eq!(bytes[48..56], [4, 3, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[64..], [6; 16]);
        assert_eq!(bytes[56..64], [0xa4, 0xa3, 0xa2, 0xa1, 0xb4, 0xb3, 0xb2, 0xb1]);
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
    fn what_is_for_everyone_names_its_sender_as_the_receiver() {
        let everyone = Header { receiver: None, ..header() };
        let mut datagram = everyone.encode().to_vec();
        assert_eq!(datagram[16..24], datagram[24..32]);
        datagram.extend([0; TAG]);
        assert_eq!(Header::decode(&datagram).unwrap().0, everyone);
    }

    #[test]
    fn the_nonce_is_the_salt_and_the_sequence() {
        let nonce = header().nonce();
        assert_eq!(nonce[..16], [6; 16]);
        assert_eq!(nonce[16..], 0x0304_u64.to_le_bytes());
    }

    #[test]
    fn kinds_have_numbers_of_their_own() {
        let known: Vec<_> = (0..=u8::MAX).filter_map(Kind::of).collect();
        let numbers: Vec<u8> = known.iter().map(|kind| *kind as u8).collect();
        assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(known[..4], [Kind::Message, Kind::Beacon, Kind::Join, Kind::Book]);
    }
}
