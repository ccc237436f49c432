//! What a driver records of a process's beliefs after a step: one rule, so that a simulated run and
//! a live one are told in the same words, and a replay can compare them.
//!
//! **What it promises.** Whoever reads the records in order knows after every step what the process
//! believes and until when, whom it is bound to and who supports it. What ends in time was
//! announced, so that nothing is told then.

use crate::fact::Fact;
use crate::id::NodeId;
use crate::leadership::Leadership;
use crate::record::Event;
use crate::time::Instant;
use alloc::vec::Vec;

/// What was last recorded of the things a process holds for a time. A new life begins with none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Until when it believes what it believes, if that ends.
    until: Option<Instant>,
    /// Its lock.
    lock: Option<Fact>,
    /// Who supports it.
    supporters: Vec<NodeId>,
}

impl Told {
    fn by(leadership: &Leadership<'_>, facts: &[Fact]) -> Self {
        let until = Some(leadership.until).filter(|until| *until != Instant::NEVER);
        let binds = |fact: &&Fact| matches!(fact, Fact::Locked { .. } | Fact::Bound { .. });
        let supporter = |fact: &Fact| match fact {
            Fact::Supporter { peer } => Some(*peer),
            _ => None,
        };
        Self {
            until,
            lock: facts.iter().rfind(binds).copied(),
            supporters: facts.iter().filter_map(supporter).collect(),
        }
    }

    /// Whether nothing ends by the process's clock.
    pub fn is_timeless(&self) -> bool {
        self.until.is_none() && self.lock.is_none()
    }

    /// Tells what a step has changed. If what the process believes `changed`: all of it, and all
    /// that it holds true. If not: what it holds for a time, where that begins, is prolonged or
    /// ends before its time. Where others support it than before, `held` is followed by all of
    /// them.
    pub fn tell(
        &mut self,
        now: Instant,
        leadership: &Leadership<'_>,
        facts: &[Fact],
        changed: bool,
        say: &mut dyn FnMut(Event),
    ) {
        let told = Self::by(leadership, facts);
        if changed {
            let Leadership { leaders, term, stage, .. } = *leadership;
            say(Event::Leadership { leaders: leaders.to_vec(), term, until: told.until, stage });
            facts.iter().for_each(|fact| say(Event::Fact(*fact)));
        } else {
            told.renew(self, say);
        }
        if let Some(ended) = self.cut_short(&told, now) {
            say(Event::Fact(ended));
        }
        *self = told;
    }

    fn renew(&self, before: &Self, say: &mut dyn FnMut(Event)) {
        let others = self.supporters != before.supporters;
        if let Some(until) = self.until.filter(|_| others || self.until != before.until) {
            say(Event::Fact(Fact::Held { until }));
        }
        if others {
            let supporters = self.supporters.iter();
            supporters.for_each(|peer| say(Event::Fact(Fact::Supporter { peer: *peer })));
        }
        if let Some(lock) = self.lock.filter(|_| self.lock != before.lock) {
            say(Event::Fact(lock));
        }
    }

    /// The lock, with the end it has now, if it would have gone on and there is none any more.
    fn cut_short(&self, after: &Self, now: Instant) -> Option<Fact> {
        let (ended, until) = match self.lock? {
            Fact::Locked { to, until } => (Fact::Locked { to, until: now }, until),
            Fact::Bound { until } => (Fact::Bound { until: now }, until),
            _ => return None,
        };
        (after.lock.is_none() && until > now).then_some(ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::leadership::Stage;
    use alloc::vec;

    const AT: fn(u64) -> Instant = Instant::from_nanos;

    /// What is told of a leader until then, with these supporters and this lock.
    fn tell(
        told: &mut Told,
        until: u64,
        peers: &[u64],
        lock: Option<u64>,
        new: bool,
    ) -> Vec<Event> {
        let leadership =
            Leadership { until: AT(until), ..Leadership::of(&[NodeId(1)], Stage::Decided) };
        let to = NodeId(1);
        let lock = lock.map(|until| Fact::Locked { to, until: AT(until) });
        let supporters = peers.iter().map(|peer| Fact::Supporter { peer: NodeId(*peer) });
        let facts: Vec<Fact> = lock.into_iter().chain(supporters).collect();
        let mut events = Vec::new();
        told.tell(AT(10), &leadership, &facts, new, &mut |event| events.push(event));
        events
    }

    #[test]
    fn a_change_tells_everything_and_a_renewal_what_is_new() {
        let mut told = Told::default();
        assert!(told.is_timeless());
        let all = tell(&mut told, 100, &[1, 2], Some(150), true);
        assert!(matches!(all[0], Event::Leadership { until: Some(until), .. } if until == AT(100)));
        assert_eq!(all.len(), 4);
        assert!(!told.is_timeless());
        assert_eq!(tell(&mut told, 100, &[1, 2], Some(150), false), [], "no news");
        let held = |until| Event::Fact(Fact::Held { until: AT(until) });
        assert_eq!(tell(&mut told, 130, &[1, 2], Some(150), false), [held(130)]);
        let supporter = |peer| Event::Fact(Fact::Supporter { peer: NodeId(peer) });
        let others = vec![held(130), supporter(1), supporter(3)];
        assert_eq!(tell(&mut told, 130, &[1, 3], Some(150), false), others);
        let ended = Event::Fact(Fact::Locked { to: NodeId(1), until: AT(10) });
        assert_eq!(tell(&mut told, 130, &[1, 3], None, false), [ended], "before its time");
    }
}
