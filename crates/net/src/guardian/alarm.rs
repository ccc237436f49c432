//! The clock of the machine, and a timer on it.
//!
//! **Source.** `CLOCK_BOOTTIME` and a timer on the same clock: both run while the machine sleeps.
//!
//! **Promise.** A timer that was due during sleep fires at once after it.

use crate::clock::{BootTime, Clock as _};
use bellwether_core::Instant;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

const SECOND: u64 = 1_000_000_000;

/// The time now.
pub(super) fn now() -> Instant {
    BootTime.now()
}

/// A file descriptor that is readable from a certain time on.
#[derive(Debug)]
pub(super) struct Alarm(OwnedFd);

impl Alarm {
    pub(super) fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        timerfd_create(TimerfdClockId::Boottime, flags).map(Self)
    }

    /// Sets the time; the descriptor is readable at once if the time has passed.
    pub(super) fn set(&self, at: Instant) -> io::Result<()> {
        const OFF: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
        let nanos = at.as_nanos().max(1); // zero would switch it off
        let value = Timespec {
            tv_sec: i64::try_from(nanos / SECOND).unwrap_or(i64::MAX),
            tv_nsec: (nanos % SECOND).cast_signed(),
        };
        let value = if at == Instant::NEVER { OFF } else { value };
        let setting = Itimerspec { it_interval: OFF, it_value: value };
        timerfd_settime(&self.0, TimerfdTimerFlags::ABSTIME, &setting).map(|_before| ())
    }
}

impl AsFd for Alarm {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
