//! The member's socket and its lock file: one process at a time holds them.
//!
//! **Source.** Ours. The lock is a file of its own, which only the member's user can open:
//! everybody who may read the directory could hold a lock on it.
//!
//! **Assumptions.** The directory belongs to the member's user, and nobody else may write to it.
//!
//! **Promise.** [`Socket::bind`] waits at most for [`PATIENCE`], whoever holds the lock and
//! whatever kind of file has the name of the lock or the socket. Files that an ended process left
//! are replaced.

use super::{ServeError, connect, socket_path};
use crate::clock::{BootTime, Clock};
use crate::files;
use bellwether_core::Duration;
use rustix::fs::{FlockOperation, Mode, OFlags, fchmod, flock};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with};
use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

/// How long to wait for lock and socket. What a killed process was about to start still holds both
/// until the kernel executes it, and its socket accepts connections, though nobody answers.
const PATIENCE: Duration = Duration::from_millis(1_000);
/// How often to try.
const AGAIN: std::time::Duration = std::time::Duration::from_millis(20);
/// The most connections that wait to be accepted.
const BACKLOG: i32 = 128;
/// The mode of a file for its owner alone.
const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);

/// A listening socket. Dropping it removes the file, then releases the lock.
#[derive(Debug)]
pub(super) struct Socket {
    pub(super) path: PathBuf,
    pub(super) listener: UnixListener,
    _lock: File,
}

impl Socket {
    /// Binds the socket of a member in this directory.
    pub(super) fn bind(dir: &Path, group: &str, id: u64) -> Result<Self, ServeError> {
        let path = socket_path(dir, group, id).map_err(ServeError::Place)?;
        let failed = |error: io::Error| ServeError::Io(path.clone(), error);
        let lock = lock_file(&path)?;
        let limit = BootTime.now() + PATIENCE;
        while let Some(taken) = whose(&lock, &path)? {
            if BootTime.now() >= limit {
                return Err(taken);
            }
            std::thread::sleep(AGAIN);
        }
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        let listener = listen(&path).map_err(failed)?;
        Ok(Self { path, listener, _lock: lock })
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path); // it may have been removed already
    }
}

/// Listens at a path to which only its owner and root can connect, without blocking. The file gets
/// its mode before the socket listens.
///
/// # Errors
/// The system's error; if there is a file already, that it exists.
pub fn listen(path: &Path) -> io::Result<UnixListener> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    rustix::net::bind(&socket, &SocketAddrUnix::new(path)?)?;
    fs::set_permissions(path, Permissions::from_mode(PRIVATE.as_raw_mode()))?;
    rustix::net::listen(&socket, BACKLOG)?;
    Ok(UnixListener::from(socket))
}

/// The lock file of a socket. It is never removed: otherwise two processes could hold two locks of
/// one name.
fn lock_file(socket: &Path) -> Result<File, ServeError> {
    let path = socket.with_extension("sock.lock");
    let failed = |error: io::Error| ServeError::Io(path.clone(), error);
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW;
    let file = files::open(&path, flags, PRIVATE).map_err(failed)?;
    fchmod(&file, PRIVATE).map_err(|error| failed(error.into()))?;
    Ok(file)
}

/// Takes the lock, and says if another process is this member: it holds the lock, or it answers
/// (earlier versions of this program have no lock).
fn whose(lock: &File, socket: &Path) -> Result<Option<ServeError>, ServeError> {
    let path = || socket.with_extension("sock.lock");
    let locked = match flock(lock, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => false,
        Err(Errno::WOULDBLOCK | Errno::INTR) => true,
        Err(error) => return Err(ServeError::Io(path(), error.into())),
    };
    match connect(socket, std::time::Duration::ZERO) {
        Ok(_) => Ok(Some(ServeError::Taken(socket.to_owned()))),
        Err(error) if error.kind() == ErrorKind::WouldBlock => {
            Ok(Some(ServeError::Taken(socket.to_owned()))) // it listens, and its queue is full
        }
        Err(_) if locked => Ok(Some(ServeError::Locked(path()))),
        Err(error)
            if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) =>
        {
            Ok(None)
        }
        Err(error) => Err(ServeError::Io(socket.to_owned(), error)),
    }
}
