//! Sets of parameters that belong together.

use crate::named;
use bellwether_core::Duration;

named! {
    /// A named set of time constants; ρ is 200 ppm in all of them.
    ///
    /// | preset | Δ | σ | P | lockTime | EP | expires | failover at most, and more |
    /// |---|---|---|---|---|---|---|---|
    /// | `lan` | 10 ms | 20 ms | 50 ms | 150 ms | 181 ms | 302 ms | 210 ms, 40 ms per dead rank |
    /// | `fast` | 5 ms | 10 ms | 20 ms | 50 ms | 66 ms | 115 ms | 80 ms, 20 ms per dead rank |
    /// | `fastest` | 3 ms | 8 ms | 14 ms | 36 ms | 48 ms | 84 ms | 58 ms, 14 ms per dead rank |
    /// | `wan` | 100 ms | 50 ms | 300 ms | 900 ms | 1051 ms | 1877 ms | 1.2 s, .25 s each |
    /// | `paper` | 15 ms | 30 ms | 50 ms | 34.98 ms | 50 ms | 230 ms | breaks its own constraints |
    ///
    /// `lan` and `fast` suppose a machine that wakes a thread in time: on a shared virtual machine
    /// timers were seen 20 to 28 ms late, which lockTime − P must cover. `fastest` is for machines
    /// of one's own: it covers stalls of lockTime − P − 2Δ, which are 16 ms. Its P is short: a
    /// failover takes lockTime − P/2 at the median, so of two presets with the same median the one
    /// with the shorter P bears the longer stall. `paper` holds the values of section XI with
    /// lockTime by the printed formula (by the corrected one it is 5 ms); there lockTime < 2Δ+σ, so
    /// a lease is over before it can be renewed.
    pub enum Preset = Lan {
        /// A local network.
        Lan = "lan",
        /// A quiet local network with prompt machines.
        Fast = "fast",
        /// Machines with cores of their own, and a switch between them.
        Fastest = "fastest",
        /// A wide-area network.
        Wan = "wan",
        /// The values of the paper's measurements, which break its own constraints: accepted only
        /// if they are not checked.
        Paper = "paper",
    }
}

/// The time constants of a preset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Times {
    pub(super) delta: Duration,
    pub(super) sigma: Duration,
    pub(super) renew: Duration,
    pub(super) lock: Option<Duration>,
    pub(super) period: Duration,
    pub(super) expires: Duration,
}

impl Preset {
    pub(super) fn times(self) -> Times {
        let [delta, sigma, renew, lock, period, expires] = match self {
            Self::Lan => [10, 20, 50, 150, 181, 302],
            Self::Fast => [5, 10, 20, 50, 66, 115],
            Self::Fastest => [3, 8, 14, 36, 48, 84],
            Self::Wan => [100, 50, 300, 900, 1051, 1877],
            Self::Paper => [15, 30, 50, 0, 50, 230],
        }
        .map(Duration::from_millis);
        let lock = (lock > Duration::ZERO).then_some(lock);
        Times { delta, sigma, renew, lock, period, expires }
    }
}
