//! (SO) A process supports at most one process at a time.
//!
//! Fetzer and Cristian, section V: ∀t, ∀p, q, r: supportsᵗ(r, p) ∧ supportsᵗ(r, q) ⇒ p = q.

use super::{Finding, Invariant};
use crate::nodes::Nodes;
use crate::view::View;

/// A process supports at most one process at a time.
#[derive(Clone, Copy, Debug)]
pub struct SupportAtMostOne;

impl Invariant for SupportAtMostOne {
    fn name(&self) -> &'static str {
        "support-at-most-one"
    }

    fn look(&mut self, view: &View<'_>) -> Finding {
        if view.leaders.is_empty() {
            return Finding::Nothing;
        }
        let mut seen = Nodes::NONE;
        for leader in view.leaders.iter() {
            let supporters = view.supporters(leader);
            if let Some(torn) = supporters.and(seen).least() {
                let other = view.leaders.iter().find(|p| view.supporters(*p).contains(torn));
                let first = other.map_or_else(String::new, |other| view.tell(other));
                let second = view.tell(leader);
                return Finding::Broken(format!("process {torn} supports two: {first}; {second}"));
            }
            seen = seen.or(supporters);
        }
        Finding::Kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::scenes::Stage;

    #[test]
    fn nobody_supports_two() {
        let mut stage = Stage::new(4);
        assert_eq!(stage.look(&mut SupportAtMostOne), Finding::Nothing);
        stage.leads(0, &[0, 1]);
        stage.leads(2, &[2, 3]);
        assert_eq!(stage.look(&mut SupportAtMostOne), Finding::Kept);
        stage.leads(2, &[1, 2]);
        assert!(stage.breaks(&mut SupportAtMostOne, "process 1 supports two: process 0 leads"));
        stage.rows[0].leads = false;
        assert_eq!(stage.look(&mut SupportAtMostOne), Finding::Kept, "who does not lead has none");
    }
}
