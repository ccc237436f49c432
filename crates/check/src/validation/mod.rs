//! Validation: every step of every process is an action of the proved model, and keeps its
//! invariant.
//!
//! **Source.** `proofs/README.md`, "For a trace validator", for majority leases. The names of
//! actions are those of `proofs/leases.py` and `proofs/group.py`.
//!
//! **How.** After each step of a process its [report](Row) is compared with the one before. Each
//! difference must be an action whose guard holds in the [history](ghost) that the validator keeps:
//! who asked when, for which term and by which list, who granted what, what was given up, who led
//! with which token by whose votes, which lists were made and committed, and what each process had
//! stored when. One step may be several actions: a request, one's own vote for it and a lease. What
//! nobody sees from outside is not reported: that a vote arrived, or that one process told another
//! its record. There the validator asks whether the action could have happened by then. If so, a
//! run of the model has the same steps, and the proof is about that run.
//!
//! **Assumptions.** Those of the model. Lengths are checked on each process's own clock: a lock
//! lasts the lockTime of who asked for it, a lease lockTime(1−2ρ)−2ε. That these become LOCK and
//! LEASE in real time, if clocks keep their bounds, is what `proofs/clocks.py` proves. Lives are
//! told apart by their numbers, as the protocol does it. Where a number comes again, which the
//! model excludes, nothing is asked of tokens and lists from then on. Of a group whose voters
//! changed before its first report, or that is founded anew after its voters changed, nothing is
//! said. In the model all members are given one lockTime. What a member with another one asks for,
//! and how long it is in quarantine, is held to its own; of votes and leases the same is asked as
//! of all.
//!
//! **Promise.** A step that is no action is refused, with the nearest action and the guard that
//! fails. Without durable tokens only what `leases.py` proves is asked: nothing of terms,
//! records and lists.

mod candidate;
mod ghost;
mod lists;
mod newcomer;
#[cfg(test)]
mod tests;
mod voter;

use crate::nodes::Nodes;
use crate::view::{Account, Record, Row};
use bellwether_core::{Duration, SimTime};
use bellwether_protocols::time_scales::TimeScales;
use ghost::{Ghost, Held, Life};
use std::fmt;

/// A step that is no action of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The process.
    node: u32,
    /// The action that comes nearest.
    action: &'static str,
    /// The guard that fails, in words.
    guard: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { node, action, guard } = self;
        write!(f, "a step of process {node} is no action of the model, the nearest is {action}: ")?;
        f.write_str(guard)
    }
}

/// The result of one step.
pub(super) type Step = Result<(), (&'static str, String)>;

/// Validates the steps of one run.
#[derive(Clone, Debug)]
pub(crate) struct Validator {
    ghost: Ghost,
    /// Whether some process did not report its votes: then nothing more can be said.
    blind: bool,
}

impl Validator {
    /// For a group of these processes, none of which has begun.
    pub(crate) fn new(group: Nodes, time_scales: &TimeScales) -> Self {
        Self { ghost: Ghost::new(group, time_scales), blind: false }
    }

    /// The same, where these members were given another lockTime than the group.
    pub(crate) fn with_locks(mut self, locks: &[(u32, Duration)]) -> Self {
        locks.iter().for_each(|(node, lock)| self.ghost.give_lock(*node, *lock));
        self
    }

    /// Some process did or does not report what it does: from now on nothing can be said.
    pub(crate) fn lose_sight(&mut self) {
        self.blind = true;
    }

    /// Whether nothing can be said any more.
    pub(crate) fn is_blind(&self) -> bool {
        self.blind
    }

    /// `will`, and the release of a life that leaves: others were told that this life of a process
    /// is over. Locks to it may end from now on.
    ///
    /// # Errors
    /// A [`Refusal`] if it runs.
    pub(crate) fn farewell(&mut self, node: u32, life: u64) -> Result<(), Refusal> {
        if self.blind {
            return Ok(());
        }
        let member = self.ghost.members.get(node as usize);
        let runs = member.and_then(|member| self.ghost.lives.get(member.life?));
        if runs.is_some_and(|present| present.is(node, life)) {
            let guard = format!("it is told that life {life} is over, which runs");
            return Err(Refusal { node, action: "will", guard });
        }
        let lives = self.ghost.lives.iter_mut();
        lives.filter(|one| one.is(node, life)).for_each(Life::say_farewell);
        Ok(())
    }

    /// Takes the report of a process after its step. False if nothing can be said, because some
    /// process does not report enough.
    ///
    /// # Errors
    /// A [`Refusal`] if the step is no action of the model. The history is then of no more use.
    pub(crate) fn step(&mut self, node: u32, row: &Row, at: SimTime) -> Result<bool, Refusal> {
        let locked = row.lock.is_some_and(|lock| lock.until > row.reading);
        self.blind |= locked && row.account.granted.is_none();
        self.blind |= row.alive && row.account.life.is_none();
        self.blind |= !self.ghost.group.contains(node);
        if self.blind {
            return Ok(false);
        }
        let told = StepReport { node, row, at };
        let step = self.ghost.step(&told);
        self.blind |= self.ghost.blind;
        if self.blind {
            return Ok(false);
        }
        step.map(|()| true).map_err(|(action, guard)| Refusal { node, action, guard })
    }
}

/// The report of a process after a step.
#[derive(Clone, Copy)]
pub(super) struct StepReport<'a> {
    node: u32,
    row: &'a Row,
    at: SimTime,
}

impl StepReport<'_> {
    fn account(&self) -> &Account {
        &self.row.account
    }

    /// The lock or quarantine that holds at the present reading.
    fn held(&self) -> Option<Held> {
        let (account, reading) = (self.account(), self.row.reading);
        let lock = self.row.lock.zip(account.granted).map(|(lock, (life, sent))| Held {
            to: Some((lock.to, life, sent)),
            until: lock.until,
        });
        let bound = account.bound.map(|until| Held { to: None, until });
        lock.or(bound).filter(|held| held.until >= reading)
    }
}

impl Ghost {
    fn step(&mut self, told: &StepReport<'_>) -> Step {
        self.steps += 1;
        // Without the history of lists nobody knows how long what rests on one lasts.
        let founding = |list: lists::List| list.lengths == self.lengths;
        if !self.tokens && !self.held_list(told).is_none_or(founding) {
            self.blind = true;
            return Ok(());
        }
        let member = &self.members[told.node as usize];
        let begins = member.life.is_none() || member.gone != told.row.gone;
        if !told.row.alive {
            self.end(told);
        } else if begins {
            self.end(told);
            self.begin(told)?;
            self.lead(told)?;
        } else {
            self.lapse(told);
            self.give_up(told)?;
            self.ask(told)?;
            self.vote(told)?;
            self.lead(told)?;
        }
        self.remember(told);
        Ok(())
    }

    /// `crash`: a life ends, without a word unless [others are told](Validator::farewell). Until
    /// then its lease goes on, because its command may still run.
    fn end(&mut self, told: &StepReport<'_>) {
        let member = &mut self.members[told.node as usize];
        (member.gone, member.lock, member.lease, member.free) = (told.row.gone, None, None, None);
        member.life = None;
    }

    /// `start`, `restart`, `restart_lost`, and `bootstrap` of a life that begins with a record.
    fn begin(&mut self, told: &StepReport<'_>) -> Step {
        let StepReport { node, row, .. } = *told;
        let again = self.lives.iter().any(|life| life.node == node);
        let held = told.held();
        let list = self.held_list(told).filter(|_| self.tokens);
        // Without a record it knows of no list, and looks later whether it waited long enough.
        let length = match (list, self.tokens) {
            (Some(list), _) => self.binds_for(told, list),
            (None, true) => Duration::ZERO,
            (None, false) => self.members[node as usize].own_lock.unwrap_or(self.lengths.lock),
        };
        let due = row.reading + length;
        if again && held.is_none_or(|held| held.to.is_some() || held.until < due) {
            let guard = format!(
                "it begins again at reading {} and may vote before {due}; a later life \
                                 supports nobody for {length}",
                row.reading
            );
            return Err(("restart", guard));
        }
        let member = &mut self.members[node as usize];
        let (before, after) = (member.record, row.account.record);
        let founds = again && before.is_none() && after == Some(Record::FOUNDING);
        if self.tokens && founds {
            self.bootstrap(node)?;
        } else if self.tokens && again && after.is_some() && after != before {
            let guard = format!(
                "it begins again with {}, but had {}; a record is kept as it was or \
                                 lost as a whole",
                ghost::words(after),
                ghost::words(before)
            );
            return Err(("restart", guard));
        }
        self.begin_with_list(told, again && !founds)?;
        let member = &mut self.members[node as usize];
        (member.life, member.lock, member.record) = (Some(self.lives.len()), held, after);
        member.free = held.is_none().then_some(self.steps);
        member.born = Some(row.reading);
        member.waited = held.map(|held| held.until.since(row.reading));
        let number = row.account.life.unwrap_or_default();
        // What was told to one of two lives with one number may reach the other: tokens are proved
        // for lives with different ones only.
        self.tokens &= !self.lives.iter().any(|life| life.is(node, number));
        self.lives.push(Life::new(node, number, self.steps));
        Ok(())
    }

    /// It begins with the list of its record: with the one that it had, or none. The first record
    /// of a process brings its first list.
    fn begin_with_list(&mut self, told: &StepReport<'_>, had_one: bool) -> Step {
        let after = self.held_list(told);
        let before = std::mem::replace(&mut self.members[told.node as usize].list, after);
        let Some(after) = after.filter(|_| self.tokens) else { return Ok(()) };
        if !had_one {
            self.first_list(after);
        } else if Some(after) != before {
            let before = lists::named(before);
            let guard = format!("it begins again with {after}, but had {before}; a list is kept");
            return Err(("restart", guard));
        }
        Ok(())
    }
}
