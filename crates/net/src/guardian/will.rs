//! Sends the last will of a member that has died.
//!
//! **Source.** Our own; see [`LastWill`](crate::LastWill). A leader that is killed cannot resign,
//! and others would wait until its lease has run out. Its guardian knows better.
//!
//! **Assumptions.** Everything that acts on the leadership was in the member's process or was the
//! command, or was noted by [`LastWill::told`](crate::LastWill::told). The guardian itself notes
//! the end that it writes into the leader file.
//!
//! **Promise.** The will is sent only if
//!
//! 1. the member is dead: the kernel says so, by a descriptor of the process that the member itself
//!    opened. The end of its socket is not enough, and a process number may be another's;
//! 2. nothing of the command is left: it is called after that;
//! 3. what was told outside is over: whoever was told "leader until T" is waited for;
//! 4. nobody has the member's address: a successor is not spoken for.
//!
//! Otherwise nothing is sent, and the lease runs out as without a guardian. Copies are dropped as
//! replays, so it is sent several times.

use super::LEASE_MAX;
use super::alarm::{Alarm, now};
use crate::last_will::{LastWill, WILL_COPIES, Will};
use crate::socket::udp;
use bellwether_core::{Duration, Instant};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::io::Errno;
use std::net::UdpSocket;
use std::{io, thread};

/// How long a member whose socket is closed may take to die.
const DYING: Duration = Duration::from_secs(1);
/// When it is sent again, after the time before.
const COPIES: [std::time::Duration; WILL_COPIES] =
    [std::time::Duration::from_millis(2), std::time::Duration::from_millis(8)];

/// The last will of a member, as its guardian has it.
#[derive(Debug)]
pub(super) struct WillKeeper {
    will: LastWill,
    /// How long the member may take to die.
    pub(super) patience: Duration,
}

impl WillKeeper {
    /// Takes the next two of these files.
    pub(super) fn new(files: &mut impl Iterator<Item = OwnedFd>) -> io::Result<Self> {
        let (Some(process), Some(file)) = (files.next(), files.next()) else {
            return Err(io::Error::other("the start message has no last will"));
        };
        Ok(Self { will: LastWill::given([process, file]), patience: DYING })
    }

    /// The will itself.
    pub(super) fn will(&self) -> &LastWill {
        &self.will
    }

    /// Sends the will if the member is dead or dies soon. Nothing of its command is left. It may
    /// wait for as long as something that was told outside holds.
    pub(super) fn execute(&self) {
        let Ok(alarm) = Alarm::new() else { return };
        if !self.is_dead_by(now() + self.patience, &alarm) {
            return;
        }
        let (Some(will), Ok(told)) = (self.will.read(), self.will.told_until()) else { return };
        if !may_be_ours(told, now()) {
            return;
        }
        while now() <= told {
            let _ = alarm.set(told + Duration::from_nanos(1));
            wait_for(&alarm); // or it is tried again
        }
        // In use: the next life of the member is there.
        if let Ok(socket) = udp(will.listen, false) {
            send(&socket, &will);
            for copy in COPIES {
                thread::sleep(copy);
                send(&socket, &will);
            }
        }
    }

    /// Whether the member is dead, or dies until then.
    fn is_dead_by(&self, limit: Instant, alarm: &Alarm) -> bool {
        let process = self.will.process();
        while now() < limit && !is_readable(process) {
            let mut events =
                [PollFd::new(&process, PollFlags::IN), PollFd::new(alarm, PollFlags::IN)];
            let waited = alarm.set(limit).and_then(|()| poll(&mut events, None));
            if waited.is_err_and(|error| error != Errno::INTR) {
                return false;
            }
        }
        is_readable(process)
    }
}

/// Whether this can be the end of a lease of ours. Nobody is waited for who was told a later one.
fn may_be_ours(told: Instant, now: Instant) -> bool {
    told <= now + LEASE_MAX
}

/// Whether it can be read from now. An error of the descriptor is no death.
fn is_readable(process: BorrowedFd<'_>) -> bool {
    let mut events = [PollFd::new(&process, PollFlags::IN)];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut events, Some(&at_once)).is_ok() && events[0].revents().contains(PollFlags::IN)
}

fn wait_for(alarm: &Alarm) {
    if poll(&mut [PollFd::new(alarm, PollFlags::IN)], None).is_err() {
        thread::sleep(std::time::Duration::from_millis(1));
    }
}

fn send(socket: &UdpSocket, will: &Will) {
    for place in &will.places {
        let _ = socket.send_to(&will.frame, place); // it may be unreachable, like any other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_lease_that_can_be_chosen_is_waited_for_and_what_is_no_lease_is_not() {
        let now = now();
        assert!(may_be_ours(now + Duration::from_secs(36_000), now), "--lease 10h");
        assert!(may_be_ours(now + Duration::from_secs(86_399), now), "--lock and --period");
        assert!(!may_be_ours(now + Duration::from_secs(90_000), now));
    }
}
