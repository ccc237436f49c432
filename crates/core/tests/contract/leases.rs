//! Majority leases (after Fetzer and Cristian's local leaders), over fail-aware datagrams.
//!
//! The case it makes: a layer that stamps what passes through it and tells the protocol inside how
//! long a message was under way at most; and a leadership that ends while nothing happens.

mod fail_aware;
mod tests;

use bellwether_core::*;
pub(crate) use fail_aware::{FailAware, FailAwareParams, Frame, Stamps};
use std::borrow::Cow;
use std::collections::BTreeSet;

const MILLION: u128 = 1_000_000;

/// What a process must not forget: the highest term it granted, and to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Grant {
    term: Term,
    to: NodeId,
}

impl Grant {
    fn encode(self) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.put_u64(self.term.number());
        bytes.put_node(self.to);
        bytes
    }

    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut input = Reader::new(bytes);
        let (term, to) = (Term::new(input.u64()?).ok_or(Malformed)?, input.node()?);
        input.finish()?;
        Ok(Self { term, to })
    }
}

/// A promise to support nobody else for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Lock {
    /// Nobody after a restart, when a promise of the former life may still run.
    to: Option<NodeId>,
    /// The request it answers, on the candidate's clock; what a release must name. Our own reading
    /// where there is no candidate.
    request: Instant,
    until: Instant,
    /// The term, if the candidate said that it leads.
    reign: Option<Term>,
}

/// The leases themselves.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Leases {
    me: NodeId,
    granted: Option<Grant>,
    lock: Option<Lock>,
    /// When the running request was sent, and who has granted it.
    request: Option<Instant>,
    supporters: BTreeSet<NodeId>,
    /// The term of the last lease and its end.
    lease: Option<(Term, Instant)>,
}

#[derive(Clone, Debug)]
pub(crate) struct LeasesParams {
    /// Clocks again: the lease must end before the locks do.
    pub(crate) drift_ppm: u64,
    /// A message that took longer is too slow to answer.
    pub(crate) fast: Duration,
    /// How long a supporter is bound.
    pub(crate) lock: Duration,
    /// How often a leader renews.
    pub(crate) renew: Duration,
    /// How much later each next process tries.
    pub(crate) stagger: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Said {
    Election { term: Term, request: Instant, leading: bool },
    Reply { term: Term, request: Instant, granted: bool },
    Release { request: Instant },
}

impl Message for Said {
    fn kind(&self) -> &'static str {
        match self {
            Self::Election { .. } => "election",
            Self::Reply { .. } => "reply",
            Self::Release { .. } => "release",
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        let (tag, request, term) = match *self {
            Self::Release { request } => (0, request, None),
            Self::Election { term, request, leading } => {
                (1 + u8::from(leading), request, Some(term))
            }
            Self::Reply { term, request, granted } => (3 + u8::from(granted), request, Some(term)),
        };
        out.push(tag);
        out.put_instant(request);
        term.into_iter().for_each(|term| out.put_u64(term.number()));
    }

    fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        let (tag, request) = (input.u8()?, input.instant()?);
        let mut term = || Term::new(input.u64()?).ok_or(Malformed);
        match tag {
            0 => Ok(Self::Release { request }),
            1 | 2 => Ok(Self::Election { term: term()?, request, leading: tag == 2 }),
            3 | 4 => Ok(Self::Reply { term: term()?, request, granted: tag == 4 }),
            _ => Err(Malformed),
        }
    }

    fn instants(&mut self, to: NodeId, rebase: &Rebase<'_>) {
        match self {
            Self::Election { request, .. } | Self::Release { request } => rebase.stamp(request),
            // It answers a request of the receiver's.
            Self::Reply { request, .. } => rebase.foreign(to, request),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Timer {
    Campaign,
    Round,
}

impl TimerKind for Timer {
    type Slots = [Instant; 2];

    fn slot(self) -> usize {
        self as usize
    }

    fn at(slot: usize) -> Self {
        [Self::Campaign, Self::Round][slot]
    }
}

impl Leases {
    fn reign(&self, now: Instant) -> Option<Term> {
        self.lease.filter(|(_, until)| now < *until).map(|(term, _)| term)
    }

    /// The lock that keeps this process from supporting `candidate`.
    fn hindrance(&self, candidate: NodeId, now: Instant) -> Option<Lock> {
        self.lock.filter(|lock| lock.until >= now && lock.to != Some(candidate))
    }

    /// Processes try one after the other, the lowest id first.
    fn campaign_after(&self, at: Instant, cx: &mut Cx<'_, Self>) {
        let before = cx.peers().iter().take_while(|peer| *peer < self.me).count() as u64;
        cx.arm(Timer::Campaign, at + cx.params().stagger * before);
    }

    /// Records a term before anything is said about it.
    fn grant(&mut self, grant: Grant, cx: &mut Cx<'_, Self>) {
        if self.granted != Some(grant) {
            self.granted = Some(grant);
            cx.store(grant.encode());
        }
    }

    fn campaign(&mut self, cx: &mut Cx<'_, Self>) {
        let now = cx.now();
        if let Some(lock) = self.hindrance(self.me, now) {
            // A lock holds through its last instant.
            return self.campaign_after(lock.until + Duration::from_nanos(1), cx);
        }
        let reign = self.reign(now);
        // A reign goes on under its term, unless a higher one was met: a term never falls.
        let kept = reign.filter(|&term| self.granted == Some(Grant { term, to: self.me }));
        let next = self.granted.map_or(Term::FIRST, |grant| grant.term.next());
        let term = kept.unwrap_or(next);
        self.grant(Grant { term, to: self.me }, cx);
        let until = now + cx.params().lock;
        self.lock = Some(Lock { to: Some(self.me), request: now, until, reign: None });
        self.request = Some(now);
        self.supporters = BTreeSet::from([self.me]);
        cx.broadcast(Said::Election { term, request: now, leading: reign.is_some() });
        cx.arm(Timer::Round, now + cx.params().fast * 2);
    }

    /// The round is over and no majority came.
    fn fail(&mut self, cx: &mut Cx<'_, Self>) {
        let Some(request) = self.request.take() else { return };
        self.supporters.clear();
        // A leader that fails to renew must not release: its old lease still runs on these locks.
        if self.reign(cx.now()).is_none() {
            self.lock = None;
            cx.broadcast(Said::Release { request });
        }
        self.campaign_after(cx.now() + cx.params().fast, cx);
    }

    fn on_election(
        &mut self,
        from: NodeId,
        (term, request): (Term, Instant),
        leading: bool,
        cx: &mut Cx<'_, Self>,
    ) {
        let new = self.granted.is_none_or(|grant| term > grant.term);
        let known = self.granted == Some(Grant { term, to: from });
        let granted = (new || known) && self.hindrance(from, cx.now()).is_none();
        if granted {
            self.grant(Grant { term, to: from }, cx);
            let until = cx.now() + cx.params().lock;
            let reign = leading.then_some(term);
            self.lock = Some(Lock { to: Some(from), request, until, reign });
            self.campaign_after(until + Duration::from_nanos(1), cx);
        }
        let highest = self.granted.map_or(term, |grant| grant.term);
        cx.send(from, Said::Reply { term: highest, request, granted });
    }

    fn on_reply(&mut self, from: NodeId, said: Said, cx: &mut Cx<'_, Self>) {
        let Said::Reply { term, request, granted } = said else { return };
        if self.request != Some(request) || !cx.peers().contains(from) {
            return;
        }
        if !granted {
            // The next attempt must go beyond what this voter has seen.
            if self.granted.is_none_or(|grant| grant.term < term) {
                self.grant(Grant { term, to: from }, cx);
            }
            return;
        }
        self.supporters.insert(from);
        let Some(grant) = self.granted.filter(|grant| grant.to == self.me) else { return };
        if self.supporters.len() > cx.peers().len().div_ceil(2) {
            let params = cx.params();
            let share = MILLION - 2 * u128::from(params.drift_ppm);
            let lease = u128::from(params.lock.as_nanos()) * share / MILLION;
            let lease = Duration::from_nanos(u64::try_from(lease).unwrap_or(u64::MAX));
            // From the sending of the request, not from the last reply.
            self.lease = Some((grant.term, request + lease)).filter(|(_, end)| *end > cx.now());
            self.request = None;
            cx.disarm(Timer::Round);
            cx.arm(Timer::Campaign, request + params.renew);
        }
    }
}

impl Protocol for Leases {
    const NAME: &'static str = "leases";
    type Params = LeasesParams;
    type Message = Said;
    type Timer = Timer;

    fn start(boot: Boot<'_>, cx: &mut Cx<'_, Self>) -> Self {
        let (now, until) = (cx.now(), cx.now() + cx.params().lock);
        let granted = match boot.memory {
            Memory::Kept(bytes) => Grant::decode(bytes).ok(),
            Memory::First | Memory::Lost => None,
        };
        let quarantine = Lock { to: None, request: now, until, reign: None };
        let lock = (boot.memory != Memory::First).then_some(quarantine);
        let supporters = BTreeSet::new();
        let node = Self { me: boot.me, granted, lock, request: None, supporters, lease: None };
        // Back from a crash, it listens for a leader first.
        let first = if lock.is_some() { until + cx.params().lock } else { now };
        node.campaign_after(first, cx);
        node
    }

    fn on_message(&mut self, from: NodeId, said: Cow<'_, Said>, cx: &mut Cx<'_, Self>) {
        let fast = cx.delay_bound().is_some_and(|bound| bound <= cx.params().fast);
        match *said {
            Said::Release { request } => {
                let named = |lock: &Lock| lock.to == Some(from) && lock.request == request;
                if self.lock.as_ref().is_some_and(named) {
                    self.lock = None;
                    self.campaign_after(cx.now(), cx);
                }
            }
            Said::Election { term, request, leading } if fast => {
                self.on_election(from, (term, request), leading, cx);
            }
            said @ Said::Reply { .. } if fast => self.on_reply(from, said, cx),
            Said::Election { .. } | Said::Reply { .. } => {}
        }
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Cx<'_, Self>) {
        match timer {
            Timer::Campaign => self.campaign(cx),
            Timer::Round => self.fail(cx),
        }
    }

    fn on_command(&mut self, command: Command, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        let lock = self.lock.filter(|lock| lock.to == Some(self.me));
        let (Command::Resign, Some(_), Some(lock)) = (command, self.reign(cx.now()), lock) else {
            return Err(Refused);
        };
        (self.lease, self.lock, self.request) = (None, None, None);
        self.supporters.clear();
        cx.disarm(Timer::Round);
        cx.broadcast(Said::Release { request: lock.request });
        self.campaign_after(cx.now() + cx.params().lock, cx);
        Ok(())
    }

    fn leadership(&self, now: Instant) -> Leadership<'_> {
        let stage = Stage::Decided;
        if let Some((term, until)) = self.lease.filter(|(_, until)| now < *until) {
            let leaders = std::slice::from_ref(&self.me);
            return Leadership { leaders, term: Some(term), until, stage };
        }
        match &self.lock {
            Some(Lock { to: Some(to), until, reign: Some(term), .. }) if now < *until => {
                let leaders = std::slice::from_ref(to);
                Leadership { leaders, term: Some(*term), until: *until, stage }
            }
            _ => Leadership::NONE,
        }
    }

    fn facts(&self, now: Instant, tell: &mut dyn FnMut(Fact)) {
        if let Some(Lock { to: Some(to), until, .. }) = self.lock.filter(|l| l.until >= now) {
            tell(Fact::Locked { to, until });
        }
        self.supporters.iter().for_each(|&peer| tell(Fact::Supporter { peer }));
        if let Some(grant) = self.granted {
            tell(Fact::Highest { term: grant.term });
        }
    }

    fn instants(&mut self, rebase: &Rebase<'_>) {
        self.lock = self.lock.take().and_then(|mut lock| {
            rebase.foreign(lock.to.unwrap_or(self.me), &mut lock.request);
            (!rebase.deadline(&mut lock.until)).then_some(lock)
        });
        self.lease = self
            .lease
            .take()
            .and_then(|(term, mut until)| (!rebase.deadline(&mut until)).then_some((term, until)));
        self.request.iter_mut().for_each(|request| rebase.stamp(request));
    }
}

/// A local network: 10 ms is fast, locks of 150 ms, renewed every 50 ms.
pub(crate) fn params() -> FailAwareParams<LeasesParams> {
    let [fast, lock, renew, stagger] = [10, 150, 50, 40].map(Duration::from_millis);
    FailAwareParams {
        drift_ppm: 200,
        fastest: Duration::from_micros(100),
        refresh: Duration::from_millis(100),
        keep: Duration::from_secs(1),
        inner: LeasesParams { drift_ppm: 200, fast, lock, renew, stagger },
    }
}

/// One message of each shape.
pub(crate) fn samples() -> Vec<Frame<Said>> {
    let (sent, received) = (Instant::from_nanos(7), Instant::from_nanos(9));
    let (term, request) = (Term::FIRST, sent);
    let bodies = [
        None,
        Some(Said::Election { term, request, leading: true }),
        Some(Said::Election { term, request, leading: false }),
        Some(Said::Reply { term, request, granted: true }),
        Some(Said::Reply { term, request, granted: false }),
        Some(Said::Release { request }),
    ];
    let rows = |n| (0..n).map(|id| (NodeId(id), Stamps { sent, received })).collect();
    bodies.into_iter().zip(0..).map(|(body, n)| Frame { sent, echoes: rows(n), body }).collect()
}
