//! Following what a member believes, as a stream, by waiting, or by a file descriptor.

use crate::shared::{Seat, Seen, Shared, Version, quiet};
use crate::standing::Standing;
use std::fmt;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

/// Every change of what a member believes; what changes twice between two looks is told once. The
/// first is what it believes at first. It works with any executor, or none; with the feature
/// `stream` it is a `futures_core::Stream`, too.
pub struct Watch {
    shared: Arc<Shared>,
    seat: Seat,
    seen: Option<Version>,
    bell: Option<Arc<OwnedFd>>,
}

/// What a [`Watch`] saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// This is believed now.
    Changed(Standing),
    /// What was believed is believed for longer, or for less long.
    Prolonged(Standing),
    /// Nothing new in this time.
    Nothing,
    /// The member has left; nothing more will come.
    Ended,
}

impl Watch {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let seat = shared.seat();
        Self { shared, seat, seen: None, bell: None }
    }

    /// Waits for the next change; nothing once the member has left. Dropping the future loses none.
    pub async fn next(&mut self) -> Option<Standing> {
        std::future::poll_fn(|cx| self.poll_change(cx)).await
    }

    fn poll_change(&mut self, cx: &Context<'_>) -> Poll<Option<Standing>> {
        let changes = self.seen.map(|version| version.changes);
        let wanted = |seen: &Seen| Some(seen.version.changes) != changes;
        match self.seat.poll(cx.waker(), wanted) {
            None => Poll::Pending,
            Some(seen) if seen.ended => Poll::Ready(None),
            Some(seen) => {
                self.seen = Some(seen.version);
                Poll::Ready(Some(seen.standing))
            }
        }
    }

    /// The next change, if it comes within this time; for ever, if none is given.
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

    /// What is new at this moment, be it only that the time is longer.
    pub fn try_next(&mut self) -> Next {
        if let Some(bell) = &self.bell {
            quiet(bell);
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

    /// A file descriptor that is readable when [`try_next`](Self::try_next) may have news.
    ///
    /// # Errors
    /// If the system has none left.
    pub fn fd(&mut self) -> io::Result<BorrowedFd<'_>> {
        if self.bell.is_none() {
            self.bell = Some(self.shared.listen()?);
        }
        match &self.bell {
            Some(bell) => Ok(bell.as_fd()),
            None => Err(io::Error::other("the bell was just made")),
        }
    }
}

#[cfg(feature = "stream")]
impl futures_core::Stream for Watch {
    type Item = Standing;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Standing>> {
        self.poll_change(cx)
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("seen", &self.seen).finish_non_exhaustive()
    }
}
