//! The lists of voters: which were made, which are committed, and how a process comes by another
//! one.
//!
//! Messages are not reported. A request is by the list that its candidate holds, and a lease too.

use super::ghost::Ghost;
use super::{Step, StepReport};
use crate::nodes::Nodes;
use crate::view::{Lengths, VoterList};
use std::fmt;

/// A list of voters: it is known by its version, its voters and its lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct List {
    pub(super) version: u64,
    pub(super) voters: Nodes,
    pub(super) lengths: Lengths,
}

impl List {
    /// How many of its voters are more than half.
    pub(super) fn majority(self) -> usize {
        self.voters.len() / 2 + 1
    }

    /// So many of its voters that every majority has one of them: those left are none.
    pub(super) fn half(self) -> usize {
        self.voters.len().div_ceil(2)
    }
}

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "list {} of {}", self.version, self.voters)
    }
}

/// A list in words, or that there is none.
pub(super) fn named(list: Option<List>) -> String {
    list.map_or("no list".to_owned(), |list| list.to_string())
}

/// All lists of a group.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    /// Those that were made, each with the list that it was made from.
    made: Vec<(List, List)>,
    /// Those that are committed, in order, the founding list first; each with the voters of the
    /// list before it by whose votes it was committed.
    line: Vec<(List, Nodes)>,
}

impl Lists {
    pub(super) fn is_committed(&self, list: List) -> bool {
        self.line.iter().any(|(committed, _)| *committed == list)
    }

    pub(super) fn is_known(&self, list: List) -> bool {
        self.is_committed(list) || self.made.iter().any(|(made, _)| *made == list)
    }

    /// Whether there is no list but the founding one.
    pub(super) fn are_unchanged(&self) -> bool {
        self.made.is_empty()
    }

    /// The founding list.
    pub(super) fn root(&self) -> Option<List> {
        self.line.first().map(|(list, _)| *list)
    }

    /// The newest list that is committed.
    pub(super) fn top(&self) -> Option<List> {
        self.line.last().map(|(list, _)| *list)
    }

    /// The list that this one was made from.
    pub(super) fn parent(&self, list: List) -> Option<List> {
        self.made.iter().find(|(made, _)| *made == list).map(|(_, parent)| *parent)
    }

    /// The list that this one was made from, unless it is committed: then its own voters decide.
    pub(super) fn open_parent(&self, list: List) -> Option<List> {
        self.parent(list).filter(|_| !self.is_committed(list))
    }

    /// Whether a lease may still be taken by this list: no newer one is committed, and no other one
    /// of its version.
    pub(super) fn is_current(&self, list: List) -> bool {
        self.top().is_none_or(|top| top == list || list.version > top.version)
    }

    pub(super) fn commit(&mut self, list: List, by: Nodes) {
        self.line.push((list, by));
    }

    /// The newest list that was committed by a vote of this process.
    pub(super) fn committed_by(&self, node: u32) -> Option<List> {
        let by = |(_, by): &&(List, Nodes)| by.contains(node);
        self.line.iter().rfind(by).map(|(list, _)| *list)
    }
}

impl StepReport<'_> {
    /// Whether it knows its list to be committed.
    pub(super) fn is_sure(&self) -> bool {
        self.row.list.is_none_or(|list| list.committed)
    }
}

impl Ghost {
    /// The list that a process holds, if it has a record. It reports none while all members vote
    /// and always did.
    pub(super) fn held_list(&self, told: &StepReport<'_>) -> Option<List> {
        told.account().record?;
        let founding = List { version: 0, voters: self.group, lengths: self.lengths };
        let Some(VoterList { version, voters, lengths, .. }) = told.row.list else {
            return Some(founding);
        };
        let list = List { version, voters, lengths: lengths.unwrap_or(self.lengths) };
        // One with another lockTime than the group takes its own for that of the founding list.
        let own = self.lengths_of(told.node, self.lengths) == list.lengths;
        let as_founded = own && !self.lists.is_known(list);
        Some(if as_founded { List { lengths: self.lengths, ..list } } else { list })
    }

    /// A process begins with this list, or has it with its first record: the founding list is the
    /// same for all. Of a group whose voters changed before the first record nothing can be said.
    pub(super) fn first_list(&mut self, list: List) {
        if self.lists.root().is_none() && list.version == 0 {
            self.lists.commit(list, Nodes::NONE);
        }
        self.blind |= !self.lists.is_known(list);
    }

    /// `learn_list` or `change`: the list of a process is another one than before. Returns whether
    /// it is.
    pub(super) fn take_list(
        &mut self,
        told: &StepReport<'_>,
    ) -> Result<bool, (&'static str, String)> {
        let after = self.held_list(told);
        let before = std::mem::replace(&mut self.members[told.node as usize].list, after);
        let Some(after) = after.filter(|after| self.tokens && Some(*after) != before) else {
            return Ok(false);
        };
        let Some(before) = before else {
            if after.version == 0 {
                self.first_list(after); // it reads the record of others, or founds the group
            }
            return Ok(true);
        };
        if !self.lists.is_known(after) {
            self.change(told, before, after)?;
        } else if after.version < before.version {
            let guard = format!("it takes {after}, and had {before}, which is newer");
            return Err(("learn_list", guard));
        } else if after.version == before.version && !self.lists.is_committed(after) {
            let guard = format!("it takes {after}, which is not committed, and had {before}");
            return Err(("learn_list", guard));
        }
        Ok(true)
    }

    /// `change`: it makes the next list from its own, which is committed. If it takes it for
    /// committed and leads, it may have made it in this step.
    fn change(&mut self, told: &StepReport<'_>, before: List, after: List) -> Step {
        let from = match told.row.list {
            Some(list) if !list.committed => list.before,
            _ if told.row.leads => before.voters,
            _ => return Err(("learn_list", format!("it takes {after}, which was never made"))),
        };
        if from != before.voters || Some(after.version) != before.version.checked_add(1) {
            let guard = format!("it makes {after} from one of {from}, and had {before}");
            return Err(("change", guard));
        }
        if !self.lists.is_committed(before) {
            let guard = format!("it makes {after} from {before}, which is not committed");
            return Err(("change", guard));
        }
        if after.voters.is_empty() {
            return Err(("change", format!("it makes {after}: nobody votes")));
        }
        self.lists.made.push((after, before));
        Ok(())
    }

    /// A lease is by the newest committed list, or by one that was made from that: this commits it.
    /// A life does not go back to an older list.
    pub(super) fn check_list(
        &mut self,
        told: &StepReport<'_>,
        list: List,
        voters: Nodes,
    ) -> Result<(), String> {
        let life = self.members[told.node as usize].life.and_then(|life| self.lives.get_mut(life));
        let led = life.and_then(|life| life.led_by.replace(list));
        if let Some(led) = led.filter(|led| *led != list && list.version <= led.version) {
            return Err(format!("its lease is by {list}, but it has led by {led} before"));
        }
        let parent = self.lists.open_parent(list);
        let (newest, last) = (self.lists.top(), parent.unwrap_or(list));
        if newest != Some(last) {
            let from = parent.map_or(String::new(), |parent| format!(", made from {parent}"));
            let newest = named(newest);
            return Err(format!("its lease is by {list}{from}, but {newest} is committed"));
        }
        if let Some(parent) = parent {
            self.lists.commit(list, voters.and(parent.voters));
        }
        Ok(())
    }

    /// A list is taken for committed only if it is.
    pub(super) fn check_belief(&self, told: &StepReport<'_>) -> Step {
        let list = self.held_list(told).filter(|_| self.tokens);
        let believed = told.row.list.is_some_and(|list| list.committed);
        match list.filter(|list| believed && !self.lists.is_committed(*list)) {
            Some(list) => {
                let guard = format!("it takes {list} for committed, and that is not so");
                Err(("learn_list", guard))
            }
            None => Ok(()),
        }
    }
}
