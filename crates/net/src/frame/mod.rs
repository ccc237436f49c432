//! Frames: what a datagram between members looks like, and which ones are listened to.
//!
//! **What it is.** Pure code around one cipher: a [`Sealer`] turns a body into a datagram, a
//! [`Gate`] turns a datagram into a body or into one [`Refusal`]. No socket, no clock; the only
//! file is the one with the keys ([`Keyring::read`]).
//!
//! **Assumptions.** Whoever has a key of the group is trusted. Everybody else may read, keep,
//! drop, delay, repeat and invent datagrams, under any address. A member's incarnation grows from
//! life to life, and is at most a century beyond the wall clock of who hears it. The kernel's
//! randomness is not that of another machine.
//!
//! **Promise.** What passes was sealed by a member of this group, with this version, charter and
//! key, for exactly this header and body, for this receiver or for everyone, and passes once. What
//! does not pass is dropped with exactly one reason, no reply and no panic, and changes nothing
//! that decides what passes later.
//!
//! # A frame
//!
//! A header in the clear, the sealed body, a tag over both: XChaCha20-Poly1305 under a key that
//! is derived from a secret and the group's name. The nonce is drawn for each frame, but for its
//! last third, which is the sequence number: so nothing that is remembered or forgotten, not even
//! a machine that goes on from a copy of itself, makes a nonce come again. (A copy whose kernel
//! draws the same randomness as the original would. Kernels draw anew when the hypervisor tells
//! them, by VMGENID, that they were copied; where it does not tell, give the group another key
//! after a machine was restored from a snapshot.) A frame has at most [`FRAME_MAX`] bytes: it
//! crosses every IPv6 link in one piece. A longer message is refused where it is sent
//! ([`NotSealed`]).
//!
//! A frame names its receiver. Somebody without a key who hears what 1 says to 2 cannot give it to
//! 3. What is for everyone names nobody, is sealed once and sent to each: to give it to a member
//! that it did not reach is what the network was asked to do, and no later than its message may be
//! believed.
//!
//! # The order of the checks, and why
//!
//! 1. *Without a key*: `Short`, `Long`, `Magic`, `Version`, `Group`, `Key`. Cheap, and in the
//!    order in which the answer needs to know the layout.
//! 2. *The header, unopened*, cheapest first: is it for us (`Receiver`), is it ours (`Own`), under
//!    our own id `FormerLife`, `FutureLife` or `OwnId`, was it here before (`FormerLife`,
//!    `IdTwice`, `Replayed`), can this life have begun (`FutureLife`), has it our charter (`List`,
//!    `Terms`), and the caller's word (`Stranger`, `Address`, `Elsewhere`, `Moved`). The charter
//!    comes before the caller's word: a sender that is not in our list may be in a list that also
//!    has us, and lead by it. Replays come before the charter: a frame that somebody kept must not
//!    give a reason a second time.
//! 3. *The seal*: `Forged`, then `Kind`. Whatever the member acts on is said of an authentic frame.
//! 4. Only now the window moves, and the body is the caller's.
//!
//! Anybody can write a header, so the second step decides nothing but to drop: it reads the
//! windows and moves none, and a frame that it lets through must still be authentic. A frame that
//! it condemns is dropped unopened, which makes a flood of replays cheap. There are two
//! exceptions. A member acts on `OwnId`, `List`, `Terms` and `Elsewhere`, so such a frame is always
//! opened, once: [`Denied`] says that it is authentic. And a member that is refused should hear of
//! it: so up to [`Gate::SPARE`] frames are opened between two calls of [`Gate::refresh`] of those
//! that are `FormerLife`, `IdTwice`, `FutureLife`, `Stranger` or `Address`. A flood can use these
//! up; then nobody is told, which is all.
//!
//! There is no such budget for frames whose header looks right and whose seal does not: addresses
//! can be forged, so whoever sends rubbish under the address of a member would use up the share of
//! that member, and silence it with a few hundred datagrams a second. To open and refuse one costs
//! a few microseconds.
//!
//! # What a replay can do
//!
//! A member may act on `OwnId`, `List`, `Terms` and `Elsewhere`, by withdrawing for example.
//! Somebody who kept frames of a former configuration of the group could try to cause these. So:
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
//!
//! # Lives that cannot have begun
//!
//! Lives are numbered by the wall clock. One that is heard with the largest number there is would
//! make all that come after it `FormerLife`, for good. So a life that is more than a century
//! beyond the wall clock ([`latest_life`]) is `FutureLife` and leaves no trace. The limit is wide,
//! since a clock may be wrong: one that was never set counts from this program's own time. And it
//! is enough, since it moves on: whoever is `FormerLife` because of a life before the limit begins
//! again with a number after that one, as soon as it hears what others know of it.

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
pub use gate::{Denied, Gate, Opened};
pub use header::{Kind, Session};
pub use key_file::{BadKeyFile, Fault, KEY_FILE_MAX};
pub use keyring::{BadKeys, Keyring};
pub use refusal::{Counters, Refusal};
pub use replay::WIDTH;
pub use sealer::{NotSealed, Sealer};

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

/// The latest life that can have begun when the wall clock shows this, in nanoseconds since 1970.
pub fn latest_life(wall: u64) -> u64 {
    wall.max(WRITTEN).saturating_add(CENTURY)
}

/// How many senders a gate remembers. In a group without a list that has more, those that were
/// silent longest are forgotten, and what they said could be repeated.
pub const SENDERS_MAX: usize = 4096;
