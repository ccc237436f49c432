//! A process that ends with its parent, even if the parent is killed: the kernel ends it.
//!
//! **Source.** prctl(2), `PR_SET_PDEATHSIG`, which outlives exec(2). A process asks for it itself,
//! and then becomes what it was meant to be.

use super::cannot;
use crate::cli::Done;
use crate::cli::failure::Failure;
use clap::Args;
use rustix::process::{Signal, getppid, set_parent_process_death_signal};
use std::env::current_exe;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Become another command of this program, which ends when its parent does
#[derive(Args, Debug)]
pub(in crate::cli) struct Leash {
    /// The process that must be there
    parent: u32,
    /// What to become
    #[arg(last = true, value_name = "ARGUMENTS")]
    arguments: Vec<OsString>,
}

impl Leash {
    pub(in crate::cli) fn run(self) -> Done {
        let asked = set_parent_process_death_signal(Some(Signal::KILL));
        asked.map_err(|error| cannot("end with its parent", &error.into()))?;
        // It may have ended before we asked.
        let parent = getppid().map(|pid| pid.as_raw_nonzero().get().unsigned_abs());
        if parent != Some(self.parent) {
            return Err(Failure::Io(format!("process {} is not its parent", self.parent)));
        }
        let program = current_exe().map_err(|error| cannot("find itself", &error))?;
        Err(cannot("begin", &Command::new(program).args(self.arguments).exec()))
    }
}
