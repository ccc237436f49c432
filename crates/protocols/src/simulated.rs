//! What a simulation asks of a protocol beyond its [`Profile`](crate::choice::Profile).
//!
//! **Promise.** The simulator knows no protocol by name: whatever depends on one is answered here.

use crate::ad_hoc::VALUE_MAX;
use crate::announce_listen;
use crate::called::Called;
use crate::choice::Choice;
use crate::ring::Variant;
use bellwether_core::Duration;

/// How processes are linked, where not everyone talks to everyone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Each has a neighbour on either side.
    Ring {
        /// Whether messages go both ways round.
        both_ways: bool,
    },
    /// Some pairs have a link.
    Graph,
}

/// An election in rounds: the kinds of message that tell an observer what happens in one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounds {
    /// It begins a round.
    pub begins: &'static str,
    /// To one process: it says whom the sender prefers.
    pub prefers: &'static str,
    /// To everyone: it says whom the sender chose.
    pub decides: &'static str,
    /// It counts the group and is no part of a round.
    pub gauges: &'static str,
}

/// What a process says that it is worth by a claim of this weight, whether or not it takes part in
/// elections: the greatest that does leads.
pub fn worth(weight: u64) -> u64 {
    weight & VALUE_MAX
}

impl Choice {
    /// How its processes are linked; not at all if everyone talks to everyone.
    pub fn layout(&self) -> Option<Layout> {
        let Self::Called(params) = self else { return None };
        match params.called() {
            Called::Bully => None,
            Called::Ring(variant) => {
                Some(Layout::Ring { both_ways: variant == Variant::HirschbergSinclair })
            }
            Called::AdHoc => Some(Layout::Graph),
        }
    }

    /// How long a group of so many processes prepares before an election can be called.
    pub fn ready(&self, nodes: u32) -> Duration {
        match self {
            Self::Probabilistic(params) => params.ready(nodes.into()),
            _ => Duration::ZERO,
        }
    }

    /// Which messages make its rounds, if its elections have any.
    pub fn rounds(&self) -> Option<Rounds> {
        let Self::Probabilistic(_) = self else { return None };
        let (begins, prefers, decides) = ("initiate", "prefer", "final");
        Some(Rounds { begins, prefers, decides, gauges: "gossip" })
    }

    /// How long a round lasts in a group of so many processes; no time without rounds.
    pub fn round_lasts(&self, number: u32, nodes: u32) -> Duration {
        match self {
            Self::Probabilistic(params) => params.lasts(number, nodes.into()),
            _ => Duration::ZERO,
        }
    }

    /// Its parameters, if it is of the announce-listen family: what the lazy engine can follow.
    pub fn announcing(&self) -> Option<&announce_listen::Params> {
        match self {
            Self::AnnounceListen(params) => Some(params),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choice::Config;
    use crate::probabilistic::{self, Candidate, Message, RoundId, Sketch};
    use alloc::boxed::Box;
    use bellwether_core::{Message as _, NodeId};

    #[test]
    fn the_kinds_of_message_that_make_a_round_are_those_of_the_protocol() {
        let config = Config::Probabilistic(probabilistic::Config::default());
        let rounds = Choice::try_from(config).unwrap().rounds().unwrap();
        let round = RoundId::first_of(3);
        let one = Candidate { id: NodeId(1), rank: 0 };
        let within = Some((3, 1));
        for (message, kind, number) in [
            (Message::Initiate(round), rounds.begins, within),
            (Message::Prefer(round, one), rounds.prefers, within),
            (Message::Final(round, NodeId(1)), rounds.decides, within),
            (Message::Gossip(Box::new(Sketch::of(0, []))), rounds.gauges, None),
        ] {
            assert_eq!((message.kind(), message.round()), (kind, number));
        }
    }
}
