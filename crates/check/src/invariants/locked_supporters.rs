//! Whenever q supports p, q is locked to p.
//!
//! Fetzer and Cristian, section IX-A, the lemma from which (SO) follows: every lock outlives the
//! lease it was given for. A lock still holds at its last reading: unlocked is strict. A crash
//! loses a lock, so a supporter that was down is exempt for as long as a promise of its last
//! incarnation can last. A process without a trace is exempt too.

use super::{Finding, Invariant};
use crate::view::View;

/// Whenever a process supports another, it is locked to it.
#[derive(Clone, Copy, Debug)]
pub struct LockedSupporters;

impl Invariant for LockedSupporters {
    fn name(&self) -> &'static str {
        "locked-supporters"
    }

    fn look(&mut self, view: &View<'_>) -> Finding {
        if view.leaders.is_empty() {
            return Finding::Nothing;
        }
        for leader in view.leaders.iter() {
            for supporter in view.supporters(leader).iter() {
                if !is_locked(view, supporter, leader) && !is_excused(view, supporter) {
                    return Finding::Broken(tell(view, supporter, leader));
                }
            }
        }
        Finding::Kept
    }
}

fn is_locked(view: &View<'_>, supporter: u32, leader: u32) -> bool {
    let row = view.row(supporter);
    row.lock.is_some_and(|lock| lock.to == leader && row.reading <= lock.until)
}

fn is_excused(view: &View<'_>, supporter: u32) -> bool {
    let told = view.rows.iter().filter_map(|row| Some(row.list?.longest)).max();
    let longest = view.course.time_scales.lease.max(told.unwrap_or_default());
    let promised = view.course.stretched(longest);
    let row = view.row(supporter);
    row.unseen || row.gone.is_some_and(|gone| view.at <= gone + promised)
}

fn tell(view: &View<'_>, supporter: u32, leader: u32) -> String {
    let row = view.row(supporter);
    let lock = row.lock.map_or_else(
        || "to nobody".to_owned(),
        |lock| format!("to {} until its clock, now {}, reads {}", lock.to, row.reading, lock.until),
    );
    format!("{}, but process {supporter} is locked {lock}", view.tell(leader))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::scenes::Stage;
    use crate::view::Lock;
    use bellwether_core::{Instant, SimTime};

    #[test]
    fn a_supporter_is_locked_through_the_last_reading_of_its_lock() {
        let mut stage = Stage::new(3);
        stage.leads(0, &[0, 1]);
        assert_eq!(stage.look(&mut LockedSupporters), Finding::Kept);
        let until = Instant::from_nanos(700);
        stage.rows[1].lock = Some(Lock { to: 0, until });
        stage.rows[1].reading = until;
        assert_eq!(stage.look(&mut LockedSupporters), Finding::Kept);
        stage.rows[1].reading = Instant::from_nanos(701);
        assert!(stage.breaks(&mut LockedSupporters, "but process 1 is locked to 0 until"));
        stage.rows[1].lock = None;
        assert!(stage.breaks(&mut LockedSupporters, "but process 1 is locked to nobody"));
        stage.rows[1].lock = Some(Lock { to: 2, until: Instant::from_nanos(900) });
        assert!(stage.breaks(&mut LockedSupporters, "but process 1 is locked to 2 until"));
    }

    #[test]
    fn a_crash_forgets_a_lock_for_no_longer_than_it_would_have_lasted() {
        let mut stage = Stage::new(3);
        stage.leads(0, &[0, 1]);
        stage.gone(1);
        stage.rows[1].gone = Some(SimTime::from_nanos(100));
        stage.at = SimTime::from_nanos(100) + stage.course.time_scales.lease;
        assert_eq!(stage.look(&mut LockedSupporters), Finding::Kept);
        stage.at += stage.course.time_scales.lease;
        assert!(stage.breaks(&mut LockedSupporters, "but process 1 is locked to nobody"));
        stage.rows[1].unseen = true;
        assert_eq!(stage.look(&mut LockedSupporters), Finding::Kept, "nobody knows");
    }
}
