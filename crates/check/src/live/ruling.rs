//! What became of each invariant in a live run.

use super::doubts::{Doubt, Doubts};
use crate::invariants::{Invariant, ObserversTokens, WitnessNeverLeads};
use bellwether_core::SimTime;

/// The result of one invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// Its name.
    pub invariant: &'static str,
    /// How often it was checked and applied.
    pub looks: u64,
    /// The outcome.
    pub outcome: Outcome,
}

/// The outcome of an invariant in a live run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It held in all checks.
    Holds,
    /// It was broken.
    Violated {
        /// When, by the common clock.
        at: SimTime,
        /// What was seen.
        text: String,
        /// The file and the line of the step after which it was seen.
        place: String,
    },
    /// The traces do not tell.
    Undecidable(Doubt),
}

/// The result of one invariant, by the records of one clock or of all.
#[derive(Default)]
pub(super) struct Sum {
    pub(super) looks: u64,
    pub(super) broken: Option<Outcome>,
    /// Why it cannot be decided, if it was not broken.
    pub(super) lacks: Option<&'static str>,
}

/// The rulings on these invariants, by what was seen of each.
pub(super) fn ruled(
    invariants: &[Box<dyn Invariant>],
    sums: Vec<Sum>,
    doubts: &Doubts,
) -> Vec<Ruling> {
    let rulings = invariants.iter().zip(sums).map(|(invariant, Sum { looks, broken, lacks })| {
        let outcome = broken.unwrap_or_else(|| match (doubts.about(&**invariant, looks), lacks) {
            (Outcome::Holds, Some(why)) => Outcome::Undecidable(Doubt::Because(why.to_owned())),
            (outcome, _) => outcome,
        });
        Ruling { invariant: invariant.name(), looks, outcome }
    });
    // A group without observers is not asked about them. Traces do not tell who is a witness.
    let special = [ObserversTokens::NAME, WitnessNeverLeads::NAME];
    rulings.filter(|it| it.looks > 0 || !special.contains(&it.invariant)).collect()
}
