//! Elections on a ring: each process sends to the next one that is up, and the greatest leads.
//!
//! The ring is the order of `cx.peers()`, the same for all. Processes known to be down are skipped,
//! because a process can send to any other. A process is greater if it is willing to lead and the
//! other has retired, or else if its id is greater. All protocols promise *eventually one*, under
//! the assumptions of their modules.
//!
//! | protocol | what it does | messages among n, one initiator | all initiate | module |
//! |---|---|---|---|---|
//! | `ring` | collects everyone, the initiator picks the greatest | 2n | 2n² | [`collecting`] |
//! | `merea` | the same, and the oldest election stops the others | 2n | 3n−1 to n(n−1)/2 + 2n, n·H_n + n on average | [`merea`] |
//! | `chang-roberts` | a greater process stops the message of a lesser one | 2n to 3n−1 | 3n−1 to n(n+1)/2 + n, n·H_n + n on average | [`chang_roberts`] |
//! | `hirschberg-sinclair` | candidates look both ways, twice as far in every phase | at most 8n(1 + ⌈log2 n⌉) + n | the same | [`hirschberg_sinclair`] |
//!
//! The n messages of the announcement are counted. In all of them a process stores a fixed number
//! of words and the processes that are down. The messages of `ring` and `merea` carry up to n ids,
//! those of the others a fixed number of words.
//!
//! `ring` and `merea` are one state machine, and so are the two [searches](extrema). The module of
//! each holds what differs.

pub mod chang_roberts;
mod circle;
pub mod collecting;
pub mod extrema;
pub mod hirschberg_sinclair;
mod key;
pub mod merea;
mod message;
mod params;
mod row;
mod table;
mod timer;

pub use chang_roberts::ChangRoberts;
pub use collecting::Collecting;
pub use hirschberg_sinclair::HirschbergSinclair;
pub use key::Key;
pub use message::{Call, Message};
pub use params::{BadConfig, Params, Variant};
pub use table::Config;
pub use timer::Timer;
