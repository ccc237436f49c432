//! (BI) A leader has the support of every process it has been connected with for κ.
//!
//! Fetzer and Cristian, section V: connected(p, q, t−κ, t) ∧ Leader_p(t) ⇒ supportsᵗ(q, p). A
//! promise of local leaders only: a majority is enough for a global one.

use super::{Finding, Invariant};
use crate::view::View;

/// A leader has the support of every process it has been connected with for κ.
#[derive(Clone, Copy, Debug)]
pub struct BoundedInconsistency;

impl Invariant for BoundedInconsistency {
    fn name(&self) -> &'static str {
        "bounded-inconsistency"
    }

    fn needs_calm(&self) -> bool {
        true
    }

    fn look(&mut self, view: &View<'_>) -> Finding {
        if !view.is_settled() || view.leaders.is_empty() {
            return Finding::Nothing;
        }
        let lacking = view.leaders.iter().find_map(|leader| {
            let connected = view.course.links.of(leader).and(view.alive);
            let missing = connected.without(view.supporters(leader));
            (!missing.is_empty()).then_some((leader, missing))
        });
        Finding::of(lacking.map(|(leader, missing)| {
            format!(
                "{}, but not by {missing}, connected with it since {}",
                view.tell(leader),
                view.course.calm
            )
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::scenes::Stage;

    #[test]
    fn whoever_is_connected_with_a_leader_for_long_supports_it() {
        let mut stage = Stage::new(4);
        stage.leads(0, &[0, 1]);
        assert_eq!(stage.look(&mut BoundedInconsistency), Finding::Nothing, "not for long yet");
        stage.settle();
        assert!(stage.breaks(&mut BoundedInconsistency, "but not by {2, 3}, connected with it"));
        stage.gone(3);
        stage.links_are(&[(0, 1), (1, 2)]);
        assert_eq!(stage.look(&mut BoundedInconsistency), Finding::Kept, "2 hears only 1");
    }
}
