//! The parameters as written and as validated.
//!
//! [`Config`] holds the written values; [`Params`] is what the handlers read. One conversion leads
//! from one to the other; its error names the values and the rule they break.

use super::STANDING_MAX;
use super::error::BadConfig;
use super::table::Config;
use super::wake::{Distribution, Mapping, Shape, WakeBy, WakeUp};
use crate::named;
use crate::param::Described;
use bellwether_core::{Duration, NodeId};

/// The members of the family, as the literature names them. Each is a row of [`Variant::rules`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variant {
    /// Leader election by announcing at once (Program 5.1).
    LeA,
    /// Leader election with suppression (Program 5.2).
    #[default]
    LeS,
    /// Leader election where the earliest wake-up leads (section 5.4.3).
    LeM,
    /// Suppression alone: the first to speak silences the others. Elects nobody.
    Sup,
    /// Announce-listen alone: everyone announces for ever, everyone knows the greatest.
    Al,
    /// Ask first, announce if no leader answers (section 5.7).
    Query,
    /// Suppress, then ask (section 5.7).
    SuppressQuery,
    /// Suppression followed by announce-listen, taken as an election: can deadlock (section 5.7).
    SupAlElect,
    /// The same, used to limit the announcers per interval (section 5.7).
    SupAlLimit,
    /// The same, used to spread announcements over the interval (section 5.7).
    SupAlSpread,
}

/// How an election begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// With an announcement.
    Announce,
    /// With a wait in which another may speak.
    Suppress,
    /// With a question.
    Query,
    /// With a wait, then a question.
    SuppressQuery,
}

impl Opening {
    /// Whether it begins with a wait.
    pub fn suppresses(self) -> bool {
        matches!(self, Self::Suppress | Self::SuppressQuery)
    }

    /// Whether it asks before it announces.
    pub fn queries(self) -> bool {
        matches!(self, Self::Query | Self::SuppressQuery)
    }
}

/// When a process gives way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Yields {
    /// When it hears a better claim.
    ToBetter,
    /// When it hears any claim.
    ToAnyone,
    /// Never: it listens, and goes on announcing.
    Never,
}

/// How often a process that does not give way announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// Once.
    Once,
    /// Every T_A.
    Periodic,
    /// At a newly drawn moment of every T_A, unless another process spoke in it first.
    Redrawn,
}

named! {
    /// What makes one claim better than another.
    pub enum Criterion {
        /// The greater id.
        HighestId = "highest-id",
        /// The greater rank: priority, spare capacity, connectivity, for example.
        Rank = "rank",
        /// The earlier first wake-up; established leaders come before all others.
        EarliestWakeUp = "earliest-wake-up",
    }
}

impl Variant {
    /// Every member, in the order of the table.
    pub const ALL: [Self; 10] = [
        Self::LeA,
        Self::LeS,
        Self::LeM,
        Self::Sup,
        Self::Al,
        Self::Query,
        Self::SuppressQuery,
        Self::SupAlElect,
        Self::SupAlLimit,
        Self::SupAlSpread,
    ];

    /// The rules of the member.
    pub fn rules(self) -> (Opening, Yields, Repeat) {
        use {Opening as O, Repeat as R, Yields as Y};
        match self {
            Self::LeA => (O::Announce, Y::ToBetter, R::Periodic),
            Self::LeS | Self::LeM => (O::Suppress, Y::ToBetter, R::Periodic),
            Self::Sup => (O::Suppress, Y::ToAnyone, R::Once),
            Self::Al => (O::Announce, Y::Never, R::Periodic),
            Self::Query => (O::Query, Y::ToBetter, R::Periodic),
            Self::SuppressQuery => (O::SuppressQuery, Y::ToBetter, R::Periodic),
            Self::SupAlElect => (O::Suppress, Y::ToAnyone, R::Periodic),
            Self::SupAlLimit => (O::Suppress, Y::ToAnyone, R::Redrawn),
            Self::SupAlSpread => (O::Suppress, Y::Never, R::Periodic),
        }
    }

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LeA => "le-a",
            Self::LeS => "le-s",
            Self::LeM => "le-m",
            Self::Sup => "sup",
            Self::Al => "al",
            Self::Query => "query",
            Self::SuppressQuery => "suppress-query",
            Self::SupAlElect => "sup-al-elect",
            Self::SupAlLimit => "sup-al-limit",
            Self::SupAlSpread => "sup-al-spread",
        }
    }

    /// Whether its processes name leaders at all.
    pub fn elects(self) -> bool {
        !matches!(self, Self::Sup | Self::SupAlLimit)
    }
}

/// The most leaders a group can have.
pub const LEADERS_MAX: usize = 64;
/// The most Byes one departure may have.
pub const BYES_MAX: u32 = 10_000;
pub(super) const RATE_MAX: f64 = 500.0;
/// The default rate of an exponential timer.
pub(super) const RATE: f64 = 10.0;

impl Config {
    /// The defaults for this member of the family.
    pub fn new(variant: Variant) -> Self {
        Self { variant, ..Self::default() }
    }

    /// The distribution of wake-up times.
    pub fn shape(&self) -> Shape {
        self.timer.shape(self.timer_rate.unwrap_or(RATE))
    }

    /// A copy with this distribution of wake-up times.
    #[must_use]
    pub fn shaped(self, shape: Shape) -> Self {
        let (timer, timer_rate) = match shape {
            Shape::Uniform => (Distribution::Uniform, None),
            Shape::Rising { rate } => (Distribution::Exponential, Some(rate)),
            Shape::Falling { rate } => (Distribution::ExponentialFalling, Some(rate)),
        };
        Self { timer, timer_rate, ..self }
    }

    /// A copy with wake-up times from this source.
    #[must_use]
    pub fn mapped(self, mapping: Mapping) -> Self {
        let (mapping, best, worst, jitter) = match mapping {
            Mapping::Random => (WakeBy::Random, None, None, Duration::ZERO),
            Mapping::ByStanding { best, worst, jitter } => {
                (WakeBy::Standing, Some(best), Some(worst), jitter)
            }
        };
        Self { mapping, best, worst, jitter, ..self }
    }

    /// What makes a claim better.
    pub(super) fn own_criterion(&self) -> Criterion {
        self.criterion.unwrap_or(match self.variant {
            Variant::LeM => Criterion::EarliestWakeUp,
            _ => Criterion::HighestId,
        })
    }

    fn wake_mapping(&self) -> Result<Mapping, BadConfig> {
        let (worst, jitter) = (self.worst.unwrap_or(0), self.jitter);
        match (self.mapping, self.best) {
            (WakeBy::Random, _) => Ok(Mapping::Random),
            (WakeBy::Standing, None) => Err(BadConfig::NoBest),
            (WakeBy::Standing, Some(best)) if best <= worst => {
                Err(BadConfig::MappingUpsideDown { best, worst })
            }
            (WakeBy::Standing, Some(best)) => Ok(Mapping::ByStanding { best, worst, jitter }),
        }
    }
}

/// Valid parameters, as the handlers read them.
#[derive(Clone, Debug, PartialEq)]
pub struct Params {
    pub(super) opening: Opening,
    pub(super) yields: Yields,
    pub(super) repeat: Repeat,
    pub(super) criterion: Criterion,
    pub(super) wake: WakeUp,
    pub(super) announce: Duration,
    pub(super) listen: Duration,
    pub(super) aging: Option<Duration>,
    pub(super) leaders: usize,
    pub(super) bye_copies: u32,
    pub(super) bye_from_all: bool,
    pub(super) patience: Duration,
    pub(super) reply_spread: Duration,
    pub(super) as_printed: bool,
    pub(super) names_leaders: bool,
    /// The number of announcements after which a leader is established, ⌈T_L/T_A⌉; never if T_L is
    /// infinite or the criterion does not use it.
    pub(super) established_after: u32,
}

impl Params {
    /// How an election begins.
    pub fn opening(&self) -> Opening {
        self.opening
    }

    /// When a process gives way.
    pub fn yields(&self) -> Yields {
        self.yields
    }

    /// How often it announces.
    pub fn repeat(&self) -> Repeat {
        self.repeat
    }

    /// What makes a claim better.
    pub fn criterion(&self) -> Criterion {
        self.criterion
    }

    /// T_A.
    pub fn announce(&self) -> Duration {
        self.announce
    }

    /// T_L; [`Duration::MAX`] for infinite.
    pub fn listen(&self) -> Duration {
        self.listen
    }

    /// How wake-up times are found.
    pub fn wake(&self) -> &WakeUp {
        &self.wake
    }

    /// How many Byes a leaving leader sends.
    pub fn bye_copies(&self) -> u32 {
        self.bye_copies
    }

    /// Whether a process of this id can have this weight. Where the id is the standing, it is
    /// known.
    #[inline]
    pub(super) fn is_credible(&self, weight: u64, id: NodeId) -> bool {
        self.criterion != Criterion::HighestId || weight & STANDING_MAX == id.0.min(STANDING_MAX)
    }

    /// Whether a claim as heavy as one on the board is redundant: it can only come from the same
    /// process, and trust in that process does not end.
    #[inline]
    pub(super) fn knows_enough(&self, weight: u64) -> bool {
        self.criterion == Criterion::HighestId
            && self.listen == Duration::MAX
            && weight & STANDING_MAX < STANDING_MAX
    }

    /// How many lead together.
    pub fn leaders(&self) -> usize {
        self.leaders
    }

    /// Whether the mistake of the printed programs is included.
    pub fn is_as_printed(&self) -> bool {
        self.as_printed
    }
}

impl TryFrom<Config> for Params {
    type Error = BadConfig;

    fn try_from(config: Config) -> Result<Self, BadConfig> {
        let (opening, yields, repeat) = config.variant.rules();
        let criterion = config.own_criterion();
        config.check_values().map_err(BadConfig::NoEffect)?;
        check_timers(&config, repeat)?;
        check_order(&config, opening, yields, criterion)?;
        let established_after = match criterion {
            Criterion::EarliestWakeUp => config.listen.div_ceil(config.announce),
            _ => None,
        };
        Ok(Self {
            opening,
            yields,
            repeat,
            criterion,
            wake: WakeUp {
                interval: config.suppress,
                shape: config.shape(),
                mapping: config.wake_mapping()?,
            },
            announce: config.announce,
            listen: config.listen,
            aging: config.aging,
            leaders: config.leaders,
            bye_copies: config.bye_copies,
            bye_from_all: config.bye_from_all,
            patience: config.patience,
            reply_spread: config.reply_spread,
            as_printed: config.as_printed,
            names_leaders: config.variant.elects(),
            established_after: established_after
                .and_then(|count| u32::try_from(count).ok())
                .unwrap_or(u32::MAX),
        })
    }
}

/// A parameter that the protocol does not have was refused before: here it has its default.
fn check_timers(config: &Config, repeat: Repeat) -> Result<(), BadConfig> {
    let &Config { suppress, announce, listen, patience, reply_spread, jitter, .. } = config;
    if announce == Duration::ZERO {
        return Err(BadConfig::NoAnnounceInterval);
    }
    if listen == Duration::ZERO {
        return Err(BadConfig::NoListenInterval);
    }
    let waits = [
        ("announce", announce),
        ("suppress", suppress),
        ("jitter", jitter),
        ("patience", patience),
    ];
    if let Some(&(what, _)) = waits.iter().find(|(_, length)| *length == Duration::MAX) {
        return Err(BadConfig::EndlessWait { what });
    }
    if repeat == Repeat::Redrawn && suppress + jitter > announce {
        return Err(BadConfig::SuppressBeyondAnnounce { suppress: suppress + jitter, announce });
    }
    if patience <= reply_spread {
        return Err(BadConfig::NoPatience { patience, reply_spread });
    }
    if let Some(aging) = config.aging
        && (aging == Duration::ZERO || aging >= listen || listen == Duration::MAX)
    {
        return Err(BadConfig::AgingNotBelowListen { aging, listen });
    }
    match config.shape() {
        Shape::Rising { rate } | Shape::Falling { rate } if !(rate > 0.0 && rate <= RATE_MAX) => {
            Err(BadConfig::RateOutOfRange { rate })
        }
        _ => Ok(()),
    }
}

fn check_order(
    config: &Config,
    opening: Opening,
    yields: Yields,
    criterion: Criterion,
) -> Result<(), BadConfig> {
    let &Config { leaders, variant, bye_copies: copies, .. } = config;
    if !(1..=LEADERS_MAX).contains(&leaders) {
        return Err(BadConfig::LeadersOutOfRange { leaders });
    }
    if leaders > 1 && yields == Yields::ToAnyone {
        return Err(BadConfig::LeadersWithoutOrder { leaders, variant: variant.name() });
    }
    let redrawn = variant.rules().2 == Repeat::Redrawn;
    if criterion == Criterion::EarliestWakeUp && (redrawn || !opening.suppresses()) {
        return Err(BadConfig::NoWakeUp { variant: variant.name() });
    }
    if config.aging.is_some() && yields == Yields::ToAnyone {
        return Err(BadConfig::AgingWithoutOrder { variant: variant.name() });
    }
    if copies > BYES_MAX {
        return Err(BadConfig::TooManyByes { copies });
    }
    if config.bye && copies == 0 {
        return Err(BadConfig::ByeWithoutCopies);
    }
    Ok(())
}
