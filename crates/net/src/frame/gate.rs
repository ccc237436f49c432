//! The receiving end: lets pass what a member of the group sealed, once, and names what it drops.

use super::charter::Charter;
use super::header::{GroupTag, Header, Kind, Session};
use super::key::FrameKey;
use super::keyring::Keyring;
use super::refusal::Refusal;
use super::replay::Replay;
use super::{HEADER, SENDERS_MAX};
use bellwether_core::NodeId;

/// What is known of a frame that passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opened {
    /// Who sealed it.
    pub sender: NodeId,
    /// In which life.
    pub incarnation: u64,
    /// Its number in that life.
    pub sequence: u64,
    /// What its body is.
    pub kind: Kind,
}

/// Opens what others send to one life of one member.
#[derive(Debug)]
pub struct Gate {
    group: String,
    tag: GroupTag,
    me: NodeId,
    incarnation: u64,
    session: Session,
    charter: Charter,
    keys: Vec<FrameKey>,
    /// The frames that passed.
    passed: Replay,
    /// The frames that were refused with a reason that a member may act on. It has no say in what
    /// passes; it only sees to it that each frame gives such a reason once.
    objected: Replay,
}

impl Gate {
    /// For this life of this member; opens what any key of the ring sealed.
    pub fn new(
        group: &str,
        me: NodeId,
        incarnation: u64,
        session: Session,
        charter: Charter,
        keyring: &Keyring,
    ) -> Self {
        Self {
            group: group.to_owned(),
            tag: GroupTag::of(group),
            me,
            incarnation,
            session,
            charter,
            keys: keyring.frame_keys(group),
            passed: Replay::new(SENDERS_MAX),
            objected: Replay::new(SENDERS_MAX),
        }
    }

    /// Opens a datagram into `body`, in place of what was there. `admits` is asked about the
    /// sender of an authentic frame of our charter that is no replay: is it in the list, is this
    /// its address?
    ///
    /// # Errors
    /// The one [`Refusal`] that applies; `body` is empty, and nothing changed that decides what
    /// passes later.
    pub fn open(
        &mut self,
        datagram: &[u8],
        admits: &dyn Fn(NodeId) -> Result<(), Refusal>,
        body: &mut Vec<u8>,
    ) -> Result<Opened, Refusal> {
        let opened = self.judge(datagram, admits, body);
        if opened.is_err() {
            body.clear();
        }
        opened
    }

    /// Opens what any key of this ring sealed, from now on. What was here before stays known.
    pub fn set_keyring(&mut self, keyring: &Keyring) {
        self.keys = keyring.frame_keys(&self.group);
    }

    /// Another life of the same member. What was here before stays known.
    pub fn set_life(&mut self, incarnation: u64, session: Session) {
        (self.incarnation, self.session) = (incarnation, session);
    }

    fn judge(
        &mut self,
        datagram: &[u8],
        admits: &dyn Fn(NodeId) -> Result<(), Refusal>,
        body: &mut Vec<u8>,
    ) -> Result<Opened, Refusal> {
        let (header, bytes, sealed) = Header::decode(datagram)?;
        if header.group != self.tag {
            return Err(Refusal::Group);
        }
        self.authenticate(&header, bytes, sealed, body)?;
        let kind = Kind::of(header.kind).ok_or(Refusal::Kind)?;
        if header.session == self.session {
            return Err(Refusal::Own);
        }
        if header.sender == self.me {
            return Err(self.namesake(&header));
        }
        self.passed.check(&header)?;
        if header.charter.list != self.charter.list {
            return Err(self.object(&header, Refusal::List));
        }
        if header.charter.terms != self.charter.terms {
            return Err(self.object(&header, Refusal::Terms));
        }
        admits(header.sender)?;
        self.passed.record(&header);
        let Header { sender, incarnation, sequence, .. } = header;
        Ok(Opened { sender, incarnation, sequence, kind })
    }

    /// Opens the body with the key that the header names; by chance several have that name.
    fn authenticate(
        &self,
        header: &Header,
        bytes: &[u8; HEADER],
        sealed: &[u8],
        body: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        let mut named = self.keys.iter().filter(|key| key.id == header.key).peekable();
        if named.peek().is_none() {
            return Err(Refusal::Key);
        }
        if named.any(|key| key.open(header, bytes, sealed, body)) {
            Ok(())
        } else {
            Err(Refusal::Forged)
        }
    }

    /// Why a frame under our own id is refused. One of a former life of ours, which anybody may
    /// have kept, is no reason to think that the id is used twice.
    fn namesake(&mut self, header: &Header) -> Refusal {
        if header.incarnation < self.incarnation {
            Refusal::FormerLife
        } else {
            self.object(header, Refusal::OwnId)
        }
    }

    /// This reason if the frame gives it for the first time.
    fn object(&mut self, header: &Header, reason: Refusal) -> Refusal {
        match self.objected.check(header) {
            Ok(()) => {
                self.objected.record(header);
                reason
            }
            Err(refusal) => refusal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(keyring: &Keyring) -> Gate {
        Gate::new("g", NodeId(2), 1, Session([2; 16]), Charter::open(""), keyring)
    }

    /// An authentic frame of member 1, of the kind with this number.
    fn frame(kind: u8, key: &FrameKey) -> Vec<u8> {
        let header = Header {
            kind,
            key: key.id,
            group: GroupTag::of("g"),
            sender: NodeId(1),
            incarnation: 1,
            session: Session([1; 16]),
            sequence: 0,
            charter: Charter::open(""),
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
            let mut gate = gate(&keyring);
            let fresh = format!("{gate:?}");
            let opened = gate.open(&frame(number, key), &|_| Ok(()), &mut Vec::new());
            match Kind::of(number) {
                Some(kind) => assert_eq!(opened.unwrap().kind, kind),
                None => {
                    assert_eq!(opened, Err(Refusal::Kind));
                    assert_eq!(format!("{gate:?}"), fresh);
                }
            }
        }
    }

    #[test]
    fn two_keys_with_the_same_name_both_open() {
        let keyring = Keyring::generate().unwrap();
        let mut gate = gate(&keyring);
        let mut namesake = Keyring::generate().unwrap().frame_keys("g").remove(0);
        namesake.id = gate.keys[0].id;
        let frame = frame(Kind::Message as u8, &namesake);
        let mut body = Vec::new();
        assert_eq!(gate.open(&frame, &|_| Ok(()), &mut body), Err(Refusal::Forged));
        gate.keys.push(namesake);
        assert!(gate.open(&frame, &|_| Ok(()), &mut body).is_ok());
        assert_eq!(body, b"body");
    }
}
