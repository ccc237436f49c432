//! The rules that a configuration can break, and their error messages.

use super::params::ROUNDS_MAX;
use super::strategy::Relays;
use bellwether_core::Duration;
use core::fmt;

/// Which rule a [`Config`](super::Config) breaks, with the values that break it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadConfig {
    /// Too few or too many rounds.
    Rounds {
        /// The number as written.
        max_rounds: u32,
    },
    /// A list that is empty, or longer than the number of rounds.
    List {
        /// The length of the list.
        listed: usize,
        /// The number of rounds.
        max_rounds: u32,
    },
    /// A round without relays elects nobody.
    NoRelays {
        /// The round.
        round: u32,
    },
    /// A duration that is infinite, or zero where it must not be.
    Length {
        /// Its name.
        name: &'static str,
        /// The duration as written.
        length: Duration,
    },
    /// Only one of `beat` and `silence` is infinite, or one of them is zero.
    OutOfTouch {
        /// `beat` as written.
        beat: Duration,
        /// `silence` as written.
        silence: Duration,
    },
    /// The silence is so short that live leaders would be given up.
    SilenceTooShort {
        /// `beat` as written.
        beat: Duration,
        /// `silence` as written.
        silence: Duration,
        /// `multicast` as written.
        multicast: Duration,
    },
    /// The time to find the relays is too long.
    Compute {
        /// `compute` as written.
        compute: Duration,
    },
    /// A limit that allows no relays.
    NobodyRelays,
    /// A preference has at least one hop to go.
    NoPath,
    /// The group has no members.
    NoGroup,
    /// A round takes too long.
    TooLong {
        /// The round.
        round: u32,
        /// Its K.
        relays: Relays,
        /// The delay of a unicast as written.
        unicast: Duration,
        /// How long it would take.
        lasts: Duration,
    },
}

impl fmt::Display for BadConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rounds { max_rounds } => write!(
                f,
                "max-rounds = {max_rounds}, but 1 <= max-rounds <= {ROUNDS_MAX} must hold; try 5"
            ),
            Self::List { listed, max_rounds } => write!(
                f,
                "strategy lists {listed} values of K and max-rounds = {max_rounds}, but 1 <= \
                 listed <= max-rounds must hold; list one for each round"
            ),
            Self::NoRelays { round } => write!(
                f,
                "K = 0 in round {round}, but K >= 1 must hold in every round, or nobody is \
                 elected; try k = 7"
            ),
            Self::Length { name, length } => write!(
                f,
                "{name} = {length}, but 0 < {name} < infinite must hold; try twice the longest \
                 delay of the network"
            ),
            Self::OutOfTouch { beat, silence } => write!(
                f,
                "beat = {beat} and silence = {silence}, but both must be lengths of time above \
                 0s, or both infinite, for then nobody keeps in touch; try a silence of 4 beats"
            ),
            Self::SilenceTooShort { beat, silence, multicast } => write!(
                f,
                "silence = {silence}, beat = {beat} and multicast = {multicast}, but silence > \
                 beat + multicast must hold, or leaders that live are given up; try a silence of \
                 4 beats"
            ),
            Self::Compute { compute } => write!(
                f,
                "compute = {compute}, but compute < infinite must hold; try 0s, or 1 s for a view \
                 of 100 million"
            ),
            Self::NobodyRelays => write!(
                f,
                "most-relays = 0, but most-relays >= 1 must hold, or nobody is elected; try 6000"
            ),
            Self::NoPath => write!(
                f,
                "longest-path = 0, but longest-path >= 1 must hold; leave it out for 3K/2 hops"
            ),
            Self::NoGroup => {
                write!(f, "size = 0, but a group has at least one member; try size = true")
            }
            Self::TooLong { round, relays, unicast, lasts } => write!(
                f,
                "K = {relays} in round {round} and unicast = {unicast}: the round would last \
                 {lasts}, but a round must end within {}; try a smaller K or unicast, or set \
                 longest-path",
                Duration::LONGEST_WRITTEN
            ),
        }
    }
}

impl core::error::Error for BadConfig {}
