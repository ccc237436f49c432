//! Explores every behaviour of a small group, with stateright.
//!
//! **What is explored.** The real state machines, in a world whose time moves in ticks. In each
//! tick each process may receive any message in transit, in any order, or none; fire its timers;
//! sleep, crash, restart, resign, or be asked to hold an election, as far as the
//! [adversary](Adversary) allows. A message that is not delivered in time is lost, so every pattern
//! of loss is included. A draw branches over a few values (`draws.rs`).
//!
//! **What is not.** All clocks agree, delays are multiples of a tick, and the group is small. With
//! a bound on time nothing beyond it is seen. Without one, states that differ only by a shift in
//! time are one, so the result holds for ever.
//!
//! **What it promises.** Stateright stores a 64-bit fingerprint of each state. Two states with the
//! same one would hide each other; among ten million states that has a probability of about
//! 1/400,000.

pub mod announcements;
mod draws;
mod history;
pub mod leases;
mod story;
mod timed;
mod world;

pub use timed::Timed;
pub use world::{Adversary, Asked, Move, State, TICK, World};

use crate::invariants::FollowsTheProof;
use bellwether_core::{NodeId, Protocol};
use stateright::{Checker, HasDiscoveries, Model, Property};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The result of an exploration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// How many different states were seen.
    pub states: usize,
    /// The longest path to one of them.
    pub depth: usize,
    /// Whether all reachable states were seen.
    pub complete: bool,
    /// Whether a process leads in one of them; otherwise the result means little.
    pub somebody_leads: bool,
    /// Whether in one of them a process that lost its disk has a record again, and has voted.
    pub somebody_recovers: bool,
    /// Whether in one of them a process knows that a changed list of voters is committed.
    pub somebody_commits: bool,
    /// A broken property, and a path to a state that breaks it.
    pub breach: Option<(&'static str, Vec<Move>)>,
    /// Why its last step is no action of the model, if that is what is broken.
    pub refused: Option<String>,
}

impl Asked {
    /// The names of the properties.
    pub fn properties(self) -> &'static [&'static str] {
        match self {
            Self::Leases => &[NEVER_TWO, SUPPORT_AT_MOST_ONE, LEADER_SUPPORTS_ITSELF],
            Self::Proved => {
                &[FollowsTheProof::NAME, NEVER_TWO, SUPPORT_AT_MOST_ONE, LEADER_SUPPORTS_ITSELF]
            }
            Self::Candidate => &[SOMEBODY_STANDS],
        }
    }
}

const NEVER_TWO: &str = "never-two";
const SUPPORT_AT_MOST_ONE: &str = "support-at-most-one";
const LEADER_SUPPORTS_ITSELF: &str = "leader-supports-itself";
const SOMEBODY_STANDS: &str = "somebody-stands";
const SOMEBODY_LEADS: &str = "somebody leads";
const SOMEBODY_RECOVERS: &str = "somebody recovers";
const SOMEBODY_COMMITS: &str = "somebody commits";

/// Explores until all states are seen, a property breaks, or about `most` states were generated.
pub fn explore<P: Protocol>(world: World<P>, most: usize, threads: usize) -> Answer {
    explore_while(world, most, threads, |_| true)
}

/// The same while `go_on` says so. It is called periodically with the number of different states so
/// far.
pub fn explore_while<P: Protocol>(
    world: World<P>,
    most: usize,
    threads: usize,
    go_on: impl Fn(usize) -> bool,
) -> Answer {
    let (asked, stopped) = (world.asked.properties(), Arc::clone(&world.stopped));
    let checker = world.checker().threads(threads.max(1)).target_state_count(most);
    let checker = checker.finish_when(HasDiscoveries::AnyFailures).spawn_bfs();
    let mut pause = Duration::from_micros(100);
    while !checker.is_done() {
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(100)); // do not delay a short exploration
        if !go_on(checker.unique_state_count()) {
            stopped.store(true, Ordering::Relaxed);
        }
    }
    let checker = checker.join();
    // The path to a state is found by its moves, which are there again.
    let stopped = stopped.swap(false, Ordering::Relaxed);
    let path = asked.iter().copied().find_map(|name| Some((name, checker.discovery(name)?)));
    let refused = path.as_ref().and_then(|(_, path)| path.last_state().history.refused.clone());
    let breach = path.map(|(name, path)| (name, path.into_actions()));
    Answer {
        states: checker.unique_state_count(),
        depth: checker.max_depth(),
        complete: breach.is_none() && checker.state_count() < most && !stopped,
        somebody_leads: checker.discovery(SOMEBODY_LEADS).is_some(),
        somebody_recovers: checker.discovery(SOMEBODY_RECOVERS).is_some(),
        somebody_commits: checker.discovery(SOMEBODY_COMMITS).is_some(),
        breach,
        refused,
    }
}

impl<P: Protocol> Model for World<P> {
    type State = State<P>;
    type Action = Move;

    fn init_states(&self) -> Vec<State<P>> {
        vec![self.start()]
    }

    fn actions(&self, state: &State<P>, actions: &mut Vec<Move>) {
        if !self.stopped.load(Ordering::Relaxed) {
            self.moves(state, actions);
        }
    }

    fn next_state(&self, state: &State<P>, chosen: Move) -> Option<State<P>> {
        self.after(state, chosen)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let somebody_leads = Property::sometimes(SOMEBODY_LEADS, |_, state: &State<P>| {
            state.leaders().next().is_some()
        });
        if self.asked == Asked::Candidate {
            let stands = |_: &Self, state: &State<P>| !state.everybody_follows();
            return vec![Property::always(SOMEBODY_STANDS, stands), somebody_leads];
        }
        let follows = Property::always(FollowsTheProof::NAME, |_, state: &State<P>| {
            state.history.refused.is_none()
        });
        let mut properties = vec![
            Property::always(NEVER_TWO, |_, state: &State<P>| state.leaders().count() <= 1),
            Property::always(SUPPORT_AT_MOST_ONE, |_, state: &State<P>| {
                let supports = state.supports();
                supports.windows(2).all(|pair| pair[0].0 != pair[1].0)
            }),
            Property::always(LEADER_SUPPORTS_ITSELF, |_, state: &State<P>| {
                let supports = state.supports();
                let itself = |leader: NodeId| supports.contains(&(leader, leader));
                state.leaders().all(itself)
            }),
            somebody_leads,
            Property::sometimes(SOMEBODY_RECOVERS, |world: &Self, state: &State<P>| {
                world.somebody_recovers(state)
            }),
            Property::sometimes(SOMEBODY_COMMITS, |_, state: &State<P>| state.somebody_commits()),
        ];
        properties.extend((self.asked == Asked::Proved).then_some(follows));
        properties
    }
}
