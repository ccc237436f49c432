//! A building block elects nobody: no process ever names a leader.
//!
//! Schooler's thesis, chapters 2 and 3: suppression limits who sends; the first sender is not a
//! leader.

use super::{Finding, Invariant};
use crate::view::View;

/// No process ever names a leader.
#[derive(Clone, Copy, Debug)]
pub struct ElectsNobody;

impl Invariant for ElectsNobody {
    fn name(&self) -> &'static str {
        "elects-nobody"
    }

    fn compares(&self) -> bool {
        false
    }

    fn look(&mut self, view: &View<'_>) -> Finding {
        let naming = view.alive.iter().find(|node| !view.row(*node).names.is_empty());
        Finding::of(naming.map(|node| format!("process {node} names {}", view.row(node).names)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::scenes::Stage;
    use crate::nodes::Nodes;

    #[test]
    fn whoever_names_a_leader_elects_one() {
        let mut stage = Stage::new(3);
        assert_eq!(stage.look(&mut ElectsNobody), Finding::Kept);
        stage.rows[2].names = Nodes::only(1);
        assert!(stage.breaks(&mut ElectsNobody, "process 2 names {1}"));
    }
}
