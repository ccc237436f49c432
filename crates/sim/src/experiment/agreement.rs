//! Tracks whether all live processes name the same live leaders, change by change.

use bellwether_core::{Leadership, NodeId};
use std::collections::BTreeMap;

/// How many live processes name which leaders.
///
/// Agreement needs no outside knowledge: all live processes name the same leaders, and these are
/// alive.
#[derive(Clone, Debug, Default)]
pub(crate) struct Agreement {
    /// The set of leaders that each process names: an index into `counts`, or [`GONE`].
    names: Vec<u32>,
    /// How many live processes name each set of leaders.
    counts: Vec<u32>,
    /// Sets of several leaders. The set of a single leader has the leader's number.
    sets: BTreeMap<Vec<NodeId>, u32>,
    live: u32,
    agreed: bool,
}

const GONE: u32 = u32::MAX;

impl Agreement {
    pub(crate) fn reset(&mut self, nodes: u32) {
        self.names.clear();
        self.names.reserve_exact(nodes as usize);
        self.names.resize(nodes as usize, GONE);
        self.counts.clear();
        self.counts.reserve_exact(nodes as usize);
        self.counts.resize(nodes as usize, 0);
        self.sets.clear();
        (self.live, self.agreed) = (0, false);
    }

    /// A process now names these leaders.
    #[inline]
    pub(crate) fn names(&mut self, node: u32, leadership: &Leadership<'_>) {
        let set = self.set(leadership.leaders);
        let before = std::mem::replace(&mut self.names[node as usize], set);
        if before == GONE {
            self.live += 1;
        } else {
            self.counts[before as usize] -= 1;
        }
        self.counts[set as usize] += 1;
        // If all agree now, they agree on the set that this process names.
        self.agreed = self.counts[set as usize] == self.live && self.is_alive(set);
    }

    /// A process has stopped.
    pub(crate) fn gone(&mut self, node: u32) {
        let before = std::mem::replace(&mut self.names[node as usize], GONE);
        if before == GONE {
            return;
        }
        self.counts[before as usize] -= 1;
        self.live -= 1;
        let left = self.names.iter().find(|set| **set != GONE);
        self.agreed =
            left.is_some_and(|&set| self.counts[set as usize] == self.live && self.is_alive(set));
    }

    #[inline]
    pub(crate) fn agreed(&self) -> bool {
        self.agreed
    }

    #[inline]
    fn set(&mut self, leaders: &[NodeId]) -> u32 {
        match leaders {
            [one] if (one.0 as usize) < self.names.len() => one.0 as u32,
            several => match self.sets.get(several) {
                Some(set) => *set,
                None => {
                    let set = self.counts.len() as u32;
                    self.counts.push(0);
                    self.sets.insert(several.to_vec(), set);
                    set
                }
            },
        }
    }

    fn is_alive(&self, set: u32) -> bool {
        if let Some(name) = self.names.get(set as usize) {
            return *name != GONE;
        }
        let leaders = self.sets.iter().find(|(_, known)| **known == set).map(|(ids, _)| ids);
        leaders.is_some_and(|ids| {
            !ids.is_empty()
                && ids.iter().all(|leader| {
                    self.names.get(leader.0 as usize).is_some_and(|name| *name != GONE)
                })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::id;
    use bellwether_core::Stage;

    fn say(agreement: &mut Agreement, node: u32, leaders: &[u32]) {
        let ids: Vec<NodeId> = leaders.iter().copied().map(id).collect();
        agreement.names(node, &Leadership::of(&ids, Stage::Decided));
    }

    #[test]
    fn all_must_name_the_same_live_leader() {
        let mut agreement = Agreement::default();
        agreement.reset(4);
        for node in 0..3 {
            say(&mut agreement, node, &[node]);
            assert_eq!(agreement.agreed(), node == 0, "one alone agrees with itself");
        }
        say(&mut agreement, 0, &[2]);
        say(&mut agreement, 1, &[2]);
        assert!(agreement.agreed());
        agreement.gone(2);
        assert!(!agreement.agreed(), "they agree on one that is gone");
        say(&mut agreement, 1, &[1]);
        assert!(!agreement.agreed());
        agreement.gone(0);
        assert!(agreement.agreed(), "the only dissenter left");
        say(&mut agreement, 3, &[3]);
        assert!(!agreement.agreed(), "a newcomer knows nobody");
    }

    #[test]
    fn several_leaders_must_be_the_same_set_and_alive() {
        let mut agreement = Agreement::default();
        agreement.reset(3);
        for node in 0..3 {
            say(&mut agreement, node, &[2, 1]);
        }
        assert!(agreement.agreed());
        say(&mut agreement, 0, &[2, 0]);
        assert!(!agreement.agreed());
        say(&mut agreement, 0, &[2, 1]);
        agreement.gone(1);
        assert!(!agreement.agreed());
    }

    #[test]
    fn naming_nobody_is_no_agreement() {
        let mut agreement = Agreement::default();
        agreement.reset(2);
        say(&mut agreement, 0, &[]);
        say(&mut agreement, 1, &[]);
        assert!(!agreement.agreed());
    }
}
