//! Every rule of the lease protocol is needed: without it, a named property breaks in a named
//! mix or against a named adversary; with it, nothing does in the same schedules and states.
//!
//! [`table`] lists the mutants, with the [`ways`] in which they are caught. [`judged`],
//! [`explored`] and [`validated`] kill each of them as the table says, [`document`] holds the table
//! of `docs/checking.md` to it. What only costs time is in [`delays`].

mod delays;
mod document;
mod explored;
mod judged;
mod mutant;
mod table;
mod validated;
mod ways;
