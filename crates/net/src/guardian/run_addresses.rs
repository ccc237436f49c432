//! The addresses of the current run, as the guardian's loop sees them.
//!
//! **Promise.** While a run is extended in time its addresses stay: they are set again before the
//! kernel removes them, and if somebody else did. [`RunAddresses::remove`] has the last word. What
//! it removes in time is said to the neighbours, so that the next leader need not ask.

use super::alarm::now;
use super::claim::{Claim, ends_too_early};
use crate::address::{Addresses, Neighbourhood};
use crate::last_will::LastWill;
use bellwether_core::{Duration, Instant, Term};
use std::io;
use std::sync::Arc;

/// When the addresses are announced again, each after the one before. Announcements may be lost.
const REPEATS: [Duration; 4] = [
    Duration::from_millis(50),
    Duration::from_millis(250),
    Duration::from_secs(1),
    Duration::from_secs(3),
];

/// The addresses, and what became of them.
#[derive(Debug)]
pub(super) struct RunAddresses {
    addresses: Arc<Addresses>,
    claim: Arc<Claim>,
    held: Option<Held>,
    /// The end of the permission of the current run, and its term.
    until: Instant,
    term: Option<Term>,
}

/// Addresses that are set.
#[derive(Debug)]
struct Held {
    neighbourhood: Arc<Neighbourhood>,
    repeated: usize,
    /// When they are announced again.
    again: Instant,
    /// When the kernel removes them by itself.
    expires: Instant,
}

impl RunAddresses {
    /// What is written into the file is noted in the will.
    pub(super) fn new(addresses: Addresses, will: Option<LastWill>) -> io::Result<Self> {
        let (addresses, claim) = (Arc::new(addresses), Arc::new(Claim::new(will)?));
        Ok(Self { addresses, claim, held: None, until: Instant::ZERO, term: None })
    }

    /// What the thread needs that takes them.
    pub(super) fn to_take(&self) -> (Arc<Addresses>, Arc<Claim>) {
        (Arc::clone(&self.addresses), Arc::clone(&self.claim))
    }

    pub(super) fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    /// They may be taken until `ends`, before the permission ends, in this term.
    pub(super) fn begin(&mut self, ends: Instant, until: Instant, term: Option<Term>) {
        (self.until, self.term) = (until, term);
        self.claim.begin(ends);
    }

    /// They were taken.
    pub(super) fn taken(&mut self, neighbourhood: Arc<Neighbourhood>, expires: Instant) {
        let again = now() + REPEATS[0];
        self.held = Some(Held { neighbourhood, repeated: 0, again, expires });
    }

    /// The run is extended: they must be gone at `ends`, before `until`. Returns those that
    /// somebody had removed, and that are set again.
    pub(super) fn extend(&mut self, ends: Instant, until: Instant) -> io::Result<Vec<String>> {
        if self.addresses.is_empty() {
            return Ok(Vec::new());
        }
        self.until = until;
        self.claim.extend(ends, self.term, &self.addresses)?;
        if let Some(held) = &mut self.held
            && ends_too_early(held.expires, until)
            && let Some((expires, again)) = self.claim.set_again(&self.addresses)?
        {
            held.expires = expires;
            return Ok(again.into_iter().map(ToString::to_string).collect());
        }
        Ok(Vec::new())
    }

    /// When to announce again.
    pub(super) fn next(&self) -> Instant {
        self.held.as_ref().map_or(Instant::NEVER, |held| held.again)
    }

    /// Announces them again if it is time to.
    pub(super) fn announce(&mut self, now: Instant) {
        if let Some(held) = &mut self.held
            && now >= held.again
        {
            held.neighbourhood.announce();
            held.repeated += 1;
            let next = REPEATS.get(held.repeated);
            held.again = next.map_or(Instant::NEVER, |after| now + *after);
        }
    }

    /// They were removed because somebody else has one. They may be taken again.
    pub(super) fn contested(&mut self) {
        self.held = None;
    }

    /// Removes them; none is set afterwards until [`RunAddresses::begin`].
    pub(super) fn remove(&mut self) -> io::Result<()> {
        if self.addresses.is_empty() {
            return Ok(());
        }
        let were_ours = self.claim.give_up();
        self.addresses.remove()?;
        // No other member had them until now: that is true only before the permission ends. And no
        // other host, as far as is known: a stranger's address is not passed on.
        if let Some(held) = self.held.take().filter(|_| were_ours && now() < self.until) {
            held.neighbourhood.give_up();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::scripted::{Scripted, Told};

    /// What neighbours are told when addresses are removed that were taken; `ours` if the question
    /// who else has them is over.
    fn told(ours: bool, until: Instant) -> Vec<Told> {
        let name = format!("given-up-{}-{ours}-{}", std::process::id(), until.as_nanos());
        let file = std::env::temp_dir().join(name);
        let addresses = Addresses::open(&[]).unwrap().with_file(Some(&file));
        let mut run = RunAddresses::new(addresses, None).unwrap();
        let scripted = Scripted::new();
        run.begin(now() + Duration::from_secs(60), until, None);
        run.taken(scripted.neighbourhood(), Instant::NEVER);
        if ours {
            let (addresses, claim) = run.to_take();
            assert!(claim.mark(&addresses, None).unwrap());
        }
        run.remove().unwrap();
        run.remove().unwrap();
        scripted.told()
    }

    #[test]
    fn addresses_are_given_up_only_if_they_were_ours_alone_and_in_time() {
        let until = now() + Duration::from_secs(60);
        assert_eq!(told(true, until), [Told::GaveUp]);
        assert_eq!(told(false, until), [], "somebody may yet answer for them");
        assert_eq!(told(true, now()), [], "another member may have them");
    }
}
