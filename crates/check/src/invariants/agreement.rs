//! Eventually one: after the last fault, all connected processes name the same live leader.
//!
//! Schooler's thesis, chapter 5: the group converges when all processes have accepted the same
//! leader. This must happen within κ and last. Only fully connected sets are checked: nothing is
//! promised to others.

use super::{Finding, Invariant};
use crate::nodes::Nodes;
use crate::view::View;

/// All connected processes name the same live leaders among them.
#[derive(Clone, Copy, Debug)]
pub struct Agreement;

impl Invariant for Agreement {
    fn name(&self) -> &'static str {
        "agreement"
    }

    fn needs_calm(&self) -> bool {
        true
    }

    fn look(&mut self, view: &View<'_>) -> Finding {
        if !view.is_settled() {
            return Finding::Nothing;
        }
        let mut finding = Finding::Nothing;
        for part in view.parts.iter().filter(|part| view.is_stable(part)) {
            if !agrees(view, part.members) {
                return Finding::Broken(tell(view, part.members));
            }
            finding = Finding::Kept;
        }
        finding
    }
}

fn agrees(view: &View<'_>, members: Nodes) -> bool {
    let mut named = members.iter().map(|node| view.row(node).names);
    let first = named.next().unwrap_or_default();
    !first.is_empty() && members.holds(first) && named.all(|names| names == first)
}

fn tell(view: &View<'_>, members: Nodes) -> String {
    let name = |node: u32| {
        let names = view.row(node).names;
        if names.is_empty() {
            format!("{node} names nobody")
        } else {
            format!("{node} names {names}")
        }
    };
    let told: Vec<String> = members.iter().map(name).collect();
    format!(
        "{members} are connected since {}, but do not agree on one of them: {}",
        view.course.calm,
        told.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::scenes::Stage;

    #[test]
    fn all_that_are_connected_name_the_same_of_them() {
        let mut stage = Stage::new(4);
        stage.links_are(&[(0, 1), (0, 2), (1, 2)]);
        let names = |stage: &mut Stage, named: [&[u32]; 4]| {
            for (row, named) in stage.rows.iter_mut().zip(named) {
                row.names = named.iter().copied().collect();
            }
        };
        names(&mut stage, [&[2], &[2], &[2], &[3]]);
        assert_eq!(stage.look(&mut Agreement), Finding::Nothing, "not settled yet");
        stage.settle();
        assert_eq!(stage.look(&mut Agreement), Finding::Kept);
        names(&mut stage, [&[2], &[1], &[2], &[3]]);
        assert!(stage.breaks(&mut Agreement, "0 names {2}, 1 names {1}, 2 names {2}"));
        names(&mut stage, [&[3], &[3], &[3], &[3]]);
        assert!(stage.breaks(&mut Agreement, "do not agree on one of them"));
        names(&mut stage, [&[], &[], &[], &[3]]);
        assert!(stage.breaks(&mut Agreement, "0 names nobody"));
        stage.links_are(&[(0, 1), (1, 2)]);
        names(&mut stage, [&[0], &[1], &[2], &[3]]);
        assert_eq!(stage.look(&mut Agreement), Finding::Kept, "only 3 is asked");
    }
}
