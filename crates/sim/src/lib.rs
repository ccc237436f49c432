//! The world in which protocols are simulated: deterministic, complete, and fast.
pub mod clock;
pub mod coin;
pub mod diagram;
mod experiment;
pub mod fault;
mod lazy;
pub mod network;
mod observer;
mod plan;
mod queue;
mod scenario_file;
mod sieve;
pub mod stats;
pub mod trace;
mod world;

pub use coin::Coins;
pub use experiment::{Answer, BadExperiment, Churn, Engine, Experiment, Measure, Scenario};
pub use fault::{Disk, Fault, Timed, Who};
pub use network::Network;
pub use observer::{Cause, Observer, Tracer, id};
pub use plan::{BadPlan, NODES_MAX, Plan, Ranks};
pub use scenario_file::{BadScenario, ScenarioFile};
pub use world::{Outcome, World};
