//! How near a run is to a rare event, in nanoseconds.
//!
//! | event | what is measured |
//! |---|---|
//! | a false departure | the longest silence: how long ago some follower heard of its leader |
//! | two leaders | the same until there are two; from then on T_L, and how long there have been two |
//! | a lost lease | how much of its lease the leader has used up since the last renewal |
//! | a split vote | the same while somebody leads; from then on the lease, and a second for each vote that the strongest candidate cannot have |
//!
//! All but the votes grow with the clock and fall back at an event, so the time at which a level
//! is reached is known in advance: the gauge lets the world call it then, as a fault that does
//! nothing. Votes are given at events, after each of which they are counted.
//! Whole numbers are compared, so that a run that is made again meets a level at the same event.
//!
//! The gauge only steers. Whether the event happened is read from what processes believe.

use super::odds::Drawn;
use super::{Rare, RareEvent};
use crate::fault::Fault;
use crate::observer::{Cause, Observer, id};
use crate::world::Scene;
use bellwether_core::{
    Dest, Duration, Fact, Instant, Leadership, Node, NodeId, Protocol, SimTime, Stage,
};
use bellwether_protocols::choice::Profile;

/// Nobody, or never.
const NONE: u64 = u64::MAX;
/// What a vote is on the gauge.
const VOTE: u64 = 1_000_000_000;

/// What was sent to all, and who received it.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub(super) from: u32,
    number: u32,
    pub(super) at: SimTime,
    pub(super) received: Vec<bool>,
}

/// Watches a run, and ends it at a level or at the event.
#[derive(Clone, Debug)]
pub(super) struct Gauge {
    /// Everything that was sent to all, if it is kept; the run then goes on to its end. Kept here
    /// and not by an observer of its own, so that fewer worlds are compiled.
    pub(super) log: Option<Vec<Sent>>,
    /// What the weight of a run with a spell of losses is made of.
    pub(super) drawn: Option<Drawn>,
    event: RareEvent,
    /// When the watch begins; and when it begins to matter how near the run is: what leads to the
    /// event in the watch may have begun before it.
    from: u64,
    near: u64,
    /// For how long a silent leader is followed; zero if for ever.
    trust: u64,
    longer: u64,
    /// For how long a lease is at most.
    lease: u64,
    /// The run ends at this level; at the event alone, if it is above all levels.
    level: u64,
    /// The highest level that the run has come to.
    pub(super) best: u64,
    reached: bool,
    pub(super) happened: bool,
    /// When the world is to call.
    alarm: u64,
    leads: Vec<bool>,
    leaders: u32,
    /// Whom each process follows, and when it last heard of it.
    follows: Vec<u64>,
    heard: Vec<u64>,
    /// The earliest of those times.
    oldest: u64,
    /// Since when there are two leaders.
    both: u64,
    /// Who holds a lease, and until when.
    holder: u32,
    until: u64,
    /// Whom each process supports, and until when; how many supporters a leader needs, and how many
    /// votes the strongest candidate cannot have.
    support: Vec<(u64, u64)>,
    quorum: u64,
    astray: u64,
}

impl Gauge {
    pub(super) fn new(rare: &Rare, profile: &Profile, nodes: u32, from: SimTime) -> Self {
        let finite = |time: Duration| if time == Duration::MAX { 0 } else { time.as_nanos() };
        let count = nodes as usize;
        let trust = finite(profile.trust);
        let lease = profile.leases.map_or(0, |leases| leases.lease.as_nanos());
        Self {
            log: None,
            drawn: None,
            event: rare.event,
            from: from.as_nanos(),
            near: from.as_nanos().saturating_sub(trust.max(lease)),
            trust,
            longer: rare.longer.as_nanos(),
            lease,
            level: NONE,
            best: 0,
            reached: false,
            happened: false,
            alarm: NONE,
            leads: vec![false; count],
            leaders: 0,
            follows: vec![NONE; count],
            heard: vec![NONE; count],
            oldest: NONE,
            both: NONE,
            holder: u32::MAX,
            until: NONE,
            support: vec![(NONE, 0); count],
            quorum: profile.leases.map_or(0, |leases| u64::from(leases.quorum(nodes))),
            astray: 0,
        }
    }

    /// Ends the run at this level from now on; at once, if it is that near already.
    pub(super) fn aim(&mut self, level: u64, at: SimTime) {
        let at = at.as_nanos();
        (self.level, self.reached) = (level, at >= self.near && self.reading(at) >= level);
        self.arm();
    }

    /// Whether the run came to its level, or to the event.
    pub(super) fn arrived(&self) -> bool {
        self.reached || self.happened
    }

    /// Notes how near the run is at this time, before anything changes.
    pub(super) fn note(&mut self, at: SimTime) {
        let at = at.as_nanos();
        if at >= self.near {
            self.best = self.best.max(self.reading(at));
        }
    }

    fn reading(&self, at: u64) -> u64 {
        match self.event {
            RareEvent::SplitVote if self.leaders == 0 => {
                self.lease.saturating_add(self.astray.saturating_mul(VOTE))
            }
            RareEvent::LeadershipLoss | RareEvent::SplitVote if self.until != NONE => {
                self.lease.saturating_sub(self.until.saturating_sub(at))
            }
            RareEvent::LeadershipLoss | RareEvent::SplitVote | RareEvent::FailedElection => 0,
            RareEvent::TwoLeaders if self.both != NONE => {
                self.trust.saturating_add(at.saturating_sub(self.both))
            }
            _ if self.oldest == NONE => 0,
            _ => at.saturating_sub(self.oldest).min(self.trust),
        }
    }

    /// Sets the time at which the world is to call: when the reading is the level.
    fn arm(&mut self) {
        let level = self.level;
        let at = match self.event {
            // Longer than it: at the very end of it, a message would come first.
            RareEvent::TwoLeaders if level == NONE && self.both != NONE => {
                self.both.saturating_add(self.longer).saturating_add(1)
            }
            _ if level == NONE => NONE,
            RareEvent::LeadershipLoss | RareEvent::SplitVote
                if self.until != NONE && level <= self.lease =>
            {
                self.until.saturating_sub(self.lease.saturating_sub(level))
            }
            RareEvent::LeadershipLoss | RareEvent::SplitVote | RareEvent::FailedElection => NONE,
            RareEvent::TwoLeaders if self.both != NONE => {
                self.both.saturating_add(level.saturating_sub(self.trust))
            }
            _ if level > self.trust || self.oldest == NONE => NONE,
            _ => self.oldest.saturating_add(level),
        };
        self.alarm = if at == NONE || self.reached {
            NONE
        } else {
            at.max(if level == NONE { self.from } else { self.near })
        };
    }

    /// Counts the votes that are given at this time: how many the strongest candidate cannot have.
    /// True if so many that nobody can lead before some of them lapse.
    fn count_votes(&mut self, at: u64) -> bool {
        let given = || self.support.iter().filter(|(_, until)| *until > at).map(|(to, _)| *to);
        let of = |candidate: u64| given().filter(|to| *to == candidate).count();
        let most = given().map(of).max().unwrap_or(0);
        self.astray = (given().count() - most) as u64;
        most > 0 && self.support.len() as u64 - self.astray < self.quorum
    }

    /// Ends the run if votes have brought it to its level.
    fn look(&mut self, at: u64) {
        if at < self.near || self.leaders > 0 {
            return;
        }
        let reading = self.reading(at);
        self.best = self.best.max(reading);
        self.reached |= reading >= self.level;
    }

    /// Who has not heard of its leader for longest.
    fn listen(&mut self) {
        self.oldest = self.heard.iter().copied().min().unwrap_or(NONE);
    }

    /// What a process believes now. Returns whom it followed before, if it no longer does.
    fn believes(&mut self, at: u64, node: u32, leadership: &Leadership<'_>) -> Option<u64> {
        let index = node as usize;
        let me = id(node);
        let leads = leadership.stage == Stage::Decided && leadership.names(me);
        self.leaders += u32::from(leads);
        self.leaders -= u32::from(std::mem::replace(&mut self.leads[index], leads));
        if self.leaders < 2 {
            self.both = NONE;
        } else if self.both == NONE {
            self.both = at;
        }
        let decided = leadership.stage == Stage::Decided;
        let other = leadership.leaders.first().filter(|leader| decided && **leader != me);
        let other = other.map_or(NONE, |leader| leader.0);
        let before = std::mem::replace(&mut self.follows[index], other);
        if other != before {
            self.heard[index] = if other == NONE { NONE } else { at };
            self.listen();
        }
        (before != NONE && before != other).then_some(before)
    }

    /// Whether the process of this id leads.
    fn is_leader(&self, id: u64) -> bool {
        usize::try_from(id).is_ok_and(|index| self.leads.get(index) == Some(&true))
    }
}

impl<P: Protocol> Observer<P> for Gauge {
    const HEARS: bool = true;
    const LOOKS: bool = true;

    fn on_start(&mut self, at: SimTime, node: u32, now: Instant, state: &Node<P>) {
        self.believes(at.as_nanos(), node, &state.leadership(now));
        self.arm();
    }

    #[inline]
    fn on_send(&mut self, at: SimTime, from: u32, to: Dest, _: &P::Message, number: u32) {
        let count = self.leads.len();
        if let (Some(log), Dest::Everyone) = (&mut self.log, to) {
            log.push(Sent { from, number, at, received: vec![false; count] });
        }
        if let Some(drawn) = &mut self.drawn {
            drawn.note(at, from, to, number);
        }
    }

    #[inline]
    fn on_receive(&mut self, at: SimTime, node: u32, cause: Cause) {
        if let Some(log) = &mut self.log {
            let is = |sent: &&mut Sent| (sent.from, sent.number) == (cause.from, cause.number);
            if let Some(sent) = log.iter_mut().rev().find(is) {
                sent.received[node as usize] = true;
            }
        }
        if self.follows[node as usize] == u64::from(cause.from) {
            self.note(at);
            let before = std::mem::replace(&mut self.heard[node as usize], at.as_nanos());
            if before == self.oldest {
                self.listen();
                self.arm();
            }
        }
    }

    fn on_change(
        &mut self,
        at: SimTime,
        node: u32,
        leadership: &Leadership<'_>,
        cause: Option<Cause>,
    ) {
        self.note(at);
        let led = self.leads[node as usize];
        let left = self.believes(at.as_nanos(), node, leadership);
        let watched = at.as_nanos() >= self.from;
        self.happened |= watched
            && match self.event {
                RareEvent::FalseDeparture => {
                    cause.is_none() && left.is_some_and(|leader| self.is_leader(leader))
                }
                RareEvent::LeadershipLoss => led && !self.leads[node as usize],
                RareEvent::TwoLeaders | RareEvent::SplitVote | RareEvent::FailedElection => false,
            };
        self.arm();
    }

    fn on_gone(&mut self, at: SimTime, node: u32) {
        self.note(at);
        self.believes(at.as_nanos(), node, &Leadership::NONE);
        if self.holder == node {
            (self.holder, self.until) = (u32::MAX, NONE);
        }
        self.support[node as usize] = (NONE, 0);
        self.arm();
    }

    #[inline]
    fn on_step(&mut self, node: u32, scene: &Scene<'_, P>) {
        if !matches!(self.event, RareEvent::LeadershipLoss | RareEvent::SplitVote) {
            return;
        }
        if self.event == RareEvent::SplitVote {
            let mut support = (NONE, 0);
            if let Some(state) = scene.node(node) {
                state.facts(scene.clock(node), &mut |fact| {
                    if let Fact::Locked { to: NodeId(to), until } = fact {
                        support = (to, scene.when(node, until).as_nanos());
                    }
                });
            }
            let at = scene.at().as_nanos();
            self.support[node as usize] = support;
            let split = self.count_votes(at) && self.leaders == 0;
            self.happened |= split && at >= self.from;
            self.look(at);
        }
        let leads = self.leads[node as usize];
        if !leads && self.holder != node {
            return;
        }
        self.note(scene.at());
        let until = scene.node(node).filter(|_| leads).map_or(NONE, |state| {
            let until = state.leadership(scene.clock(node)).until;
            scene.when(node, until).as_nanos()
        });
        self.holder = if until == NONE { u32::MAX } else { node };
        if let Some(drawn) = &mut self.drawn {
            drawn.leads(scene.at(), (until != NONE).then_some(node));
        }
        if until != self.until {
            self.until = until;
            self.arm();
        }
    }

    #[inline]
    fn injects_at(&self) -> u64 {
        self.alarm
    }

    fn inject(&mut self) -> Option<Fault> {
        self.best = self.best.max(if self.level == NONE { 0 } else { self.level });
        self.reached = true;
        self.happened |= self.level == NONE; // only two leaders have a time without a level
        self.alarm = NONE;
        None
    }

    fn done(&self) -> bool {
        self.arrived() && self.log.is_none()
    }
}
