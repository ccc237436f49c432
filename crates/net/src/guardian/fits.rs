//! Checks that a lease is long enough to end a command before the lease ends.
//!
//! **Source.** A lease is renewed every P; the renewal takes a round trip of at most 2Δ, and the
//! member is up to σ late. In the worst case the extension reaches the guardian P + 2Δ + σ after
//! the lease began, and the guardian must not have begun to end the command by then.
//!
//! **Promise.** If `P + 2Δ + σ + grace + margin ≤ lease`, a command whose member renews in time is
//! never ended for lack of an extension.

use bellwether_core::Duration;
use std::fmt;

/// The least margin and grace: shorter times cannot be met.
const LEAST: Duration = Duration::from_millis(1);

/// The default of margin and grace: a tenth of the lease each, or half of what the renewal leaves
/// of it, if that is less.
pub fn default_share(
    lease: Duration,
    renew: Duration,
    round_trip: Duration,
    scheduling: Duration,
) -> Duration {
    let spare = lease.saturating_sub(renew + round_trip + scheduling);
    (lease / 10).min(spare / 2).max(LEAST)
}

/// Checks `renew + round_trip + scheduling + grace + margin <= lease`.
///
/// # Errors
/// [`DoesNotFit`] with both sides of the inequality, if it does not hold.
pub fn fits(
    lease: Duration,
    renew: Duration,
    round_trip: Duration,
    scheduling: Duration,
    margin: Duration,
    grace: Duration,
) -> Result<(), DoesNotFit> {
    let needed = renew + round_trip + scheduling + grace + margin;
    if needed <= lease {
        return Ok(());
    }
    Err(DoesNotFit { lease, renew, round_trip, scheduling, margin, grace, needed })
}

/// A grace and a margin for which the lease is too short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DoesNotFit {
    lease: Duration,
    renew: Duration,
    round_trip: Duration,
    scheduling: Duration,
    margin: Duration,
    grace: Duration,
    needed: Duration,
}

impl fmt::Display for DoesNotFit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the command cannot be ended within its lease: renewal {} + round trip {} + \
             scheduling {} + grace {} + margin {} = {} > lease {}; choose a shorter grace or \
             margin, or a longer lease",
            self.renew,
            self.round_trip,
            self.scheduling,
            self.grace,
            self.margin,
            self.needed,
            self.lease,
        )
    }
}

impl std::error::Error for DoesNotFit {}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn what_fits_to_the_nanosecond_fits() {
        assert_eq!(fits(ms(100), ms(40), ms(20), ms(10), ms(10), ms(20)), Ok(()));
        let more = ms(20) + Duration::from_nanos(1);
        assert!(fits(ms(100), ms(40), ms(20), ms(10), ms(10), more).is_err());
        assert!(fits(ms(100), Duration::MAX, ms(1), ms(1), ms(1), ms(1)).is_err());
    }

    #[test]
    fn the_error_prints_both_sides_and_the_way_out() {
        let error = fits(ms(100), ms(40), ms(20), ms(10), ms(11), ms(20)).unwrap_err().to_string();
        assert_eq!(
            error,
            "the command cannot be ended within its lease: renewal 0.04s + round trip 0.02s + \
             scheduling 0.01s + grace 0.02s + margin 0.011s = 0.101s > lease 0.1s; choose a \
             shorter grace or margin, or a longer lease"
        );
    }

    #[test]
    fn margin_and_grace_are_a_tenth_of_the_lease_by_default_or_what_is_left_of_it() {
        assert_eq!(default_share(ms(150), ms(50), ms(20), ms(20)), ms(15));
        let left = default_share(ms(50), ms(20), ms(10), ms(10));
        assert_eq!(left, ms(5));
        assert_eq!(fits(ms(50), ms(20), ms(10), ms(10), left, left), Ok(()));
        let none = default_share(ms(40), ms(20), ms(10), ms(10));
        assert!(fits(ms(40), ms(20), ms(10), ms(10), none, none).is_err());
    }
}
