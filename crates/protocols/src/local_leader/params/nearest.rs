//! The nearest values that keep all constraints, for those that break one.
//!
//! **Source.** Ours.
//!
//! **Assumptions.** An inequality that a larger value of a parameter makes true stays true for
//! still larger values, and likewise for smaller ones. Where that does not hold there may be no
//! proposal, but never a wrong one.
//!
//! **Promise.** Whoever makes all changes of a proposal has a valid configuration: it was tried.
//!
//! A parameter is searched in the direction that makes the broken inequalities true; the others
//! keep their values. What was written comes first, because that is what somebody just changed;
//! then the best one that was not written, of those that one is free to choose. (Δ, σ, δmin and ρ
//! describe machines and network.) If no parameter suffices alone, what is too short is raised,
//! one inequality after the other.

use super::{Config, Constraint, DRIFT_PPM_MAX, LONGEST, Params};
use alloc::vec;
use alloc::vec::Vec;
use bellwether_core::Duration;
use core::fmt;

/// Another value of one parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The parameter.
    pub name: &'static str,
    /// In nanoseconds; of drift-ppm in parts per million.
    value: u64,
}

/// Changes that lead to a valid configuration together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal(pub Vec<Change>);

/// The value of a parameter.
type Read = fn(&Params) -> u64;
/// Whether a parameter was written.
type Written = fn(&Config) -> bool;
/// Writes a parameter.
type Write = fn(&mut Config, u64);

/// A parameter that can be searched.
struct Knob {
    name: &'static str,
    /// Whether it is chosen freely, and does not describe machines or network.
    free: bool,
    most: u64,
    read: Read,
    written: Written,
    write: Write,
}

/// A knob for the optional duration of this name.
macro_rules! knob {
    ($field:ident, $free:expr) => {
        Knob {
            name: stringify!($field),
            free: $free,
            most: LONGEST.as_nanos(),
            read: |params| params.$field.as_nanos(),
            written: |config| config.$field.is_some(),
            write: |config, value| config.$field = Some(Duration::from_nanos(value)),
        }
    };
}

const KNOBS: [Knob; 9] = [
    knob!(lock, true),
    knob!(renew, true),
    knob!(period, true),
    knob!(expires, true),
    knob!(refresh, true),
    knob!(delta, false),
    knob!(sigma, false),
    Knob {
        name: "fastest",
        free: false,
        most: LONGEST.as_nanos(),
        read: |params| params.fastest.as_nanos(),
        written: |config| config.fastest > Duration::ZERO,
        write: |config, value| config.fastest = Duration::from_nanos(value),
    },
    Knob {
        name: "drift-ppm",
        free: false,
        most: DRIFT_PPM_MAX as u64,
        read: |params| params.drift_ppm.into(),
        written: |config| config.drift_ppm.is_some(),
        write: |config, value| config.drift_ppm = u32::try_from(value).ok(),
    },
];

/// The steps to which a value is rounded, if that changes it by less than a hundredth.
const STEPS: [u64; 5] = [1_000_000, 100_000, 10_000, 1_000, 1];
/// The most values that are raised, one after the other.
const RAISES_MAX: usize = 64;

/// What can be changed so that this configuration keeps all constraints: at most one proposal for
/// what was written, and one for the rest. None if nothing was found.
pub(super) fn nearest(config: &Config) -> Vec<Proposal> {
    let Ok(params) = Params::resolved(config) else { return Vec::new() };
    let best = |knobs: &dyn Fn(&Knob) -> bool| {
        let found = KNOBS.iter().filter(|knob| knobs(knob));
        let found = found.filter_map(|knob| Search { config, knob }.alone(&params));
        found.min_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, change)| change)
    };
    let written = best(&|knob| (knob.written)(config));
    let rest = best(&|knob| knob.free && !(knob.written)(config));
    let alone: Vec<Proposal> =
        written.into_iter().chain(rest).map(|change| Proposal(vec![change])).collect();
    if alone.is_empty() { raised(config).into_iter().collect() } else { alone }
}

/// Which constraints are broken; `None` if values make no sense.
fn broken(config: &Config) -> Option<Vec<bool>> {
    let constraints = Params::resolved(config).ok()?.constraints();
    Some(constraints.iter().map(|constraint: &Constraint| !constraint.holds).collect())
}

fn is_valid(config: &Config) -> bool {
    let params = Params::resolved(config);
    params.is_ok_and(|params| params.check_sense().is_ok() && params.broken().is_none())
}

/// The values of one parameter, the others being as they are.
struct Search<'a> {
    config: &'a Config,
    knob: &'a Knob,
}

impl Search<'_> {
    fn with(&self, value: u64) -> Config {
        let mut config = self.config.clone();
        (self.knob.write)(&mut config, value);
        config
    }

    /// The value nearest to the present one that keeps all constraints, and by what part of itself
    /// the present one changes.
    fn alone(&self, params: &Params) -> Option<(f64, Change)> {
        let now = (self.knob.read)(params);
        let aims = broken(self.config)?;
        let found = [self.nearest(now, self.knob.most, &aims), self.nearest(now, 0, &aims)];
        let valid = found.into_iter().flatten().filter(|value| is_valid(&self.with(*value)));
        let part = |value: u64| value.abs_diff(now) as f64 / now.max(1) as f64;
        let changes = valid.map(|value| (part(value), Change { name: self.knob.name, value }));
        changes.min_by(|(one, _), (other, _)| one.total_cmp(other))
    }

    /// The value nearest to `from`, in the direction of `to`, at which all these constraints hold.
    fn nearest(&self, from: u64, to: u64, aims: &[bool]) -> Option<u64> {
        let meets = |value: u64| {
            let broken = broken(&self.with(value)).unwrap_or_default();
            broken.len() == aims.len() && !broken.iter().zip(aims).any(|(is, aim)| *is && *aim)
        };
        if !meets(to) {
            return None;
        }
        let (mut misses, mut hits) = (from, to);
        while misses.abs_diff(hits) > 1 {
            let middle = misses.midpoint(hits);
            *(if meets(middle) { &mut hits } else { &mut misses }) = middle;
        }
        let short = |step: &u64| {
            let rounded = if to > from { hits.div_ceil(*step) * step } else { hits / step * step };
            let near = rounded.abs_diff(hits) <= hits / 100 && rounded <= self.knob.most;
            (near && meets(rounded)).then_some(rounded)
        };
        STEPS.iter().find_map(short)
    }
}

/// Raises what is too short, one constraint after the other, until all hold.
fn raised(config: &Config) -> Option<Proposal> {
    let mut config = config.clone();
    let mut changes: Vec<Change> = Vec::new();
    for _ in 0..RAISES_MAX {
        let params = Params::resolved(&config).ok()?;
        let Some(place) = params.constraints().iter().position(|constraint| !constraint.holds)
        else {
            return is_valid(&config).then_some(Proposal(changes));
        };
        let aims: Vec<bool> = (0..params.constraints().len()).map(|at| at == place).collect();
        // In this order: a longer P needs a longer lock, that a longer EP, that longer `expires`;
        // and Δ comes last, because all of them depend on it.
        let order = ["renew", "lock", "period", "expires", "delta"];
        let knobs = order.iter().filter_map(|name| KNOBS.iter().find(|knob| knob.name == *name));
        let mut found = knobs.filter_map(|knob| {
            let search = Search { config: &config, knob };
            let value = search.nearest((knob.read)(&params), knob.most, &aims)?;
            Some((knob, value))
        });
        let (knob, value) = found.next()?;
        (knob.write)(&mut config, value);
        changes.retain(|change| change.name != knob.name);
        changes.push(Change { name: knob.name, value });
    }
    None
}

impl Change {
    /// The configuration with this value.
    #[must_use]
    pub fn made(self, mut config: Config) -> Config {
        if let Some(knob) = KNOBS.iter().find(|knob| knob.name == self.name) {
            (knob.write)(&mut config, self.value);
        }
        config
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name {
            "drift-ppm" => write!(f, "{} = {}", self.name, self.value),
            _ => write!(f, "{} = {}", self.name, Duration::from_nanos(self.value)),
        }
    }
}

impl fmt::Display for Proposal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, change) in self.0.iter().enumerate() {
            let before = if place == 0 { "" } else { " with " };
            write!(f, "{before}{change}")?;
        }
        Ok(())
    }
}
