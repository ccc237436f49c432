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
//! | [`Election`], [`Guard`], [`Watch`], [`Snapshot`] | what an application holds |
//! | `member`, `life`, `program`, `resignation` | the event loop, the protocol in it, and its end |
//! | [`frame`], `socket`, `directory`, `resolver`, `randomness` | datagrams: sealing, sending, receiving, addresses of members |
//! | [`clock`], `state`, `recorder`, [`files`] | time, durable state, the trace, and files opened without waiting |
//! | `guardian` (a feature of that name), [`priority`] | a command that runs only while it is permitted |
//! | [`status`], `report`, `withdrawal` | what a member reports of itself |
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

mod bad_settings;
mod beacon;
mod builder;
pub mod clock;
pub mod control;
mod directory;
mod disputes;
pub mod files;
pub mod frame;
mod guard;
#[cfg(feature = "guardian")]
pub mod guardian;
mod handle;
mod life;
mod member;
mod peers;
pub mod priority;
mod program;
mod randomness;
mod recorder;
mod report;
mod resignation;
mod resolver;
mod setting;
mod settings;
mod shared;
mod snapshot;
mod socket;
mod state;
pub mod status;
mod wake_fd;
mod watch;
mod withdrawal;

pub use bad_settings::BadSettings;
pub use builder::{Builder, Prepared, Rule};
pub use frame::Keyring;
pub use guard::{Campaign, Guard, Lost};
pub use handle::{Election, Gone, NotNow};
pub use peers::{BadPeers, Peers};
pub use setting::{NamesSettings, Setting};
pub use snapshot::Snapshot;
pub use status::{Role, Status};
pub use wake_fd::WakeFd;
pub use watch::{Next, Watch};
