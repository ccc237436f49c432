//! Reports to the operator that nobody leads, and why, although nothing changes.

use bellwether::core::{Duration, Instant};
use bellwether::net::{Role, Snapshot};

/// How long nobody leads before it is reported.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often it is reported again.
const AGAIN: Duration = Duration::from_secs(60);

/// When to report on the standard error that nobody leads.
#[derive(Debug)]
pub(super) struct Complaints {
    next: Instant,
}

impl Complaints {
    pub(super) fn new() -> Self {
        Self { next: Instant::NEVER }
    }

    /// Whether it is time to report why nobody leads.
    pub(super) fn is_due(&mut self, snapshot: &Snapshot) -> bool {
        if snapshot.role() != Role::Looking {
            self.next = Instant::NEVER;
        } else if self.next == Instant::NEVER {
            self.next = snapshot.at + PATIENCE;
        } else if snapshot.at >= self.next {
            self.next = snapshot.at + AGAIN;
            return true;
        }
        false
    }

    /// When to look again.
    pub(super) fn next(&self) -> Instant {
        self.next
    }
}
