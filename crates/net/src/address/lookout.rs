//! Knows whether addresses are free: asks who has them, and hears who gives them up.
//!
//! **Source.** RFC 5227, section 2.1: several probes, then a wait. Its waits are seconds long; here
//! they are as long as a message and its answer may take in this group, because a lease is.
//!
//! **What is known.** An address is free
//!
//! 1. when it was asked for, and nobody has answered for so long; or
//! 2. at once, and for twice as long as asking takes, when a member has said that it *gave it up*:
//!    that it had the address, lawfully, and has removed it.
//!
//! Asking may begin before the address is wanted: a follower that no longer hears its leader asks
//! before the lease is over. The leader lawfully answers until it removes the address. With each
//! answer the time begins anew, at the next question: one probe that is over early would prove
//! nothing.
//!
//! **Why that is as safe as asking.** Leases alone keep members from having an address at once.
//! Asking is for what leases do not cover: hosts outside of the group, and the kernel of a member
//! that was killed with its guardian and its watchdog, which has the address for some seconds.
//!
//! A member says that it gave an address up only if it had set it, before its own lease was over.
//! When it set it, no such kernel had it: that member asked, or heard from the one before, for
//! which the same is true. While it led nobody else did. So at that moment no member has the
//! address. It can be had again only by a later leader, and that one announces it, which ends what
//! was known. If that is lost, too, the later leader must have released its lease, after removing
//! the address, or lost it before we lead, and a lease is longer than twice the time that asking
//! takes. All this holds, as for a probe, if packets are not delayed for longer than messages may
//! be. A packet that is lost costs the time to ask.
//!
//! A host outside of the group may have taken the address from the member that gave it up. So
//! whoever takes an address on such a word [doubts](Lookout::doubt) it, and asks.

use super::Addresses;
use super::neighbourhood::{Heard, Neighbourhood};
use crate::clock::{BootTime, Clock as _};
use crate::wake_fd::WakeFd;
use bellwether_core::{Duration, Instant};
use std::io;
use std::sync::Arc;

/// How often each address is asked for in the time that an answer may take.
const PROBES: u64 = 6;
/// What failed.
pub(super) const ASKING: &str = "cannot ask for the address";
/// While nobody is asked, packets are read no more often than this: a network may be full of them.
const PAUSE: Duration = Duration::from_millis(1);

/// What came of asking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Probed {
    /// Nobody has any of them.
    Free,
    /// Somebody has one: which address, and whose hardware address.
    InUse(String),
    /// It was told to stop.
    Stopped,
}

/// Listens to the neighbours all the time, and asks them if it is to.
#[derive(Debug)]
pub(crate) struct Lookout {
    /// How long an answer may take.
    wait: Duration,
    neighbourhood: Arc<Neighbourhood>,
    /// What is known of each address.
    known: Vec<Known>,
    asking: Option<Asking>,
}

/// What was heard of an address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Known {
    /// When somebody last had it, and its hardware address.
    had: Option<(Instant, [u8; 6])>,
    /// When a member gave it up, if nobody had it since.
    given_up: Option<Instant>,
    /// When it was asked for, first since asking began and since somebody had it.
    asked: Option<Instant>,
}

/// Questions that are sent one after the other.
#[derive(Clone, Copy, Debug)]
struct Asking {
    next: Instant,
    ends: Instant,
}

impl Known {
    fn note(&mut self, now: Instant, heard: Heard) {
        match heard {
            Heard::Has(mac) => *self = Self { had: Some((now, mac)), ..Self::default() },
            Heard::GaveUp => self.given_up = Some(now),
        }
    }

    /// From when on nobody has it, unless somebody says otherwise before.
    fn free_from(&self, now: Instant, wait: Duration) -> Instant {
        let given_up = self.given_up.filter(|at| now <= *at + wait * 2);
        given_up.unwrap_or(self.asked.map_or(Instant::NEVER, |at| at + wait))
    }
}

impl Lookout {
    /// Knows nothing yet. An answer may take so long.
    pub(crate) fn new(wait: Duration) -> Self {
        Self { wait, neighbourhood: Arc::default(), known: Vec::new(), asking: None }
    }

    /// Opens its sockets, unless they are open and the interfaces are the same.
    ///
    /// # Errors
    /// If an interface is not there, or the system refuses.
    pub(crate) fn open(&mut self, addresses: &Addresses) -> io::Result<()> {
        let neighbourhood = addresses.neighbourhood(&self.neighbourhood)?;
        if !Arc::ptr_eq(&neighbourhood, &self.neighbourhood) {
            self.known = vec![Known::default(); neighbourhood.len()];
            (self.neighbourhood, self.asking) = (neighbourhood, None);
        }
        Ok(())
    }

    /// Who is told who has the addresses.
    pub(crate) fn neighbourhood(&self) -> Arc<Neighbourhood> {
        Arc::clone(&self.neighbourhood)
    }

    /// Asks until then, while others have their turn.
    pub(crate) fn ask_until(&mut self, ends: Instant) {
        let now = BootTime.now();
        let asking = self.asking.unwrap_or(Asking { next: now, ends });
        self.asking = Some(Asking { ends, ..asking });
    }

    /// Asks nobody any more.
    pub(crate) fn cease(&mut self) {
        self.asking = None;
        self.known.iter_mut().for_each(|known| known.asked = None);
    }

    /// Forgets who gave an address up, so that it is free only if nobody answers.
    pub(crate) fn doubt(&mut self) {
        self.known.iter_mut().for_each(|known| known.given_up = None);
    }

    /// Forgets all, after a time in which nobody listened.
    pub(crate) fn forget(&mut self) {
        self.hear();
        self.known.fill(Known::default());
        self.asking = None;
    }

    /// Listens until it is woken.
    pub(crate) fn attend(&mut self, wake: &WakeFd) {
        let nobody = Neighbourhood::default();
        loop {
            match self.turn(Instant::NEVER, wake) {
                Ok(true) => return,
                Ok(false) if self.asking.is_some() => {}
                Ok(false) if nobody.wait(PAUSE, wake) => return,
                Ok(false) => {}
                Err(_) => self.cease(), // whoever wants the addresses asks, and says so
            }
        }
    }

    /// Asks until it is known of all addresses that nobody has them, or until it is heard that
    /// somebody has one. It goes on asking.
    ///
    /// # Errors
    /// If the system sends nothing.
    pub(crate) fn probe(&mut self, stop: &WakeFd) -> io::Result<Probed> {
        let begun = BootTime.now();
        self.ask_until(Instant::NEVER);
        self.hear();
        loop {
            let now = BootTime.now();
            if let Some(who) = self.owner_since(begun) {
                return Ok(Probed::InUse(who));
            }
            let free = self.free_from(now);
            if now >= free {
                return Ok(Probed::Free);
            }
            if self.turn(free, stop)? {
                return Ok(Probed::Stopped);
            }
        }
    }

    /// Listens for so long, or until it is woken, or all are given up. Asks nobody.
    pub(crate) fn rest(&mut self, length: Duration, stop: &WakeFd) {
        self.cease();
        let end = BootTime.now() + length;
        loop {
            let now = BootTime.now();
            let is_over = now >= end.min(self.free_from(now));
            if is_over || self.turn(end, stop).is_ok_and(|woken| woken) {
                return;
            }
        }
    }

    /// Asks if it is time to, waits for a packet, until then at most, and reads what is there;
    /// whether it was woken.
    fn turn(&mut self, until: Instant, wake: &WakeFd) -> io::Result<bool> {
        let now = BootTime.now();
        if self.asking.is_some_and(|asking| now >= asking.ends) {
            self.cease();
        }
        let mut due = until;
        if let Some(asking) = &mut self.asking {
            if now >= asking.next {
                let asked = self.neighbourhood.probe();
                asked.map_err(|error| io::Error::other(format!("{ASKING}: {error}")))?;
                let now = BootTime.now();
                asking.next = now + self.wait / PROBES;
                self.known.iter_mut().for_each(|known| known.asked = known.asked.or(Some(now)));
            }
            due = until.min(asking.next).min(asking.ends);
        }
        let woken = self.neighbourhood.wait(due.since(BootTime.now()), wake);
        self.hear();
        Ok(woken)
    }

    /// Reads what is there.
    fn hear(&mut self) {
        let (now, known) = (BootTime.now(), &mut self.known);
        self.neighbourhood.hear(|number, heard| {
            if let Some(known) = known.get_mut(number) {
                known.note(now, heard);
            }
        });
    }

    fn free_from(&self, now: Instant) -> Instant {
        let each = self.known.iter().map(|known| known.free_from(now, self.wait));
        each.max().unwrap_or(Instant::ZERO)
    }

    /// Who had one of the addresses since then.
    fn owner_since(&self, since: Instant) -> Option<String> {
        self.known.iter().enumerate().find_map(|(number, known)| {
            let (_, mac) = known.had.filter(|(at, _)| *at >= since)?;
            self.neighbourhood.in_use(number, mac)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAC: [u8; 6] = [2, 0, 0, 0, 0, 7];
    const WAIT: Duration = Duration::from_millis(6);

    fn at(millis: u64) -> Instant {
        Instant::from_nanos(0) + Duration::from_millis(millis)
    }

    #[test]
    fn an_address_is_free_when_nobody_has_answered_a_question_for_so_long() {
        let mut known = Known::default();
        assert_eq!(known.free_from(at(10), WAIT), Instant::NEVER, "nobody was asked");
        known.asked = Some(at(10));
        assert_eq!(known.free_from(at(11), WAIT), at(16));
        known.note(at(14), Heard::Has(MAC));
        assert_eq!(known.free_from(at(50), WAIT), Instant::NEVER, "nobody was asked since then");
        known.asked = Some(at(50));
        assert_eq!(known.free_from(at(50), WAIT), at(56));
    }

    #[test]
    fn an_address_that_was_given_up_is_free_for_a_while_unless_somebody_has_it() {
        let mut known = Known::default();
        known.note(at(9), Heard::Has(MAC));
        known.note(at(10), Heard::GaveUp);
        assert_eq!(known.free_from(at(22), WAIT), at(10));
        assert_eq!(known.free_from(at(23), WAIT), Instant::NEVER, "that was too long ago");
        known.asked = Some(at(18));
        assert_eq!(known.free_from(at(22), WAIT), at(10));
        assert_eq!(known.free_from(at(23), WAIT), at(24));
        known.note(at(13), Heard::Has(MAC));
        assert_eq!(known.free_from(at(14), WAIT), Instant::NEVER, "there is another leader");
    }

    #[test]
    fn without_neighbours_every_address_is_free() {
        let mut lookout = Lookout::new(WAIT);
        assert_eq!(lookout.probe(&WakeFd::new().unwrap()).unwrap(), Probed::Free);
    }
}
