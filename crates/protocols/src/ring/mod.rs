//! Elections on a ring: each process sends to the next that is up, and the greatest leads.
//!
//! The ring is the order of `cx.peers()`, the same for all. Those that are known to be down are
//! skipped: the ring is an order, not a wire. Greater means: would lead rather than has retired,
//! then the greater id. All promise *eventually one*, under what their modules assume.
//!
//! | protocol | what it does | messages among n, one initiator | all initiate | module |
//! |---|---|---|---|---|
//! | `ring` | collects everyone, the initiator picks the greatest | 2n | 2n² | [`collecting`] |
//! | `merea` | the same, and the oldest election stops the others | 2n | 3n−1 to n(n−1)/2 + 2n, n·H_n + n on average | [`merea`] |
//! | `chang-roberts` | the message of a lesser process is stopped by a greater | 2n to 3n−1 | 3n−1 to n(n+1)/2 + n, n·H_n + n on average | [`chang_roberts`] |
//! | `hirschberg-sinclair` | candidates look both ways, twice as far in every phase | at most 8n(1 + ⌈log2 n⌉) + n | the same | [`hirschberg_sinclair`] |
//!
//! The n messages of the announcement are counted. A process keeps a fixed number of words and who
//! is down, whatever the protocol; the messages of `ring` and `merea` carry up to n ids, those of
//! the others a fixed number of words.
//!
//! `ring` and `merea` are one state machine, and so are the two [searches](extrema): what differs
//! is in the module of each.

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

pub use chang_roberts::ChangRoberts;
pub use collecting::Collecting;
pub use hirschberg_sinclair::HirschbergSinclair;
pub use key::Key;
pub use message::{Call, Message};
pub use params::{BadConfig, Config, Params, Variant};
