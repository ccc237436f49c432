//! The mathematics of leader election: closed forms, printed and corrected, and papers' figures.
//!
//! **What it is.** Every formula of the papers twice: as its authors printed it, and as it should
//! read. A [`Quantity`] is such a pair with a name, its section, and the simulation that decides
//! between the two. A [`Figure`](figures::Figure) draws quantities and simulations into one picture
//! and computes, claim by claim, whether the paper is right.
//!
//! **What it refuses to do.** No formula answers outside its domain: the answer there is an
//! [`OutOfDomain`], never a NaN. Nothing here reads a clock, file or environment variable.
//!
//! | module | what it holds |
//! |---|---|
//! | [`inputs`] | N, l, Δ and the timers, checked once for all formulas |
//! | [`mod@quantity`] | what can be computed, by name |
//! | [`announce_listen`] | the thesis chapter: one file per quantity, each `printed` and `corrected` |
//! | [`classic`] | bully, the rings, ad hoc: one file per protocol, each `printed` and `corrected` |
//! | [`connected_set`] | which processes of a connected set lead, by its graph |
//! | [`local_leader`] | leases: one file per bound, cost or time, likewise |
//! | [`probabilistic`] | the election of large groups: one file per event or theorem, likewise |
//! | [`integral`] | integration, for what has no closed form |
//! | [`point`] | one point to simulate, of any protocol, and the command that makes it again |
//! | [`support`] | which form a simulation supports |
//! | [`plan`] | timers from goals, what to expect of them, and its confirmation |
//! | [`errata`] | what is wrong in the papers, with the simulation that decides |
//! | [`figures`] | the list of figures, what they claim, and what we find |
//! | [`report`] | findings as pictures, tables and one page |
//! | [`sweep`] | one question at many points: axes, runs in pieces, rows |
//! | [`numbers`] | numbers as text for people |

pub mod announce_listen;
pub mod classic;
pub mod connected_set;
pub mod errata;
pub mod figures;
pub mod inputs;
pub mod integral;
pub mod local_leader;
pub mod numbers;
pub mod plan;
pub mod point;
pub mod probabilistic;
pub mod quantity;
pub mod report;
pub mod support;
pub mod sweep;

pub use inputs::{Inputs, Loss, OutOfDomain, ValidInputs};
pub use point::{Point, usual_links};
pub use quantity::{Quantity, Unit, quantities, quantity};
pub use support::Support;
