//! The parameters of leases, as formulas ask about them.

use bellwether_core::Duration;
use bellwether_protocols::choice::{self, Choice};
use bellwether_protocols::local_leader::{BadConfig, Config, Mode, Params, Preset};

/// The parameters of leases that formulas read. Absent ones come from the preset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Leases {
    /// Whose support a leader needs.
    pub mode: Mode,
    /// Where the time constants come from that are not given.
    pub preset: Preset,
    /// Δ: a message that may have taken longer is slow.
    pub delta: Option<Duration>,
    /// σ: a process reacts within this.
    pub sigma: Option<Duration>,
    /// P: a leader asks for a longer lease this often.
    pub renew: Option<Duration>,
    /// lockTime: a supporter supports nobody else for this long.
    pub lock: Option<Duration>,
    /// EP: a candidate that failed asks again after this.
    pub period: Option<Duration>,
    /// A process silent for this long is not considered alive.
    pub expires: Option<Duration>,
    /// δmin: no message is faster.
    pub fastest: Duration,
    /// How often silent processes send a message.
    pub refresh: Option<Duration>,
    /// How many supporters answer a renewal for themselves and those behind them; with 0 each
    /// answers for itself.
    pub tree: u32,
    /// ρ, in parts per million.
    pub drift_ppm: Option<u32>,
}

impl From<&Config> for Leases {
    fn from(config: &Config) -> Self {
        Self {
            mode: config.mode,
            preset: config.preset,
            delta: config.delta,
            sigma: config.sigma,
            renew: config.renew,
            lock: config.lock,
            period: config.period,
            expires: config.expires,
            fastest: config.fastest,
            refresh: config.refresh,
            tree: config.tree,
            drift_ppm: config.drift_ppm,
        }
    }
}

/// All of them, whatever the preset was.
impl From<&Params> for Leases {
    fn from(params: &Params) -> Self {
        Self {
            mode: params.mode(),
            preset: Preset::default(),
            delta: Some(params.delta()),
            sigma: Some(params.sigma()),
            renew: Some(params.renew()),
            lock: Some(params.lock()),
            period: Some(params.period()),
            expires: Some(params.expires()),
            fastest: params.fastest(),
            refresh: Some(params.refresh()),
            tree: params.tree(),
            drift_ppm: Some(params.drift_ppm()),
        }
    }
}

impl Leases {
    /// Those of these written parameters, if their protocol has any.
    pub fn written(config: &choice::Config) -> Option<Self> {
        match config {
            choice::Config::LocalLeader(config) => Some(config.into()),
            _ => None,
        }
    }

    /// Those of this protocol, if it has any.
    pub fn of(choice: &Choice) -> Option<Self> {
        match choice {
            Choice::LocalLeader(params) => Some(params.into()),
            _ => None,
        }
    }

    /// All parameters for programs, absent ones from the preset: lengths in seconds.
    pub fn to_map(&self) -> Vec<(String, serde_json::Value)> {
        choice::Config::LocalLeader(self.config(false)).to_map()
    }

    /// The same as parameters of the protocol, as printed or as corrected. They may break a
    /// constraint only if they must.
    pub fn config(&self, as_published: bool) -> Config {
        let config = Config {
            mode: self.mode,
            preset: self.preset,
            delta: self.delta,
            sigma: self.sigma,
            renew: self.renew,
            lock: self.lock,
            period: self.period,
            expires: self.expires,
            fastest: self.fastest,
            refresh: self.refresh,
            // The printed protocol has no second request that a tree could need.
            tree: if as_published { 0 } else { self.tree },
            drift_ppm: self.drift_ppm,
            as_published,
            ..Config::default()
        };
        let unchecked = Params::try_from(config.clone()).is_err();
        Config { unchecked, ..config }
    }

    /// What the corrected protocol reads.
    ///
    /// # Errors
    /// [`BadConfig`], if they make no sense. Constraints may be broken.
    pub fn corrected(&self) -> Result<Params, BadConfig> {
        Params::try_from(self.config(false))
    }

    /// What the printed protocol reads. If lockTime is not given it is the printed formula's.
    ///
    /// # Errors
    /// As [`corrected`](Self::corrected).
    pub fn printed(&self) -> Result<Params, BadConfig> {
        Params::try_from(self.config(true))
    }
}
