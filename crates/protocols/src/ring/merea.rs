//! The message-efficient ring election: of several elections the oldest is left.
//!
//! **Source.** P. Beaulah Soundarabai, Thriveni J, K. R. Venugopal, L. M. Patnaik, "An improved
//! leader election algorithm for distributed systems", International Journal of Next-Generation
//! Networks 5(1), 2013: MEREA. It changes two things of the [collecting ring](super::collecting):
//!
//! * An election carries when it was called. Whoever holds an older one destroys the message of a
//!   younger; what is left of it is that its initiator waits for the Coordinator message.
//! * The Coordinator message names the leader alone, not the living.
//!
//! Messages among n processes: one initiator 2n. If all call and each is younger than the next on
//! the ring, 3n−1, for all but one message end at the next process; if each is older than the next,
//! n(n−1)/2 + 2n, for all end where the oldest began. If all call in random order, n·H_n + n on
//! average.
//!
//! # Where the text is wrong, and what we chose
//!
//! * **Table 3** appends a process to the message only if it holds no election of its own. One that
//!   does, and lets an older message pass, is missed, and if it is the greatest, a lesser process
//!   leads. We append it; `as_printed` does not, and nobody then objects to the outcome.
//! * **Equal times** destroy nothing, as printed. We order them by id. Any total order will do:
//!   clocks need not agree.
//! * **The oldest initiator crashes**, and its message circles for ever, destroying nothing itself
//!   but followed by nobody. The next live process after the dead one retires it and calls an
//!   election; whoever had stood back for the dead one stands back for all.
//! * **An election that is held again** keeps its time. With a new one it would be younger than
//!   some other that waits, and the two could destroy each other in turn for ever.
//! * **How long an election is under way.** Its initiator destroys the younger until its message is
//!   back. After that a younger message may be of somebody that the older one missed.

use super::collecting::{Collecting, Phase};
use super::message::Call;
use super::params::Config;

/// What becomes of the message of another's election.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It collects this process and goes on.
    Joined,
    /// It goes on as it is.
    Passed,
    /// It ends here.
    Destroyed,
}

impl Collecting {
    /// What a process does with the message of another's election that it would else join.
    pub(super) fn judge(&mut self, call: &Call, config: &Config) -> Fate {
        let Phase::Collecting { mine, .. } = &self.phase else { return Fate::Joined };
        if config.as_printed {
            return if mine.at < call.at { Fate::Destroyed } else { Fate::Passed };
        }
        if mine.is_older(call) {
            return Fate::Destroyed;
        }
        self.stand_back(call);
        Fate::Joined
    }

    /// An older election is under way: this process's own ends where that one began, and for
    /// nothing if its initiator is down.
    fn stand_back(&mut self, call: &Call) {
        if self.circle.is_down(call.by) {
            self.phase = Phase::Idle;
        } else if let Phase::Collecting { under, .. } = &mut self.phase {
            *under = Some(call.by);
        }
    }
}
