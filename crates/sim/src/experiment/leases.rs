//! Measures leaders that hold leases: how long elections take, and how often the group has a
//! leader.
//!
//! | measure | what it is |
//! |---|---|
//! | `election_time` | from the sending of the request that made a process leader until it leads, averaged over the elections of the run (section XI) |
//! | `agreement_time` | from the start, or from the event, until all live processes name the same live leader; a merge is such an event |
//! | `leader_presence` | the part of the time in which some process leads |
//! | `leadership_losses_per_hour` | how often a process stops leading that neither crashed nor was cut off; one that gives way to a newcomer counts |
//! | `leadership_losses_per_lease` | the same for each lease: a leader asks for the next one `renew` after the request that the last one counts from, and again in less time only if too few answer; if `renew` is at most 1.25 round trips, a repetition looks like the next request, and leases are not counted |
//! | `answers_per_request` | answers sent to a process that leads, for each request that it made while it led; whether they vote or refuse, for themselves or for others |
//! | `request_interval` | from one request of a process that leads to its next one; the first is the request that made it leader |
//! | `messages_per_second` | datagrams sent, empty ones included; one to everyone counts once |
//! | `reestablishment_delay` | from the crash of the leader, or from the split, to the next leader; without an event, the mean length of a leaderless interval within the watch |
//!
//! After a split all measures are about the part without the old leader: in majority mode only this
//! part can have a leader. Time during which too few processes are alive for a leader, as in churn,
//! does not count.
//!
//! A start is watched from the first agreement on. The time until then is a measure of its own, and
//! would be most of the leaderless time otherwise. A run is *unsettled* if the group did not agree
//! while it was watched, or had no leader when the event happened.
//!
//! A lease ends by the clock, and the world wakes a process at that time. The change of its belief
//! therefore comes exactly then; only a paused process notices it late.

use super::agreement::Agreement;
use super::scenario::Planned;
use super::{Measure, Sample, Scenario};
use crate::observer::{Cause, Observer, id};
use bellwether_core::{
    Dest, Duration, Instant, Leadership, Message, Node, Protocol, SimTime, Stage,
};
use bellwether_protocols::choice::Leases;

/// Measures leadership by leases.
#[derive(Clone, Debug)]
pub(crate) struct LeaseWatch {
    leases: Leases,
    scenario: Scenario,
    from: SimTime,
    until: SimTime,
    /// Whether the watch has begun.
    begun: bool,
    /// Whether there was a leader when it began.
    settled: bool,
    /// The processes that the split cuts off, and whether each one was cut off.
    to_part: Vec<u32>,
    apart: Vec<bool>,
    agreement: Agreement,
    /// When each process last asked to lead.
    asked: Vec<SimTime>,
    leading: Vec<bool>,
    leaders: u32,
    live: u32,
    quorum: u32,
    /// A leader that asks again within this time had too few answers.
    retry_max: Duration,
    /// Whether that tells repetitions from other requests.
    tells_leases: bool,
    elections: u64,
    electing: Duration,
    agreed: Option<SimTime>,
    /// Whether the group was without a leader at any time since the watch began.
    bereft: bool,
    regained: Option<SimTime>,
    tally: Tally,
}

/// Counts since the watch began.
#[derive(Clone, Copy, Debug)]
struct Tally {
    since: SimTime,
    /// All time up to this is counted.
    mark: SimTime,
    /// How long there could be a leader, and how long there was one.
    able: Duration,
    led: Duration,
    losses: u64,
    sent: u64,
    /// The requests of processes that led, how long each came after the last one, and the answers
    /// sent to them.
    requests: u64,
    waited: Duration,
    answers: u64,
    /// How many leases were taken: with leadership, and by each request that is no repetition.
    leases: u64,
    /// Since when there has been no leader, if there could be one.
    lost: Option<SimTime>,
    /// How many leaderless intervals ended, and their total length.
    stretches: u64,
    leaderless: Duration,
}

impl Tally {
    fn new(since: SimTime) -> Self {
        Self {
            since,
            mark: since,
            able: Duration::ZERO,
            led: Duration::ZERO,
            losses: 0,
            sent: 0,
            requests: 0,
            waited: Duration::ZERO,
            answers: 0,
            leases: 0,
            lost: None,
            stretches: 0,
            leaderless: Duration::ZERO,
        }
    }
}

impl LeaseWatch {
    pub(crate) fn new(leases: Leases) -> Self {
        Self {
            leases,
            scenario: Scenario::Start,
            from: SimTime::ZERO,
            until: SimTime::NEVER,
            begun: false,
            settled: false,
            to_part: Vec::new(),
            apart: Vec::new(),
            agreement: Agreement::default(),
            asked: Vec::new(),
            leading: Vec::new(),
            leaders: 0,
            live: 0,
            quorum: 0,
            // In between: clocks measure neither length exactly.
            retry_max: (leases.renew + leases.round_trip) / 2,
            tells_leases: leases.renew.as_nanos() / 5 > leases.round_trip.as_nanos() / 4,
            elections: 0,
            electing: Duration::ZERO,
            agreed: None,
            bereft: false,
            regained: None,
            tally: Tally::new(SimTime::ZERO),
        }
    }

    pub(super) fn reset(&mut self, planned: &Planned, scenario: Scenario) {
        let Planned { plan, from, apart } = planned;
        let count = plan.nodes as usize;
        self.scenario = scenario;
        (self.from, self.until) = (*from, plan.end());
        self.begun = scenario == Scenario::Start;
        self.settled = self.begun;
        self.to_part.clone_from(apart);
        for flags in [&mut self.apart, &mut self.leading] {
            flags.clear();
            flags.resize(count, false);
        }
        self.agreement.reset(plan.nodes);
        self.asked.clear();
        self.asked.resize(count, SimTime::NEVER);
        (self.leaders, self.live) = (0, 0);
        self.quorum = self.leases.quorum(plan.nodes);
        (self.elections, self.electing) = (0, Duration::ZERO);
        (self.agreed, self.bereft, self.regained) = (None, false, None);
        self.tally = Tally::new(SimTime::ZERO);
    }

    /// The results at the end of the watch.
    pub(super) fn sample(&mut self, deliveries: u64) -> Sample {
        self.pass(self.until);
        let mut sample = Sample::new(deliveries);
        let watched = self.until.since(self.tally.since).as_secs_f64();
        if self.elections > 0 {
            let mean = self.electing.as_secs_f64() / self.elections as f64;
            sample.set(Measure::ElectionTime, mean);
        }
        if self.tally.able > Duration::ZERO {
            let presence = self.tally.led.as_secs_f64() / self.tally.able.as_secs_f64();
            sample.set(Measure::LeaderPresence, presence);
        }
        if watched > 0.0 {
            let (losses, sent) = (self.tally.losses as f64, self.tally.sent as f64);
            sample.set(Measure::LeadershipLossesPerHour, losses * 3600.0 / watched);
            sample.set(Measure::MessagesPerSecond, sent / watched);
        }
        if self.tally.leases > 0 && self.tells_leases {
            let losses = self.tally.losses as f64 / self.tally.leases as f64;
            sample.set(Measure::LeadershipLossesPerLease, losses);
        }
        if self.tally.requests > 0 {
            let requests = self.tally.requests as f64;
            sample.set(Measure::AnswersPerRequest, self.tally.answers as f64 / requests);
            sample.set(Measure::RequestInterval, self.tally.waited.as_secs_f64() / requests);
        }
        let since_event = |at: SimTime| at.since(self.from).as_secs_f64();
        // Churn has neither a start nor an event to count from.
        let counts = !matches!(self.scenario, Scenario::Churn(_));
        let agreed = self.agreed.filter(|_| self.settled && counts).map(since_event);
        if let Some(agreed) = agreed {
            sample.set(Measure::AgreementTime, agreed);
        }
        let whole = self.tally.leaderless.as_secs_f64() / self.tally.stretches as f64;
        let delay = if self.scenario.replaces() {
            self.regained.filter(|_| self.settled).map(since_event)
        } else {
            (!self.scenario.has_event() && self.tally.stretches > 0).then_some(whole)
        };
        if let Some(delay) = delay {
            sample.set(Measure::ReestablishmentDelay, delay);
        }
        sample.unsettled = counts && agreed.is_none();
        let lacks = agreed.is_none() || (self.scenario.replaces() && delay.is_none());
        sample.cut = (self.settled && counts && lacks).then(|| since_event(self.until));
        sample
    }

    /// Counts the time until `at`, and begins the watch if its beginning is passed.
    #[inline]
    fn pass(&mut self, at: SimTime) {
        if !self.begun && at >= self.from {
            self.begin();
        }
        let at = at.min(self.until);
        if at > self.tally.mark {
            let length = at.since(self.tally.mark);
            self.tally.mark = at;
            if self.live >= self.quorum {
                self.tally.able = self.tally.able + length;
                if self.leaders > 0 {
                    self.tally.led = self.tally.led + length;
                }
            }
        }
    }

    fn begin(&mut self) {
        self.begun = true;
        self.settled = self.leaders > 0;
        self.tally = Tally::new(self.from);
        for node in std::mem::take(&mut self.to_part) {
            self.vanish(node);
            self.apart[node as usize] = true;
        }
        // No process is told of a cut, so it is handled here.
        if self.scenario == Scenario::Split {
            self.look(self.from);
        }
    }

    /// A process has stopped or was cut off.
    fn vanish(&mut self, node: u32) {
        if self.apart[node as usize] {
            return;
        }
        self.agreement.gone(node);
        self.live -= 1;
        self.leaders -= u32::from(std::mem::take(&mut self.leading[node as usize]));
    }

    /// Checks after a change whether there is a leader and whether all agree on it.
    fn look(&mut self, at: SimTime) {
        if !self.begun {
            return;
        }
        if self.agreed.is_none() && self.agreement.agreed() {
            self.agreed = Some(at);
            if self.scenario == Scenario::Start {
                self.tally = Tally::new(at);
            }
        }
        if self.leaders == 0 {
            self.bereft = true;
        } else if self.bereft {
            self.regained.get_or_insert(at);
        }
        let leaderless = self.leaders == 0 && self.live >= self.quorum;
        match self.tally.lost {
            None if leaderless => self.tally.lost = Some(at),
            Some(since) if !leaderless => {
                self.tally.lost = None;
                if self.leaders > 0 {
                    self.tally.stretches += 1;
                    self.tally.leaderless = self.tally.leaderless + at.since(since);
                }
            }
            _ => {}
        }
    }

    /// A process now names these leaders.
    fn believes(&mut self, at: SimTime, node: u32, leadership: &Leadership<'_>) {
        self.agreement.names(node, leadership);
        let leads = leadership.stage == Stage::Decided && leadership.names(id(node));
        let led = std::mem::replace(&mut self.leading[node as usize], leads);
        match (led, leads) {
            (false, true) => {
                self.leaders += 1;
                self.tally.leases += 1;
                let asked = self.asked[node as usize];
                if self.begun && asked <= at {
                    self.elections += 1;
                    self.electing = self.electing + at.since(asked);
                }
            }
            (true, false) => {
                self.leaders -= 1;
                self.tally.losses += u64::from(self.live >= self.quorum);
            }
            _ => {}
        }
        self.look(at);
    }
}

impl<P: Protocol> Observer<P> for LeaseWatch {
    fn on_start(&mut self, at: SimTime, node: u32, now: Instant, state: &Node<P>) {
        self.pass(at);
        self.live += 1;
        self.believes(at, node, &state.leadership(now));
    }

    #[inline]
    fn on_send(&mut self, at: SimTime, from: u32, to: Dest, message: &P::Message, _number: u32) {
        if at >= self.from && !self.begun {
            self.begin();
        }
        let kind = message.kind();
        if kind == self.leases.request {
            // In a large group it is sent to each member alone, all at one moment.
            let last = std::mem::replace(&mut self.asked[from as usize], at);
            let asks = self.leading[from as usize] && last != at;
            if asks {
                self.tally.requests += 1;
                self.tally.waited = self.tally.waited + at.since(last.min(at));
            }
            self.tally.leases += u64::from(asks && last + self.retry_max < at);
        } else if let Dest::Node(to) = to
            && self.leading.get(to.0 as usize).is_some_and(|leads| *leads)
        {
            self.tally.answers += u64::from(self.leases.answers.contains(&kind));
        }
        // A message of a process to itself is not a datagram.
        if self.begun && !self.apart[from as usize] && to != Dest::Node(id(from)) {
            self.tally.sent += 1;
        }
    }

    fn on_change(
        &mut self,
        at: SimTime,
        node: u32,
        leadership: &Leadership<'_>,
        _cause: Option<Cause>,
    ) {
        self.pass(at);
        if !self.apart[node as usize] {
            self.believes(at, node, leadership);
        }
    }

    fn on_gone(&mut self, at: SimTime, node: u32) {
        self.pass(at);
        self.vanish(node);
        self.look(at);
    }
}
