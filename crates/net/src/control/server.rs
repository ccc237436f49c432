//! The side that answers: threads of its own, which only ever hold a handle of the member.

use super::connections::{self, Shared};
use super::desk::Desk;
use super::socket::Socket;
use super::{BadPlace, STACK};
use crate::setting::{NamesSettings, Setting};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

/// Why nobody can ask.
#[derive(Debug)]
#[non_exhaustive]
pub enum CannotServe {
    /// There is no such place.
    Place(BadPlace),
    /// Another process answers there.
    Taken(PathBuf),
    /// Another process holds this lock, and does not answer.
    Locked(PathBuf),
    /// The machine refused.
    Io(PathBuf, io::Error),
}

impl CannotServe {
    /// Whether the settings are to blame, and not the machine.
    pub fn is_config(&self) -> bool {
        !matches!(self, Self::Io(..))
    }
}

impl NamesSettings for CannotServe {
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

impl fmt::Display for CannotServe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.explain(&|setting| setting.to_string()))
    }
}

impl std::error::Error for CannotServe {}

/// Answers for a member until it is dropped.
#[derive(Debug)]
pub struct Server {
    path: PathBuf,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Answers at the member's place in this directory. What a dead process left there is
    /// replaced.
    ///
    /// # Errors
    /// [`CannotServe`], with the path and the way out.
    pub fn start(
        dir: &Path,
        group: &str,
        id: u64,
        desk: Arc<dyn Desk>,
    ) -> Result<Self, CannotServe> {
        let socket = Socket::bind(dir, group, id)?;
        let path = socket.path.clone();
        let failed = |error: io::Error| CannotServe::Io(path.clone(), error);
        let shared = Arc::new(Shared::new(desk).map_err(failed)?);
        let threads = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("control".to_owned())
            .stack_size(STACK)
            .spawn(move || connections::serve(&socket, &threads))
            .map_err(failed)?;
        Ok(Self { path, shared, thread: Some(thread) })
    }

    /// Where it answers.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.end();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // whatever it died of, it is over
        }
    }
}
