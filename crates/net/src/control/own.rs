//! The control socket that a member of an embedding program serves itself.
//!
//! **Assumptions.** The directory is on this machine, and its path fits a unix socket.
//!
//! **Promise.** It holds no handle of the member, so the member ends when the program drops the
//! last one. A directory that other users can write to is refused: they could answer in place of
//! the member.

use super::{Change, ChangeStream, ControlHandler, ServeError, Server, WatchEvent};
use crate::handle::{Asked, ask_status, ask_to_change, ask_to_forget, ask_to_resign};
use crate::last_will::LastWill;
use crate::past::Past;
use crate::shared::Shared;
use crate::snapshot::Snapshot;
use crate::status::Status;
use crate::voter_change::VoterChange;
use crate::watch::{Next, Watch};
use bellwether_core::NodeId;
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
    will: Option<&LastWill>,
) -> Result<Server, ServeError> {
    private(dir).map_err(|error| ServeError::Io(dir.to_owned(), error))?;
    let (group, shared, will) = (group.to_owned(), Arc::clone(shared), will.cloned());
    Server::start(dir, &group.clone(), id, Arc::new(Own { group, shared, will }))
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
    /// The last will of the member, if a guardian keeps it: it is sent when what was told is over.
    will: Option<LastWill>,
}

impl Own {
    fn hand_over(&self, nominee: Option<NodeId>) -> Result<(), String> {
        let asked = ask_to_resign(&self.shared, None, nominee);
        asked.and_then(Asked::wait).map_err(|not_now| not_now.to_string())
    }
}

impl ControlHandler for Own {
    fn status(&self) -> Result<Status, String> {
        let status = ask_status(&self.shared).map_err(|gone| gone.to_string());
        note(self.will.as_ref(), &self.shared.see().standing);
        status
    }

    fn resign(&self) -> Result<(), String> {
        self.hand_over(None)
    }

    fn transfer(&self, to: NodeId) -> Result<(), String> {
        self.hand_over(Some(to))
    }

    fn change_voters(&self, change: VoterChange, list: Option<u64>) -> Result<(), String> {
        ask_to_change(&self.shared, change, list).map_err(|not_now| not_now.to_string())
    }

    fn forget(&self, id: NodeId) -> Result<(), String> {
        ask_to_forget(&self.shared, id).map_err(|not_now| not_now.to_string())
    }

    fn past(&self, last: Option<bellwether_core::Duration>) -> Result<Past, String> {
        Ok(self.shared.past(last).noting(self.will.as_ref()))
    }

    fn watch(&self) -> Box<dyn ChangeStream> {
        let watch = Watch::new(Arc::clone(&self.shared));
        Box::new(OwnChanges { group: self.group.clone(), watch, will: self.will.clone() })
    }
}

/// Notes what is about to be told outside.
fn note(will: Option<&LastWill>, standing: &Snapshot) {
    if let Some(will) = will.filter(|_| standing.leads()) {
        will.told(standing.until);
    }
}

struct OwnChanges {
    group: String,
    watch: Watch,
    will: Option<LastWill>,
}

impl ChangeStream for OwnChanges {
    fn next(&mut self, within: Duration) -> WatchEvent {
        match self.watch.next_within(Some(within)) {
            Next::Changed(standing) => {
                note(self.will.as_ref(), &standing);
                WatchEvent::Change(Change::of(&self.group, &standing))
            }
            Next::Prolonged(_) | Next::Nothing => WatchEvent::Nothing,
            Next::Ended => WatchEvent::Ended,
        }
    }
}
