//! Which processes lead in a connected set that is not complete: Figure 24 of the local leaders.
//!
//! **Source.** Fetzer and Cristian, "A Highly Available Local Leader Election Service", IEEE
//! Transactions on Software Engineering 25(5), 1999, section X, and its Figure 24. The figure is
//! missing from the text that we have, and neither natural reading of the prose is exact: the rule
//! here is the one that simulation agrees with (`tests/paper/connected_set.rs`).
//!
//! **Assumptions.** Local mode. Connections go both ways, do not change, and are not transitive:
//! two processes may each be connected with a third and not with each other. Processes neither
//! crash nor resign.
//!
//! **The rule.** A process asks for support while it knows of nobody with a smaller id. It hears
//! its neighbours only, and those only when they ask or answer. So it is
//!
//! * *local* if no neighbour has a smaller id: it always asks;
//! * *silent* if a neighbour with a smaller id is local: it always hears of that one, and never
//!   asks;
//! * *sporadic* otherwise: its smaller neighbours are silent or sporadic themselves. When it has
//!   not heard them for `expires` it asks, hears their answers, and is silent again.
//!
//! Only a local process can lead: any other knows of a smaller one as soon as that answers. It
//! needs the support of all its neighbours, and a neighbour supports the smallest process that it
//! hears. So a local process leads *steadily* if none of its neighbours has a neighbour with a
//! smaller id that is local or sporadic. If there are sporadic ones, and no local one, it leads *at
//! times*: between their requests, as far as these leave it time. Where several of them take turns
//! that may be none. If there is a local one, it *never* leads.
//!
//! **As printed.** The text describes an algorithm: process after process, from the least, leads if
//! neither it nor any of its neighbours is marked, and then its neighbours are marked; it can be
//! read that those of a process that does not lead are marked as well. [`Marks`] has both readings.

mod simulated;

/// How often a process asks for support.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaks {
    /// Always.
    Local,
    /// Never.
    Silent,
    /// When it has not heard a smaller one for a while.
    Sporadic,
}

/// How often a process leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leads {
    /// All the time, once the group has settled.
    Steadily,
    /// Not all the time: while sporadic processes leave it time, and there may be none.
    AtTimes,
    /// Not at all.
    Never,
}

/// How the algorithm of Figure 24 is read: whose neighbours are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    /// Those of every process.
    OfAll,
    /// Those of leaders.
    OfLeaders,
}

/// The neighbours of each process, by its number; the number is its place in the order of ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectedSet {
    neighbours: Vec<Vec<usize>>,
}

impl ConnectedSet {
    /// So many processes with these connections, each of which goes both ways. Those of a process
    /// with itself, and with numbers that no process has, do not count.
    pub fn new(processes: usize, connections: &[(usize, usize)]) -> Self {
        let mut neighbours = vec![Vec::new(); processes];
        for &(one, other) in connections {
            if one != other && one.max(other) < processes {
                neighbours[one].push(other);
                neighbours[other].push(one);
            }
        }
        Self { neighbours }
    }

    /// Whether two processes are connected.
    pub fn has(&self, one: usize, other: usize) -> bool {
        self.neighbours.get(one).is_some_and(|known| known.contains(&other))
    }

    /// How often each process asks.
    pub fn speaks(&self) -> Vec<Speaks> {
        let smaller = |process: usize| {
            self.neighbours[process].iter().copied().filter(move |other| *other < process)
        };
        let is_local = |process: usize| smaller(process).next().is_none();
        let speaks = |process: usize| {
            if is_local(process) {
                Speaks::Local
            } else if smaller(process).any(is_local) {
                Speaks::Silent
            } else {
                Speaks::Sporadic
            }
        };
        (0..self.neighbours.len()).map(speaks).collect()
    }

    /// Which processes lead by the algorithm of Figure 24, read like this.
    pub fn printed(&self, marks: Marks) -> Vec<bool> {
        let mut marked = vec![false; self.neighbours.len()];
        let mut leads = Vec::new();
        for (process, neighbours) in self.neighbours.iter().enumerate() {
            let free = !marked[process] && neighbours.iter().all(|other| !marked[*other]);
            leads.push(free);
            if free || marks == Marks::OfAll {
                marked[process] = true;
                neighbours.iter().for_each(|other| marked[*other] = true);
            }
        }
        leads
    }

    /// How often each process leads.
    pub fn leads(&self) -> Vec<Leads> {
        let speaks = self.speaks();
        let leads = |process: usize| {
            if speaks[process] != Speaks::Local {
                return Leads::Never;
            }
            let supporters = self.neighbours[process].iter();
            let rivals = supporters.flat_map(|supporter| self.neighbours[*supporter].iter());
            let rivals = rivals.filter(|rival| **rival < process).map(|rival| speaks[*rival]);
            rivals.fold(Leads::Steadily, |leads, rival| match (leads, rival) {
                (Leads::Never, _) | (_, Speaks::Local) => Leads::Never,
                (_, Speaks::Sporadic) => Leads::AtTimes,
                (leads, Speaks::Silent) => leads,
            })
        };
        (0..self.neighbours.len()).map(leads).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_a_complete_set_the_least_leads_and_all_others_are_silent() {
        let all: Vec<_> = (0..4).flat_map(|one| (0..one).map(move |other| (one, other))).collect();
        let set = ConnectedSet::new(4, &all);
        assert_eq!(set.speaks(), [Speaks::Local, Speaks::Silent, Speaks::Silent, Speaks::Silent]);
        assert_eq!(set.leads(), [Leads::Steadily, Leads::Never, Leads::Never, Leads::Never]);
    }

    /// In a chain from 0 to 4 the text has 0 lead, and 3 or nobody beside it; the protocol 0 alone.
    #[test]
    fn both_readings_of_the_text_differ_from_the_rule_and_from_each_other() {
        let set = ConnectedSet::new(5, &[(0, 1), (1, 2), (2, 3), (3, 4)]);
        let who = |leads: Vec<bool>| leads.iter().filter(|leads| **leads).count();
        let both = [Marks::OfAll, Marks::OfLeaders].map(|marks| set.printed(marks));
        assert!(both.iter().all(|leads| leads[0] && !leads[1]));
        assert_eq!(both.map(who), [1, 2]);
        let steadily = set.leads().into_iter().filter(|leads| *leads == Leads::Steadily).count();
        assert_eq!(steadily, 1);
    }

    #[test]
    fn in_a_chain_every_second_one_is_sporadic() {
        // 0 is local, 1 silent, 2 hears only 1 and 3.
        let set = ConnectedSet::new(4, &[(0, 1), (1, 2), (2, 3)]);
        let silent = Speaks::Silent;
        assert_eq!(set.speaks(), [Speaks::Local, silent, Speaks::Sporadic, Speaks::Sporadic]);
        assert_eq!(set.leads(), [Leads::Steadily, Leads::Never, Leads::Never, Leads::Never]);
    }

    #[test]
    fn a_local_process_is_blocked_through_its_neighbours() {
        // 1 is local, and 2, its neighbour, hears 0 too.
        let set = ConnectedSet::new(3, &[(0, 2), (1, 2)]);
        assert_eq!(set.speaks(), [Speaks::Local, Speaks::Local, Speaks::Silent]);
        assert_eq!(set.leads(), [Leads::Steadily, Leads::Never, Leads::Never]);
        // 3 is local. Its neighbour 4 hears 2, which is sporadic: it hears only 1, which is silent.
        let set = ConnectedSet::new(5, &[(0, 1), (1, 2), (2, 4), (3, 4)]);
        let speaks = set.speaks();
        assert_eq!(speaks[1..4], [Speaks::Silent, Speaks::Sporadic, Speaks::Local]);
        assert_eq!(set.leads()[3], Leads::AtTimes);
        assert!(set.has(4, 3) && !set.has(0, 3) && !set.has(9, 0));
    }

    #[test]
    fn what_is_no_connection_does_not_count() {
        let set = ConnectedSet::new(2, &[(0, 0), (1, 7), (7, 7)]);
        assert_eq!(set.leads(), [Leads::Steadily, Leads::Steadily], "each is alone");
    }
}
