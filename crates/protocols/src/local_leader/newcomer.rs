//! A process without stored terms: it reads them from others, or founds the group together with
//! them.
//!
//! **Source.** Beyond the paper. The rules are those of the model in `proofs/`.
//!
//! **Assumptions.** When a process that once voted has lost its record, some other process of the
//! group still has one with a term. If all records are lost at once, nobody can tell the group from
//! a new one.
//!
//! **Promise.** It grants nothing and asks for nothing before it has a record. It asks only after
//! its quarantine, because a vote of its former life may make a leader until then. A record that
//! was read holds no lower term than any leader rested on this process's vote for.
//!
//! | what it hears | what it stores |
//! |---|---|
//! | N−m+1 others tell their highest terms: some of them is in every majority that this process was in | the highest of those |
//! | all others say that they have voted for nobody, each in a life that was known before the question | that it has voted for nobody |

use super::hall::{Hall, Timer};
use super::message::Message;
use super::rules::Rule;
use super::terms::Stored;
use alloc::vec::Vec;
use bellwether_core::{Cx, Instant, NodeId};

/// What a process without a record has been told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Newcomer {
    /// The number of the current question. It changes when another life of a process is met.
    round: u64,
    /// What each process told, in order of id.
    told: Vec<Answer>,
}

/// The last answers of one process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Answer {
    from: NodeId,
    life: u64,
    /// Its highest term, if it has a record.
    highest: Option<u64>,
    /// Whether it said in the current round that it has voted for nobody.
    never_voted: bool,
}

impl Newcomer {
    /// Notes an answer. True if another life of a process was met, so that a new round begins.
    fn hear(&mut self, from: NodeId, life: u64, round: u64, highest: Option<u64>) -> bool {
        let (place, met) = match self.told.binary_search_by_key(&from, |answer| answer.from) {
            Ok(place) => (place, self.told[place].life != life),
            Err(place) => {
                let answer = Answer { from, life, highest: None, never_voted: false };
                self.told.insert(place, answer);
                (place, true)
            }
        };
        if met {
            self.round += 1;
            self.told.iter_mut().for_each(|answer| answer.never_voted = false);
        }
        let current = self.round == round;
        let answer = &mut self.told[place];
        answer.life = life;
        answer.highest = highest.or(answer.highest);
        answer.never_voted |= current && highest.is_none_or(|term| term == 0);
        met
    }
}

impl Hall {
    /// Arms the first inquiry for this instant, or for the end of its quarantine if that is later.
    pub(super) fn inquire_from(&self, from: Instant, cx: &mut Cx<'_, Self>) {
        let late = cx.params().keep(Rule::ReadAfterQuarantine);
        let free = self.lock.filter(|_| late).map_or(from, |lock| lock.free());
        cx.arm(Timer::Ask, free.max(from));
    }

    /// Asks the others what they have granted.
    pub(super) fn inquire(&self, cx: &mut Cx<'_, Self>) {
        let (now, late) = (cx.now(), cx.params().keep(Rule::ReadAfterQuarantine));
        assert!(!late || self.lock.is_none(), "a process inquires after its quarantine");
        cx.broadcast(Message::Inquiry { life: self.life, round: self.newcomer.round });
        cx.arm(Timer::Ask, now + cx.params().period);
    }

    /// Tells a process without a record what this one has.
    pub(super) fn on_inquiry(&self, from: NodeId, asker: u64, round: u64, cx: &mut Cx<'_, Self>) {
        if cx.params().by_majority() {
            let highest = self.stored.map(|stored| stored.highest);
            cx.send(from, Message::Record { asker, round, life: self.life, highest });
        }
    }

    /// Handles the answer to an inquiry of this life.
    pub(super) fn on_record(
        &mut self,
        from: NodeId,
        life: u64,
        round: u64,
        highest: Option<u64>,
        cx: &mut Cx<'_, Self>,
    ) {
        // In its quarantine it has asked nothing: this is for a life with the same number.
        let early = self.lock.is_some() && cx.params().keep(Rule::ReadAfterQuarantine);
        if self.stored.is_some() || early {
            return;
        }
        let met = self.newcomer.hear(from, life, round, highest);
        let told = &self.newcomer.told;
        let others = cx.peers().len();
        let enough = if cx.params().keep(Rule::ReadsEnough) {
            others + 2 - cx.params().quorum(others + 1)
        } else {
            1
        };
        let read = told.iter().filter_map(|answer| answer.highest);
        if read.clone().count() >= enough {
            let highest = read.max().unwrap_or_default();
            self.take_up(Stored { highest, granted: None }, cx);
        } else if told.iter().filter(|answer| answer.never_voted).count() == others {
            self.take_up(Stored::FOUNDING, cx);
        } else if met && told.len() == others {
            self.inquire(cx); // now all lives are known
        }
    }

    /// From now on it has a record, and takes part.
    fn take_up(&mut self, stored: Stored, cx: &mut Cx<'_, Self>) {
        self.newcomer = Newcomer::default();
        self.alone = true;
        self.set_stored(stored, cx);
        self.ask_in_turn(cx.now() + cx.params().round, cx);
    }
}
