//! The sending end: numbers frames and seals them.

use super::charter::Charter;
use super::header::{GroupTag, Header, Kind, Session};
use super::key::FrameKey;
use super::keyring::Keyring;
use super::{BODY_MAX, FRAME_MAX};
use bellwether_core::NodeId;
use std::fmt;

/// Seals what one life of one member sends. A session must not be given to two of them.
#[derive(Debug)]
pub struct Sealer {
    group: String,
    key: FrameKey,
    /// The header of the next frame, but for its kind.
    next: Header,
}

impl Sealer {
    /// For this life of this member, under the first key of the ring.
    pub fn new(
        group: &str,
        me: NodeId,
        incarnation: u64,
        session: Session,
        charter: Charter,
        keyring: &Keyring,
    ) -> Self {
        let key = first(keyring, group);
        let next = Header {
            kind: Kind::Message as u8,
            key: key.id,
            group: GroupTag::of(group),
            sender: me,
            incarnation,
            session,
            sequence: 0,
            charter,
        };
        Self { group: group.to_owned(), key, next }
    }

    /// Puts the sealed frame into `out`, in place of what was there. The frame's sequence number,
    /// which is one larger with every frame.
    ///
    /// # Errors
    /// [`TooLong`] if the body does not fit a frame; nothing changed.
    pub fn seal(&mut self, kind: Kind, body: &[u8], out: &mut Vec<u8>) -> Result<u64, TooLong> {
        if body.len() > BODY_MAX {
            return Err(TooLong { body: body.len(), body_max: BODY_MAX });
        }
        let header = Header { kind: kind as u8, ..self.next };
        // A billion frames a second reach the end of these numbers after five hundred years.
        self.next.sequence += 1;
        out.clear();
        out.reserve(FRAME_MAX);
        out.extend_from_slice(&header.encode());
        out.extend_from_slice(body);
        self.key.seal(&header, out);
        Ok(header.sequence)
    }

    /// Seals with the first key of this ring from now on. The numbers go on, so that nonces
    /// differ even if the key stays the same.
    pub fn set_keyring(&mut self, keyring: &Keyring) {
        self.key = first(keyring, &self.group);
        self.next.key = self.key.id;
    }
}

fn first(keyring: &Keyring, group: &str) -> FrameKey {
    keyring.frame_keys(group).swap_remove(0) // a ring is never empty
}

/// A message that does not fit a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong {
    /// How long it is.
    pub body: usize,
    /// How long it may be.
    pub body_max: usize,
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { body, body_max } = self;
        write!(
            f,
            "a message of {body} bytes does not fit a frame, which holds {body_max}; \
             make the group smaller, or choose a protocol whose messages do not grow with it"
        )
    }
}

impl std::error::Error for TooLong {}
