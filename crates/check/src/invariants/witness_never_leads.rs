//! A witness never leads.
//!
//! A witness votes, and its operator does not want it to lead: its machine may have nothing to lead
//! with. Safety does not rest on this, so the proved model knows nothing of it.

use super::{Finding, Invariant};
use crate::view::View;
use bellwether_protocols::time_scales::TimeScales;

/// A process that began as a witness never leads.
#[derive(Clone, Copy, Debug)]
pub struct WitnessNeverLeads;

impl WitnessNeverLeads {
    /// Its name in reports.
    pub(crate) const NAME: &'static str = "witness-never-leads";
}

impl Invariant for WitnessNeverLeads {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn compares(&self) -> bool {
        false
    }

    fn applies(&self, time_scales: &TimeScales) -> bool {
        time_scales.roles
    }

    fn look(&mut self, view: &View<'_>) -> Finding {
        let witnesses = view.course.witnesses;
        if witnesses.is_empty() {
            return Finding::Nothing;
        }
        let leader = view.leaders.and(witnesses).least();
        Finding::of(leader.map(|leader| format!("{}, which is a witness", view.tell(leader))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::scenes::Stage;
    use crate::nodes::Nodes;

    #[test]
    fn a_witness_that_leads_is_seen() {
        let mut stage = Stage::new(3);
        stage.leads(0, &[0, 1]);
        assert_eq!(stage.look(&mut WitnessNeverLeads), Finding::Nothing, "there is none");
        stage.course.witnesses = Nodes::only(1);
        assert_eq!(stage.look(&mut WitnessNeverLeads), Finding::Kept);
        stage.course.witnesses = [0, 2].into_iter().collect();
        assert!(stage.breaks(&mut WitnessNeverLeads, "process 0 leads"));
    }
}
