//! What a voter does: it grants, its lock ends, its record changes.

use super::ghost::{Ghost, Held, words};
use super::lists::named as list_name;
use super::{Step, StepReport};
use crate::view::Record;
use bellwether_core::Instant;

impl Ghost {
    /// `lapse`: a lock or a quarantine whose last reading has passed is over.
    pub(super) fn lapse(&mut self, told: &StepReport<'_>) {
        let member = &mut self.members[told.node as usize];
        if let Some(held) = member.lock.filter(|held| held.until < told.row.reading) {
            member.lock = None;
            member.free = member.free.or(held.to.is_none().then_some(self.steps));
        }
    }

    /// Its lock and its record: `grant`, `unlock`, `learn`, `learn_list`, `change`, `recover`,
    /// `found`.
    pub(super) fn vote(&mut self, told: &StepReport<'_>) -> Step {
        let relisted = self.take_list(told)?;
        let member = &self.members[told.node as usize];
        let (before, after) = (member.lock, told.held());
        let granted = told.account().record.filter(|record| Some(*record) != member.record);
        let candidate = after.and_then(|held| held.to).map(|(to, life, _)| (to, life));
        let votes = candidate.is_some() && granted.is_some_and(|new| new.granted == candidate);
        let votes = votes || (relisted && self.votes_by_new_list(told));
        if before == after && !votes {
            return self.learn(told);
        }
        let renews = |held: Held| match (held.to, after.and_then(|after| after.to)) {
            (Some((to, life, _)), Some((now_to, now_life, _))) => (to, life) == (now_to, now_life),
            _ => false,
        };
        if let Some(held) = before.filter(|held| !renews(*held)) {
            self.unlock(told, held)?;
        }
        let shrinks = |held: &Held| after.is_some_and(|after| after.until < held.until);
        let released =
            |held: &Held| held.to.is_some_and(|(to, life, sent)| self.released(to, life, sent));
        let shorter = before.filter(|held| renews(*held) && shrinks(held) && !released(held));
        if let Some(held) = shorter {
            let guard = format!("its lock lasts until reading {}, and is shortened", held.until);
            return Err(("grant", guard));
        }
        self.members[told.node as usize].lock = after;
        match after {
            None => self.learn(told),
            Some(Held { to: Some(request), until }) => {
                let held = before.filter(|held| renews(*held)).and_then(|held| held.to);
                self.grant(told, request, until, held)
            }
            Some(Held { to: None, until }) if told.account().record.is_none() => {
                self.wait_longer(told, until);
                Ok(())
            }
            Some(Held { to: None, .. }) => {
                Err(("restart", "it supports nobody, as after a restart, but did not begin".into()))
            }
        }
    }

    /// `wait_longer`: it was told of a list for which its quarantine was too short, and forgets all
    /// that it was told.
    fn wait_longer(&mut self, told: &StepReport<'_>, until: Instant) {
        let member = &mut self.members[told.node as usize];
        member.free = None;
        member.waited = member.born.map(|born| until.since(born));
    }

    /// Whether a process that has just taken its list may have voted by it, and its lock looks as
    /// before: a leader may ask by two lists at one reading, and a voter may answer so.
    fn votes_by_new_list(&mut self, told: &StepReport<'_>) -> bool {
        let Some(Held { to: Some(request), until }) = told.held() else { return false };
        let term = told.account().record.map(|record| record.highest);
        let list = self.members[told.node as usize].list;
        self.request(request, (term, list)).is_some_and(|request| {
            request.list == list && until >= told.row.reading + request.spans.lock
        })
    }

    /// `unlock`: a lock ends before its time.
    fn unlock(&self, told: &StepReport<'_>, held: Held) -> Step {
        let reading = told.row.reading;
        let Held { to, until } = held;
        let Some((to, life, sent)) = to else {
            let guard =
                format!("its quarantine lasts until reading {until}, and is over at {reading}");
            return Err(("lapse", guard));
        };
        if self.released(to, life, sent) {
            return Ok(());
        }
        let guard = format!(
            "its lock to life {life} of process {to}, by the request of {sent}, lasts until \
             reading {until} and is over at {reading}; that life has not given up that request or \
             a later one"
        );
        Err(("unlock", guard))
    }

    /// `grant`: it votes for a request. `held` is the request of the same life that it was locked
    /// by.
    fn grant(
        &mut self,
        told: &StepReport<'_>,
        (to, life, sent): (u32, u64, Instant),
        until: Instant,
        held: Option<(u32, u64, Instant)>,
    ) -> Step {
        let bad = |guard: String| Err(("grant", guard));
        let (node, at) = (told.node, told.at);
        let named = || format!("the request of {sent} by life {life} of process {to}");
        let stored = told.account().record.map(|record| record.highest);
        let own_list = self.members[node as usize].list;
        let Some(request) = self.request((to, life, sent), (stored, own_list)) else {
            return bad(format!("it is locked by {}, which was never made", named()));
        };
        request.granted.set(node, true);
        let (term, list, due) = (request.term, request.list, told.row.reading + request.spans.lock);
        if held.is_some_and(|(_, _, before)| sent < before) {
            return bad(format!("{} is earlier than the one that it was locked by", named()));
        }
        if until < due {
            return bad(format!(
                "{} locks it until reading {until}, less than lockTime: {due}",
                named()
            ));
        }
        if let Some(other) = self.voted_for_another(node, (to, life), at) {
            return bad(format!(
                "it votes for {}, while a lease of process {other} may rest on its vote",
                named()
            ));
        }
        let member = &mut self.members[node as usize];
        let before = member.record;
        member.record = told.account().record;
        if !self.tokens {
            return Ok(());
        }
        let own = Some((to, life));
        let allows = |record: Record| {
            term > record.highest || (term == record.highest && record.granted == own)
        };
        if !before.is_some_and(allows) {
            let (named, had) = (named(), words(before));
            return bad(format!("it grants term {term} by {named}, and had {had}"));
        }
        if member.record != Some(Record { highest: term, granted: own }) {
            let (named, record) = (named(), words(member.record));
            return bad(format!("it grants term {term} by {named}, and stores {record}"));
        }
        if list != own_list {
            let (named, list, own) = (named(), list_name(list), list_name(own_list));
            return bad(format!("it votes for {named}, which is by {list}, and holds {own}"));
        }
        Ok(())
    }

    /// A record that changes without a vote: `learn`, `recover` or `found`.
    fn learn(&mut self, told: &StepReport<'_>) -> Step {
        let after = told.account().record;
        let before = std::mem::replace(&mut self.members[told.node as usize].record, after);
        if before == after || !self.tokens {
            return Ok(());
        }
        match (before, after) {
            (None, Some(Record { highest, granted: None })) => self.recover(told, highest),
            (Some(before), Some(Record { highest, granted: None })) if highest > before.highest => {
                Ok(())
            }
            _ => {
                let (before, after) = (words(before), words(after));
                Err(("learn", format!("without a vote it has {after}, and had {before}")))
            }
        }
    }
}
