//! Packet delays.

use super::normal;
use bellwether_core::Duration;
use bellwether_protocols::named;
use serde::{Deserialize, Serialize};

/// A distribution of delays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Delay {
    /// Always the same.
    Constant(Duration),
    /// Uniform between `min` and `max`.
    Uniform {
        /// The shortest.
        min: Duration,
        /// The longest.
        max: Duration,
    },
    /// At least `min`, plus an exponentially distributed time.
    Exponential {
        /// The shortest.
        #[serde(default)]
        min: Duration,
        /// The mean of the additional time.
        mean: Duration,
    },
    /// At least `min`, plus a log-normally distributed time, which has a long tail.
    LogNormal {
        /// The shortest.
        #[serde(default)]
        min: Duration,
        /// The median of the additional time.
        median: Duration,
        /// The standard deviation of the logarithm.
        sigma: f64,
    },
}

named! {
    /// The shape of a distribution of delays that has a given mean and no minimum.
    pub enum DelayModel = Constant {
        /// Always the same.
        Constant = "constant",
        /// Anything from nothing to twice the mean.
        Uniform = "uniform",
        /// Exponential, without memory.
        Exponential = "exponential",
        /// A long tail.
        LogNormal = "log-normal",
    }
}

impl DelayModel {
    /// The distribution with this mean.
    pub fn of(self, mean: Duration) -> Delay {
        match self {
            Self::Constant => Delay::Constant(mean),
            Self::Uniform => Delay::Uniform { min: Duration::ZERO, max: mean * 2 },
            Self::Exponential => Delay::Exponential { min: Duration::ZERO, mean },
            Self::LogNormal => Delay::log_normal(mean, 1.0),
        }
    }
}

impl Delay {
    /// The log-normal delay with this mean and no minimum.
    pub fn log_normal(mean: Duration, sigma: f64) -> Self {
        let median = mean.as_nanos() as f64 / libm::exp(sigma * sigma / 2.0);
        Self::LogNormal { min: Duration::ZERO, median: Duration::from_nanos(median as u64), sigma }
    }

    /// The delay at this quantile, `0 <= unit < 1`.
    #[inline]
    pub fn draw(&self, unit: f64) -> Duration {
        let scaled = |length: Duration, factor: f64| {
            Duration::from_nanos((length.as_nanos() as f64 * factor) as u64)
        };
        match self {
            Self::Constant(delay) => *delay,
            Self::Uniform { min, max } => *min + scaled(max.saturating_sub(*min), unit),
            Self::Exponential { min, mean } => *min + scaled(*mean, -libm::log(1.0 - unit)),
            Self::LogNormal { min, median, sigma } => {
                let normal = normal::quantile(unit.max(f64::MIN_POSITIVE));
                *min + scaled(*median, libm::exp(sigma * normal))
            }
        }
    }

    /// The longest delay that can be drawn. Draws have 53 bits, so even the longest tail is
    /// bounded.
    pub fn longest(&self) -> Duration {
        self.draw(1.0 - f64::EPSILON / 2.0)
    }

    /// The mean.
    pub fn mean(&self) -> Duration {
        match self {
            Self::Constant(delay) => *delay,
            Self::Uniform { min, max } => {
                *min + Duration::from_nanos(max.saturating_sub(*min).as_nanos() / 2)
            }
            Self::Exponential { min, mean } => *min + *mean,
            Self::LogNormal { min, median, sigma } => {
                let factor = libm::exp(sigma * sigma / 2.0);
                *min + Duration::from_nanos((median.as_nanos() as f64 * factor) as u64)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_distribution_has_the_mean_it_claims() {
        let ms = Duration::from_millis;
        for delay in [
            Delay::Constant(ms(100)),
            Delay::Uniform { min: ms(50), max: ms(150) },
            Delay::Exponential { min: ms(20), mean: ms(80) },
            Delay::LogNormal { min: ms(10), median: ms(50), sigma: 0.8 },
            Delay::log_normal(ms(70), 0.8),
        ] {
            let steps = 100_000;
            let units = (0..steps).map(|i| (f64::from(i) + 0.5) / f64::from(steps));
            let sum: f64 = units.map(|unit| delay.draw(unit).as_secs_f64()).sum();
            let (mean, expected) = (sum / f64::from(steps), delay.mean().as_secs_f64());
            assert!((mean - expected).abs() < 2e-3 * expected, "{delay:?}: {mean} {expected}");
        }
        let off = Delay::log_normal(ms(70), 0.8).mean().as_secs_f64() - 0.07;
        assert!(off.abs() < 1e-8, "{off}");
        let median = Duration::from_nanos((1e18 / 1.648_721_270_700_128_2) as u64);
        let (mean, min, sigma) = (Duration::from_secs(1_000_000_000), Duration::ZERO, 1.0);
        assert_eq!(Delay::log_normal(mean, sigma), Delay::LogNormal { min, median, sigma });
    }
}
