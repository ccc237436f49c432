//! The laboratory: a local web server that plays, measures and judges elections, and shows live
//! groups.
//!
//! **What it is.** A window. Every answer is a call of the library: the records of a run are those
//! of a trace, measures are those of an experiment, verdicts are those of the judge, pictures are
//! drawn by the code that draws them elsewhere. What flags mean is asked of the program that the
//! server is part of ([`Program`]), so that a page and a command line cannot disagree.
//!
//! **What it refuses to do.** It takes no request from a foreign origin or for another host, and
//! computes nothing for whoever does not show the token. It fetches nothing, and its pages have
//! nothing from elsewhere.
//!
//! **What the caller owes it.**
//!
//! 1. An address of this machine alone, or a token that was not drawn here but is known to those
//!    who may use it.
//! 2. To keep the [`Lab`] for as long as it shall answer: dropping it ends all of its connections,
//!    its work and the processes of its demonstration.
//!
//! | module | what it holds |
//! |---|---|
//! | [`Program`], [`Demo`] | what the server asks the program that it is part of |
//! | `server`, `doors` | the thread, the connections, and who may ask |
//! | `reply`, `work` | the form of answers, and work that ends when nobody waits for it |
//! | `files`, `palette` | the page, and a test of its colours |
//! | `what` | which run a request means |
//! | `bodies` | the bodies of requests, for fuzzers |
//! | `stage`, `head`, `lessons` | one run, played |
//! | `measure`, `first`, `forms` | many runs, what is said before them, formulas |
//! | `figures`, `trials` | the papers' figures, the judge |
//! | `live`, `groups`, `recorded` | groups that run, who led them before, and what they recorded |

mod bodies;
mod doors;
mod figures;
mod files;
mod first;
mod forms;
mod groups;
mod head;
mod lessons;
mod live;
mod measure;
#[cfg(test)]
mod palette;
mod plain;
mod program;
mod recorded;
mod reply;
mod routes;
mod server;
mod stage;
mod trials;
mod what;
mod work;

#[doc(hidden)]
pub use bodies::{BODIES, read_body};
pub use lessons::{LESSONS, Lesson};
pub use program::{Asked, Cannot, Demo, Flags, Measured, Program, Staged, Tried};
pub use server::{CannotStart, Lab, Settings};
pub use stage::{EVENTS_MAX, NODES_MAX};
