//! Measures a start of all processes at once: how long until all accept the leader, and at what
//! cost.
//!
//! The measures of Table 5.1, as we define them precisely:
//!
//! | measure | what it is |
//! |---|---|
//! | `convergence_time` | when the announcement that converges the group was *sent* |
//! | `leadership_delay` | when it was received |
//! | `messages` | messages sent before that reception |
//! | `messages_at_convergence` | those of them sent by the time of the converging one, itself included |
//! | `messages_in_opening` | those of them sent before T_S, where an election opens with a wait |
//! | `messages_in_first_round`, `messages_in_second_round` | the first and the second messages of processes among them |
//! | `first_message_time` | when the first of them was sent: t_min of SUP |
//! | `first_round_end` | when the last first message of a process was sent: the last wake-up that was not silenced |
//! | `rounds` | which of the leader's messages it was, from 1 |
//! | `average_rounds` | the same, averaged over the other processes |
//! | `simultaneous_leaders` | processes announcing themselves, averaged over time up to then |
//! | `announcers_per_interval` | the thesis's estimator of that: messages per T_A |
//! | `agreement_time` | when all name the leader at the same moment, where that differs |
//!
//! "Accepted" means at least once. With an infinite T_L no process forgets, and both times are
//! equal.

use super::agreement::Agreement;
use super::{Measure, Sample};
use crate::observer::{Cause, Observer};
use bellwether_core::{
    Dest, Duration, Fact, Instant, Leadership, Node, NodeId, Protocol, SimTime, Stage,
};
use bellwether_protocols::choice::{Goal, Profile};

/// Measures how a group converges.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    goal: Goal,
    interval: Duration,
    /// The longest wait that opens an election.
    opening: SimTime,
    /// The best claims, best first: the processes that should lead.
    best: Vec<(u64, NodeId)>,
    right: Vec<NodeId>,
    /// One bit for each process that has accepted.
    accepted: Vec<u64>,
    /// One bit for each process that announces itself.
    leading: Vec<u64>,
    nodes: u32,
    missing: u32,
    sent: u64,
    /// Those sent before the opening waits are over.
    early: u64,
    /// When each was sent, in order of time.
    sends: Vec<SimTime>,
    /// First and second messages of processes, and when the last first one was sent.
    firsts: u64,
    seconds: u64,
    last_first: SimTime,
    /// The same when the last process had accepted.
    by_then: ByThen,
    /// The largest round in which a process accepted, and their sum.
    rounds: u32,
    rounds_sum: u64,
    /// How many processes accepted because of a message.
    told: u32,
    /// When the last accepted announcement was sent, and when it was received.
    converged: SimTime,
    received: SimTime,
    messages: u64,
    leaders: Leaders,
    /// Leaders times nanoseconds until then.
    area: u128,
    agreement: Option<Agreement>,
    agreed: SimTime,
}

/// What had been sent when the last process accepted.
#[derive(Clone, Copy, Debug)]
struct ByThen {
    at_convergence: u64,
    firsts: u64,
    seconds: u64,
    last_first: SimTime,
}

impl ByThen {
    const NOTHING: Self =
        Self { at_convergence: 0, firsts: 0, seconds: 0, last_first: SimTime::ZERO };
}

/// The number of leaders over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Leaders {
    now: u64,
    /// Since when, in nanoseconds.
    since: u64,
    /// Leaders times nanoseconds.
    area: u128,
}

impl Leaders {
    fn change(&mut self, at: SimTime, by: i64) {
        self.area += u128::from(self.now) * u128::from(at.as_nanos() - self.since);
        self.since = at.as_nanos();
        self.now = self.now.saturating_add_signed(by);
    }
}

impl Start {
    pub(crate) fn new(profile: &Profile) -> Self {
        let Profile { goal, interval, trust, opening, .. } = *profile;
        Self {
            goal,
            interval,
            opening: SimTime::ZERO + opening,
            best: Vec::new(),
            right: Vec::new(),
            accepted: Vec::new(),
            leading: Vec::new(),
            nodes: 0,
            missing: 0,
            sent: 0,
            early: 0,
            sends: Vec::new(),
            firsts: 0,
            seconds: 0,
            last_first: SimTime::ZERO,
            by_then: ByThen::NOTHING,
            rounds: 0,
            rounds_sum: 0,
            told: 0,
            converged: SimTime::ZERO,
            received: SimTime::ZERO,
            messages: 0,
            leaders: Leaders::default(),
            area: 0,
            agreement: match goal {
                Goal::Leaders(_) => (trust != Duration::MAX).then(Agreement::default),
                Goal::Same => Some(Agreement::default()),
                Goal::Quiet => None,
            },
            agreed: SimTime::ZERO,
        }
    }

    pub(crate) fn reset(&mut self, nodes: u32) {
        let words = (nodes as usize).div_ceil(64);
        for bits in [&mut self.accepted, &mut self.leading] {
            bits.clear();
            bits.resize(words, 0);
        }
        self.best.clear();
        self.right.clear();
        (self.nodes, self.missing) = (nodes, nodes);
        (self.sent, self.early, self.messages) = (0, 0, 0);
        self.sends.clear();
        (self.firsts, self.seconds, self.last_first) = (0, 0, SimTime::ZERO);
        self.by_then = ByThen::NOTHING;
        (self.rounds, self.rounds_sum, self.told) = (0, 0, 0);
        (self.converged, self.received, self.agreed) =
            (SimTime::ZERO, SimTime::ZERO, SimTime::ZERO);
        self.leaders = Leaders::default();
        if let Some(agreement) = &mut self.agreement {
            agreement.reset(nodes);
        }
    }

    /// The results of a run that ended at this time at the latest; empty if the group never
    /// converged.
    pub(crate) fn sample(&self, end: SimTime, deliveries: u64) -> Sample {
        let mut sample = Sample::new(deliveries);
        let agreed = self.agreement.as_ref().is_none_or(Agreement::agreed);
        sample.unsettled = self.missing > 0 || !agreed;
        sample.cut = sample.unsettled.then(|| end.as_secs_f64());
        if self.missing > 0 {
            return sample;
        }
        // In a protocol that falls silent, all messages count.
        let messages = if self.goal == Goal::Quiet { self.sent } else { self.messages } as f64;
        sample.set(Measure::ConvergenceTime, self.converged.as_secs_f64());
        sample.set(Measure::LeadershipDelay, self.received.as_secs_f64());
        sample.set(Measure::Messages, messages);
        if self.opening > SimTime::ZERO {
            sample.set(Measure::MessagesInOpening, self.early as f64);
        }
        self.set_rounds(&mut sample);
        if self.goal != Goal::Quiet {
            sample.set(Measure::Rounds, f64::from(self.rounds));
            if let Goal::Leaders(_) = self.goal {
                let told = f64::from(self.told.max(1));
                sample.set(Measure::AverageRounds, self.rounds_sum as f64 / told);
            }
            let time = self.received.as_nanos();
            let average = if time == 0 { 1.0 } else { self.area as f64 / time as f64 };
            sample.set(Measure::SimultaneousLeaders, average);
            let intervals = self.received.as_secs_f64() / self.interval.as_secs_f64();
            sample.set(Measure::AnnouncersPerInterval, messages / intervals.max(1.0));
        }
        if self.agreement.as_ref().is_some_and(Agreement::agreed) {
            let agreed = if self.goal == Goal::Same { self.received } else { self.agreed };
            sample.set(Measure::AgreementTime, agreed.as_secs_f64());
        }
        sample
    }

    /// When processes sent their first messages, and how many their second. SUP has one round.
    fn set_rounds(&self, sample: &mut Sample) {
        let quiet = self.goal == Goal::Quiet;
        let ByThen { at_convergence, firsts, seconds, last_first } = self.by_then;
        let last_first = if quiet { self.last_first } else { last_first };
        if let Some(first) = self.sends.first().filter(|_| quiet || firsts > 0) {
            sample.set(Measure::FirstMessageTime, first.as_secs_f64());
            sample.set(Measure::FirstRoundEnd, last_first.as_secs_f64());
        }
        if !quiet {
            sample.set(Measure::MessagesAtConvergence, at_convergence as f64);
            sample.set(Measure::MessagesInFirstRound, firsts as f64);
            sample.set(Measure::MessagesInSecondRound, seconds as f64);
        }
    }

    #[inline(always)]
    fn accepts(&self, leadership: &Leadership<'_>) -> bool {
        match self.goal {
            Goal::Leaders(_) => match (leadership.leaders, &self.right[..]) {
                ([one], [right]) => one == right, // without a call to compare memory
                (several, right) => several == right,
            },
            Goal::Same => false, // no single process can tell
            Goal::Quiet => leadership.stage != Stage::Undecided,
        }
    }

    #[inline]
    fn accept(&mut self, at: SimTime, node: u32, cause: Option<Cause>) {
        let (word, bit) = (node as usize / 64, 1 << (node % 64));
        if self.accepted[word] & bit != 0 {
            return;
        }
        self.accepted[word] |= bit;
        self.missing -= 1;
        self.note(at, cause);
    }

    /// Notes progress towards the goal, and whether it is reached.
    fn note(&mut self, at: SimTime, cause: Option<Cause>) {
        let (sent, round) = cause.map_or((at, 0), |cause| (cause.sent, cause.number + 1));
        self.rounds_sum += u64::from(round);
        self.told += u32::from(cause.is_some());
        self.rounds = self.rounds.max(round);
        self.converged = self.converged.max(sent);
        if self.missing == 0 {
            self.received = at;
            self.messages = self.sent;
            self.by_then = ByThen {
                at_convergence: self.sends.partition_point(|at| *at <= self.converged) as u64,
                firsts: self.firsts,
                seconds: self.seconds,
                last_first: self.last_first,
            };
            self.leaders.change(at, 0);
            self.area = self.leaders.area;
        }
    }

    /// Where any leader will do, the last agreement counts, if it lasts.
    fn look_for_agreement(&mut self, at: SimTime, cause: Option<Cause>) {
        let agreed = self.agreement.as_ref().is_some_and(Agreement::agreed);
        if self.goal != Goal::Same || agreed == (self.missing == 0) {
            return;
        }
        self.missing = if agreed { 0 } else { self.nodes };
        if agreed {
            self.note(at, cause);
        }
    }
}

impl<P: Protocol> Observer<P> for Start {
    #[inline]
    fn on_start(&mut self, _at: SimTime, node: u32, now: Instant, state: &Node<P>) {
        let id = NodeId(u64::from(node));
        let count = match self.goal {
            Goal::Leaders(count) => count,
            Goal::Same => 0,
            Goal::Quiet => return,
        };
        state.facts(now, &mut |fact| {
            if let Fact::Claim { weight } = fact {
                let place = self.best.partition_point(|known| *known > (weight, id));
                if place < count {
                    self.best.truncate(count - 1); // there is room for one
                    self.best.insert(place, (weight, id));
                }
            }
        });
        let leadership = state.leadership(now);
        if let Some(agreement) = &mut self.agreement {
            agreement.names(node, &leadership);
        }
        if leadership.stage == Stage::Decided && leadership.names(id) {
            self.leading[node as usize / 64] |= 1 << (node % 64);
            self.leaders.now += 1;
        }
    }

    fn on_ready(&mut self) {
        self.right.extend(self.best.iter().map(|(_, id)| *id));
        // A process believes in itself from the start, so the best one has already accepted itself.
        if let [only] = self.right[..] {
            self.accept(SimTime::ZERO, only.0 as u32, None);
        }
        self.look_for_agreement(SimTime::ZERO, None);
    }

    #[inline]
    fn on_send(&mut self, at: SimTime, _from: u32, _to: Dest, _message: &P::Message, number: u32) {
        self.sent += 1;
        self.early += u64::from(at < self.opening);
        self.sends.push(at);
        self.seconds += u64::from(number == 1);
        if number == 0 {
            self.firsts += 1;
            self.last_first = at;
        }
    }

    #[inline(always)] // runs for every adoption; a call would pass it all through memory
    fn on_change(
        &mut self,
        at: SimTime,
        node: u32,
        leadership: &Leadership<'_>,
        cause: Option<Cause>,
    ) {
        if self.accepts(leadership) {
            self.accept(at, node, cause);
        }
        let (word, bit) = (node as usize / 64, 1u64 << (node % 64));
        let leads = leadership.stage == Stage::Decided && leadership.names(NodeId(u64::from(node)));
        if leads != (self.leading[word] & bit != 0) {
            self.leading[word] ^= bit;
            self.leaders.change(at, if leads { 1 } else { -1 });
        }
        if let Some(agreement) = &mut self.agreement {
            agreement.names(node, leadership);
            self.agreed = at;
            self.look_for_agreement(at, cause);
        }
    }

    #[inline]
    fn done(&self) -> bool {
        match &self.agreement {
            None => self.missing == 0,
            // An agreement on the first process that announced itself may be lost again, so wait.
            Some(agreement) => self.goal != Goal::Same && self.missing == 0 && agreement.agreed(),
        }
    }
}
