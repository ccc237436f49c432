//! Opens, reads and replaces regular files without blocking.
//!
//! **Assumptions.** The path of a file may be anything: a pipe without a writer, a link, a
//! directory.
//!
//! **Promise.** A call waits only for the disk. An error names the path and the kind of what is not
//! a regular file; links are not followed. A file is replaced as a whole, durably, or not at all.

use rustix::fs::{Mode, OFlags};
use std::fs::{self, File, FileType};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

/// Opens a file for writing; creates it for its owner alone if it is missing.
pub(crate) fn open_to_write(path: &Path) -> io::Result<File> {
    open(path, OFlags::RDWR | OFlags::CREATE)
}

/// Reads a file, at most this many bytes; `None` if it is missing.
pub(crate) fn read(path: &Path, most: usize) -> io::Result<Option<Vec<u8>>> {
    let file = match open(path, OFlags::RDONLY) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.take(most as u64).read_to_end(&mut bytes).map_err(|error| at(path, &error))?;
    Ok(Some(bytes))
}

/// Replaces a file as a whole, durably.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let next = path.with_extension("next");
    let write = |mut file: File| {
        file.set_len(0)?;
        file.write_all(bytes)?;
        file.sync_all()
    };
    write(open_to_write(&next)?).map_err(|error| at(&next, &error))?;
    fs::rename(&next, path).map_err(|error| at(path, &error))?;
    match path.parent() {
        Some(dir) => File::open(dir).and_then(|dir| dir.sync_all()),
        None => Ok(()),
    }
}

fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    // Opening a device may have side effects, so the path is checked first; and the opened file
    // again, because the path may have changed in between.
    if let Ok(found) = fs::symlink_metadata(path) {
        must_be_a_file(path, found.file_type())?;
    }
    let flags = flags | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR);
    let file = File::from(opened.map_err(|error| at(path, &error.into()))?);
    must_be_a_file(path, file.metadata()?.file_type())?;
    Ok(file)
}

fn must_be_a_file(path: &Path, found: FileType) -> io::Result<()> {
    let kind = match found {
        found if found.is_file() => return Ok(()),
        found if found.is_dir() => "directory",
        found if found.is_symlink() => "symbolic link",
        found if found.is_fifo() => "pipe",
        found if found.is_socket() => "socket",
        _ => "device",
    };
    let path = path.display();
    let text = format!("{path} is a {kind}, but must be a file; remove it");
    Err(io::Error::new(ErrorKind::InvalidInput, text))
}

fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}
