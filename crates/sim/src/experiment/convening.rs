//! Elections that somebody calls: by whom, in what order they stand, and what they are told.

use super::Experiment;
use crate::coin::{Coins, For, Stream};
use crate::fault::{Fault, Timed, Who};
use crate::graph::Links;
use crate::network::Probability;
use crate::order::Order;
use crate::plan::Plan;
use crate::terrain::{Drawn, Terrain};
use bellwether_core::{Duration, Entropy};

/// The circumstances of an election that does not begin by itself. Protocols whose processes all
/// begin on their own do not ask.
#[derive(Clone, Debug, PartialEq)]
pub struct Convening {
    /// Who calls it.
    pub initiators: Initiators,
    /// The order of the ring.
    pub order: Order,
    /// How long a process takes over each message.
    pub processing: Duration,
    /// How soon all are told, without fail, who is gone; never if absent.
    pub detection: Option<Duration>,
    /// Whether the greatest process is dead from the start.
    pub top_dead: bool,
    /// Who is linked to whom, of those that are alive.
    pub terrain: Terrain,
    /// Those who call do so at any moment of this length; all at once if it is nought.
    pub spread: Duration,
    /// How probable it is that a process sees another.
    pub view: Probability,
    /// How probable it is that a process crashes in a round, at any moment of it, where elections
    /// have rounds.
    pub fail: Probability,
}

/// Process 0 calls, everyone sees everyone, and nobody is told or crashes.
impl Default for Convening {
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

impl Convening {
    /// Whether the plan is the same in every run.
    pub(super) fn is_fixed(&self) -> bool {
        self.initiators.is_fixed() && self.terrain.is_fixed() && self.spread == Duration::ZERO
    }

    /// Whether links come and go.
    pub fn wanders(&self) -> bool {
        matches!(self.terrain, Terrain::Moving(_))
    }
}

/// Who calls an election, all at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Initiators {
    /// The process with the least id.
    #[default]
    One,
    /// Everyone.
    All,
    /// So many, drawn for each run.
    Some(u32),
    /// Each with probability one half, and at least one, drawn for each run.
    Random,
    /// These.
    Named(Vec<u32>),
}

impl Initiators {
    /// Whether they are the same in every run.
    fn is_fixed(&self) -> bool {
        !matches!(self, Self::Some(_) | Self::Random)
    }

    /// Who they are among the first `live` processes.
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

/// Enters into a plan what the convening says.
pub(super) fn convene(experiment: &Experiment, plan: &mut Plan, coins: Coins) {
    let Convening { initiators, order, processing, detection, top_dead, terrain, spread, .. } =
        &experiment.convening;
    plan.order.clone_from(order);
    plan.view = experiment.convening.view;
    (plan.processing, plan.detection) = (*processing, *detection);
    let mut live = plan.nodes;
    if *top_dead && live > 1 {
        live -= 1;
        match detection {
            // It is known before anything happens, or never.
            Some(Duration::ZERO) | None => plan.absent.push(live),
            Some(_) => {
                let fault = Fault::Crash { node: Who::Node(live) };
                plan.faults.push(Timed { at: Duration::ZERO, fault });
            }
        }
    }
    let ready = experiment.choice.ready(plan.nodes);
    let mut luck = coins.world(For::Initiators);
    for node in initiators.draw(live, &mut luck) {
        let fault = Fault::Campaign { node: Who::Node(node) };
        let at = if *spread == Duration::ZERO { 0 } else { luck.below(spread.as_nanos()) };
        plan.faults.push(Timed { at: ready + Duration::from_nanos(at), fault });
    }
    plan.faults.sort_by_key(|timed| timed.at);
    // Whether it can be drawn at all is asked before anything is run. A later throw that is not
    // connected leaves everyone alone, and its run unsettled.
    let alone = || Drawn { links: Some(Links::new()), ..Drawn::default() };
    terrain.draw(live, coins).unwrap_or_else(|_| alone()).enter(plan);
    if experiment.convening.wanders() {
        plan.horizon = experiment.window;
    } else if experiment.choice.profile().restless {
        // Nobody can know how long it takes where messages are lost.
        let settles = experiment.choice.pace(plan.nodes).settles;
        let horizon = ready + settles * 2 + *spread + experiment.window;
        plan.horizon = horizon.min(Duration::LONGEST_WRITTEN);
    }
}
