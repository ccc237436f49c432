//! A stable partition lies within one logical partition.
//!
//! Fetzer and Cristian, section VI: a stable partition that formed κ ago and has a leader is a
//! subset of that leader's logical partition, so the leader can tell its members who belongs to
//! them.

use super::{Finding, Invariant};
use crate::view::View;

/// A stable partition with a leader lies within the leader's logical partition.
#[derive(Clone, Copy, Debug)]
pub struct StableInLogical;

impl Invariant for StableInLogical {
    fn name(&self) -> &'static str {
        "stable-in-logical"
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
            for leader in view.leaders.and(part.members).iter() {
                let logical = view.logical_partition(leader);
                if !logical.holds(part.members) {
                    return Finding::Broken(format!(
                        "{} are connected since {}; {}, so the logical partition {logical} leaves \
                         out {}",
                        part.members,
                        view.course.calm,
                        view.tell(leader),
                        part.members.without(logical)
                    ));
                }
                finding = Finding::Kept;
            }
        }
        finding
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::scenes::Stage;

    #[test]
    fn no_member_of_a_stable_partition_is_left_out() {
        let mut stage = Stage::new(4);
        stage.links_are(&[(0, 1), (0, 2), (1, 2)]);
        stage.leads(0, &[0, 1]);
        assert_eq!(stage.look(&mut StableInLogical), Finding::Nothing);
        stage.settle();
        assert!(stage.breaks(&mut StableInLogical, "leaves out {2}"));
        stage.leads(0, &[0, 1, 2]);
        assert_eq!(stage.look(&mut StableInLogical), Finding::Kept, "3 is not connected");
    }
}
