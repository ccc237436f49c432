//! The parameters as written and as validated.
//!
//! [`Config`] holds the written values: a preset and the differences from it. [`Params`] is what
//! the handlers read. The conversion checks the inequalities of sections IX-C and IX-D, as
//! corrected by our reading; an error names both sides.

mod bad_config;
mod bounds;
mod nearest;
mod of_lease;

pub use bad_config::BadConfig;
pub use nearest::{Change, Proposal};

use super::preset::Times;
use super::row::NODES_MAX;
use super::rules::{Rule, Rules};
use super::table::Config;
use super::times::Lengths;
use crate::named;
use crate::profile::lease;
use alloc::vec::Vec;
use bellwether_core::Duration;

named! {
    /// Which processes must support a leader.
    pub enum Mode = Majority {
        /// More than half of the group: never two leaders at once.
        Majority = "majority",
        /// All that it can reach in time: one leader in each partition.
        Local = "local",
    }
}

named! {
    /// Whether the terms of leaderships, their fencing tokens, survive restarts.
    pub enum Tokens = Durable {
        /// They are stored: a token is never used twice, even if members restart.
        Durable = "durable",
        /// They are not: who restarts has forgotten its votes, so a token may be used again.
        Volatile = "volatile",
    }
}

/// Valid parameters, as the handlers read them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    pub(super) mode: Mode,
    pub(super) tokens: Tokens,
    pub(super) as_published: bool,
    pub(super) unchecked: bool,
    pub(super) rules: Rules,
    pub(super) delta: Duration,
    pub(super) sigma: Duration,
    pub(super) renew: Duration,
    pub(super) lock: Duration,
    pub(super) period: Duration,
    pub(super) expires: Duration,
    pub(super) fastest: Duration,
    pub(super) drift_ppm: u32,
    pub(super) clock_error: Duration,
    pub(super) refresh: Duration,
    pub(super) cooldown: Duration,
    pub(super) preempt: bool,
    pub(super) preempt_delay: Duration,
    pub(super) preempt_asks: bool,
    pub(super) rotate_after: Option<Duration>,
    pub(super) announce: Duration,
    pub(super) hold: Duration,
    pub(super) replace_after: Option<Duration>,
    pub(super) spare: Option<u32>,
    pub(super) tree: u32,
    /// lockTime(1−2ρ)−2ε, rounded down.
    pub(super) lease: Duration,
    /// 2Δ(1+ρ), rounded up: after this the replies to a request have arrived.
    pub(super) round: Duration,
}

/// The default of the cool-down.
const COOLDOWN: Duration = Duration::from_secs(60);
/// The default of the time for which a better process must have been heard.
const PREEMPT_DELAY: Duration = Duration::from_secs(10);
/// By default a leader announces itself at least this often, unless its requests are rarer.
const ANNOUNCE: Duration = Duration::from_secs(1);
/// The default of ρ, in parts per million.
pub const DRIFT_PPM: u32 = 200;
/// ε: how much a clock may gain or lose beyond ρ between two readings. The runtime compares the
/// machine's clocks at every reading, and a comparison cannot be more exact than the readings.
pub const CLOCK_ERROR: Duration = Duration::from_micros(100);
/// The largest allowed drift: beyond a tenth no lease is possible.
pub(super) const DRIFT_PPM_MAX: u32 = 100_000;
/// The longest duration of any part of a request, so that sums stay exact.
pub(super) const LONGEST: Duration = Duration::from_secs(86_400);
const MILLION: u128 = 1_000_000;

/// `length · parts / 10⁶`, rounded down or up.
fn scaled(length: Duration, parts: u128, up: bool) -> Duration {
    let product = u128::from(length.as_nanos()) * parts;
    let nanos = if up { product.div_ceil(MILLION) } else { product / MILLION };
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

/// Checks that replies can be collated, if they are to be.
fn check_tree(config: &Config) -> Result<(), BadConfig> {
    let &Config { tree, spare, as_published, .. } = config;
    let rule = if u64::from(tree) > NODES_MAX {
        "tree <= 1024 must hold, which is how many voters a group can have; with 0 each answers \
         the leader itself"
    } else if tree > 0 && spare.is_some() {
        "spare is given too, and both say who answers a renewal; leave one of them out"
    } else if tree > 0 && as_published {
        "as-published has one request per lease, and whoever misses an answer through a tree needs \
         a second one; leave one of them out"
    } else {
        return Ok(());
    };
    Err(BadConfig::Tree { tree, rule })
}

impl TryFrom<Config> for Params {
    type Error = BadConfig;

    fn try_from(config: Config) -> Result<Self, BadConfig> {
        let params = Self::resolved(&config)?;
        params.check_sense()?;
        match params.broken().filter(|_| !config.unchecked) {
            Some(Constraint { rule, left, right, .. }) => {
                let nearest = nearest::nearest(&config);
                Err(BadConfig::Constraint { rule, left, right, nearest })
            }
            None => Ok(params),
        }
    }
}

impl Params {
    /// All values, written or not, before they are checked.
    fn resolved(config: &Config) -> Result<Self, BadConfig> {
        let Times { delta, sigma, renew, lock, period, expires } = config.preset.times();
        let rules = if config.as_published { Rules::PUBLISHED } else { Rules::ALL };
        let drift_ppm = config.drift_ppm.unwrap_or(DRIFT_PPM);
        if drift_ppm > DRIFT_PPM_MAX {
            return Err(BadConfig::Drift { drift_ppm });
        }
        if let Some(spare) = config.spare.filter(|spare| u64::from(*spare) > NODES_MAX) {
            return Err(BadConfig::Spare { spare });
        }
        check_tree(config)?;
        let delta = config.delta.unwrap_or(delta);
        let Config { sigma: s, renew: p, period: ep, expires: e, lock: l, refresh: r, .. } =
            *config;
        for (name, length) in [
            ("delta", Some(delta)),
            ("sigma", s),
            ("renew", p),
            ("lock", l),
            ("period", ep),
            ("expires", e),
            ("fastest", Some(config.fastest)),
            ("refresh", r),
            ("cooldown", config.cooldown),
            ("preempt-delay", config.preempt_delay),
            ("rotate-after", config.rotate_after),
            ("announce", config.announce),
            ("hold", config.hold),
            ("replace-after", config.replace_after),
        ] {
            if let Some(length) = length.filter(|length| *length > LONGEST) {
                return Err(BadConfig::TooLong { name, length });
            }
        }
        // Clocks without any drift are those of a simulation, and exact; the paper has no ε.
        let exact = drift_ppm == 0 || config.as_published;
        let renew = config.renew.unwrap_or(renew);
        let announce = config.announce.unwrap_or((renew * 10).min(ANNOUNCE).max(renew));
        let mut params = Self {
            mode: config.mode,
            tokens: config.tokens,
            as_published: config.as_published,
            unchecked: config.unchecked,
            rules,
            delta,
            sigma: config.sigma.unwrap_or(sigma),
            renew,
            lock: Duration::ZERO,
            period: config.period.unwrap_or(period),
            expires: config.expires.unwrap_or(expires),
            fastest: config.fastest,
            drift_ppm,
            clock_error: if exact { Duration::ZERO } else { CLOCK_ERROR },
            refresh: config.refresh.unwrap_or(Duration::from_millis(500).min(delta * 250)),
            cooldown: config.cooldown.unwrap_or(COOLDOWN),
            preempt: config.preempt,
            preempt_delay: config.preempt_delay.unwrap_or(PREEMPT_DELAY),
            preempt_asks: config.preempt_asks,
            rotate_after: config.rotate_after.filter(|_| config.preempt),
            announce,
            hold: config.hold.unwrap_or(announce * 6),
            replace_after: config.replace_after,
            spare: config.spare,
            tree: config.tree,
            lease: Duration::ZERO,
            round: scaled(delta * 2, MILLION + u128::from(drift_ppm), true),
        };
        let lock = config.lock.or(lock).filter(|_| config.lock.is_some() || !config.as_published);
        params.set_lock(lock.unwrap_or_else(|| params.longest_lock()));
        Ok(params)
    }
}

/// Accessors.
impl Params {
    /// Which processes must support a leader.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Whether fencing tokens survive restarts.
    pub fn keeps_tokens(&self) -> bool {
        self.tokens == Tokens::Durable
    }

    /// Whether this is the protocol as printed, which is not for real use.
    pub fn is_as_published(&self) -> bool {
        self.as_published
    }

    /// Whether its values may break a constraint, which is not for real use.
    pub fn is_unchecked(&self) -> bool {
        self.unchecked
    }

    /// Δ.
    pub fn delta(&self) -> Duration {
        self.delta
    }

    /// σ.
    pub fn sigma(&self) -> Duration {
        self.sigma
    }

    /// P.
    pub fn renew(&self) -> Duration {
        self.renew
    }

    /// lockTime.
    pub fn lock(&self) -> Duration {
        self.lock
    }

    /// EP.
    pub fn period(&self) -> Duration {
        self.period
    }

    /// How long a process counts as alive after a fast message.
    pub fn expires(&self) -> Duration {
        self.expires
    }

    /// δmin.
    pub fn fastest(&self) -> Duration {
        self.fastest
    }

    /// ρ, in parts per million.
    pub fn drift_ppm(&self) -> u32 {
        self.drift_ppm
    }

    /// ε: how much a clock may gain or lose beyond ρ between two readings.
    pub fn clock_error(&self) -> Duration {
        self.clock_error
    }

    /// How often silent processes send a message.
    pub fn refresh(&self) -> Duration {
        self.refresh
    }

    /// How long a process that resigned comes last in line, in majority mode.
    pub fn cooldown(&self) -> Duration {
        self.cooldown
    }

    /// How long a leader with `preempt` must have heard a better process steadily.
    pub fn preempt_delay(&self) -> Duration {
        self.preempt_delay
    }

    /// For how long a leader leads before it hands over to the next, if it does.
    pub fn rotate_after(&self) -> Option<Duration> {
        self.rotate_after
    }

    /// The longest time from the beginning of one reign to that of the next in a stable partition,
    /// if leadership rotates. A leader's last request is sent before its time is over, so its lease
    /// ends a lockTime after that at the latest, and it names the next one within σ. That one hears
    /// of it after Δ and asks within σ. By a majority it may have to ask three times, each taking
    /// 2Δ+σ: it heard too few when it last asked, so the first time is a probe; and a voter may
    /// have granted a higher term. In local mode it asks for the second time after EP, since at
    /// first it does not know itself to be alive (section IX-D), and counts after 2Δ and within σ.
    /// `None` with `preempt-asks`: the application hands over when it is done, however long that
    /// takes.
    ///
    /// In a stable partition of n each member leads at some moment of every n + 1 of these.
    pub fn rotation(&self) -> Option<Duration> {
        if self.preempt_asks {
            return None;
        }
        let reign = self.rotate_after? + self.lock + self.sigma;
        let asking = match self.mode {
            Mode::Majority => self.stagger() * 3,
            Mode::Local => self.sigma + self.period + self.stagger(),
        };
        let parts = MILLION + 2 * u128::from(self.drift_ppm);
        Some(scaled(reign + self.delta + asking, parts, true))
    }

    /// How often a leader announces itself, if there are many observers.
    pub fn announce(&self) -> Duration {
        self.announce
    }

    /// How long an observer believes an announcement.
    pub fn hold(&self) -> Duration {
        self.hold
    }

    /// How long a leader waits for a silent voter before it replaces it, if it does.
    pub fn replace_after(&self) -> Option<Duration> {
        self.replace_after
    }

    /// How many voters more than a majority needs answer a renewal; `None` if all do.
    pub fn spare(&self) -> Option<u32> {
        self.spare
    }

    /// How many replies to a renewal the leader receives, if others collate the rest; 0 if each
    /// supporter answers it directly.
    pub fn tree(&self) -> u32 {
        self.tree
    }

    /// The length of a lease from the sending of its request: lockTime(1−2ρ)−2ε.
    ///
    /// By a slow clock a lease lasts at most (lease+ε)/(1−ρ); by a fast one a lock lasts at least
    /// (lockTime−ε)/(1+ρ), which is no less.
    pub fn lease(&self) -> Duration {
        self.lease
    }

    /// The time after which the replies to a request have arrived, and it is sent again: 2Δ(1+ρ).
    pub fn round(&self) -> Duration {
        self.round
    }

    /// How many supporters a leader needs in a group of this size, including itself.
    pub fn quorum(&self, group: usize) -> usize {
        match self.mode {
            Mode::Majority => group / 2 + 1,
            Mode::Local => 1,
        }
    }

    /// How much later each next process tries to take over: 2Δ+σ.
    pub fn stagger(&self) -> Duration {
        self.delta * 2 + self.sigma
    }

    /// Whether the rules for a fast majority apply, and not those of the alive-set.
    #[inline]
    pub(super) fn by_majority(&self) -> bool {
        self.mode == Mode::Majority && !self.as_published
    }

    /// Whether a rule is in force; see [`Rules::keep`].
    #[inline(always)]
    pub(super) fn keep(&self, rule: Rule) -> bool {
        self.rules.keep(rule)
    }
}

/// Checking.
impl Params {
    /// The same with another lockTime and another ρ; EP and `expires` follow if they must.
    pub(super) fn at(&self, lengths: Lengths) -> Self {
        let mut params = self.clone();
        params.drift_ppm = lengths.drift_ppm;
        let rho = u128::from(lengths.drift_ppm);
        params.round = scaled(self.delta * 2, MILLION + rho, true);
        params.set_lock(lengths.lock);
        let slow = |length: Duration| {
            let nanos = (u128::from(length.as_nanos()) * MILLION).div_ceil(MILLION - rho);
            Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
        };
        let spread = self.delta.saturating_sub(self.fastest);
        params.period = self.period.max(slow(slow(lengths.lock) + spread) + self.sigma);
        let up = |length| scaled(length, MILLION + rho, true);
        let least = params.period + up(spread * 2);
        let more = up(up(params.period) + spread) + Duration::from_nanos(1);
        params.expires = self.expires.max(least).max(more);
        params
    }

    /// The rule that these lengths break.
    pub(super) fn rule_broken_by(&self, lengths: Lengths) -> Option<&'static str> {
        if lengths.drift_ppm > DRIFT_PPM_MAX {
            return Some("ρ <= 0.1");
        }
        if lengths.lock > LONGEST || lengths.lock == Duration::ZERO {
            return Some("0 < lockTime <= 24 h");
        }
        if (lengths.drift_ppm == 0) != (self.drift_ppm == 0) {
            return Some("clocks without any drift are those of a simulation");
        }
        let broken = self.at(lengths).broken().filter(|_| !self.unchecked);
        broken.map(|constraint| constraint.rule)
    }

    /// The longest lock that lapses between two requests: (1−ρ)[(EP−σ)(1−ρ)−Δ+δmin]. The printed
    /// formula omits σ.
    fn longest_lock(&self) -> Duration {
        let sigma = if self.keep(Rule::RoomForScheduling) { self.sigma } else { Duration::ZERO };
        let parts = MILLION - u128::from(self.drift_ppm);
        let apart = scaled(self.period.saturating_sub(sigma), parts, false) + self.fastest;
        scaled(apart.saturating_sub(self.delta), parts, false)
    }

    fn set_lock(&mut self, lock: Duration) {
        self.lock = lock;
        let (drift_ppm, error) = match self.keep(Rule::DriftMargin) {
            true => (self.drift_ppm, self.clock_error),
            false => (0, Duration::ZERO),
        };
        self.lease = lease(lock, drift_ppm, error);
        assert!(self.lease <= self.lock, "a lease is never longer than the locks it rests on");
    }

    /// Checks that every duration is positive and bounded.
    fn check_sense(&self) -> Result<(), BadConfig> {
        for (name, length) in [
            ("delta", self.delta),
            ("renew", self.renew),
            ("lock", self.lock),
            ("period", self.period.saturating_sub(self.sigma)),
            ("expires", self.expires),
            ("refresh", self.refresh),
            ("announce", self.announce),
            ("rotate-after", self.rotate_after.unwrap_or(Duration::MAX)),
            ("replace-after", self.replace_after.unwrap_or(Duration::MAX)),
        ] {
            if length == Duration::ZERO {
                return Err(BadConfig::Nothing { name });
            }
        }
        if self.fastest >= self.delta {
            return Err(BadConfig::NothingIsFast { fastest: self.fastest, delta: self.delta });
        }
        let (hold, announce) = (self.hold, self.announce);
        if hold < announce * 3 {
            return Err(BadConfig::Hold { hold, announce });
        }
        Ok(())
    }

    /// The first inequality that does not hold.
    fn broken(&self) -> Option<Constraint> {
        self.constraints().into_iter().find(|constraint| !constraint.holds)
    }

    /// The inequalities between the time constants, with both sides of each.
    pub fn constraints(&self) -> Vec<Constraint> {
        let mut all = Vec::new();
        let mut hold = |holds: bool, rule, left, right| {
            all.push(Constraint { rule, left, right, holds });
        };
        let rho = u128::from(self.drift_ppm);
        let up = |length, parts| scaled(length, parts, true);
        let spread = self.delta.saturating_sub(self.fastest);
        let left = self.expires;
        let right = self.period + up(spread * 2, MILLION + rho);
        hold(left >= right, "expires >= EP + 2(1+ρ)(Δ-δmin)", left, right);
        let right = up(up(self.period, MILLION + rho) + spread, MILLION + rho);
        hold(left > right, "expires > (1+ρ)(EP(1+ρ)+Δ-δmin)", left, right);
        let (left, right) = (self.lock, up(self.delta * 2 + self.sigma, MILLION + 3 * rho));
        hold(left > right, "lockTime > (2Δ+σ)(1+3ρ)", left, right);
        let right = self.longest_lock();
        let rule = if self.keep(Rule::RoomForScheduling) {
            "lockTime <= (1-ρ)[(EP-σ)(1-ρ)-Δ+δmin]"
        } else {
            "lockTime <= (1-ρ)[EP(1-ρ)-Δ+δmin]"
        };
        hold(left <= right, rule, left, right);
        let (left, right) = (self.lease, self.round + self.sigma);
        hold(left > right, "lockTime(1-2ρ)-2ε > 2Δ(1+ρ)+σ", left, right);
        if self.keep(Rule::Retry) {
            let right = self.renew + self.round + self.sigma;
            hold(left >= right, "lockTime(1-2ρ)-2ε >= P+2Δ(1+ρ)+σ", left, right);
            let right = self.renew + self.round * 2;
            let rule = "lockTime(1-2ρ)-2ε > P+4Δ(1+ρ), so that two retries are sent in time";
            hold(left > right, rule, left, right);
            hold(self.renew >= self.round, "P >= 2Δ(1+ρ)", self.renew, self.round);
        }
        if self.spare.is_some() {
            let right = self.renew * 2 + self.round + self.sigma;
            let rule = "expires > 2P+2Δ(1+ρ)+σ, so that a voter that answers every second request \
                        counts as alive";
            hold(self.expires > right, rule, self.expires, right);
        }
        let timely = self.timely(self.refresh + self.period);
        let rule = "(Δ+δmin-4ρ(refresh+EP)-2ε)/2 > δmin, or no message is certain to be fast";
        hold(timely > self.fastest, rule, timely, self.fastest);
        all
    }
}

/// An inequality between the time constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constraint {
    /// The inequality.
    pub rule: &'static str,
    /// Its left side.
    pub left: Duration,
    /// Its right side.
    pub right: Duration,
    /// Whether it holds.
    pub holds: bool,
}

/// Removes rules and restores them, for the tests that show their purpose.
#[cfg(any(test, feature = "mutants"))]
impl Params {
    /// A copy without one rule.
    #[must_use]
    pub fn without(mut self, rule: Rule) -> Self {
        self.rules = self.rules.without(rule);
        if rule == Rule::RoomForScheduling {
            self.set_lock(self.longest_lock());
        } else {
            self.set_lock(self.lock);
        }
        self
    }

    /// A copy with a removed rule restored.
    #[must_use]
    pub fn with(mut self, rule: Rule) -> Self {
        self.rules = self.rules.with(rule);
        self.set_lock(self.lock);
        self
    }

    /// A copy with another lockTime, which may break constraints: a misconfigured member.
    #[must_use]
    pub fn with_lock(mut self, lock: Duration) -> Self {
        self.set_lock(lock);
        self
    }

    /// A copy without a margin for unnoticed clock errors.
    #[must_use]
    pub fn with_exact_clocks(mut self) -> Self {
        self.clock_error = Duration::ZERO;
        self.set_lock(self.lock);
        self
    }

    /// A copy with another refresh interval.
    #[must_use]
    pub fn with_refresh(mut self, refresh: Duration) -> Self {
        self.refresh = refresh;
        self
    }
}
