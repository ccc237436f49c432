//! Leadership ends by its deadline, whether the process runs, is slow or is paused.
//!
//! Fetzer and Cristian, section IX: *Leader_p(t)* holds only while H_p(t) < expirationTime. The
//! deadline of its last step binds a process until its next step: asked at a later time, without a
//! step in between, it must not lead.

use super::{Finding, Invariant};
use crate::view::View;

/// A process does not lead at or after the deadline that it reported in its last step.
#[derive(Clone, Copy, Debug)]
pub struct EndsByDeadline;

impl Invariant for EndsByDeadline {
    fn name(&self) -> &'static str {
        "ends-by-deadline"
    }

    fn compares(&self) -> bool {
        false
    }

    fn look(&mut self, view: &View<'_>) -> Finding {
        let overdue = view.leaders.iter().find(|&leader| {
            let row = view.row(leader);
            row.reading >= row.told
        });
        Finding::of(overdue.map(|leader| {
            let row = view.row(leader);
            format!(
                "process {leader} told that it leads until its clock reads {}; it reads {} and the \
                 process still leads",
                row.told, row.reading
            )
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::scenes::Stage;
    use bellwether_core::Instant;

    #[test]
    fn a_leader_past_the_end_it_told_is_one_too_long() {
        let mut stage = Stage::new(2);
        stage.leads(1, &[1]);
        stage.rows[1].told = Instant::from_nanos(500);
        stage.rows[1].reading = Instant::from_nanos(499);
        assert_eq!(stage.look(&mut EndsByDeadline), Finding::Kept);
        stage.rows[1].reading = Instant::from_nanos(500);
        assert!(stage.breaks(&mut EndsByDeadline, "process 1 told that it leads until"));
        stage.rows[1].leads = false;
        assert_eq!(stage.look(&mut EndsByDeadline), Finding::Kept);
    }
}
