//! Requests of the loop to the member's thread, for which the loop does not wait.
//!
//! **Assumptions.** The member's thread answers soon, unless a disk holds it up.
//!
//! **Promise.** However long the member's thread takes, the loop goes on. Requests are done in
//! order; [`Errands::is_resigning`] is true from the request to resign until the member has
//! answered it.

use super::handler::{Resigning, refused};
use super::printer::Printer;
use crate::cli::commands::members;
use crate::cli::output::change;
use bellwether::core::Candidacy;
use bellwether::net::Election;
use bellwether::net::WakeFd;
use bellwether::net::clock::{BootTime, Clock};
use bellwether::net::status::Status;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel, sync_channel};
use std::thread;
use std::time::Duration;

/// How long the end waits until the member's thread has left the group.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug)]
enum Errand {
    /// Resign, and answer these.
    Resign(Vec<Resigning>),
    /// Be this willing to lead.
    Stand(Candidacy),
    /// Lead no longer, for this reason, and let the lease run out.
    Lapse(String),
    /// Report on the standard error why nobody leads.
    Explain,
    /// Report there who votes now, and for how long locks last.
    TellVoters,
    /// Report there that the member was not elected within this time.
    NotElected(bellwether::core::Duration),
}

/// The thread that waits instead of the loop.
#[derive(Debug)]
pub(super) struct Errands {
    election: Election,
    wanted: Sender<Errand>,
    resigning: Arc<AtomicUsize>,
    ends: Arc<AtomicUsize>,
}

impl Errands {
    /// Starts it; wakes the loop whenever the member has resigned, or will not.
    pub(super) fn start(election: Election, errors: Printer, waker: WakeFd) -> io::Result<Self> {
        let (wanted, errands) = channel();
        let resigning = Arc::new(AtomicUsize::new(0));
        let ends = Arc::new(AtomicUsize::new(0));
        let (own, count, told) = (election.clone(), Arc::clone(&resigning), Arc::clone(&ends));
        thread::Builder::new().name("errands".to_owned()).spawn(move || {
            for errand in errands {
                run(errand, &own, &errors, (&count, &told), &waker);
            }
        })?;
        Ok(Self { election, wanted, resigning, ends })
    }

    /// Makes the member resign, and sends the result to these.
    pub(super) fn resign(&self, asked: Vec<Resigning>) {
        self.resigning.fetch_add(1, Ordering::AcqRel);
        let _ = self.wanted.send(Errand::Resign(asked)); // the thread lives as long as this
    }

    /// Whether the member has yet to answer the request to resign.
    pub(super) fn is_resigning(&self) -> bool {
        self.resigning.load(Ordering::Acquire) > 0
    }

    /// Makes the member as willing to lead as this.
    pub(super) fn stand(&self, candidacy: Candidacy) {
        let _ = self.wanted.send(Errand::Stand(candidacy)); // the thread lives as long as this
    }

    /// Makes the member lead no longer, for this reason, without releasing its lease.
    pub(super) fn lapse(&self, why: &str) {
        let _ = self.wanted.send(Errand::Lapse(why.to_owned())); // the thread lives as long as this
    }

    /// Reports on the standard error why nobody leads.
    pub(super) fn explain(&self) {
        let _ = self.wanted.send(Errand::Explain); // the thread lives as long as this
    }

    /// Reports on the standard error who votes now.
    pub(super) fn tell_voters(&self) {
        let _ = self.wanted.send(Errand::TellVoters); // the thread lives as long as this
    }

    /// Reports on the standard error that it was not elected in time, and which names it did not
    /// find.
    pub(super) fn tell_not_elected(&self, within: bellwether::core::Duration) {
        self.ends.fetch_add(1, Ordering::AcqRel);
        let _ = self.wanted.send(Errand::NotElected(within)); // the thread lives as long as this
    }

    /// Whether that is yet to be reported.
    pub(super) fn is_ending(&self) -> bool {
        self.ends.load(Ordering::Acquire) > 0
    }

    /// Leaves the group: hands over, if the member's thread can. If it hangs, its lease runs out.
    pub(super) fn leave(self) {
        let (left, done) = sync_channel(1);
        let leaving = thread::Builder::new().name("leaving".to_owned()).spawn(move || {
            self.election.leave();
            let _ = left.send(()); // or nobody waits any more
        });
        if leaving.is_ok() {
            let _ = done.recv_timeout(PATIENCE); // or it cannot be helped
        }
    }
}

/// Runs one; wakes the loop where it is counted.
fn run(
    errand: Errand,
    own: &Election,
    errors: &Printer,
    (resigning, ends): (&AtomicUsize, &AtomicUsize),
    waker: &WakeFd,
) {
    match errand {
        Errand::Resign(asked) => {
            resign(own, &asked);
            resigning.fetch_sub(1, Ordering::AcqRel);
            waker.wake();
        }
        Errand::Stand(candidacy) => {
            let _ = own.set_candidacy(candidacy); // one that takes no part keeps it
        }
        Errand::Lapse(why) => {
            let _ = own.lapse(&why); // a member that has ended leads nobody
        }
        Errand::Explain => note(own, errors, |status| Some(status.why.join("; "))),
        Errand::TellVoters => note(own, errors, voters_now),
        Errand::NotElected(within) => {
            errors.say(&not_elected(within, own.status().ok().as_ref()));
            ends.fetch_sub(1, Ordering::AcqRel);
            waker.wake();
        }
    }
}

/// Writes a line for the operator, with the time, made of the status.
fn note(election: &Election, errors: &Printer, line: impl Fn(&Status) -> Option<String>) {
    if let Some(line) = election.status().ok().as_ref().and_then(line) {
        errors.say(&format!("{} {line}", change::stamp(BootTime.now())));
    }
}

/// Who votes now, in words.
fn voters_now(status: &Status) -> Option<String> {
    let voters = members::voters(status)?;
    Some(format!("the voters of {} are now {voters}", status.group))
}

/// That it was not elected in time, and which names it did not find, if the member tells.
pub(super) fn not_elected(within: bellwether::core::Duration, status: Option<&Status>) -> String {
    let lost = status.map_or(&[][..], |status| status.unresolved.as_slice());
    let lost = match lost {
        [] => String::new(),
        lost => format!(": {} cannot be found by name", lost.join(", ")),
    };
    format!("it was not elected within {within}{lost}")
}

/// Resigns, in favour of the last nominee if there is one. If that one cannot lead any more, the
/// member resigns all the same if somebody asked for no more than that.
fn resign(election: &Election, asked: &[Resigning]) {
    let nominee = asked.iter().rev().find_map(|asked| asked.nominee);
    let transferred = nominee.map(|nominee| refused(election, election.transfer(nominee)));
    let resigned = match &transferred {
        Some(Ok(())) => Ok(()),
        Some(Err(_)) if asked.iter().all(|asked| asked.nominee.is_some()) => Ok(()),
        Some(Err(_)) | None => refused(election, election.resign()),
    };
    for Resigning { reply, nominee } in asked {
        let done = transferred.as_ref().filter(|_| nominee.is_some()).unwrap_or(&resigned);
        if let Some(reply) = reply {
            let _ = reply.send(done.clone()); // whoever asked may not wait any more
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::printer::Stream;
    use super::*;
    use bellwether::net::clock::{BootTime, Clock, Readings};
    use std::sync::Mutex;

    /// A clock that the member's thread cannot read while somebody holds the lock: it hangs, as it
    /// would on a disk.
    struct Hanging(Arc<Mutex<()>>);

    impl Clock for Hanging {
        fn now(&self) -> bellwether::core::Instant {
            BootTime.now()
        }

        fn readings(&self) -> Option<Readings> {
            if thread::current().name().is_some_and(|name| name.starts_with("bellwether-")) {
                drop(self.0.lock());
            }
            BootTime.readings()
        }
    }

    #[test]
    fn a_member_whose_thread_hangs_holds_up_neither_the_loop_nor_its_end() {
        let hang = Arc::new(Mutex::new(()));
        let place = format!("1=127.{}.62.1:7400", 1 + std::process::id() % 250);
        let election = Election::builder("errands")
            .peers(place.parse().unwrap())
            .insecure()
            .clock(Arc::new(Hanging(Arc::clone(&hang))))
            .join()
            .unwrap();
        let waker = WakeFd::new().unwrap();
        let errors = Printer::start(Stream::Error, waker.clone()).unwrap();
        let errands = Errands::start(election.clone(), errors, waker).unwrap();
        let held = hang.lock().unwrap();
        let (reply, replied) = sync_channel(1);
        errands.resign(vec![Resigning { nominee: None, reply: Some(reply) }]);
        errands.explain();
        assert!(errands.is_resigning());
        let begin = BootTime.now();
        errands.leave();
        let took = BootTime.now().since(begin);
        assert!(took < bellwether::core::Duration::from_secs(15), "{took}");
        assert!(replied.try_recv().is_err(), "nobody was there to answer");
        drop(held);
        election.leave();
    }
}
