//! Files that a command writes: refused early where that cannot be, and made late, so that whoever
//! stops before there is anything to write leaves nothing behind.

use super::Done;
use super::failure::Failure;
use std::fs::{self, OpenOptions};
use std::path::Path;

/// Refuses a path that cannot be written to; changes nothing.
pub(super) fn check_writable(path: &Path) -> Done {
    let is_new = match fs::metadata(path) {
        Ok(found) if found.is_file() || found.is_dir() => false,
        Ok(_) => return Ok(()), // opening a pipe or a device is itself an event for its reader
        Err(_) => fs::symlink_metadata(path).is_err(),
    };
    let opened = OpenOptions::new().append(true).create(true).open(path);
    opened.map_err(|error| Failure::io("write", path, &error))?;
    if is_new {
        fs::remove_file(path).map_err(|error| Failure::io("write", path, &error))?;
    }
    Ok(())
}

/// Writes it all, or leaves no file that was not there.
pub(super) fn write(path: &Path, text: &str) -> Done {
    let is_new = fs::symlink_metadata(path).is_err();
    fs::write(path, text).map_err(|error| {
        if is_new {
            let _ = fs::remove_file(path); // the first error is the one to tell
        }
        Failure::io("write", path, &error)
    })
}
