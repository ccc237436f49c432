//! How a process joins a running group: it has the group's key and the address of a member.
//!
//! It reads what there is to know of the group from one member: the founding list and its voters,
//! the parameters, who joined, and who votes now. Then it claims its id and its address from all
//! voters. It is a member once a majority of them has stored that (see `book`).
//!
//! **Assumptions.** The datagrams of this process come from the address that it names, as the
//! members see them.
//!
//! **Promise.** It believes authentic answers to its own questions alone. It asks until it is
//! answered, less and less often, and says what it waits for. A refusal ends it, with the reason.

use crate::bad_settings::BadSettings;
use crate::book::{Book, Entry, GroupFacts, JoinRefused, TOLD_MAX, Word};
use crate::clock::{BootTime, Clock as _, wall};
use crate::frame::{
    ConfigDigest, FrameOpener, Keyring, Kind, Opened, Sealer, Session, latest_life,
};
use crate::peers::Peers;
use crate::resolver::lookup;
use bellwether_core::NodeId;
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::thread::sleep;
use std::time::Duration;

/// How long an answer may take.
const ANSWER: Duration = Duration::from_millis(300);
/// How often a part is asked for before another member is asked.
const TRIES: u32 = 3;
/// The longest pause between two rounds of questions.
const PAUSE_MAX: Duration = Duration::from_secs(5);
/// How long voters are asked before the group is read again: others may vote by then.
const CLAIM: Duration = Duration::from_secs(10);
/// How often the same line is said again.
const AGAIN: Duration = Duration::from_secs(30);

/// What it joins, as whom, and where.
pub(crate) struct Wanted<'a> {
    pub(crate) group: &'a str,
    pub(crate) me: NodeId,
    pub(crate) keyring: &'a Keyring,
    /// The members to ask, as `HOST:PORT`.
    pub(crate) through: &'a [String],
    /// Where it listens, and what the others call that.
    pub(crate) listen: SocketAddr,
    pub(crate) at: SocketAddr,
}

/// A process that joins.
pub(crate) struct Asking<'a> {
    wanted: &'a Wanted<'a>,
    socket: UdpSocket,
    sealer: Sealer,
    opener: FrameOpener,
    life: u64,
    /// When the member joined, by its wall clock.
    since: u64,
    tell: &'a mut dyn FnMut(String),
    told: Option<(String, Duration)>,
}

type Checked<T> = Result<T, BadSettings>;

impl<'a> Asking<'a> {
    pub(crate) fn new(wanted: &'a Wanted<'a>, tell: &'a mut dyn FnMut(String)) -> Checked<Self> {
        let listen = |error| BadSettings::Listen(wanted.listen, error);
        let socket = UdpSocket::bind(wanted.listen).map_err(listen)?;
        let random = |error| BadSettings::System("cannot draw a random number", error);
        let (session, life) = (Session::draw().map_err(random)?, wall());
        let Wanted { group, me, keyring, .. } = wanted;
        // Frames of this kind are not compared by what is in common: that is not known yet.
        let digest = ConfigDigest::open("");
        let sealer = Sealer::new(group, *me, life, session, digest, keyring);
        let mut opener = FrameOpener::new(group, *me, life, session, digest, keyring);
        opener.refresh(latest_life(wall()));
        Ok(Self { wanted, socket, sealer, opener, life, since: life, tell, told: None })
    }

    /// Asks until it is a member, or refused; `check` says whether what was read is acceptable, and
    /// gives its digest.
    pub(crate) fn join(
        mut self,
        check: &dyn Fn(&GroupFacts) -> Checked<ConfigDigest>,
    ) -> Checked<Book> {
        let mut pause = ANSWER;
        loop {
            if let Some((from, told)) = self.read()? {
                let digest = check(&told)?;
                if let Some(book) = self.claim(from, &told, digest)? {
                    return Ok(book);
                }
            }
            sleep(pause);
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// Says a line, unless it was the last one said a moment ago.
    fn say(&mut self, line: String) {
        let known = |(text, at): &(String, Duration)| *text == line && now() - *at < AGAIN;
        if !self.told.as_ref().is_some_and(known) {
            (self.tell)(line.clone());
            self.told = Some((line, now()));
        }
    }

    /// What one of the members tells; `None` if nobody answers.
    fn read(&mut self) -> Checked<Option<(SocketAddr, GroupFacts)>> {
        let through = self.wanted.through;
        for place in through {
            for address in lookup(place) {
                if let Some(told) = self.read_from(address)? {
                    return Ok(Some((address, told)));
                }
            }
        }
        self.say(format!(
            "no answer from {} yet: nobody listens there, or it has another key or another group; \
             it is asked again",
            through.join(" or ")
        ));
        Ok(None)
    }

    fn read_from(&mut self, address: SocketAddr) -> Checked<Option<GroupFacts>> {
        let (mut text, mut known) = (Vec::new(), None);
        loop {
            let offset = text.len();
            let Some((total, sum, bytes)) = self.part(address, offset)? else { return Ok(None) };
            if known.is_some_and(|known| known != (total, sum)) || total > TOLD_MAX {
                (text, known) = (Vec::new(), None); // it has changed: from the beginning
                if total > TOLD_MAX {
                    return Ok(None);
                }
                continue;
            }
            known = Some((total, sum));
            text.extend_from_slice(&bytes);
            if bytes.is_empty() || text.len() >= total {
                return Ok(serde_json::from_slice(&text).ok());
            }
        }
    }

    /// Asks for one part: how long the whole is, its number, and the bytes.
    fn part(
        &mut self,
        address: SocketAddr,
        wanted: usize,
    ) -> Checked<Option<(usize, u64, Vec<u8>)>> {
        for _ in 0..TRIES {
            self.send(address, &Word::Read { offset: wanted });
            let until = now() + ANSWER;
            while let Some((_, from, word, rest)) = self.receive(until) {
                match word {
                    Word::Part { life, offset, total, sum }
                        if life == self.life && offset == wanted && from == address =>
                    {
                        return Ok(Some((total, sum, rest)));
                    }
                    Word::Refused { life, why, last } if life == self.life => {
                        self.refused(why, last)?;
                    }
                    _ => {}
                }
            }
        }
        Ok(None)
    }

    /// Claims its id from the voters; the book, once a majority has stored it.
    fn claim(
        &mut self,
        from: SocketAddr,
        told: &GroupFacts,
        digest: ConfigDigest,
    ) -> Checked<Option<Book>> {
        let mut book = Book::new(told.founding.clone());
        book.merge(&told.entries);
        let (me, at) = (self.wanted.me, self.wanted.at);
        let number = book.entry(me).map_or(0, |entry| entry.number);
        let claim = Entry { id: me.0, number, since: self.since, at: Some(at) };
        let mut places = places(told, &book);
        let begun = now();
        // A voter that lost its book is known at this address, and counts too.
        let voted = book.entry(me).is_some_and(|entry| entry.at == Some(at));
        let votes = |taken: &BTreeSet<NodeId>| {
            let is_voter = |id: &&NodeId| told.voters.contains(&id.0);
            taken.iter().chain(voted.then_some(&me)).filter(is_voter).count()
        };
        let (mut taken, mut answered) = (BTreeSet::new(), false);
        // Whom it read from is asked first: if that one refuses, nobody else is asked.
        let mut to = vec![from];
        while now() - begun < CLAIM {
            to.iter().for_each(|address| self.send(*address, &Word::Claim(claim)));
            let until = now() + ANSWER;
            while let Some((opened, _, word, _)) = self.receive(until) {
                match word {
                    Word::Taken { life, list } if life == self.life && opened.digest == digest => {
                        places.remove(&opened.sender);
                        // Majorities of one list share a voter; those of two lists need not.
                        match list {
                            Some(list) if list > told.list => return Ok(None),
                            Some(list) if list == told.list => drop(taken.insert(opened.sender)),
                            _ => {}
                        }
                        answered = true;
                    }
                    Word::Refused { life, why, last } if life == self.life => {
                        self.refused(why, last)?;
                    }
                    _ => {}
                }
                if votes(&taken) * 2 > told.voters.len() {
                    book.merge(&[claim]);
                    return Ok(Some(book));
                }
            }
            if answered {
                to = places.values().copied().collect();
            }
        }
        self.say(format!(
            "{} of {} voters answered, and a majority of them must know this member: it asks again",
            votes(&taken),
            told.voters.len()
        ));
        Ok(None)
    }

    fn refused(&mut self, why: JoinRefused, last: bool) -> Checked<()> {
        if last {
            return Err(BadSettings::NotTakenUp { why });
        }
        self.say(format!("{why}; it is asked again"));
        Ok(())
    }

    fn send(&mut self, to: SocketAddr, word: &Word) {
        let mut frame = Vec::new();
        if self.sealer.seal(Kind::Join, None, &word.encode(b""), &mut frame).is_ok() {
            let _ = self.socket.send_to(&frame, to); // nobody answers then, and it says so
        }
    }

    /// The next authentic word before this instant.
    fn receive(&mut self, until: Duration) -> Option<(Opened, SocketAddr, Word, Vec<u8>)> {
        let mut buffer = [0; 2048];
        loop {
            let left = until.saturating_sub(now());
            if left.is_zero() || self.socket.set_read_timeout(Some(left)).is_err() {
                return None;
            }
            let (length, from) = match self.socket.recv_from(&mut buffer) {
                Ok(received) => received,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return None,
                Err(error) if error.kind() == ErrorKind::TimedOut => return None,
                Err(_) => {
                    sleep(Duration::from_millis(10)); // nobody listens there
                    continue;
                }
            };
            let mut body = Vec::new();
            // Members that know it already may send it messages: it takes no part yet.
            let opened = self.opener.open(&buffer[..length], &|_| Ok(()), &mut body).ok();
            let word = opened.filter(|opened| opened.kind == Kind::Join);
            let word = word.and_then(|opened| Some((opened, Word::decode(&body)?)));
            if let Some((opened, (word, rest))) = word {
                return Some((opened, from, word, rest.to_vec()));
            }
        }
    }
}

/// The time since the machine started.
fn now() -> Duration {
    Duration::from_nanos(BootTime.now().as_nanos())
}

/// Where the voters are.
fn places(told: &GroupFacts, book: &Book) -> BTreeMap<NodeId, SocketAddr> {
    let mut all = book.joined();
    if let Some(Peers::Listed(list)) = told.founding.peers() {
        let found = |(id, place): (NodeId, String)| Some((id, *lookup(&place).first()?));
        all.extend(
            list.into_iter().filter(|(id, _)| told.voters.contains(&id.0)).filter_map(found),
        );
    }
    all.retain(|id, _| told.voters.contains(&id.0));
    all
}
