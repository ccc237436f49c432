//! What a process without a record does: it reads the records of others, or founds the group with
//! them.
//!
//! Its questions and their answers are not reported. So the validator asks whether there were
//! moments since its quarantine at which the answers could have been given.

use super::ghost::{Ghost, Moment};
use super::lists::List;
use super::{Step, StepReport};
use crate::nodes::Nodes;

impl Ghost {
    /// `recover`: it stores this term, which is as high as those of enough others, and a list that
    /// is as new as theirs; or `found`.
    pub(super) fn recover(&mut self, told: &StepReport<'_>, highest: u64) -> Step {
        let bad = |guard: String| Err(("recover", guard));
        let (node, list) = (told.node, self.members[told.node as usize].list);
        let Some((free, list)) = self.members[node as usize].free.zip(list) else {
            let guard = "it has a record before its quarantine is over; nobody tells it anything \
                         before that";
            return bad(guard.to_owned());
        };
        let needed = self.binds_for(told, list);
        let waited = self.members[node as usize].waited;
        if let Some(waited) = waited.filter(|waited| *waited < needed) {
            return bad(format!(
                "its quarantine lasted {waited}, but votes by {list} and the one before it may \
                 bind it for {needed}"
            ));
        }
        let told_it = self.could_tell(node, free, highest, list);
        let of_list = [list].into_iter().chain(self.lists.open_parent(list));
        for list in of_list {
            let (count, needed) = (told_it.and(list.voters).len(), list.half());
            if count < needed && (highest, list.version) == (0, 0) {
                return self.found(told, free, list);
            }
            if count < needed {
                return bad(format!(
                    "it stores term {highest}, but only {count} others had a record of no higher \
                     term and no newer list since its quarantine; it must have read those of \
                     {needed} of {list}"
                ));
            }
        }
        let has = |moment: &Moment| moment.tells(highest) && moment.list == Some(list);
        if !told_it.iter().any(|other| self.since(other, free).any(has)) {
            return bad(format!("it stores {list}, which nobody could tell it of"));
        }
        let (version, owes) = self.members[node as usize].owes;
        if highest < owes && self.lists.top().is_none_or(|top| top.version == version) {
            return bad(format!(
                "it stores term {highest}, but a lease with token {owes} has rested on its vote"
            ));
        }
        match self.lists.committed_by(node).filter(|newest| list.version < newest.version) {
            Some(newest) => {
                bad(format!("it stores {list}, but {newest} was committed by its vote"))
            }
            None => Ok(()),
        }
    }

    /// The others that could have told it a record with no higher term, since this step, and none
    /// of a newer list than this one; or another one of its version if this one is committed.
    fn could_tell(&self, node: u32, since: u64, highest: u64, list: List) -> Nodes {
        let is_committed = self.lists.is_committed(list);
        let fits = |other: List| {
            let same = other.version == list.version && (other == list || is_committed);
            other.version < list.version || same
        };
        let knows = |moment: &Moment| moment.tells(highest) && moment.list.is_some_and(fits);
        let others = self.group.without(Nodes::only(node)).iter();
        others.filter(|other| self.since(*other, since).any(knows)).collect()
    }

    /// `found`: all other founders have voted for nobody, each in a life that had begun when it
    /// asked.
    ///
    /// The model assumes that some other one is not clean when it asks, if a lease or a list ever
    /// rested on its vote. Where no moment of asking keeps that, the group is a new one, whose
    /// tokens begin again. If its voters have changed, the former group may still be there, and
    /// nothing more can be said.
    fn found(&mut self, told: &StepReport<'_>, free: u64, founders: List) -> Step {
        let node = told.node;
        if !founders.voters.contains(node) {
            return Err(("found", format!("it founds the group, but is none of {founders}")));
        }
        let others = founders.voters.without(Nodes::only(node));
        let begins = others.iter().flat_map(|other| self.past(other)).map(|moment| moment.step);
        let moments = begins.filter(|step| *step > free).chain([free]);
        let fits = |asked: &u64| {
            let says = |moment: &Moment| {
                moment.is_clean() && moment.life.is_some_and(|life| life <= *asked)
            };
            others.iter().all(|other| self.since(other, *asked).any(says))
        };
        let moments: Vec<u64> = moments.filter(fits).collect();
        if moments.is_empty() {
            let guard = "it stores that it has voted for nobody, but not all others have said the \
                         same of themselves in lives that it knew before it asked";
            return Err(("found", guard.to_owned()));
        }
        let kept = |asked: &u64| {
            let at_it = |other: u32| self.past(other).iter().rfind(|moment| moment.step <= *asked);
            others.iter().filter_map(at_it).any(|moment| !moment.is_clean())
        };
        let voted = self.members[node as usize].owes.1 > 0;
        let voted = voted || self.lists.committed_by(node).is_some();
        if voted && !moments.iter().any(kept) {
            self.blind |= !self.lists.are_unchanged();
            self.members.iter_mut().for_each(|member| member.owes = (0, 0));
            self.lives.iter_mut().for_each(|life| life.led = 0);
        }
        Ok(())
    }

    /// `bootstrap`: a life begins with the record of a founder that has never voted, by the
    /// operator's word. It is so if it has granted nothing and nothing rested on its vote.
    pub(super) fn bootstrap(&mut self, node: u32) -> Step {
        let bad = |guard: String| Err(("bootstrap", guard));
        let mut requests = self.lives.iter().flat_map(|life| &life.requests);
        if let Some(request) = requests.find(|request| request.granted.contains(node)) {
            return bad(format!(
                "it stores that it has voted for nobody, but it has granted a request of term {}",
                request.term
            ));
        }
        let (version, owes) = self.members[node as usize].owes;
        if (version, owes) != (0, 0) || self.lists.committed_by(node).is_some() {
            return bad(format!(
                "it stores that it has voted for nobody, but a lease with token {owes} has rested \
                 on its vote"
            ));
        }
        Ok(())
    }

    /// The past of a process.
    fn past(&self, node: u32) -> &[Moment] {
        self.members.get(node as usize).map_or(&[], |member| &member.past)
    }

    /// The moments of a past from then on, the one that was present then included.
    fn since(&self, node: u32, then: u64) -> impl Iterator<Item = &Moment> {
        let past = self.past(node);
        let first = past.partition_point(|moment| moment.step <= then).saturating_sub(1);
        past[first..].iter()
    }
}

impl Moment {
    /// Whether it can tell a record with no higher term.
    fn tells(&self, highest: u64) -> bool {
        self.life.is_some() && self.highest.is_some_and(|term| term <= highest)
    }
}
