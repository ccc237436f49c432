//! Leader election among processes that share nothing but a network.
//!
//! [`Election`] makes this process a member of a group of which at most one leads at a time, with
//! nothing to run beside it:
//!
//! ```no_run
//! use bellwether::{Election, Keyring, Peers};
//!
//! let peers: Peers = "1=10.0.0.1:7400,2=10.0.0.2:7400,3=10.0.0.3:7400".parse()?;
//! let keyring = Keyring::read("/etc/bellwether.key".as_ref())?;
//! let election = Election::builder("billing").peers(peers).keyring(keyring).join()?;
//!
//! // Blocks; `election.campaign().await` is the same for async code, with any executor.
//! let guard = election.wait(None)?.expect("without a limit it waits until it leads");
//! while guard.still_leading() {
//!     // what only one process may do, in pieces shorter than guard.remaining()
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The protocols behind it are plain state machines, and the same ones are simulated and judged
//! here:
//!
//! | what | where |
//! |---|---|
//! | the runtime: sockets, the machine's clock, sealed datagrams | [`net`] |
//! | the contract between a protocol and whatever drives it | [`core`] |
//! | the protocols | [`protocols`] |
//! | the simulator: faults, traces, experiments | `sim`, a feature |
//! | the mathematics: closed forms, printed and corrected, and the papers' figures | `analysis`, a feature |
//! | the judge: promises as invariants, random faults that try to break them | `check`, a feature |
//! | the laboratory: all of it in a browser | `lab`, a feature |
//!
//! ```
//! use bellwether::protocols::announce_listen::{Config, Params, Variant};
//! use bellwether::sim::network::{Delay, Loss, Network};
//! use bellwether::sim::{Initiation, Engine, Experiment, Measure, Ranks, Scenario};
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
//!     initiation: Initiation::default(),
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

#[cfg(feature = "analysis")]
pub use bellwether_analysis as analysis;
#[cfg(feature = "check")]
pub use bellwether_check as check;
pub use bellwether_core as core;
#[cfg(feature = "lab")]
pub use bellwether_lab as lab;
pub use bellwether_net as net;
pub use bellwether_protocols as protocols;
#[cfg(feature = "sim")]
pub use bellwether_sim as sim;

#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;

// The command line names the library as its other users do.
#[cfg(feature = "cli")]
extern crate self as bellwether;

pub use bellwether_net::{Election, Guard, Keyring, Peers, Role, Snapshot, Watch};

/// The code in README.md, as it stands there.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
