//! The state of one process, and how events reach the candidate and the supporter in it.

use super::alive::AliveSet;
use super::line::Line;
use super::lock::Lock;
use super::message::{Message, Request};
use super::newcomer::Newcomer;
use super::params::Params;
use super::rules::Rule;
use super::supporter::Asked;
use super::terms::Stored;
use super::votes::Votes;
use alloc::borrow::Cow;
use alloc::vec::Vec;
use bellwether_core::{
    Boot, Command, Cx, Fact, Instant, Leadership, Memory, NodeId, Protocol, Reach, Rebase, Refused,
    Stage, Term, TimerKind,
};

/// One process of the highly available local leader service.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Hall {
    pub(super) me: NodeId,
    /// Its incarnation.
    pub(super) life: u64,
    pub(super) alive: AliveSet,
    pub(super) line: Line,
    /// As a supporter: its lock.
    pub(super) lock: Option<Lock>,
    /// The process it was last locked to, if that one let the lock lapse and was not heard since.
    pub(super) silent: Option<NodeId>,
    /// When it checks whether to ask, in majority mode and unless it leads or is asking.
    pub(super) turn: Instant,
    /// The supporters of the leader it is locked to, as that leader said.
    pub(super) partition: Vec<NodeId>,
    /// As a candidate: the current request.
    pub(super) round: Option<Round>,
    /// How many of its requests failed in a row, up to two, if no leader was seen since.
    pub(super) failures: u8,
    pub(super) votes: Votes,
    /// The last request it gave up. The next one is later, or a release would be ambiguous.
    pub(super) given_up: Option<Instant>,
    /// As a leader: its lease.
    pub(super) lease: Option<Lease>,
    /// The terms it granted, in majority mode; `None` while it has no record.
    pub(super) stored: Option<Stored>,
    /// What it was told while it has none.
    pub(super) newcomer: Newcomer,
    /// The highest token that this life has led with.
    pub(super) led: u64,
    /// The next request asks for at least this term: a lower one would be refused.
    pub(super) least: u64,
    /// Whether its next request is a probe: too few processes answered the last one, or its record
    /// is new.
    pub(super) alone: bool,
}

/// A request in progress.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Round {
    pub(super) sent: Instant,
    /// Whether the candidate counted itself as alive when it asked (section IX-D).
    pub(super) knew_itself: bool,
    /// Processes that refused.
    pub(super) refusals: Vec<NodeId>,
    /// When the last of those will be free.
    pub(super) free: Instant,
    /// The term it asks for; zero for a probe.
    pub(super) term: u64,
}

/// Leadership for a limited time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Lease {
    /// The first instant at which it is over.
    pub(super) until: Instant,
    pub(super) supporters: Vec<NodeId>,
    /// The fencing token: the least term among the votes it rests on; zero in local mode.
    pub(super) token: u64,
}

/// The timers of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// To ask for support, or to check whether it is its turn.
    Ask,
    /// To count the replies to its request.
    Count,
}

impl TimerKind for Timer {
    type Slots = [Instant; 2];

    fn slot(self) -> usize {
        self as usize
    }

    fn at(slot: usize) -> Self {
        if slot == 0 { Self::Ask } else { Self::Count }
    }
}

impl Hall {
    /// Whether it leads at this reading of its clock.
    pub(super) fn leads(&self, now: Instant) -> bool {
        self.lease.as_ref().is_some_and(|lease| now < lease.until)
    }

    /// Whether the current message was certainly fast.
    pub(super) fn is_fast(cx: &Cx<'_, Self>) -> bool {
        cx.delay_bound().is_some_and(|bound| bound <= cx.params().delta)
    }

    /// UpdateAliveSet.
    pub(super) fn hear(&mut self, from: NodeId, fast: bool, cx: &Cx<'_, Self>) {
        if fast {
            self.alive.hear(from, cx.now() + cx.params().expires);
        }
        self.alive.purge(cx.now());
    }

    /// The first in line of the processes alive.
    pub(super) fn first_alive(&self) -> Option<NodeId> {
        self.alive.ids().min_by_key(|id| self.line.place(*id))
    }

    /// Whether it has given up a request that it made at this instant.
    pub(super) fn gave_up_at(&self, now: Instant, params: &Params) -> bool {
        let too_early = |given_up| now <= given_up && params.keep(Rule::LaterRequests);
        self.given_up.is_some_and(too_early)
    }

    /// Locks itself to a candidate. A process that let an earlier lock lapse counts as silent.
    pub(super) fn lock(&mut self, lock: Lock, now: Instant, params: &Params) {
        let (to, life) = (lock.to.unwrap_or(self.me), lock.request.life);
        assert!(
            !params.rules.are_all()
                || self.lock.is_none_or(|held| !held.hinders(to, life, now, params)),
            "a lock changes its holder only after it has lapsed or was released"
        );
        assert!(lock.until >= now, "a lock runs from the moment it is given");
        self.silent = self.missing().filter(|missing| lock.to != Some(*missing));
        self.lock = Some(lock);
    }

    /// Removes an expired lock, but remembers whom it was for.
    fn let_lapse(&mut self, now: Instant) {
        if self.lock.is_some_and(|lock| lock.until < now) {
            self.forget_lock();
        }
    }

    fn forget_lock(&mut self) {
        self.silent = self.missing();
        self.lock = None;
        self.partition.clear();
    }

    /// The process that cannot be expected to ask once it is free: the one it is or was last locked
    /// to.
    pub(super) fn missing(&self) -> Option<NodeId> {
        let locked = self.lock.and_then(|lock| lock.to).filter(|to| *to != self.me);
        locked.or(self.silent)
    }

    /// Notes what it grants or has read; it is stored before any message of this step leaves.
    pub(super) fn set_stored(&mut self, stored: Stored, cx: &mut Cx<'_, Self>) {
        if self.stored == Some(stored) {
            return;
        }
        assert!(
            !cx.params().rules.are_all()
                || self.stored.is_none_or(|before| before.highest < stored.highest),
            "a stored term never falls, and is granted once"
        );
        self.stored = Some(stored);
        if cx.params().keeps_tokens() && cx.params().keep(Rule::TermsAreStored) {
            cx.store(stored.encode());
        }
    }

    /// The term by which a leader or a follower knows the current leadership.
    fn term_of(&self, leader: NodeId, life: u64) -> Option<Term> {
        let granted = |stored: &Stored| stored.granted == Some((leader, life));
        Term::new(self.stored.filter(granted)?.highest)
    }

    /// The lock that keeps it from supporting itself.
    pub(super) fn bond(&self, now: Instant, params: &Params) -> Option<Lock> {
        let binds = |lock: &Lock| lock.to.is_some() || params.keep(Rule::QuarantineBindsItself);
        self.lock.filter(|lock| lock.hinders(self.me, self.life, now, params) && binds(lock))
    }
}

impl Protocol for Hall {
    const NAME: &'static str = "local-leader";
    type Params = Params;
    type Message = Message;
    type Timer = Timer;

    fn start(boot: Boot<'_>, cx: &mut Cx<'_, Self>) -> Self {
        let (now, params) = (cx.now(), cx.params());
        let request = Request { life: boot.incarnation, sent: now };
        let ran_before = boot.incarnation > 1 || boot.memory != Memory::First;
        let again = ran_before && params.keep(Rule::Quarantine);
        let mut hall = Self {
            me: boot.me,
            life: boot.incarnation,
            alive: AliveSet::default(),
            line: Line::default(),
            lock: again.then(|| Lock::new(None, request, now, false, params)),
            silent: None,
            turn: Instant::NEVER,
            partition: Vec::new(),
            round: None,
            failures: 0,
            votes: Votes::default(),
            given_up: None,
            lease: None,
            stored: record(boot.memory, params),
            newcomer: Newcomer::default(),
            led: 0,
            least: 0,
            alone: is_founder(boot.memory, params) && cx.peers().iter().next().is_some(),
        };
        if hall.stored.is_none() {
            hall.inquire_from(now + params.round, cx);
        } else if params.by_majority() {
            // Stamps are exchanged first: before that no message is fast.
            let free = hall.lock.map_or(now, |lock| lock.free());
            hall.ask_in_turn(free.max(now + params.round), cx);
        } else {
            cx.arm(Timer::Ask, now);
        }
        hall
    }

    fn on_message(&mut self, from: NodeId, message: Cow<'_, Message>, cx: &mut Cx<'_, Self>) {
        if !cx.peers().contains(from) {
            return; // A quorum consists of members.
        }
        self.let_lapse(cx.now());
        self.silent = self.silent.filter(|silent| *silent != from);
        match message.into_owned() {
            Message::Election { request, term, lock, supporters, farewell } => {
                if let Some(farewell) = farewell {
                    self.on_farewell(farewell, cx);
                }
                self.on_election(from, Asked { request, term, lock, supporters }, cx);
            }
            Message::Reply { request, support: true, highest, .. } => {
                self.on_vote(from, request, highest, cx);
            }
            Message::Reply { request, support: false, remaining, highest } => {
                self.on_refusal(from, request, remaining, highest, cx);
            }
            Message::Release { request, leaving } => self.on_release(from, request, leaving, cx),
            Message::Inquiry { life, round } => self.on_inquiry(from, life, round, cx),
            Message::Record { asker, round, life, highest } if asker == self.life => {
                self.on_record(from, life, round, highest, cx);
            }
            Message::Record { .. } => {} // for a former incarnation
        }
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Cx<'_, Self>) {
        self.let_lapse(cx.now());
        match timer {
            Timer::Ask => self.ask_if_its_turn(cx),
            Timer::Count => self.count(cx),
        }
    }

    /// A restarted process does not know that it had retired: it regains its place in line.
    fn on_peer(&mut self, peer: NodeId, reach: Reach, _cx: &mut Cx<'_, Self>) {
        if reach == Reach::Up {
            self.line.return_of(peer);
        }
    }

    fn on_command(&mut self, command: Command, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        match command {
            Command::Campaign => self.campaign(cx),
            Command::Resign => self.resign(cx),
            Command::Leave => self.leave(cx),
            Command::Transfer(_) | Command::Rank(_) => Err(Refused),
        }
    }

    #[inline]
    fn leadership(&self, now: Instant) -> Leadership<'_> {
        if let Some(lease) = self.lease.as_ref().filter(|lease| now < lease.until) {
            let leaders = core::slice::from_ref(&self.me);
            let (term, until) = (Term::new(lease.token), lease.until);
            return Leadership { until, term, ..Leadership::of(leaders, Stage::Decided) };
        }
        match &self.lock {
            Some(Lock { to: Some(to), until, leads: true, request }) if now < *until => {
                let leaders = core::slice::from_ref(to);
                let term = self.term_of(*to, request.life);
                Leadership { until: *until, term, ..Leadership::of(leaders, Stage::Decided) }
            }
            _ => Leadership::NONE,
        }
    }

    fn facts(&self, now: Instant, tell: &mut dyn FnMut(Fact)) {
        if let Some(Lock { to, until, .. }) = self.lock.filter(|lock| lock.until >= now) {
            tell(to.map_or(Fact::Bound { until }, |to| Fact::Locked { to, until }));
        }
        if let Some(lease) = self.lease.as_ref().filter(|lease| now < lease.until) {
            lease.supporters.iter().for_each(|peer| tell(Fact::Supporter { peer: *peer }));
        } else if self.leadership(now) != Leadership::NONE {
            self.partition.iter().for_each(|peer| tell(Fact::Member { peer: *peer }));
        }
        self.alive.at(now).for_each(|peer| tell(Fact::Alive { peer }));
        match self.stored {
            Some(stored) => {
                Term::new(stored.highest).into_iter().for_each(|term| tell(Fact::Highest { term }));
            }
            None => tell(Fact::NoRecord),
        }
    }

    fn instants(&mut self, rebase: &Rebase<'_>) {
        self.alive.instants(rebase);
        self.line.instants(rebase);
        if let Some(lock) = &mut self.lock {
            rebase.foreign(lock.to.unwrap_or(self.me), &mut lock.request.sent);
            if rebase.deadline(&mut lock.until) {
                self.forget_lock();
            }
        }
        rebase.deadline(&mut self.turn);
        if let Some(round) = &mut self.round {
            rebase.stamp(&mut round.sent);
            rebase.deadline(&mut round.free);
        }
        self.votes.instants(rebase);
        let given_up = self.given_up.take();
        self.given_up = given_up.and_then(|mut at| (!rebase.deadline(&mut at)).then_some(at));
        self.lease = self
            .lease
            .take()
            .and_then(|mut lease| (!rebase.deadline(&mut lease.until)).then_some(lease));
    }
}

/// Whether a former life founded the group and granted no term.
fn is_founder(memory: Memory<'_>, params: &Params) -> bool {
    matches!(memory, Memory::Kept(_)) && record(memory, params) == Some(Stored::FOUNDING)
}

/// What is left of the terms that it granted. A first life has granted none.
fn record(memory: Memory<'_>, params: &Params) -> Option<Stored> {
    let forgets = !params.by_majority() || !params.keeps_tokens();
    match memory {
        Memory::Kept(bytes) if !forgets => Stored::decode(bytes),
        Memory::Lost if !forgets && params.keep(Rule::LostRecordsAreRead) => None,
        _ => Some(Stored::FOUNDING),
    }
}
