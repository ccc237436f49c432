//! What a process tells of its votes and requests, for a checker that compares each step with the
//! model in `proofs/`.

use super::hall::Hall;
use bellwether_core::{Fact, Instant};

impl Hall {
    /// Its record, the request that its lock is for, its last request, and what it gave up.
    pub(super) fn tell_votes(&self, now: Instant, tell: &mut dyn FnMut(Fact)) {
        tell(Fact::Life { number: self.life });
        if let Some(stored) = self.stored {
            tell(Fact::Record { highest: stored.highest, granted: stored.granted });
        }
        if let Some(lock) = self.lock.filter(|lock| lock.to.is_some() && lock.until >= now) {
            tell(Fact::Granted { life: lock.request.life, sent: lock.request.sent });
        }
        if let Some((sent, term)) = self.last_request() {
            tell(Fact::Request { sent, term });
        }
        self.given_up.into_iter().for_each(|sent| tell(Fact::GaveUp { sent }));
    }

    /// The last request of its campaign, and the term it asked for.
    fn last_request(&self) -> Option<(Instant, u64)> {
        let sent = self.votes.last_request()?;
        let own = self.votes.of(self.me).filter(|(at, _)| *at == sent).map(|(_, term)| term);
        let round = self.round.as_ref().filter(|round| round.sent == sent);
        Some((sent, own.or(round.map(|round| round.term))?))
    }
}
