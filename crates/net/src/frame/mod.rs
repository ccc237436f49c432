//! Frames: what a datagram between members looks like, and which ones are listened to.
//!
//! **What it is.** Pure code around one cipher: a [`Sealer`] turns a body into a datagram, a
//! [`Gate`] turns a datagram into a body or into one [`Refusal`]. No socket, no clock; the only
//! file is the one with the keys ([`Keyring::read`]).
//!
//! **Assumptions.** Whoever has a key of the group is trusted. Everybody else may read, keep,
//! drop, delay, repeat and invent datagrams. A member's incarnation grows from life to life.
//!
//! **Promise.** What passes was sealed by a member of this group, with this version, charter and
//! key, for exactly this header and body, and passes once. What does not pass is dropped with
//! exactly one reason, no reply and no panic, and changes nothing that decides what passes later.
//!
//! # A frame
//!
//! A header in the clear, the sealed body, a tag over both: XChaCha20-Poly1305 under a key that
//! is derived from a secret and the group's name. The nonce is the [`Session`], random for each
//! life, and the sequence number, so none is used twice and nothing has to survive a crash for
//! that. A frame has at most [`FRAME_MAX`] bytes: it crosses every IPv6 link in one piece. A
//! longer message is refused where it is sent ([`TooLong`]).
//!
//! # The order of the checks, and why
//!
//! 1. *Without a key*: `Short`, `Long`, `Magic`, `Version`, `Group`, `Key`. Cheap, and in the
//!    order in which the answer needs to know the layout. Anybody can cause these.
//! 2. *The seal*: `Forged`. Whatever is said below is said of an authentic frame.
//! 3. *Ourselves*: `Kind`, `Own`, and under our own id `FormerLife` or `OwnId`.
//! 4. *Replays*: `FormerLife`, `IdTwice`, `Replayed`, before anything that a member acts on: a
//!    frame that somebody kept must not give a reason a second time. Looked up, not written yet.
//! 5. *The charter*: `List`, then `Terms`. Before the sender is looked up: one that is not in our
//!    list may be in a list that also has us, and lead by it.
//! 6. *The caller's word*: `Stranger`, `Address`.
//! 7. Only now the window moves, and the body is the caller's.
//!
//! # What a replay can do
//!
//! A member may act on `OwnId`, `List` and `Terms`, by withdrawing for example. Somebody who kept
//! frames of a former configuration of the group could try to cause these. So:
//!
//! - A sender that was heard in a later life makes all its former frames `FormerLife`. So does
//!   our own incarnation for frames under our own id.
//! - Frames that did give such a reason have windows of their own: each gives it once.
//!
//! What remains: a gate has no memory of the time before its start. Until it has heard a
//! sender's present life, each kept frame of a former life is new to it, once, in rising order:
//! one with the same charter passes, one with another charter gives `List` or `Terms`. So a
//! member should withdraw for a while and not for ever, and what a message says must not be
//! believed without a sign that it is fresh (the lease protocols bound each message's age by the
//! stamps it echoes). A new key whenever the list or the terms change ends it: kept frames are
//! then `Key`. A member whose incarnation falls back because its state was lost is `FormerLife`
//! to all who heard it before.

mod charter;
mod gate;
mod header;
mod key;
mod key_file;
mod keyring;
mod refusal;
mod replay;
mod sealer;

pub use charter::Charter;
pub use gate::{Gate, Opened};
pub use header::{Kind, Session};
pub use key_file::{BadKeyFile, Fault, KEY_FILE_MAX};
pub use keyring::{BadKeys, Keyring};
pub use refusal::{Counters, Refusal};
pub use replay::WIDTH;
pub use sealer::{Sealer, TooLong};

/// The most bytes of a frame: what the smallest MTU of IPv6 (1280) leaves after its header (40)
/// and that of UDP (8).
pub const FRAME_MAX: usize = 1280 - 40 - 8;

/// The bytes of the header.
const HEADER: usize = 64;

/// The bytes of the tag.
const TAG: usize = 16;

/// The most bytes of a body.
pub const BODY_MAX: usize = FRAME_MAX - HEADER - TAG;

/// How many senders a gate remembers. In a group without a list that has more, those that were
/// silent longest are forgotten, and what they said could be repeated.
pub const SENDERS_MAX: usize = 4096;
