//! The checker: does a protocol keep its promise under faults?
//!
//! **What it is.** A promise is a list of [`invariants`], each a property of every moment of a run.
//! Random [schedules](swarm) of faults try to break them in a simulated world: safety all the time,
//! and liveness within κ after the last fault.
//!
//! **What it promises.** A schedule is a pure function of (seed, number): the two reproduce the
//! run. A violation is reported as the schedule with the least number, [shrunk](mod@shrink) to what
//! is needed to break the same invariant, and as a [`scenario`] that the simulator replays.
//!
//! **What it cannot do.** It finds only what its schedules reach. No finding is not a proof; the
//! counts say how much was tested.
//!
//! | module | what it holds |
//! |---|---|
//! | [`invariants`] | one property per file, and which promise has which |
//! | [`view`], [`nodes`], [`links`] | what an invariant sees |
//! | [`fault_kind`], [`fault_mix`], [`swarm`], [`schedule`] | schedules of faults, drawn from a seed |
//! | [`vary`] | schedules that draw parameters of the protocol, too |
//! | [`judge`], [`fuzz`], [`tally`] | one run, many runs, and counts of what was tested |
//! | [`mod@shrink`], [`scenario`] | a minimal schedule that breaks an invariant, as a file |
//! | [`live`], [`replay`] | live traces, checked by the same invariants and replayed |
//! | [`account`] | who led when and why no longer, for operators |
//! | [`explore`] | every behaviour of a group of two or three |
//! | `validation` | whether every step of a lease protocol is an action of the proved model |
//!
//! ```
//! use bellwether_check::{Fuzz, Trial};
//! use bellwether_core::Duration;
//! use bellwether_protocols::announce_listen::{Config, Params, Variant};
//! use bellwether_protocols::choice::{Choice, Promise};
//!
//! let listen = Duration::from_secs(3);
//! let config = Config { listen, ..Config::new(Variant::LeS) };
//! let choice = Choice::from(Params::try_from(config)?);
//! let broken = |promise| {
//!     let trial = Trial::new(&choice, 5, promise, 1);
//!     let fuzz = Fuzz { trial: &trial, numbers: 0..50, threads: 1, progress: &|| () };
//!     fuzz.run_choice(choice.clone()).map(|report| report.violation)
//! };
//! assert_eq!(broken(None)?, None, "it keeps its own promise");
//! assert!(broken(Some(Promise::NeverTwo))?.is_some(), "two lead until they have met");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod account;
pub mod explore;
pub mod fault_kind;
pub mod fault_mix;
pub mod fuzz;
pub mod invariants;
pub mod judge;
pub mod links;
pub mod live;
pub mod nodes;
pub mod replay;
pub mod scenario;
pub mod schedule;
pub mod shrink;
pub mod swarm;
pub mod tally;
mod validation;
pub mod vary;
pub mod view;
mod watch;

pub use fault_kind::{FaultKind, FaultKinds};
pub use fault_mix::{FaultMix, FinalLinks};
pub use fuzz::{Fuzz, NoThreads, Report, Violation};
pub use invariants::BrokenInvariant;
pub use judge::{
    BadTrial, GiveUp, Judge, Judged, Trial, Verdict, judge_plan, judge_plan_by, judge_plan_until,
};
pub use nodes::Nodes;
pub use schedule::Schedule;
pub use shrink::shrink;
pub use tally::Tally;
pub use vary::Varied;
