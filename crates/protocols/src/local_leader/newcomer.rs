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
//! | N−m+1 other voters of the newest list tell their highest terms, and as many of the list before it unless the newest is committed: some of them is in every majority that this process was in | the highest of those, and that list |
//! | all other founders say that they have voted for nobody, each in a life that was known before the question | that it has voted for nobody, and the founding list |
//!
//! A process that is to join reads in the same way: it is a process that never had a record.

use super::announcement::FANOUT;
use super::hall::{Hall, Timer};
use super::list::{List, ListTold};
use super::lock::Lock;
use super::message::{Message, Request};
use super::params::Params;
use super::rules::Rule;
use super::terms::Stored;
use alloc::vec::Vec;
use bellwether_core::{Cx, Duration, Instant, NodeId};

/// What a process without a record has been told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Newcomer {
    /// The number of the current question. It changes when another life of a process is met, and
    /// when the quarantine goes on.
    round: u64,
    /// The number of the first question after its quarantine. Answers to earlier ones may still
    /// arrive, and answers to a former life with the same number: so the numbers begin with the
    /// reading at which this life began. They are numbers only: they do not follow a clock that is
    /// read anew.
    since: u64,
    /// What each process told, in order of id.
    told: Vec<Answer>,
    /// How often it asked, in a large group.
    asked: u32,
    /// For how long it was in quarantine before it asked for what it is told now; `None` if it
    /// cannot have voted in an earlier life.
    waited: Option<Duration>,
}

/// In a large group an observer asks less and less often, up to so many doublings of EP.
const RARELY: u32 = 5;

/// The last answers of one process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Answer {
    from: NodeId,
    life: u64,
    /// Its highest term and its list, if it has a record.
    record: Option<(u64, List)>,
    /// Whether it said in the current round that it has voted for nobody.
    never_voted: bool,
}

/// What one process tells.
pub(super) struct RecordReply<'a> {
    /// Its incarnation.
    pub(super) life: u64,
    /// The number of the question that it answers.
    pub(super) round: u64,
    /// Its highest term, if it has a record.
    pub(super) highest: Option<u64>,
    /// Its list; without a record the founding list that it knows.
    pub(super) list: Option<&'a ListTold>,
}

impl Newcomer {
    /// One that began at this reading, and is in quarantine for so long if it may have voted in an
    /// earlier life. With a record it asks nothing.
    pub(super) fn begin(stored: Option<Stored>, waited: Option<Duration>, begun: Instant) -> Self {
        let since = begun.as_nanos();
        match stored {
            Some(_) => Self::default(),
            None => Self { round: since, since, waited, ..Self::default() },
        }
    }

    /// Whether this life asked the question with this number, after its quarantine.
    fn has_asked(&self, round: u64) -> bool {
        (self.since..=self.round).contains(&round)
    }

    /// Notes an answer. True if another life of a founder was met, so that a new round begins.
    fn hear(
        &mut self,
        from: NodeId,
        told: RecordReply<'_>,
        founding: Option<&List>,
        params: &Params,
    ) -> bool {
        let RecordReply { life, round, highest, list } = told;
        let (place, met) = match self.told.binary_search_by_key(&from, |answer| answer.from) {
            Ok(place) => (place, self.told[place].life != life),
            Err(place) => {
                let answer = Answer { from, life, record: None, never_voted: false };
                self.told.insert(place, answer);
                (place, true)
            }
        };
        let met = met && founding.is_some_and(|list| list.has(from));
        if met && params.keep(Rule::LivesKnownBefore) {
            self.round += 1;
            self.told.iter_mut().for_each(|answer| answer.never_voted = false);
        }
        let current = self.round == round;
        let same = list.map(ListTold::id) == founding.map(List::id);
        let list = match list {
            Some(ListTold::Whole(list)) => Some(List::clone(list)),
            Some(ListTold::Name(..)) if same => founding.cloned(),
            _ => None,
        };
        let answer = &mut self.told[place];
        answer.life = life;
        answer.record = highest.zip(list).or(answer.record.take());
        answer.never_voted |= current && same && highest.is_none_or(|term| term == 0);
        met
    }

    /// The newest list that it was told of. Of two of one version it is the one that is committed;
    /// `None` if it was not told which.
    fn newest(&self, params: &Params) -> Option<&List> {
        let lists = || self.told.iter().filter_map(|answer| Some(&answer.record.as_ref()?.1));
        let newest = lists().map(|list| list.id().version).max()?;
        if !params.keep(Rule::ReadsNewestList) {
            return lists().min_by_key(|list| list.id().version);
        }
        let mut newest = lists().filter(|list| list.id().version == newest);
        let first = newest.clone().next()?;
        let open = newest.clone().any(|list| list.id() != first.id());
        let committed = newest.find(|list| list.committed);
        committed.or((!open || !params.keep(Rule::NoOpenFork)).then_some(first))
    }

    /// The highest term and the newest list, if enough processes told theirs.
    fn read(&self, params: &Params) -> Option<(u64, &List)> {
        let list = self.newest(params)?;
        let told = self.told.iter().filter(|answer| answer.record.is_some());
        if !list.is_read_from(told.map(|answer| answer.from), params) {
            return None;
        }
        let terms = self.told.iter().filter_map(|answer| Some(answer.record.as_ref()?.0));
        Some((terms.max().unwrap_or_default(), list))
    }

    /// Whether all others whose word it needs have told theirs, and that is not enough: it was a
    /// voter of the list before the newest one, and of those too few are left. Then it has to be
    /// told that the newest one is committed, by whoever knows.
    fn needs_anybody(&self, me: NodeId, params: &Params) -> bool {
        let read = |id: NodeId| id == me || self.has_read(id);
        let open = self.newest(params).filter(|list| !list.committed);
        open.is_some_and(|list| list.needed().all(read)) && self.read(params).is_none()
    }

    /// Whether this process told its record.
    fn has_read(&self, from: NodeId) -> bool {
        self.told.iter().any(|answer| answer.from == from && answer.record.is_some())
    }

    /// How many other founders this is true of.
    fn founders(&self, founding: &List, is: impl Fn(&Answer) -> bool) -> usize {
        self.told.iter().filter(|answer| founding.has(answer.from) && is(answer)).count()
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
    pub(super) fn inquire(&mut self, cx: &mut Cx<'_, Self>) {
        let (now, late) = (cx.now(), cx.params().keep(Rule::ReadAfterQuarantine));
        assert!(!late || self.lock.is_none(), "a process inquires after its quarantine");
        let founding = List::known(self.me, cx.peers()).map(|list| list.id().digest);
        let needs = self.newcomer.needs_anybody(self.me, cx.params());
        let (life, round) = (self.life, self.newcomer.round);
        cx.broadcast(Message::Inquiry { life, round, founding, needs });
        self.inquire_of_voters(cx);
        let mut wait = self.times.period;
        if self.is_large(cx.peers()) {
            self.inquire_of_some(cx);
            if !self.is_voter() {
                wait = wait * (1 << self.newcomer.asked.min(RARELY)); // nobody waits for it
            }
            self.newcomer.asked += 1;
        }
        cx.arm(Timer::Ask, now + wait);
    }

    /// In a large group it asks the founders, which may vote no longer. So it asks the leader too,
    /// and some others, in every question the next ones.
    fn inquire_of_some(&self, cx: &mut Cx<'_, Self>) {
        let (peers, asked) = (cx.peers(), self.newcomer.asked as usize);
        let (founders, size) = (peers.founders().unwrap_or_default(), peers.len());
        let from = peers.place(self.me) + asked * FANOUT;
        let next = (from..from + FANOUT.min(size)).filter_map(|place| peers.at(place % size));
        let leader = self.followed.as_ref().map(|followed| followed.leader);
        let founding = List::known(self.me, peers).map(|list| list.id().digest);
        let (life, round, needs) = (self.life, self.newcomer.round, false);
        for id in leader.into_iter().chain(next).filter(|id| !founders.contains(id)) {
            cx.send(id, Message::Inquiry { life, round, founding, needs });
        }
    }

    /// Asks the voters of the newest list that have told nothing: by their own lists they may be
    /// observers, which keep silent unless their word is needed.
    fn inquire_of_voters(&self, cx: &mut Cx<'_, Self>) {
        let Some(list) = self.newcomer.newest(cx.params()) else { return };
        if list.id().version == 0 {
            return; // all founders answer every inquiry, or have a newer list
        }
        let founding = List::known(self.me, cx.peers()).map(|list| list.id().digest);
        let (life, round, needs) = (self.life, self.newcomer.round, true);
        for id in list.needed().filter(|id| *id != self.me && !self.newcomer.has_read(*id)) {
            cx.send(id, Message::Inquiry { life, round, founding, needs });
        }
    }

    /// Tells a process without a record what this one has.
    pub(super) fn on_inquiry(
        &self,
        from: NodeId,
        asker: u64,
        round: u64,
        founding: Option<u64>,
        cx: &mut Cx<'_, Self>,
    ) {
        if !cx.params().by_majority() {
            return;
        }
        let mut record = self.record_for(asker, round, founding);
        if let Message::Record { list: list @ None, .. } = &mut record {
            let known = List::known(self.me, cx.peers());
            *list = known.map(|known| ListTold::Name(known.id(), true));
        }
        cx.send(from, record);
    }

    /// Its record for a process that knows this founding list.
    pub(super) fn record_for(&self, asker: u64, round: u64, founding: Option<u64>) -> Message {
        let list = self.list.as_ref().map(|list| {
            let known = list.id().version == 0 && founding == Some(list.id().digest);
            match known {
                true => ListTold::Name(list.id(), true),
                false => list.clone().into(),
            }
        });
        let highest = self.stored.map(|stored| stored.highest);
        Message::Record { asker, round, life: self.life, highest, list }
    }

    /// Handles the answer to an inquiry or an invitation of this life.
    pub(super) fn on_record(&mut self, from: NodeId, told: RecordReply<'_>, cx: &mut Cx<'_, Self>) {
        // In its quarantine it has asked nothing: this is for a life with the same number.
        let early = self.lock.is_some() && cx.params().keep(Rule::ReadAfterQuarantine);
        let own = self.newcomer.has_asked(told.round);
        let early = early || (!own && cx.params().keep(Rule::AnswersToOwnQuestions));
        if self.stored.is_some() {
            if let Some(highest) = told.highest {
                self.on_ready(from, highest, cx);
            }
            return;
        }
        if early {
            return;
        }
        let founding = List::known(self.me, cx.peers());
        let newest = |newcomer: &Newcomer| newcomer.newest(cx.params()).map(List::id);
        let before = newest(&self.newcomer);
        let met = self.newcomer.hear(from, told, founding.as_ref(), cx.params());
        let news = newest(&self.newcomer) != before;
        if let Some(needed) = self.needs_longer(cx.params()) {
            return self.wait_longer(needed, cx);
        }
        if let Some((highest, list)) = self.newcomer.read(cx.params()) {
            let list = list.clone();
            return self.take_up(Stored { highest, granted: None }, list, cx);
        }
        if news {
            self.inquire_of_voters(cx);
        }
        let Some(founding) = founding.filter(|list| list.has(self.me)) else { return };
        let others = founding.voters().len() - 1;
        if others == 0 {
            return; // nobody can tell it that it never voted
        }
        let needed = if cx.params().keep(Rule::AllFoundersClean) { others } else { 1 };
        if self.newcomer.founders(&founding, |answer| answer.never_voted) >= needed {
            self.take_up(Stored::FOUNDING, founding, cx);
        } else if met && self.newcomer.founders(&founding, |_| true) == others {
            self.inquire(cx); // now all lives are known
        }
    }

    /// How long its quarantine must be by the newest list that it was told of, if it was shorter.
    /// In an earlier life it may have voted by that list or by the one before.
    fn needs_longer(&self, params: &Params) -> Option<Duration> {
        let waited = self.newcomer.waited?;
        let needed = self.newcomer.newest(params)?.binds_for(params);
        let waits = params.keep(Rule::WaitsForWhatItReads);
        let late = waits && params.keep(Rule::ReadAfterQuarantine) && waited < needed;
        late.then_some(needed)
    }

    /// Its quarantine was too short, so what it was told does not count. It waits for the rest,
    /// from now on: then that time has passed since it began, and a little more.
    fn wait_longer(&mut self, needed: Duration, cx: &mut Cx<'_, Self>) {
        let Newcomer { round, asked, waited, .. } = core::mem::take(&mut self.newcomer);
        let (rest, waited) = (needed.saturating_sub(waited.unwrap_or_default()), Some(needed));
        let (round, told) = (round + 1, Vec::new());
        self.newcomer = Newcomer { round, since: round, told, asked, waited };
        let request = Request { life: self.life, sent: cx.now() };
        let lock = Lock::new(None, request, (cx.now(), rest), false, cx.params());
        self.lock = Some(lock);
        self.inquire_from(cx.now(), cx);
    }

    /// From now on it has a record, and takes part.
    fn take_up(&mut self, stored: Stored, list: List, cx: &mut Cx<'_, Self>) {
        self.newcomer = Newcomer::default();
        self.alone = true;
        self.list = Some(list);
        self.set_times(cx);
        self.brief = None; // it has asked for nothing yet
        self.set_stored(stored, cx);
        self.ask_in_turn(cx.now() + self.times.round, cx);
    }
}
