//! Knows whether addresses are free: asks who has them, and hears who gives them up.
//!
//! **Source.** RFC 5227, section 2.1: several probes, then a wait. Its waits are seconds long; here
//! they are as long as a message and its answer may take in this group, because a lease is.
//!
//! **What is known.** An address is free
//!
//! 1. when it was asked for, again and again, and nobody has answered for so long; or
//! 2. at once, and for about twice as long as asking takes, when a member has said that it *gave it
//!    up*: that it had the address, lawfully, and has removed it. If somebody else was heard to
//!    have it since, that is not believed.
//!
//! Asking may begin before the address is wanted: a follower that no longer hears its leader asks
//! before the lease is over. The leader lawfully answers until it removes the address. With each
//! answer the time begins anew, at the next question: one probe that is over early would prove
//! nothing. Nor would questions of long ago: if whoever asks was held up, it begins anew, too.
//!
//! **Why that is as safe as asking.** Leases alone keep members from having an address at once.
//! Asking is for what leases do not cover: hosts outside of the group, and the kernel of a member
//! that was killed with its guardian and its watchdog, which has the address for some seconds.
//!
//! A member says that it gave an address up only if it had set it, before its own lease was over,
//! and only once nobody had answered for it. When it set it, no such kernel had it: that member
//! asked, or heard from the one before, for which the same is true. While it led nobody else did.
//! So at that moment no member has the address. It can be had again only by a later leader, and
//! that one announces it, which ends what was known. If that is lost, too, the later leader must
//! have released its lease, after removing the address, or lost it before we lead; and what is
//! known ends before a lease can that began later, since it is not believed for longer than a lease
//! less the time that asking takes.
//!
//! **Assumptions.** Packets are not delayed for longer than messages may be, as for a probe. That
//! includes who sends and who hears them: a guardian that looks at the clock and then says that it
//! gave the address up is not held up in between, nor is the thread that hears it, for longer than
//! that. A packet that is lost costs the time to ask.
//!
//! A host outside of the group may have taken the address from the member that gave it up. So
//! whoever takes an address on such a word [doubts](Lookout::doubt) it, and asks.

use super::Addresses;
use super::knowledge::Knowledge;
use super::neighbourhood::Neighbourhood;
use crate::clock::{BootTime, Clock as _};
use crate::wake_fd::WakeFd;
use bellwether_core::{Duration, Instant};
use std::io;
use std::sync::Arc;

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
    neighbourhood: Arc<Neighbourhood>,
    knowledge: Knowledge,
    /// All packets that had come by then were read.
    heard: Instant,
}

impl Lookout {
    /// Knows nothing yet. An answer may take `wait`; that a member gave an address up is `believed`
    /// for so long.
    pub(crate) fn new(wait: Duration, believed: Duration) -> Self {
        Self {
            neighbourhood: Arc::default(),
            knowledge: Knowledge::new(wait, believed),
            heard: Instant::ZERO,
        }
    }

    /// Opens its sockets, unless they are open and the interfaces are the same.
    ///
    /// # Errors
    /// If an interface is not there, or the system refuses.
    pub(crate) fn open(&mut self, addresses: &Addresses) -> io::Result<()> {
        let neighbourhood = addresses.neighbourhood(&self.neighbourhood)?;
        if !Arc::ptr_eq(&neighbourhood, &self.neighbourhood) {
            self.listen_to(neighbourhood);
        }
        Ok(())
    }

    /// Listens to these from now on.
    pub(crate) fn listen_to(&mut self, neighbourhood: Arc<Neighbourhood>) {
        self.knowledge.forget(neighbourhood.len());
        self.neighbourhood = neighbourhood;
    }

    /// Who is told who has the addresses.
    pub(crate) fn neighbourhood(&self) -> Arc<Neighbourhood> {
        Arc::clone(&self.neighbourhood)
    }

    /// Asks until then, while others have their turn.
    pub(crate) fn ask_until(&mut self, ends: Instant) {
        self.knowledge.ask_until(BootTime.now(), ends);
    }

    /// Forgets who gave an address up, so that it is free only if nobody answers.
    pub(crate) fn doubt(&mut self) {
        self.knowledge.doubt();
    }

    /// Forgets all, after a time in which nobody listened.
    pub(crate) fn forget(&mut self) {
        self.hear();
        self.knowledge.forget(self.neighbourhood.len());
    }

    /// Listens until it is woken.
    pub(crate) fn attend(&mut self, wake: &WakeFd) {
        loop {
            match self.turn(Instant::NEVER, wake) {
                Ok(true) => return,
                Ok(false) if self.knowledge.next() != Instant::NEVER => {}
                Ok(false) if wake.wait(PAUSE, []) => return,
                Ok(false) => {}
                // Whoever wants the addresses asks, and says so.
                Err(_) => self.knowledge.cease(),
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
        self.knowledge.ask_until(begun, Instant::NEVER);
        self.hear();
        loop {
            let owner = self.knowledge.owner_since(begun);
            if let Some(who) =
                owner.and_then(|(number, mac)| self.neighbourhood.in_use(number, mac))
            {
                return Ok(Probed::InUse(who));
            }
            // An answer may be among what is not read.
            let free = self.knowledge.free_from(self.heard);
            if self.heard >= free {
                return Ok(Probed::Free);
            }
            if self.turn(free, stop)? {
                return Ok(Probed::Stopped);
            }
        }
    }

    /// Listens for so long, or until it is woken, or all are given up. Asks nobody.
    pub(crate) fn rest(&mut self, length: Duration, stop: &WakeFd) {
        self.knowledge.cease();
        let end = BootTime.now() + length;
        loop {
            let now = BootTime.now();
            let is_over = now >= end.min(self.knowledge.free_from(now));
            if is_over || self.turn(end, stop).is_ok_and(|woken| woken) {
                return;
            }
        }
    }

    /// Asks if it is time to, waits for a packet, until then at most, and reads what is there;
    /// whether it was woken.
    fn turn(&mut self, until: Instant, wake: &WakeFd) -> io::Result<bool> {
        if self.knowledge.is_due(BootTime.now()) {
            let asked = self.neighbourhood.probe();
            asked.map_err(|error| io::Error::other(format!("{ASKING}: {error}")))?;
            self.knowledge.asked(BootTime.now());
        }
        let due = until.min(self.knowledge.next());
        let woken = self.neighbourhood.wait(due.since(BootTime.now()), wake);
        self.hear();
        Ok(woken)
    }

    /// Reads what is there.
    fn hear(&mut self) {
        let (now, knowledge) = (BootTime.now(), &mut self.knowledge);
        if self.neighbourhood.hear(|number, heard| knowledge.note(now, number, heard)) {
            self.heard = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::scripted::{Heard, Scripted};

    const MAC: [u8; 6] = [2, 0, 0, 0, 0, 7];
    const WAIT: Duration = Duration::from_millis(6);

    #[test]
    fn without_neighbours_every_address_is_free() {
        let mut lookout = Lookout::new(WAIT, WAIT);
        assert_eq!(lookout.probe(&WakeFd::new().unwrap()).unwrap(), Probed::Free);
    }

    #[test]
    fn nobody_counts_as_silent_while_packets_are_unread() {
        let scripted = Scripted::new();
        let mut lookout = Lookout::new(WAIT, WAIT);
        lookout.listen_to(scripted.neighbourhood());
        // An answer behind more packets than are read in one turn.
        scripted.say(std::iter::repeat_n(None, 600).chain([Some(Heard::Has(MAC))]));
        lookout.ask_until(Instant::NEVER);
        lookout.hear();
        assert_eq!(lookout.heard, Instant::ZERO, "some are left");
        lookout.hear();
        assert!(
            lookout.heard > Instant::ZERO && lookout.knowledge.owner_since(lookout.heard).is_some()
        );
    }
}
