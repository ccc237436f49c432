//! What an operator must hear of although nothing changes: that nobody leads, and why.

use bellwether::core::{Duration, Instant};
use bellwether::net::{Role, Snapshot};

/// How long nobody leads before that is worth a line.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often it is said again.
const AGAIN: Duration = Duration::from_secs(60);

/// When to say on the standard error what is wrong.
#[derive(Debug)]
pub(super) struct Complaints {
    next: Instant,
}

impl Complaints {
    pub(super) fn new() -> Self {
        Self { next: Instant::NEVER }
    }

    /// Whether it is time to say why nobody leads, since that has lasted.
    pub(super) fn is_due(&mut self, standing: &Snapshot) -> bool {
        if standing.role() != Role::Looking {
            self.next = Instant::NEVER;
        } else if self.next == Instant::NEVER {
            self.next = standing.at + PATIENCE;
        } else if standing.at >= self.next {
            self.next = standing.at + AGAIN;
            return true;
        }
        false
    }

    /// When to look again.
    pub(super) fn next(&self) -> Instant {
        self.next
    }
}
