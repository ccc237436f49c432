//! A file descriptor by which one thread wakes another.
//!
//! **Source.** `eventfd(2)`, non-blocking.
//!
//! **Promise.** It is readable from [`WakeFd::wake`] until [`WakeFd::clear`]; neither waits.

use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// Wakes a thread that waits for it to be readable; clones are one descriptor.
#[derive(Clone, Debug)]
pub struct WakeFd(Arc<OwnedFd>);

impl WakeFd {
    /// A descriptor that is not readable yet.
    ///
    /// # Errors
    /// If the system has no more descriptors.
    pub fn new() -> io::Result<Self> {
        Ok(Self(Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?)))
    }

    /// Makes it readable.
    pub fn wake(&self) {
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes()); // a full counter is readable too
    }

    /// Makes it unreadable.
    pub fn clear(&self) {
        let _ = rustix::io::read(&self.0, &mut [0_u8; 8]); // it may be clear already
    }
}

impl AsFd for WakeFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(feature = "guardian")]
mod waiting {
    use super::WakeFd;
    use bellwether_core::Duration;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use std::os::fd::BorrowedFd;

    impl WakeFd {
        /// Waits until it or one of these is readable, at most for so long; whether it is.
        pub(crate) fn wait<'a>(
            &self,
            left: Duration,
            others: impl IntoIterator<Item = BorrowedFd<'a>>,
        ) -> bool {
            let mut events = vec![PollFd::new(self, PollFlags::IN)];
            let others = others.into_iter();
            events.extend(others.map(|other| PollFd::from_borrowed_fd(other, PollFlags::IN)));
            let left = std::time::Duration::from_nanos(left.as_nanos());
            let _ = poll(&mut events, Timespec::try_from(left).ok().as_ref()); // or look again
            !events[0].revents().is_empty()
        }
    }
}
