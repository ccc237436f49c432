//! The process with the least id of a maximum connected set leads, and stays leader while the set
//! is stable.
//!
//! Fetzer and Cristian, section X: "the protocol elects in each maximum connected set at least the
//! process with the minimum id". Which other processes lead in a set that is not fully connected is
//! not promised (their Figure 24 and the text differ). Beyond the paper: a process that was asked
//! to resign comes last, so after a resignation ids are not checked.

use super::{Finding, Invariant};
use crate::view::View;
use bellwether_protocols::time_scales::TimeScales;

/// The process with the least id of a maximum connected set leads, and stays leader.
#[derive(Clone, Copy, Debug)]
pub struct MinimumLeads;

impl MinimumLeads {
    /// Its name in reports.
    pub(crate) const NAME: &'static str = "minimum-leads";
}

impl Invariant for MinimumLeads {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn needs_calm(&self) -> bool {
        true
    }

    /// Where leadership goes round, everybody leads for a while.
    fn applies(&self, time_scales: &TimeScales) -> bool {
        time_scales.rotates.is_none()
    }

    fn look(&mut self, view: &View<'_>) -> Finding {
        if !view.is_settled() || view.parts.is_empty() || view.course.resigned {
            return Finding::Nothing;
        }
        let leaderless = view.parts.iter().find_map(|part| {
            let least = part.members.least()?;
            (!view.leaders.contains(least)).then_some((part.members, least))
        });
        Finding::of(leaderless.map(|(members, least)| {
            let leaders = view.leaders.and(members);
            format!(
                "{members} are connected since {}, but process {least} does not lead; {leaders} do",
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
    fn the_least_of_every_connected_set_leads() {
        let mut stage = Stage::new(5);
        stage.links_are(&[(0, 1), (1, 2), (3, 4)]);
        stage.leads(0, &[0, 1]);
        stage.leads(4, &[3, 4]);
        assert_eq!(stage.look(&mut MinimumLeads), Finding::Nothing, "not settled yet");
        stage.settle();
        assert!(stage.breaks(&mut MinimumLeads, "process 3 does not lead; {4} do"));
        stage.gone(3);
        assert_eq!(stage.look(&mut MinimumLeads), Finding::Kept);
        stage.rows[0].leads = false;
        assert!(stage.breaks(&mut MinimumLeads, "process 0 does not lead; {} do"));
        stage.course.resigned = true;
        assert_eq!(stage.look(&mut MinimumLeads), Finding::Nothing, "it may have been 0");
    }
}
