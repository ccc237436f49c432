//! Giving up leadership, or the membership: when the group is freed.
//!
//! **Assumptions.** A guard was told a deadline on this member's own clock, and its holder is done
//! by then. What the member told last is the latest deadline that any guard knows.
//!
//! **Promise.** From the moment at which the application asks, nobody in this process leads by
//! that reign. The group is freed when the last guard was dropped, or when the latest deadline has
//! passed; until then the member goes on renewing its lease, so that nobody else can lead.

use crate::member::Member;
use crate::shared::GivenUp;
use bellwether_core::{Command, Instant, Refused};
use std::sync::mpsc::SyncSender;

/// Where an answer goes.
pub(crate) type Answer = SyncSender<Result<(), Refused>>;

/// A reign that is given up, and who waits for its end.
#[derive(Debug)]
pub(crate) struct Parting {
    given_up: GivenUp,
    /// Whether the member leaves the group; otherwise it stays as a follower.
    leaves: bool,
    answers: Vec<Answer>,
}

impl Parting {
    /// When no guard can be relied on any more, at the latest.
    pub(crate) fn due(&self) -> Instant {
        self.given_up.due
    }
}

impl Member {
    /// Begins to give up the reign; that one alone, if one is named.
    pub(crate) fn give_up(&mut self, reign: Option<u64>, answer: Option<Answer>) {
        if reign.is_some_and(|reign| reign != self.shared.reign()) {
            answer.map(|answer| answer.try_send(Err(Refused)));
            return;
        }
        self.part(false).answers.extend(answer);
    }

    /// Begins to leave the group.
    pub(crate) fn leave_when_free(&mut self) {
        self.part(true).leaves = true;
    }

    fn part(&mut self, leaves: bool) -> &mut Parting {
        let shared = &self.shared;
        let reign = shared.reign();
        let over = |parting: &mut Parting| !parting.leaves && parting.given_up.reign != reign;
        if let Some(former) = self.parting.take_if(over) {
            former.answer(Ok(())); // that reign has ended by itself
        }
        self.parting.get_or_insert_with(|| {
            let given_up = shared.give_up();
            Parting { given_up, leaves, answers: Vec::new() }
        })
    }

    /// Frees the group if no guard is relied on any more. True once the member has left.
    pub(crate) fn part_if_free(&mut self, now: Instant) -> bool {
        let shared = &self.shared;
        let free = |parting: &mut Parting| shared.is_free(&parting.given_up, now);
        let Some(mut parting) = self.parting.take_if(free) else { return false };
        let same_reign = parting.given_up.reign == self.shared.reign();
        if parting.leaves && !same_reign {
            // It was elected again meanwhile, and may have new guards.
            parting.given_up = self.shared.give_up();
            self.parting = Some(parting);
            return false;
        }
        if parting.leaves {
            self.leave(now);
            parting.answer(Ok(()));
            return true;
        }
        let taken = if same_reign { self.command(Command::Resign, now) } else { Ok(()) };
        let leads = self.shared.given_up(parting.given_up.reign);
        let over = parting.given_up.led && !leads;
        parting.answer(if over { Ok(()) } else { taken });
        false
    }
}

impl Parting {
    fn answer(&self, done: Result<(), Refused>) {
        for answer in &self.answers {
            let _ = answer.try_send(done); // whoever asked may not wait any more
        }
    }
}
