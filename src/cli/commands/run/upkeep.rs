//! Gives memory back while the member runs.
//!
//! **Source.** Whatever a member answers, tells or reads again takes code and constants that it
//! needs for nothing else. Its memory is locked, so the kernel never takes such pages away.
//!
//! **Promise.** They are given back soon after the member has joined, and later only if there are
//! more of them than there were: a member that does nothing but renew never loses a page. What the
//! election needs comes back with its next renewal, by minor faults. It is done at most once a
//! minute, and not by the member's thread.

use bellwether::core::{Duration, Instant};
use bellwether::net::memory;

/// From the start, and from giving back, until memory has the size that renewals need.
const SETTLES: Duration = Duration::from_secs(3);
/// Between two looks at the size.
const LOOK: Duration = Duration::from_secs(60);
/// Pages that are worth giving back, in bytes.
const MUCH: u64 = 256 << 10;

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    GiveBack,
    /// See what renewals need.
    Measure,
    /// See whether there is more than this.
    Look(u64),
}

/// The upkeep of this process's memory.
#[derive(Debug)]
pub(super) struct Upkeep {
    step: Step,
    due: Instant,
}

impl Upkeep {
    /// The upkeep of a member that joins now.
    pub(super) fn begin(now: Instant) -> Self {
        Self { step: Step::GiveBack, due: now + SETTLES }
    }

    /// How long nothing needs to be done.
    pub(super) fn rest(&self, now: Instant) -> Duration {
        self.due.since(now)
    }

    /// Does what is due.
    pub(super) fn tend(&mut self, now: Instant) {
        if now >= self.due && self.is_to_give_back(now, memory::resident_of_files()) {
            memory::give_back();
        }
    }

    /// Takes a step, by the bytes of files that are resident; whether to give some back.
    fn is_to_give_back(&mut self, now: Instant, size: Option<u64>) -> bool {
        let gives = match (self.step, size) {
            (Step::GiveBack, _) => true,
            (Step::Look(needed), Some(size)) => size > needed + MUCH,
            (Step::Measure | Step::Look(_), _) => false,
        };
        let (step, after) = match (self.step, size) {
            _ if gives => (Step::Measure, SETTLES),
            (Step::Measure, Some(size)) => (Step::Look(size), LOOK),
            (step, _) => (step, LOOK),
        };
        (self.step, self.due) = (step, now + after);
        gives
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_given_back_after_the_start_and_then_only_if_there_is_more_of_it() {
        let mut now = Instant::from_nanos(1);
        let mut upkeep = Upkeep::begin(now);
        let mut then = |seconds, size| {
            assert_eq!(upkeep.rest(now), Duration::from_secs(seconds));
            now += upkeep.rest(now);
            upkeep.is_to_give_back(now, Some(size))
        };
        assert!(then(3, 9 << 20), "what the start needed");
        assert!(!then(3, 2 << 20), "what is left is needed");
        assert!(!then(60, 2 << 20));
        assert!(!then(60, (2 << 20) + MUCH), "not worth it");
        assert!(then(60, 4 << 20), "somebody asked");
        assert!(!then(3, 3 << 20), "now it leads, and needs more");
        assert!(!then(60, 3 << 20));
        assert!(then(60, 5 << 20));
    }
}
