//! The parameters as written and as validated.
//!
//! [`Config`] holds the written values; [`Params`] is what the handlers read. One conversion leads
//! from one to the other; its error names the values and the rule they break.

use super::error::BadConfig;
use super::hash::{Filter, Name, hash};
use super::message::{Candidate, RoundId};
use super::strategy::{Relays, Strategy};
use super::table::Config;
use crate::named;
use crate::param::{Kind, ParamType};
use alloc::borrow::ToOwned;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use bellwether_core::Duration;
use core::fmt;
use serde::{Deserialize, Serialize};

/// The most rounds of an election.
pub const ROUNDS_MAX: u32 = 64;

impl Config {
    /// Parameters for an unattended group in which one message takes about this long. A leader
    /// sends regularly, and three of its messages may be lost before it is given up. Newcomers ask.
    /// Candidates are the processes that speak for themselves, because nothing tells who else is
    /// alive. A live group is a list, so relays see each other: a preference that came too early is
    /// answered when it is repeated, and six hops are twice what that takes.
    pub fn restless(hop: Duration) -> Self {
        Self {
            choice: Choice::Rank,
            join: Join::Always,
            bound: hop * 2,
            longest_path: Some(6),
            gossip: hop * 10,
            beat: hop * 10,
            silence: hop * 35,
            ..Self::default()
        }
    }

    /// The bound for unicasts.
    fn unicast(&self) -> Duration {
        self.unicast.unwrap_or(self.bound)
    }

    /// The bound of a multicast.
    pub(super) fn multicast(&self) -> Duration {
        self.multicast.unwrap_or(self.bound)
    }
}

named! {
    /// Which processes begin the next round, among those that saw that the last one has no clear
    /// outcome.
    pub enum Reinitiate = Delay {
        /// Those that the hash selects, at once, as printed: about K if all processes saw it, and
        /// probably none if few did.
        Hash = "hash",
        /// All, after a delay drawn so that about one comes first and the others hear it.
        Delay = "delay",
    }
}

/// The source of the group size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Size {
    /// The driver: the true size in a simulation, the list of members in a live group.
    #[default]
    Group,
    /// This number.
    Given(u64),
    /// The size of the process's own view, as printed: with views of half the group 2K pass.
    View,
    /// An estimate that is gossiped.
    Gossip,
}

impl ParamType for Size {
    const KIND: Kind = Kind::Text("true, view, gossip or a number");
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Group => f.write_str("true"),
            Self::Given(nodes) => nodes.fmt(f),
            Self::View => f.write_str("view"),
            Self::Gossip => f.write_str("gossip"),
        }
    }
}

impl From<Size> for String {
    fn from(size: Size) -> Self {
        size.to_string()
    }
}

/// A text that is not a group size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadSize(String);

impl fmt::Display for BadSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is no size; it is true, view, gossip or a number in quotes", self.0)
    }
}

impl core::error::Error for BadSize {}

impl TryFrom<String> for Size {
    type Error = BadSize;

    fn try_from(text: String) -> Result<Self, BadSize> {
        match text.as_str() {
            "true" => Ok(Self::Group),
            "view" => Ok(Self::View),
            "gossip" => Ok(Self::Gossip),
            number => number.parse().map(Self::Given).map_err(|_| BadSize(number.to_owned())),
        }
    }
}

named! {
    /// Which of two candidates is better. The same for all; of equals the lower id.
    pub enum Choice = LowestId {
        /// The lower id, as in the paper's simulation.
        LowestId = "lowest-id",
        /// The higher id.
        HighestId = "highest-id",
        /// The greater rank: load, priority, locality. A process knows only its own rank, so the
        /// best of the relays is elected.
        Rank = "rank",
        /// A random order, drawn anew in each election.
        Lot = "lot",
    }
}

named! {
    /// What makes a process take part in a round if the hash selects it.
    pub enum WokenBy = Initiation {
        /// Only the initiating message, as printed.
        Initiation = "initiation",
        /// Also the first preference it is told.
        Preference = "preference",
    }
}

named! {
    /// Which processes ask what has happened when they start.
    pub enum Join = Restarted {
        /// Restarted processes.
        Restarted = "restarted",
        /// All.
        Always = "always",
        /// None.
        Never = "never",
    }
}

/// The durations of a round, from the moment a process hears that it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeOuts {
    /// Until a relay tells everyone what it prefers.
    pub settle: Duration,
    /// Until a process evaluates the final messages.
    pub decide: Duration,
}

/// Valid parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    config: Config,
    /// K of every round.
    rounds: Vec<Relays>,
    /// About how many the first round selects, if that is not its K: simulations alone say so.
    selects: Option<u64>,
}

impl Params {
    /// The written parameters.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// K of every round.
    pub fn rounds(&self) -> &[Relays] {
        &self.rounds
    }

    /// The mean number of relays of this round in a group of this size. Rounds count from 1; `None`
    /// beyond the last.
    pub fn relays(&self, round: u32, nodes: u64) -> Option<u64> {
        let place = (round as usize).checked_sub(1)?;
        let most = u64::from(self.config.most_relays);
        self.rounds.get(place).map(|relays| relays.among(nodes).min(most))
    }

    /// The filter of this round in a group of this size, with K relays on average.
    pub(super) fn filter(&self, group: u64, round: RoundId, relays: u64, nodes: u64) -> Filter {
        let first = round == RoundId::first_of(1);
        let selects = self.selects.filter(|_| first).unwrap_or(relays);
        Filter::new(group, Name::Initiate(round), selects, nodes)
    }

    /// About how many the first round selects of so many members.
    pub(super) fn selects(&self, nodes: u64) -> Option<u64> {
        self.selects.or_else(|| self.relays(1, nodes))
    }

    /// The same, whose first round selects about so many.
    pub(super) fn selecting(&self, relays: u64) -> Self {
        Self { selects: Some(relays), ..self.clone() }
    }

    /// The longest duration of this round in a group of this size: from its beginning until all
    /// processes that heard of it, the last of them a multicast later, evaluate the final messages.
    /// Zero if there is no such round.
    pub fn lasts(&self, round: u32, nodes: u64) -> Duration {
        let decide = |relays| self.time_outs(relays).decide + self.config.multicast();
        self.relays(round, nodes).map_or(Duration::ZERO, decide)
    }

    /// The merit of a candidate in this group and election; the greater is better.
    pub(super) fn merit(&self, candidate: Candidate, group: u64, election: u32) -> (u64, u64) {
        let Candidate { id, rank } = candidate;
        match self.config.choice {
            Choice::LowestId => (0, !id.0),
            Choice::HighestId => (0, id.0),
            Choice::Rank => (rank, !id.0),
            Choice::Lot => (hash(Name::Lot(election).key(group), id), !id.0),
        }
    }

    /// The time-outs of a round with K relays on average: those of section 3.3, extended because
    /// processes do not begin at the same moment. The last process hears of the round up to a
    /// multicast's delay after its initiator.
    pub fn time_outs(&self, relays: u64) -> TimeOuts {
        let [_, two, three] = self.printed_time_outs(relays);
        let (multicast, compute) = (self.config.multicast(), self.config.compute);
        let settle = compute + multicast + two;
        TimeOuts { settle, decide: settle + multicast + three }
    }

    /// `Time_Out_1`, `Time_Out_2` and `Time_Out_3` of section 3.3.
    pub fn printed_time_outs(&self, relays: u64) -> [Duration; 3] {
        let Config { compute, longest_path, .. } = self.config;
        let (unicast, multicast) = (self.config.unicast(), self.config.multicast());
        let hops = relays.saturating_mul(3).div_ceil(2);
        let two = unicast * longest_path.map_or(hops, |path| hops.min(u64::from(path)));
        [compute + two + multicast, two, multicast]
    }

    /// How long a process waits for further final messages if the first one told it of the round.
    pub(super) fn last_finals(&self) -> Duration {
        self.config.multicast() * 2
    }

    /// Whether a leader sends regularly, and is given up if it does not.
    #[inline]
    pub fn is_in_touch(&self) -> bool {
        self.config.beat != Duration::MAX
    }

    /// Whether all of this many processes are relays already in the first round, as far as each can
    /// tell. Then what is otherwise only probable is certain: all that can reach each other agree.
    pub fn is_certain(&self, nodes: u64) -> bool {
        let thought = match self.config.size {
            Size::Group | Size::View => nodes,
            Size::Given(given) => given,
            Size::Gossip => return false, // the estimate may be too large
        };
        self.relays(1, thought).is_some_and(|relays| relays >= thought)
    }

    /// How long a newcomer waits for an answer.
    pub(super) fn answer(&self) -> Duration {
        self.config.compute + self.config.multicast() + self.config.unicast()
    }

    /// The step of the delays before a re-initiation: a process that draws a later step has heard
    /// the earlier one.
    pub(super) fn step(&self) -> Duration {
        self.config.multicast() * 2
    }

    /// How long after its start a group of so many knows how large it is: it gossips for as many
    /// intervals as it takes a word to reach all, twice over, and some against losses.
    pub(super) fn sized(&self, nodes: u64) -> Duration {
        match self.config.size {
            Size::Gossip => self.config.gossip * (2 * u64::from(nodes.max(1).ilog2()) + 10),
            Size::Group | Size::Given(_) | Size::View => Duration::ZERO,
        }
    }
}

impl TryFrom<Config> for Params {
    type Error = BadConfig;

    fn try_from(config: Config) -> Result<Self, BadConfig> {
        let Config { k, max_rounds, bound, compute, gossip, .. } = config;
        let (unicast, multicast) = (config.unicast(), config.multicast());
        if max_rounds == 0 || max_rounds > ROUNDS_MAX {
            return Err(BadConfig::Rounds { max_rounds });
        }
        if let Strategy::List(listed) = &config.strategy
            && (listed.is_empty() || listed.len() > max_rounds as usize)
        {
            return Err(BadConfig::List { listed: listed.len(), max_rounds });
        }
        let rounds = config.strategy.rounds(k, max_rounds, config.last_round_all);
        if let Some(round) = rounds.iter().position(|relays| *relays == Relays::Count(0)) {
            return Err(BadConfig::NoRelays { round: round as u32 + 1 });
        }
        let lengths =
            [("bound", bound), ("unicast", unicast), ("multicast", multicast), ("gossip", gossip)];
        for (name, length) in lengths {
            if length == Duration::ZERO || length > Duration::LONGEST_WRITTEN {
                return Err(BadConfig::Length { name, length });
            }
        }
        check_touch(&config)?;
        if compute > Duration::LONGEST_WRITTEN {
            return Err(BadConfig::Compute { compute });
        }
        if config.most_relays == 0 {
            return Err(BadConfig::NobodyRelays);
        }
        if config.longest_path == Some(0) {
            return Err(BadConfig::NoPath);
        }
        if config.size == Size::Given(0) {
            return Err(BadConfig::NoGroup);
        }
        let params = Self { config, rounds, selects: None };
        for (round, relays) in (1..).zip(&params.rounds) {
            let lasts = params.lasts(round, u64::MAX);
            if lasts > Duration::LONGEST_WRITTEN {
                return Err(BadConfig::TooLong { round, relays: *relays, unicast, lasts });
            }
        }
        Ok(params)
    }
}

/// A leader must be heard before it is given up, and a leader that sends must be listened to.
fn check_touch(config: &Config) -> Result<(), BadConfig> {
    let (beat, silence, multicast) = (config.beat, config.silence, config.multicast());
    if (beat, silence) == (Duration::MAX, Duration::MAX) {
        return Ok(());
    }
    let written = Duration::from_nanos(1)..=Duration::LONGEST_WRITTEN;
    if !written.contains(&beat) || !written.contains(&silence) {
        return Err(BadConfig::OutOfTouch { beat, silence });
    }
    if silence <= beat + multicast {
        return Err(BadConfig::SilenceTooShort { beat, silence, multicast });
    }
    Ok(())
}
