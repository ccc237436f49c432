//! What a simulation is told of a protocol beyond its [`Profile`](crate::profile::Profile).

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

/// A hash that selects some members of a group, each with the same chance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Selection {
    /// About how many it selects.
    pub relays: u64,
    /// Among how many.
    pub members: u64,
}

impl Selection {
    /// The logarithm of the probability that it selects certain members, of which there are so
    /// many, and no others.
    pub fn log_likelihood(&self, selected: u64) -> f64 {
        let chance = self.relays as f64 / self.members as f64;
        let others = self.members.saturating_sub(selected);
        selected as f64 * libm::log(chance) + others as f64 * libm::log1p(-chance)
    }
}

/// How large an election is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Processes that are there or may come.
    pub ids: u64,
    /// Processes that call an election.
    pub calls: u64,
    /// Links, where not everyone talks to everyone.
    pub links: Option<u64>,
}

/// How many messages an election takes, about: what memory it needs is estimated from that.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Volume {
    /// What happens in all, if that is known: sendings and receptions.
    pub records: Option<f64>,
    /// What is under way at once, if that is known; otherwise every process speaks in every
    /// interval.
    pub under_way: Option<UnderWay>,
}

/// Messages under way at once.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UnderWay {
    /// Messages that differ.
    pub messages: f64,
    /// Receptions by one process, beyond the first of a message.
    pub receptions: f64,
    /// Messages that everyone receives.
    pub broadcasts: f64,
    /// Ids in messages that list them.
    pub ids: f64,
}

/// What a process says that it is worth by a claim of this weight, whether or not it takes part in
/// elections: the greatest that does leads.
pub fn worth(weight: u64) -> u64 {
    weight & crate::ad_hoc::VALUE_MAX
}
