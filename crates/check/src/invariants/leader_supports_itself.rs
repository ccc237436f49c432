//! (LS) A leader supports itself.
//!
//! Fetzer and Cristian, section V: ∀p, ∀t: Leader_p(t) ⇒ supportsᵗ(p, p).

use super::{Finding, Invariant};
use crate::view::View;

/// A leader supports itself.
#[derive(Clone, Copy, Debug)]
pub struct LeaderSupportsItself;

impl Invariant for LeaderSupportsItself {
    fn name(&self) -> &'static str {
        "leader-supports-itself"
    }

    fn compares(&self) -> bool {
        false
    }

    fn look(&mut self, view: &View<'_>) -> Finding {
        if view.leaders.is_empty() {
            return Finding::Nothing;
        }
        let faithless = view.leaders.iter().find(|p| !view.supporters(*p).contains(*p));
        Finding::of(faithless.map(|leader| format!("{}, but not by itself", view.tell(leader))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::scenes::Stage;

    #[test]
    fn a_leader_is_its_own_supporter() {
        let mut stage = Stage::new(3);
        assert_eq!(stage.look(&mut LeaderSupportsItself), Finding::Nothing);
        stage.leads(1, &[0, 1]);
        assert_eq!(stage.look(&mut LeaderSupportsItself), Finding::Kept);
        stage.leads(1, &[0, 2]);
        assert!(stage.breaks(&mut LeaderSupportsItself, "supported by {0, 2}, but not by itself"));
    }
}
