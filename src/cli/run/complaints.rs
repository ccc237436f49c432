//! What an operator must hear of even if nobody prints changes: that nobody leads, and why.

use super::printer::Printer;
use bellwether::core::{Duration, Instant};
use bellwether::net::{Role, Standing};

/// How long nobody leads before that is worth a line.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often it is said again.
const AGAIN: Duration = Duration::from_secs(60);

/// Says on the standard error what is wrong, now and then.
#[derive(Debug)]
pub(super) struct Complaints {
    errors: Printer,
    next: Instant,
    withdrawn: bool,
}

impl Complaints {
    pub(super) fn new(errors: Printer) -> Self {
        Self { errors, next: Instant::NEVER, withdrawn: false }
    }

    /// What is believed has changed; if changes are printed, they need not be told twice.
    pub(super) fn hear(&mut self, standing: &Standing, printed: bool) {
        let before = std::mem::replace(&mut self.withdrawn, standing.role() == Role::Withdrawn);
        match (&standing.withdrawn, before) {
            (Some(why), _) if !printed => self.errors.say(&format!("takes no part: {why}")),
            (None, true) if !printed => self.errors.say("takes part again"),
            _ => {}
        }
    }

    /// Whether it is time to say why nobody leads, since that has lasted.
    pub(super) fn is_due(&mut self, standing: &Standing) -> bool {
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
