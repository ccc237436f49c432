//! Chooses the observer that measures a run, by properties of the protocol and the scenario, not by
//! name.
//!
//! | observer | measures |
//! |---|---|
//! | `rounds` | elections in rounds |
//! | `leases` | leaders that hold leases |
//! | `wandering` | elections by initiators in a network whose links change |
//! | `tally` | other elections by initiators |
//! | `start` | a start in which every process begins on its own |
//! | `recovery` | a group after an event |

use super::leases::LeaseWatch;
use super::recovery::Recovery;
use super::rounds::Rounds;
use super::scenario::Planned;
use super::start::Start;
use super::tally::Tally;
use super::wandering::Wandering;
use super::{Experiment, Sample, Scenario};
use crate::coin::RunSeed;
use crate::fault::Fault;
use crate::observer::{Cause, Observer, Reader, Reading};
use crate::plan::Plan;
use crate::world::{Outcome, Scene, World};
use bellwether_core::{Dest, Duration, Instant, Leadership, Node, Protocol, SimTime};

/// One of the observers that measure, reused from run to run.
pub(super) enum Watch<'a> {
    Rounds(Rounds<'a>),
    Leases(Box<LeaseWatch>),
    Wandering(Box<Wandering>),
    Tally(Tally),
    Start(Box<Start>),
    Recovery(Box<Recovery>),
    /// Measures nothing, and lets a run last until its horizon.
    Nothing,
}

impl<'a> Watch<'a> {
    /// The observer for this experiment.
    pub(super) fn of(experiment: &'a Experiment) -> Self {
        let profile = experiment.choice.profile();
        if let Some(kinds) = experiment.choice.rounds() {
            Self::Rounds(Rounds::new(experiment, kinds))
        } else if let Some(leases) = profile.leases {
            Self::Leases(Box::new(LeaseWatch::new(leases)))
        } else if profile.on_demand && experiment.initiation.wanders() {
            Self::Wandering(Box::new(Wandering::new(&Plan::new(0), Duration::ZERO)))
        } else if profile.on_demand {
            Self::Tally(Tally::default())
        } else if experiment.scenario == Scenario::Start {
            Self::Start(Box::new(Start::new(&profile)))
        } else {
            Self::Recovery(Box::new(Recovery::new()))
        }
    }

    /// The observer that runs together with a tracer: it makes processes fail, or ends the run when
    /// all have settled.
    pub(super) fn beside_a_trace(experiment: &'a Experiment) -> Self {
        let profile = experiment.choice.profile();
        match experiment.choice.rounds() {
            Some(kinds) => Self::Rounds(Rounds::new(experiment, kinds)),
            None if experiment.scenario == Scenario::Start && profile.leases.is_none() => {
                Self::Start(Box::new(Start::new(&profile)))
            }
            None => Self::Nothing,
        }
    }

    /// Prepares for the next run.
    pub(super) fn reset(&mut self, experiment: &Experiment, planned: &Planned, run_seed: RunSeed) {
        let Planned { plan, from, .. } = planned;
        match self {
            Self::Rounds(rounds) => rounds.reset(run_seed),
            Self::Leases(leases) => leases.reset(planned, experiment.scenario),
            Self::Wandering(wandering) => **wandering = Wandering::new(plan, Duration::ZERO),
            Self::Tally(tally) => tally.reset(plan, experiment.choice.profile().restless),
            Self::Start(start) => start.reset(plan.nodes),
            Self::Recovery(recovery) => {
                let event = experiment.scenario.has_event();
                recovery.reset(plan.nodes, *from, experiment.window, event);
            }
            Self::Nothing => {}
        }
    }

    /// Runs the plan, and lets `reader` read it while it is made, until the run or the reader is
    /// done.
    pub(super) fn read<P: Protocol>(
        &mut self,
        world: &mut World<P>,
        plan: &Plan,
        run_seed: RunSeed,
        reader: &mut dyn Reader,
    ) {
        world.run(plan, run_seed, &mut (self, &mut Reading(reader)));
    }

    /// Runs the plan and measures it, unless `over` says to give it up. The two observers of most
    /// runs have worlds of their own, for speed; each only for protocols that it can measure.
    pub(super) fn run<P: Protocol>(
        &mut self,
        world: &mut World<P>,
        planned: &Planned,
        run_seed: RunSeed,
        over: &dyn Fn() -> bool,
    ) -> Option<Sample> {
        let plan = &planned.plan;
        let Outcome { deliveries, .. } = match self {
            Self::Start(start) if !P::ON_DEMAND => {
                world.run_unless(plan, run_seed, &mut **start, over)
            }
            Self::Tally(tally) if P::ON_DEMAND => world.run_unless(plan, run_seed, tally, over),
            _ => world.run_unless(plan, run_seed, self, over),
        }?;
        Some(match self {
            Self::Rounds(rounds) => rounds.sample(plan, world, deliveries),
            Self::Leases(leases) => leases.sample(deliveries),
            Self::Wandering(wandering) => wandering.sample(plan.end(), deliveries),
            Self::Tally(tally) => tally.sample(plan, world, deliveries),
            Self::Start(start) => start.sample(plan.end(), deliveries),
            Self::Recovery(recovery) => recovery.sample(deliveries),
            Self::Nothing => Sample::new(deliveries),
        })
    }
}

/// Forwards a call to the observer, if there is one.
macro_rules! ask {
    ($watch:expr, $method:ident($($argument:expr),*)) => {
        match $watch {
            Watch::Rounds(watch) => Observer::<P>::$method(watch, $($argument),*),
            Watch::Leases(watch) => Observer::<P>::$method(&mut **watch, $($argument),*),
            Watch::Wandering(watch) => Observer::<P>::$method(&mut **watch, $($argument),*),
            Watch::Tally(watch) => Observer::<P>::$method(watch, $($argument),*),
            Watch::Start(watch) => Observer::<P>::$method(&mut **watch, $($argument),*),
            Watch::Recovery(watch) => Observer::<P>::$method(&mut **watch, $($argument),*),
            Watch::Nothing => {}
        }
    };
}

/// One observer type for all of them, so that fewer worlds are compiled: most of the time of a
/// release build is spent on them.
impl<P: Protocol> Observer<P> for Watch<'_> {
    const LOOKS: bool = true;

    #[inline]
    fn on_start(&mut self, at: SimTime, node: u32, now: Instant, state: &Node<P>) {
        ask!(self, on_start(at, node, now, state));
    }

    #[inline]
    fn on_ready(&mut self) {
        ask!(self, on_ready());
    }

    #[inline(always)]
    fn on_send(&mut self, at: SimTime, from: u32, to: Dest, message: &P::Message, number: u32) {
        ask!(self, on_send(at, from, to, message, number));
    }

    #[inline]
    fn on_change(
        &mut self,
        at: SimTime,
        node: u32,
        leadership: &Leadership<'_>,
        cause: Option<Cause>,
    ) {
        ask!(self, on_change(at, node, leadership, cause));
    }

    fn on_gone(&mut self, at: SimTime, node: u32) {
        ask!(self, on_gone(at, node));
    }

    #[inline(always)]
    fn on_step(&mut self, node: u32, scene: &Scene<'_, P>) {
        if let Self::Wandering(watch) = self {
            watch.on_step(node, scene);
        }
    }

    #[inline]
    fn injects_at(&self) -> u64 {
        match self {
            Self::Rounds(rounds) => Observer::<P>::injects_at(rounds),
            _ => u64::MAX,
        }
    }

    fn inject(&mut self) -> Option<Fault> {
        match self {
            Self::Rounds(rounds) => Observer::<P>::inject(rounds),
            _ => None,
        }
    }

    #[inline(always)]
    fn done(&self) -> bool {
        match self {
            Self::Tally(tally) => Observer::<P>::done(tally),
            Self::Start(start) => Observer::<P>::done(&**start),
            _ => false,
        }
    }
}
