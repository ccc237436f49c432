//! Elections on demand: what bully, the rings and the ad hoc election have in common.
//!
//! A group at rest stays as it is until a process misses its leader, recovers, or is asked to call
//! an election. That somebody is gone has to be noticed: the [`detect`] layer does it with
//! heartbeats and acknowledgements, if the `detector` is `heartbeats`; otherwise whoever drives the
//! protocol tells it, as a simulation does in which failures are known without fail.

use crate::answers::{Answers, NotLive, Row, Usual};
use crate::choice::Entry;
use crate::detect::{self, Detect, Detected};
use crate::param::{Described, Fit, NoEffect};
use crate::profile::Profile;
use crate::purpose::MessageKind;
use crate::simulated::{Extent, Layout, UnderWay, Volume};
use crate::time_scales::TimeScales;
use bellwether_core::{Duration, Protocol, Visitor};
use core::error::Error;
use core::fmt;

/// The parameters of an election on demand that keep the rules, without those of the layer.
pub trait Inner: Clone + TryFrom<Self::Config, Error = Self::BadConfig> {
    /// What a person writes, the layer's parameters included.
    type Config: Fit + Detected;

    /// Which rule that breaks, those of the layer aside.
    type BadConfig: Error + Clone + PartialEq;

    /// Its rows of the table of protocols.
    const ROWS: &'static [Entry];

    /// See [`Row::USUAL`].
    const USUAL: Usual = Usual::TEN;

    /// See [`Row::MESSAGES`]; without those of the layer.
    const MESSAGES: &'static [MessageKind] = &[];

    /// What a simulation must know of it.
    fn profile(&self) -> Profile;

    /// Once nothing goes wrong any more and all know who can be reached, so many processes name the
    /// same leader within this, if no message takes longer than `hop`.
    fn settles_among(&self, nodes: u32, hop: Duration) -> Duration;

    /// How many messages one election takes, at most.
    fn messages(&self, extent: &Extent) -> f64;

    /// How many of them are under way at once.
    fn under_way(&self, extent: &Extent) -> UnderWay;

    /// Hands the protocol to `visitor` as a type; see [`layered`].
    fn visit<V: Visitor>(self, visitor: V, layer: Option<Layer>) -> V::Output;

    /// See [`Answers::reads_rank`].
    fn reads_rank(&self) -> bool {
        false
    }

    /// See [`Answers::layout`].
    fn layout(&self) -> Option<Layout> {
        None
    }

    /// Whether the leader is the best there is.
    fn elects_best(&self) -> bool {
        true
    }

    /// Whether it has the mistakes of its text.
    fn is_as_printed(&self) -> bool {
        false
    }
}

/// The parameters of the layer.
pub type Layer = detect::Params<()>;

/// Hands a protocol, with or without the layer, to `visitor` as a type.
pub fn layered<P: Protocol, V: Visitor>(
    visitor: V,
    params: P::Params,
    layer: Option<Layer>,
) -> V::Output {
    match layer {
        Some(layer) => visitor.visit::<Detect<P>>(layer.around(params)),
        None => visitor.visit::<P>(params),
    }
}

/// The parameters of an election on demand that keep the rules, with those of the layer, if
/// failures are detected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnDemand<P> {
    inner: P,
    layer: Option<Layer>,
}

/// Which rule a configuration breaks.
#[derive(Clone, Debug, PartialEq)]
pub enum BadConfig<B> {
    /// One of the election's own.
    Own(B),
    /// One of the failure detector's.
    Detector(detect::BadConfig),
    /// A value has no effect.
    NoEffect(NoEffect),
}

impl<B: fmt::Display> fmt::Display for BadConfig<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own(bad) => bad.fmt(f),
            Self::Detector(bad) => bad.fmt(f),
            Self::NoEffect(bad) => bad.fmt(f),
        }
    }
}

impl<B: Error> Error for BadConfig<B> {}

impl<P: Inner> Row for OnDemand<P> {
    type Config = P::Config;
    type BadConfig = BadConfig<P::BadConfig>;

    const ROWS: &'static [Entry] = P::ROWS;
    const USUAL: Usual = P::USUAL;
    const MESSAGES: &'static [MessageKind] = P::MESSAGES;

    fn checked(config: P::Config) -> Result<Self, BadConfig<P::BadConfig>> {
        config.check_values().map_err(BadConfig::NoEffect)?;
        let layer = config.layer().map(|layer| layer.around(())).transpose();
        let layer = layer.map_err(BadConfig::Detector)?;
        let inner = P::try_from(config).map_err(BadConfig::Own)?;
        Ok(Self { inner, layer })
    }

    fn visit<V: Visitor>(self, visitor: V) -> V::Output {
        self.inner.visit(visitor, self.layer)
    }
}

impl<P: Inner> Answers for OnDemand<P> {
    fn profile(&self) -> Profile {
        self.inner.profile()
    }

    /// The detector's reports are true while a message and its acknowledgement take no longer than
    /// it waits for them; so a third of that is timely. Once nothing goes wrong, all have been told
    /// the truth within `suspect` and two beats; then the protocol needs its own time to settle.
    fn time_scales(&self, nodes: u32) -> TimeScales {
        let layer = self.layer.as_ref().map(|params| *params.layer()).unwrap_or_default();
        let (timely, scheduling) = (layer.resend / 4, layer.resend / 8);
        let hop = timely + scheduling;
        let told = layer.suspect + layer.beat * 2 + hop;
        let own = self.inner.settles_among(nodes, hop);
        TimeScales {
            fastest: layer.resend / 100,
            timely,
            scheduling,
            lease: layer.suspect,
            settles: TimeScales::stretched(told + own, TimeScales::QUARTZ),
            best: self.inner.elects_best(),
            ..TimeScales::USUAL
        }
    }

    fn must_be_told(&self) -> bool {
        self.layer.is_none()
    }

    fn reads_rank(&self) -> bool {
        self.inner.reads_rank()
    }

    fn layout(&self) -> Option<Layout> {
        self.inner.layout()
    }

    fn volume(&self, extent: &Extent) -> Volume {
        let quiet = !self.profile().restless;
        Volume {
            // It is sent, received, and may change what its receiver believes.
            records: quiet.then(|| 3.0 * self.inner.messages(extent)),
            under_way: Some(self.inner.under_way(extent)),
        }
    }

    /// Without heartbeats all is quiet in the end.
    fn shown_for(&self) -> Duration {
        if self.profile().restless { Duration::from_secs(20) } else { Duration::LONGEST_WRITTEN }
    }

    fn check_live(&self) -> Result<(), NotLive> {
        if self.inner.is_as_printed() {
            let so = "can elect the wrong process";
            return Err(NotLive::WithMistakes { param: "as-printed", so });
        }
        if self.must_be_told() { Err(NotLive::Told) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use crate::choice::{Choice, Config, Family};
    use crate::detect;
    use crate::surroundings::Surroundings;
    use crate::time_scales::TimeScales;
    use bellwether_core::Duration;

    const HOP: Duration = Duration::from_millis(100);

    #[test]
    fn what_the_detector_does_the_ad_hoc_election_does_less_often() {
        let calm = Surroundings::calm(5, HOP);
        let of = |around: &Surroundings| match Family::AdHoc.fitted(around) {
            Config::AdHoc(config) => (config.retry, config.leader_beat, config.leader_silence),
            other => panic!("{other:?} is not of the ad hoc election"),
        };
        let moving = Surroundings { moving: true, ..calm };
        assert_eq!(of(&moving), (HOP * 5, HOP * 20, HOP * 80));
        let layer = detect::Config::paced(HOP);
        let (retry, beat, silence) = of(&Surroundings { unsteady: true, ..calm });
        assert!(retry > layer.resend * u64::from(layer.tries), "the layer has given up");
        assert_eq!((beat, silence), (HOP * 60, HOP * 110));
    }

    #[test]
    fn a_leader_that_is_gone_is_given_up_once() {
        let around = Surroundings { unsteady: true, ..Surroundings::calm(5, HOP) };
        let scales = Choice::try_from(Family::AdHoc.fitted(&around)).unwrap().time_scales(5);
        let told = HOP * (35 + 2 * 10) + scales.timely + scales.scheduling;
        let across = (scales.timely + scales.scheduling) * 5;
        let own = HOP * 110 + (HOP * 30 + HOP * 80 * 2 + across * 4) * 2;
        assert_eq!(scales.settles, TimeScales::stretched(told + own, TimeScales::QUARTZ));
    }
}
