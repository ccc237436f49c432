//! Files that are opened without waiting, and only if they are files.
//!
//! **Assumptions.** Somebody may have put anything in the place of a file: a pipe without a
//! writer, a link to elsewhere, a directory.
//!
//! **Promise.** No call waits for anything but the disk. What is not a regular file is refused by
//! its path and kind; no link is followed. A file is replaced as a whole, durably, or not at all.

use rustix::fs::{Mode, OFlags};
use std::fs::{self, File, FileType};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

/// The file to write to, made for its owner alone if there is none.
pub(super) fn open_to_write(path: &Path) -> io::Result<File> {
    open(path, OFlags::RDWR | OFlags::CREATE)
}

/// All bytes of a file, at most so many; nothing if there is none.
pub(super) fn read(path: &Path, most: usize) -> io::Result<Option<Vec<u8>>> {
    let file = match open(path, OFlags::RDONLY) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.take(most as u64).read_to_end(&mut bytes).map_err(|error| at(path, &error))?;
    Ok(Some(bytes))
}

/// All or nothing, and durable.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
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
    // To open a device may already do something, so it is looked at first; and again below, since
    // it may have been exchanged meanwhile.
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
