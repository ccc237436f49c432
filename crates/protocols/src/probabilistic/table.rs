//! The parameters of the probabilistic election, each described once, and the defaults that depend
//! on the surroundings.

use super::params::{Choice, Join, Reinitiate, Size, WokenBy};
use super::strategy::Strategy;
use crate::param::{BadParam, Fit, GivenParams};
use crate::params;
use crate::surroundings::Surroundings;
use alloc::format;
use alloc::string::ToString;
use bellwether_core::Duration;
use serde::{Deserialize, Serialize};

params! {
    /// The written parameters. The defaults are the strategy of section 5, and delays for a network
    /// of .1 s.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Config {
        /// K of the first round: about how many processes agree on behalf of all.
        k: u32 = 7, is("7"), within("1 <= k");
        /// K of the further rounds: twice that of the one before, and everyone in the last; the
        /// same in all; or as listed.
        strategy: Strategy, is("double");
        /// After how many rounds an election is given up.
        max_rounds: u32 = 5, is("5"), within("1 <= max-rounds <= 64");
        /// Whether everyone is a relay in the last of several rounds.
        last_round_all: bool = true, is("true"), only_with("strategy", &["double"]);
        /// Who begins the next round if one has no clear outcome.
        reinitiate: Reinitiate, is("delay");
        /// Where a process takes the size of the group from: it knows it, takes its own view for
        /// all, as printed, estimates it by gossip, or is given a number.
        size: Size, is("true");
        /// Which candidate is the better one.
        choice: Choice, follows("lowest-id; rank in an unattended group");
        /// What makes a process take part if the hash selects it.
        woken_by: WokenBy, is("initiation");
        /// Who asks what has happened when it starts.
        join: Join, follows("restarted; always in an unattended group");
        /// Longer than any message takes; time-outs are multiples of it.
        ///
        /// Processing included, here and in the two below.
        bound: Duration = Duration::from_millis(200),
            follows("2 delays; where delays vary, the longest there can be"),
            within("0 < bound < infinite");
        /// Longer than any message to one process takes.
        unicast: Option<Duration>,
            follows("bound"), within("0 < unicast < infinite"), on(&["bound"]);
        /// Longer than any message to everyone takes.
        multicast: Option<Duration>,
            follows("bound"), within("0 < multicast < infinite"), on(&["bound"]);
        /// The longest it takes to find the relays in one's view.
        compute: Duration, is("0s"), within("compute < infinite");
        /// The longest way from relay to relay, in hops.
        longest_path: Option<u32>,
            follows("3K/2; 6 in an unattended group"), within("1 <= longest-path");
        /// No round has more relays, whatever the strategy says.
        ///
        /// On average. K relays exchange about K² unicasts, which is too much for any network if a
        /// million processes are relays. As large as the largest group of the paper.
        most_relays: u32 = 6_000, is("6000"), within("1 <= most-relays");
        /// The time between two exchanges of estimates of the size.
        gossip: Duration = Duration::from_secs(1),
            follows("1s; 5 bounds in an unattended group"),
            within("0 < gossip < infinite"),
            only_with("size", &["gossip"]);
        /// How often a leader speaks; infinite if it never does.
        beat: Duration = Duration::MAX,
            follows("infinite; 5 bounds in an unattended group"),
            within("0 < beat < silence"),
            on(&["silence"]);
        /// A leader silent for this long is given up.
        ///
        /// A process without a leader waits this long.
        silence: Duration = Duration::MAX,
            follows("infinite; 17.5 bounds in an unattended group"),
            within("beat < silence"),
            on(&["beat"]);
    }
}

impl Fit for Config {
    fn fit(mut self, around: &Surroundings, given: &GivenParams) -> Self {
        if !given.has("bound") {
            self.bound = match around.longest {
                None if around.delay == Duration::ZERO => Duration::from_millis(1),
                None => around.delay * 2,
                Some(longest) => longest + Duration::from_nanos(1),
            };
        }
        if !around.unattended {
            return self;
        }
        let hop = self.bound / 2;
        let restless = Self::restless(hop);
        if !given.has("choice") {
            self.choice = restless.choice;
        }
        if !given.has("join") {
            self.join = restless.join;
        }
        if !given.has("longest-path") {
            self.longest_path = restless.longest_path;
        }
        if !given.has("gossip") {
            self.gossip = restless.gossip;
        }
        if !given.has("beat") {
            self.beat = restless.beat;
        }
        if !given.has("silence") {
            self.silence = restless.silence;
        }
        self
    }

    fn check_fit(&self, around: &Surroundings, given: &GivenParams) -> Result<(), BadParam> {
        let delay = around.delay;
        if !given.has("bound") || self.bound > delay || delay == Duration::ZERO {
            return Ok(());
        }
        Err(BadParam::Unfit {
            name: "bound",
            text: self.bound.to_string(),
            because: format!(
                "a message takes {delay}: it would be given up before it arrives; choose more than \
                 the delay, or leave it out"
            ),
        })
    }

    fn resolved(&self) -> Self {
        let (unicast, multicast) = (self.unicast.or(Some(self.bound)), self.multicast);
        Self { unicast, multicast: multicast.or(Some(self.bound)), ..self.clone() }
    }
}
