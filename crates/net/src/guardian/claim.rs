//! Takes the addresses of a run: asks whether they are free, and sets them.
//!
//! **Source.** RFC 5227, as far as a lease allows: see [`address`](crate::address).
//!
//! **Assumptions.** A thread of the guardian calls [`take`]; the guardian's loop calls the rest.
//!
//! **Promise.** Nothing is set from the end of the claim on, nor after it was given up: both are
//! checked under the lock under which addresses are set, and removed again if they are contested.
//! Whoever gives it up and then removes the addresses has the last word.

use super::LEASE_MAX;
use super::alarm::now;
use super::starter::Step;
use crate::address::{Address, Addresses, Lookout, Probed};
use crate::last_will::LastWill;
use crate::wake_fd::WakeFd;
use bellwether_core::{Duration, Instant, Term};
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How long an address that somebody else has is waited for. A former leader that was killed with
/// its guardian and its watchdog keeps it for up to three and a half seconds, until its kernel
/// removes it.
const PATIENCE: Duration = Duration::from_secs(5);
/// How soon to ask again.
const AGAIN: Duration = Duration::from_millis(50);
/// The kernel removes an address at least so long after its permission, if nobody does before. It
/// counts whole seconds.
const SPARE: Duration = Duration::from_secs(1);

/// Until when addresses may be set.
#[derive(Debug)]
pub(super) struct Claim {
    ends: Mutex<Ends>,
    stop: WakeFd,
    /// The member's last will, which waits for what the file says.
    will: Option<LastWill>,
}

/// When a claim ends, and what became of it.
#[derive(Clone, Copy, Debug)]
struct Ends {
    at: Instant,
    /// Whether the addresses are set and nobody else had them, and the file, if there is one, was
    /// written.
    marked: bool,
}

impl Ends {
    /// Nothing may be set.
    const GIVEN_UP: Self = Self { at: Instant::ZERO, marked: false };

    fn set<'a>(&self, addresses: &'a Addresses) -> io::Result<Option<Set<'a>>> {
        let now = now();
        if now >= self.at {
            return Ok(None);
        }
        let seconds = self.at.since(now).min(LEASE_MAX).as_nanos().div_ceil(1_000_000_000);
        let valid = Duration::from_secs(seconds) + SPARE;
        let new = addresses.set(valid)?;
        Ok(Some((now + valid, new)))
    }
}

impl Claim {
    /// Nothing may be set yet.
    pub(super) fn new(will: Option<LastWill>) -> io::Result<Self> {
        Ok(Self { ends: Mutex::new(Ends::GIVEN_UP), stop: WakeFd::new()?, will })
    }

    /// Writes the file. Whoever reads it acts until the end that it says, so that is noted before.
    fn write(&self, addresses: &Addresses, term: Option<Term>, ends: Instant) -> io::Result<()> {
        if let Some(will) = self.will.as_ref().filter(|_| addresses.has_file()) {
            will.told_by_guardian(ends)?;
        }
        addresses.write(term, ends)
    }

    /// Addresses may be set until then.
    pub(super) fn begin(&self, ends: Instant) {
        self.stop.clear();
        *self.lock() = Ends { at: ends, marked: false };
    }

    /// The same, unless it was given up. If the file was written, it is written again.
    pub(super) fn extend(
        &self,
        ends: Instant,
        term: Option<Term>,
        addresses: &Addresses,
    ) -> io::Result<()> {
        let mut lasts = self.lock();
        if lasts.at == Instant::ZERO {
            return Ok(());
        }
        lasts.at = ends;
        if lasts.marked && now() < ends { self.write(addresses, term, ends) } else { Ok(()) }
    }

    /// Nobody else has the addresses: writes the file, if there is one, unless it is too late;
    /// whether it is not.
    pub(super) fn mark(&self, addresses: &Addresses, term: Option<Term>) -> io::Result<bool> {
        let mut lasts = self.lock();
        if now() >= lasts.at {
            return Ok(false);
        }
        lasts.marked = true;
        self.write(addresses, term, lasts.at).map(|()| true)
    }

    /// No address is set any more, and no file written; whether it was known that the addresses
    /// were ours alone.
    pub(super) fn give_up(&self) -> bool {
        let mut lasts = self.lock();
        lasts.at = Instant::ZERO;
        self.stop.wake();
        lasts.marked
    }

    /// Removes addresses that somebody else has, unless whoever gave the claim up does so; whether
    /// they may be set again.
    fn withdraw(&self, addresses: &Addresses) -> io::Result<bool> {
        let lasts = self.lock();
        if lasts.at == Instant::ZERO {
            return Ok(false);
        }
        addresses.remove().map(|()| true)
    }

    fn lock(&self) -> MutexGuard<'_, Ends> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the addresses, unless it is too late; when the kernel removes them by itself.
    fn set(&self, addresses: &Addresses) -> io::Result<Option<Instant>> {
        let ends = self.lock();
        Ok(ends.set(addresses)?.map(|(expires, _)| expires))
    }

    /// The same if they are ours alone; also which were not there. While that is not known, they
    /// may have been removed because somebody else has one.
    pub(super) fn set_again<'a>(&self, addresses: &'a Addresses) -> io::Result<Option<Set<'a>>> {
        let ends = self.lock();
        if ends.marked { ends.set(addresses) } else { Ok(None) }
    }
}

/// When the kernel removes addresses by itself, and which were not there.
type Set<'a> = (Instant, Vec<&'a Address>);

/// Whether the kernel would remove addresses too early, now that they are permitted until then.
pub(super) fn ends_too_early(expires: Instant, until: Instant) -> bool {
    until.min(now() + LEASE_MAX) + SPARE > expires
}

/// Takes the addresses once nobody else has them, and says so to the neighbours; whether it did.
/// Not if the claim was given up or is over.
///
/// Where that was known only from the member that gave them up, it asks when they are set, and
/// returns when nobody has answered. Addresses that are contested are removed before that is told.
///
/// `tell` hears of each step, but of somebody who has one of them only once. That one may be
/// leaving, so we wait for it.
///
/// # Errors
/// If somebody has one of them for too long, or the system refuses. Some of them may be set then.
pub(super) fn take(
    addresses: &Addresses,
    claim: &Claim,
    lookout: &mut Lookout,
    mut tell: impl FnMut(Step),
) -> io::Result<bool> {
    let (limit, mut told) = (now() + PATIENCE, false);
    lookout.open(addresses)?;
    loop {
        match lookout.probe(&claim.stop)? {
            Probed::Stopped => return Ok(false),
            Probed::InUse(who) if now() >= limit => {
                return Err(io::Error::other(format!("{who}, for {PATIENCE} by now")));
            }
            Probed::InUse(who) => {
                if !std::mem::replace(&mut told, true) {
                    tell(Step::InUse(who));
                }
                lookout.rest(AGAIN, &claim.stop);
                continue;
            }
            Probed::Free => {}
        }
        let Some(expires) = claim.set(addresses)? else { return Ok(false) };
        let neighbourhood = lookout.neighbourhood();
        neighbourhood.announce();
        tell(Step::Taken(neighbourhood, expires));
        lookout.doubt();
        match lookout.probe(&claim.stop)? {
            Probed::Stopped => return Ok(false),
            Probed::Free => return Ok(true),
            Probed::InUse(who) => {
                if !claim.withdraw(addresses)? {
                    return Ok(false);
                }
                told = true;
                tell(Step::Contested(who));
                lookout.rest(AGAIN, &claim.stop);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::scripted::{Heard, Scripted};
    use std::fs;

    const WAIT: Duration = Duration::from_millis(6);

    #[test]
    fn a_contested_address_is_removed_before_that_is_told_and_it_is_set_again() {
        // A file stands for the addresses: it is removed with them.
        let file = std::env::temp_dir().join(format!("contested-{}", std::process::id()));
        let addresses = Addresses::open(&[]).unwrap().with_file(Some(&file));
        let (scripted, claim) = (Scripted::new(), Claim::new(None).unwrap());
        let mut lookout = Lookout::new(WAIT, WAIT * 2);
        lookout.listen_to(scripted.neighbourhood());
        claim.begin(now() + Duration::from_secs(60));
        let (leader, stranger) = ([2; 6], [4; 6]);
        scripted.say([Some(Heard::GaveUp(leader))]);
        let mut steps = Vec::new();
        let tell = |step| {
            match &step {
                Step::Taken(..) if steps.is_empty() => {
                    fs::write(&file, "set").unwrap();
                    assert!(claim.set_again(&addresses).unwrap().is_none(), "not by a renewal");
                    scripted.say([Heard::Has(stranger), Heard::GaveUp(stranger)].map(Some));
                }
                Step::Taken(..) => fs::write(&file, "set again").unwrap(),
                _ => assert!(!file.exists(), "{step:?}"),
            }
            steps.push(step);
        };
        assert!(take(&addresses, &claim, &mut lookout, tell).unwrap());
        let [Step::Taken(..), Step::Contested(_), Step::Taken(..)] = &steps[..] else {
            panic!("{steps:?}");
        };
        assert_eq!(fs::read_to_string(&file).unwrap(), "set again");
        addresses.remove().unwrap();
    }

    #[test]
    fn who_gave_the_claim_up_has_the_last_word_over_contested_addresses() {
        let (addresses, claim) = (Addresses::open(&[]).unwrap(), Claim::new(None).unwrap());
        claim.begin(now() + Duration::from_secs(60));
        assert!(claim.withdraw(&addresses).unwrap());
        assert!(!claim.give_up(), "nobody knows yet whose they are");
        assert!(!claim.withdraw(&addresses).unwrap());
    }
}
