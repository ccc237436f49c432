//! The message-efficient ring election: of several elections only the oldest survives.
//!
//! **Source.** P. Beaulah Soundarabai, Thriveni J, K. R. Venugopal, L. M. Patnaik, "An improved
//! leader election algorithm for distributed systems", International Journal of Next-Generation
//! Networks 5(1), 2013: MEREA. It changes two things of the [collecting ring](super::collecting):
//!
//! * An election carries when it was called. A process that holds an older one destroys the message
//!   of a younger one; the initiator of the younger one then waits for the Coordinator message.
//! * The Coordinator message names only the leader, not the live processes.
//!
//! Messages among n processes: 2n for one initiator. If all call and each is younger than the next
//! on the ring, 3n−1, because all but one message end at the next process. If each is older than
//! the next, n(n−1)/2 + 2n, because all end where the oldest began. If all call in random order,
//! n·H_n + n on average.
//!
//! # Where the text is wrong, and what we chose
//!
//! * **Table 3** adds a process to the message only if it holds no election of its own. A process
//!   that does, and lets an older message pass, is missed; if it is the greatest, a lesser process
//!   leads. We add it; `as_printed` does not, and no process then objects to the outcome.
//! * **Equal times** destroy nothing, as printed. We order them by id. Any total order is enough:
//!   clocks need not agree.
//! * **The oldest initiator crashes**, and its message circles for ever without an outcome. The
//!   next live process after the dead one removes it and calls an election; processes that had
//!   stood back for the dead one stand back for any.
//! * **An election that is held again** keeps its time. With a new one it would be younger than
//!   some other that waits, and the two could destroy each other in turn for ever.
//! * **How long an election lasts.** Its initiator destroys younger messages until its own is back.
//!   After that a younger message may come from a process that the older one missed.

use super::collecting::{Collecting, Phase};
use super::message::Call;
use super::table::Config;

/// What happens to the message of another process's election.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It collects this process and is forwarded.
    Joined,
    /// It is forwarded unchanged.
    Passed,
    /// It ends here.
    Destroyed,
}

impl Collecting {
    /// Decides what to do with the message of another process's election that it would otherwise
    /// join.
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

    /// An older election is on its way: this process's own ends where that one began, or at once if
    /// its initiator is down.
    fn stand_back(&mut self, call: &Call) {
        if self.circle.is_down(call.by) {
            self.phase = Phase::Idle;
        } else if let Phase::Collecting { under, .. } = &mut self.phase {
            *under = Some(call.by);
        }
    }
}
