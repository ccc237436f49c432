//! The settings of a member that is part of another program: flags alone, neither a file nor the
//! environment.

use super::layers::{self, Layer};
use super::{Run, Settings};
use crate::cli::failure::Failure;
use bellwether::net::Builder;

impl Run {
    /// The member that these flags describe; `written` are those that were given. It stores nothing
    /// and answers nobody unless a directory is named.
    pub(in crate::cli) fn embedded(
        self,
        written: &[(String, Vec<String>)],
    ) -> Result<Builder, Failure> {
        let file = layers::File::default();
        let settings = Settings::merge_file(self.options, written, Layer::new(), file)?;
        settings.check_record()?;
        let builder = settings.without_dir()?;
        Ok(match &settings.options.dir {
            Some(dir) => builder.dir(dir).control_dir(dir),
            None => builder,
        })
    }
}
