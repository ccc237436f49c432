//! The runtime: leadership for real, between processes that share nothing but a network.
//!
//! **What it is.** The only crate with sockets and the machine's clock. One thread per member owns
//! both and the protocol, behind the same [`Endpoint`](bellwether_core::Endpoint) that is replayed
//! and judged; the application holds an [`Election`].
//!
//! **Assumptions.** Clocks drift by at most what the protocol's parameters say (and are compared
//! with each other to notice when not); whoever has a key of the group is trusted. The network may
//! lose, double, reorder, delay and forge.
//!
//! **Promise.** The protocol's own, given to the application as something that ends: every answer
//! about leadership is made with the clock at the moment of the question.
//!
//! | module | what it holds |
//! |---|---|
//! | [`Builder`], [`Peers`] | a member as a person describes it, and the rules it must keep to |
//! | [`Election`], [`Guard`], [`Watch`], [`Standing`] | what an application holds |
//! | `member`, `life`, `program`, `parting` | the run loop, the protocol in it, and its end |
//! | [`frame`], `socket`, `directory`, `resolver`, `randomness` | datagrams: sealed, sent, received, from whom |
//! | [`clock`], `state`, `recorder`, [`files`] | time, memory, the trace, and files that nobody waits for |
//! | `guardian` (a feature of that name), [`priority`] | a command that runs only while its permission lasts |
//! | [`status`], `report`, `withdrawal` | what a member tells of itself |
//! | `beacon`, `disputes` | what members tell each other of whom they refuse |
//! | [`control`] | how a running member is asked, by other processes of its user |
//!
//! ```
//! use bellwether_net::{Election, Peers};
//!
//! // A group of one, so that the example needs nobody else.
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
mod parting;
mod peers;
pub mod priority;
mod program;
mod randomness;
mod recorder;
mod report;
mod resolver;
mod setting;
mod settings;
mod shared;
mod socket;
mod standing;
mod state;
pub mod status;
mod watch;
mod withdrawal;

pub use bad_settings::BadSettings;
pub use builder::{Builder, Prepared, Rule};
pub use frame::Keyring;
pub use guard::{Campaign, Guard, Lost};
pub use handle::{Election, Gone, NotNow};
pub use peers::{BadPeers, Peers};
pub use setting::{NamesSettings, Setting};
pub use standing::Standing;
pub use status::{Role, Status};
pub use watch::{Next, Watch};
