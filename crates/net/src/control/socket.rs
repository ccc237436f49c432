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

/// How long to wait for a lock: a killed process may still hold it for a moment.
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
        let lock = lock(&path)?;
        let failed = |error: io::Error| ServeError::Io(path.clone(), error);
        // Earlier versions of this program have no lock.
        match connect(&path, std::time::Duration::ZERO) {
            Ok(_) => return Err(ServeError::Taken(path)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                return Err(ServeError::Taken(path)); // it listens, and its queue is full
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                fs::remove_file(&path).map_err(failed)?;
            }
            Err(error) => return Err(failed(error)),
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

/// Takes the lock of a socket. The lock file is never removed: otherwise two processes could hold
/// two locks of one name.
fn lock(socket: &Path) -> Result<File, ServeError> {
    let path = socket.with_extension("sock.lock");
    let failed = |error: io::Error| ServeError::Io(path.clone(), error);
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW;
    let file = files::open(&path, flags, PRIVATE).map_err(failed)?;
    fchmod(&file, PRIVATE).map_err(|error| failed(error.into()))?;
    let limit = BootTime.now() + PATIENCE;
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(Errno::WOULDBLOCK | Errno::INTR) => {}
            Err(error) => return Err(failed(error.into())),
        }
        if connect(socket, std::time::Duration::ZERO).is_ok() {
            return Err(ServeError::Taken(socket.to_owned()));
        }
        if BootTime.now() >= limit {
            return Err(ServeError::Locked(path));
        }
        std::thread::sleep(AGAIN);
    }
}
