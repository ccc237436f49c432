//! Where the settings of a member come from, so that they can be gathered again.
//!
//! **Promise.** Flags and environment are those of the start. The file is read anew each time.

use super::layers::{self, Layer};
use super::options::Options;
use super::settings::Settings;
use crate::cli::failure::Failure;
use bellwether::protocols::choice::Config;
use std::path::PathBuf;

/// The flags, the environment and the name of the file.
#[derive(Debug)]
pub(in crate::cli) struct Sources {
    options: Options,
    written: Vec<(String, Vec<String>)>,
    environment: Layer,
    file: Option<PathBuf>,
}

/// What was given, by name: the layers merged, and what follows for the protocol.
#[derive(Clone, Debug)]
pub(super) struct MergedSettings {
    pub(super) layer: Layer,
    /// The table `[params]` of the file.
    pub(super) params: toml::Table,
    pub(super) config: Config,
}

impl Sources {
    /// With the environment of this process; `written` are the flags with their values.
    pub(in crate::cli) fn of_process(
        options: Options,
        written: &[(String, Vec<String>)],
    ) -> Result<Self, Failure> {
        let environment = layers::from_environment(std::env::vars_os()).map_err(Failure::Config)?;
        Ok(Self::new(options, written, environment))
    }

    /// With this environment.
    pub(super) fn new(
        options: Options,
        written: &[(String, Vec<String>)],
        environment: Layer,
    ) -> Self {
        let named = environment.get("config").and_then(|path| path.first());
        let file = options.config.clone().or_else(|| named.map(PathBuf::from));
        Self { options, written: written.to_vec(), environment, file }
    }

    /// Reads the file, and merges all.
    pub(in crate::cli) fn gather(&self) -> Result<Settings, Failure> {
        let file = self.file.as_deref().map(layers::from_file).transpose()?.unwrap_or_default();
        Settings::merge_file(self.options.clone(), &self.written, self.environment.clone(), file)
    }
}
