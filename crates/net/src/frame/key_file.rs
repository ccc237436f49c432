//! Reads a keyring from a file that only its owner can read.
//!
//! The opened file itself is checked, so it cannot be exchanged in between. A link to it is
//! followed.

use super::keyring::{BadKeys, Keyring};
use rustix::fs::{Access, Mode, OFlags, access};
use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// How large a key file may be, in bytes.
pub const KEY_FILE_MAX: usize = 64 * 1024;

/// Why a key file cannot be used.
#[derive(Debug)]
pub struct BadKeyFile {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub fault: Fault,
}

/// What may be wrong with a key file.
#[derive(Debug)]
#[non_exhaustive]
pub enum Fault {
    /// It cannot be read.
    Io(io::Error),
    /// It is a directory, a pipe or a device.
    NotAFile,
    /// Others than its owner can read or write it.
    Mode(u32),
    /// It belongs neither to this user nor to root.
    Owner {
        /// Its owner.
        owner: u32,
        /// The user of this process.
        user: u32,
    },
    /// It is larger than [`KEY_FILE_MAX`].
    Large,
    /// It is not text.
    NotText,
    /// Its text is not a keyring.
    Keys(BadKeys),
}

impl Keyring {
    /// Reads a key file.
    ///
    /// # Errors
    /// [`BadKeyFile`] if it cannot be read, if others than its owner can read or write it, if it
    /// belongs to somebody other than this user or root, if it is too large, or if it is no
    /// keyring.
    pub fn read(path: &Path) -> Result<Self, BadKeyFile> {
        read(path, keyring).map_err(|fault| BadKeyFile { path: path.to_owned(), fault })
    }
}

impl Keyring {
    /// Replaces a key file by these keys: as a whole, durably, and for its owner alone. Its
    /// comments are lost. A link to it stays.
    ///
    /// # Errors
    /// The system's error; the file is as it was.
    pub(crate) fn replace(&self, path: &Path) -> io::Result<()> {
        let path = path.canonicalize()?;
        let next = beside(&path)?;
        let mode = Mode::RUSR | Mode::WUSR;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let _ = fs::remove_file(&next); // of a process that had this number, and was killed
        let mut file = File::from(rustix::fs::open(&next, flags | OFlags::NOFOLLOW, mode)?);
        let written = file
            .write_all(self.to_text().as_bytes())
            .and_then(|()| file.sync_all())
            .and_then(|()| fs::rename(&next, &path));
        if written.is_err() {
            let _ = fs::remove_file(&next); // the first error is the one to report
        }
        written?;
        File::open(path.parent().unwrap_or(Path::new("/")))?.sync_all()
    }

    /// Whether a key file could be replaced, as far as that can be told without trying.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn check_replaceable(path: &Path) -> io::Result<()> {
        let path = path.canonicalize()?;
        let folder = path.parent().unwrap_or(Path::new("/"));
        Ok(access(folder, Access::WRITE_OK | Access::EXEC_OK)?)
    }
}

/// The name of a file beside this one, which no other process uses.
fn beside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let mut next = OsString::from(".");
    next.push(name);
    next.push(format!(".{}", std::process::id()));
    Ok(path.with_file_name(next))
}

/// Reads a file with a secret, by the same rules as a key file. What is read is erased when it is
/// dropped.
///
/// # Errors
/// As [`Keyring::read`], but for what the file says.
pub fn read_secret(path: &Path) -> Result<Zeroizing<Vec<u8>>, BadKeyFile> {
    read(path, Ok).map_err(|fault| BadKeyFile { path: path.to_owned(), fault })
}

fn keyring(bytes: Zeroizing<Vec<u8>>) -> Result<Keyring, Fault> {
    let text = str::from_utf8(&bytes).map_err(|_| Fault::NotText)?;
    Keyring::parse(text).map_err(Fault::Keys)
}

fn read<T>(
    path: &Path,
    parse: impl FnOnce(Zeroizing<Vec<u8>>) -> Result<T, Fault>,
) -> Result<T, Fault> {
    // Without NONBLOCK, opening a pipe would wait for its writer.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let opened = rustix::fs::open(path, flags, Mode::empty()).map_err(io::Error::from);
    let file = File::from(opened.map_err(Fault::Io)?);
    let found = file.metadata().map_err(Fault::Io)?;
    if !found.is_file() {
        return Err(Fault::NotAFile);
    }
    // Whoever named a wrong file is not told how to protect it.
    let parsed = parse(contents(file)?)?;
    let (owner, user) = (found.uid(), rustix::process::geteuid().as_raw());
    if owner != user && owner != 0 {
        return Err(Fault::Owner { owner, user });
    }
    if found.mode() & 0o077 != 0 {
        return Err(Fault::Mode(found.mode() & 0o7777));
    }
    Ok(parsed)
}

/// What is in an open file.
fn contents(file: File) -> Result<Zeroizing<Vec<u8>>, Fault> {
    // One buffer of the largest size: growing would leave secrets in freed memory.
    let mut bytes = Zeroizing::new(Vec::with_capacity(KEY_FILE_MAX + 1));
    file.take(KEY_FILE_MAX as u64 + 1).read_to_end(&mut bytes).map_err(Fault::Io)?;
    if bytes.len() > KEY_FILE_MAX {
        return Err(Fault::Large);
    }
    Ok(bytes)
}

impl BadKeyFile {
    /// What is wrong, without the name of the file.
    pub fn reason(&self) -> String {
        let path = self.path.display();
        match &self.fault {
            Fault::Io(error) => format!("cannot be read: {error}"),
            Fault::NotAFile => "is not a regular file; name one that is".to_owned(),
            Fault::Mode(mode) => format!(
                "has mode {mode:04o}, and nobody but its owner may read or write it; \
                 chmod 600 {path}"
            ),
            Fault::Owner { owner, user } => format!(
                "belongs to user {owner}, and must belong to user {user}, who reads it, \
                 or to root; chown {user} {path}"
            ),
            Fault::Large => format!(
                "is larger than {KEY_FILE_MAX} bytes, the most a key file may have; \
                 remove old keys"
            ),
            Fault::NotText => "is not text, and keys are lines of text".to_owned(),
            Fault::Keys(bad) => bad.to_string(),
        }
    }
}

impl fmt::Display for BadKeyFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "key file {}: {}", self.path.display(), self.reason())
    }
}

impl std::error::Error for BadKeyFile {}
