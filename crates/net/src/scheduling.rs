//! How promptly the machine runs the member's thread, and what the member says about it.
//!
//! **Source.** σ of the protocol's leases: the longest that a process takes to react. A machine
//! that takes longer does not endanger safety, which rests on clocks alone, but its leader loses
//! leases while nothing is wrong.
//!
//! **Promise.** A refused priority, and a delay beyond σ, are in the warnings of the status; each
//! says what to do.

use crate::lateness::Lateness;
use crate::priority::{self, Children, Class};
use bellwether_core::{Duration, Instant};

/// The scheduling of one member's thread.
#[derive(Debug)]
pub(crate) struct Scheduling {
    delays: Lateness,
    /// The longest delay that the leases allow for (σ), if there are leases.
    allowed: Option<Duration>,
    /// Why the thread runs at a normal priority, if it does.
    refused: Option<String>,
}

impl Scheduling {
    pub(crate) fn new(allowed: Option<Duration>) -> Self {
        Self { delays: Lateness::new(), allowed, refused: None }
    }

    /// Raises the calling thread. Without permission the member only loses its lease earlier under
    /// load.
    pub(crate) fn raise(&mut self) {
        let note = priority::raise(Class::Nice, Children::Normal).note;
        self.refused = note.map(|note| priority::of_member(&note));
    }

    /// Takes a measurement: the thread was to be woken at `due`, and it is `now`.
    pub(crate) fn note(&mut self, due: Instant, now: Instant) {
        self.delays.note(due, now);
    }

    /// The longest delay lately.
    pub(crate) fn delay(&self, now: Instant) -> Duration {
        self.delays.worst(now)
    }

    /// What the operator should know.
    pub(crate) fn warnings(&self, now: Instant) -> impl Iterator<Item = String> {
        let delay = self.delay(now);
        let millis = |length: Duration| length.as_nanos() as f64 / 1e6;
        let late = self.allowed.filter(|allowed| delay > *allowed).map(|allowed| {
            let (delay, allowed) = (millis(delay), millis(allowed));
            format!(
                "the machine woke this member up to {delay:.1} ms late, but its leases allow for \
                 {allowed:.1} ms (sigma): the leader may change while nothing is wrong; take load \
                 off this machine, or give all members a preset with a larger sigma"
            )
        });
        self.refused.clone().into_iter().chain(late)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delay_beyond_sigma_is_a_warning_that_names_both() {
        let ms = Duration::from_millis;
        let begun = Instant::from_nanos(100_000_000_000);
        let mut scheduling = Scheduling::new(Some(ms(10)));
        scheduling.note(begun, begun + ms(10));
        assert_eq!(scheduling.warnings(begun + ms(10)).count(), 0, "σ itself is allowed");
        scheduling.note(begun + ms(50), begun + ms(73));
        let now = begun + ms(73);
        assert_eq!(scheduling.delay(now), ms(23));
        let said: Vec<String> = scheduling.warnings(now).collect();
        assert!(said.len() == 1 && said[0].contains("up to 23.0 ms late"), "{said:?}");
        assert!(said[0].contains("10.0 ms (sigma)"), "{said:?}");
        let mut free = Scheduling::new(None);
        free.note(begun, begun + ms(400));
        assert_eq!(free.warnings(begun + ms(400)).count(), 0, "no lease, no limit");
    }
}
