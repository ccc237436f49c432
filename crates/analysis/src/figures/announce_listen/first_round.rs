//! The first round of an election: when the last process announced itself for the first time.
//!
//! With T_A = T_S whatever is sent before T_S is a first announcement, and whatever is sent later is
//! not. SUP has nothing but a first round, so this is its t_max; for the others there is no
//! measure of it, and the real protocol is watched in the event engine.

use crate::cell::Cell;
use bellwether_core::{Dest, Duration, SimTime};
use bellwether_protocols::announce_listen::{AnnounceListen, Message};
use bellwether_protocols::choice::Choice;
use bellwether_sim::{Coins, Observer, World};

/// When the last message was sent.
#[derive(Default)]
struct LastSent(Option<SimTime>);

impl Observer<AnnounceListen> for LastSent {
    fn on_send(&mut self, at: SimTime, _from: u32, _to: Dest, _message: &Message, _number: u32) {
        self.0 = Some(at);
    }
}

/// The last first announcement of one run of the cell, in seconds.
pub(super) fn last_first_announcement(cell: &Cell, run: u64) -> Option<f64> {
    debug_assert_eq!(cell.config.announce, cell.config.suppress);
    let experiment = cell.experiment(1).ok()?;
    let coins = Coins::new(cell.seed, run);
    let (mut plan, _) = experiment.plan(coins);
    plan.horizon = cell.config.suppress.saturating_sub(Duration::from_nanos(1));
    let Choice::AnnounceListen(params) = experiment.choice else { return None };
    let mut last = LastSent::default();
    World::<AnnounceListen>::new(params).run(&plan, coins, &mut last);
    last.0.map(SimTime::as_secs_f64)
}
