//! The flags of local-leader: leases.

use super::group::{finite, name};
use bellwether::core::Duration;
use bellwether::protocols::local_leader::{self, Config, Params};
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

#[derive(Args, Debug)]
#[command(next_help_heading = "Leases (local-leader)")]
pub(super) struct Leases {
    /// Whose support a leader needs
    #[arg(long, value_enum, default_value_t)]
    mode: Mode,
    /// Where the time constants come from that are not given
    #[arg(long, value_enum, default_value_t)]
    preset: Preset,
    /// Δ: a message that may have taken longer is slow, and not answered [default: the preset's]
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    delta: Option<Duration>,
    /// σ: a process reacts within this [default: the preset's]
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    sigma: Option<Duration>,
    /// P: a leader asks for a longer lease this often [default: the preset's]
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    renew: Option<Duration>,
    /// lockTime: a supporter supports nobody else for this long [default: the preset's]
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    lock: Option<Duration>,
    /// EP: a candidate that failed asks again after this [default: the preset's]
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    period: Option<Duration>,
    /// Who was not heard in time for this long does not count as alive [default: the preset's]
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    expires: Option<Duration>,
    /// δmin: no message is faster
    #[arg(long, value_name = "D", default_value = "0s", allow_negative_numbers = true)]
    fastest: Duration,
    /// Silent processes show themselves this often [default: 500ms or 250 delta, if that is less]
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    refresh: Option<Duration>,
    /// ρ: clocks are trusted to gain or lose no more, in parts per million [default: 200]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    drift_ppm: Option<u32>,
    /// The protocol as printed, without the corrections that it needs
    #[arg(long)]
    as_published: bool,
    /// Accept values that break a constraint, to see what happens
    #[arg(long)]
    unchecked: bool,
}

#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    /// More than half of the group: never two leaders
    #[default]
    Majority,
    /// All it can reach in time: a leader in each partition
    Local,
}

#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Preset {
    /// A local network
    #[default]
    Lan,
    /// A quiet local network with prompt machines
    Fast,
    /// A wide-area network
    Wan,
    /// The paper's own values, which break its constraints: needs --unchecked
    Paper,
}

impl Leases {
    /// What was asked for.
    pub(super) fn config(&self) -> Config {
        Config {
            mode: match self.mode {
                Mode::Majority => local_leader::Mode::Majority,
                Mode::Local => local_leader::Mode::Local,
            },
            preset: match self.preset {
                Preset::Lan => local_leader::Preset::Lan,
                Preset::Fast => local_leader::Preset::Fast,
                Preset::Wan => local_leader::Preset::Wan,
                Preset::Paper => local_leader::Preset::Paper,
            },
            delta: self.delta,
            sigma: self.sigma,
            renew: self.renew,
            lock: self.lock,
            period: self.period,
            expires: self.expires,
            fastest: self.fastest,
            drift_ppm: self.drift_ppm,
            refresh: self.refresh,
            as_published: self.as_published,
            unchecked: self.unchecked,
        }
    }

    /// What is not the same in every experiment, for people to read.
    pub(super) fn conditions(&self) -> String {
        let names = [name(self.mode), name(self.preset)].map(Option::unwrap_or_default);
        let published = if self.as_published { ", as published" } else { "" };
        format!(", mode {}, preset {}{published}", names[0], names[1])
    }

    /// All of it, for programs: enough to ask the same again, under the names of the flags.
    pub(super) fn to_json(&self, params: &Params) -> Map<String, Value> {
        let mut map = Map::new();
        let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
        put("mode", json!(name(self.mode)));
        put("preset", json!(name(self.preset)));
        for (key, length) in [
            ("delta", params.delta()),
            ("sigma", params.sigma()),
            ("renew", params.renew()),
            ("lock", params.lock()),
            ("period", params.period()),
            ("expires", params.expires()),
            ("fastest", params.fastest()),
            ("refresh", params.refresh()),
        ] {
            put(key, json!(finite(length)));
        }
        put("drift_ppm", json!(params.drift_ppm()));
        put("as_published", json!(self.as_published));
        put("unchecked", json!(self.unchecked));
        map
    }
}
