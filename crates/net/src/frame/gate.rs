//! The receiving end: lets pass what a member of the group sealed, once, and names what it drops.

use super::charter::Charter;
use super::header::{GroupTag, Header, Kind, Session};
use super::key::FrameKey;
use super::keyring::Keyring;
use super::refusal::Refusal;
use super::replay::Replay;
use super::{HEADER, SENDERS_MAX};
use bellwether_core::NodeId;

/// What is known of an authentic frame.
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
    /// What its sender holds to be the list and the terms.
    pub charter: Charter,
}

/// A frame that did not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Denied {
    /// Why.
    pub refusal: Refusal,
    /// What is known of it if it is authentic. Nothing may be done about any other: whatever its
    /// header says, anybody could have written it.
    pub authentic: Option<Opened>,
}

impl From<Refusal> for Denied {
    fn from(refusal: Refusal) -> Self {
        Self { refusal, authentic: None }
    }
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
    /// The latest life that can have begun by now.
    latest: u64,
    /// The frames that passed.
    passed: Replay,
    /// The frames that were refused with a reason that a member may act on. It has no say in what
    /// passes; it only sees to it that each frame gives such a reason once.
    objected: Replay,
    /// The frames that were refused with a reason that their sender was told: each gives it once.
    told: Replay,
    /// The frames that came from the right place while their sender counted as absent.
    moved: Replay,
    /// How many frames may still be opened although their header says that they will be refused.
    spare: u32,
}

/// What a look at the header says of a frame that is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Worth {
    /// Nothing more is to be learnt by opening it.
    Nothing,
    /// That it is authentic is worth knowing, but not at any price.
    Telling,
    /// If it is authentic, a member acts on it.
    Acting,
}

impl Worth {
    fn of(refusal: Refusal) -> Self {
        match refusal {
            // `Moved`: what came from the right place must not testify to the contrary later.
            Refusal::OwnId
            | Refusal::List
            | Refusal::Terms
            | Refusal::Elsewhere
            | Refusal::Moved => Self::Acting,
            Refusal::FormerLife
            | Refusal::IdTwice
            | Refusal::FutureLife
            | Refusal::Stranger
            | Refusal::Address => Self::Telling,
            _ => Self::Nothing,
        }
    }
}

impl Gate {
    /// How many frames that are refused by their header are opened between two calls of
    /// [`refresh`](Self::refresh), to learn whether their senders should be told.
    pub const SPARE: u32 = 8;

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
            latest: u64::MAX,
            passed: Replay::new(SENDERS_MAX),
            objected: Replay::new(SENDERS_MAX),
            told: Replay::new(SENDERS_MAX),
            moved: Replay::new(SENDERS_MAX),
            spare: Self::SPARE,
        }
    }

    /// Opens a datagram into `body`, in place of what was there. `admits` is asked about the
    /// sender that a header names, be it authentic or not: is it in the list, is this its address?
    ///
    /// # Errors
    /// [`Denied`] with the one [`Refusal`] that applies; nothing changed that decides what passes
    /// later. `body` is empty, unless the frame is an authentic beacon of somebody with another
    /// charter or our id: that one is for reading, never for the protocol.
    pub fn open(
        &mut self,
        datagram: &[u8],
        admits: &dyn Fn(NodeId) -> Result<(), Refusal>,
        body: &mut Vec<u8>,
    ) -> Result<Opened, Denied> {
        let opened = self.judge(datagram, admits, body);
        if let Err(denied) = &opened
            && !denied.is_for_reading()
        {
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

    /// Time has passed: no life later than this one can have begun, and there is room again to
    /// open a few frames that their header condemns.
    pub fn refresh(&mut self, latest: u64) {
        (self.latest, self.spare) = (latest, Self::SPARE);
    }

    fn judge(
        &mut self,
        datagram: &[u8],
        admits: &dyn Fn(NodeId) -> Result<(), Refusal>,
        body: &mut Vec<u8>,
    ) -> Result<Opened, Denied> {
        let (header, bytes, sealed) = Header::decode(datagram)?;
        if header.group != self.tag {
            return Err(Refusal::Group.into());
        }
        if !self.keys.iter().any(|key| key.id == header.key) {
            return Err(Refusal::Key.into());
        }
        let seen = self.look(&header, admits);
        if let Err(refusal) = seen {
            match Worth::of(refusal) {
                Worth::Nothing => return Err(refusal.into()),
                Worth::Telling if self.spare == 0 || self.told.check(&header).is_err() => {
                    return Err(refusal.into());
                }
                Worth::Telling => self.spare -= 1,
                Worth::Acting => {}
            }
        }
        if !self.authenticate(&header, bytes, sealed, body) {
            return Err(Refusal::Forged.into());
        }
        let kind = Kind::of(header.kind).ok_or(Refusal::Kind)?;
        let Header { sender, incarnation, sequence, charter, .. } = header;
        let opened = Opened { sender, incarnation, sequence, kind, charter };
        match seen {
            Ok(()) => self.passed.record(&header),
            Err(refusal) => {
                match Worth::of(refusal) {
                    Worth::Acting if refusal == Refusal::Moved => self.moved.record(&header),
                    Worth::Acting => self.objected.record(&header),
                    // A life that cannot be would hide all true ones.
                    Worth::Telling if refusal != Refusal::FutureLife => self.told.record(&header),
                    Worth::Telling | Worth::Nothing => {}
                }
                return Err(Denied { refusal, authentic: Some(opened) });
            }
        }
        Ok(opened)
    }

    /// What the header alone says, before anything is opened. Changes nothing.
    fn look(
        &self,
        header: &Header,
        admits: &dyn Fn(NodeId) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        if header.receiver.is_some_and(|receiver| receiver != self.me) {
            return Err(Refusal::Receiver);
        }
        if header.sender == self.me {
            return Err(self.namesake(header));
        }
        self.passed.check(header)?;
        if header.incarnation > self.latest {
            return Err(Refusal::FutureLife);
        }
        if header.charter.list != self.charter.list {
            return Err(self.object(header, Refusal::List));
        }
        if header.charter.terms != self.charter.terms {
            return Err(self.object(header, Refusal::Terms));
        }
        admits(header.sender).map_err(|refusal| match (refusal, self.moved.check(header)) {
            (Refusal::Moved, Err(known)) => known,
            // What came from the right place does not testify to the contrary.
            (Refusal::Elsewhere, Err(Refusal::Replayed)) => Refusal::Replayed,
            (Refusal::Elsewhere, _) => self.object(header, refusal),
            _ => refusal,
        })
    }

    /// Opens the body with the key that the header names; by chance several have that name.
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

    /// Why a frame under our own id is refused. One of a former life of ours, which anybody may
    /// have kept, is no reason to think that the id is used twice.
    fn namesake(&self, header: &Header) -> Refusal {
        if header.session == self.session {
            Refusal::Own
        } else if header.incarnation < self.incarnation {
            Refusal::FormerLife
        } else if header.incarnation > self.latest {
            Refusal::FutureLife
        } else {
            self.object(header, Refusal::OwnId)
        }
    }

    /// This reason if the frame gives it for the first time.
    fn object(&self, header: &Header, reason: Refusal) -> Refusal {
        self.objected.check(header).err().unwrap_or(reason)
    }
}

impl Denied {
    /// Whether its body may be read: a beacon of somebody with another charter or the same id,
    /// which says more of what is wrong.
    fn is_for_reading(&self) -> bool {
        let by_whom = matches!(
            self.refusal,
            Refusal::List | Refusal::Terms | Refusal::OwnId | Refusal::FormerLife
        );
        by_whom && self.authentic.is_some_and(|opened| opened.kind == Kind::Beacon)
    }
}

#[cfg(test)]
mod tests {
    use super::super::header::Salt;
    use super::*;

    fn gate(keyring: &Keyring) -> Gate {
        Gate::new("g", NodeId(2), 1, Session([2; 8]), Charter::open(""), keyring)
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
            charter: Charter::open(""),
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
            let mut gate = gate(&keyring);
            let fresh = format!("{gate:?}");
            let opened = gate.open(&frame(number, key), &|_| Ok(()), &mut Vec::new());
            match Kind::of(number) {
                Some(kind) => assert_eq!(opened.unwrap().kind, kind),
                None => {
                    assert_eq!(opened, Err(Refusal::Kind.into()));
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
        assert_eq!(gate.open(&frame, &|_| Ok(()), &mut body), Err(Refusal::Forged.into()));
        gate.keys.push(namesake);
        assert!(gate.open(&frame, &|_| Ok(()), &mut body).is_ok());
        assert_eq!(body, b"body");
    }
}
