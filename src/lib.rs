//! Leader election among processes that share nothing but a network: protocols as plain state
//! machines, and a world to simulate them in.
//!
//! | what | where |
//! |---|---|
//! | the contract between a protocol and whatever drives it | [`core`] |
//! | the protocols | [`protocols`] |
//! | the simulator: faults, traces, experiments | [`sim`] |
//! | the judge: promises as invariants, random faults that try to break them | [`check`] |
//!
//! ```
//! use bellwether::protocols::announce_listen::{Config, Params, Variant};
//! use bellwether::sim::network::{Delay, Loss, Network};
//! use bellwether::sim::{Engine, Experiment, Measure, Ranks, Scenario};
//! use bellwether::core::Duration;
//!
//! let experiment = Experiment {
//!     choice: Params::try_from(Config::new(Variant::LeS))?.into(),
//!     nodes: 50,
//!     network: Network::uniform(
//!         Delay::Constant(Duration::from_millis(100)),
//!         Loss::Uncorrelated(0.4.try_into()?),
//!     ),
//!     ranks: Ranks::ById,
//!     drift: 0,
//!     scenario: Scenario::Start,
//!     window: Duration::from_secs(100),
//!     runs: 200,
//!     seed: 1,
//!     threads: 1,
//!     engine: Engine::Auto,
//! };
//! let answer = experiment.run(&|| ())?;
//! let delay = answer.measure(Measure::LeadershipDelay).expect("every run elects a leader");
//! assert!((4.0..6.0).contains(&delay.mean), "{delay:?}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use bellwether_check as check;
pub use bellwether_core as core;
pub use bellwether_protocols as protocols;
pub use bellwether_sim as sim;
