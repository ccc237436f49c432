//! Frames: the format of a datagram between members, and the checks that accept or drop it.
//!
//! **What it is.** Pure code around one cipher: a [`Sealer`] turns a body into a datagram, a
//! [`FrameOpener`] turns a datagram into a body or into one [`DropReason`]. No socket, no clock;
//! the only file is the one with the keys ([`Keyring::read`]).
//!
//! **Assumptions.** Everybody who has a key of the group is trusted. Everybody else may read, keep,
//! drop, delay, replay and invent datagrams, from any address. A member's incarnations increase,
//! and are at most a century beyond the wall clock of a receiver. Two machines do not draw the same
//! random bytes.
//!
//! **Promise.** An accepted frame was sealed by a member of this group, with this version, config
//! digest and key, for exactly this header and body, for this receiver or for everyone, and is
//! accepted once. Any other frame is dropped with exactly one reason, no reply and no panic, and
//! changes nothing that decides what is accepted later.
//!
//! # A frame
//!
//! A plain header, the sealed body, a tag over both: XChaCha20-Poly1305 with a key derived from a
//! secret and the group's name. Two thirds of the nonce are random for each frame; the rest is the
//! sequence number. So no stored or lost state repeats a nonce, not even a copied machine. (A copy
//! whose kernel draws the same random bytes as the original would. Kernels reseed when the
//! hypervisor tells them, by VMGENID, that they were copied; where it does not, give the group
//! another key after a machine was restored from a snapshot.) A frame has at most [`FRAME_MAX`]
//! bytes, so it crosses every IPv6 link unfragmented. The sender refuses a longer message
//! ([`NotSealed`]).
//!
//! A frame names its receiver, so an attacker without a key cannot redirect to member 3 what 1
//! sends to 2. A frame for everyone names no receiver, is sealed once and sent to each member, or
//! once to a multicast address (`multicast.rs`): by which of the two it came makes no difference to
//! any check, and a second copy is `Replayed`. Delivering it later to a member that it did not
//! reach does no harm: the protocol bounds how old a message may be.
//!
//! # The order of the checks, and why
//!
//! 1. *Without a key*: `Short`, `Long`, `Magic`, `Version`, `Group`, `Key`. Cheap, and in the order
//!    of the layout.
//! 2. *The header, unopened*, cheapest first: is it for us (`Receiver`), is it ours (`Own`), under
//!    our own id `FormerLife`, `FutureLife` or `OwnId`, was it received before (`FormerLife`,
//!    `IdTwice`, `Replayed`, `WillCopy`), can this incarnation have begun (`FutureLife`), does it
//!    have our config digest (`List`, `Terms`), and the caller's checks (`Stranger`, `Address`,
//!    `Elsewhere`, `Moved`). The digest comes before the caller's checks: a sender that is not in
//!    our list may be in another list that has us too, and lead by it. Replays come before the
//!    digest: a replayed frame must not give a reason a second time.
//! 3. *The seal*: `Forged`, then `Kind`. A member reacts only to authentic frames.
//! 4. Only now the window moves, and the caller gets the body.
//!
//! Anybody can write a header, so the second step only drops: it reads the windows and moves none,
//! and a frame that it accepts must still be authentic. A frame that it drops is not opened, so a
//! flood of replays is cheap. There are two exceptions. A member reacts to `OwnId`, `List`, `Terms`
//! and `Elsewhere`, so such a frame is always opened, once: [`DroppedFrame`] says whether it is
//! authentic. And a member should learn that its frames are dropped: so up to
//! [`FrameOpener::SPARE`] frames that are `FormerLife`, `IdTwice`, `FutureLife`, `Stranger` or
//! `Address` are opened between two calls of [`FrameOpener::refresh`]. A flood can use these up;
//! then no sender is told, and nothing else happens.
//!
//! A frame of the kind `Join` is of a process that is not a member yet, and knows neither the list
//! nor the terms. It must be authentic, new, and for us; the other checks of the second step do not
//! apply. Its windows are its own, so it decides nothing about what members are accepted for.
//!
//! There is no such budget for frames with a good header and a bad seal. Addresses can be forged,
//! so an attacker who sends garbage from a member's address would use up the budget of that member,
//! and silence it with a few hundred datagrams per second. Opening and dropping one costs a few
//! microseconds.
//!
//! # The last frame of an incarnation
//!
//! A member seals one frame in advance, with the last sequence number there is ([`LAST`]): its last
//! will, which its guardian sends when the member is dead (`guardian/will.rs`). It closes the
//! window: every other frame of that incarnation is `Replayed` from then on, also one that was
//! under way and never received. The will itself is sent several times: its copies are `WillCopy`.
//!
//! # What a replay can do
//!
//! A member reacts to `OwnId`, `List`, `Terms` and `Elsewhere`, for example by withdrawing. An
//! attacker who kept frames of a former configuration of the group could try to cause these. So:
//!
//! - Once a sender was heard in a later incarnation, all its earlier frames are `FormerLife`. So
//!   are frames under our own id from before our incarnation.
//! - Frames dropped for such a reason have windows of their own: each gives it once.
//!
//! What remains: the windows start empty. Until a receiver has heard a sender's current
//! incarnation, each replayed frame of an earlier one is new to it, once, in rising order: one with
//! the same config digest is accepted, one with another digest gives `List` or `Terms`. So a member
//! should withdraw for a while and not for ever, and must not trust a message without a proof that
//! it is fresh (the lease protocols bound each message's age by the stamps it echoes). A new key
//! whenever the list or the terms change prevents this: replayed frames are then `Key`. A member
//! whose incarnation decreases because its state was lost is `FormerLife` to all that heard it
//! before.
//!
//! # Incarnations that cannot have begun
//!
//! Incarnations are numbered by the wall clock. One with the largest possible number would make all
//! later ones `FormerLife`, for good. So an incarnation more than a century beyond the wall clock
//! ([`latest_life`]) is `FutureLife` and changes nothing. The limit is wide, because a clock may be
//! wrong: one that was never set counts from the year of this program. The limit suffices, because
//! it moves on: a member that is `FormerLife` because of an incarnation before the limit begins
//! again with a larger number, as soon as it hears what others know of it.
//!
//! The same limit holds for the terms, versions and incarnations within a message: one beyond it is
//! `FutureTerm`, and the message is not heard. So nobody, not even a member, uses up the terms.

mod config_digest;
mod drop_reason;
mod header;
mod key;
mod key_file;
mod keyring;
mod opener;
mod replay;
mod sealer;

pub use config_digest::ConfigDigest;
pub use drop_reason::{Counters, DropReason};
pub use header::{Kind, Session};
pub use key_file::{BadKeyFile, Fault, KEY_FILE_MAX, read_secret};
pub use keyring::{BadKeys, Keyring};
pub use opener::{DroppedFrame, FrameOpener, Opened};
pub use replay::WIDTH;
pub use sealer::{NotSealed, Sealer};

/// The sequence number of the last frame of an incarnation: no frame of it is accepted afterwards.
pub const LAST: u64 = bellwether_core::LAST_NUMBER;

/// The most bytes of a frame: what the smallest MTU of IPv6 (1280) leaves after its header (40)
/// and that of UDP (8).
pub const FRAME_MAX: usize = 1280 - 40 - 8;

/// The bytes of the header.
const HEADER: usize = 80;

/// The bytes of the tag.
const TAG: usize = 16;

/// The most bytes of a body.
pub const BODY_MAX: usize = FRAME_MAX - HEADER - TAG;

/// A century, in nanoseconds.
const CENTURY: u64 = 100 * 36_525 * 864_000_000_000;

/// The first of January 2026, in nanoseconds: a wall clock that shows less is not set.
const WRITTEN: u64 = 1_767_225_600_000_000_000;

/// The latest incarnation that can have begun when the wall clock shows this, in nanoseconds since
/// 1970.
pub fn latest_life(wall: u64) -> u64 {
    wall.max(WRITTEN).saturating_add(CENTURY)
}

/// How many senders have replay windows. In a larger group without a list, those silent for longest
/// are forgotten, and their frames could be replayed.
pub const SENDERS_MAX: usize = 4096;
