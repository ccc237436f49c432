//! The file that is there only while a member leads.
//!
//! **Assumptions.** It is in memory, as `/run` is: a disk may hang, and what writes and removes the
//! file must not. [`check`] refuses other places.
//!
//! **Promise.** Whoever reads it finds all of it or nothing: it is written beside its place and
//! moved there. The [guardian](crate::guardian) decides when: nothing here knows of leases.

use bellwether_core::{Instant, Term};
use rustix::fs::statfs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::{fmt, fs};

/// File systems that are kept in memory: tmpfs and ramfs.
const IN_MEMORY: [u64; 2] = [0x0102_1994, 0x8584_58f6];

/// Why a file cannot be the leader's.
#[derive(Debug)]
#[non_exhaustive]
pub enum BadLeaderFile {
    /// Its folder cannot be used.
    Folder(PathBuf, io::Error),
    /// Its folder is on a disk.
    OnDisk(PathBuf),
    /// Something else is there.
    NoFile(PathBuf),
    /// What an earlier process left there cannot be removed.
    Stays(PathBuf, io::Error),
}

impl fmt::Display for BadLeaderFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(path, error) => write!(
                f,
                "leader file {}: its folder cannot be used: {error}; choose one that is there",
                path.display()
            ),
            Self::OnDisk(path) => write!(
                f,
                "leader file {}: its folder is on a disk, which may hang when the file must go; \
                 choose one in memory, as in /run",
                path.display()
            ),
            Self::NoFile(path) => write!(
                f,
                "leader file {}: something else is there, and would be removed; choose another \
                 name",
                path.display()
            ),
            Self::Stays(path, error) => write!(
                f,
                "leader file {}: an earlier process left it, and it cannot be removed: {error}; \
                 remove it",
                path.display()
            ),
        }
    }
}

impl std::error::Error for BadLeaderFile {}

/// Checks that this can be the file of a leader.
///
/// # Errors
/// [`BadLeaderFile`] with the reason and the way out.
pub fn check(path: &Path) -> Result<(), BadLeaderFile> {
    let folder = path.parent().unwrap_or_else(|| Path::new("/"));
    let system =
        statfs(folder).map_err(|error| BadLeaderFile::Folder(path.to_owned(), error.into()))?;
    let is_kept = |magic: &u64| i128::from(system.f_type) == i128::from(*magic);
    if !IN_MEMORY.iter().any(is_kept) {
        return Err(BadLeaderFile::OnDisk(path.to_owned()));
    }
    if fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(BadLeaderFile::NoFile(path.to_owned()));
    }
    Ok(())
}

/// Removes what an earlier process left; whether there was something. Call it only while no other
/// process of this member runs.
///
/// # Errors
/// [`BadLeaderFile`] if it cannot be removed.
pub fn clean_up(path: &Path) -> Result<bool, BadLeaderFile> {
    let there = fs::symlink_metadata(path).is_ok();
    remove(path).map_err(|error| BadLeaderFile::Stays(path.to_owned(), error))?;
    Ok(there)
}

/// Where it is written before it is moved to its place.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    name.into()
}

/// Writes it: the term of the leadership, and when the file goes unless the lease is renewed, in
/// milliseconds of `CLOCK_BOOTTIME`.
pub(crate) fn write(path: &Path, term: Option<Term>, ends: Instant) -> io::Result<()> {
    let term = term.map_or_else(String::new, |term| term.to_string());
    let text = format!("term={term}\nuntil_ms={}\n", ends.as_nanos() / 1_000_000);
    let new = beside(path);
    let told = |error: io::Error| {
        io::Error::other(format!("cannot write the leader file {}: {error}", path.display()))
    };
    // What somebody else put there is not written to, and no link is followed.
    let _ = fs::remove_file(&new);
    let made = fs::File::create_new(&new).and_then(|mut file| file.write_all(text.as_bytes()));
    made.and_then(|()| fs::rename(&new, path)).map_err(told)
}

/// Removes it; it may be gone.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    let gone = |path: &Path| match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    let told = |error: io::Error| {
        io::Error::other(format!("cannot remove the leader file {}: {error}", path.display()))
    };
    let _ = fs::remove_file(beside(path)); // it means nothing to those who look for the file
    gone(path).map_err(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_else_put_beside_it_is_neither_followed_nor_written_to() {
        let path = Path::new("/dev/shm").join(format!("bw-leader-link-{}", std::process::id()));
        let other = path.with_extension("other");
        fs::write(&other, "theirs").unwrap();
        std::os::unix::fs::symlink(&other, beside(&path)).unwrap();
        write(&path, None, Instant::from_nanos(5_000_000)).unwrap();
        assert_eq!(fs::read_to_string(&other).unwrap(), "theirs");
        assert!(fs::symlink_metadata(&path).unwrap().is_file());
        fs::create_dir(beside(&path)).unwrap();
        remove(&path).expect("what is beside it means nothing");
        assert!(!path.exists());
        fs::remove_dir(beside(&path)).unwrap();
        fs::remove_file(&other).unwrap();
    }

    #[test]
    fn it_is_written_whole_and_removed_and_only_in_memory() {
        let path = Path::new("/dev/shm").join(format!("bw-leader-file-{}", std::process::id()));
        check(&path).unwrap();
        assert!(!clean_up(&path).unwrap());
        let ends = Instant::from_nanos(5_000_000);
        write(&path, Term::new(7), ends).unwrap();
        write(&path, None, ends).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "term=\nuntil_ms=5\n");
        write(&path, Term::new(7), ends).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "term=7\nuntil_ms=5\n");
        assert!(!beside(&path).exists());
        assert!(clean_up(&path).unwrap());
        assert!(!path.exists());
        remove(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(matches!(check(&path), Err(BadLeaderFile::NoFile(_))));
        fs::remove_dir(&path).unwrap();
        assert!(matches!(check("/proc/x".as_ref()), Err(BadLeaderFile::OnDisk(_))));
        assert!(matches!(check("/nothing/x".as_ref()), Err(BadLeaderFile::Folder(..))));
    }
}
