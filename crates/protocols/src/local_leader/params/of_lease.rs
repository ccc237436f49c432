//! All time constants from the length of the leases.
//!
//! **Source.** Ours: the rules by which the presets were made.
//!
//! | parameter | rule |
//! |---|---|
//! | Δ, σ | those of the slowest preset whose locks are no longer. Δ grows by what clocks may drift apart in the longer period: then as many messages are certain to be fast as with the preset |
//! | P | the same part of lockTime as in that preset: a third in `lan` and `wan` |
//! | EP | the shortest that lockTime allows |
//! | expires | 3/2 of the shortest that EP allows |
//!
//! **Promise.** For lockTime of a preset other than `fastest` these are its values. The result is
//! checked like any other, so drifts that are too large for it are refused.

use super::super::preset::{Preset, Times};
use super::{BadConfig, Config, DRIFT_PPM, DRIFT_PPM_MAX, MILLION, scaled};
use bellwether_core::Duration;

/// All times are multiples of this.
const STEP: Duration = Duration::from_millis(1);
/// The longest leases for which times are derived.
pub(super) const LEASE_MAX: Duration = Duration::from_secs(36_000);
/// The presets from which they are derived, the slowest first.
const PRESETS: [Preset; 4] = [Preset::Wan, Preset::Lan, Preset::Fast, Preset::Fastest];

fn rounded_up(length: Duration, step: Duration) -> Duration {
    step * length.div_ceil(step).unwrap_or(0)
}

impl Config {
    /// The same with all time constants for leases of this length: lockTime is this long.
    ///
    /// # Errors
    /// [`BadConfig::Lease`] if no leases are so short or so long, [`BadConfig::Drift`].
    pub fn with_lease(self, lease: Duration) -> Result<Self, BadConfig> {
        let fits = |preset: &Preset| preset.times().lock.is_some_and(|lock| lock <= lease);
        let preset = PRESETS.into_iter().find(fits).filter(|_| lease <= LEASE_MAX);
        let Some((preset, times)) = preset.map(|preset| (preset, preset.times())) else {
            let least = Preset::Fastest.times().lock.unwrap_or_default();
            return Err(BadConfig::Lease { lease, least, most: LEASE_MAX });
        };
        let drift_ppm = self.drift_ppm.unwrap_or(DRIFT_PPM);
        if drift_ppm > DRIFT_PPM_MAX {
            return Err(BadConfig::Drift { drift_ppm });
        }
        let Times { delta, sigma, renew, lock, .. } = times;
        let lock = lock.unwrap_or(lease);
        // Clocks drift apart by 4ρ·EP. EP is longer than lockTime by less than 8ρ of that and what
        // it is longer in the preset.
        let rho = u128::from(drift_ppm);
        let parts = 4 * rho + (32 * rho * rho).div_ceil(MILLION);
        let delta = delta + rounded_up(scaled(lease.saturating_sub(lock), parts, true), STEP);
        let part = u128::from(renew.as_nanos()) * MILLION / u128::from(lock.as_nanos().max(1));
        // Rounded to the nearest step: as a part of lockTime it is not exact.
        let renew = scaled(lease, part, false) + STEP / 2;
        let renew = STEP * (renew.as_nanos() / STEP.as_nanos());
        Ok(Self { preset, renew: Some(renew), ..self.around(delta, sigma, lease, STEP) })
    }

    /// The same with this Δ, σ and lockTime, and the EP and `expires` that belong to them, in steps
    /// of this length: EP is the shortest that lockTime allows, `expires` 3/2 of the shortest that
    /// EP allows.
    #[must_use]
    pub fn around(self, delta: Duration, sigma: Duration, lock: Duration, step: Duration) -> Self {
        let rho = u128::from(self.drift_ppm.unwrap_or(DRIFT_PPM).min(DRIFT_PPM_MAX));
        // lockTime <= (1-ρ)[(EP-σ)(1-ρ)-Δ]
        let divided = |length: Duration| {
            let nanos = (u128::from(length.as_nanos()) * MILLION).div_ceil(MILLION - rho);
            Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
        };
        let period = rounded_up(divided(divided(lock) + delta) + sigma, step);
        let least = period + scaled(delta * 2, MILLION + rho, true);
        let expires = rounded_up(scaled(least, MILLION * 3 / 2, true), step);
        Self {
            delta: Some(delta),
            sigma: Some(sigma),
            lock: Some(lock),
            period: Some(period),
            expires: Some(expires),
            ..self
        }
    }
}
