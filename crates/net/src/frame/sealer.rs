//! The sending end: numbers frames, names their receiver, and seals them.

use super::config_digest::ConfigDigest;
use super::header::{GroupTag, Header, Kind, Salt, Session};
use super::key::FrameKey;
use super::keyring::Keyring;
use super::{BODY_MAX, FRAME_MAX, LAST};
use bellwether_core::NodeId;
use std::fmt;

/// Seals the frames of one incarnation of one member.
#[derive(Debug)]
pub struct Sealer {
    group: String,
    key: FrameKey,
    /// The header of the next frame, without its kind, receiver and salt.
    next: Header,
}

impl Sealer {
    /// Seals for this incarnation of this member, with the first key of the ring.
    pub fn new(
        group: &str,
        me: NodeId,
        incarnation: u64,
        session: Session,
        digest: ConfigDigest,
        keyring: &Keyring,
    ) -> Self {
        let key = first(keyring, group);
        let next = Header {
            kind: Kind::Message as u8,
            key: key.id,
            group: GroupTag::of(group),
            sender: me,
            receiver: None,
            incarnation,
            session,
            sequence: 0,
            digest,
            salt: Salt([0; 16]),
        };
        Self { group: group.to_owned(), key, next }
    }

    /// Replaces `out` by the sealed frame, for one receiver or for everyone. Returns the frame's
    /// sequence number, which increases by one with every frame.
    ///
    /// # Errors
    /// [`NotSealed`] if the body does not fit a frame or the machine has no randomness; nothing
    /// changed.
    pub fn seal(
        &mut self,
        kind: Kind,
        receiver: Option<NodeId>,
        body: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<u64, NotSealed> {
        self.seal_both(kind, receiver, (&[], body), out)
    }

    /// The same with a body of two parts, one after the other.
    ///
    /// # Errors
    /// As for [`seal`](Self::seal).
    pub fn seal_both(
        &mut self,
        kind: Kind,
        receiver: Option<NodeId>,
        (front, rest): (&[u8], &[u8]),
        out: &mut Vec<u8>,
    ) -> Result<u64, NotSealed> {
        let salt = salt_for(front.len() + rest.len())?;
        let header = Header { kind: kind as u8, receiver, salt, ..self.next };
        // At a billion frames per second the numbers last for five hundred years.
        assert!(header.sequence < LAST, "the last number is that of the last frame");
        self.next.sequence += 1;
        put(&header, (front, rest), &self.key, out);
        Ok(header.sequence)
    }

    /// Replaces `out` by the last frame of this incarnation, for everyone. It may be sealed at any
    /// time and more than once; once one of them is received, no other frame of the incarnation is.
    ///
    /// # Errors
    /// As for [`seal`](Self::seal).
    pub fn seal_last(&self, body: &[u8], out: &mut Vec<u8>) -> Result<(), NotSealed> {
        let kind = Kind::Message as u8;
        let salt = salt_for(body.len())?;
        let header = Header { kind, receiver: None, sequence: LAST, salt, ..self.next };
        put(&header, (&[], body), &self.key, out);
        Ok(())
    }

    /// Seals with the first key of this ring from now on. The numbers continue.
    pub fn set_keyring(&mut self, keyring: &Keyring) {
        self.key = first(keyring, &self.group);
        self.next.key = self.key.id;
    }
}

/// A random salt for a frame with a body of so many bytes, if that fits.
fn salt_for(body: usize) -> Result<Salt, NotSealed> {
    if body > BODY_MAX {
        return Err(NotSealed::TooLong { body, body_max: BODY_MAX });
    }
    Salt::draw().map_err(|_| NotSealed::NoRandomness)
}

fn first(keyring: &Keyring, group: &str) -> FrameKey {
    keyring.frame_keys(group).swap_remove(0) // a ring is never empty
}

/// The frame with this header and body.
fn put(header: &Header, (front, rest): (&[u8], &[u8]), key: &FrameKey, out: &mut Vec<u8>) {
    out.clear();
    out.reserve(FRAME_MAX);
    out.extend_from_slice(&header.encode());
    out.extend_from_slice(front);
    out.extend_from_slice(rest);
    key.seal(header, out);
}

/// Why a message was not sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotSealed {
    /// The message does not fit a frame.
    TooLong {
        /// How long it is.
        body: usize,
        /// How long it may be.
        body_max: usize,
    },
    /// A nonce cannot be drawn.
    NoRandomness,
}

impl fmt::Display for NotSealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { body, body_max } => write!(
                f,
                "a message of {body} bytes does not fit a frame, which holds {body_max}; \
                 make the group smaller, or choose a protocol whose messages do not grow with it"
            ),
            Self::NoRandomness => f.write_str(
                "the machine's source of randomness fails, and without it nothing can be sealed; \
                 look at the kernel's messages",
            ),
        }
    }
}

impl std::error::Error for NotSealed {}

#[cfg(test)]
mod tests {
    use super::super::{DropReason, FrameOpener};
    use super::*;
    use bellwether_core::to_hex;

    /// Two frames that are under way, a last one that overtakes them, and the next incarnation.
    #[test]
    fn after_the_last_frame_no_other_one_of_that_incarnation_is_accepted() {
        let digest = ConfigDigest::open("");
        let keyring = Keyring::parse(&format!("bwk1-{}\n", "a".repeat(64))).unwrap();
        let session = Session([7; 8]);
        let sealer = |life| Sealer::new("jobs", NodeId(1), life, session, digest, &keyring);
        let mut opener = FrameOpener::new("jobs", NodeId(2), 9, Session([2; 8]), digest, &keyring);
        let mut open = |frame: &[u8]| {
            let opened = opener.open(frame, &|_| Ok(()), &mut Vec::new());
            opened.map(|opened| opened.sequence).map_err(|dropped| dropped.reason)
        };
        let (mut first, mut frames) = (sealer(3), [Vec::new(), Vec::new(), Vec::new()]);
        for frame in &mut frames {
            first.seal(Kind::Message, None, b"alive", frame).unwrap();
        }
        let mut will = Vec::new();
        first.seal_last(b"dead", &mut will).unwrap();
        assert_eq!(open(&frames[0]), Ok(0));
        assert_eq!(open(&will), Ok(LAST));
        for late in &frames {
            assert_eq!(open(late), Err(DropReason::Replayed));
        }
        assert_eq!(open(&will), Err(DropReason::WillCopy), "it is sent several times");
        first.seal_last(b"dead", &mut will).unwrap();
        assert_eq!(open(&will), Err(DropReason::WillCopy), "sealed once more");
        first.seal(Kind::Message, None, b"alive", &mut frames[0]).unwrap();
        assert_eq!(open(&frames[0]), Err(DropReason::Replayed), "it should not run");
        sealer(4).seal(Kind::Message, None, b"again", &mut frames[0]).unwrap();
        assert_eq!(open(&frames[0]), Ok(0));
        assert_eq!(open(&will), Err(DropReason::FormerLife));
    }

    #[test]
    fn a_last_will_that_does_not_fit_is_refused() {
        let keyring = Keyring::parse(&format!("bwk1-{}\n", "a".repeat(64))).unwrap();
        let (digest, session) = (ConfigDigest::open(""), Session([7; 8]));
        let sealer = Sealer::new("jobs", NodeId(1), 3, session, digest, &keyring);
        let refused = sealer.seal_last(&[0; BODY_MAX + 1], &mut Vec::new());
        let too_long = NotSealed::TooLong { body: BODY_MAX + 1, body_max: BODY_MAX };
        assert_eq!(refused, Err(too_long));
    }

    /// The bytes were computed by another program from the RFCs: HKDF, HChaCha20, ChaCha20 and
    /// Poly1305 in Python, tested with the example of draft-irtf-cfrg-xchacha, A.3.1.
    #[test]
    fn the_format_is_what_it_says_it_is() {
        let digest = ConfigDigest::listed([(NodeId(2), "b:7000"), (NodeId(1), "a:7000")], "le-s");
        let session = Session([0, 1, 2, 3, 4, 5, 6, 7]);
        let keyring = Keyring::parse(&format!("bwk1-{}\n", "a".repeat(64))).unwrap();
        let sealer = Sealer::new("jobs", NodeId(1), 3, session, digest, &keyring);
        let salt = Salt(std::array::from_fn(|place| 0xf0 + place as u8));
        let header = Header { receiver: Some(NodeId(2)), salt, ..sealer.next };
        let mut frame = Vec::new();
        put(&header, (b"he", b"llo"), &sealer.key, &mut frame);
        let hex = to_hex(&frame);
        let expected = [
            "427702016c6de975aa3802e73d316091", // magic, version, kind, key, group
            "01000000000000000200000000000000", // sender, receiver
            "03000000000000000001020304050607", // incarnation, session
            "0000000000000000530d790b2a1373ab", // sequence, list, terms
            "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", // salt
            "ed44d399aff03855e68c34b62562c4e260c7d99387",
        ];
        assert_eq!(hex, expected.concat());
    }
}
