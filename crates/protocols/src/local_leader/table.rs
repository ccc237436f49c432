//! The table of the parameters of leases, and the defaults that depend on the surroundings.

use super::params::{Config, Mode, Params, Tokens};
use super::preset::Preset;
use crate::param::{Described, Given, Param};
use crate::surroundings::Surroundings;

/// A time constant that comes from the preset unless it is given.
const fn constant(name: &'static str, help: &'static str) -> Param {
    Param::length(name, help).follows("the preset's").on(&["preset"])
}

impl Described for Config {
    type Variant = ();

    const PARAMS: &'static [Param] = &[
        Param::one_of("mode", Mode::CHOICES, "whose support a leader needs")
            .follows("majority; local where the members are not listed"),
        Param::one_of("tokens", Tokens::CHOICES, "whether fencing tokens grow across restarts too")
            .follows("durable; live volatile, since durable needs a directory that is kept"),
        Param::one_of(
            "preset",
            Preset::CHOICES,
            "where the time constants come from that are not given",
        )
        .is("lan"),
        constant("delta", "Δ: a message that may have taken longer is slow, and not answered")
            .within("fastest < delta <= 86400s"),
        constant("sigma", "σ: a process reacts within this").within("sigma <= 86400s"),
        constant("renew", "P: a leader asks for a longer lease this often")
            .within("0 < renew <= 86400s"),
        constant("lock", "lockTime: a supporter supports nobody else for this long")
            .within("0 < lock <= 86400s"),
        constant("period", "EP: a candidate that failed asks again after this")
            .within("sigma < period <= 86400s"),
        constant("expires", "a process silent for this long is not considered alive")
            .within("0 < expires <= 86400s"),
        Param::length("fastest", "δmin: no message is faster").is("0s").within("fastest < delta"),
        Param::length("refresh", "how often silent processes send a message")
            .follows("500ms or 250 delta, if that is less")
            .within("0 < refresh <= 86400s")
            .on(&["delta"]),
        Param::count("drift-ppm", "ρ: clocks are trusted to gain or lose no more")
            .counted_in("parts per million")
            .follows("200")
            .within("drift-ppm <= 100000"),
        Param::switch(
            "as-published",
            "the protocol as printed, without the corrections that it needs",
        ),
        Param::switch("unchecked", "accept values that break a constraint, to see what happens"),
    ];

    fn variant(&self) {}

    fn of(self, (): ()) -> Self {
        self
    }

    fn fit(self, around: &Surroundings, given: &Given) -> Self {
        let mode = if around.listed || given.has("mode") { self.mode } else { Mode::Local };
        let volatile = around.live && !given.has("tokens");
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
            drift_ppm: Some(params.drift_ppm()),
            ..self.clone()
        }
    }
}
