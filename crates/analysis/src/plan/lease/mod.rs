//! Parameters of leases from goals, and what to expect of them.
//!
//! **Source.** Ours, within the constraints of
//! [`Params`].
//!
//! **Assumptions.** Majority mode. Messages are lost without memory; one that takes longer than
//! planned for counts as lost. Processes react within `scheduling`, and what must be stored is
//! stored within `fsync`.
//!
//! **Promise.** A plan is a valid configuration, whose [bound](Plan::takeover_within) on the time
//! without a leader after a crash is at most `detect`.
//!
//! What operators mean by "a dead leader is detected within a second" is that another one leads by
//! then. So `detect` counts from the crash until the next leader leads, in 99 of 100 crashes.
//!
//! | parameter | rule |
//! |---|---|
//! | Δ | 5/4 of what a message and the one before it may take, with what is stored and how far clocks drift apart meanwhile: 2δ + fsync + 4ρ·(refresh+detect) + 2ε |
//! | σ | as given |
//! | lockTime | the longest that `detect` allows: the longer, the more requests in a lease |
//! | P | a third of lockTime, as in the presets. Less if fewer than three requests would be left after a stall of σ, or if leadership would be lost too often |
//! | EP | the shortest that lockTime allows |
//! | expires | 3/2 of the shortest that EP allows, as in the presets |
//!
//! | file | what it knows |
//! |---|---|
//! | `answers` | how probable it is that too few answer |
//! | `renewal` | how often a leader is lost although it is alive, and how many datagrams that takes |
//! | `takeover` | how soon a dead leader is replaced |
//! | `budget` | what a lease and a takeover are spent on |
//! | `refused` | why there is no plan |
//! | `confirm` | whether simulations agree |
//! | `rare` | how often leadership is lost, where nobody could wait for it |

mod answers;
mod budget;
mod confirm;
mod rare;
mod refused;
mod renewal;
mod takeover;

pub use budget::budget;
pub use confirm::{Comparison, Confirmed, Watch};
pub use rare::LossRate;
pub use refused::Refused;
pub use renewal::{Renewal, YEAR};
pub use takeover::{SHARE, Takeover};

pub(crate) use answers::too_few;

use crate::inputs::Loss;
use crate::point::Point;
use bellwether_core::Duration;
use bellwether_protocols::local_leader::{CLOCK_ERROR, Config, NODES_MAX, Params};
use bellwether_sim::network::{Delay, DelayModel};

/// All times are multiples of this.
const STEP: Duration = Duration::from_micros(100);
/// The part of all messages that may take longer than planned for, where delays have no bound.
const LATE: f64 = 0.001;
/// A lease has room for so many requests after a stall.
const REQUESTS_MIN: u64 = 3;
/// The longest time that can be a goal.
const LONGEST: Duration = Duration::from_secs(36_000);
/// The most that may be lost: beyond it no time of a takeover was found to hold.
pub const LOSS_MAX: f64 = 0.1;
const MILLION: u64 = 1_000_000;

/// What is asked for, and under which circumstances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goals {
    /// N: all processes.
    pub nodes: u32,
    /// What is lost.
    pub loss: Loss,
    /// How long a message takes, on average.
    pub delay: Duration,
    /// How that is distributed.
    pub delay_model: DelayModel,
    /// σ: a process reacts within this.
    pub scheduling: Duration,
    /// ρ: clocks gain or lose at most this, in parts per million.
    pub drift_ppm: u32,
    /// How long it takes to store a vote.
    pub fsync: Duration,
    /// A dead leader is to be replaced within this, in 99 of 100 crashes.
    pub detect: Duration,
    /// How often in a year a leader that is alive may at most lose its leadership.
    pub losses_per_year: f64,
}

/// The parameters, and what to expect of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What was asked for.
    pub goals: Goals,
    /// The parameters as they are written.
    pub config: Config,
    /// The same, valid.
    pub params: Params,
    /// How many attempts to replace a dead leader may fail.
    pub takeover: Takeover,
}

/// `length · parts / 10⁶`, rounded up.
fn parts(length: Duration, parts: u64) -> Duration {
    let product = u128::from(length.as_nanos()) * u128::from(parts);
    let nanos = product.div_ceil(u128::from(MILLION));
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

fn rounded_up(length: Duration) -> Duration {
    STEP * length.div_ceil(STEP).unwrap_or(0)
}

fn rounded_down(length: Duration) -> Duration {
    STEP * (length.as_nanos() / STEP.as_nanos())
}

impl Goals {
    /// Refuses what lies outside the domain.
    fn check(&self) -> Result<(), Refused> {
        let most = u32::try_from(NODES_MAX).unwrap_or(u32::MAX);
        if !(3..=most).contains(&self.nodes) {
            return Err(Refused::Nodes { nodes: self.nodes, most });
        }
        let loss = self.loss.rate();
        if !(0.0..=LOSS_MAX).contains(&loss) {
            return Err(Refused::Loss { loss });
        }
        for (name, length) in [
            ("detect", self.detect),
            ("delay", self.delay),
            ("scheduling", self.scheduling),
            ("fsync", self.fsync),
        ] {
            if length > LONGEST {
                return Err(Refused::TooLong { name, length, most: LONGEST });
            }
        }
        if self.losses_per_year.is_nan() || self.losses_per_year < 0.0 {
            return Err(Refused::Rate { losses_per_year: self.losses_per_year });
        }
        Ok(())
    }

    fn distribution(&self) -> Delay {
        self.delay_model.of(self.delay)
    }

    /// δ: how long a message takes at most, and the part of all that take longer.
    pub fn slowest(&self) -> (Duration, f64) {
        match self.delay_model {
            DelayModel::Constant => (self.delay, 0.0),
            DelayModel::Uniform => (self.delay * 2, 0.0),
            DelayModel::Exponential | DelayModel::LogNormal => {
                (self.distribution().draw(1.0 - LATE), LATE)
            }
        }
    }

    /// How much the bound on a delay may be too large: clocks drift apart while stamps grow old.
    fn ageing(&self, hold: Duration) -> Duration {
        if self.drift_ppm == 0 {
            return Duration::ZERO; // clocks are exact
        }
        let rho = u64::from(self.drift_ppm);
        parts(hold, 4 * rho) + parts(CLOCK_ERROR * 2, MILLION + 4 * rho)
    }

    /// Δ for a takeover within this time, in which EP has room too.
    fn delta(&self, detect: Duration) -> Duration {
        let refresh = Duration::from_millis(500);
        let least = self.slowest().0 * 2 + self.fsync + self.ageing(refresh + detect);
        rounded_up(parts(least, MILLION + MILLION / 4)).max(STEP)
    }

    /// All parameters for a takeover within this time, if there are any. They may break the goal of
    /// losses.
    fn fitted(&self, detect: Duration, takeover: &Takeover) -> Option<Config> {
        let (delta, sigma) = (self.delta(detect), self.scheduling);
        let lock = takeover.longest_lock(detect, delta, sigma, self.drift_ppm);
        let lock = rounded_down(lock);
        let config = self.around(delta, sigma, lock);
        let third = lock / 3;
        let most = self.longest_renew(&config, REQUESTS_MIN)?;
        self.with_renew(&config, third.min(most))
    }

    /// The other parameters for this lockTime, all but P.
    fn around(&self, delta: Duration, sigma: Duration, lock: Duration) -> Config {
        let config = Config { drift_ppm: Some(self.drift_ppm), ..Config::default() };
        config.around(delta, sigma, lock, STEP)
    }

    /// The longest P with which so many requests are answered within a lease, after a stall of σ.
    fn longest_renew(&self, config: &Config, requests: u64) -> Option<Duration> {
        let params = Params::try_from(Config { unchecked: true, ..config.clone() }).ok()?;
        // The last answer comes before the end.
        let taken = params.round() * requests + params.sigma() + Duration::from_nanos(1);
        Some(params.lease().saturating_sub(taken))
    }

    /// With about this P, if that is valid.
    fn with_renew(&self, config: &Config, renew: Duration) -> Option<Config> {
        let config = Config { renew: Some(rounded_down(renew)), ..config.clone() };
        Params::try_from(config.clone()).is_ok().then_some(config)
    }

    /// The shortest time within which a dead leader can be replaced, if there is any.
    fn soonest(&self, takeover: &Takeover) -> Option<Duration> {
        let fits = |detect: Duration| self.fitted(detect, takeover).is_some();
        let (mut low, mut high) = (Duration::ZERO, LONGEST);
        if !fits(high) {
            return None;
        }
        while high.saturating_sub(low) > STEP {
            let middle = Duration::from_nanos(low.as_nanos().midpoint(high.as_nanos()));
            *(if fits(middle) { &mut high } else { &mut low }) = middle;
        }
        // A millisecond more where that is what people would write.
        let short = Duration::from_millis(high.as_nanos().div_ceil(1_000_000));
        Some(if fits(short) { short } else { high })
    }
}

impl Plan {
    /// The parameters that reach these goals.
    ///
    /// # Errors
    /// [`Refused`], with what can be reached instead.
    pub fn new(goals: Goals) -> Result<Self, Refused> {
        goals.check()?;
        let takeover = Takeover::of(&goals);
        let Some(config) = goals.fitted(goals.detect, &takeover) else {
            return Err(match goals.soonest(&takeover) {
                Some(soonest) => Refused::Detect { goals: Box::new(goals), soonest },
                None => Refused::Never { goals: Box::new(goals), most: LONGEST },
            });
        };
        let mut plan = Self::of(goals, config, takeover)?;
        let mut requests = REQUESTS_MIN;
        while plan.losses_after_stalls() > goals.losses_per_year {
            requests += 1;
            let shorter = goals.longest_renew(&plan.config, requests);
            let shorter = shorter.filter(|renew| Some(*renew) < plan.config.renew);
            let Some(renew) = shorter else { continue };
            match goals.with_renew(&plan.config, renew) {
                Some(config) => plan = Self::of(goals, config, plan.takeover)?,
                None => {
                    let fewest = plan.losses_after_stalls();
                    return Err(Refused::Losses { goals: Box::new(goals), fewest });
                }
            }
        }
        Ok(plan)
    }

    fn of(goals: Goals, config: Config, takeover: Takeover) -> Result<Self, Refused> {
        let params = Params::try_from(config.clone()).map_err(Refused::Config)?;
        Ok(Self { goals, config, params, takeover })
    }

    /// A dead leader is replaced within this, in 99 of 100 crashes.
    pub fn takeover_within(&self) -> Duration {
        self.takeover.within(&self.params)
    }

    /// How the leases of this plan are renewed, if every process reacts at once.
    pub fn renewal(&self) -> Renewal {
        Renewal::new(&self.goals, &self.params, Duration::ZERO)
    }

    /// How often in a year leadership is lost, at most, if each lease loses σ by a stall.
    pub fn losses_after_stalls(&self) -> f64 {
        let stalled = Renewal::new(&self.goals, &self.params, self.params.sigma());
        stalled.losses_per_second_at_most() * YEAR
    }

    /// The parameters by name and text.
    pub fn parameters(&self) -> Vec<(&'static str, String)> {
        let params = &self.params;
        let length = |name, length: Duration| (name, length.to_string());
        vec![
            length("delta", params.delta()),
            length("sigma", params.sigma()),
            length("renew", params.renew()),
            length("lock", params.lock()),
            length("period", params.period()),
            length("expires", params.expires()),
            ("drift-ppm", params.drift_ppm().to_string()),
        ]
    }

    /// A group with these parameters in this network.
    pub fn point(&self) -> Point {
        let Goals { nodes, loss, delay, delay_model, .. } = self.goals;
        let plain = Point::new("local-leader", nodes).loss(loss);
        let point = Point { delay, delay_model, ..plain };
        self.parameters().into_iter().fold(point, |point, (name, text)| point.with(name, text))
    }
}
