//! What may take long before the loop begins, such as looking names up, on a thread of its own.
//!
//! **Promise.** Whatever hangs there, SIGTERM and SIGINT end the process at once, and so does the
//! time by which it must lead.

use super::supervisor::NOT_ELECTED;
use super::waker::Waker;
use crate::cli::signals::{Asked, Signals};
use bellwether::core::{Duration, Instant};
use bellwether::net::clock::{BootTime, Clock};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::sync::mpsc::{TryRecvError, sync_channel};
use std::thread;

/// Waits for what may take long, and for signals.
#[derive(Debug)]
pub(super) struct Joining {
    pub(super) signals: Signals,
    pub(super) bell: Waker,
    /// When it must lead at the latest, if it must.
    pub(super) deadline: Option<(Instant, Duration)>,
    /// What signals asked for that can wait for the loop.
    pub(super) early: Vec<Asked>,
}

/// What became of it.
#[derive(Debug)]
pub(super) enum Joined<T> {
    /// It is done.
    Done(T),
    /// It has to end with this code, and the work with it; why, if that must be said.
    End(u8, Option<String>),
}

impl Joining {
    /// Does this on another thread until it is done or has to end.
    pub(super) fn wait_for<T: Send + 'static>(
        &mut self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<Joined<T>> {
        let (finished, done) = sync_channel(1);
        let bell = self.bell.clone();
        thread::Builder::new().name("joining".to_owned()).spawn(move || {
            let _ = finished.send(work()); // or nobody waits any more
            bell.ring();
        })?;
        loop {
            self.bell.quiet();
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
            [PollFd::new(&self.signals, PollFlags::IN), PollFd::new(&self.bell, PollFlags::IN)];
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
