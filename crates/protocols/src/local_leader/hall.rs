//! The state of one process, and how events reach the candidate and the supporter in it.

use super::alive::AliveSet;
use super::announcement::Announced;
use super::answerers::Renewals;
use super::change::Planned;
use super::collation::{Collated, Collecting};
use super::line::Line;
use super::list::{List, ListId, ListTold};
use super::lock::Lock;
use super::message::{Ids, Message, Request};
use super::newcomer::{Newcomer, RecordReply};
use super::observer::Followed;
use super::params::Params;
use super::refusal::Refusal;
use super::replace::Absent;
use super::rules::Rule;
use super::standing::Better;
use super::supporter::Asked;
use super::terms::Stored;
use super::times::{Lengths, Times};
use super::votes::Votes;
use alloc::borrow::Cow;
use alloc::vec::Vec;
use bellwether_core::{
    Boot, Candidacy, Command, Cx, Duration, Fact, Instant, Leadership, Memory, NodeId, Peers,
    Protocol, Reach, Rebase, Refused, Stage, Term, timer_kinds,
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
    pub(super) partition: Ids,
    /// The greatest number of a partition that it has belonged to; zero in majority mode.
    pub(super) partition_number: u64,
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
    /// The list of voters, in majority mode; `None` while it has no record.
    pub(super) list: Option<List>,
    /// Requests before this instant carry the list in full, because others may lack it.
    pub(super) list_news: Instant,
    /// Whether it was refused for another list of the same version, of which none is committed.
    pub(super) forked: bool,
    /// Whether the founding list names it.
    pub(super) founder: bool,
    /// Whether the founding list names only some members: then facts tell the list.
    pub(super) some_vote: bool,
    /// As a leader: the change that waits for the new voter.
    pub(super) planned: Option<Planned>,
    /// As a leader: the voters that it does not hear, if it is to replace them.
    pub(super) absent: Absent,
    /// As a leader: how its renewals went, if not everybody answers each.
    pub(super) renewals: Renewals,
    /// As a leader: how its next renewal is answered, if by a tree.
    pub(super) collated: Collated,
    /// As a supporter: the replies of others that it collects for a leader.
    pub(super) collecting: Option<Collecting>,
    /// As a leader: what it has told the observers.
    pub(super) announced: Announced,
    /// As an observer: the leader it follows.
    pub(super) followed: Option<Followed>,
    /// The processes that ask by another list, with the numbers of their refused requests.
    pub(super) strangers: Vec<(NodeId, u32)>,
    /// What it was told while it has none.
    pub(super) newcomer: Newcomer,
    /// The highest token that this life has led with.
    pub(super) led: u64,
    /// The next request asks for at least this term: a lower one would be refused.
    pub(super) least: u64,
    /// As a leader with `preempt`: the best process, if that is better than itself.
    pub(super) better: Option<Better>,
    /// As a leader, if leadership rotates: since when it leads.
    pub(super) reign: Option<Instant>,
    /// Whether it changed how willing it is to lead: then it says so, also if it is ordinary now.
    pub(super) restated: bool,
    /// Whether its next request is a probe: too few processes answered the last one, or its record
    /// is new.
    pub(super) alone: bool,
    /// lockTime and ρ of the founding list.
    pub(super) founding: Lengths,
    /// The times of its list.
    pub(super) times: Times,
    /// A lease that rests on a request up to this instant is this long, because the list was open
    /// then.
    pub(super) brief: Option<(Instant, Duration)>,
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
    pub(super) supporters: Ids,
    /// The fencing token: the least term among the votes it rests on; zero in local mode.
    pub(super) token: u64,
    /// The list whose voters' votes it rests on, in majority mode.
    pub(super) list: Option<ListId>,
}

/// The timers of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// To ask for support, or to check whether it is its turn.
    Ask,
    /// To count the replies to its request.
    Count,
    /// To say again that it is no ordinary process.
    Announce,
    /// To send the replies that it has collected.
    Collate,
}

timer_kinds!(Timer: Ask, Count, Announce, Collate);

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
            self.alive.hear(from, cx.now() + self.times.expires);
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
        if to != self.me {
            self.better = None; // another one leads, whomever it was to hand over to
        }
        self.silent = self.missing().filter(|missing| lock.to != Some(*missing));
        self.unfollow(now);
        self.lock = Some(lock);
    }

    /// Removes an expired lock, but remembers whom it was for.
    fn let_lapse(&mut self, now: Instant) {
        self.line.forget_past(now);
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
        if cx.params().keep(Rule::TermsAreStored) {
            self.store(cx);
        }
    }

    /// Stores its record.
    pub(super) fn store(&self, cx: &mut Cx<'_, Self>) {
        if let Some(stored) = self.stored.filter(|_| cx.params().keeps_tokens()) {
            let list = self.list.as_ref().filter(|_| cx.params().keep(Rule::ListsAreStored));
            cx.store(stored.encode(list));
        }
    }

    /// The term by which a leader or a follower knows the current leadership.
    pub(super) fn term_of(&self, leader: NodeId, life: u64) -> Option<Term> {
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
        let (stored, list) = record(boot, cx.peers(), params);
        let founders = cx.peers().founders().filter(|_| params.by_majority());
        let others = |list: &List| list.voters().iter().any(|id| *id != boot.me);
        let waits = matches!(boot.memory, Memory::Kept(_)) && stored == Some(Stored::FOUNDING);
        let times = params.times(list.as_ref());
        let quarantine = list.as_ref().map_or(params.lock, |list| list.binds_for(params));
        let mut hall = Self {
            me: boot.me,
            life: boot.incarnation,
            alive: AliveSet::default(),
            line: Line::default(),
            lock: again.then(|| Lock::new(None, request, (now, quarantine), false, params)),
            silent: None,
            turn: Instant::NEVER,
            partition: Ids::new(),
            partition_number: 0,
            round: None,
            failures: 0,
            votes: Votes::default(),
            given_up: None,
            lease: None,
            stored,
            alone: waits && list.as_ref().is_some_and(others),
            list,
            founder: founders.is_none_or(|founders| founders.contains(&boot.me)),
            some_vote: founders.is_some(),
            list_news: now,
            forked: false,
            planned: None,
            absent: Absent::default(),
            renewals: Renewals::default(),
            collated: Collated::default(),
            collecting: None,
            announced: Announced::NOTHING,
            followed: None,
            strangers: Vec::new(),
            newcomer: Newcomer::begin(stored, again.then_some(quarantine), now),
            led: 0,
            least: 0,
            better: None,
            reign: None,
            restated: false,
            founding: params.founding_lengths(),
            times,
            brief: None,
        };
        if params.by_majority() {
            hall.line.know(hall.me, boot.candidacy, params);
            hall.announce(cx);
        }
        if hall.stored.is_none() {
            hall.inquire_from(now + times.round, cx);
        } else if params.by_majority() {
            // Stamps are exchanged first: before that no message is fast.
            let free = hall.lock.map_or(now, |lock| lock.free());
            hall.ask_in_turn(free.max(now + times.round), cx);
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
        match *message {
            Message::Election {
                request,
                term,
                token,
                lock,
                ref supporters,
                farewell,
                ref list,
                answerers,
                tree,
            } => {
                if let Some(farewell) = farewell {
                    self.on_farewell(farewell, cx);
                }
                let list = list.as_ref();
                let asked = Asked { request, term, token, lock, supporters, list, answerers, tree };
                self.on_election(from, asked, cx);
                if tree.is_some() {
                    self.relay(from, &asked, cx);
                }
            }
            Message::Reply { request, support: true, highest, ref list, .. } => {
                self.learn(list.as_ref(), cx);
                self.on_vote(from, request, (highest, list.as_ref().map(ListTold::id)), cx);
            }
            Message::Reply { request, remaining, highest, ref list, .. } => {
                let refusal = Refusal { request, remaining, highest, list: list.as_ref() };
                self.on_refusal(from, refusal, cx);
            }
            Message::Release { request, leaving, nominee } => {
                self.on_release(from, request, leaving, nominee, cx);
            }
            Message::Inquiry { life, round, founding, needs } if needs || self.is_voter() => {
                self.on_inquiry(from, life, round, founding, cx);
            }
            Message::Inquiry { .. } => {} // nobody needs the word of an observer
            Message::Invite { life } => self.on_invite(from, life, cx),
            Message::Record { asker, round, life, highest, ref list } if asker == self.life => {
                let told = RecordReply { life, round, highest, list: list.as_ref() };
                self.on_record(from, told, cx);
            }
            Message::Record { .. } => {} // for a former incarnation
            Message::Standing(candidacy) => self.on_standing(from, candidacy, cx),
            Message::Announcement(ref news) => self.on_announcement(news, cx),
            Message::Collation(ref replies) => self.on_collation(from, replies, cx),
        }
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Cx<'_, Self>) {
        self.let_lapse(cx.now());
        match timer {
            Timer::Ask => self.ask_if_its_turn(cx),
            Timer::Count => self.count(cx),
            Timer::Announce => self.announce(cx),
            Timer::Collate => self.send_collected(cx),
        }
    }

    /// A restarted process does not know that it had retired: it regains its place in line, as an
    /// ordinary process until it says otherwise.
    fn on_peer(&mut self, peer: NodeId, reach: Reach, cx: &mut Cx<'_, Self>) {
        if reach == Reach::Up {
            self.line.restart_of(peer);
            self.line.know(peer, Candidacy::default(), cx.params());
            if !cx.params().keep(Rule::CrashFreesNobody) {
                self.lock = self.lock.filter(|lock| lock.to != Some(peer));
            }
        }
    }

    fn on_command(&mut self, command: Command, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        match command {
            Command::Campaign => self.campaign(cx),
            Command::Resign => self.resign(cx),
            Command::Leave => self.leave(cx),
            Command::Transfer(nominee) => self.transfer(nominee, cx),
            Command::Candidacy(candidacy) => self.stand(candidacy, cx),
            Command::Add(id) => self.change(Some(id), None, cx),
            Command::Remove(id) => self.change(None, Some(id), cx),
            Command::Replace(old, new) => self.change(Some(new), Some(old), cx),
            Command::Lengths(lock, drift_ppm) => self.change_lengths(lock, drift_ppm, cx),
            _ => Err(Refused::Unsupported),
        }
    }

    fn invited(&self, now: Instant) -> Option<NodeId> {
        let planned = self.planned.as_ref().filter(|planned| now < planned.until);
        planned.filter(|_| self.leads(now)).map(|planned| planned.add)
    }

    fn successor(&self, now: Instant) -> Option<NodeId> {
        self.next(now)
    }

    fn partition(&self, now: Instant) -> Option<u64> {
        self.partition_at(now)
    }

    fn lease_end(&self, now: Instant) -> Option<Instant> {
        let told = self.leadership(now);
        let observes = !self.leads(now) && self.followed(now).is_some();
        match &self.followed {
            Some(followed) if observes => Some(followed.lease_end),
            // A lock outlives the lease that it was given for.
            _ => (!told.leaders.is_empty()).then_some(told.until),
        }
    }

    fn refusal(&self, command: Command, cx: &mut Cx<'_, Self>) -> Option<Refused> {
        match command {
            Command::Transfer(nominee) => self.refused_transfer(nominee, cx),
            Command::Resign if !self.leads(cx.now()) => Some(Refused::NotLeading),
            _ => None,
        }
    }

    #[inline]
    fn leadership(&self, now: Instant) -> Leadership<'_> {
        if let Some(lease) = self.lease.as_ref().filter(|lease| now < lease.until) {
            let leaders = core::slice::from_ref(&self.me);
            let (term, until) = (Term::new(lease.token), lease.until);
            return Leadership { until, term, ..Leadership::of(leaders, Stage::Decided) };
        }
        if let Some(followed) = self.followed(now) {
            return followed;
        }
        match &self.lock {
            Some(Lock { to: Some(to), until, leads: true, request }) if now < *until => {
                let leaders = core::slice::from_ref(to);
                let term = self.term_of(*to, request.life);
                // As an observer it may have followed a later leader since it gave this vote.
                let told = self.followed.as_ref().and_then(|followed| Term::new(followed.term));
                if term.is_some() && term < told {
                    return Leadership::NONE;
                }
                Leadership { until: *until, term, ..Leadership::of(leaders, Stage::Decided) }
            }
            _ => Leadership::NONE,
        }
    }

    fn facts(&self, now: Instant, tell: &mut dyn FnMut(Fact)) {
        if let Some(Lock { to, until, .. }) = self.lock.filter(|lock| lock.until >= now) {
            tell(to.map_or(Fact::Bound { until }, |to| Fact::Locked { to, until }));
        }
        self.tell_partition(now, tell);
        self.alive.at(now).for_each(|peer| tell(Fact::Alive { peer }));
        match self.stored {
            Some(stored) => {
                Term::new(stored.highest).into_iter().for_each(|term| tell(Fact::Highest { term }));
            }
            None => tell(Fact::NoRecord),
        }
        self.list_facts(tell);
        self.tell_votes(now, tell);
    }

    /// It has given up every request that it can have made, and comes last.
    fn last_will(life: u64, _params: &Params) -> Option<Message> {
        let request = Request { life, sent: Instant::NEVER };
        Some(Message::Release { request, leaving: true, nominee: None })
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
        self.brief.iter_mut().for_each(|(at, _)| rebase.stamp(at));
        self.better.iter_mut().for_each(|better| better.instants(rebase));
        self.reign.iter_mut().for_each(|since| rebase.stamp(since));
        let given_up = self.given_up.take();
        self.given_up = given_up.and_then(|mut at| (!rebase.deadline(&mut at)).then_some(at));
        self.list_instants(rebase);
        self.collecting.iter_mut().for_each(|collecting| collecting.instants(rebase));
        self.lease = self
            .lease
            .take()
            .and_then(|mut lease| (!rebase.deadline(&mut lease.until)).then_some(lease));
    }
}

/// What is left of the terms that it granted, and its list. The first life of a founder has granted
/// none.
fn record(boot: Boot<'_>, peers: &dyn Peers, params: &Params) -> (Option<Stored>, Option<List>) {
    if !params.by_majority() {
        return (Some(Stored::FOUNDING), None);
    }
    let founding = List::known(boot.me, peers);
    let keeps = params.keeps_tokens();
    let record = match boot.memory {
        Memory::Kept(bytes) if keeps => {
            Stored::decode(bytes).and_then(|(stored, list)| Some((stored, list.or(founding)?)))
        }
        Memory::Lost if keeps && params.keep(Rule::LostRecordsAreRead) => None,
        _ => founding.filter(|list| list.has(boot.me)).map(|list| (Stored::FOUNDING, list)),
    };
    record.unzip()
}
