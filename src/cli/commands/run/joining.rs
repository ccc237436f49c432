//! Does what may take long before the loop begins, such as name lookups, on a thread of its own.
//!
//! **Promise.** Whatever hangs there, SIGTERM, SIGINT and the deadline of `--elected-within` end
//! the process at once.

use super::supervisor::NOT_ELECTED;
use crate::cli::signals::{Asked, Signals};
use bellwether::core::{Duration, Instant};
use bellwether::net::WakeFd;
use bellwether::net::clock::{BootTime, Clock};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::sync::mpsc::{TryRecvError, sync_channel};
use std::thread;

/// Waits for what may take long, and for signals.
#[derive(Debug)]
pub(super) struct Joining {
    pub(super) signals: Signals,
    pub(super) waker: WakeFd,
    /// The deadline by which it must lead, if there is one.
    pub(super) deadline: Option<(Instant, Duration)>,
    /// Signals that can wait for the loop.
    pub(super) early: Vec<Asked>,
}

/// The result of the work.
#[derive(Debug)]
pub(super) enum Joined<T> {
    /// It is done.
    Done(T),
    /// The process must end with this code; why, if it must be reported.
    End(u8, Option<String>),
}

impl Joining {
    /// Does the work on another thread until it is done or the process must end.
    pub(super) fn wait_for<T: Send + 'static>(
        &mut self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<Joined<T>> {
        let (finished, done) = sync_channel(1);
        let waker = self.waker.clone();
        thread::Builder::new().name("joining".to_owned()).spawn(move || {
            let _ = finished.send(work()); // or nobody waits any more
            waker.wake();
        })?;
        loop {
            self.waker.clear();
            match done.try_recv() {
                Ok(result) => return Ok(Joined::Done(result)),
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => {
                    return Err(io::Error::other("the thread that joins has ended"));
                }
            }
            for asked in self.signals.pending() {
                match asked {
                    Asked::End => return Ok(Joined::End(0, None)),
                    later => self.early.push(later),
                }
            }
            let now = BootTime.now();
            if let Some((_, within)) = self.deadline.filter(|(deadline, _)| now >= *deadline) {
                let why = format!("it was not elected within {within}: it has not joined yet");
                return Ok(Joined::End(NOT_ELECTED, Some(why)));
            }
            self.sleep(now)?;
        }
    }

    fn sleep(&self, now: Instant) -> io::Result<()> {
        let left = self.deadline.map(|(deadline, _)| deadline.since(now).as_nanos());
        let left = left.map(std::time::Duration::from_nanos);
        let timeout = left.and_then(|left| Timespec::try_from(left).ok());
        let mut fds =
            [PollFd::new(&self.signals, PollFlags::IN), PollFd::new(&self.waker, PollFlags::IN)];
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
