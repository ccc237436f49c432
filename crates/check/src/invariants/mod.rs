//! What the judge watches: one property per file, each citing its definition.
//!
//! | promise | its invariants; in bold those by which any protocol can be measured |
//! |---|---|
//! | never two | **never two**, **ends by deadline**, SO, LS, locked supporters, disjoint partitions, T |
//! | one per partition | SO, LS, locked supporters, disjoint partitions, **ends by deadline**, BI, **T**, stable ⊆ logical, minimum leads; **agreement** for protocols that tell no supporters |
//! | eventually one | **agreement**, best-leads (where that is promised), ends by deadline |
//! | elects nobody | **elects nobody** |
//! | any | **no storm** |
//! | in a simulated world, for leases | delay bounds |
//!
//! **When they look.** After every step of any process, and once more when time is up. That is
//! enough: a process changes only in a step, so two lead at once if and only if the first still
//! leads when the second begins to; and what ends while nothing happens (a lease, a lock) is asked
//! again with the clock at every step of anybody.

mod agreement;
mod best_leads;
mod bounded_inconsistency;
mod delay_bounds;
mod elects_nobody;
mod ends_by_deadline;
mod leader_supports_itself;
mod locked_supporters;
mod minimum_leads;
mod never_two;
mod no_storm;
mod partitions_disjoint;
mod stable_in_logical;
mod support_at_most_one;
mod timeliness;

#[cfg(test)]
pub(crate) mod scenes;

pub use agreement::Agreement;
pub use best_leads::BestLeads;
pub use bounded_inconsistency::BoundedInconsistency;
pub use delay_bounds::DelayBounds;
pub use elects_nobody::ElectsNobody;
pub use ends_by_deadline::EndsByDeadline;
pub use leader_supports_itself::LeaderSupportsItself;
pub use locked_supporters::LockedSupporters;
pub use minimum_leads::MinimumLeads;
pub use never_two::NeverTwo;
pub use no_storm::NoStorm;
pub use partitions_disjoint::PartitionsDisjoint;
pub use stable_in_logical::StableInLogical;
pub use support_at_most_one::SupportAtMostOne;
pub use timeliness::Timeliness;

use crate::view::View;
use bellwether_core::SimTime;
use bellwether_protocols::promise::Promise;
use std::fmt;

/// A property of every moment of a run.
pub trait Invariant: Send {
    /// Its name in reports.
    fn name(&self) -> &'static str;

    /// Whether it speaks of calm times, so that a run must really become calm for it to mean
    /// anything.
    fn needs_calm(&self) -> bool {
        false
    }

    /// Whether it compares processes with each other, so that their clocks must agree for it to
    /// mean anything in a recorded run.
    fn compares(&self) -> bool {
        true
    }

    /// Another run begins, or another calm.
    fn begin(&mut self) {}

    /// Looks at the world as it is now.
    fn look(&mut self, view: &View<'_>) -> Finding;
}

/// What an invariant found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// There was nothing to look at.
    Nothing,
    /// It was as it must be.
    Kept,
    /// It was not; in words.
    Broken(String),
}

impl Finding {
    /// Broken if there is something to say.
    fn of(problem: Option<String>) -> Self {
        problem.map_or(Self::Kept, Self::Broken)
    }
}

/// An invariant that was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// Which.
    pub invariant: &'static str,
    /// When.
    pub at: SimTime,
    /// What was seen.
    pub text: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is broken at {}: {}", self.invariant, self.at, self.text)
    }
}

/// The invariants of a promise: all of them for the protocol whose promise it is, and those that
/// can be asked of any protocol for the others; and that the best leads, where processes tell who
/// that is.
pub fn of_promise(promise: Promise, own: bool, best: bool) -> Vec<Box<dyn Invariant>> {
    let mut invariants = special(promise, own);
    if best && own {
        invariants.push(Box::new(BestLeads));
    }
    if !invariants.is_empty() {
        invariants.push(Box::new(NoStorm::default()));
    }
    invariants
}

/// Those that belong to this promise and not to every one.
fn special(promise: Promise, own: bool) -> Vec<Box<dyn Invariant>> {
    match (promise, own) {
        (Promise::NeverTwo, true) => vec![
            Box::new(NeverTwo),
            Box::new(EndsByDeadline),
            Box::new(SupportAtMostOne),
            Box::new(LeaderSupportsItself),
            Box::new(LockedSupporters),
            Box::new(PartitionsDisjoint),
            Box::new(Timeliness::default()),
        ],
        (Promise::NeverTwo, false) => vec![Box::new(NeverTwo), Box::new(EndsByDeadline)],
        (Promise::OnePerPartition, true) => vec![
            Box::new(SupportAtMostOne),
            Box::new(LeaderSupportsItself),
            Box::new(LockedSupporters),
            Box::new(PartitionsDisjoint),
            Box::new(EndsByDeadline),
            Box::new(BoundedInconsistency),
            Box::new(Timeliness::default()),
            Box::new(StableInLogical),
            Box::new(MinimumLeads),
        ],
        (Promise::OnePerPartition, false) => {
            vec![Box::new(Agreement), Box::new(EndsByDeadline), Box::new(Timeliness::default())]
        }
        (Promise::EventuallyOne, true) => vec![Box::new(Agreement), Box::new(EndsByDeadline)],
        (Promise::EventuallyOne, false) => vec![Box::new(Agreement)],
        (Promise::ElectsNobody, _) => vec![Box::new(ElectsNobody)],
        // One run proves nothing about a probability: simulations count.
        (Promise::ProbablyOne | Promise::Nothing, _) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_promise_that_one_run_can_break_is_judged_by_something() {
        for promise in Promise::ALL {
            for own in [true, false] {
                let empty = of_promise(promise, own, false).is_empty();
                let unjudged = matches!(promise, Promise::ProbablyOne | Promise::Nothing);
                assert_eq!(empty, unjudged, "{promise} {own}");
            }
        }
    }
}
