//! Resigning and leaving: when another member may lead.
//!
//! **Assumptions.** The holder of a guard is done by the deadline that it was told, on this
//! member's own clock. The deadline that the member told last is the latest that any guard knows.
//!
//! **Promise.** Once the application asks, this process no longer leads in that tenure. The lease
//! is released when the last guard was dropped, or when the latest deadline has passed. Until then
//! the member goes on renewing its lease, so that no other member can lead.

use crate::member::Member;
use crate::shared::GivenUp;
use bellwether_core::{Command, Instant, Refused};
use std::sync::mpsc::SyncSender;

/// The channel for the answer to a request.
pub(crate) type Answer = SyncSender<Result<(), Refused>>;

/// A tenure that is being given up, and the requests that wait for its end.
#[derive(Debug)]
pub(crate) struct Resignation {
    given_up: GivenUp,
    /// Whether the member leaves the group; otherwise it stays as a follower.
    leaves: bool,
    answers: Vec<Answer>,
}

impl Resignation {
    /// The latest deadline of any guard.
    pub(crate) fn due(&self) -> Instant {
        self.given_up.due
    }
}

impl Member {
    /// Begins to resign; only if this is the current tenure, where one is named.
    pub(crate) fn give_up(&mut self, tenure: Option<u64>, answer: Option<Answer>) {
        if tenure.is_some_and(|tenure| tenure != self.shared.tenure()) {
            answer.map(|answer| answer.try_send(Err(Refused)));
            return;
        }
        self.begin_resignation(false).answers.extend(answer);
    }

    /// Begins to leave the group.
    pub(crate) fn leave_when_free(&mut self) {
        self.begin_resignation(true).leaves = true;
    }

    fn begin_resignation(&mut self, leaves: bool) -> &mut Resignation {
        let shared = &self.shared;
        let tenure = shared.tenure();
        let over = |resignation: &mut Resignation| {
            !resignation.leaves && resignation.given_up.tenure != tenure
        };
        if let Some(former) = self.resignation.take_if(over) {
            former.answer(Ok(())); // that tenure ended by itself
        }
        self.resignation.get_or_insert_with(|| {
            let given_up = shared.give_up();
            Resignation { given_up, leaves, answers: Vec::new() }
        })
    }

    /// Releases the lease if no guard needs it any more. True once the member has left.
    pub(crate) fn resign_if_free(&mut self, now: Instant) -> bool {
        let shared = &self.shared;
        let free = |resignation: &mut Resignation| shared.is_free(&resignation.given_up, now);
        let Some(mut resignation) = self.resignation.take_if(free) else { return false };
        let same_tenure = resignation.given_up.tenure == self.shared.tenure();
        if resignation.leaves && !same_tenure {
            // It was elected again in the meantime, and may have new guards.
            resignation.given_up = self.shared.give_up();
            self.resignation = Some(resignation);
            return false;
        }
        if resignation.leaves {
            self.leave(now);
            resignation.answer(Ok(()));
            return true;
        }
        let taken = if same_tenure { self.command(Command::Resign, now) } else { Ok(()) };
        let leads = self.shared.given_up(resignation.given_up.tenure);
        let over = resignation.given_up.led && !leads;
        resignation.answer(if over { Ok(()) } else { taken });
        false
    }
}

impl Resignation {
    fn answer(&self, done: Result<(), Refused>) {
        for answer in &self.answers {
            let _ = answer.try_send(done); // the asking thread may have stopped waiting
        }
    }
}
