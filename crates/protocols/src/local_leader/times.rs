//! lockTime and ρ of a list, and the times that follow from them.
//!
//! **Source.** Beyond the paper. The rules are those of the model in `proofs/`.
//!
//! **Assumptions.** All members have the same parameters, whose lockTime and ρ are those of the
//! founding list. From a request by a list until its lock has lapsed all clocks keep the ρ of that
//! list.
//!
//! **Promise.** What follows from the values of a list is the same for all members. The values of a
//! list keep every constraint of the parameters, or no leader makes it. While a list may be open,
//! requests by it last no longer than those by the list before it.
//!
//! EP and `expires` follow lockTime: they are those of the parameters, or as long as this lockTime
//! requires if that is longer. All others stay: Δ, σ and δmin describe machines and network, and P
//! was chosen for them.

use super::list::List;
use super::params::{DRIFT_PPM_MAX, LONGEST, Params};
use super::rules::Rule;
use bellwether_core::{Duration, Refused};

/// How long locks last, and how much clocks drift: part of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lengths {
    /// lockTime.
    pub lock: Duration,
    /// ρ, in millionths.
    pub drift_ppm: u32,
}

impl Lengths {
    /// Whether any parameters can have these values.
    pub(super) fn make_sense(self) -> bool {
        (Duration::from_nanos(1)..=LONGEST).contains(&self.lock) && self.drift_ppm <= DRIFT_PPM_MAX
    }
}

/// The times by which a process acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Times {
    /// lockTime: for how long a request asks for a lock.
    pub(super) lock: Duration,
    /// ρ, in millionths.
    pub(super) drift_ppm: u32,
    /// lockTime(1−2ρ)−2ε, rounded down.
    pub(super) lease: Duration,
    /// 2Δ(1+ρ), rounded up.
    pub(super) round: Duration,
    /// EP.
    pub(super) period: Duration,
    /// How long a process counts as alive after a fast message.
    pub(super) expires: Duration,
}

impl Times {
    /// Those of the parameters.
    fn of(params: &Params) -> Self {
        Self {
            lock: params.lock,
            drift_ppm: params.drift_ppm,
            lease: params.lease,
            round: params.round,
            period: params.period,
            expires: params.expires,
        }
    }
}

impl Times {
    /// How long to wait by its clock until another clock has shown this length: that one may be as
    /// slow, and its own as fast, as ρ allows. length·(1+ρ)/(1−ρ), rounded up.
    pub(super) fn outlasting(self, length: Duration) -> Duration {
        const MILLION: u128 = 1_000_000;
        let rho = u128::from(self.drift_ppm);
        let nanos = (u128::from(length.as_nanos()) * (MILLION + rho)).div_ceil(MILLION - rho);
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

impl Params {
    /// The lengths of the founding list.
    pub(super) fn founding_lengths(&self) -> Lengths {
        Lengths { lock: self.lock, drift_ppm: self.drift_ppm }
    }

    /// The times of a process with this list: while that may be open, the shorter lockTime and the
    /// greater ρ of that list and the one before it.
    pub(super) fn times(&self, list: Option<&List>) -> Times {
        let own = self.founding_lengths();
        let lengths = list.map_or(own, |list| match self.keep(Rule::OpenListsLastNoLonger) {
            true => list.asked(own),
            false => list.lengths(own),
        });
        if lengths == own { Times::of(self) } else { Times::of(&self.at(lengths)) }
    }

    /// Why a group cannot have these lengths instead of those, if it cannot.
    pub(super) fn refuses(&self, new: Lengths, present: Lengths) -> Option<Refused> {
        if new == present {
            return Some(Refused::SameLengths);
        }
        let rule = self.rule_broken_by(new)?;
        let fits = |lengths: Lengths| self.rule_broken_by(lengths).is_none();
        let keeps = Lengths { lock: present.lock, ..new };
        if fits(keeps) {
            let at = |nanos: u64| Lengths { lock: Duration::from_nanos(nanos), ..new };
            let fits = |nanos: u64| fits(at(nanos));
            let nanos = nearest(new.lock.as_nanos(), present.lock.as_nanos(), fits);
            let Lengths { lock, drift_ppm } = at(nanos);
            return Some(Refused::Lengths { rule, lock, drift_ppm });
        }
        let at = |ppm: u64| u32::try_from(ppm).unwrap_or(u32::MAX);
        let fits = |ppm: u64| fits(Lengths { drift_ppm: at(ppm), ..present });
        let drift_ppm = at(nearest(new.drift_ppm.into(), present.drift_ppm.into(), fits));
        Some(Refused::Lengths { rule, lock: present.lock, drift_ppm })
    }
}

/// The value nearest to `from` that fits, between that and `to`, which fits. A time is rounded
/// to a tenth of a millisecond where that fits, too.
fn nearest(from: u64, to: u64, fits: impl Fn(u64) -> bool) -> u64 {
    let (mut misses, mut hits) = (from, to);
    while misses.abs_diff(hits) > 1 {
        let middle = misses.midpoint(hits);
        *(if fits(middle) { &mut hits } else { &mut misses }) = middle;
    }
    let step = match hits {
        1_000_000.. => 100_000,
        _ => 1,
    };
    let rounded = if to > from { hits.div_ceil(step) * step } else { hits / step * step };
    if fits(rounded) { rounded } else { hits }
}
