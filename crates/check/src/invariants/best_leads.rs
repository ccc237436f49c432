//! The best leads: after the last fault, connected processes name the best of them.
//!
//! A process reports its own rank; the id decides among equals. The classic elections promise this
//! (the greatest id, or the best value of an ad hoc network, leads). Protocols in which chance or
//! the first candidate decides do not, and are not checked.

use super::{Finding, Invariant};
use crate::view::View;

/// All connected processes name the best of them.
#[derive(Clone, Copy, Debug)]
pub struct BestLeads;

impl Invariant for BestLeads {
    fn name(&self) -> &'static str {
        "best-leads"
    }

    fn needs_calm(&self) -> bool {
        true
    }

    fn look(&mut self, view: &View<'_>) -> Finding {
        if !view.course.time_scales.best || !view.is_settled() {
            return Finding::Nothing;
        }
        let mut finding = Finding::Nothing;
        for part in view.parts.iter().filter(|part| view.is_stable(part)) {
            let standing = |node: &u32| (view.row(*node).claim, *node);
            let Some(best) = part.members.iter().max_by_key(standing) else { continue };
            let wrong = part.members.iter().find(|node| !view.row(*node).names.contains(best));
            if let Some(node) = wrong {
                let names = view.row(node).names;
                return Finding::Broken(format!(
                    "{node} names {names}, but {best} is the best of {}, connected since {}",
                    part.members, view.course.calm
                ));
            }
            finding = Finding::Kept;
        }
        finding
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::scenes::Stage;

    #[test]
    fn the_best_is_who_says_so_and_the_greatest_id_among_equals() {
        let mut stage = Stage::new(3);
        stage.links_are(&[(0, 1), (0, 2), (1, 2)]);
        stage.course.time_scales.best = true;
        let names = |stage: &mut Stage, named: u32| {
            stage.rows.iter_mut().for_each(|row| row.names = [named].into_iter().collect());
        };
        names(&mut stage, 1);
        assert_eq!(stage.look(&mut BestLeads), Finding::Nothing, "not settled yet");
        stage.settle();
        assert!(stage.breaks(&mut BestLeads, "0 names {1}, but 2 is the best"));
        stage.rows[1].claim = 7;
        assert_eq!(stage.look(&mut BestLeads), Finding::Kept);
        names(&mut stage, 2);
        assert!(stage.breaks(&mut BestLeads, "0 names {2}, but 1 is the best"));
        stage.course.time_scales.best = false;
        assert_eq!(stage.look(&mut BestLeads), Finding::Nothing, "nobody promised it");
    }
}
