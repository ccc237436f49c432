//! Wakes an event loop from other threads.

use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

/// A file descriptor that is readable after somebody called [`wake`](Self::wake).
#[derive(Clone, Debug)]
pub(super) struct Waker(Arc<OwnedFd>);

impl Waker {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self(Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?)))
    }

    /// Wakes whoever waits.
    pub(super) fn wake(&self) {
        let _ = rustix::io::write(&self.0, &1u64.to_ne_bytes()); // it can only be full
    }

    /// Makes it unreadable until the next call of [`wake`](Self::wake).
    pub(super) fn reset(&self) {
        let mut count = [0; 8];
        let _ = rustix::io::read(&self.0, &mut count); // it can only be empty
    }
}

impl AsFd for Waker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
