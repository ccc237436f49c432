//! The suppression timer: when a process that wants to lead announces itself.
//!
//! Section 5.1.2 leaves the distribution open. Section 5.4.3 points to exponential ones
//! (Nonnenmacher and Biersack) and concludes that the wake-up time should follow from the criterion
//! of leadership, which is [`Mapping::ByStanding`].

use crate::named;
use bellwether_core::{Duration, Entropy};

/// How the wake-up time is found within the suppression interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WakeUp {
    /// The suppression interval T_S: random wake-up times lie in `[0, T_S)`.
    pub interval: Duration,
    /// The distribution of a random wake-up time.
    pub shape: Shape,
    /// Whether it is random at all.
    pub mapping: Mapping,
}

named! {
    /// The distribution of a random wait, by name; [`Shape`] has the rate too.
    pub enum Distribution = Uniform {
        /// Constant density.
        Uniform = "uniform",
        /// Rising density: few wake early.
        Exponential = "exponential",
        /// Falling density: most wake early.
        ExponentialFalling = "exponential-falling",
    }
}

named! {
    /// Where a wait comes from, by name; [`Mapping`] has the bounds too.
    pub enum WakeBy = Random {
        /// A random draw.
        Random = "random",
        /// The standing by which leaders are chosen: the best wakes first.
        Standing = "standing",
    }
}

impl Distribution {
    /// The distribution, with this rate where it has one.
    pub fn shape(self, rate: f64) -> Shape {
        match self {
            Self::Uniform => Shape::Uniform,
            Self::Exponential => Shape::Rising { rate },
            Self::ExponentialFalling => Shape::Falling { rate },
        }
    }
}

/// The density of the wake-up time over the interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Shape {
    /// Constant.
    #[default]
    Uniform,
    /// Rises like `exp(rate·t/T_S)`: few wake early, so few speak (Nonnenmacher's timer).
    Rising {
        /// How steeply, over the whole interval.
        rate: f64,
    },
    /// Falls like `exp(−rate·t/T_S)`: most wake early, so the group decides early.
    Falling {
        /// How steeply, over the whole interval.
        rate: f64,
    },
}

/// Where the wake-up time comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mapping {
    /// From the distribution alone.
    #[default]
    Random,
    /// From the standing (id or rank): the best wakes at 0, the worst at T_S.
    ByStanding {
        /// The standing that wakes first.
        best: u64,
        /// The standing that wakes last.
        worst: u64,
        /// A random addition below this, so that equals do not speak at once.
        jitter: Duration,
    },
}

impl WakeUp {
    /// The latest possible wake-up.
    pub fn longest(&self) -> Duration {
        match self.mapping {
            Mapping::Random => self.interval,
            Mapping::ByStanding { jitter, .. } => self.interval + jitter,
        }
    }

    /// The wake-up time of a process of this standing, counted from the start of its suppression.
    pub fn draw(&self, standing: u64, entropy: &mut dyn Entropy) -> Duration {
        match self.mapping {
            Mapping::Random => self.random(entropy),
            Mapping::ByStanding { best, worst, jitter } => {
                let distance = u128::from(best.saturating_sub(standing).min(best - worst));
                let span = u128::from((best - worst).max(1));
                let nanos = u128::from(self.interval.as_nanos()) * distance / span;
                let jitter = below(jitter.as_nanos(), entropy);
                Duration::from_nanos(nanos as u64) + Duration::from_nanos(jitter)
            }
        }
    }

    fn random(&self, entropy: &mut dyn Entropy) -> Duration {
        let nanos = self.interval.as_nanos();
        let fraction = match self.shape {
            Shape::Uniform => return Duration::from_nanos(below(nanos, entropy)),
            Shape::Rising { rate } => rising(rate, unit(entropy)),
            Shape::Falling { rate } => 1.0 - rising(rate, unit(entropy)),
        };
        // Rounding, or a draw of zero where most wake early, would reach the end of the interval.
        Duration::from_nanos(((fraction * nanos as f64) as u64).min(nanos.saturating_sub(1)))
    }
}

/// The quantile function of the rising exponential on `[0, 1]`.
fn rising(rate: f64, u: f64) -> f64 {
    libm::log1p(u * libm::expm1(rate)) / rate
}

/// A number in `[0, 1)` with 53 random bits.
fn unit(entropy: &mut dyn Entropy) -> f64 {
    const BITS: u64 = 1 << 53;
    entropy.below(BITS) as f64 / BITS as f64
}

fn below(n: u64, entropy: &mut dyn Entropy) -> u64 {
    if n == 0 { 0 } else { entropy.below(n) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns evenly spaced values, so that averages are integrals.
    struct Grid {
        at: u64,
        steps: u64,
    }

    impl Entropy for Grid {
        fn below(&mut self, n: u64) -> u64 {
            let middle = u128::from(2 * self.at + 1) * u128::from(n) / u128::from(2 * self.steps);
            self.at += 1;
            middle as u64
        }
    }

    fn mean(shape: Shape) -> f64 {
        let wake = WakeUp { interval: Duration::from_secs(1), shape, mapping: Mapping::Random };
        let steps = 100_000;
        let mut grid = Grid { at: 0, steps };
        let sum: f64 = (0..steps).map(|_| wake.draw(0, &mut grid).as_secs_f64()).sum();
        sum / steps as f64
    }

    #[test]
    fn each_shape_has_the_mean_of_its_density() {
        // Over [0, 1] with density ∝ e^{λt} the mean is 1/(1−e^{−λ}) − 1/λ.
        for rate in [0.5f64, 3.0, 10.0] {
            let expected = 1.0 / (1.0 - libm::exp(-rate)) - 1.0 / rate;
            assert!((mean(Shape::Rising { rate }) - expected).abs() < 1e-4);
            assert!((mean(Shape::Falling { rate }) - (1.0 - expected)).abs() < 1e-4);
        }
        assert!((mean(Shape::Uniform) - 0.5).abs() < 1e-6);
    }

    #[test]
    fn a_mapping_wakes_the_best_first_and_the_worst_last() {
        let interval = Duration::from_secs(1);
        let mapping = Mapping::ByStanding { best: 9, worst: 0, jitter: Duration::ZERO };
        let wake = WakeUp { interval, shape: Shape::Uniform, mapping };
        let mut nobody = Grid { at: 0, steps: 1 };
        let at = |standing, entropy: &mut Grid| wake.draw(standing, entropy).as_nanos();
        assert_eq!(at(9, &mut nobody), 0);
        assert_eq!(at(12, &mut nobody), 0, "better than the best is as good as the best");
        assert_eq!(at(0, &mut nobody), 1_000_000_000);
        assert_eq!(at(6, &mut nobody), 333_333_333);
        assert_eq!(nobody.at, 0, "without jitter nothing is drawn");
    }

    #[test]
    fn an_interval_of_zero_needs_no_luck() {
        let wake =
            WakeUp { interval: Duration::ZERO, shape: Shape::Uniform, mapping: Mapping::Random };
        let mut nobody = Grid { at: 0, steps: 1 };
        assert_eq!(wake.draw(3, &mut nobody), Duration::ZERO);
        assert_eq!(nobody.at, 0);
    }
}
