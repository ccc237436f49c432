//! Files that a command writes. A path that cannot be written is refused early; the file is made
//! late, so that a command that is stopped before leaves nothing behind.

use crate::cli::Done;
use crate::cli::failure::Failure;
use std::fs::{self, OpenOptions};
use std::path::Path;

/// Refuses a path that cannot be written to; changes nothing.
pub(in crate::cli) fn check_writable(path: &Path) -> Done {
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

/// Replaces a file in one step: after an interrupt there is either the former file or the new one.
pub(in crate::cli) fn replace(path: &Path, text: &str) -> Done {
    let new = path.with_added_extension("new");
    write(&new, text)?;
    fs::rename(&new, path).map_err(|error| Failure::io("write", path, &error))
}

/// The extensions of other kinds of pictures.
const NOT_SVG: [&str; 8] = ["png", "jpg", "jpeg", "gif", "webp", "bmp", "pdf", "eps"];

/// Writes a file, or leaves none that was not there before. A picture is not written under the
/// extension of another kind of picture, which no viewer would open.
pub(in crate::cli) fn write(path: &Path, text: &str) -> Done {
    let end = path.extension().and_then(|end| end.to_str()).map(str::to_ascii_lowercase);
    if text.starts_with("<svg") && end.is_some_and(|end| NOT_SVG.contains(&end.as_str())) {
        return Err(Failure::usage(format!(
            "{}: pictures are written as SVG; name the file {}, and convert that",
            path.display(),
            path.with_extension("svg").display()
        )));
    }
    let is_new = fs::symlink_metadata(path).is_err();
    fs::write(path, text).map_err(|error| {
        if is_new {
            let _ = fs::remove_file(path); // the first error is the one to report
        }
        Failure::io("write", path, &error)
    })
}
