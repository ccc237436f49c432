//! What the server asks the program that it is part of: what flags mean, and what only a program
//! can start.

use bellwether_check::Trial;
use bellwether_check::account::Piece;
use bellwether_protocols::choice::{Choice, Config};
use bellwether_sim::{Experiment, Terrain};
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::Arc;

/// Flags by their names, without dashes. A text or a number is a value, true is a flag that stands
/// alone, false and null leave it out, and a list repeats it.
pub type Flags = Map<String, Value>;

/// A protocol with flags.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The protocol's name.
    pub protocol: &'a str,
    /// The flags.
    pub flags: &'a Flags,
}

/// Why flags are refused, in one line that names the flag, the value and the rule.
pub type Cannot = String;

/// One run, as flags describe it.
#[derive(Clone, Debug)]
pub struct Staged {
    /// As a scenario file.
    pub toml: String,
    /// Where processes are, if they have places.
    pub terrain: Terrain,
    /// The command that shows the same run.
    pub command: String,
}

/// Many runs, as flags describe them.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The runs.
    pub experiment: Experiment,
    /// The command that makes the same ones.
    pub command: String,
    /// The protocol's parameters, as a file has them.
    pub config: Config,
}

/// A trial, as flags describe it.
#[derive(Clone, Debug)]
pub struct Tried {
    /// The trial.
    pub trial: Trial,
    /// The protocol with its parameters.
    pub choice: Choice,
    /// The same, as a file has them.
    pub config: Config,
    /// The command that makes the same trial, but for the number of schedules.
    pub command: String,
}

/// The program that the server is part of.
pub trait Program: Send + Sync + 'static {
    /// All protocols, and the flags of each: what a page makes its forms of.
    fn protocols(&self) -> Value;

    /// One run to be shown.
    ///
    /// # Errors
    /// [`Cannot`].
    fn stage(&self, asked: Asked<'_>) -> Result<Staged, Cannot>;

    /// So many runs to be measured.
    ///
    /// # Errors
    /// [`Cannot`].
    fn measure(&self, asked: Asked<'_>, runs: u64) -> Result<Measured, Cannot>;

    /// A promise to be broken, if this one is named, or the protocol's own.
    ///
    /// # Errors
    /// [`Cannot`].
    fn trial(&self, asked: Asked<'_>, promise: Option<&str>) -> Result<Tried, Cannot>;

    /// Where members of this machine have their sockets.
    fn dirs(&self) -> Vec<PathBuf>;

    /// The status of a member that answers HTTP at this address, as JSON.
    ///
    /// # Errors
    /// Why there is none, in a sentence.
    fn remote_status(&self, url: &str) -> Result<Value, Cannot>;

    /// What a member that answers HTTP at this address remembers, and how its clock compares.
    ///
    /// # Errors
    /// Why it does not tell, in a sentence.
    fn remote_past(&self, url: &str) -> Result<Piece, Cannot>;

    /// Starts a group of real processes on this machine.
    ///
    /// # Errors
    /// Why it cannot, in a sentence.
    fn demo(&self) -> Result<Arc<dyn Demo>, Cannot>;
}

/// A group of real processes on this machine.
pub trait Demo: Send + Sync {
    /// How they are now, as JSON.
    fn state(&self) -> Value;

    /// The directory of their sockets.
    fn dir(&self) -> PathBuf;

    /// What they recorded so far, one trace after the other, with the faults.
    ///
    /// # Errors
    /// Why it cannot be read, in a sentence.
    fn trace(&self) -> Result<Vec<u8>, Cannot>;

    /// Does something to one of them: `kill`, `pause`, `continue`, `resign` or `restart`.
    ///
    /// # Errors
    /// Why it cannot be done, in a sentence.
    fn act_on(&self, member: u64, what: &str) -> Result<(), Cannot>;

    /// Ends them all, and waits until they have ended. Dropping it does the same.
    fn end(&self);
}
