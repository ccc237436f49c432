//! The leaders of a run over time.

use bellwether_core::{Duration, Instant, NodeId, SimTime};

/// An unbroken time of leading, by the common clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reign {
    /// The leader.
    pub leader: NodeId,
    /// Its start.
    pub from: SimTime,
    /// Its end: the first moment without leading.
    pub to: SimTime,
    /// Until when the leader certainly ran: the end, unless its records stop earlier.
    pub seen: SimTime,
    /// Whether its records stop while it leads: it was killed, or goes on without recording.
    pub silent: bool,
}

/// All reigns of a run, sorted by their start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reigns {
    /// The reigns that are over.
    pub past: Vec<Reign>,
    present: Vec<Reign>,
}

/// The time between the reigns of two leaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    /// No process led for this long.
    Free(Duration),
    /// Both led for this long.
    Overlap(Duration),
}

impl Reigns {
    /// Sets the leaders at this moment.
    pub(crate) fn see(&mut self, at: SimTime, leaders: &[NodeId]) {
        let past = &mut self.past;
        self.present.retain(|reign| {
            let goes_on = leaders.contains(&reign.leader);
            if !goes_on {
                past.push(Reign { to: at, seen: reign.seen.min(at), ..*reign });
            }
            goes_on
        });
        for leader in leaders {
            if !self.present.iter().any(|reign| reign.leader == *leader) {
                let (seen, silent) = (SimTime::NEVER, false);
                self.present.push(Reign { leader: *leader, from: at, to: at, seen, silent });
            }
        }
    }

    /// Notes that the records of this process end. It may have been killed, and counts as leading
    /// until its recorded deadline, if it has one.
    pub(crate) fn silence(&mut self, at: SimTime, leader: NodeId) {
        let own = self.present.iter_mut().filter(|reign| reign.leader == leader);
        own.for_each(|reign| (reign.seen, reign.silent) = (at, true));
    }

    /// Ends the run. A leader then counts as leading until `told`.
    pub(crate) fn close(&mut self, at: SimTime, told: impl Fn(NodeId) -> Instant) {
        for reign in std::mem::take(&mut self.present) {
            let told = told(reign.leader);
            let ends = SimTime::from_nanos(told.as_nanos());
            let to = if told == Instant::NEVER { at } else { ends.max(at) };
            self.past.push(Reign { to, seen: reign.seen.min(to), ..reign });
        }
        self.past.sort_by_key(|reign| (reign.from, reign.leader));
    }

    /// How often the leader changed.
    pub fn changes(&self) -> usize {
        self.past.windows(2).filter(|pair| pair[0].leader != pair[1].leader).count()
    }

    /// An upper bound on the longest time without a leader between the first reign and the last. A
    /// leader whose records stop may have run on for an unknown time.
    pub fn longest_without(&self) -> Option<Duration> {
        let mut ends = self.past.first()?.seen;
        let mut longest = Duration::ZERO;
        for reign in &self.past {
            longest = longest.max(reign.from.since(ends));
            ends = ends.max(reign.seen);
        }
        Some(longest)
    }

    /// Whether the records of a leader stop, and another one followed.
    pub fn fell_silent(&self) -> bool {
        let Some((_, former)) = self.past.split_last() else { return false };
        former.iter().any(|reign| reign.silent)
    }

    /// The smallest gap between the reigns of two leaders, or the longest overlap if two led at
    /// once.
    pub fn smallest_gap(&self) -> Option<Gap> {
        let (mut free, mut overlap) = (None, Duration::ZERO);
        for (index, reign) in self.past.iter().enumerate() {
            for former in self.past[..index].iter().filter(|one| one.leader != reign.leader) {
                overlap = overlap.max(former.to.min(reign.to).since(reign.from));
                let gap = reign.from.since(former.to);
                free = Some(free.map_or(gap, |known: Duration| known.min(gap)));
            }
        }
        if overlap > Duration::ZERO { Some(Gap::Overlap(overlap)) } else { free.map(Gap::Free) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> SimTime {
        SimTime::from_nanos(nanos)
    }

    fn reigns(seen: &[(u64, &[u64])]) -> Reigns {
        let mut reigns = Reigns::default();
        for (nanos, leaders) in seen {
            let leaders: Vec<NodeId> = leaders.iter().copied().map(NodeId).collect();
            reigns.see(at(*nanos), &leaders);
        }
        reigns.close(at(100), |_| Instant::NEVER);
        reigns
    }

    #[test]
    fn gaps_lie_between_different_leaders_and_changes_are_counted() {
        let run = reigns(&[(5, &[0]), (20, &[]), (27, &[1]), (40, &[]), (49, &[1]), (60, &[2])]);
        assert_eq!(run.past.len(), 4);
        assert_eq!(run.changes(), 2, "1 led twice in a row");
        assert_eq!(run.longest_without(), Some(Duration::from_nanos(9)));
        assert_eq!(run.smallest_gap(), Some(Gap::Free(Duration::ZERO)), "2 followed 1 at once");
        assert_eq!(reigns(&[]).smallest_gap(), None);
        assert_eq!(reigns(&[(1, &[4]), (3, &[]), (5, &[4])]).smallest_gap(), None);
    }

    #[test]
    fn an_overlap_is_told_even_if_a_third_reign_lies_between() {
        let run = reigns(&[(5, &[0]), (20, &[0, 1]), (25, &[0]), (30, &[0, 2]), (31, &[2])]);
        assert_eq!(run.smallest_gap(), Some(Gap::Overlap(Duration::from_nanos(5))));
    }

    #[test]
    fn who_leads_at_the_end_leads_for_as_long_as_it_said() {
        let mut run = Reigns::default();
        let leader = NodeId(7);
        run.see(at(5), &[leader]);
        run.close(at(100), |_| Instant::from_nanos(130));
        let (from, to, seen) = (at(5), at(130), at(130));
        assert_eq!(run.past, [Reign { leader, from, to, seen, silent: false }]);
    }

    #[test]
    fn a_leader_that_fell_silent_may_have_been_gone_since_its_last_record() {
        let mut run = Reigns::default();
        run.see(at(5), &[NodeId(7)]);
        run.silence(at(30), NodeId(7));
        run.see(at(170), &[]);
        run.see(at(172), &[NodeId(8)]);
        run.close(at(200), |_| Instant::NEVER);
        assert_eq!((run.past[0].to, run.past[0].seen), (at(170), at(30)));
        assert_eq!(run.longest_without(), Some(Duration::from_nanos(142)));
        assert_eq!(run.smallest_gap(), Some(Gap::Free(Duration::from_nanos(2))));
        assert!(run.fell_silent());
    }
}
