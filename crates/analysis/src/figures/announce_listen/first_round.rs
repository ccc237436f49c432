//! The first round of an election: when the last process announced itself for the first time.
//!
//! With T_A = T_S whatever is sent before T_S is a first announcement, and whatever is sent later
//! is not. SUP has nothing but a first round, and the last announcement is its t_max. For the
//! others there is no measure of it, so the real protocol is watched in the event engine.

use super::common::{Sizes, Subject, runs};
use crate::announce_listen::point;
use crate::figures::series::named;
use crate::figures::{Kind, Series, Trial};
use bellwether_core::{Dest, Duration, SimTime};
use bellwether_protocols::announce_listen::{AnnounceListen, Message};
use bellwether_protocols::choice::Choice;
use bellwether_sim::{Observer, RunSeed, World};

/// T_S, and T_A.
const T_S: Duration = Duration::from_secs(1);

/// Takes note of when the last announcement of a first round was sent.
struct FirstRound {
    last: SimTime,
}

impl Observer<AnnounceListen> for FirstRound {
    fn on_send(&mut self, at: SimTime, _from: u32, _to: Dest, _message: &Message, _number: u32) {
        self.last = at;
    }
}

/// When the last of the subject's first announcements was sent, in one run of a group of this size.
pub(super) fn last(subject: Subject, nodes: u32, seed: u64, run: u64) -> Option<f64> {
    let point = point(subject.variant, nodes, subject.loss).seed(seed);
    let point = point.with("suppress", T_S).with("announce", T_S);
    let experiment = point.experiment(1).ok()?;
    let run_seed = RunSeed::new(seed, run);
    let (mut plan, _) = experiment.plan(run_seed);
    let Choice::AnnounceListen(params) = experiment.choice else { return None };
    plan.horizon = T_S.saturating_sub(Duration::from_nanos(1));
    let mut round = FirstRound { last: SimTime::ZERO };
    World::<AnnounceListen>::new(params).run(&plan, run_seed, &mut round);
    Some(round.last.as_secs_f64())
}

/// A curve of the subject, each point made of what `run` finds in first rounds. The name tells
/// these trials from others.
pub(super) fn measured(
    subject: Subject,
    sizes: &Sizes,
    name: &'static str,
    run: fn(u32, u64, u64) -> Option<f64>,
) -> Series {
    let trial =
        |&nodes: &u32| (f64::from(nodes), Trial { name, argument: nodes, runs: runs(nodes), run });
    let name = named(subject.name, Kind::Simulated);
    Series::measured(name, subject.hue, sizes.nodes.iter().map(trial))
}
