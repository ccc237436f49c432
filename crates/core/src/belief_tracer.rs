//! Turns the beliefs of a process after a step into trace events. Simulator, runtime and replay use
//! the same rule, so their traces can be compared.
//!
//! **What it promises.** A reader of the records in order knows after every step what the process
//! believes and until when, its lock, its supporters, its partition, its list of voters, its votes
//! and its requests. The end of each is recorded in advance, so a regular end has no record.

use crate::fact::Fact;
use crate::id::NodeId;
use crate::leadership::Leadership;
use crate::record::Event;
use crate::time::Instant;
use alloc::vec::Vec;

/// It belongs to no partition any more.
const NO_PARTITION: Fact = Fact::Partition { version: 0 };

/// The last recorded deadlines, lock, supporters and voters of a process. Empty in a new
/// incarnation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BeliefTracer {
    /// The deadline of its belief, if it has one.
    until: Option<Instant>,
    /// Its lock.
    lock: Option<Fact>,
    /// Its supporters.
    supporters: Vec<NodeId>,
    /// Its partition, where leaders are local.
    partition: Vec<Fact>,
    /// Its list of voters.
    list: Vec<Fact>,
    /// Its votes and requests.
    votes: Vec<Fact>,
}

impl BeliefTracer {
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
            partition: partition(facts),
            list: facts.iter().filter(|fact| is_of_list(fact)).copied().collect(),
            votes: facts.iter().filter(|fact| fact.is_of_votes()).copied().collect(),
        }
    }

    /// Whether no recorded deadline is pending.
    pub fn is_timeless(&self) -> bool {
        self.until.is_none() && self.lock.is_none()
    }

    /// Emits what a step has changed. If the belief `changed`: the belief and all facts. If not:
    /// deadlines, lock and support that begin, are prolonged or end early, and new votes and
    /// requests. If the supporters changed, all of them follow `held`; if its partition changed,
    /// that comes before, with the number 0 if it belongs to none now; if its list of voters
    /// changed, all of that follows.
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
        if self.partition.is_empty() && !before.partition.is_empty() {
            say(Event::Fact(NO_PARTITION));
        } else if self.partition != before.partition {
            self.partition.iter().for_each(|fact| say(Event::Fact(*fact)));
        }
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
        if self.list != before.list {
            self.list.iter().for_each(|fact| say(Event::Fact(*fact)));
        }
        let news = self.votes.iter().filter(|fact| !before.votes.contains(fact));
        news.for_each(|fact| say(Event::Fact(*fact)));
    }

    /// The lock with its new end, if it ended early.
    fn cut_short(&self, after: &Self, now: Instant) -> Option<Fact> {
        let (ended, until) = match self.lock? {
            Fact::Locked { to, until } => (Fact::Locked { to, until: now }, until),
            Fact::Bound { until } => (Fact::Bound { until: now }, until),
            _ => return None,
        };
        (after.lock.is_none() && until > now).then_some(ended)
    }
}

/// The number of its partition, and its members if a leader reported them; those of a leader are
/// its supporters.
fn partition(facts: &[Fact]) -> Vec<Fact> {
    let is_of = |fact: &&Fact| matches!(fact, Fact::Partition { .. } | Fact::Member { .. });
    let numbered = facts.iter().any(|fact| matches!(fact, Fact::Partition { .. }));
    facts.iter().filter(is_of).filter(|_| numbered).copied().collect()
}

fn is_of_list(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::List { .. }
            | Fact::Lengths { .. }
            | Fact::Voter { .. }
            | Fact::Added { .. }
            | Fact::Removed { .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::leadership::Stage;
    use alloc::vec;

    const AT: fn(u64) -> Instant = Instant::from_nanos;

    /// The events of a leader until then, with these supporters and this lock.
    fn tell(
        told: &mut BeliefTracer,
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
        let mut told = BeliefTracer::default();
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

    /// A leader may name its supporters without this process, which believes in it until its time
    /// is over.
    #[test]
    fn that_it_belongs_to_no_partition_any_more_is_told_once() {
        let (mut told, mut events) = (BeliefTracer::default(), Vec::new());
        let leadership = Leadership::of(&[NodeId(1)], Stage::Decided);
        let [number, me, other] = [
            Fact::Partition { version: 3 },
            Fact::Member { peer: NodeId(2) },
            Fact::Member { peer: NodeId(3) },
        ];
        let steps = [&[number, me][..], &[other], &[other], &[number, me], &[number, me]];
        for facts in steps {
            told.tell(AT(10), &leadership, facts, false, &mut |event| events.push(event));
        }
        assert_eq!(events, [number, me, NO_PARTITION, number, me].map(Event::Fact));
    }

    #[test]
    fn votes_and_requests_are_told_when_they_are_new() {
        let (mut told, mut events) = (BeliefTracer::default(), Vec::new());
        let request = |sent| Fact::Request { sent: AT(sent), term: 1 };
        let record = Fact::Record { highest: 1, granted: Some((NodeId(1), 1)) };
        for facts in [[request(1), record], [request(1), record], [request(2), record]] {
            let nothing = Leadership::NONE;
            told.tell(AT(10), &nothing, &facts, false, &mut |event| events.push(event));
        }
        assert_eq!(events, [request(1), record, request(2)].map(Event::Fact));
    }
}
