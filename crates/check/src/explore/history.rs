//! How a state was reached, as far as the validation of its next step needs it.
//!
//! A state may be reached in many ways. It keeps the history of the one by which it was found
//! first, and is the same state with any other: otherwise no two would ever be the same. So every
//! step is validated with one history that leads to it, not with all of them.

use super::world::State;
use crate::judge::fill;
use crate::nodes::Nodes;
use crate::validation::Validator;
use crate::view::Row;
use bellwether_core::{Duration, Instant, Protocol, Rebase, SimTime};
use bellwether_protocols::time_scales::TimeScales;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The time at the start. Far from zero, so that earlier times fit.
const START: Duration = Duration::from_secs(1_000);

/// The history of a state.
#[derive(Clone, Debug)]
pub(super) struct History {
    validator: Option<Arc<Validator>>,
    /// The time since the start: states are shifted to a fixed origin.
    elapsed: Duration,
    /// Why the last step is no action of the model.
    pub(super) refused: Option<String>,
}

impl PartialEq for History {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for History {}

impl Hash for History {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl History {
    pub(super) fn new(nodes: usize, model: Option<&TimeScales>) -> Self {
        let members = Nodes::first(nodes as u32);
        let new = |time_scales| Arc::new(Validator::new(members, time_scales));
        let validator = model.map(new);
        Self { validator, elapsed: START, refused: None }
    }

    /// Time passes.
    pub(super) fn pass(&mut self, length: Duration) {
        self.elapsed = self.elapsed + length;
    }

    /// A time of a state as one since the start.
    fn date(&self, at: Instant) -> Instant {
        let origin = Instant::ZERO + self.elapsed;
        if at == Instant::NEVER {
            at
        } else if at >= Rebase::ORIGIN {
            origin + at.since(Rebase::ORIGIN)
        } else {
            origin - Rebase::ORIGIN.since(at)
        }
    }

    /// The same row, with its times since the start.
    fn dated(&self, mut row: Row) -> Row {
        let date = |at: &mut Instant| *at = self.date(*at);
        [&mut row.reading, &mut row.told].into_iter().for_each(date);
        row.lock.iter_mut().for_each(|lock| date(&mut lock.until));
        let account = &mut row.account;
        account.granted.iter_mut().for_each(|(_, sent)| date(sent));
        account.request.iter_mut().for_each(|request| date(&mut request.sent));
        [&mut account.bound, &mut account.gave_up].into_iter().flatten().for_each(date);
        row
    }
}

impl<P: Protocol> State<P> {
    /// Notes that the last will of this life of a process is sent, which has crashed.
    pub(super) fn note_will(&mut self, turn: u8, life: u64) {
        let Some(validator) = &mut self.history.validator else { return };
        let told = Arc::make_mut(validator).farewell(turn.into(), life);
        debug_assert!(told.is_ok(), "whoever is released has crashed");
    }

    /// Validates the step of a process, which was just made.
    pub(super) fn note_step(&mut self, turn: u8) {
        let place = &self.places[usize::from(turn)];
        let (node, now) = (u32::from(turn), self.now);
        let Some(mut validator) = self.history.validator.take() else { return };
        // Another life is told by another end of the life before.
        let gone = Some(SimTime::from_nanos(place.life.into()));
        let mut row = Row { gone, ..Row::ABSENT };
        if let Some(state) = &place.node {
            fill(&mut row, node, state, now, true);
        }
        let at = SimTime::from_nanos(self.history.date(now).as_nanos());
        let row = self.history.dated(row);
        let refused = Arc::make_mut(&mut validator).step(node, &row, at).err();
        self.history.refused = refused.map(|refusal| refusal.to_string());
        self.history.validator = Some(validator);
    }
}
