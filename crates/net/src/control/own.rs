//! The control socket that a member of an embedding program serves itself.
//!
//! **Assumptions.** The directory is on this machine, and its path fits a unix socket.
//!
//! **Promise.** It holds no handle of the member, so the member ends when the program drops the
//! last one. A directory that other users can write to is refused: they could answer in place of
//! the member.

use super::{Change, ChangeStream, ControlHandler, ServeError, Server, WatchEvent};
use crate::handle::{ask_status, ask_to_resign};
use crate::shared::Shared;
use crate::status::Status;
use crate::watch::{Next, Watch};
use rustix::process::geteuid;
use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Serves the member's socket in this directory, which is created if it is missing.
pub(crate) fn serve(
    dir: &Path,
    group: &str,
    id: u64,
    shared: &Arc<Shared>,
) -> Result<Server, ServeError> {
    private(dir).map_err(|error| ServeError::Io(dir.to_owned(), error))?;
    let (group, shared) = (group.to_owned(), Arc::clone(shared));
    Server::start(dir, &group.clone(), id, Arc::new(Own { group, shared }))
}

/// Creates the directory if needed, and refuses one that belongs to another user or that others may
/// write to.
fn private(dir: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    let found = fs::metadata(dir)?;
    let refused = |why: String| Err(io::Error::new(ErrorKind::PermissionDenied, why));
    let (owner, me, mode) = (found.uid(), geteuid().as_raw(), found.mode() & 0o777);
    if owner != me {
        return refused(format!(
            "it belongs to user {owner}, and a control directory to the member's user, {me}; \
             choose another"
        ));
    }
    if mode & 0o022 != 0 {
        return refused(format!(
            "its mode is {mode:03o}, and nobody else may write to a control directory; chmod 700 it"
        ));
    }
    Ok(())
}

struct Own {
    group: String,
    shared: Arc<Shared>,
}

impl ControlHandler for Own {
    fn status(&self) -> Result<Status, String> {
        ask_status(&self.shared).map_err(|gone| gone.to_string())
    }

    fn resign(&self) -> Result<(), String> {
        let asked = ask_to_resign(&self.shared, None).map_err(|not_now| not_now.to_string())?;
        asked.wait().map_err(|not_now| not_now.to_string())
    }

    fn watch(&self) -> Box<dyn ChangeStream> {
        let watch = Watch::new(Arc::clone(&self.shared));
        Box::new(OwnChanges { group: self.group.clone(), watch })
    }
}

struct OwnChanges {
    group: String,
    watch: Watch,
}

impl ChangeStream for OwnChanges {
    fn next(&mut self, within: Duration) -> WatchEvent {
        match self.watch.next_within(Some(within)) {
            Next::Changed(standing) => WatchEvent::Change(Change::of(&self.group, &standing)),
            Next::Prolonged(_) | Next::Nothing => WatchEvent::Nothing,
            Next::Ended => WatchEvent::Ended,
        }
    }
}
