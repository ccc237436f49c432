//! What others ask of a protocol. Each protocol answers in its own directory, in `row.rs`.
//!
//! **Promise.** Whatever the simulator, the judge, the runtime and the command must know of a
//! protocol is asked here. What can only be done with one family names it: the simulator's lazy
//! engine ([`Answers::announcing`]), the explorer's worlds, and a member's list of voters. A test
//! counts such lines (`tests/tidy.rs`). Most questions have an answer that is right for most
//! protocols, so that a new one answers only what is different for it.

use crate::announce_listen;
use crate::choice::{Choice, Entry};
use crate::param::Fit;
use crate::profile::Profile;
use crate::promise::Promise;
use crate::purpose::MessageKind;
use crate::simulated::{Extent, Layout, Rounds, Selection, Volume};
use crate::time_scales::TimeScales;
use alloc::string::String;
use alloc::vec::Vec;
use bellwether_core::{Duration, Visitor};
use core::error::Error;
use core::fmt;

/// A family of protocols that share their parameters, as the table of protocols lists it. The type
/// that implements it holds parameters that keep the rules.
pub trait Row: Answers + Clone {
    /// What a person writes.
    type Config: Fit;

    /// Which rule that breaks.
    type BadConfig: Error + Clone + PartialEq;

    /// The members of the family, in the order in which they are listed.
    const ROWS: &'static [Entry];

    /// The group and the network of experiments by default.
    const USUAL: Usual = Usual::TEN;

    /// Its kinds of messages, for pictures. What one that no protocol names is for is not known.
    const MESSAGES: &'static [MessageKind] = &[];

    /// Parameters that keep the rules.
    ///
    /// # Errors
    /// The rule that is broken, with the values that break it.
    fn checked(config: Self::Config) -> Result<Self, Self::BadConfig>;

    /// Hands the protocol to `visitor` as a type.
    fn visit<V: Visitor>(self, visitor: V) -> V::Output;
}

/// The group and the network of experiments by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usual {
    /// How many processes there are.
    pub nodes: u32,
    /// How many there are where each of them is shown.
    pub nodes_shown: u32,
    /// How long a message takes.
    pub delay: Duration,
    /// How long a message between live members may take, for the defaults that depend on it.
    pub live_delay: Duration,
}

impl Usual {
    /// Ten processes, and a tenth of a second for each message; live, where all times are multiples
    /// of the delay, less.
    pub const TEN: Self = Self {
        nodes: 10,
        nodes_shown: 10,
        delay: Duration::from_millis(100),
        live_delay: Duration::from_millis(30),
    };
}

/// What a protocol with its parameters answers.
pub trait Answers {
    /// What a simulation must know of it.
    fn profile(&self) -> Profile;

    /// Its time scales in a group of so many processes.
    fn time_scales(&self, nodes: u32) -> TimeScales;

    /// What it promises with these parameters.
    fn promise(&self) -> Promise {
        Promise::EventuallyOne
    }

    /// What it promises to so many processes that see each other.
    fn promise_to(&self, _nodes: u32) -> Promise {
        self.promise()
    }

    /// How many attempts beyond the first a group needs to agree, on average, if each receiver
    /// loses a message this often. Zero if lost messages are resent per receiver, or if there is no
    /// second attempt.
    fn attempts_beyond_first(&self, _nodes: u32, _loss: f64) -> f64 {
        0.0
    }

    /// Refuses a group that is too large for it.
    ///
    /// # Errors
    /// [`GroupTooLarge`], naming both numbers.
    fn check_nodes(&self, _nodes: u64) -> Result<(), GroupTooLarge> {
        Ok(())
    }

    /// Whether whoever drives it has to tell it who is gone; otherwise it finds out.
    fn must_be_told(&self) -> bool {
        false
    }

    /// Whether the rank of a process has an effect on who leads.
    fn reads_rank(&self) -> bool {
        false
    }

    /// Whether priorities and witnesses have an effect on who leads.
    fn reads_candidacy(&self) -> bool {
        false
    }

    /// How its processes are linked; not at all if everyone talks to everyone.
    fn layout(&self) -> Option<Layout> {
        None
    }

    /// How long a group of so many processes prepares before an election can be called.
    fn ready(&self, _nodes: u32) -> Duration {
        Duration::ZERO
    }

    /// Which messages make its rounds, if its elections have any.
    fn rounds(&self) -> Option<Rounds> {
        None
    }

    /// How long a round lasts in a group of so many processes; no time without rounds.
    fn round_lasts(&self, _number: u32, _nodes: u32) -> Duration {
        Duration::ZERO
    }

    /// How the relays of a first round are selected in a group of so many processes, if a hash
    /// selects some of a known number.
    fn selection(&self, _nodes: u32) -> Option<Selection> {
        None
    }

    /// The same protocol, whose first round selects about so many and is otherwise as it was: for
    /// simulations that weigh what follows from few relays.
    fn selecting(&self, _relays: u64) -> Option<Choice> {
        None
    }

    /// How many members the hash of the first round selects in the group with this number.
    fn selected(&self, _group: u64, _nodes: u32) -> u64 {
        0
    }

    /// Its parameters, if it is of the announce-listen family: what the lazy engine can follow.
    fn announcing(&self) -> Option<&announce_listen::Params> {
        None
    }

    /// How many messages an election of this extent takes, where that does not depend on how long
    /// it goes on.
    fn volume(&self, _extent: &Extent) -> Volume {
        Volume::default()
    }

    /// How long a run is shown by default.
    fn shown_for(&self) -> Duration {
        Duration::from_secs(5)
    }

    /// Refuses to run live what is for simulation alone.
    ///
    /// # Errors
    /// [`NotLive`]: why, and what to do.
    fn check_live(&self) -> Result<(), NotLive> {
        Ok(())
    }

    /// What live members must agree on beside the name, and no more: what safety rests on. The text
    /// is hashed, so it must not change from release to release without a reason.
    fn terms(&self) -> String {
        String::from("1")
    }

    /// The record of a process that never voted, where processes store what they voted for; `None`
    /// where they store nothing.
    fn founding_record(&self) -> Option<Vec<u8>> {
        None
    }

    /// The rules that its parameters keep, with their values.
    fn rules(&self) -> Vec<String> {
        Vec::new()
    }

    /// How many bytes its longest message in a group of so many processes has, where that grows
    /// with the group.
    fn longest_message(&self, _group: usize) -> Option<usize> {
        None
    }
}

/// Why a protocol is for simulation alone with these parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotLive {
    /// It has the mistakes of its text.
    WithMistakes {
        /// The parameter that keeps them, such as `as-printed`.
        param: &'static str,
        /// What comes of them.
        so: &'static str,
    },
    /// Its constraints may be broken.
    Unchecked,
    /// It must be told who is gone.
    Told,
    /// Its leader never speaks.
    OutOfTouch,
}

impl fmt::Display for NotLive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WithMistakes { param, so } => {
                write!(f, "the protocol with {param} is for simulation: it {so}; leave {param} out")
            }
            Self::Unchecked => f.write_str(
                "leases without their constraints are for simulation: they promise nothing; leave \
                 unchecked out",
            ),
            Self::Told => f.write_str(
                "detector = told, but nobody tells a live member who is gone, it must find out; \
                 set detector = heartbeats, or leave it out",
            ),
            Self::OutOfTouch => f.write_str(
                "beat and silence are infinite, but nobody tells a live member who is gone or \
                 calls an election for it; set both to how often a leader speaks and when it is \
                 missed, or leave both out",
            ),
        }
    }
}

impl Error for NotLive {}

/// More processes than the protocol is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupTooLarge {
    /// The protocol.
    pub protocol: &'static str,
    /// How many there were to be.
    pub nodes: u64,
    /// How many there may be.
    pub most: u64,
    /// Why, and what to do.
    pub because: &'static str,
}

impl fmt::Display for GroupTooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { protocol, nodes, most, because } = self;
        write!(f, "{protocol} with {nodes} processes, but at most {most} can be: {because}")
    }
}

impl Error for GroupTooLarge {}

#[cfg(test)]
mod tests {
    use crate::choice::{Choice, PROTOCOLS};
    use alloc::format;
    use alloc::string::ToString;

    #[test]
    fn a_protocol_with_its_mistakes_is_refused_by_the_name_of_the_parameter() {
        let mut refused = 0;
        for entry in PROTOCOLS {
            for param in ["as-printed", "as-published"] {
                let Ok(config) = entry.default_config().with(param, "true") else { continue };
                let Ok(choice) = Choice::try_from(config) else { continue };
                let told = choice.check_live().unwrap_err().to_string();
                let begins = format!("the protocol with {param} is for simulation: it ");
                assert!(told.starts_with(&begins), "{told}");
                assert!(told.ends_with(&format!("; leave {param} out")), "{told}");
                refused += 1;
            }
        }
        assert!(refused > 8, "{refused}");
    }
}
