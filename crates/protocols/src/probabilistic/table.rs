//! The table of the probabilistic election's parameters, and the defaults that depend on the
//! surroundings.

use super::params::{Choice, Config, Join, Reinitiate, WokenBy};
use crate::param::{BadParam, Described, Given, Param};
use crate::surroundings::Surroundings;
use alloc::format;
use alloc::string::ToString;
use bellwether_core::Duration;

impl Described for Config {
    type Variant = ();

    const PARAMS: &'static [Param] = &[
        Param::count("k", "K of the first round: about how many processes agree on behalf of all")
            .is("7")
            .within("1 <= k"),
        Param::text(
            "strategy",
            "double, fixed, or K of every round listed, such as 7,20,all",
            "K of the further rounds: twice that of the one before, and everyone in the last; the \
             same in all; or as listed",
        )
        .is("double"),
        Param::count("max-rounds", "after how many rounds an election is given up")
            .is("5")
            .within("1 <= max-rounds <= 64"),
        Param {
            default: crate::param::Fallback::Is("true"),
            ..Param::switch(
                "last-round-all",
                "whether everyone is a relay in the last of several rounds",
            )
        }
        .only_with("strategy", &["double"]),
        Param::one_of(
            "reinitiate",
            Reinitiate::CHOICES,
            "who begins the next round if one has no clear outcome",
        )
        .is("delay"),
        Param::text(
            "size",
            "true, view, gossip or a number",
            "where a process takes the size of the group from: it knows it, takes its own view for \
             all, as printed, estimates it by gossip, or is given a number",
        )
        .is("true"),
        Param::one_of("choice", Choice::CHOICES, "which candidate is the better one")
            .follows("lowest-id; rank in a group that nobody looks after"),
        Param::one_of(
            "woken-by",
            WokenBy::CHOICES,
            "what makes a process take part if the hash selects it",
        )
        .is("initiation"),
        Param::one_of("join", Join::CHOICES, "who asks what has happened when it starts")
            .follows("restarted; always in a group that nobody looks after"),
        Param::length("bound", "longer than any message takes; time-outs are multiples of it")
            .follows("2 delays; where delays vary, the longest there can be")
            .within("0 < bound < infinite"),
        Param::length("unicast", "longer than any message to one process takes")
            .follows("bound")
            .within("0 < unicast < infinite")
            .on(&["bound"]),
        Param::length("multicast", "longer than any message to everyone takes")
            .follows("bound")
            .within("0 < multicast < infinite")
            .on(&["bound"]),
        Param::length("compute", "the longest it takes to find the relays in one's view")
            .is("0s")
            .within("compute < infinite"),
        Param::count("longest-path", "the longest way from relay to relay, in hops")
            .follows("3K/2; 6 in a group that nobody looks after")
            .within("1 <= longest-path"),
        Param::count("most-relays", "no round has more relays, whatever the strategy says")
            .is("6000")
            .within("1 <= most-relays"),
        Param::length("gossip", "the time between two exchanges of estimates of the size")
            .follows("1s; 5 bounds in a group that nobody looks after")
            .within("0 < gossip < infinite")
            .only_with("size", &["gossip"]),
        Param::length("beat", "how often a leader speaks; infinite if it never does")
            .follows("infinite; 5 bounds in a group that nobody looks after")
            .within("0 < beat < silence")
            .on(&["silence"]),
        Param::length("silence", "a leader silent for this long is given up")
            .follows("infinite; 17.5 bounds in a group that nobody looks after")
            .within("beat < silence")
            .on(&["beat"]),
    ];

    fn variant(&self) {}

    fn of(self, (): ()) -> Self {
        self
    }

    fn fit(mut self, around: &Surroundings, given: &Given) -> Self {
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
        let hop = Duration::from_nanos(self.bound.as_nanos() / 2);
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

    fn check_fit(&self, around: &Surroundings, given: &Given) -> Result<(), BadParam> {
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
