//! `bellwether keygen`: a new secret for a group.

use crate::cli::Done;
use crate::cli::failure::Failure;
use bellwether_net::frame::Keyring;
use clap::Args;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Make a new key for a group
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct Keygen {
    /// The file to make, which only you can read; without it the key is printed
    file: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  bellwether keygen group.key            a new key file; give each member a copy
  bellwether keygen >> group.key         a second key: read with it, still write with the first

A key file has one key a line; # begins a comment. Members seal with the first key and open with
any. To change keys without a pause: add the new key as the last one on all members, then make it
the first on all, then remove the old one on all.";

impl Keygen {
    pub(in crate::cli) fn run(&self) -> Done {
        let keyring = Keyring::generate()
            .map_err(|error| Failure::Io(format!("this machine has no randomness: {error}")))?;
        let text = keyring.to_text();
        match &self.file {
            Some(path) => {
                write_new(path, text.as_bytes())?;
                // For people; programs read the standard output or the file.
                let path = path.display();
                let _ = writeln!(
                    io::stderr(),
                    "wrote a new key to {path}, which only you can read; copy the file to every \
                     member, and start each with `bellwether run GROUP --key {path} ...`; \
                     `bellwether status` then shows which key a member has"
                );
                Ok(())
            }
            None => Ok(io::stdout().write_all(text.as_bytes())?),
        }
    }
}

/// Writes a new file that only its owner may read; all of it or nothing.
fn write_new(path: &Path, bytes: &[u8]) -> Done {
    let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let mut file = opened.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Failure::Io(format!(
            "{path} is there already, and keys are never overwritten; name a new file, or add a \
             key to this one with `bellwether keygen >> {path}`",
            path = path.display()
        )),
        _ => Failure::io("write", path, &error),
    })?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    written.map_err(|error| {
        let _ = fs::remove_file(path); // the first error is the one to report
        Failure::io("write", path, &error)
    })
}
