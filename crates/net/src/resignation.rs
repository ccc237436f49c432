//! Resigning and leaving: when another member may lead.
//!
//! **Assumptions.** The holder of a guard is done by the deadline that it was told, on this
//! member's own clock. The deadline that the member told last is the latest that any guard knows.
//!
//! **Promise.** Once the application asks, this process no longer leads in that reign. The lease
//! is released when the last guard was dropped, or when the latest deadline has passed. Until then
//! the member goes on renewing its lease, so that no other member can lead. A nominee that can no
//! longer lead by then is refused, and the member leads on in another reign.

use crate::member::Member;
use crate::shared::GivenUp;
use bellwether_core::{Command, Instant, NodeId, Refused};
use std::sync::mpsc::SyncSender;

/// The channel for the answer to a request.
pub(crate) type Answer = SyncSender<Result<(), Refused>>;

/// A request to resign.
#[derive(Debug, Default)]
pub(crate) struct Resigning {
    /// Only if this is the current reign, where one is named.
    pub(crate) reign: Option<u64>,
    /// The member that should lead next, if one is named.
    pub(crate) nominee: Option<NodeId>,
    pub(crate) answer: Option<Answer>,
}

/// A reign that is being given up, and the requests that wait for its end.
#[derive(Debug)]
pub(crate) struct Resignation {
    given_up: GivenUp,
    /// Whether the member leaves the group; otherwise it stays as a follower.
    leaves: bool,
    /// The member that should lead next, if one is named.
    nominee: Option<NodeId>,
    answers: Vec<Answer>,
}

impl Resignation {
    /// The latest deadline of any guard.
    pub(crate) fn due(&self) -> Instant {
        self.given_up.due
    }
}

impl Member {
    /// Begins to resign. A nominee that cannot lead is refused before any guard is lost.
    pub(crate) fn give_up(&mut self, resigning: Resigning, now: Instant) {
        let Resigning { reign, nominee, answer } = resigning;
        let over = reign.is_some_and(|reign| reign != self.shared.reign());
        let unfit = nominee.and_then(|id| self.refusal(Command::Transfer(id), now));
        if let Some(refused) = unfit.or(over.then_some(Refused::NotLeading)) {
            answer.map(|answer| answer.try_send(Err(refused)));
            return;
        }
        let resignation = self.begin_resignation(false);
        resignation.nominee = nominee.or(resignation.nominee);
        resignation.answers.extend(answer);
    }

    /// Begins to leave the group.
    pub(crate) fn leave_when_free(&mut self) {
        self.begin_resignation(true).leaves = true;
    }

    fn begin_resignation(&mut self, leaves: bool) -> &mut Resignation {
        let shared = &self.shared;
        let reign = shared.reign();
        let over = |resignation: &mut Resignation| {
            !resignation.leaves && resignation.given_up.reign != reign
        };
        if let Some(former) = self.resignation.take_if(over) {
            former.answer(Ok(())); // that reign ended by itself
        }
        self.resignation.get_or_insert_with(|| {
            let given_up = shared.give_up();
            Resignation { given_up, leaves, nominee: None, answers: Vec::new() }
        })
    }

    /// Releases the lease if no guard needs it any more. True once the member has left.
    pub(crate) fn resign_if_free(&mut self, now: Instant) -> bool {
        let shared = &self.shared;
        let free = |resignation: &mut Resignation| shared.is_free(&resignation.given_up, now);
        let Some(mut resignation) = self.resignation.take_if(free) else { return false };
        let same_reign = resignation.given_up.reign == self.shared.reign();
        if resignation.leaves && !same_reign {
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
        let command = resignation.nominee.map_or(Command::Resign, Command::Transfer);
        let taken = if same_reign { self.command(command, now) } else { Ok(()) };
        let leads = self.shared.given_up(resignation.given_up.reign);
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
