//! The subject of a simulation: a protocol with flags, or a scenario file, which replaces them.

use crate::cli::failure::Failure;
use bellwether::protocols::choice::Entry;
use bellwether::sim::ScenarioFile;
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// A protocol or a scenario file.
#[derive(Clone, Debug)]
pub(in crate::cli) enum ProtocolOrFile {
    /// This protocol.
    Protocol(&'static Entry),
    /// The scenario in this file.
    File(PathBuf),
}

impl ProtocolOrFile {
    /// The failure for a refusal: bad configuration for a file, bad usage for flags.
    pub(in crate::cli) fn refused(&self, why: impl Display) -> Failure {
        match self {
            Self::Protocol(_) => Failure::usage(why),
            Self::File(path) => bad(path, &why),
        }
    }
}

/// Reads a scenario file. Of the flags that were given, only these go with it.
pub(in crate::cli) fn read(
    path: &Path,
    given: &[String],
    beside: &[&str],
) -> Result<ScenarioFile, Failure> {
    if let Some(flag) = given.iter().find(|flag| !beside.contains(&flag.as_str())) {
        let name = path.display();
        return Err(Failure::usage(format!(
            "--{flag} is set by the file {name}; change it there, or name a protocol"
        )));
    }
    let text = std::fs::read_to_string(path).map_err(|error| Failure::io("read", path, &error))?;
    ScenarioFile::parse(&text).map_err(|why| bad(path, &why))
}

fn bad(path: &Path, why: &dyn Display) -> Failure {
    Failure::Config(format!("{}: {why}", path.display()))
}
