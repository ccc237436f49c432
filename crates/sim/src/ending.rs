//! What a run came to: who leads at the end, who led before, and how much was sent.
//!
//! **Assumptions.** The records are in order of time. A lease ends by the clock of its process; a
//! `clock` fact before a deadline tells how that clock reads, and otherwise it reads the time of
//! the record.
//!
//! **Promise.** A process leads while it believes so, runs, and its lease lasts. One that stands
//! still leads until its lease is over, and no longer.

use bellwether_core::{Event, Fact, Instant, NodeId, Record, SimTime, Stage};
use std::collections::BTreeMap;

/// What a run came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// Who leads at the end, in ascending order.
    pub leaders: Vec<NodeId>,
    /// The first of the leaders that each process follows at the end; nobody follows while it is
    /// undecided.
    pub followed: BTreeMap<NodeId, Option<NodeId>>,
    /// How many led at once at most.
    pub most_leaders: usize,
    /// Who began to lead, and when.
    pub reigns: Vec<(SimTime, NodeId)>,
    /// How many messages were sent; one to everyone counts once.
    pub sent: u64,
    /// How many were received.
    pub received: u64,
    /// How many were lost on their way to somebody.
    pub lost: u64,
    /// The time of the last record.
    pub last: SimTime,
}

/// Nothing has happened yet.
impl Default for Ending {
    fn default() -> Self {
        Self {
            leaders: Vec::new(),
            followed: BTreeMap::new(),
            most_leaders: 0,
            reigns: Vec::new(),
            sent: 0,
            received: 0,
            lost: 0,
            last: SimTime::ZERO,
        }
    }
}

/// What one process believes.
#[derive(Clone, Copy, Debug, Default)]
struct Belief {
    follows: Option<NodeId>,
    leads: bool,
    /// When that ends.
    ends: Option<SimTime>,
    /// How its clock reads at the time of its last `clock` fact.
    clock: Option<(SimTime, Instant)>,
}

impl Belief {
    fn leads_at(&self, at: SimTime) -> bool {
        self.leads && self.ends.is_none_or(|ends| at < ends)
    }

    /// When the process's clock reads this, as seen at `now`.
    fn when(&self, now: SimTime, until: Instant) -> SimTime {
        let reads = match self.clock {
            Some((at, reads)) if at == now => reads.as_nanos(),
            _ => now.as_nanos(),
        };
        let left = until.as_nanos().saturating_sub(reads);
        SimTime::from_nanos(now.as_nanos().saturating_add(left))
    }
}

/// Reads records one after the other.
#[derive(Clone, Debug, Default)]
pub struct EndingReader {
    beliefs: BTreeMap<NodeId, Belief>,
    so_far: Ending,
}

impl EndingReader {
    /// Reads the next record.
    pub fn read(&mut self, record: &Record) {
        let Record { t, node, event } = record;
        self.so_far.last = self.so_far.last.max(*t);
        match event {
            Event::Send { .. } => self.so_far.sent += 1,
            Event::Recv { .. } => self.so_far.received += 1,
            Event::Drop { .. } => self.so_far.lost += 1,
            Event::Start { .. } | Event::Restart { .. } => {
                self.beliefs.insert(*node, Belief::default());
            }
            Event::Crash | Event::Leave => {
                self.beliefs.remove(node);
            }
            Event::Fact(fact) => self.learn(*t, *node, fact),
            Event::Leadership { leaders, until, stage, .. } => {
                self.believe(*t, *node, leaders, *until, *stage);
            }
            _ => {}
        }
    }

    fn learn(&mut self, t: SimTime, node: NodeId, fact: &Fact) {
        let belief = self.beliefs.entry(node).or_default();
        match fact {
            Fact::Clock { reads } => belief.clock = Some((t, *reads)),
            Fact::Held { until } => belief.ends = Some(belief.when(t, *until)),
            _ => {}
        }
    }

    fn believe(
        &mut self,
        t: SimTime,
        node: NodeId,
        leaders: &[NodeId],
        until: Option<Instant>,
        stage: Stage,
    ) {
        let belief = self.beliefs.entry(node).or_default();
        let led = belief.leads_at(t);
        let decided = stage == Stage::Decided;
        belief.follows = leaders.first().copied().filter(|_| decided);
        belief.leads = decided && leaders.contains(&node);
        belief.ends = until.map(|until| belief.when(t, until));
        if belief.leads_at(t) && !led {
            self.so_far.reigns.push((t, node));
        }
        let lead = self.beliefs.values().filter(|belief| belief.leads_at(t)).count();
        self.so_far.most_leaders = self.so_far.most_leaders.max(lead);
    }

    /// What the run came to, at this time or at the last record if that is later.
    pub fn end(mut self, at: SimTime) -> Ending {
        let at = at.max(self.so_far.last);
        let lasts = |belief: &Belief| belief.ends.is_none_or(|ends| at < ends);
        for (node, belief) in &self.beliefs {
            if belief.leads && lasts(belief) {
                self.so_far.leaders.push(*node);
            }
            self.so_far.followed.insert(*node, belief.follows.filter(|_| lasts(belief)));
        }
        self.so_far
    }
}

impl Ending {
    /// What these records come to, at this time or at the last record if that is later.
    pub fn of(records: &[Record], at: SimTime) -> Self {
        let mut reader = EndingReader::default();
        records.iter().for_each(|record| reader.read(record));
        reader.end(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bellwether_core::Duration;

    fn at(millis: u64, node: u64, event: Event) -> Record {
        Record { t: SimTime::ZERO + Duration::from_millis(millis), node: NodeId(node), event }
    }

    fn follows(leader: u64, until_ms: Option<u64>) -> Event {
        let until = until_ms.map(|ms| Instant::from_nanos(ms * 1_000_000));
        let leaders = vec![NodeId(leader)];
        Event::Leadership { leaders, term: None, until, stage: Stage::Decided }
    }

    fn clock(reads_ms: u64) -> Event {
        Event::Fact(Fact::Clock { reads: Instant::from_nanos(reads_ms * 1_000_000) })
    }

    fn ends(records: &[Record], millis: u64) -> Ending {
        Ending::of(records, SimTime::ZERO + Duration::from_millis(millis))
    }

    #[test]
    fn a_paused_leader_leads_until_its_lease_is_over() {
        let records = [
            at(0, 0, follows(0, Some(100))),
            at(50, 0, Event::Pause),
            at(100, 1, follows(1, Some(200))),
        ];
        let ending = ends(&records, 150);
        assert_eq!((ending.leaders, ending.most_leaders), (vec![NodeId(1)], 1));
        assert_eq!(ending.followed[&NodeId(0)], None, "its belief has ended");
        assert_eq!(ending.reigns.len(), 2);
        let early = [records[0].clone(), at(99, 1, follows(1, Some(200)))];
        assert_eq!(ends(&early, 150).most_leaders, 2, "a moment earlier there were two");
    }

    #[test]
    fn a_deadline_counts_by_the_clock_of_its_process() {
        let records = [at(10, 0, clock(1_010)), at(10, 0, follows(0, Some(1_050)))];
        assert_eq!(ends(&records, 49).leaders, [NodeId(0)]);
        assert_eq!(ends(&records, 50).leaders, []);
        let held = Event::Fact(Fact::Held { until: Instant::from_nanos(1_090_000_000) });
        let renewed = [&records[..], &[at(40, 0, clock(1_040)), at(40, 0, held)]].concat();
        assert_eq!(ends(&renewed, 89).leaders, [NodeId(0)]);
        assert_eq!(ends(&renewed, 90).leaders, []);
    }

    #[test]
    fn whoever_is_gone_neither_leads_nor_follows() {
        let records = [at(0, 0, follows(0, None)), at(0, 1, follows(0, None))];
        let crashed = [&records[..], &[at(5, 0, Event::Crash)]].concat();
        let ending = ends(&crashed, 10);
        assert_eq!(ending.leaders, []);
        assert_eq!(ending.followed, BTreeMap::from([(NodeId(1), Some(NodeId(0)))]));
    }
}
