//! The flags of local-leader: leases.

use super::group::name;
use bellwether::core::Duration;
use clap::{Args, ValueEnum};

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
    /// What was asked for, by name and text.
    pub(super) fn pairs(&self) -> Vec<(&'static str, String)> {
        let mut pairs = vec![("mode", name(self.mode)), ("preset", name(self.preset))];
        let length = |length: Option<Duration>| length.map(|length| length.to_string());
        pairs.extend([
            ("delta", length(self.delta)),
            ("sigma", length(self.sigma)),
            ("renew", length(self.renew)),
            ("lock", length(self.lock)),
            ("period", length(self.period)),
            ("expires", length(self.expires)),
            ("fastest", length(Some(self.fastest))),
            ("refresh", length(self.refresh)),
            ("drift-ppm", self.drift_ppm.map(|ppm| ppm.to_string())),
            ("as-published", Some(self.as_published.to_string())),
            ("unchecked", Some(self.unchecked.to_string())),
        ]);
        pairs.into_iter().filter_map(|(name, text)| Some((name, text?))).collect()
    }

    /// What is not the same in every experiment, for people to read.
    pub(super) fn conditions(&self) -> String {
        let names = [name(self.mode), name(self.preset)].map(Option::unwrap_or_default);
        let published = if self.as_published { ", as published" } else { "" };
        format!(", mode {}, preset {}{published}", names[0], names[1])
    }
}
