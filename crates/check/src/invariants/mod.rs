//! The invariants: one property per file, each citing its definition.
//!
//! | promise | its invariants; bold ones apply to any protocol |
//! |---|---|
//! | never two | follows the proof (where there is one), **never two**, **ends by deadline**, tokens grow, observers' tokens (both where they are promised), witness never leads, SO, LS, locked supporters, disjoint partitions, T, everyone leads (where leadership goes round) |
//! | one per partition | SO, LS, locked supporters, disjoint partitions, **ends by deadline**, BI, **T**, stable ⊆ logical, minimum leads, or everyone leads where leadership goes round; **agreement** for protocols that tell no supporters |
//! | eventually one | **agreement**, best-leads (where that is promised), ends by deadline |
//! | elects nobody | **elects nobody** |
//! | any | **no storm** |
//! | in a simulated world, for leases | delay bounds |
//!
//! **When they look.** After every step of any process, and once more at the end. That is enough: a
//! process changes only in a step, so two lead at once if and only if the first still leads when
//! the second begins to. What ends without a step (a lease, a lock) is computed again from the
//! clock at every step of any process.

mod agreement;
mod best_leads;
mod bounded_inconsistency;
mod delay_bounds;
mod elects_nobody;
mod ends_by_deadline;
mod everyone_leads;
mod follows_the_proof;
mod leader_supports_itself;
mod locked_supporters;
mod minimum_leads;
mod never_two;
mod no_storm;
mod observers_tokens;
mod partitions_disjoint;
mod stable_in_logical;
mod support_at_most_one;
mod timeliness;
mod tokens_grow;
mod witness_never_leads;

#[cfg(test)]
pub(crate) mod scenes;

pub use agreement::Agreement;
pub use best_leads::BestLeads;
pub use bounded_inconsistency::BoundedInconsistency;
pub use delay_bounds::DelayBounds;
pub use elects_nobody::ElectsNobody;
pub use ends_by_deadline::EndsByDeadline;
pub use everyone_leads::EveryoneLeads;
pub use follows_the_proof::FollowsTheProof;
pub use leader_supports_itself::LeaderSupportsItself;
pub use locked_supporters::LockedSupporters;
pub use minimum_leads::MinimumLeads;
pub use never_two::NeverTwo;
pub use no_storm::NoStorm;
pub use observers_tokens::ObserversTokens;
pub use partitions_disjoint::PartitionsDisjoint;
pub use stable_in_logical::StableInLogical;
pub use support_at_most_one::SupportAtMostOne;
pub use timeliness::Timeliness;
pub use tokens_grow::TokensGrow;
pub use witness_never_leads::WitnessNeverLeads;

use crate::view::View;
use bellwether_core::SimTime;
use bellwether_protocols::promise::Promise;
use bellwether_protocols::time_scales::TimeScales;
use std::fmt;

/// A property of every moment of a run.
pub trait Invariant: Send {
    /// Its name in reports.
    fn name(&self) -> &'static str;

    /// Whether it applies only after the faults end, so that a run must become calm.
    fn needs_calm(&self) -> bool {
        false
    }

    /// Whether a protocol with these time scales promises it.
    fn applies(&self, _time_scales: &TimeScales) -> bool {
        true
    }

    /// Whether it compares processes with each other, so that a recorded run needs clocks that
    /// agree.
    fn compares(&self) -> bool {
        true
    }

    /// Why it cannot be decided although it was not seen broken, if that is so: a process did not
    /// tell enough.
    fn lacks(&self) -> Option<&'static str> {
        None
    }

    /// Resets it for another run, or another calm.
    fn begin(&mut self) {}

    /// Checks the present state.
    fn look(&mut self, view: &View<'_>) -> Finding;
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The invariant did not apply.
    Nothing,
    /// It holds.
    Kept,
    /// It is broken, in words.
    Broken(String),
}

impl Finding {
    /// Broken if there is a text.
    fn of(problem: Option<String>) -> Self {
        problem.map_or(Self::Kept, Self::Broken)
    }
}

/// A broken invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenInvariant {
    /// Its name.
    pub invariant: &'static str,
    /// The time.
    pub at: SimTime,
    /// What was seen.
    pub text: String,
}

impl fmt::Display for BrokenInvariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is broken at {}: {}", self.invariant, self.at, self.text)
    }
}

/// The invariants of a promise: all of them for a protocol's own promise, otherwise those that
/// apply to any protocol; and *best-leads*, where processes report their rank.
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

/// The invariants of this promise only.
fn special(promise: Promise, own: bool) -> Vec<Box<dyn Invariant>> {
    match (promise, own) {
        (Promise::NeverTwo, true) => vec![
            Box::new(FollowsTheProof::default()),
            Box::new(NeverTwo),
            Box::new(TokensGrow::default()),
            Box::new(ObserversTokens::default()),
            Box::new(WitnessNeverLeads),
            Box::new(EndsByDeadline),
            Box::new(SupportAtMostOne),
            Box::new(LeaderSupportsItself),
            Box::new(LockedSupporters),
            Box::new(PartitionsDisjoint),
            Box::new(Timeliness::default()),
            Box::new(EveryoneLeads::default()),
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
            Box::new(EveryoneLeads::default()),
        ],
        (Promise::OnePerPartition, false) => {
            vec![Box::new(Agreement), Box::new(EndsByDeadline), Box::new(Timeliness::default())]
        }
        (Promise::EventuallyOne, true) => vec![Box::new(Agreement), Box::new(EndsByDeadline)],
        (Promise::EventuallyOne, false) => vec![Box::new(Agreement)],
        (Promise::ElectsNobody, _) => vec![Box::new(ElectsNobody)],
        // One run says nothing about a probability; experiments measure it.
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
