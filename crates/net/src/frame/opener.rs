//! The receiving end: opens each frame of a member of the group once, and gives a reason for each
//! that it drops.

use super::config_digest::ConfigDigest;
use super::drop_reason::DropReason;
use super::header::{GroupTag, Header, Kind, Session};
use super::key::FrameKey;
use super::keyring::Keyring;
use super::replay::Replay;
use super::{HEADER, SENDERS_MAX};
use bellwether_core::NodeId;

/// The header of an authentic frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opened {
    /// The sender.
    pub sender: NodeId,
    /// The incarnation of the sender.
    pub incarnation: u64,
    /// Its number in that incarnation.
    pub sequence: u64,
    /// Whether it is for all members, not for one.
    pub for_all: bool,
    /// The kind of its body.
    pub kind: Kind,
    /// The config digest of the sender.
    pub digest: ConfigDigest,
}

/// A dropped frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DroppedFrame {
    /// Why.
    pub reason: DropReason,
    /// Its header, if it is authentic. A member must not react to any other: anybody could have
    /// written it.
    pub authentic: Option<Opened>,
}

impl From<DropReason> for DroppedFrame {
    fn from(reason: DropReason) -> Self {
        Self { reason, authentic: None }
    }
}

/// Opens the frames for one incarnation of one member.
#[derive(Debug)]
pub struct FrameOpener {
    group: String,
    tag: GroupTag,
    me: NodeId,
    incarnation: u64,
    session: Session,
    digest: ConfigDigest,
    keys: Vec<FrameKey>,
    /// The latest incarnation that can have begun by now.
    latest: u64,
    /// The windows of accepted frames.
    passed: Replay,
    /// The windows of frames dropped for a reason that a member reacts to. They do not decide what
    /// is accepted, only that each frame gives such a reason once.
    objected: Replay,
    /// The windows of frames whose senders were told the reason: each gives it once.
    told: Replay,
    /// The windows of frames from the right address while their sender counted as absent.
    moved: Replay,
    /// The windows of joining processes, one for each process: two of them may have one id, and
    /// neither may silence the other, or the member that has the id.
    joins: Replay,
    /// How many frames may still be opened although their header says that they will be dropped.
    spare: u32,
}

/// Whether a frame that will be dropped is worth opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Worth {
    /// Opening it tells nothing more.
    Nothing,
    /// Whether it is authentic is worth knowing, within a budget.
    Telling,
    /// If it is authentic, the member reacts to it.
    Acting,
}

impl Worth {
    fn of(reason: DropReason) -> Self {
        match reason {
            // `Moved`: a frame from the right address must not later count as one from elsewhere.
            DropReason::OwnId
            | DropReason::List
            | DropReason::Terms
            | DropReason::Elsewhere
            | DropReason::Moved => Self::Acting,
            DropReason::FormerLife
            | DropReason::IdTwice
            | DropReason::FutureLife
            | DropReason::Stranger
            | DropReason::Address => Self::Telling,
            _ => Self::Nothing,
        }
    }
}

impl FrameOpener {
    /// The budget: how many frames that will be dropped are opened between two calls of
    /// [`refresh`](Self::refresh), to learn whether their senders should be told.
    pub const SPARE: u32 = 8;

    /// Opens frames for this incarnation of this member, sealed with any key of the ring.
    pub fn new(
        group: &str,
        me: NodeId,
        incarnation: u64,
        session: Session,
        digest: ConfigDigest,
        keyring: &Keyring,
    ) -> Self {
        Self {
            group: group.to_owned(),
            tag: GroupTag::of(group),
            me,
            incarnation,
            session,
            digest,
            keys: keyring.frame_keys(group),
            latest: u64::MAX,
            passed: Replay::new(SENDERS_MAX),
            objected: Replay::new(SENDERS_MAX),
            told: Replay::new(SENDERS_MAX),
            moved: Replay::new(SENDERS_MAX),
            joins: Replay::new(SENDERS_MAX),
            spare: Self::SPARE,
        }
    }

    /// Opens a datagram and replaces `body` by its body. `admits` is asked about the sender that
    /// the header names, authentic or not: is it in the list, is this its address?
    ///
    /// # Errors
    /// [`DroppedFrame`] with the one [`DropReason`] that applies; nothing changed that decides what
    /// is accepted later. `body` is empty, except for an authentic beacon of a member with another
    /// config digest or our id: its body is for people, never for the protocol.
    pub fn open(
        &mut self,
        datagram: &[u8],
        admits: &dyn Fn(NodeId) -> Result<(), DropReason>,
        body: &mut Vec<u8>,
    ) -> Result<Opened, DroppedFrame> {
        let opened = self.judge(datagram, admits, body);
        if let Err(dropped) = &opened
            && !dropped.is_for_reading()
        {
            body.clear();
        }
        opened
    }

    /// Uses the keys of this ring from now on. The replay windows stay.
    pub fn set_keyring(&mut self, keyring: &Keyring) {
        self.keys = keyring.frame_keys(&self.group);
    }

    /// Opens frames for another incarnation of the same member. The replay windows stay.
    pub fn set_life(&mut self, incarnation: u64, session: Session) {
        (self.incarnation, self.session) = (incarnation, session);
    }

    /// Sets the latest incarnation that can have begun by now, and renews the budget.
    pub fn refresh(&mut self, latest: u64) {
        (self.latest, self.spare) = (latest, Self::SPARE);
    }

    /// The latest incarnation that can have begun by now, as last set.
    pub fn latest(&self) -> u64 {
        self.latest
    }

    fn judge(
        &mut self,
        datagram: &[u8],
        admits: &dyn Fn(NodeId) -> Result<(), DropReason>,
        body: &mut Vec<u8>,
    ) -> Result<Opened, DroppedFrame> {
        let (header, bytes, sealed) = Header::decode(datagram)?;
        if header.group != self.tag {
            return Err(DropReason::Group.into());
        }
        if !self.keys.iter().any(|key| key.id == header.key) {
            return Err(DropReason::Key.into());
        }
        let seen = self.look(&header, admits);
        if let Err(reason) = seen {
            match Worth::of(reason) {
                Worth::Nothing => return Err(reason.into()),
                Worth::Telling if self.spare == 0 || self.told.check(&header).is_err() => {
                    return Err(reason.into());
                }
                Worth::Telling => self.spare -= 1,
                Worth::Acting => {}
            }
        }
        if !self.authenticate(&header, bytes, sealed, body) {
            return Err(DropReason::Forged.into());
        }
        let kind = Kind::of(header.kind).ok_or(DropReason::Kind)?;
        let Header { sender, incarnation, sequence, digest, .. } = header;
        let for_all = header.receiver.is_none();
        let opened = Opened { sender, incarnation, sequence, for_all, kind, digest };
        match seen {
            Ok(()) if kind == Kind::Join => self.joins.record(&by_process(&header)),
            Ok(()) => self.passed.record(&header),
            Err(reason) => {
                match Worth::of(reason) {
                    Worth::Acting if reason == DropReason::Moved => self.moved.record(&header),
                    Worth::Acting => self.objected.record(&header),
                    // An impossible incarnation would hide all real ones.
                    Worth::Telling if reason != DropReason::FutureLife => self.told.record(&header),
                    Worth::Telling | Worth::Nothing => {}
                }
                return Err(DroppedFrame { reason, authentic: Some(opened) });
            }
        }
        Ok(opened)
    }

    /// Checks the header, before anything is opened. Changes nothing.
    fn look(
        &self,
        header: &Header,
        admits: &dyn Fn(NodeId) -> Result<(), DropReason>,
    ) -> Result<(), DropReason> {
        if header.receiver.is_some_and(|receiver| receiver != self.me) {
            return Err(DropReason::Receiver);
        }
        if header.kind == Kind::Join as u8 {
            return self.look_at_join(header);
        }
        if header.sender == self.me {
            return Err(self.namesake(header));
        }
        self.passed.check(header).map_err(|known| match self.passed.is_will_again(header) {
            true => DropReason::WillCopy,
            false => known,
        })?;
        if header.incarnation > self.latest {
            return Err(DropReason::FutureLife);
        }
        if header.digest.list != self.digest.list {
            return Err(self.object(header, DropReason::List));
        }
        if header.digest.terms != self.digest.terms {
            return Err(self.object(header, DropReason::Terms));
        }
        admits(header.sender).map_err(|reason| match (reason, self.moved.check(header)) {
            (DropReason::Moved, Err(known)) => known,
            // A frame from the right address does not count as one from elsewhere.
            (DropReason::Elsewhere, Err(DropReason::Replayed)) => DropReason::Replayed,
            (DropReason::Elsewhere, _) => self.object(header, reason),
            _ => reason,
        })
    }

    /// Checks a frame of a process that wants to join, or an answer to one. Such a process knows
    /// neither the list nor the terms, and its id may be that of another one.
    fn look_at_join(&self, header: &Header) -> Result<(), DropReason> {
        if header.session == self.session {
            return Err(DropReason::Own);
        }
        if header.incarnation > self.latest {
            return Err(DropReason::FutureLife);
        }
        self.joins.check(&by_process(header)).map_err(|_| DropReason::Replayed)
    }

    /// Opens the body with the key that the header names. Several keys may have that name by
    /// chance.
    fn authenticate(
        &self,
        header: &Header,
        bytes: &[u8; HEADER],
        sealed: &[u8],
        body: &mut Vec<u8>,
    ) -> bool {
        let mut named = self.keys.iter().filter(|key| key.id == header.key);
        named.any(|key| key.open(header, bytes, sealed, body))
    }

    /// Why a frame under our own id is dropped. A frame of an earlier incarnation of ours, which
    /// may be replayed, does not show that the id is used twice.
    fn namesake(&self, header: &Header) -> DropReason {
        if header.session == self.session {
            DropReason::Own
        } else if header.incarnation < self.incarnation {
            DropReason::FormerLife
        } else if header.incarnation > self.latest {
            DropReason::FutureLife
        } else {
            self.object(header, DropReason::OwnId)
        }
    }

    /// The reason, if the frame gives it for the first time.
    fn object(&self, header: &Header, reason: DropReason) -> DropReason {
        self.objected.check(header).err().unwrap_or(reason)
    }
}

/// The header with the process in the place of its id, for windows by process.
fn by_process(header: &Header) -> Header {
    Header { sender: NodeId(u64::from_le_bytes(header.session.0)), ..*header }
}

impl DroppedFrame {
    /// Whether its body is returned: a beacon of a member with another config digest or the same
    /// id, which says more of what is wrong.
    fn is_for_reading(&self) -> bool {
        let by_whom = matches!(
            self.reason,
            DropReason::List | DropReason::Terms | DropReason::OwnId | DropReason::FormerLife
        );
        by_whom && self.authentic.is_some_and(|opened| opened.kind == Kind::Beacon)
    }
}

#[cfg(test)]
mod tests {
    use super::super::header::Salt;
    use super::*;

    fn opener(keyring: &Keyring) -> FrameOpener {
        FrameOpener::new("g", NodeId(2), 1, Session([2; 8]), ConfigDigest::open(""), keyring)
    }

    /// An authentic frame of member 1, of the kind with this number.
    fn frame(kind: u8, key: &FrameKey) -> Vec<u8> {
        let header = Header {
            kind,
            key: key.id,
            group: GroupTag::of("g"),
            sender: NodeId(1),
            receiver: None,
            incarnation: 1,
            session: Session([1; 8]),
            sequence: 0,
            digest: ConfigDigest::open(""),
            salt: Salt([3; 16]),
        };
        let mut frame = header.encode().to_vec();
        frame.extend_from_slice(b"body");
        key.seal(&header, &mut frame);
        frame
    }

    #[test]
    fn an_authentic_frame_of_an_unknown_kind_is_refused_as_such() {
        let keyring = Keyring::generate().unwrap();
        let key = &keyring.frame_keys("g")[0];
        for number in 0..=u8::MAX {
            let mut opener = opener(&keyring);
            let fresh = format!("{opener:?}");
            let opened = opener.open(&frame(number, key), &|_| Ok(()), &mut Vec::new());
            match Kind::of(number) {
                Some(kind) => assert_eq!(opened.unwrap().kind, kind),
                None => {
                    assert_eq!(opened, Err(DropReason::Kind.into()));
                    assert_eq!(format!("{opener:?}"), fresh);
                }
            }
        }
    }

    /// A frame of member 1, of this process of it.
    fn frame_of(
        kind: Kind,
        process: u8,
        incarnation: u64,
        sequence: u64,
        key: &FrameKey,
    ) -> Vec<u8> {
        let header = Header {
            kind: kind as u8,
            key: key.id,
            group: GroupTag::of("g"),
            sender: NodeId(1),
            receiver: None,
            incarnation,
            session: Session([process; 8]),
            sequence,
            digest: ConfigDigest::open(if kind == Kind::Join { "unknown" } else { "" }),
            salt: Salt([3; 16]),
        };
        let mut frame = header.encode().to_vec();
        key.seal(&header, &mut frame);
        frame
    }

    #[test]
    fn whoever_wants_to_join_is_heard_once_and_silences_neither_members_nor_other_processes() {
        let keyring = Keyring::generate().unwrap();
        let key = &keyring.frame_keys("g")[0];
        let mut opener = opener(&keyring);
        let no = |_| Err(DropReason::Stranger);
        let mut open = |kind, process, incarnation, sequence, admits: bool| {
            let frame = frame_of(kind, process, incarnation, sequence, key);
            let yes = |_| Ok(());
            let admits: &dyn Fn(NodeId) -> Result<(), DropReason> = if admits { &yes } else { &no };
            let opened = opener.open(&frame, admits, &mut Vec::new());
            opened.map(|_| ()).map_err(|dropped| dropped.reason)
        };
        assert_eq!(open(Kind::Message, 1, 5, 0, true), Ok(()));
        // Another process with that id, which began later, and one that began earlier.
        for (process, incarnation) in [(7, 9), (8, 3)] {
            assert_eq!(open(Kind::Join, process, incarnation, 0, false), Ok(()));
            let again = open(Kind::Join, process, incarnation, 0, false);
            assert_eq!(again, Err(DropReason::Replayed));
        }
        assert_eq!(open(Kind::Message, 1, 5, 1, true), Ok(()), "the member is heard as before");
        assert_eq!(open(Kind::Book, 7, 9, 1, false), Err(DropReason::Stranger));
        let forged =
            frame_of(Kind::Join, 9, 9, 0, &Keyring::generate().unwrap().frame_keys("g")[0]);
        assert!(opener.open(&forged, &no, &mut Vec::new()).is_err());
    }

    #[test]
    fn two_keys_with_the_same_name_both_open() {
        let keyring = Keyring::generate().unwrap();
        let mut opener = opener(&keyring);
        let mut namesake = Keyring::generate().unwrap().frame_keys("g").remove(0);
        namesake.id = opener.keys[0].id;
        let frame = frame(Kind::Message as u8, &namesake);
        let mut body = Vec::new();
        assert_eq!(opener.open(&frame, &|_| Ok(()), &mut body), Err(DropReason::Forged.into()));
        opener.keys.push(namesake);
        assert!(opener.open(&frame, &|_| Ok(()), &mut body).is_ok());
        assert_eq!(body, b"body");
    }
}
