//! Makes the member resign if the loop does not extend the command's permission in time.
//!
//! **Source.** Ours. The guardian ends a command that the loop does not extend in time, whatever
//! holds the loop up. The member's thread goes on renewing its lease all the same, and nobody would
//! do the leader's work.
//!
//! **Assumptions.** By the end of what was last permitted the guardian has ended the command.
//!
//! **Promise.** A loop that comes back before the permission ends may permit the command again at
//! once. If it does not, the member resigns, again and again until the loop is back.

use super::printer::Printer;
use bellwether::core::{Duration, Instant};
use bellwether::net::Election;
use bellwether::net::WakeFd;
use bellwether::net::clock::{BootTime, Clock};
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// How often to look at a member whose loop is held up.
const AGAIN: Duration = Duration::from_millis(50);

/// Watches the loop, from a thread of its own.
#[derive(Debug)]
pub(super) struct Overdue {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    due: Mutex<Due>,
    news: Condvar,
}

#[derive(Debug)]
struct Due {
    /// When the command's permission ends.
    at: Instant,
    /// The member is resigning: no command may be permitted by this reign any more.
    resigning: bool,
    /// How often the loop was late.
    count: u64,
    over: bool,
}

impl Overdue {
    /// Watches the loop of this member.
    pub(super) fn start(election: Election, errors: Printer, waker: WakeFd) -> io::Result<Self> {
        let due = Mutex::new(Due { at: Instant::NEVER, resigning: false, count: 0, over: false });
        let shared = Arc::new(Shared { due, news: Condvar::new() });
        let own = Arc::clone(&shared);
        let resign = move || {
            if !election.leadership().leads() {
                return false;
            }
            errors.say("the command was ended, since its permission was not extended; it resigns");
            let resigned = election.resign().is_ok();
            waker.wake(); // the loop may have found that it must wait
            resigned
        };
        thread::Builder::new().name("overdue".to_owned()).spawn(move || own.watch(resign))?;
        Ok(Self { shared })
    }

    /// Called by the loop, which will call again before then; never, if no command may run. False
    /// if the member is resigning because the loop was late, or has since `count` was read: then no
    /// command may be permitted.
    pub(super) fn expect(&self, until: Instant, count: u64) -> bool {
        let mut due = self.shared.lock();
        if due.resigning || due.count != count {
            return false;
        }
        // The thread wakes at the old time, and looks again.
        let sooner = until < due.at;
        due.at = until;
        drop(due);
        if sooner {
            self.shared.news.notify_all();
        }
        true
    }
}

impl Overdue {
    /// How often the loop was late.
    pub(super) fn count(&self) -> u64 {
        self.shared.lock().count
    }
}

impl Drop for Overdue {
    fn drop(&mut self) {
        self.shared.lock().over = true;
        self.shared.news.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Due> {
        self.due.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Resigns whenever the loop is late.
    fn watch(&self, resign: impl Fn() -> bool) {
        let mut due = self.lock();
        while !due.over {
            let now = BootTime.now();
            let mut left = due.at.since(now);
            if left == Duration::ZERO {
                due.resigning = true;
                due.count += 1;
                drop(due);
                resign();
                due = self.lock();
                due.resigning = false;
                left = AGAIN;
            }
            due = if due.at == Instant::NEVER {
                self.news.wait(due).unwrap_or_else(PoisonError::into_inner)
            } else {
                let left = std::time::Duration::from_nanos(left.as_nanos());
                let woken = self.news.wait_timeout(due, left);
                woken.unwrap_or_else(PoisonError::into_inner).0
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::printer::Stream;
    use super::*;

    const MOMENT: std::time::Duration = std::time::Duration::from_millis(20);

    /// Polls until the condition holds.
    fn eventually(what: &str, mut look: impl FnMut() -> bool) {
        assert!(
            (0..500).any(|_| look() || {
                thread::sleep(MOMENT);
                false
            }),
            "never: {what}"
        );
    }

    #[test]
    fn a_member_whose_loop_misses_a_lease_resigns_and_one_whose_loop_is_there_leads_on() {
        let place = format!("1=127.{}.61.1:7400", 1 + std::process::id() % 250);
        let builder = Election::builder("overdue").peers(place.parse().unwrap()).insecure();
        let election = builder.join().unwrap();
        let errors = Printer::start(Stream::Error, WakeFd::new().unwrap()).unwrap();
        let leads = || election.leadership().leads();
        eventually("it leads", leads);
        let overdue = Overdue::start(election.clone(), errors, WakeFd::new().unwrap()).unwrap();
        let expect = |length: u64| {
            overdue.expect(BootTime.now() + Duration::from_millis(length), overdue.count())
        };
        for _ in 0..20 {
            expect(60_000);
            assert!(leads(), "the loop is there");
            thread::sleep(MOMENT);
        }
        expect(50);
        eventually("it resigns", || !leads());
        assert!(!overdue.expect(Instant::NEVER, 0), "it was late since");
        overdue.expect(Instant::NEVER, overdue.count());
        eventually("it leads again", leads);
    }
}
