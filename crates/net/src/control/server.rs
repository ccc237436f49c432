//! The server: threads of its own, which only hold a handle of the member.

use super::connections::{self, Shared};
use super::handler::ControlHandler;
use super::socket::Socket;
use super::{BadPlace, STACK};
use crate::setting::{NamesSettings, Setting};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

/// Why a member cannot serve a control socket.
#[derive(Debug)]
#[non_exhaustive]
pub enum ServeError {
    /// The socket can have no path.
    Place(BadPlace),
    /// Another process answers there.
    Taken(PathBuf),
    /// Another process holds this lock, and does not answer.
    Locked(PathBuf),
    /// The system refused.
    Io(PathBuf, io::Error),
}

impl ServeError {
    /// Whether the settings are wrong, rather than the machine.
    pub fn is_config(&self) -> bool {
        !matches!(self, Self::Io(..))
    }
}

impl NamesSettings for ServeError {
    fn explain(&self, name: &dyn Fn(Setting) -> String) -> String {
        let (id, dir) = (name(Setting::Id), name(Setting::Dir));
        match self {
            Self::Place(bad) => bad.explain(name),
            Self::Taken(path) => format!(
                "{} answers already: another process is this member; end it first, or choose \
                 another {id} or {dir}",
                path.display()
            ),
            Self::Locked(path) => format!(
                "{} is locked by another process, which may be this member although it does not \
                 answer; end it first (`fuser {0}` names it), or choose another {id} or {dir}",
                path.display()
            ),
            Self::Io(path, error) => format!("cannot answer at {}: {error}", path.display()),
        }
    }
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.explain(&|setting| setting.to_string()))
    }
}

impl std::error::Error for ServeError {}

/// Serves the control socket of a member until it is dropped.
#[derive(Debug)]
pub struct Server {
    path: PathBuf,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves the member's socket in this directory. Files that an ended process left are replaced.
    ///
    /// # Errors
    /// [`ServeError`], with the path and what to do.
    pub fn start(
        dir: &Path,
        group: &str,
        id: u64,
        desk: Arc<dyn ControlHandler>,
    ) -> Result<Self, ServeError> {
        let socket = Socket::bind(dir, group, id)?;
        let path = socket.path.clone();
        let failed = |error: io::Error| ServeError::Io(path.clone(), error);
        let shared = Arc::new(Shared::new(desk).map_err(failed)?);
        let threads = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("control".to_owned())
            .stack_size(STACK)
            .spawn(move || connections::serve(&socket, &threads))
            .map_err(failed)?;
        Ok(Self { path, shared, thread: Some(thread) })
    }

    /// The path of the socket.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.end();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // a panic there ends it as well
        }
    }
}
