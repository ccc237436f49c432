//! A simulator for the protocols: deterministic, complete and fast.
//!
//! **What it is.** It runs the real state machines, unchanged, in a world whose time, network,
//! clocks and faults are values. A [`Plan`] and a [seed and run number](RunSeed) determine
//! everything that happens: the same inputs give the same trace, byte for byte, on any number of
//! threads.
//!
//! **What it refuses to do.** It reads no clock, file or environment variable and keeps no global
//! state. Threads exist only to run independent runs side by side.
//!
//! **What the caller owes it.**
//!
//! 1. A valid plan: [`Plan::check`] says what is wrong with one.
//! 2. An [`Observer`] that is [done](Observer::done) at some point, or a plan with a horizon: some
//!    protocols announce for ever.
//! 3. Valid parameters; their types guarantee this.
//!
//! | module | what it holds |
//! |---|---|
//! | [`coin`] | random draws as a function of sender, number and receiver |
//! | [`network`] | delays, losses, links |
//! | [`graph`], [`motion`] | networks for elections, and networks that move |
//! | [`fault`], [`clock`] | faults, and what a process's clock reads |
//! | `world`, `queue`, `multicast_filter` | the event engine |
//! | `lazy` | the same elections, from only the draws that decide them |
//! | `experiment`, [`stats`], [`survival`] | many runs and their statistics |
//! | `scenario_file` | one run, written in a file |
//! | `ineffective_fault` | faults that can have no effect |
//! | [`trace`], [`diagram`] | a run as text and as a picture |
//! | [`ending`] | what a run came to |
//!
//! ```
//! use bellwether_core::{Duration, NodeId};
//! use bellwether_protocols::announce_listen::{AnnounceListen, Config, Variant};
//! use bellwether_sim::{RunSeed, Plan, Tracer, World, trace};
//!
//! let params = Config::new(Variant::LeS).try_into()?;
//! let mut plan = Plan::new(3);
//! plan.horizon = Duration::from_secs(3);
//! let mut world = World::<AnnounceListen>::new(params);
//! let mut tracer = Tracer::default();
//! world.run(&plan, RunSeed::new(1, 0), &mut tracer);
//! println!("{}", trace::transcript(&tracer.records));
//! let follower = world.node(0).expect("nobody crashed");
//! assert!(follower.leadership(world.clock(0)).names(NodeId(2)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod clock;
pub mod coin;
pub mod diagram;
pub mod ending;
mod experiment;
pub mod fault;
pub mod graph;
mod ineffective_fault;
mod lazy;
pub mod motion;
mod multicast_filter;
pub mod network;
mod observer;
mod order;
mod plan;
pub mod proportion;
pub mod quantile;
mod queue;
mod scenario_file;
pub mod stats;
pub mod survival;
pub mod terrain;
pub mod trace;
mod world;

pub use coin::{RunSeed, StreamPurpose};
pub use experiment::{
    Answer, BadExperiment, Churn, Control, Cut, Engine, Experiment, Initiation, Initiators,
    Measure, Part, Run, RunsMade, Samples, Scenario, ScenarioKind, Wandering, Wanderings,
};
pub use experiment::{part, rare};
pub use fault::{Disk, Fault, Renumbered, Timed, Who};
pub use ineffective_fault::IneffectiveFault;
pub use network::Network;
pub use observer::{Cause, Observer, Reader, Tracer, id};
pub use order::Order;
pub use plan::{BadPlan, NODES_MAX, Plan, Ranks};
pub use proportion::Proportion;
pub use quantile::Quantile;
pub use scenario_file::{
    BadScenario, Caption, Place, Problem, ScenarioFile, StatedOutcome, Unwritable,
};
pub use terrain::{Graph, Terrain};
pub use world::{Outcome, Scene, World};
