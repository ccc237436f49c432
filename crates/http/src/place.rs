//! Where the server answers: an address, or the path of a Unix socket.

use bellwether_net::control;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use std::fmt;
use std::fs;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::str::FromStr;

/// The longest path of a Unix socket, without the byte that ends it.
const PATH_MAX: usize = 107;
/// How a Unix socket is written.
const UNIX: &str = "unix:";

/// An address such as `127.0.0.1:7480`, or `unix:/run/web.http`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Anybody who reaches it is answered.
    Tcp(SocketAddr),
    /// The member's user and root are answered, and need no token.
    Unix(PathBuf),
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some(path) = text.strip_prefix(UNIX) else {
            return text.parse().map(Self::Tcp).map_err(|_| {
                "write an address and a port, as in 127.0.0.1:7480 or [::1]:7480, or a path, as in \
                 unix:/run/web.http"
                    .to_owned()
            });
        };
        match path.len() {
            0 => Err("a path follows unix:, as in unix:/run/web.http".to_owned()),
            length if length > PATH_MAX => Err(format!(
                "the path of a socket has at most {PATH_MAX} bytes, this has {length}; choose a \
                 shorter one"
            )),
            _ => Ok(Self::Unix(PathBuf::from(path))),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "{UNIX}{}", path.display()),
        }
    }
}

/// A socket that listens.
#[derive(Debug)]
pub(crate) enum Listener {
    Tcp(TcpListener),
    /// The file is removed when this is dropped.
    Unix(UnixListener, SocketFile),
}

/// Removes the file of a socket.
#[derive(Debug)]
pub(crate) struct SocketFile(PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0); // it may have been removed already
    }
}

impl Place {
    /// Listens, without blocking. A socket that an ended process left is replaced.
    pub(crate) fn listen(&self) -> io::Result<Listener> {
        match self {
            Self::Tcp(address) => {
                let listener = TcpListener::bind(address)?;
                listener.set_nonblocking(true)?;
                Ok(Listener::Tcp(listener))
            }
            Self::Unix(path) => {
                if fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket()) {
                    // Without blocking: somebody may listen and accept nobody.
                    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
                    let (family, kind) = (AddressFamily::UNIX, SocketType::STREAM);
                    let probe = socket_with(family, kind, flags, None)?;
                    match connect(&probe, &SocketAddrUnix::new(path)?) {
                        Err(Errno::CONNREFUSED) => fs::remove_file(path)?,
                        Err(Errno::NOENT) => {}
                        Ok(()) | Err(_) => return Err(ErrorKind::AddrInUse.into()),
                    }
                }
                let listener = control::listen(path)?;
                Ok(Listener::Unix(listener, SocketFile(path.clone())))
            }
        }
    }

    /// Whether whoever connects is the member's user or root.
    pub fn is_private(&self) -> bool {
        matches!(self, Self::Unix(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_an_address_or_a_path() {
        for text in ["127.0.0.1:7480", "[::1]:7480", "unix:/run/web.http"] {
            assert_eq!(text.parse::<Place>().unwrap().to_string(), text);
        }
        for (text, why) in [
            ("web:7480", "write an address and a port"),
            ("7480", "write an address and a port"),
            ("unix:", "a path follows unix:"),
            (&format!("unix:/{}", "x".repeat(107)), "at most 107 bytes, this has 108"),
        ] {
            let error = text.parse::<Place>().unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn a_socket_that_nobody_serves_is_replaced_and_nothing_else_is() {
        let path = std::env::temp_dir().join(format!("bw-http-{}", std::process::id()));
        let place = Place::Unix(path.clone());
        let first = place.listen().unwrap();
        assert_eq!(place.listen().unwrap_err().kind(), ErrorKind::AddrInUse);
        drop(first);
        assert!(!path.exists());
        drop(UnixListener::bind(&path).unwrap()); // an ended process leaves its file
        drop(place.listen().unwrap());
        fs::write(&path, "text").unwrap();
        assert_eq!(place.listen().unwrap_err().kind(), ErrorKind::AddrInUse);
        assert_eq!(fs::read_to_string(&path).unwrap(), "text");
        fs::remove_file(&path).unwrap();
    }
}
