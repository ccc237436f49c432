//! Members that join while the group runs: how a member answers those that want to, and how books
//! become equal.
//!
//! **Assumptions.** Only authentic frames come here, each once. A question is answered with one
//! frame, and so many a second.
//!
//! **Promise.** What a member says that it has taken up is stored. A refusal changes nothing. Who
//! joined is sent to everyone at once, and a page of the book to one member after the other every
//! two seconds; a group that nobody joined sends nothing of this.

use crate::book::{Book, Entry, GroupFacts, JoinRefused, PART, Word};
use crate::frame::{BODY_MAX, Kind, Opened};
use crate::member::Member;
use crate::peers::Peers;
use bellwether_core::{Dest, Instant, NodeId, Refused};
use sha2::{Digest, Sha256};
use std::net::SocketAddr;

/// The most parts that are told, and processes that are taken up, between two beacons.
const READS: u32 = 64;
const CLAIMS: u32 = 8;

/// The book of a member, and what it takes to share it.
#[derive(Debug, Default)]
pub(crate) struct Joins {
    /// The book; `None` in a group that accepts nobody while it runs.
    pub(crate) book: Option<Book>,
    /// Why a stored book was ignored, if it was.
    pub(crate) ignored: Option<String>,
    /// Why others do not know this member, if they said so.
    refused: Option<String>,
    /// What there is to know of the group, as text.
    text: Option<Vec<u8>>,
    reads: u32,
    claims: u32,
    /// The last entry of the last page, and who got it.
    after: Option<NodeId>,
    to: Option<NodeId>,
}

impl Joins {
    pub(crate) fn new(book: Option<Book>, ignored: Option<String>) -> Self {
        Self { book, ignored, reads: READS, claims: CLAIMS, ..Self::default() }
    }

    /// What is wrong, for people to read.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = String> {
        self.ignored.iter().chain(&self.refused).cloned()
    }
}

/// Answering.
impl Member {
    /// Handles a question of a process that wants to join, or an answer to this member's own.
    pub(crate) fn on_join(&mut self, opened: &Opened, from: SocketAddr, now: Instant) {
        let Some((word, _)) = Word::decode(&self.body) else { return };
        let life = opened.incarnation;
        let answer = match word {
            Word::Read { offset } => self.tell_part(life, offset, now),
            Word::Claim(claim) if claim.id == opened.sender.0 => {
                let refused = self.on_claim(claim, from, now);
                Some(refused.map_or_else(
                    |why| refusal(life, why),
                    |()| Word::Taken { life, list: self.votes_by(now) }.encode(b""),
                ))
            }
            Word::Refused { life, why, .. } if life == self.incarnation => {
                self.joins.refused = Some(format!("member {} refuses us: {why}", opened.sender));
                None
            }
            Word::Taken { life, .. } if life == self.incarnation => {
                self.joins.refused = None;
                None
            }
            _ => None,
        };
        let mut frame = Vec::new();
        let sealed = answer.map(|body| {
            self.sealer.seal(Kind::Join, Some(opened.sender), &body, &mut frame).is_ok()
        });
        if sealed == Some(true) {
            self.send(from, &frame);
        }
    }

    /// Why nobody is taken up here.
    fn takes_nobody(&self) -> Option<JoinRefused> {
        let by = self.settings.me;
        match &self.joins.book {
            None => Some(JoinRefused::Closed { by }),
            Some(_) => self.life.is_none().then_some(JoinRefused::NoPart { by }),
        }
    }

    /// A part of what there is to know of the group.
    fn tell_part(&mut self, life: u64, offset: usize, now: Instant) -> Option<Vec<u8>> {
        self.joins.reads = self.joins.reads.checked_sub(1)?;
        if let Some(why) = self.takes_nobody() {
            return Some(refusal(life, why));
        }
        // The voters may have changed since the beginning was told.
        if offset == 0 || self.joins.text.is_none() {
            let Some((list, voters)) = self.settled_voters(now) else {
                return Some(refusal(life, JoinRefused::VotersUnknown { by: self.settings.me }));
            };
            let book = self.joins.book.as_ref()?;
            let (founding, entries) = (book.founding().clone(), book.entries().copied().collect());
            let told = GroupFacts { founding, list, voters, entries };
            self.joins.text = serde_json::to_vec(&told).ok();
        }
        let text = self.joins.text.as_ref()?;
        let rest = text.get(offset..).unwrap_or_default();
        let sum = u64::from_le_bytes(*Sha256::digest(text).first_chunk()?);
        let part = Word::Part { life, offset, total: text.len(), sum };
        Some(part.encode(&rest[..rest.len().min(PART)]))
    }

    /// Takes a process up, or says why not.
    fn on_claim(
        &mut self,
        claim: Entry,
        from: SocketAddr,
        now: Instant,
    ) -> Result<(), JoinRefused> {
        if let Some(refused) = self.takes_nobody() {
            return Err(refused);
        }
        let busy = JoinRefused::Busy { by: self.settings.me };
        self.joins.claims = self.joins.claims.checked_sub(1).ok_or(busy)?;
        if claim.at.is_none_or(|at| (at.ip(), at.port()) != (from.ip(), from.port())) {
            return Err(JoinRefused::Elsewhere { said: claim.at, from });
        }
        let neighbour = self.directory.at(from);
        let mut changed = false;
        let stored = self.change_book(now, |book| {
            let taken = book.take_up(claim, neighbour);
            changed = *taken.as_ref().unwrap_or(&false);
            taken
        });
        stored??;
        if changed {
            self.spread(&[claim]);
        }
        Ok(())
    }

    /// Changes the book, and stores it before anything follows from that. An error says why it
    /// cannot be stored; nothing changed then.
    fn change_book<T>(
        &mut self,
        now: Instant,
        change: impl FnOnce(&mut Book) -> T,
    ) -> Result<T, JoinRefused> {
        let by = self.settings.me;
        let Some(mut book) = self.joins.book.clone() else {
            return Err(JoinRefused::Closed { by });
        };
        let changed = change(&mut book);
        if self.joins.book.as_ref() == Some(&book) {
            return Ok(changed);
        }
        if let Some(dir) = &self.settings.dir {
            book.keep(dir, &self.settings.name())
                .map_err(|error| JoinRefused::NotStored { by, error: error.to_string() })?;
        }
        let here = |at: SocketAddr| Some(at) == self.directory.own_place();
        let mine = book.entry(self.settings.me);
        if mine.is_some_and(|entry| !entry.at.is_some_and(here)) {
            self.joins.refused = Some(
                "the group has forgotten this member, or has another process with its id: end it"
                    .to_owned(),
            );
        }
        let joined = book.joined();
        self.joins.book = Some(book);
        self.joins.text = None;
        if self.directory.set_joined(&joined, now) && self.life.is_some() {
            self.recorder.peers(now, self.directory.members());
        }
        Ok(changed)
    }
}

/// The word that refuses a process.
fn refusal(life: u64, why: JoinRefused) -> Vec<u8> {
    let last = why.is_final();
    Word::Refused { life, why, last }.encode(b"")
}

/// Sharing.
impl Member {
    /// Renews what may be answered until the next beacon.
    pub(crate) fn refresh_joins(&mut self) {
        (self.joins.reads, self.joins.claims) = (READS, CLAIMS);
    }

    /// Handles entries of another member's book.
    pub(crate) fn on_book(&mut self, now: Instant) {
        let Ok(entries) = serde_json::from_slice::<Vec<Entry>>(&self.body) else { return };
        // If it cannot be stored, the entries come again.
        let _ = self.change_book(now, |book| book.merge(&entries));
    }

    /// Sends entries to everyone.
    fn spread(&mut self, entries: &[Entry]) {
        let body = serde_json::to_vec(entries).unwrap_or_default();
        let mut frame = Vec::new();
        if let Ok(number) = self.sealer.seal(Kind::Book, None, &body, &mut frame) {
            self.transmit(Dest::Everyone, number, &frame, self.now);
        }
    }

    /// Sends the next page of the book to the next member.
    pub(crate) fn share_book(&mut self) {
        let Some(book) = self.joins.book.as_ref().filter(|_| self.life.is_some()) else { return };
        let (page, after) = book.page(self.joins.after, BODY_MAX - 2);
        let view = self.directory.view();
        let next = view.after(self.joins.to).or_else(|| view.after(None));
        if page.is_empty() {
            self.joins.after = None; // what came after it is gone: from the beginning
        }
        let Some(to) = next.filter(|_| !page.is_empty()) else { return };
        // Everyone gets a page before the next one is sent.
        let wraps = view.after(Some(to)).is_none();
        (self.joins.to, self.joins.after) =
            (Some(to), if wraps { after } else { self.joins.after });
        let body = serde_json::to_vec(&page).unwrap_or_default();
        let mut frame = Vec::new();
        if let Ok(number) = self.sealer.seal(Kind::Book, Some(to), &body, &mut frame) {
            self.transmit(Dest::Node(to), number, &frame, self.now);
        }
    }

    /// Says to a member that does not know this one who it is, if it joined.
    pub(crate) fn introduce(&mut self, to: NodeId) {
        let book = self.joins.book.as_ref();
        let Some(entry) = book.and_then(|book| book.entry(self.settings.me)).copied() else {
            return;
        };
        let mut frame = Vec::new();
        let body = Word::Claim(entry).encode(b"");
        if let Ok(number) = self.sealer.seal(Kind::Join, Some(to), &body, &mut frame) {
            self.transmit(Dest::Node(to), number, &frame, self.now);
        }
    }

    /// Forgets a member that joined and has ended for good. Only the leader knows for certain who
    /// votes.
    pub(crate) fn forget(&mut self, id: NodeId, now: Instant) -> Result<(), Refused> {
        if self.joins.book.is_none() {
            return Err(Refused::NobodyJoins);
        }
        if let Peers::Listed(list) = &self.settings.peers
            && list.contains_key(&id)
        {
            return Err(Refused::Founder(id));
        }
        if !self.leads(now) {
            return Err(Refused::NotLeading);
        }
        let invited = self.life.as_ref().and_then(|life| life.endpoint().invited(now));
        if self.present_voters(now).contains(&id) || invited == Some(id) {
            return Err(Refused::Votes(id));
        }
        if self.heard_lately(id, now) || id == self.settings.me {
            return Err(Refused::Runs(id));
        }
        match self.change_book(now, |book| book.forget(id)) {
            Ok(true) => {}
            Ok(false) => return Err(Refused::UnknownMember(id)),
            Err(_) => return Err(Refused::NotNow),
        }
        let entry = self.joins.book.as_ref().and_then(|book| book.entry(id)).copied();
        self.spread(entry.as_slice());
        Ok(())
    }
}
