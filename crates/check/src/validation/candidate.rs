//! What a candidate and a leader do: ask, take a lease, give up.

use super::ghost::{Ghost, Lease, Life, Request};
use super::lists::List;
use super::{Step, StepReport};
use crate::nodes::Nodes;
use bellwether_core::Instant;

impl Ghost {
    /// Its present life.
    fn life(&mut self, told: &StepReport<'_>) -> Option<&mut Life> {
        let life = self.members[told.node as usize].life?;
        self.lives.get_mut(life)
    }

    /// `give_up`: it leads no longer, counts no more votes for its requests, and says so.
    pub(super) fn give_up(&mut self, told: &StepReport<'_>) -> Step {
        let Some(sent) = told.account().gave_up else { return Ok(()) };
        let Some(life) = self.life(told).filter(|life| life.given_up != Some(sent)) else {
            return Ok(());
        };
        life.given_up = Some(sent);
        if told.row.leads {
            let until = told.row.told;
            let guard =
                format!("it gives up its requests up to {sent}, and leads on until {until}");
            return Err(("give_up", guard));
        }
        if let Some(last) = life.requests.last().filter(|last| sent < last.sent) {
            let guard =
                format!("it gives up its requests up to {sent}, but not that of {}", last.sent);
            return Err(("give_up", guard));
        }
        life.requests.iter_mut().for_each(|request| request.dead = true);
        Ok(())
    }

    /// `request`: later than all that this life has given up. There may be two at one reading, for
    /// different terms or by different lists: a new leader asks again at once, and so does one that
    /// makes a list. It asks by the list that it holds.
    pub(super) fn ask(&mut self, told: &StepReport<'_>) -> Step {
        let (at, reading, list) = (told.at, told.row.reading, self.held_list(told));
        let Some(request) = told.account().request else { return Ok(()) };
        let Some(life) = self.life(told) else { return Ok(()) };
        let (sent, term) = (request.sent, request.term);
        let last = life.requests.last().map(|last| (last.sent, last.term));
        let same_list = life.requests.last().is_some_and(|last| last.list == list);
        let by_another_list = !same_list && told.row.leads && sent == reading;
        if last == Some((sent, term)) && !by_another_list {
            return Ok(());
        }
        let bad = |guard: String| Err(("request", guard));
        if sent != reading || last.is_some_and(|(last, _)| last > sent) {
            return bad(format!(
                "it asks for term {term} as of reading {sent}; a request is made at the present \
                 reading, {reading}"
            ));
        }
        if let Some(given_up) = life.given_up.filter(|given_up| sent <= *given_up) {
            return bad(format!(
                "it asks at reading {sent}, but gave up all requests up to \
                                {given_up}; a request is later than those"
            ));
        }
        let (granted, dead) = (Nodes::NONE, false);
        let spans = self.spans_by(told);
        self.longest = self.longest.max(spans.longest);
        if let Some(life) = self.life(told) {
            life.requests.push(Request { at, sent, term, list, granted, dead, spans });
        }
        Ok(())
    }

    /// `adopt`, `renew`, or `adopt_joint`, `renew_joint`, which commit a list; or the end of a
    /// lease, which is always allowed.
    pub(super) fn lead(&mut self, told: &StepReport<'_>) -> Step {
        let (row, node) = (told.row, told.node as usize);
        let lease = Lease { until: row.told, token: row.term, voters: row.supporters };
        let lease = row.leads.then_some(lease);
        let before = std::mem::replace(&mut self.members[node].lease, lease);
        let before = before.filter(|before| row.reading < before.until);
        // A lease by another list may look like the one before it.
        let commits = self.check_belief(told).is_err();
        let Some(lease) = lease.filter(|lease| commits || before != Some(*lease)) else {
            return self.check_belief(told);
        };
        let Some(list) = self.held_list(told) else {
            return Err(("adopt", "it leads without a record".to_owned()));
        };
        let first = self.first_lease(told, lease, list);
        if let Some(first) = first {
            self.take_lease(told, first, before, list)?;
        }
        self.take_lease(told, lease, first.or(before), list)?;
        self.check_belief(told)
    }

    /// The lease that it took in the same step before this one, and did not report. A new leader
    /// asks again at once; if it is the only voter of a list that it has just committed, its own
    /// vote decides.
    fn first_lease(&self, told: &StepReport<'_>, lease: Lease, list: List) -> Option<Lease> {
        let parent = self.lists.open_parent(list).filter(|_| self.tokens)?;
        let alone = Nodes::only(told.node);
        let enough = lease.voters.and(parent.voters).len() >= parent.majority();
        if list.voters != alone || enough {
            return None;
        }
        let life = self.members[told.node as usize].life.and_then(|life| self.lives.get(life))?;
        let counts = |request: &&Request| {
            let runs = told.row.reading < request.sent + request.spans.lease;
            runs && !request.dead && request.list == Some(list)
        };
        let mut first = Lease { until: Instant::NEVER, token: u64::MAX, voters: alone };
        for voter in parent.voters.without(alone).iter() {
            let granted = |request: &&Request| counts(request) && request.granted.contains(voter);
            if let Some(request) = life.requests.iter().rfind(granted) {
                first.until = first.until.min(request.sent + request.spans.lease);
                first.token = first.token.min(request.term);
                first.voters.set(voter, true);
            }
        }
        Some(first).filter(|first| first.voters != alone)
    }

    /// A lease that is another one than before.
    fn take_lease(
        &mut self,
        told: &StepReport<'_>,
        lease: Lease,
        before: Option<Lease>,
        list: List,
    ) -> Step {
        let joint = self.lists.open_parent(list).filter(|_| self.tokens);
        let action = match (before, joint) {
            (None, None) => "adopt",
            (Some(_), None) => "renew",
            (None, Some(_)) => "adopt_joint",
            (Some(_), Some(_)) => "renew_joint",
        };
        self.check_majorities(lease, list, joint).map_err(|guard| (action, guard))?;
        self.check_votes(told, lease, before, list).map_err(|guard| (action, guard))?;
        if self.tokens {
            self.check_list(told, list, lease.voters).map_err(|guard| (action, guard))?;
            self.check_token(told, lease, before, list).map_err(|guard| (action, guard))?;
        }
        Ok(())
    }

    /// A majority of the list has voted, and one of its parent if the list is not committed.
    fn check_majorities(
        &self,
        lease: Lease,
        list: List,
        parent: Option<List>,
    ) -> Result<(), String> {
        for list in [list].into_iter().chain(parent) {
            let (count, least) = (lease.voters.and(list.voters).len(), list.majority());
            if count < least {
                return Err(format!(
                    "its lease rests on {count} votes of {list}; a majority is {least}"
                ));
            }
        }
        Ok(())
    }

    /// All its voters have granted requests of this life and by this list that count, none earlier
    /// than the one that the lease counts from.
    fn check_votes(
        &self,
        told: &StepReport<'_>,
        lease: Lease,
        before: Option<Lease>,
        list: List,
    ) -> Result<(), String> {
        let Lease { until, token, voters } = lease;
        let life = self.members[told.node as usize].life.and_then(|life| self.lives.get(life));
        let requests = life.map_or(&[][..], |life| &life.requests);
        // They are in order, and no lease from an earlier one lasts as long as this one.
        let early = |request: &Request| request.sent + self.longest < until;
        let recent = &requests[requests.partition_point(early)..];
        let lasts = |request: &&Request| request.sent + request.spans.lease >= until;
        let Some(first) = recent.iter().find(lasts) else {
            let last = requests.last().map_or("which it never made".to_owned(), |last| {
                let end = last.sent + last.spans.lease;
                format!("of {}, ends at {end} at the latest", last.sent)
            });
            return Err(format!(
                "its lease ends at reading {until}; one from its last request, {last}"
            ));
        };
        let fits = |request: &Request| match before {
            _ if !self.tokens => true,
            _ if request.list != Some(list) => false,
            Some(_) => token <= request.term,
            None => token == request.term,
        };
        let counts = |voter: u32, request: &Request| {
            !request.dead && request.granted.contains(voter) && fits(request)
        };
        let voted =
            |voter: &u32| recent.iter().filter(lasts).any(|request| counts(*voter, request));
        let Some(other) = voters.iter().find(|voter| !voted(voter)) else { return Ok(()) };
        let of_term = match before {
            _ if !self.tokens => String::new(),
            Some(_) => format!(" for term {token} or a higher one, by {list}"),
            None => format!(" for term {token}, by {list}"),
        };
        Err(format!(
            "its lease until reading {until} rests on the vote of process {other}, which has \
             granted no request of this life from reading {} on that counts{of_term}",
            first.sent
        ))
    }

    /// The token is higher than that of every other life; a new leadership's than its own before.
    fn check_token(
        &mut self,
        told: &StepReport<'_>,
        lease: Lease,
        before: Option<Lease>,
        list: List,
    ) -> Result<(), String> {
        let Lease { token, voters, .. } = lease;
        let mine = self.members[told.node as usize].life;
        let others = self.lives.iter().enumerate().filter(|(life, _)| Some(*life) != mine);
        if let Some((_, other)) = others.max_by_key(|(_, life)| life.led)
            && token <= other.led
        {
            let (node, led) = (other.node, other.led);
            return Err(format!("its token is {token}, but process {node} has led with {led}"));
        }
        let Some(life) = mine.and_then(|life| self.lives.get_mut(life)) else { return Ok(()) };
        match before {
            None if token <= life.led => {
                return Err(format!(
                    "its token is {token}, but it has led with {} before",
                    life.led
                ));
            }
            Some(before) if token < before.token => {
                return Err(format!("its token falls from {} to {token}", before.token));
            }
            _ => {}
        }
        life.led = life.led.max(token);
        for voter in voters.and(list.voters).iter() {
            if let Some(member) = self.members.get_mut(voter as usize) {
                member.owes = member.owes.max((list.version, token));
            }
        }
        Ok(())
    }
}
