//! What somebody who makes trouble for a protocol must know of its time scales.
//!
//! Trouble is drawn around these lengths, below and above; and once it ends, the promise must be
//! kept within [`Pace::settles`], the κ of Fetzer and Cristian.

use crate::announce_listen::Params;
use crate::local_leader::{self, Mode};
use bellwether_core::Duration;

/// The time scales of a protocol with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// No message is faster (δmin).
    pub fastest: Duration,
    /// The longest a message may take and still count as timely (δ).
    pub timely: Duration,
    /// The longest a process may take to react and still count as timely (σ).
    pub scheduling: Duration,
    /// Clocks run fast or slow by at most this, in parts per 10⁹ (ρ).
    pub drift: u32,
    /// What a clock may gain or lose beyond that between two readings (ε).
    pub clock_error: Duration,
    /// How long a promise given to a leader lasts.
    pub lease: Duration,
    /// Once nothing goes wrong any more, the promise is kept within this (κ).
    pub settles: Duration,
    /// Whether processes tell whom they are locked to, and leaders who supports them.
    pub leases: bool,
    /// Whether the leader must be the best there is, as processes themselves tell.
    pub best: bool,
    /// How many processes it takes to have a leader; any connected set can if absent.
    pub quorum: Option<usize>,
}

impl Pace {
    /// The drift of a bad quartz, 200 parts per million.
    pub(crate) const QUARTZ: u32 = 200_000;

    /// The pace of an announce-listen protocol.
    ///
    /// The thesis has a delay of a tenth of the announce interval; that is timely here. A leader is
    /// trusted for T_L, which is what a lease is; where trust never ends, three intervals.
    ///
    /// How it settles, from the moment nothing goes wrong: trust in whoever is gone ends after T_L;
    /// the best process then opens an election (T_S, and the patience of a query) and announces;
    /// whoever opened one of its own meanwhile, or gave up trust a little later, hears the best
    /// one's next announcement, a T_A on. Every step is late by up to a delay and σ. We allow for
    /// the opening twice and for three announcements.
    pub fn of_announce_listen(params: &Params) -> Self {
        let (announce, profile) = (params.announce(), params.profile());
        let part = |n| Duration::from_nanos(announce.as_nanos() / n);
        let (timely, scheduling) = (part(10), part(20));
        let lease = if profile.trust == Duration::MAX { announce * 3 } else { profile.trust };
        let steps = profile.opening * 2 + announce * 3 + (timely + scheduling) * 5;
        Self {
            fastest: part(100),
            timely,
            scheduling,
            drift: Self::QUARTZ,
            clock_error: Duration::ZERO,
            lease,
            settles: Self::stretched(lease + steps, Self::QUARTZ),
            leases: false,
            best: false,
            quorum: None,
        }
    }

    /// The pace of leases in a group of so many processes.
    ///
    /// How they settle. In local mode: κ of (T) or (BI), and an attempt more, because the first can
    /// meet a member that began again and is bound to nobody for a lockTime. In majority mode: the
    /// last lock to an absent leader or of a former life lapses, the line moves up to the first who
    /// is there, and it asks; if it meets a member that is bound for longer, all that once more.
    pub fn of_local_leader(params: &local_leader::Params, nodes: u32) -> Self {
        let hold = params.refresh() + params.period();
        let settles = match params.mode() {
            Mode::Local => {
                let kappa = params.kappa_timeliness().max(params.kappa_inconsistency());
                kappa + params.period().max(params.lock()) + params.stagger()
            }
            Mode::Majority => (params.failover() + params.stagger() * u64::from(nodes)) * 2,
        };
        Self {
            fastest: params.fastest(),
            timely: params.timely(hold),
            scheduling: params.sigma(),
            drift: params.drift_ppm().saturating_mul(1_000),
            clock_error: params.clock_error(),
            lease: params.lock(),
            settles,
            leases: true,
            best: false,
            quorum: match params.mode() {
                Mode::Local => None,
                Mode::Majority => Some(params.quorum(nodes as usize)),
            },
        }
    }

    /// How long it takes, at most, until a clock that drifts this much has counted so long.
    pub(crate) fn stretched(length: Duration, drift: u32) -> Duration {
        const BILLION: u64 = 1_000_000_000;
        let more = length.as_nanos() / BILLION * u64::from(drift) + u64::from(drift);
        length + Duration::from_nanos(2 * more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::announce_listen::{Config, Variant};

    #[test]
    fn leases_settle_after_the_locks_that_may_still_run() {
        let ms = Duration::from_millis;
        let of = |mode| {
            let config = local_leader::Config { mode, ..local_leader::Config::default() };
            let params = local_leader::Params::try_from(config).unwrap();
            (Pace::of_local_leader(&params, 5), params.kappa_timeliness())
        };
        let (majority, _) = of(Mode::Majority);
        assert_eq!((majority.lease, majority.quorum), (ms(150), Some(3)));
        assert_eq!(majority.settles, ms((210 + 5 * 40) * 2));
        let (local, kappa) = of(Mode::Local);
        assert_eq!((local.drift, local.quorum), (200_000, None));
        assert_eq!(local.settles, kappa + ms(181 + 40));
        assert!(local.timely > ms(4) && local.timely < ms(5), "half of what counts as fast");
    }

    #[test]
    fn an_announce_listen_group_settles_after_trust_an_opening_and_a_few_announcements() {
        let listen = Duration::from_secs(3);
        let params = Params::try_from(Config { listen, ..Config::new(Variant::LeS) }).unwrap();
        let pace = Pace::of_announce_listen(&params);
        assert_eq!((pace.lease, pace.timely), (listen, Duration::from_millis(100)));
        let steps = Duration::from_millis(2_000 + 3_000 + 750);
        assert!(pace.settles > listen + steps);
        assert!(pace.settles < listen + steps + Duration::from_millis(5));
        let params = Params::try_from(Config::new(Variant::LeA)).unwrap();
        assert_eq!(Pace::of_announce_listen(&params).lease, listen, "trust that never ends");
    }
}
