//! Watches what a member believes: as a stream, by blocking, or with a file descriptor.

use crate::shared::{Seen, Shared, Version, WaitSlot};
use crate::snapshot::Snapshot;
use crate::wake_fd::WakeFd;
use std::fmt;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

/// Changes of what a member believes, beginning with the present state. Several changes between two
/// calls are reported as one. It works with any executor, or none; with the feature `stream` it is
/// a `futures_core::Stream`, too.
pub struct Watch {
    shared: Arc<Shared>,
    slot: WaitSlot,
    seen: Option<Version>,
    wake_fd: Option<Arc<WakeFd>>,
}

/// What a [`Watch`] saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// The member believes this now.
    Changed(Snapshot),
    /// Only the deadline changed.
    Prolonged(Snapshot),
    /// Nothing changed in this time.
    Nothing,
    /// The member has ended.
    Ended,
}

impl Watch {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let slot = shared.slot();
        Self { shared, slot, seen: None, wake_fd: None }
    }

    /// Waits for the next change; `None` once the member has ended. Dropping the future loses no
    /// change.
    pub async fn next(&mut self) -> Option<Snapshot> {
        std::future::poll_fn(|cx| self.poll_change(cx)).await
    }

    fn poll_change(&mut self, cx: &Context<'_>) -> Poll<Option<Snapshot>> {
        let changes = self.seen.map(|version| version.changes);
        let wanted = |seen: &Seen| Some(seen.version.changes) != changes;
        match self.slot.poll(cx.waker(), wanted) {
            None => Poll::Pending,
            Some(seen) if seen.ended => Poll::Ready(None),
            Some(seen) => {
                self.seen = Some(seen.version);
                Poll::Ready(Some(seen.standing))
            }
        }
    }

    /// Blocks for the next change, at most for this time, if one is given.
    pub fn next_within(&mut self, timeout: Option<Duration>) -> Next {
        let before = self.seen;
        let changes = before.map(|version| version.changes);
        let seen = self.shared.wait(timeout, |seen| Some(seen.version.changes) != changes);
        if seen.ended {
            return Next::Ended;
        }
        self.seen = Some(seen.version);
        let changed = Some(seen.version.changes) != changes;
        if changed { Next::Changed(seen.standing) } else { Next::Nothing }
    }

    /// What changed since the last call, including the deadline; does not block.
    pub fn try_next(&mut self) -> Next {
        if let Some(fd) = &self.wake_fd {
            fd.clear();
        }
        let before = self.seen;
        let seen = self.shared.see();
        if seen.ended {
            return Next::Ended;
        }
        self.seen = Some(seen.version);
        match before {
            Some(before) if before == seen.version => Next::Nothing,
            Some(before) if before.changes == seen.version.changes => {
                Next::Prolonged(seen.standing)
            }
            _ => Next::Changed(seen.standing),
        }
    }

    /// A file descriptor that is readable when [`try_next`](Self::try_next) may have a change.
    ///
    /// # Errors
    /// If the system has no descriptor left.
    pub fn fd(&mut self) -> io::Result<BorrowedFd<'_>> {
        if self.wake_fd.is_none() {
            self.wake_fd = Some(self.shared.listen()?);
        }
        match &self.wake_fd {
            Some(fd) => Ok(fd.as_fd()),
            None => Err(io::Error::other("the descriptor was just made")),
        }
    }
}

#[cfg(feature = "stream")]
impl futures_core::Stream for Watch {
    type Item = Snapshot;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Snapshot>> {
        self.poll_change(cx)
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("seen", &self.seen).finish_non_exhaustive()
    }
}
