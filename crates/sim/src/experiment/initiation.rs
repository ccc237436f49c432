//! Elections that an initiator starts: who starts them, and in which surroundings.

use super::Experiment;
use crate::coin::{RunSeed, Stream, StreamPurpose};
use crate::fault::{Fault, Timed, Who};
use crate::graph::Links;
use crate::network::Probability;
use crate::order::Order;
use crate::plan::Plan;
use crate::terrain::{Drawn, Terrain};
use bellwether_core::{Duration, Entropy};

/// The circumstances of an election that does not start by itself. Protocols whose processes start
/// on their own ignore them.
#[derive(Clone, Debug, PartialEq)]
pub struct Initiation {
    /// Which processes start the election.
    pub initiators: Initiators,
    /// The order of the ring.
    pub order: Order,
    /// How long a process takes to handle each message.
    pub processing: Duration,
    /// How soon all processes are told that one has stopped; never if absent.
    pub detection: Option<Duration>,
    /// Whether the greatest process is dead from the start.
    pub top_dead: bool,
    /// The links between the live processes.
    pub terrain: Terrain,
    /// The initiators start at random moments within this time; all at once if it is zero.
    pub spread: Duration,
    /// The probability that a process sees another one.
    pub view: Probability,
    /// The probability that a process crashes in a round, at a random moment of it, in protocols
    /// with rounds.
    pub fail: Probability,
}

/// Process 0 starts, everyone sees everyone, and nobody is told of failures or crashes.
impl Default for Initiation {
    fn default() -> Self {
        Self {
            initiators: Initiators::default(),
            order: Order::default(),
            processing: Duration::ZERO,
            detection: None,
            top_dead: false,
            terrain: Terrain::default(),
            spread: Duration::ZERO,
            view: Probability::ONE,
            fail: Probability::ZERO,
        }
    }
}

impl Initiation {
    /// Whether the plan is the same in every run.
    pub(super) fn is_fixed(&self) -> bool {
        self.initiators.is_fixed() && self.terrain.is_fixed() && self.spread == Duration::ZERO
    }

    /// Whether links change during a run.
    pub fn wanders(&self) -> bool {
        matches!(self.terrain, Terrain::Moving(_))
    }
}

/// Which processes start an election.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Initiators {
    /// The process with the smallest id.
    #[default]
    One,
    /// Everyone.
    All,
    /// This many, drawn for each run.
    Some(u32),
    /// Each with probability one half, but at least one; drawn for each run.
    Random,
    /// The listed ones.
    Named(Vec<u32>),
}

impl Initiators {
    /// Whether they are the same in every run.
    fn is_fixed(&self) -> bool {
        !matches!(self, Self::Some(_) | Self::Random)
    }

    /// Draws the initiators among the first `live` processes.
    fn draw(&self, live: u32, luck: &mut Stream) -> Vec<u32> {
        match self {
            Self::One => vec![0],
            Self::All => (0..live).collect(),
            Self::Named(named) => named.clone(),
            Self::Some(count) => {
                let count = (*count).min(live);
                let mut drawn: Vec<u32> = (0..live).collect();
                for place in 0..count as usize {
                    let rest = drawn.len() - place;
                    drawn.swap(place, place + luck.below(rest as u64) as usize);
                }
                drawn.truncate(count as usize);
                drawn.sort_unstable();
                drawn
            }
            Self::Random => {
                let mut drawn: Vec<u32> = (0..live).filter(|_| luck.below(2) == 1).collect();
                if drawn.is_empty() {
                    drawn.push(luck.below(u64::from(live)) as u32);
                }
                drawn
            }
        }
    }
}

/// Adds the circumstances to a plan, unless `over` says to give it up.
pub(super) fn call_elections(
    experiment: &Experiment,
    plan: &mut Plan,
    run_seed: RunSeed,
    over: &dyn Fn() -> bool,
) {
    let Initiation { initiators, order, processing, detection, top_dead, terrain, spread, .. } =
        &experiment.initiation;
    plan.order.clone_from(order);
    plan.view = experiment.initiation.view;
    (plan.processing, plan.detection) = (*processing, *detection);
    let mut live = plan.nodes;
    if *top_dead && live > 1 {
        live -= 1;
        match detection {
            // The group knows of it from the start, or never.
            Some(Duration::ZERO) | None => plan.absent.push(live),
            Some(_) => {
                let fault = Fault::Crash { node: Who::Node(live) };
                plan.faults.push(Timed { at: Duration::ZERO, fault });
            }
        }
    }
    let ready = experiment.choice.ready(plan.nodes);
    let mut luck = run_seed.world(StreamPurpose::Initiators);
    for node in initiators.draw(live, &mut luck) {
        let fault = Fault::Campaign { node: Who::Node(node) };
        let at = if *spread == Duration::ZERO { 0 } else { luck.below(spread.as_nanos()) };
        plan.faults.push(Timed { at: ready + Duration::from_nanos(at), fault });
    }
    plan.faults.sort_by_key(|timed| timed.at);
    // The check before the runs ensures that the network can be drawn. If a later draw is not
    // connected, all processes are alone and the run is unsettled.
    let alone = || Drawn { links: Some(Links::new()), ..Drawn::default() };
    terrain.draw_unless(live, run_seed, over).unwrap_or_else(|_| alone()).enter(plan);
    if experiment.initiation.wanders() {
        plan.horizon = experiment.window;
    } else if experiment.choice.profile().restless {
        // Where messages are lost, no time to settle can be promised.
        let settles = experiment.choice.time_scales(plan.nodes).settles;
        let horizon = ready + settles * 2 + *spread + experiment.window;
        plan.horizon = horizon.min(Duration::LONGEST_WRITTEN);
    }
}
