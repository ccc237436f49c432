//! Gives memory back while the member runs.
//!
//! **Source.** Whatever a member answers, tells or reads again takes code and constants that it
//! needs for nothing else. Its memory is locked, so the kernel never takes such pages away.
//!
//! **Promise.** They are dropped soon after the member has joined, and later only if there are many
//! more of them than ten minutes of work needed. So a member that does nothing but renew never
//! loses a page again, nor does one that is asked the same every few minutes. A member that leads
//! loses none. What is needed again comes back by minor faults. A thread of its own does it, and
//! the loop and the member's thread go on meanwhile.

use bellwether::net::{Election, memory};
use std::convert::Infallible;
use std::io;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// From joining until what the start needed is dropped.
const SETTLES: Duration = Duration::from_secs(3);
/// From one look at the size to the next. Who asks regularly asks within this time.
const LOOK: Duration = Duration::from_secs(600);
/// Pages that are worth it, in bytes.
const MUCH: u64 = 1 << 20;

/// The thread that does it, as long as this lives.
#[derive(Debug)]
pub(super) struct Upkeep {
    _alive: Sender<Infallible>,
}

impl Upkeep {
    /// Starts it, for a member that joins now.
    pub(super) fn start(election: Election) -> io::Result<Self> {
        let (alive, ended) = channel();
        thread::Builder::new().name("upkeep".to_owned()).spawn(move || {
            let (mut step, mut rest) = (Step::Drop, SETTLES);
            while ended.recv_timeout(rest) == Err(RecvTimeoutError::Timeout) {
                if !election.leadership().leads() && step.drops(memory::resident_of_files()) {
                    memory::drop_clean();
                }
                rest = LOOK;
            }
        })?;
        Ok(Self { _alive: alive })
    }
}

/// What to do at the next look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Drop,
    /// See what the work since the last look needed.
    Measure,
    /// See whether there is more than this.
    Compare(u64),
}

impl Step {
    /// Takes it, with the bytes of files that are resident; whether to drop them.
    fn drops(&mut self, size: Option<u64>) -> bool {
        let drops = match (*self, size) {
            (Self::Drop, _) => true,
            (Self::Compare(needed), Some(size)) => size > needed + MUCH,
            (Self::Measure | Self::Compare(_), _) => false,
        };
        *self = match (*self, size) {
            _ if drops => Self::Measure,
            (Self::Measure, Some(size)) => Self::Compare(size),
            (step, _) => step,
        };
        drops
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn pages_are_dropped_after_the_start_and_then_only_if_there_are_many_more() {
        let mut step = Step::Drop;
        let mut drops = |size| step.drops(Some(size));
        assert!(drops(9 * MIB), "what the start needed");
        assert!(!drops(2 * MIB), "what is left is needed");
        assert!(!drops(2 * MIB));
        assert!(!drops(2 * MIB + MUCH), "not worth it");
        assert!(drops(2 * MIB + MUCH + 1), "somebody asked");
        assert!(!drops(3 * MIB), "now it led meanwhile, and needed more");
        assert!(!drops(3 * MIB + MUCH));
        assert!(drops(5 * MIB));
    }

    /// What comes back between any two looks is part of what it needs.
    #[test]
    fn a_member_that_is_asked_the_same_all_the_time_loses_its_pages_once() {
        let (mut step, mut size, mut dropped) = (Step::Drop, 9 * MIB, 0);
        for _ in 0..1000 {
            if step.drops(Some(size)) {
                dropped += 1;
                size = 2 * MIB;
            }
            size = size.max(2 * MIB + 3 * MUCH); // it is asked
        }
        assert_eq!(dropped, 1);
    }

    #[test]
    fn where_the_system_tells_no_size_pages_are_dropped_once() {
        let mut step = Step::Drop;
        assert!(step.drops(None));
        assert!((0..10).all(|_| !step.drops(None)));
        assert!(!step.drops(Some(MIB)), "the first size is what it needs");
        assert!(!step.drops(None), "it is unknown again");
        assert!(step.drops(Some(3 * MIB)));
    }
}
