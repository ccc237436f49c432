//! How the member's thread waits for the next thing to do, and how late it is woken.

use crate::member::Member;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

impl Member {
    /// Waits for a datagram, a request, or the next deadline.
    pub(crate) fn wait(&mut self) {
        let deadline = self.deadline();
        let left = deadline.since(self.shared.now()).as_nanos();
        let (seconds, nanos) = (left / 1_000_000_000, left % 1_000_000_000);
        let timeout = Timespec { tv_sec: seconds as i64, tv_nsec: nanos as i64 };
        let wake = PollFd::from_borrowed_fd(self.shared.wake_fd(), PollFlags::IN);
        let (own, group) = self.sockets.poll_fds();
        let count = if group.is_some() { 3 } else { 2 };
        let mut fds = [own, wake.clone(), group.unwrap_or(wake)];
        // An interruption is harmless: the next turn looks for work.
        let woken = poll(&mut fds[..count], Some(&timeout));
        if left > 0 && woken == Ok(0) {
            self.scheduling.note(deadline, self.shared.now());
        }
        self.shared.clear_wake();
    }
}
