//! Everything that is read from outside, as plain functions over bytes, and a mutator that runs
//! them on stable Rust.
//!
//! **What it is.** A [`Target`] is a function that takes any bytes and says whether they could be
//! read. `fuzz/` gives the same functions to a coverage-guided fuzzer; [`fuzz`] needs nothing but
//! this crate.
//!
//! **Assumptions.** What our own encoders write is a good place to start from.
//!
//! **Promise.** No bytes make a target panic or take longer than [`LONGEST`]. One that does is a
//! finding: [`fuzz`] writes its input to a file and says how to run it again. The same seed gives
//! the same inputs.
//!
//! | module | what it holds |
//! |---|---|
//! | `targets` | the functions, with their seeds |
//! | `mutator` | how inputs are made from others |
//! | `runner` | how they are run, counted and kept |

mod mutator;
mod runner;
mod targets;

pub use mutator::Mutator;
pub use runner::{Finding, LONGEST, Outcome, fuzz, run_once};
pub use targets::targets;

/// Something that reads bytes from outside.
pub struct Target {
    /// Its name on the command line.
    pub name: String,
    /// What it reads.
    pub about: &'static str,
    /// Reads any bytes; whether they could be read. Panics if a rule does not hold.
    #[allow(clippy::type_complexity, reason = "said once")]
    pub read: Box<dyn Fn(&[u8]) -> bool + Send + Sync>,
    /// What our own encoders write, or somebody who knows how.
    pub seeds: Vec<Vec<u8>>,
}

impl Target {
    fn new(
        name: impl Into<String>,
        about: &'static str,
        read: impl Fn(&[u8]) -> bool + Send + Sync + 'static,
        seeds: Vec<Vec<u8>>,
    ) -> Self {
        Self { name: name.into(), about, read: Box::new(read), seeds }
    }
}
