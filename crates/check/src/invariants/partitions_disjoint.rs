//! Logical partitions do not overlap, and each has at most one leader.
//!
//! Fetzer and Cristian, section VI: logical partitions are the classes of the reflexive, symmetric
//! and transitive closure of *supports*; (SO) and (LS) together leave each at most one leader.

use super::{Finding, Invariant};
use crate::view::View;

/// A logical partition has at most one leader.
#[derive(Clone, Copy, Debug)]
pub struct PartitionsDisjoint;

impl Invariant for PartitionsDisjoint {
    fn name(&self) -> &'static str {
        "partitions-disjoint"
    }

    fn look(&mut self, view: &View<'_>) -> Finding {
        if view.leaders.len() < 2 {
            return if view.leaders.is_empty() { Finding::Nothing } else { Finding::Kept };
        }
        let shared = view.leaders.iter().find_map(|leader| {
            let partition = view.logical_partition(leader);
            (partition.and(view.leaders).len() > 1).then_some(partition)
        });
        Finding::of(shared.map(|partition| {
            let leaders = partition.and(view.leaders);
            let told: Vec<String> = leaders.iter().map(|leader| view.tell(leader)).collect();
            format!("the logical partition {partition} has several leaders: {}", told.join("; "))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::scenes::Stage;

    #[test]
    fn leaders_linked_by_any_path_of_support_are_in_one_partition() {
        let mut stage = Stage::new(6);
        stage.leads(0, &[0, 1]);
        stage.leads(2, &[2, 3]);
        stage.leads(4, &[4, 5]);
        assert_eq!(stage.look(&mut PartitionsDisjoint), Finding::Kept);
        stage.leads(4, &[4, 0]);
        assert!(stage.breaks(&mut PartitionsDisjoint, "partition {0, 1, 4} has several leaders"));
        stage.leads(2, &[1, 3]);
        assert!(
            stage.breaks(&mut PartitionsDisjoint, "partition {0, 1, 2, 3, 4} has several leaders")
        );
    }
}
