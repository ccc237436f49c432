//! For how long a command may run, and how long it takes to end it.
//!
//! With leases a command may run until the lease ends. Without leases leadership has no end, but
//! the member may die: so the command is permitted to run for a short time, again and again.

use crate::cli::failure::Failure;
use bellwether::core::{Duration, Instant};
use bellwether::net::Snapshot;
use bellwether::net::guardian::{default_share, fits};
use bellwether::protocols::choice::{Choice, Leases};

/// The times of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Permission {
    lease: Duration,
    renew: Duration,
    round_trip: Duration,
    scheduling: Duration,
    pub(super) margin: Duration,
    pub(super) grace: Duration,
    /// How long a command may take to end while its member leads on.
    pub(super) stop_timeout: Duration,
}

/// The default of `--stop-timeout`.
pub(super) const STOP_TIMEOUT: Duration = Duration::from_secs(10);
/// The most that it may be.
const STOP_TIMEOUT_MAX: Duration = Duration::from_secs(86_400);

/// For how long a command is permitted to run where there is no lease.
pub(super) const WITHOUT_LEASE: Duration = Duration::from_secs(10);
/// How often that is renewed.
const AGAIN: Duration = Duration::from_secs(1);

impl Permission {
    /// The times for this protocol; what is not given is a tenth of the lease, or half of what the
    /// renewal leaves of it, if that is less.
    pub(super) fn new(choice: &Choice, margin: Option<Duration>, grace: Option<Duration>) -> Self {
        let [lease, renew, round_trip, scheduling] = match choice.profile().leases {
            Some(Leases { lease, renew, round_trip, scheduling, .. }) => {
                [lease, renew, round_trip, scheduling]
            }
            None => [WITHOUT_LEASE, AGAIN, Duration::ZERO, Duration::ZERO],
        };
        let share = default_share(lease, renew, round_trip, scheduling);
        let (margin, grace) = (margin.unwrap_or(share), grace.unwrap_or(share));
        let stop_timeout = STOP_TIMEOUT;
        Self { lease, renew, round_trip, scheduling, margin, grace, stop_timeout }
    }

    /// With this time for a command to end while its member leads on.
    pub(super) fn stopping_within(self, stop_timeout: Option<Duration>) -> Self {
        Self { stop_timeout: stop_timeout.unwrap_or(STOP_TIMEOUT), ..self }
    }

    /// Why a command can be ended within its lease, or why it cannot.
    pub(super) fn check(&self) -> Result<String, Failure> {
        let Self { lease, renew, round_trip, scheduling, margin, grace, stop_timeout } = *self;
        if stop_timeout > STOP_TIMEOUT_MAX {
            return Err(Failure::Config(format!(
                "--stop-timeout {stop_timeout} is more than {STOP_TIMEOUT_MAX}: nobody else leads \
                 before the command has ended; choose a shorter one"
            )));
        }
        if margin == Duration::ZERO {
            return Err(Failure::Config(
                "--margin 0s: to end a command takes time; leave it out for what the lease allows"
                    .to_owned(),
            ));
        }
        fits(lease, renew, round_trip, scheduling, margin, grace)
            .map_err(|error| Failure::Config(error.to_string()))?;
        Ok(format!(
            "renewal {renew} + round trip {round_trip} + scheduling {scheduling} + grace {grace} + \
             margin {margin} <= lease {lease}; handed over as planned it has {stop_timeout} to end"
        ))
    }

    /// How long a leader leads without being renewed.
    pub(super) fn lease(&self) -> Duration {
        self.lease
    }

    /// How long a message and its answer may take.
    pub(super) fn round_trip(&self) -> Duration {
        self.round_trip
    }

    /// The shortest lease within which the command can be ended.
    pub(super) fn needed(&self) -> Duration {
        self.renew + self.round_trip + self.scheduling + self.grace + self.margin
    }

    /// Until when the command may run, if the member leads; `last` is the former value.
    pub(super) fn until(&self, snapshot: &Snapshot, last: Instant) -> Instant {
        if snapshot.until != Instant::NEVER {
            return snapshot.until;
        }
        let until = snapshot.at + WITHOUT_LEASE;
        if until.since(last) >= AGAIN { until } else { last }
    }

    /// When to extend it, if nothing else happens.
    pub(super) fn again(&self, snapshot: &Snapshot) -> Instant {
        if snapshot.until == Instant::NEVER { snapshot.at + AGAIN } else { snapshot.until }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bellwether::protocols::{announce_listen, local_leader};

    fn leases() -> Choice {
        local_leader::Params::try_from(local_leader::Config::default()).unwrap().into()
    }

    #[test]
    fn the_defaults_fit_every_preset_that_promises_anything() {
        for preset in local_leader::Preset::ALL {
            let config = local_leader::Config { preset, ..local_leader::Config::default() };
            // The paper's own values break its constraints, and are refused before.
            let Ok(params) = local_leader::Params::try_from(config) else {
                assert_eq!(preset, local_leader::Preset::Paper);
                continue;
            };
            let permission = Permission::new(&params.into(), None, None);
            permission.check().unwrap();
            let least = if preset == local_leader::Preset::Fastest { 3_500 } else { 4_000 };
            assert!(permission.margin >= Duration::from_micros(least), "{}", preset.name());
        }
    }

    #[test]
    fn the_defaults_fit_every_protocol() {
        let config = announce_listen::Config::default();
        let announce = announce_listen::Params::try_from(config).unwrap();
        for choice in [leases(), announce.into()] {
            Permission::new(&choice, None, None).check().unwrap();
        }
    }

    #[test]
    fn a_grace_that_does_not_fit_is_refused_with_both_sides_of_the_inequality() {
        let permission = Permission::new(&leases(), None, Some(Duration::from_millis(50)));
        let Err(Failure::Config(text)) = permission.check() else { panic!("it was accepted") };
        assert!(text.contains("grace 0.05s") && text.contains("> lease 0.149"), "{text}");
        let none = Permission::new(&leases(), Some(Duration::ZERO), None);
        assert!(matches!(none.check(), Err(Failure::Config(_))));
    }
}
