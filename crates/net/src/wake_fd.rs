//! A file descriptor by which one thread wakes another.
//!
//! **Source.** `eventfd(2)`, non-blocking.
//!
//! **Promise.** It is readable from [`WakeFd::wake`] until [`WakeFd::clear`]; neither waits.

use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Wakes a thread that waits for it to be readable.
#[derive(Debug)]
pub(crate) struct WakeFd(OwnedFd);

impl WakeFd {
    /// A descriptor that is not readable yet.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?))
    }

    /// Makes it readable.
    pub(crate) fn wake(&self) {
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes()); // a full counter is readable too
    }

    /// Makes it unreadable.
    pub(crate) fn clear(&self) {
        let _ = rustix::io::read(&self.0, &mut [0_u8; 8]); // it may be clear already
    }
}

impl AsFd for WakeFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
