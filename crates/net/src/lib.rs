//! The runtime: live leader election between processes that share only a network.
//!
//! **What it is.** The only crate with sockets and the machine's clock. One thread per member owns
//! both, and runs the protocol behind the same [`Endpoint`](bellwether_core::Endpoint) that is
//! replayed and checked. The application holds an [`Election`].
//!
//! **Assumptions.** Clocks drift by at most what the protocol's parameters say; they are compared
//! with each other to notice more. Everybody who has a key of the group is trusted. The network may
//! lose, duplicate, reorder, delay and forge packets.
//!
//! **Promise.** The protocol's own. Leadership ends by the clock: every answer about it uses the
//! time of the question.
//!
//! | module | what it holds |
//! |---|---|
//! | [`Builder`], [`Peers`] | a member's settings, and the rules they must keep |
//! | [`Election`], [`Guard`], [`Watch`], [`Snapshot`], [`VoterChange`] | what an application holds |
//! | `member`, `outbox`, `waiting`, `scheduling`, `life`, `program`, `resignation` | the event loop, the protocol in it, and its end |
//! | [`frame`], `socket`, `multicast`, `directory`, `resolver`, `randomness` | datagrams: sealing, sending, receiving, addresses of members |
//! | [`clock`], `state`, `recorder`, [`Past`], [`files`] | time, durable state, the trace, the recent past in memory, and files opened without waiting |
//! | `guardian` (a feature of that name), [`priority`], [`memory`], `lateness` | a command that runs only while it is permitted; the means to be in time |
//! | [`secrecy`] | no core dumps of a process that has keys |
//! | [`LastWill`], `entrusting` | what the guardian sends for a member that was killed |
//! | [`status`], `report`, `withdrawal` | what a member reports of itself |
//! | `asking`, `joins`, `book` | members that join while the group runs |
//! | [`keys`] | which keys the members of a running group have, and how these change |
//! | `beacon`, `disputes` | beacons: which frames members reject, and why |
//! | [`control`] | the control socket, for other processes of the same user |
//!
//! ```
//! use bellwether_net::{Election, Peers};
//!
//! // A group of one member, so that the example runs alone.
//! let peers: Peers = "1=127.77.0.1:7400".parse()?;
//! let election = Election::builder("example").peers(peers).insecure().join()?;
//!
//! let guard = election.wait(None)?.expect("there is no limit to its patience");
//! assert!(guard.still_leading() && election.leadership().leads());
//! drop(guard); // resigns
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// The election's thread never logs: a reader that does not read would hold up the lease. What there
// is to say goes to the application, by `status`, `Watch` and `Past`.
#![deny(clippy::print_stderr, clippy::print_stdout)]

#[cfg(feature = "guardian")]
pub mod address;
mod asking;
mod bad_settings;
mod beacon;
mod book;
mod builder;
pub mod clock;
pub mod control;
mod delays;
mod directory;
mod disputes;
mod entrusting;
pub mod files;
pub mod frame;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod guard;
#[cfg(feature = "guardian")]
pub mod guardian;
mod handle;
mod joins;
pub mod keys;
mod last_will;
mod lateness;
#[cfg(feature = "guardian")]
pub mod leader_file;
mod life;
mod member;
pub mod memory;
mod multicast;
mod outbox;
mod partition;
mod past;
mod peers;
pub mod priority;
#[cfg(feature = "guardian")]
pub mod privileges;
mod program;
mod randomness;
mod recorder;
mod report;
mod request;
mod resignation;
mod resolver;
mod scheduling;
pub mod secrecy;
mod setting;
mod settings;
mod shared;
mod snapshot;
mod socket;
mod state;
pub mod status;
#[cfg(test)]
mod steady;
mod voter_change;
mod waiting;
mod wake_fd;
mod watch;
mod withdrawal;

pub use bad_settings::BadSettings;
pub use book::JoinRefused;
pub use builder::{Builder, FoundingVoters, Prepared, Rule};
pub use delays::{Lengths, Measured};
pub use frame::Keyring;
pub use guard::{Campaign, Guard, Lost};
pub use handle::{Election, Gone, NotNow};
pub use last_will::LastWill;
pub use partition::Partition;
pub use past::{BYTES as PAST_BYTES, Past};
pub use peers::{BadPeers, Peers};
pub use program::BadProgram;
pub use setting::{NamesSettings, Setting};
pub use snapshot::Snapshot;
pub use status::{Role, Status};
pub use voter_change::VoterChange;
pub use wake_fd::WakeFd;
pub use watch::{Next, Watch};
