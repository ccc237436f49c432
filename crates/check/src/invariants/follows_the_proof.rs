//! Follows the proof: every step of every process is an action of the proved model, and keeps its
//! invariant.
//!
//! `proofs/README.md` has the model and what is assumed; [`validation`](crate::validation) says how
//! steps are compared with it.

use super::{Finding, Invariant};
use crate::validation::Validator;
use crate::view::View;
use bellwether_protocols::time_scales::TimeScales;

/// Every step is an action of the proved model.
#[derive(Clone, Debug, Default)]
pub struct FollowsTheProof(Option<Validator>);

impl FollowsTheProof {
    /// Its name in reports.
    pub const NAME: &'static str = "follows-the-proof";
}

impl Invariant for FollowsTheProof {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn begin(&mut self) {
        self.0 = None;
    }

    fn lacks(&self) -> Option<&'static str> {
        let blind = self.0.as_ref().is_some_and(Validator::is_blind);
        blind.then_some("the trace of some process does not tell all its votes and requests")
    }

    fn applies(&self, time_scales: &TimeScales) -> bool {
        time_scales.proved
    }

    fn look(&mut self, view: &View<'_>) -> Finding {
        let time_scales = &view.course.time_scales;
        if !time_scales.proved {
            return Finding::Nothing;
        }
        let validator = self.0.get_or_insert_with(|| {
            Validator::new(view.members, time_scales).with_locks(&view.course.locks)
        });
        if view.rows.iter().any(|row| row.unseen) {
            validator.lose_sight(); // whoever was not recorded may have voted for anybody
        }
        let mut farewells = view.farewells.iter();
        let told = farewells.try_for_each(|(node, life)| validator.farewell(*node, *life));
        let step = told.and_then(|()| match view.stepped {
            Some(node) => validator.step(node, view.row(node), view.at),
            None => Ok(false),
        });
        match step {
            Ok(true) => Finding::Kept,
            Ok(false) => Finding::Nothing,
            Err(_) if view.torn => {
                validator.lose_sight();
                Finding::Nothing
            }
            Err(refusal) => Finding::Broken(refusal.to_string()),
        }
    }
}
