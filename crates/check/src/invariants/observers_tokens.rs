//! An observer never names a leader with a lower token than one that it named before.
//!
//! An observer has no vote, so safety does not rest on this. But whoever reads it must be able to
//! tell the present leader from a former one, of which it may hear late. It is asked of each life
//! of a process that is no voter of its list, nor of the list before while its own may be open.

use super::{Finding, Invariant};
use crate::view::{Row, View};
use bellwether_core::SimTime;
use bellwether_protocols::time_scales::TimeScales;

/// The term that an observer is told of never falls.
#[derive(Clone, Debug, Default)]
pub struct ObserversTokens {
    /// For each process the highest term that it told of another one that leads, and when the life
    /// before ended.
    told: Vec<(Option<SimTime>, u64)>,
}

impl ObserversTokens {
    /// Its name in reports.
    pub(crate) const NAME: &'static str = "observers-tokens";
}

impl Invariant for ObserversTokens {
    fn name(&self) -> &'static str {
        Self::NAME
    }

    fn compares(&self) -> bool {
        false
    }

    fn applies(&self, time_scales: &TimeScales) -> bool {
        time_scales.tokens
    }

    fn begin(&mut self) {
        self.told.clear();
    }

    fn look(&mut self, view: &View<'_>) -> Finding {
        let Some(node) = view.stepped.filter(|_| self.applies(&view.course.time_scales)) else {
            return Finding::Nothing;
        };
        let Row { gone, term, names, unseen, .. } = *view.row(node);
        if names.is_empty() || unseen || !view.observes(node) {
            return Finding::Nothing;
        }
        let place = node as usize;
        self.told.resize(self.told.len().max(place + 1), (None, 0));
        let (life, before) = std::mem::replace(&mut self.told[place], (gone, term));
        let before = if life == gone { before } else { 0 };
        Finding::of((term < before).then(|| {
            format!("process {node} names {names} with term {term}, and named one with {before}")
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::scenes::Stage;
    use crate::nodes::Nodes;
    use crate::view::VoterList;

    /// Process 3 does not vote, and names process 0 with this term.
    fn told(term: u64) -> Stage {
        let mut stage = Stage::new(4);
        stage.course.time_scales.tokens = true;
        stage.stepped = Some(3);
        let list = VoterList { version: 1, voters: Nodes::first(3), ..VoterList::default() };
        let row = &mut stage.rows[3];
        (row.names, row.term, row.list) = (Nodes::only(0), term, Some(list));
        stage
    }

    #[test]
    fn the_term_that_an_observer_tells_never_falls() {
        let (mut stage, mut observers) = (told(5), ObserversTokens::default());
        for term in [5, 5, 7] {
            stage.rows[3].term = term;
            assert_eq!(stage.look(&mut observers), Finding::Kept);
        }
        stage.rows[3].names = Nodes::NONE;
        stage.rows[3].term = 0;
        assert_eq!(stage.look(&mut observers), Finding::Nothing, "it names nobody");
        (stage.rows[3].names, stage.rows[3].term) = (Nodes::only(1), 6);
        assert!(stage.breaks(&mut observers, "process 3 names {1} with term 6"));
    }

    #[test]
    fn it_is_asked_of_one_life_and_of_observers() {
        let (mut stage, mut observers) = (told(5), ObserversTokens::default());
        assert_eq!(stage.look(&mut observers), Finding::Kept);
        (stage.rows[3].term, stage.rows[3].gone) = (4, Some(stage.at));
        assert_eq!(stage.look(&mut observers), Finding::Kept, "another life knows of nothing");
        stage.rows[3].term = 3;
        let voters = Nodes::first(4);
        stage.rows[3].list = Some(VoterList { voters, ..VoterList::default() });
        assert_eq!(stage.look(&mut observers), Finding::Nothing, "it votes");
        stage.rows[3].list = None;
        assert_eq!(stage.look(&mut observers), Finding::Nothing, "all vote");
        stage.course.founders = Some(Nodes::first(3));
        assert!(stage.breaks(&mut observers, "with term 3, and named one with 4"));
        stage.course.time_scales.tokens = false;
        assert_eq!(stage.look(&mut observers), Finding::Nothing, "not promised");
    }
}
