//! What members tell each other outside their protocol: that they are there, whom they refuse, and
//! what they hold to be the group.
//!
//! A member that takes no part sends a beacon twice a second to everyone and to those with whom it
//! disagrees. Any other sends one only to those it refuses, and to where it is listed itself if it
//! is not there.
//!
//! **Assumptions.** Only authentic frames are answered, each of them once, for three seconds, each
//! address at most twice a second and with one frame. Whoever has no key and repeats what it heard
//! gets no second answer by the same frame.
//!
//! **Promise.** A member that others refuse finds it in its own status. Of two processes with one
//! id that can reach each other, one takes no part:
//!
//! 1. A process that is not where its id is listed asks there, by a beacon. So does one that hears
//!    from another member that its id is also used at another address.
//! 2. A process that hears such a beacon under its own id answers by one that names the asker's
//!    life as refused. It need not withdraw: nobody who has the list hears the asker.
//! 3. Who is answered withdraws, as long as answers come. An answer is for one life, so that one
//!    that somebody kept is of no use.
//!
//! A *message* under its own id, which it hears in a group without a list, makes a process withdraw
//! at once, if it is of a later life.

use crate::clock::wall;
use crate::disputes::{Objection, Word};
use crate::frame::{Denied, Kind, Opened, Refusal, latest_life};
use crate::member::{INCIDENTS, Incident, Member};
use crate::peers::Peers;
use crate::standing::Standing;
use crate::withdrawal::{BEACON, Reason};
use bellwether_core::{Duration, Instant, NodeId};
use std::collections::BTreeSet;
use std::net::SocketAddr;

/// To how many of those with whom it disagrees a member shows itself.
const OPPONENTS: usize = 64;
/// How often a process that is not where it is listed asks who is there.
const QUESTION: Duration = Duration::from_secs(2);
/// Who was heard within this time is counted when lists are compared.
const LATELY: Duration = Duration::from_secs(5);

/// What is refused.
impl Member {
    /// A frame did not pass.
    pub(crate) fn refuse(&mut self, denied: Denied, from: SocketAddr, now: Instant) {
        let refusal = denied.refusal;
        self.counters.count(refusal);
        if refusal == Refusal::Own {
            return; // what is sent to all comes back
        }
        self.refusals.push_front(Incident { at: now, from, refusal });
        self.refusals.truncate(INCIDENTS);
        // Anybody can write what is not authentic: nothing is done about it.
        if let Some(frame) = denied.authentic {
            self.object(refusal, &frame, from, now);
        }
    }

    /// An authentic frame did not pass.
    fn object(&mut self, refusal: Refusal, frame: &Opened, from: SocketAddr, now: Instant) {
        match refusal {
            Refusal::List | Refusal::Terms => {
                self.disputes.differ(frame, from, now);
                if frame.kind == Kind::Beacon {
                    self.disputes.explain(frame.sender, Word::decode(&self.body));
                }
                self.oppose(refusal, from);
            }
            Refusal::OwnId if frame.kind == Kind::Message => self.oppose(refusal, from),
            _ if frame.sender == self.settings.me && frame.kind == Kind::Beacon => {
                self.meet_namesake(frame, from, now);
            }
            _ => {
                if refusal == Refusal::Elsewhere {
                    self.directory.doubt(frame.sender, now);
                }
                self.disputes.refuse(refusal, frame, from, now);
            }
        }
    }

    fn oppose(&mut self, refusal: Refusal, from: SocketAddr) {
        if self.opponents.len() < OPPONENTS {
            self.opponents.insert(from);
        }
        self.withdraw(Reason::Conflict(refusal, from));
    }

    /// Another process with this id asks whether there is one, or answers.
    fn meet_namesake(&mut self, frame: &Opened, from: SocketAddr, now: Instant) {
        let word = Word::decode(&self.body);
        let answers = word.refuses.iter().any(|objection| self.is_me(objection));
        if answers {
            self.oppose(Refusal::OwnId, from);
        } else {
            self.disputes.refuse(Refusal::OwnId, frame, from, now);
        }
    }

    /// A beacon of another member: whom it refuses.
    pub(crate) fn heed(&mut self, sender: NodeId, now: Instant) {
        let word = Word::decode(&self.body);
        for objection in &word.refuses {
            let why = Refusal::named(&objection.why);
            if let Some(why) = why.filter(|_| self.is_me(objection)) {
                self.disputes.be_refused(sender, why, now);
            }
            let elsewhere = matches!(why, Some(Refusal::Address | Refusal::Elsewhere));
            let ours = objection.id == self.settings.me.0 && !self.is_here(objection.from);
            if ours && elsewhere && self.suspects.len() < OPPONENTS {
                self.suspects.insert(objection.from);
            }
        }
    }

    fn is_me(&self, objection: &Objection) -> bool {
        (objection.id, objection.life) == (self.settings.me.0, self.incarnation)
    }

    fn is_here(&self, address: SocketAddr) -> bool {
        self.sockets.listens().is_ok_and(|at| at == address)
    }
}

/// What is told.
impl Member {
    /// Says what there is to say, to those whom it concerns.
    pub(crate) fn beacon(&mut self, now: Instant) {
        self.next_beacon = now + BEACON;
        self.gate.refresh(latest_life(wall()));
        self.disputes.forget(now);
        self.name_the_odd_one(now);
        let mut places = std::mem::take(&mut self.suspects);
        for Objection { id, from, .. } in self.disputes.refused() {
            places.insert(from);
            let at = self.directory.address(NodeId(id)).filter(|_| id != self.settings.me.0);
            places.extend(at);
        }
        if now >= self.next_question {
            self.next_question = now + QUESTION;
            places.extend(self.directory.own_place().filter(|at| !self.is_here(*at)));
        }
        if self.withdrawal.is_some() {
            // Those with whom it disagrees may not be among everyone.
            places.extend(&self.opponents);
            // Each place once: a second copy of a frame counts as a replay there.
            self.directory.everyone(&mut |address| {
                places.insert(address);
            });
        }
        if places.is_empty() {
            return;
        }
        let word = Word { refuses: self.disputes.refused(), ..self.word() };
        let mut frame = Vec::new();
        if self.sealer.seal(Kind::Beacon, None, &word.encode(), &mut frame).is_ok() {
            self.send_to_all(&places, &frame);
        }
    }

    fn send_to_all(&mut self, places: &BTreeSet<SocketAddr>, frame: &[u8]) {
        places.iter().for_each(|address| self.send(*address, frame));
    }

    /// What this member holds to be the group.
    fn word(&self) -> Word {
        let peers = &self.settings.peers;
        let list = matches!(peers, Peers::Listed(_)).then(|| peers.to_string());
        Word { refuses: Vec::new(), list, terms: Some(self.settings.program.terms.clone()) }
    }

    /// Why it takes no part, as well as can be said by now.
    pub(crate) fn reason(&self, why: &Reason, now: Instant) -> String {
        let other = matches!(why, Reason::Conflict(Refusal::List | Refusal::Terms, _));
        let lately =
            |id: &NodeId| self.directory.heard(*id).is_some_and(|at| now.since(at) <= LATELY);
        let agree: Vec<NodeId> = self.directory.members().into_iter().filter(lately).collect();
        let mine = (self.settings.charter(), &self.word());
        let odd = self.disputes.odd(self.settings.me, mine, &agree).filter(|_| other);
        odd.unwrap_or_else(|| why.to_string())
    }

    /// Tells again why it takes no part, once more is known of whose fault it is.
    fn name_the_odd_one(&mut self, now: Instant) {
        let Some(withdrawal) = &self.withdrawal else { return };
        let text = self.reason(&withdrawal.why, now);
        if text != withdrawal.told {
            self.tell_withdrawn(&text, now);
            if let Some(withdrawal) = &mut self.withdrawal {
                withdrawal.told = text;
            }
        }
    }

    /// To the application.
    pub(crate) fn tell_withdrawn(&self, text: &str, now: Instant) {
        let withdrawn = Some(text.to_owned());
        self.shared.tell(Standing { withdrawn, ..Standing::none(self.settings.me, now) });
    }
}
