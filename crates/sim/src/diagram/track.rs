//! The state of one process while its records are read: open spans and their known ends.
//!
//! A belief or a lock may end by the process's own clock without a record, for example while it is
//! paused. So announced ends are kept and checked before each record.

use super::story::{Belief, Hold, Lane, Phase, Span, View};
use bellwether_core::{Fact, Instant, NodeId, Stage, Work};

/// A lane whose last spans are still open.
pub(super) struct Track {
    lane: Lane,
    phase: Option<(u64, Phase)>,
    belief: Option<(u64, Belief, Instant)>,
    hold: Option<(u64, Hold, Instant)>,
    run: Option<(u64, u64)>,
    clock: Clock,
}

/// A process's clock as far as the records tell: its reading at a time of the records.
#[derive(Clone, Copy, Default)]
struct Clock {
    since: u64,
    ahead: i128,
}

impl Clock {
    /// When the clock reads this, as a time of records; not before the clock was set.
    fn when(self, instant: Instant) -> u64 {
        if instant == Instant::NEVER {
            return u64::MAX;
        }
        let at = i128::from(instant.as_nanos()) - self.ahead;
        u64::try_from(at.max(0)).unwrap_or(u64::MAX).max(self.since)
    }
}

impl Track {
    pub(super) fn new(id: NodeId) -> Self {
        let (phases, beliefs, holds) = (Vec::new(), Vec::new(), Vec::new());
        let lane =
            Lane { id, phases, beliefs, holds, works: Vec::new(), views: Vec::new(), end: None };
        let clock = Clock::default();
        Self { lane, phase: None, belief: None, hold: None, run: None, clock }
    }

    /// Sets the first phase, if none is known: the process has been in it from the start.
    pub(super) fn begin(&mut self, from: u64, phase: Phase) {
        self.phase.get_or_insert((from, phase));
    }

    pub(super) fn enter(&mut self, at: u64, phase: Phase) {
        if let Some((from, what)) = self.phase.replace((at, phase)) {
            push(&mut self.lane.phases, from, at, what);
        }
        // A paused process keeps its belief, which is what makes it dangerous.
        if matches!(phase, Phase::Down | Phase::Absent) {
            self.forget(at);
        }
    }

    pub(super) fn believe(&mut self, at: u64, belief: Belief, until: Instant) {
        if let Some((from, what, _)) = self.belief.replace((at, belief, until)) {
            push(&mut self.lane.beliefs, from, at, what);
        }
    }

    /// Its clock reads this.
    pub(super) fn set_clock(&mut self, at: u64, reads: Instant) {
        let ahead = i128::from(reads.as_nanos()) - i128::from(at);
        self.clock = Clock { since: at, ahead };
    }

    pub(super) fn learn(&mut self, at: u64, fact: Fact) {
        match fact {
            Fact::Locked { to, until } => self.hold(at, Hold::To(to), until),
            Fact::Bound { until } => self.hold(at, Hold::Nobody, until),
            Fact::Held { until } => {
                if let Some((_, _, end)) = &mut self.belief {
                    *end = until;
                }
            }
            Fact::Clock { reads } => self.set_clock(at, reads),
            Fact::Partition { version } => {
                self.lane.views.push(View { at, version, members: Vec::new() });
            }
            Fact::Supporter { peer } | Fact::Member { peer } => {
                let view = self.lane.views.last_mut();
                let view = view.filter(|view| view.at == at && view.version > 0);
                view.into_iter().for_each(|view| view.members.push(peer));
            }
            _ => {}
        }
    }

    /// Notes an event of its command. A run whose end is not recorded lasts until the next one
    /// begins.
    pub(super) fn work(&mut self, at: u64, work: Work) {
        let next = match work {
            Work::Starts { run } => Some((at, run)),
            Work::Ended { .. } | Work::Done => None,
        };
        if let Some((from, run)) = std::mem::replace(&mut self.run, next) {
            push(&mut self.lane.works, from, at, run);
        }
    }

    fn hold(&mut self, at: u64, hold: Hold, until: Instant) {
        let from = match self.hold {
            Some((from, before, _)) if before == hold => from,
            _ => at,
        };
        if let Some((since, before, _)) = self.hold.replace((from, hold, until))
            && before != hold
        {
            push(&mut self.lane.holds, since, at, before);
        }
    }

    /// Ends the spans that have expired by `at`.
    pub(super) fn lapse(&mut self, at: u64) {
        let clock = self.clock;
        let over = |from: u64, until| Some(clock.when(until).max(from)).filter(|end| *end <= at);
        if let Some((from, hold, until)) = self.hold
            && let Some(end) = over(from, until)
        {
            push(&mut self.lane.holds, from, end, hold);
            self.hold = None;
        }
        if let Some((from, _, until)) = &self.belief
            && let Some(end) = over(*from, *until)
        {
            let nothing = Belief { leaders: Vec::new(), term: None, stage: Stage::Undecided };
            self.believe(end, nothing, Instant::NEVER);
        }
    }

    /// The process has stopped.
    fn forget(&mut self, at: u64) {
        if let Some((from, what, _)) = self.belief.take() {
            push(&mut self.lane.beliefs, from, at, what);
        }
        if let Some((from, what, _)) = self.hold.take() {
            push(&mut self.lane.holds, from, at, what);
        }
    }

    /// Ends all spans with the picture.
    pub(super) fn close(mut self, from: u64, to: u64) -> Lane {
        self.lapse(to);
        self.lane.end = self.belief.as_ref().map(|(_, belief, _)| belief.clone());
        self.forget(to);
        self.work(to, Work::Done);
        let (since, phase) = self.phase.unwrap_or((from, Phase::Up));
        push(&mut self.lane.phases, since, to, phase);
        self.lane
    }
}

/// Adds a span, unless it is empty or continues the previous one.
fn push<T: PartialEq>(spans: &mut Vec<Span<T>>, from: u64, to: u64, what: T) {
    if from >= to {
        return;
    }
    match spans.last_mut() {
        Some(last) if last.to == from && last.what == what => last.to = to,
        _ => spans.push(Span { from, to, what }),
    }
}
