//! The algorithms: each a state machine under the contract of [`bellwether_core`], each judged by
//! exactly one promise.
//!
//! | protocol | promise | module |
//! |---|---|---|
//! | `local-leader` | *never two*; with leases of all it can reach, *one per partition* | [`local_leader`] |
//! | `le-a` `le-s` `le-m` `query` `suppress-query` `al` `sup-al-spread` | *eventually one* | [`announce_listen`] |
//! | `bully` | *eventually one* | [`bully`] |
//! | `ring` `chang-roberts` `merea` `hirschberg-sinclair` | *eventually one* | [`ring`] |
//! | `ad-hoc` | *eventually one* in each component of a network that moves | [`ad_hoc`] |
//! | `probabilistic` | *probably one* | [`probabilistic`] |
//! | `sup` `sup-al-limit` | elects nobody: a building block | [`announce_listen`] |
//! | `sup-al-elect` | none: it can deadlock, which a scenario shows | [`announce_listen`] |
//!
//! Promises, from strong to weak: *never two* (at no moment do two processes lead), *one per
//! partition*, *eventually one* (once faults stop, all name the same live leader), *probably one*.
//!
//! [`detect`] is a layer: it tells protocols that assume so who can be reached.
//!
//! Adding a protocol is one directory, a line here for the module and a row above, and a line in
//! [`choice`]; CONTRIBUTING.md has the whole list.

#![no_std]

extern crate alloc;

#[cfg(all(feature = "mutants", not(debug_assertions)))]
compile_error!(
    "the feature `mutants` takes away rules that safety rests on: it is for tests alone, in a \
     build with debug assertions; leave it out of a release build"
);

pub mod ad_hoc;
mod alarm;
pub mod announce_listen;
pub mod answers;
pub mod bully;
pub mod choice;
pub mod detect;
pub mod local_leader;
pub mod named;
pub mod on_demand;
pub mod param;
pub mod probabilistic;
pub mod profile;
pub mod promise;
pub mod purpose;
pub mod ring;
pub mod simulated;
pub mod surroundings;
#[cfg(test)]
mod testing;
pub mod time_scales;
mod written;
