//! What is counted of the changes: elections, leaders, and how reigns ended.
//!
//! **Assumptions.** Changes that follow each other faster than the server looks are seen as one,
//! so there may have been more.

use bellwether_core::{Instant, NodeId};
use bellwether_net::Snapshot;

/// How a reign of this member ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// It gave it up: somebody asked it to, or a better candidate came.
    Resigned,
    /// Its lease ran out.
    Lapsed,
    /// It takes no part any more: its clock, its state or another member made it withdraw.
    Withdrawn,
    /// It left the group.
    Left,
}

impl End {
    pub(crate) const ALL: [Self; 4] = [Self::Resigned, Self::Lapsed, Self::Withdrawn, Self::Left];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Resigned => "resigned",
            Self::Lapsed => "lapsed",
            Self::Withdrawn => "withdrawn",
            Self::Left => "left",
        }
    }
}

/// The counts since the member joined.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    /// How often it began to follow somebody, or to lead.
    pub(crate) elections: u64,
    /// How often that was another one than before.
    pub(crate) changes: u64,
    /// How its reigns ended, in the order of [`End::ALL`].
    pub(crate) ends: [u64; 4],
    /// Since when it leads, if it does.
    pub(crate) leads_since: Option<Instant>,
    last: Option<Snapshot>,
    leader: Option<NodeId>,
}

impl History {
    /// The member believes this now.
    pub(crate) fn note(&mut self, now: &Snapshot) {
        if let Some(end) = self.last.as_ref().and_then(|last| ended(last, now)) {
            self.count(end);
        }
        let before = self.last.as_ref().and_then(|last| last.leaders.first().copied());
        let leader = now.leaders.first().copied();
        let again = now.leads() && self.leads_since.is_none();
        if leader.is_some() && (leader != before || again) {
            self.elections += 1;
            self.changes += u64::from(self.leader.is_some() && self.leader != leader);
            self.leader = leader;
        }
        self.leads_since = if now.leads() { self.leads_since.or(Some(now.at)) } else { None };
        self.last = Some(now.clone());
    }

    /// Only the deadline changed.
    pub(crate) fn prolong(&mut self, now: &Snapshot) {
        self.last = Some(now.clone());
    }

    /// The member has ended.
    pub(crate) fn end(&mut self) {
        if self.leads_since.is_some() {
            self.count(End::Left);
        }
    }

    fn count(&mut self, end: End) {
        self.leads_since = None;
        for (count, _) in self.ends.iter_mut().zip(End::ALL).filter(|(_, own)| *own == end) {
            *count += 1;
        }
    }
}

/// How the reign of the last state has ended, if it has.
fn ended(last: &Snapshot, now: &Snapshot) -> Option<End> {
    if !last.leads() || now.leads() && now.reign == last.reign {
        return None;
    }
    Some(match &now.withdrawn {
        Some(_) => End::Withdrawn,
        None if now.at >= last.until => End::Lapsed,
        None => End::Resigned,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use bellwether_core::Stage;

    /// Member 1 at this time: whom it follows, in which reign, and until when.
    fn at(time: u64, leader: Option<u64>, reign: u64, until: u64) -> Snapshot {
        Snapshot {
            me: NodeId(1),
            leaders: leader.into_iter().map(NodeId).collect(),
            term: None,
            term_kept: false,
            reign,
            until: Instant::from_nanos(until),
            stage: if leader.is_some() { Stage::Decided } else { Stage::Undecided },
            withdrawn: None,
            at: Instant::from_nanos(time),
        }
    }

    #[test]
    fn reigns_are_counted_by_how_they_ended() {
        let mut history = History::default();
        history.note(&at(1, None, 0, 9));
        history.note(&at(2, Some(1), 1, 5));
        history.prolong(&at(4, Some(1), 1, 8));
        assert_eq!(history.leads_since, Some(Instant::from_nanos(2)));
        history.note(&at(6, None, 1, 9)); // before the end of its lease
        history.note(&at(7, Some(2), 1, 12));
        history.note(&at(9, Some(1), 2, 14));
        history.note(&at(15, None, 2, 99)); // after the end of its lease
        history.note(&at(16, Some(1), 3, 20));
        let withdrawn = Some("its clock".to_owned());
        history.note(&Snapshot { withdrawn, ..at(17, None, 3, 99) });
        history.note(&at(18, Some(1), 4, 30));
        history.end();
        assert_eq!(history.ends, [1, 1, 1, 1]);
        assert_eq!((history.elections, history.changes), (5, 2));
        assert_eq!(history.leads_since, None);
    }

    #[test]
    fn a_new_reign_of_the_same_leader_is_an_election_and_no_change_of_leader() {
        let mut history = History::default();
        history.note(&at(1, Some(1), 1, 5));
        history.note(&at(6, Some(1), 2, 9));
        assert_eq!((history.elections, history.changes, history.ends), (2, 0, [0, 1, 0, 0]));
        assert_eq!(history.leads_since, Some(Instant::from_nanos(6)));
    }
}
