//! Elections that somebody calls: what bully, the rings and the ad hoc election have in common.
//!
//! A group at rest stays as it is until a process misses its leader, recovers, or is asked to call
//! an election. That somebody is gone has to be noticed: the [`detect`] layer does it with
//! heartbeats and acknowledgements, if the `detector` is `heartbeats`; otherwise whoever drives the
//! protocol tells it, as a simulation does in which failures are known without fail.

use crate::ad_hoc::{self, AdHoc};
use crate::bully::{self, Bully, Recovery};
use crate::choice::Profile;
use crate::detect::{self, Detect};
use crate::pace::Pace;
use crate::param::{Described, Given, NoEffect, Param};
use crate::ring::{self, ChangRoberts, Collecting, HirschbergSinclair, Variant};
use crate::surroundings::Surroundings;
use bellwether_core::{Duration, Protocol, Visitor};
use core::fmt;
use serde::Serialize;

/// Which of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Called {
    /// Whoever is greater takes over.
    Bully,
    /// Messages go round.
    Ring(Variant),
    /// A tree grows through the network and brings back the best.
    AdHoc,
}

impl Called {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Bully,
        Self::Ring(Variant::Ring),
        Self::Ring(Variant::ChangRoberts),
        Self::Ring(Variant::Merea),
        Self::Ring(Variant::HirschbergSinclair),
        Self::AdHoc,
    ];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bully => "bully",
            Self::Ring(variant) => variant.name(),
            Self::AdHoc => "ad-hoc",
        }
    }

    /// What a message is thought to take in experiments, if nobody says.
    pub const fn usual_hop(self) -> Duration {
        match self {
            Self::Bully | Self::Ring(_) => Duration::from_millis(100),
            Self::AdHoc => Duration::from_millis(10),
        }
    }

    /// As its text has it, where one message takes this long: nothing is lost, failures are told,
    /// and nothing is done twice.
    pub fn plain(self, hop: Duration) -> Config {
        self.fit(&Surroundings::calm(2, hop))
    }

    /// For a network that loses and delays, in which one message takes about this long: whatever
    /// comes to nothing is tried again, and failures are detected.
    pub fn restless(self, hop: Duration, nodes: u32) -> Config {
        self.fit(&Surroundings { unsteady: true, ..Surroundings::calm(nodes, hop) })
    }

    /// The same with failures told, as where processes move.
    pub fn moving(self, hop: Duration, nodes: u32) -> Config {
        self.fit(&Surroundings { moving: true, ..Surroundings::calm(nodes, hop) })
    }

    fn fit(self, around: &Surroundings) -> Config {
        let given = Given::default();
        match self {
            Self::Bully => Config::Bully(bully::Config::default().fit(around, &given)),
            Self::Ring(variant) => {
                Config::Ring(ring::Config::default().of(variant).fit(around, &given))
            }
            Self::AdHoc => Config::AdHoc(ad_hoc::Config::default().fit(around, &given)),
        }
    }
}

/// How long a process bears to have no leader: a parameter of all of them.
pub(crate) const CALL_AFTER: Param = Param::length(
    "call-after",
    "how long a process bears to have no leader before it calls an election",
)
.formerly("patience")
.follows("infinite; where failures are detected, 60 delays, or 30 for ad-hoc")
.within("0 < call-after");

/// What a person writes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Config {
    /// Of bully.
    Bully(bully::Config),
    /// Of a ring.
    Ring(ring::Config),
    /// Of the ad hoc election.
    AdHoc(ad_hoc::Config),
}

impl Config {
    /// Which of them it is of.
    pub fn called(&self) -> Called {
        match self {
            Self::Bully(_) => Called::Bully,
            Self::Ring(config) => Called::Ring(config.variant),
            Self::AdHoc(_) => Called::AdHoc,
        }
    }

    /// How failures are detected; they are told if absent.
    pub fn detector(&self) -> Option<detect::Config> {
        match self {
            Self::Bully(config) => config.layer(),
            Self::Ring(config) => config.layer(),
            Self::AdHoc(config) => config.layer(),
        }
    }
}

/// Parameters that keep the rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    rules: Rules,
    detector: Option<detect::Params<()>>,
}

/// Those of the protocol itself.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Rules {
    Bully(bully::Params),
    Ring(ring::Params),
    AdHoc(ad_hoc::Params),
}

/// Which rule a [`Config`] breaks.
#[derive(Clone, Debug, PartialEq)]
pub enum BadConfig {
    /// One of bully's.
    Bully(bully::BadConfig),
    /// One of the rings'.
    Ring(ring::BadConfig),
    /// One of the ad hoc election's.
    AdHoc(ad_hoc::BadConfig),
    /// One of the failure detector's.
    Detector(detect::BadConfig),
    /// A value has no effect.
    NoEffect(NoEffect),
}

impl fmt::Display for BadConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bully(bad) => bad.fmt(f),
            Self::Ring(bad) => bad.fmt(f),
            Self::AdHoc(bad) => bad.fmt(f),
            Self::Detector(bad) => bad.fmt(f),
            Self::NoEffect(bad) => bad.fmt(f),
        }
    }
}

impl core::error::Error for BadConfig {}

impl TryFrom<Config> for Params {
    type Error = BadConfig;

    fn try_from(config: Config) -> Result<Self, BadConfig> {
        match &config {
            Config::Bully(config) => config.check_values(),
            Config::Ring(config) => config.check_values(),
            Config::AdHoc(config) => config.check_values(),
        }
        .map_err(BadConfig::NoEffect)?;
        let detector = config.detector().map(|layer| layer.around(())).transpose();
        let detector = detector.map_err(BadConfig::Detector)?;
        let rules = match config {
            Config::Bully(config) => Rules::Bully(config.try_into().map_err(BadConfig::Bully)?),
            Config::Ring(config) => Rules::Ring(config.try_into().map_err(BadConfig::Ring)?),
            Config::AdHoc(config) => Rules::AdHoc(config.try_into().map_err(BadConfig::AdHoc)?),
        };
        Ok(Self { rules, detector })
    }
}

impl Params {
    /// Which of them it is.
    pub fn called(&self) -> Called {
        match &self.rules {
            Rules::Bully(_) => Called::Bully,
            Rules::Ring(params) => Called::Ring(params.config().variant),
            Rules::AdHoc(_) => Called::AdHoc,
        }
    }

    /// Whether failures are detected; otherwise somebody has to tell of them.
    pub fn detects(&self) -> bool {
        self.detector.is_some()
    }

    /// Whether it has the mistakes of its text.
    pub fn is_as_printed(&self) -> bool {
        matches!(&self.rules, Rules::Ring(params) if params.config().as_printed)
    }

    /// What a simulation must know.
    pub fn profile(&self) -> Profile {
        match &self.rules {
            Rules::Bully(params) => params.profile(),
            Rules::Ring(params) => params.profile(),
            Rules::AdHoc(params) => params.profile(),
        }
    }

    /// The time scales in a group of so many processes.
    ///
    /// The detector's reports are true while a message and its acknowledgement take no longer than
    /// it waits for them; so a third of that is timely. Once nothing goes wrong, all have been told
    /// the truth within its patience with a silent peer, and a beat; the rest is the protocol's
    /// own affair.
    pub fn pace(&self, nodes: u32) -> Pace {
        let layer = self.detector.as_ref().map(|params| *params.layer()).unwrap_or_default();
        let part = |n| Duration::from_nanos(layer.resend.as_nanos() / n);
        let (timely, scheduling) = (part(4), part(8));
        let hop = timely + scheduling;
        let own = match &self.rules {
            Rules::Bully(params) => params.settles(hop),
            Rules::Ring(params) => params.settles(nodes as usize),
            Rules::AdHoc(params) => params.settles(hop * u64::from(nodes)),
        };
        let told = layer.suspect + layer.beat * 2 + hop;
        Pace {
            fastest: part(100),
            timely,
            scheduling,
            drift: Pace::QUARTZ,
            clock_error: Duration::ZERO,
            lease: layer.suspect,
            settles: Pace::stretched(told + own, Pace::QUARTZ),
            leases: false,
            best: !matches!(&self.rules, Rules::Bully(params)
                if params.config().recovery == Recovery::Ask),
            quorum: None,
        }
    }

    /// Hands the protocol, with or without the layer, to `visitor` as a type.
    pub fn visit<V: Visitor>(self, visitor: V) -> V::Output {
        let Self { rules, detector } = self;
        match rules {
            Rules::Bully(params) => layered::<Bully, V>(visitor, params, detector),
            Rules::Ring(params) => match params.config().variant {
                Variant::Ring | Variant::Merea => {
                    layered::<Collecting, V>(visitor, params, detector)
                }
                Variant::ChangRoberts => layered::<ChangRoberts, V>(visitor, params, detector),
                Variant::HirschbergSinclair => {
                    layered::<HirschbergSinclair, V>(visitor, params, detector)
                }
            },
            Rules::AdHoc(params) => layered::<AdHoc, V>(visitor, params, detector),
        }
    }
}

fn layered<P: Protocol, V: Visitor>(
    visitor: V,
    params: P::Params,
    detector: Option<detect::Params<()>>,
) -> V::Output {
    match detector {
        Some(layer) => visitor.visit::<Detect<P>>(layer.around(params)),
        None => visitor.visit::<P>(params),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_detector_does_the_ad_hoc_election_does_less_often() {
        let hop = Duration::from_millis(100);
        let of = |config| match config {
            Config::AdHoc(config) => (config.retry, config.leader_beat, config.leader_silence),
            other => panic!("{other:?} is not of the ad hoc election"),
        };
        assert_eq!(of(Called::AdHoc.moving(hop, 5)), (hop * 5, hop * 20, hop * 80));
        let layer = detect::Config::paced(hop);
        let (retry, beat, silence) = of(Called::AdHoc.restless(hop, 5));
        assert!(retry > layer.resend * u64::from(layer.tries), "the layer has given up");
        assert_eq!((beat, silence), (hop * 60, hop * 110));
    }

    #[test]
    fn a_leader_that_is_gone_is_given_up_once() {
        let hop = Duration::from_millis(100);
        let params = Params::try_from(Called::AdHoc.restless(hop, 5)).unwrap();
        let pace = params.pace(5);
        let told = hop * (35 + 2 * 10) + pace.timely + pace.scheduling;
        let across = (pace.timely + pace.scheduling) * 5;
        let own = hop * 110 + (hop * 30 + hop * 80 * 2 + across * 4) * 2;
        assert_eq!(pace.settles, Pace::stretched(told + own, Pace::QUARTZ));
    }
}
