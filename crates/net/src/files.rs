//! Opens regular files without blocking.
//!
//! **Source.** open(2): opening a pipe waits for its other end, and opening a device may have side
//! effects, unless `O_NONBLOCK` is given.
//!
//! **Assumptions.** None about the path: everybody who may write to its directory may put anything
//! there.
//!
//! **Promise.** [`open`] returns at once, and only with a regular file. The opened file itself is
//! checked.

use rustix::fs::{FileType, Mode, OFlags, fstat};
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

/// Opens a regular file and nothing else. `mode` is used if `flags` create the file.
///
/// # Errors
/// The system's error; [`ErrorKind::InvalidInput`], with the kind of file, if the path does not
/// lead to a regular file.
pub fn open(path: &Path, flags: OFlags, mode: Mode) -> io::Result<File> {
    let always = OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    // A pipe without a reader, a directory opened for writing and a socket cannot be opened.
    let opened = rustix::fs::open(path, flags | always, mode).map_err(|error| {
        let found = rustix::fs::lstat(path).map(|found| FileType::from_raw_mode(found.st_mode));
        match found.ok().map(|found| (found, of(path).unwrap_or(found))) {
            Some((FileType::Symlink, _)) if flags.contains(OFlags::NOFOLLOW) => {
                refusal(FileType::Symlink)
            }
            Some((_, found)) if !found.is_file() && found != FileType::Symlink => refusal(found),
            _ => error.into(),
        }
    })?;
    let found = FileType::from_raw_mode(fstat(&opened)?.st_mode);
    if found.is_file() { Ok(File::from(opened)) } else { Err(refusal(found)) }
}

/// The kind of file that a path leads to.
fn of(path: &Path) -> io::Result<FileType> {
    Ok(FileType::from_raw_mode(rustix::fs::stat(path)?.st_mode))
}

fn refusal(found: FileType) -> io::Error {
    let kind = match found {
        FileType::Directory => "a directory",
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        _ => "no regular file",
    };
    io::Error::new(ErrorKind::InvalidInput, format!("it is {kind}, and must be a regular file"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_no_regular_file_is_refused_by_its_name_and_without_waiting() {
        let dir = std::env::temp_dir().join(format!("bellwether-files-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir); // of a process that had this number before
        std::fs::create_dir(&dir).unwrap();
        let pipe = dir.join("pipe");
        let (fifo, any) = (FileType::Fifo, Mode::RUSR | Mode::WUSR);
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, fifo, any, 0).unwrap();
        let link = dir.join("link");
        std::os::unix::fs::symlink(dir.join("file"), &link).unwrap();
        let socket = dir.join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let write = OFlags::WRONLY | OFlags::CREATE;
        for (path, flags, kind) in [
            (pipe.as_path(), OFlags::RDONLY, "it is a pipe,"),
            (pipe.as_path(), write, "it is a pipe,"),
            (pipe.as_path(), OFlags::RDWR, "it is a pipe,"),
            (dir.as_path(), OFlags::RDONLY, "it is a directory,"),
            (dir.as_path(), write, "it is a directory,"),
            (socket.as_path(), OFlags::RDONLY, "it is a socket,"),
            (Path::new("/dev/null"), write, "it is a device,"),
            (link.as_path(), write | OFlags::NOFOLLOW, "it is a symbolic link,"),
        ] {
            let error = open(path, flags, any).unwrap_err();
            assert!(error.to_string().starts_with(kind), "{}: {error}", path.display());
        }
        let missing = open(&dir.join("missing"), OFlags::RDONLY, any).unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::NotFound);
        open(&link, write, any).unwrap();
        open(&dir.join("file"), OFlags::RDONLY, any).unwrap();
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
