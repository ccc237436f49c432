//! The parameters of leases, each described once, and the defaults that depend on the surroundings.

use super::params::{Mode, Params, Tokens};
use super::preset::Preset;
use crate::param::{Fit, GivenParams};
use crate::params;
use crate::surroundings::Surroundings;
use bellwether_core::Duration;
use serde::{Deserialize, Serialize};

/// The default of a time constant.
const PRESET: &str = "the preset's";

params! {
    /// The written parameters. Absent ones come from the preset.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Config {
        /// Whose support a leader needs.
        mode: Mode, follows("majority; local where the members are not listed"), leading();
        /// Whether fencing tokens grow across restarts too.
        tokens: Tokens,
            follows("durable; live volatile, since durable needs a directory that is kept");
        /// Where the time constants come from that are not given.
        preset: Preset, is("lan");
        /// Δ: a message that may have taken longer is slow, and not answered.
        delta: Option<Duration>,
            follows(PRESET), on(&["preset"]), within("fastest < delta <= 86400s");
        /// σ: a process reacts within this.
        sigma: Option<Duration>, follows(PRESET), on(&["preset"]), within("sigma <= 86400s");
        /// P: a leader asks for a longer lease this often.
        renew: Option<Duration>, follows(PRESET), on(&["preset"]), within("0 < renew <= 86400s");
        /// lockTime: a supporter supports nobody else for this long.
        lock: Option<Duration>, follows(PRESET), on(&["preset"]), within("0 < lock <= 86400s");
        /// EP: a candidate that failed asks again after this.
        period: Option<Duration>,
            follows(PRESET), on(&["preset"]), within("sigma < period <= 86400s");
        /// A process silent for this long is not considered alive.
        expires: Option<Duration>,
            follows(PRESET), on(&["preset"]), within("0 < expires <= 86400s");
        /// δmin: no message is faster.
        fastest: Duration, is("0s"), within("fastest < delta");
        /// How often silent processes send a message.
        ///
        /// So that delays can be bounded.
        refresh: Option<Duration>,
            follows("500ms or 250 delta, if that is less"),
            within("0 < refresh <= 86400s"),
            on(&["delta"]);
        /// How long a member that resigned comes last in line.
        cooldown: Option<Duration>,
            follows("60s; with mode = local until it asks again"),
            within("cooldown <= 86400s; less than lock is as lock");
        /// A leader hands over to a member with a greater priority, or in turn.
        ///
        /// In turn with `rotate-after`. To a greater priority in majority mode only.
        preempt: bool;
        /// How long it must have heard that one steadily.
        preempt_delay: Option<Duration>,
            follows("10s"), only_with("preempt", &["true"]), within("preempt-delay <= 86400s");
        /// It leads on until its application hands over, and asks for that.
        ///
        /// `run` sets it with `preempt`. Elsewhere nobody hands over for the application.
        preempt_asks: bool, only_with("preempt", &["true"]);
        /// A leader hands over to the next member after leading for this long.
        ///
        /// To the next by id, and not by priority. Never, if absent.
        rotate_after: Option<Duration>,
            within("0 < rotate-after <= 86400s"), only_with("preempt", &["true"]);
        /// How often a leader announces itself, if it has many observers.
        announce: Option<Duration>,
            follows("10 renew or 1s, if that is less; no less than renew"),
            within("0 < announce <= 86400s"),
            on(&["renew"]);
        /// How long an observer believes an announcement.
        hold: Option<Duration>,
            follows("6 announce"),
            within("hold <= 86400s; at least 3 announce"),
            on(&["announce"]);
        /// A leader replaces a voter silent for this long by another.
        ///
        /// By an observer; never, if absent.
        replace_after: Option<Duration>,
            within("0 < replace-after <= 86400s"), only_with("tokens", &["durable"]);
        /// How many voters more than a majority needs answer a renewal.
        ///
        /// All, if absent.
        spare: Option<u32>,
            counted_in("voters"), within("spare <= 1024"), only_with("mode", &["majority"]);
        /// How many supporters answer a renewal for themselves and those behind them.
        ///
        /// A tree of this width; with 0 each answers the leader itself.
        tree: u32, is("0"), counted_in("children of a process"), within("tree <= 1024");
        /// ρ: clocks are trusted to gain or lose no more.
        drift_ppm: Option<u32>,
            counted_in("parts per million"), follows("200"), within("drift-ppm <= 100000");
        /// The protocol as printed, without the corrections that it needs.
        ///
        /// For simulation only.
        as_published: bool;
        /// Accept values that break a constraint, to see what happens.
        unchecked: bool;
    }
}

impl Fit for Config {
    fn fit(self, around: &Surroundings, given: &GivenParams) -> Self {
        let mode = if around.listed || given.has("mode") { self.mode } else { Mode::Local };
        // A group that can be joined has durable tokens: nobody need say so.
        let volatile = around.live && !around.joins && !given.has("tokens");
        let tokens = if volatile { Tokens::Volatile } else { self.tokens };
        Self { mode, tokens, ..self }
    }

    fn resolved(&self) -> Self {
        let Ok(params) = Params::try_from(self.clone()) else { return self.clone() };
        Self {
            delta: Some(params.delta()),
            sigma: Some(params.sigma()),
            renew: Some(params.renew()),
            lock: Some(params.lock()),
            period: Some(params.period()),
            expires: Some(params.expires()),
            refresh: Some(params.refresh()),
            cooldown: Some(params.cooldown()),
            preempt_delay: self.preempt.then(|| params.preempt_delay()),
            announce: Some(params.announce()),
            hold: Some(params.hold()),
            drift_ppm: Some(params.drift_ppm()),
            ..self.clone()
        }
    }
}
