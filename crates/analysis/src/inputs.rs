//! The arguments of all formulas, checked once for all of them.
//!
//! [`Inputs`] is what a caller asks about. [`ValidInputs`] is the same after the check: it lies in
//! the common domain of the formulas. The defaults are the parameters of the thesis's figures.

use crate::local_leader::Leases;
use bellwether_protocols::announce_listen::Shape;
use bellwether_protocols::local_leader::BadConfig;
use bellwether_protocols::param::{Param, explain};
use bellwether_sim::network::{self, BadProbability, LossModel};
use std::fmt;
use std::ops::Deref;

/// Who loses a message, as formulas ask: without memory, and with a rate that each formula checks.
/// [`network::Loss`] is what a simulation takes, which has bursts as well.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// Nobody.
    None,
    /// All receivers together, or none: one random draw per message.
    Correlated(f64),
    /// Each receiver for itself: one random draw per message and receiver.
    Uncorrelated(f64),
}

impl Loss {
    /// So much loss by this model; nothing for bursts, which no formula is about.
    pub fn of(model: LossModel, rate: f64) -> Option<Self> {
        match model {
            LossModel::None => Some(Self::None),
            LossModel::Correlated => Some(Self::Correlated(rate)),
            LossModel::Uncorrelated => Some(Self::Uncorrelated(rate)),
            LossModel::Bursts => None,
        }
    }

    /// l: how often a message is lost.
    pub fn rate(self) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Correlated(rate) | Self::Uncorrelated(rate) => rate,
        }
    }

    /// So much loss, which all receivers suffer together; none if the rate is zero.
    pub fn together(rate: f64) -> Self {
        if rate == 0.0 { Self::None } else { Self::Correlated(rate) }
    }

    /// So much loss, which each receiver suffers for itself; none if the rate is zero.
    pub fn apart(rate: f64) -> Self {
        if rate == 0.0 { Self::None } else { Self::Uncorrelated(rate) }
    }

    /// Its model.
    pub fn model(self) -> LossModel {
        match self {
            Self::None => LossModel::None,
            Self::Correlated(_) => LossModel::Correlated,
            Self::Uncorrelated(_) => LossModel::Uncorrelated,
        }
    }

    /// Its name: a value of the parameter `loss-model`.
    pub fn name(self) -> &'static str {
        self.model().name()
    }
}

impl TryFrom<Loss> for network::Loss {
    type Error = BadProbability;

    fn try_from(loss: Loss) -> Result<Self, BadProbability> {
        Ok(match loss {
            Loss::None => Self::None,
            Loss::Correlated(rate) => Self::Correlated(rate.try_into()?),
            Loss::Uncorrelated(rate) => Self::Uncorrelated(rate.try_into()?),
        })
    }
}

/// What a formula is asked about. Times are in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inputs {
    /// N: all processes, the leader included; before the event, where there is one.
    pub nodes: u32,
    /// l, and who loses.
    pub loss: Loss,
    /// Δ: how long a message takes.
    pub delay: f64,
    /// T_S: wake-up times lie below it.
    pub suppress: f64,
    /// T_A: the time between a leader's announcements.
    pub announce: f64,
    /// T_L: silence after which a leader is given up; may be infinite.
    pub listen: f64,
    /// The distribution of wake-up times over [0, T_S].
    pub shape: Shape,
    /// Departures per second, of any process (1/T_d of the thesis).
    pub departures: f64,
    /// Arrivals per second (1/T_a of the thesis).
    pub arrivals: f64,
    /// r of the recurrences Q(i, n, r) and S(n, r); the first round is 1.
    pub round: u32,
    /// i of the recurrence Q(i, n, r): how many messages are sent in that round.
    pub sent: u32,
    /// k: how many processes call an election at once. By default as many as the quantity is
    /// about.
    pub initiators: Option<u32>,
    /// i: the process that calls an election, where it matters which one does.
    pub initiator: u32,
    /// E: the links of the network. By default two for each process, but no more than there are
    /// pairs.
    pub links: Option<u64>,
    /// How long a process takes over each message.
    pub processing: f64,
    /// How long a process waits for an answer before it considers all it asked dead. By default
    /// ten delays.
    pub reply: Option<f64>,
    /// K: how many relays a round of the probabilistic election is to have. More than there are
    /// processes is all of them.
    pub k: u32,
    /// view_prob: the probability that a process knows another.
    pub view: f64,
    /// p_fail: how often a process fails within a round.
    pub fail: f64,
    /// p_ucastl: how often a unicast is lost.
    pub unicast_loss: f64,
    /// p_mcastl: how often a receiver misses a multicast.
    pub multicast_loss: f64,
    /// The time constants of leases.
    pub leases: Leases,
}

/// The parameters of the thesis's figures. Of elections that are called, the lecture's: the process
/// with the least id calls, and only messages and time-outs take time. Of the probabilistic
/// election, the parameters of its simulations.
impl Default for Inputs {
    fn default() -> Self {
        Self {
            nodes: 100,
            loss: Loss::None,
            delay: 0.1,
            suppress: 1.0,
            announce: 1.0,
            listen: f64::INFINITY,
            shape: Shape::Uniform,
            departures: 0.01,
            arrivals: 0.01,
            round: 1,
            sent: 1,
            initiators: None,
            initiator: 0,
            links: None,
            processing: 0.0,
            reply: None,
            k: 7,
            view: 0.5,
            fail: 0.001,
            unicast_loss: 0.001,
            multicast_loss: 0.001,
            leases: Leases::default(),
        }
    }
}

/// [`Inputs`] inside the common domain of the formulas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValidInputs(Inputs);

impl Deref for ValidInputs {
    type Target = Inputs;

    fn deref(&self) -> &Inputs {
        &self.0
    }
}

/// The largest loss formulas are asked about: beyond it sums have too many terms to be summed.
pub const LOSS_MAX: f64 = 0.9999;
/// The largest group formulas are asked about.
pub const NODES_MAX: u32 = 100_000_000;

/// An argument for which a formula has no value.
#[derive(Clone, Debug, PartialEq)]
pub enum OutOfDomain {
    /// A group has at least two processes, where there is something to agree on.
    Nodes {
        /// The number given.
        nodes: u32,
        /// The least the formula takes.
        least: u32,
        /// The most the formula takes.
        most: u32,
    },
    /// A loss is at least 0, and below 1 by enough for sums to end.
    Loss(f64),
    /// A length of time is a finite number, not negative.
    Time {
        /// Which.
        name: &'static str,
        /// As given.
        value: f64,
        /// What it must be instead.
        rule: &'static str,
    },
    /// A rate is a finite number, not negative.
    Rate {
        /// Which.
        name: &'static str,
        /// As given.
        value: f64,
        /// What it must be instead.
        rule: &'static str,
    },
    /// A number of something is not one the formula takes.
    Count {
        /// Of what.
        name: &'static str,
        /// As given.
        value: u64,
        /// The least the formula takes.
        least: u64,
        /// The most the formula takes.
        most: u64,
        /// Why.
        why: &'static str,
    },
    /// The formula holds only under this condition, which the arguments break.
    Condition {
        /// The condition.
        rule: &'static str,
        /// What to do. Parameters stand between backticks.
        way_out: &'static str,
    },
    /// The printed formula has no value here, although the quantity has one.
    NoValue(&'static str),
    /// The time constants of leases make no sense.
    Leases(BadConfig),
}

impl From<BadConfig> for OutOfDomain {
    fn from(bad: BadConfig) -> Self {
        Self::Leases(bad)
    }
}

impl OutOfDomain {
    /// The text of the error, in which `name` says what the reader calls a parameter.
    pub fn explain(&self, name: &dyn Fn(&str) -> String) -> String {
        let text = match self {
            // A rule about one number, which stands beside its relations.
            Self::Nodes { .. } => beside_relations("nodes", self, name),
            Self::Loss(_) => beside_relations("loss", self, name),
            Self::Time { name: of, .. }
            | Self::Rate { name: of, .. }
            | Self::Count { name: of, .. } => beside_relations(of, self, name),
            Self::Condition { .. } | Self::NoValue(_) | Self::Leases(_) => self.to_string(),
        };
        // Every second part stood between backticks.
        let parts = text.split('`').enumerate();
        parts.map(|(at, part)| if at % 2 == 0 { part.to_owned() } else { name(part) }).collect()
    }
}

/// The text of the error, with the reader's name for one parameter.
fn beside_relations(
    of: &'static str,
    error: &OutOfDomain,
    name: &dyn Fn(&str) -> String,
) -> String {
    explain(&error.to_string(), &[Param::of::<f64>(of, "")], &|of| name(of))
}

/// Names parameters as they are, never flags of a program.
impl fmt::Display for OutOfDomain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nodes { nodes, least, most } => {
                write!(f, "nodes = {nodes}, but {least} <= nodes <= {most} must hold here")
            }
            Self::Loss(loss) => write!(f, "loss = {loss}, but 0 <= loss <= {LOSS_MAX} must hold"),
            Self::Time { name, value, rule } => write!(f, "{name} = {value} s, but {rule}"),
            Self::Rate { name, value, rule } => write!(f, "{name} = {value}, but {rule}"),
            Self::Count { name, value, least, most, why } => {
                write!(f, "{name} = {value}, but {least} <= {name} <= {most} must hold: {why}")
            }
            Self::Condition { rule, way_out } => write!(f, "{rule}; {way_out}"),
            Self::NoValue(why) => f.write_str(why),
            Self::Leases(bad) => bad.fmt(f),
        }
    }
}

impl std::error::Error for OutOfDomain {}

impl TryFrom<Inputs> for ValidInputs {
    type Error = OutOfDomain;

    fn try_from(given: Inputs) -> Result<Self, OutOfDomain> {
        let Inputs { nodes, loss, shape, .. } = given;
        if !(1..=NODES_MAX).contains(&nodes) {
            return Err(OutOfDomain::Nodes { nodes, least: 1, most: NODES_MAX });
        }
        if !(0.0..=LOSS_MAX).contains(&loss.rate()) {
            return Err(OutOfDomain::Loss(loss.rate()));
        }
        let time = |name, value: f64, good: bool, rule| {
            if good && !value.is_nan() {
                Ok(())
            } else {
                Err(OutOfDomain::Time { name, value, rule })
            }
        };
        let whole = |value: f64| value >= 0.0 && value.is_finite();
        time("delay", given.delay, whole(given.delay), "it must be finite and not negative")?;
        time("suppress", given.suppress, whole(given.suppress), "it must be finite, not negative")?;
        let announces = given.announce > 0.0 && given.announce.is_finite();
        time("announce", given.announce, announces, "it must be finite and above 0")?;
        let processes = whole(given.processing);
        time("processing", given.processing, processes, "it must be finite and not negative")?;
        if let Some(reply) = given.reply {
            let waits = reply > 0.0 && reply.is_finite();
            time("reply", reply, waits, "it must be finite and above 0")?;
        }
        time("listen", given.listen, given.listen > 0.0, "it must be above 0; it may be infinite")?;
        for (name, value) in [("departures", given.departures), ("arrivals", given.arrivals)] {
            if !whole(value) {
                let rule = "a rate is a finite number per second, not negative";
                return Err(OutOfDomain::Rate { name, value, rule });
            }
        }
        if let Shape::Rising { rate } | Shape::Falling { rate } = shape
            && !(rate > 0.0 && rate <= 500.0)
        {
            let rule = "0 < timer rate <= 500 must hold";
            return Err(OutOfDomain::Rate { name: "timer rate", value: rate, rule });
        }
        if given.round == 0 {
            let (rule, way_out) = ("round = 0, but rounds count from 1", "choose 1 or more");
            return Err(OutOfDomain::Condition { rule, way_out });
        }
        given.check_chances()?;
        Ok(Self(given))
    }
}

impl Inputs {
    /// Checks what the probabilistic election depends on. Its probabilities may be 0 and 1.
    fn check_chances(&self) -> Result<(), OutOfDomain> {
        if !(1..=NODES_MAX).contains(&self.k) {
            let (value, most) = (u64::from(self.k), u64::from(NODES_MAX));
            let why = "without relays nobody is elected";
            return Err(OutOfDomain::Count { name: "k", value, least: 1, most, why });
        }
        for (name, value) in [
            ("view", self.view),
            ("fail", self.fail),
            ("ucast-loss", self.unicast_loss),
            ("mcast-loss", self.multicast_loss),
        ] {
            if !(0.0..=1.0).contains(&value) {
                let rule = "it is a probability, from 0 to 1";
                return Err(OutOfDomain::Rate { name, value, rule });
            }
        }
        Ok(())
    }
}

/// The usual parameters of a group of this size, but for the changed ones.
///
/// # Panics
/// If they lie outside the domain: figures and tests write them down.
pub(crate) fn usual(nodes: u32, change: impl FnOnce(&mut Inputs)) -> ValidInputs {
    let mut given = Inputs { nodes, ..Inputs::default() };
    change(&mut given);
    given.try_into().expect("inputs in the domain")
}

impl ValidInputs {
    /// The same with other arguments.
    ///
    /// # Errors
    /// [`OutOfDomain`], if those lie outside.
    pub fn with(&self, change: impl FnOnce(&mut Inputs)) -> Result<Self, OutOfDomain> {
        let mut given = self.0;
        change(&mut given);
        given.try_into()
    }

    /// Checks that the group has at least this many processes, and at most that.
    ///
    /// # Errors
    /// [`OutOfDomain::Nodes`].
    pub fn needs_nodes(&self, least: u32, most: u32) -> Result<(), OutOfDomain> {
        let nodes = self.nodes;
        let good = (least..=most).contains(&nodes);
        if good { Ok(()) } else { Err(OutOfDomain::Nodes { nodes, least, most }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_parameters_and_a_program_may_put_its_own_names() {
        let way_out = "raise `announce` or lower `delay`";
        let error = OutOfDomain::Condition { rule: "delay <= announce", way_out };
        assert_eq!(error.to_string(), "delay <= announce; raise `announce` or lower `delay`");
        let flags = error.explain(&|name| format!("--{name}"));
        assert_eq!(flags, "delay <= announce; raise --announce or lower --delay");
        let flags = OutOfDomain::Loss(2.0).explain(&|name| format!("--{name}"));
        assert_eq!(flags, "--loss = 2, but 0 <= --loss <= 0.9999 must hold");
    }
}
