//! Parameters of an announce-listen election (LE-S) from goals, and what to expect of them.
//!
//! The thesis leaves its timers open (section 5.4.4 asks for T_L > T_A·E\[losses\], "on average");
//! here each follows from a goal:
//!
//! | parameter | rule |
//! |---|---|
//! | T_L | m·T_A and a margin, with the least m for which there are at most so many false departures a day in the whole group ([`silence`]). The margin, Δ or a tenth of T_A, changes nothing about how often that happens; but without one an announcement that is a little late is taken for a lost one |
//! | T_S | T_A − Δ, the longest with which all have heard the first round before the second begins (the chapter's T_A >= T_S + Δ): about N·Δ/T_S messages are sent before any is heard, and waiting costs T_S/2. If so many messages are a goal, the shortest T_S that keeps to it |
//! | Byes | the fewest copies of which all hear at least one with the probability asked for: (1 − l^c)^(N−1), or 1 − l^c if all lose together. The thesis's own rule, the mean ⌈1 + X(N−1)⌉ (section 5.7), stands beside it: with that somebody often hears none |
//!
//! What is expected comes from the corrected formulas of this crate; [`confirm`](Plan::confirm)
//! simulates it.

mod confirm;
pub mod lease;
mod rare;
pub mod silence;
pub mod strategy;

pub use confirm::{Confirmation, Effort, GROUP_MAX, Verdict, Watch};
pub use rare::Rate;

use crate::announce_listen::losses::beyond_first;
use crate::announce_listen::wake;
use crate::inputs::{Inputs, Loss, NODES_MAX, OutOfDomain, ValidInputs};
use crate::quantity::{Unit, quantity};
use bellwether_protocols::announce_listen::{BYES_MAX, bye_copies};
use libm::{ceil, exp, log1p, pow};
use std::fmt;

/// A day, in seconds.
const DAY: f64 = 86_400.0;
/// The longest T_L that is planned: what can be written as a duration.
const LISTEN_MAX: f64 = 1e9;

/// What is asked for. Times are in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goals {
    /// N: all processes.
    pub nodes: u32,
    /// What is lost.
    pub loss: Loss,
    /// Δ: how long a message takes.
    pub delay: f64,
    /// T_A: the time between a leader's announcements.
    pub announce: f64,
    /// How often in a day the group may at most give up a leader that is there.
    pub false_departures: f64,
    /// The probability with which all are to hear a Bye.
    pub bye_confidence: f64,
    /// How many messages a start may take, if that is a goal.
    pub messages: Option<f64>,
}

/// Goals that cannot be reached, and what can.
#[derive(Clone, Debug, PartialEq)]
pub enum Impossible {
    /// An argument lies outside the domain of all formulas.
    Domain(OutOfDomain),
    /// Nobody could hear before the next round.
    Slow {
        /// T_A.
        announce: f64,
        /// Δ.
        delay: f64,
    },
    /// What is lost may be lost any number of times.
    Never {
        /// A T_L that would do very well.
        listen: f64,
        /// The days between two false departures with that.
        days: f64,
    },
    /// T_L would be too long to be written.
    TooLong {
        /// The goal.
        false_departures: f64,
        /// False departures a day with the longest T_L there is.
        reachable: f64,
    },
    /// No number of Byes is certainly heard.
    Uncertain {
        /// The probability asked for.
        confidence: f64,
    },
    /// More Byes than a leader may say.
    TooManyByes {
        /// The probability asked for.
        confidence: f64,
        /// The probability with which all hear the most there may be.
        reachable: f64,
    },
    /// More messages than that are needed.
    Messages {
        /// The goal.
        goal: f64,
        /// What the longest T_S needs.
        reachable: f64,
    },
    /// There is no formula for the number of messages here.
    Unpredictable(Unknown),
}

impl fmt::Display for Impossible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Domain(why) => why.fmt(f),
            Self::Slow { announce, delay } => write!(
                f,
                "announce = {announce} s with delay = {delay} s: T_A >= T_S + Δ must hold with a \
                 T_S above 0; choose a T_A of at least {} s",
                2.0 * delay
            ),
            Self::Never { listen, days } => write!(
                f,
                "false departures = 0 a day, but any number of announcements in a row may be \
                 lost; choose more than 0: a T_L of {listen} s has one in {days:.3e} days"
            ),
            Self::TooLong { false_departures, reachable } => write!(
                f,
                "false departures = {false_departures} a day would take a T_L above {LISTEN_MAX} \
                 s; {reachable:.3e} a day can be reached, or choose a shorter T_A"
            ),
            Self::Uncertain { confidence } => write!(
                f,
                "bye confidence = {confidence}, but with loss 0 <= confidence < 1 must hold; \
                 0.999999 can be reached"
            ),
            Self::TooManyByes { confidence, reachable } => write!(
                f,
                "bye confidence = {confidence} would take more than {BYES_MAX} copies, which reach \
                 all with {reachable:.4}; choose that or less"
            ),
            Self::Messages { goal, reachable } => write!(
                f,
                "messages = {goal}, but even the longest T_S, T_A − Δ, takes {reachable:.1}; \
                 accept that many or choose a longer T_A"
            ),
            Self::Unpredictable(why) => write!(f, "messages cannot be a goal here: {why}"),
        }
    }
}

impl std::error::Error for Impossible {}

/// Why something cannot be predicted.
#[derive(Clone, Debug, PartialEq)]
pub enum Unknown {
    /// The formula has no value.
    Formula(OutOfDomain),
    /// Formulas begin with a group that agrees, and it does not for this part of the time.
    NoAgreement(f64),
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Formula(why) => why.fmt(f),
            Self::NoAgreement(part) => {
                write!(f, "the group is without agreement {:.1} % of the time", 100.0 * part)
            }
        }
    }
}

impl From<OutOfDomain> for Unknown {
    fn from(why: OutOfDomain) -> Self {
        Self::Formula(why)
    }
}

/// What to expect.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    /// Its name, for programs.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// What it counts; `None` for a number per day.
    pub unit: Option<Unit>,
    /// The value, or why there is none.
    pub value: Result<f64, Unknown>,
    /// By what part of itself it may be wrong; zero if it is exact.
    pub slack: f64,
}

/// The parameters, and what to expect of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What was asked for.
    pub goals: Goals,
    /// m: a leader is given up after so many losses in a row.
    pub losses: u32,
    /// How many times a leader that leaves says so.
    pub byes: u32,
    /// The probability with which all hear one of them.
    pub all_hear: f64,
    /// The number of Byes by the thesis's rule.
    pub byes_on_average: u32,
    /// Everything as formulas take it, T_S and T_L included.
    pub inputs: ValidInputs,
}

impl Plan {
    /// The parameters that reach these goals.
    ///
    /// # Errors
    /// [`Impossible`], with what can be reached instead.
    pub fn new(goals: Goals) -> Result<Self, Impossible> {
        let Goals { nodes, loss, delay, announce, .. } = goals;
        let (least, most) = (2, NODES_MAX);
        if !(least..=most).contains(&nodes) {
            return Err(Impossible::Domain(OutOfDomain::Nodes { nodes, least, most }));
        }
        let given = Inputs { nodes, loss, delay, announce, ..Inputs::default() };
        let inputs = ValidInputs::try_from(given).map_err(Impossible::Domain)?;
        if announce <= delay {
            return Err(Impossible::Slow { announce, delay });
        }
        let losses = goals.losses()?;
        let byes = goals.byes()?;
        let listen = goals.listen(losses);
        let suppress = announce - delay;
        let set = |suppress: f64| {
            let with = inputs.with(|given| (given.suppress, given.listen) = (suppress, listen));
            with.map_err(Impossible::Domain)
        };
        let mut plan = Self {
            goals,
            losses,
            byes,
            all_hear: goals.all_hear(byes),
            byes_on_average: goals.byes_on_average(),
            inputs: set(suppress)?,
        };
        if let Some(goal) = goals.messages {
            plan.inputs = set(plan.shortest_suppress(goal)?)?;
        }
        Ok(plan)
    }

    /// The shortest T_S with which a start takes at most so many messages, to a thousandth of T_A.
    fn shortest_suppress(&self, goal: f64) -> Result<f64, Impossible> {
        let Goals { delay, announce, .. } = self.goals;
        let messages = |suppress: f64| {
            let inputs = self.inputs.with(|given| given.suppress = suppress);
            let inputs = inputs.map_err(Unknown::from);
            let found = inputs.and_then(|inputs| messages_at_start(&inputs).0);
            found.map_err(Impossible::Unpredictable)
        };
        let longest = announce - delay;
        let reachable = messages(longest)?;
        if goal.is_nan() || goal < reachable {
            return Err(Impossible::Messages { goal, reachable });
        }
        let step = announce / 1000.0;
        // Below Δ all wake before any is heard.
        let (mut low, mut high) = (delay.min(longest), longest);
        while high - low > step {
            let middle = low.midpoint(high);
            if messages(middle)? <= goal {
                high = middle;
            } else {
                low = middle;
            }
        }
        Ok((ceil(high / step) * step).min(longest))
    }

    /// What to expect, in the order of a life: the start, the end of a leader, false alarms.
    pub fn forecasts(&self) -> Vec<Forecast> {
        let inputs = &self.inputs;
        let per_day =
            self.goals.per_day(silence::alarms(self.goals.nodes, self.goals.loss, self.losses));
        let of = |name, about, unit, (value, slack)| Forecast { name, about, unit, value, slack };
        let form = |name| formula(name, inputs);
        let seconds = Some(Unit::Seconds);
        vec![
            of(
                "leadership_delay",
                "from a start until all know their leader",
                seconds,
                form(LEADERSHIP),
            ),
            of(
                "messages",
                "messages sent before that",
                Some(Unit::Messages),
                messages_at_start(inputs),
            ),
            of(
                "reestablishment_delay",
                "from a leader's silent end until all know the next",
                seconds,
                self.departure(),
            ),
            of(
                "reestablishment_delay_with_bye",
                "the same if it says goodbye",
                seconds,
                self.departure_with_bye(),
            ),
            of(
                "false_departures_per_day",
                "how often in a day a leader that is there is given up",
                None,
                (Ok(per_day), 0.0),
            ),
            of(
                "inconsistent_fraction",
                "part of the time without agreement because of that",
                Some(Unit::Fraction),
                form(FRACTION),
            ),
        ]
    }

    /// The part of the time without agreement, if that is too much for a departure to have a
    /// delay: it is likely to find the group at odds.
    pub fn disagreement(&self) -> Option<f64> {
        formula(FRACTION, &self.inputs).0.ok().filter(|part| *part > DISAGREEMENT_MAX)
    }

    fn departure(&self) -> Predicted {
        match self.disagreement() {
            Some(part) => (Err(Unknown::NoAgreement(part)), 0.0),
            None => formula(DEPARTURE, &self.inputs),
        }
    }

    /// Section 5.7: Δ for the Bye, E[t_s], Δ for the announcement and T_A for each that is lost
    /// until all others have one; if a Bye is not heard by all, what silence takes, which is exact
    /// only if it is heard by all or none. A process that is left alone leads as soon as it hears.
    fn departure_with_bye(&self) -> Predicted {
        let Inputs { nodes, loss, delay, announce, .. } = *self.inputs;
        let (silent, slack) = self.departure();
        let heard = if nodes == 2 {
            delay
        } else {
            let others = u64::from(nodes - 2);
            2.0 * delay + wake::mean(&self.inputs) + announce * beyond_first(others, loss)
        };
        let apart = nodes > 2 && matches!(loss, Loss::Uncorrelated(_));
        let value = silent.map(|silent| self.all_hear * heard + (1.0 - self.all_hear) * silent);
        (value, if apart { SLACK } else { slack })
    }
}

/// A value, and by what part of itself it may be wrong.
type Predicted = (Result<f64, Unknown>, f64);

/// Above this part of the time without agreement nothing is said about departures.
const DISAGREEMENT_MAX: f64 = 0.05;

/// By how much approximate formulas may be wrong, if nothing else is known: a twentieth.
const SLACK: f64 = 0.05;
/// The same for messages with delay and uncorrelated loss.
const SLACK_MESSAGES: f64 = 0.15;
/// The same without delay in groups of more than [`CLOSURE_NEAR`]: the closure is off by 5 % at a
/// thousand processes, by 6 % at ten thousand, by a tenth at a million.
const SLACK_CLOSURE: f64 = 0.12;
/// Up to so many processes a twentieth is enough for the closure.
const CLOSURE_NEAR: u32 = 1000;

const LEADERSHIP: &str = "le-s.leadership-delay";
const MESSAGES: &str = "le-s.messages";
const DEPARTURE: &str = "le-s.reestablishment-delay.departure";
const FRACTION: &str = "le-s.inconsistent-fraction.false-departure";
const LENGTH: &str = "le-s.reestablishment-delay.false-departure";

/// The corrected form of a quantity.
fn formula(name: &'static str, inputs: &ValidInputs) -> Predicted {
    let Some(quantity) = quantity(name) else {
        return (Err(OutOfDomain::NoValue("there is no formula for it").into()), 0.0);
    };
    let value = (quantity.corrected)(inputs).map_err(Unknown::from);
    (value, if (quantity.exact)(inputs) { 0.0 } else { SLACK })
}

/// Messages until a start is over; with uncorrelated loss they are known less well.
fn messages_at_start(inputs: &ValidInputs) -> Predicted {
    let (found, slack) = formula(MESSAGES, inputs);
    let slack = match inputs.loss {
        Loss::Uncorrelated(_) if slack > 0.0 && inputs.delay > 0.0 => SLACK_MESSAGES,
        Loss::Uncorrelated(_) if slack > 0.0 && inputs.nodes > CLOSURE_NEAR => SLACK_CLOSURE,
        _ => slack,
    };
    (found, slack)
}

impl Goals {
    /// The least m.
    fn losses(&self) -> Result<u32, Impossible> {
        let Self { nodes, loss, announce, false_departures, .. } = *self;
        let bad = |rule| {
            let (name, value) = ("false departures", false_departures);
            Impossible::Domain(OutOfDomain::Rate { name, value, rule })
        };
        if !(false_departures >= 0.0 && false_departures.is_finite()) {
            return Err(bad("it must be a finite number per day, not negative"));
        }
        if false_departures == 0.0 && loss.rate() > 0.0 {
            // One in a thousand years.
            let m = silence::least_losses(nodes, loss, announce / DAY / 365_000.0).unwrap_or(1);
            let days = 1.0 / self.per_day(silence::alarms(nodes, loss, m));
            return Err(Impossible::Never { listen: self.listen(m), days });
        }
        let most = LISTEN_MAX / announce - 1.0;
        let found = silence::least_losses(nodes, loss, false_departures * announce / DAY);
        match found.filter(|m| f64::from(*m) <= most) {
            Some(m) => Ok(m),
            None => {
                let m = most as u32; // saturates
                let reachable = self.per_day(silence::alarms(nodes, loss, m));
                Err(Impossible::TooLong { false_departures, reachable })
            }
        }
    }

    /// T_L for this m.
    fn listen(&self, m: u32) -> f64 {
        f64::from(m) * self.announce + self.margin()
    }

    /// By how much the last announcement may be late.
    pub fn margin(&self) -> f64 {
        self.delay.max(self.announce / 10.0)
    }

    /// A rate per announcement as one per day.
    fn per_day(&self, rate: f64) -> f64 {
        rate * DAY / self.announce
    }

    /// The fewest Byes.
    fn byes(&self) -> Result<u32, Impossible> {
        let (confidence, l) = (self.bye_confidence, self.loss.rate());
        let certain = confidence == 1.0 && l == 0.0;
        if !((0.0..1.0).contains(&confidence) || certain) {
            return Err(Impossible::Uncertain { confidence });
        }
        let reachable = self.all_hear(BYES_MAX);
        let enough = (1..=BYES_MAX).find(|copies| self.all_hear(*copies) >= confidence);
        enough.ok_or(Impossible::TooManyByes { confidence, reachable })
    }

    /// The probability that all hear one of so many Byes.
    pub fn all_hear(&self, copies: u32) -> f64 {
        let unheard = pow(self.loss.rate(), f64::from(copies));
        match self.loss {
            Loss::Uncorrelated(_) => exp(f64::from(self.nodes - 1) * log1p(-unheard)),
            Loss::None | Loss::Correlated(_) => 1.0 - unheard,
        }
    }

    /// The thesis's number of Byes.
    fn byes_on_average(&self) -> u32 {
        let receivers = match self.loss {
            Loss::Uncorrelated(_) => u64::from(self.nodes - 1),
            Loss::None | Loss::Correlated(_) => 1,
        };
        // It is unknown only where everything is lost.
        bye_copies(receivers, self.loss.rate()).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn goals(nodes: u32, delay: f64) -> Goals {
        Goals {
            nodes,
            loss: Loss::Uncorrelated(0.2),
            delay,
            announce: 1.0,
            false_departures: 1.0,
            bye_confidence: 0.99,
            messages: None,
        }
    }

    #[test]
    fn messages_are_trusted_less_where_the_closure_is_farther_off() {
        let slack = |nodes, delay| {
            let plan = Plan::new(goals(nodes, delay)).unwrap();
            messages_at_start(&plan.inputs).1
        };
        assert_eq!([slack(100, 0.0), slack(1000, 0.0)], [0.05, 0.05]);
        assert_eq!([slack(1001, 0.0), slack(1_000_000, 0.0)], [0.12, 0.12]);
        assert_eq!(slack(100, 0.1), 0.15);
        assert_eq!(slack(2, 0.1), 0.0, "of two processes only one has something to hear");
    }

    #[test]
    fn departures_of_a_group_at_odds_have_no_delay() {
        let delays = |false_departures| {
            let plan = Plan::new(Goals { false_departures, ..goals(50, 0.1) }).unwrap();
            [plan.departure().0, plan.departure_with_bye().0]
        };
        assert!(delays(1.0).iter().all(Result::is_ok));
        for delay in delays(1e9) {
            let why = delay.unwrap_err().to_string();
            assert_eq!(why, "the group is without agreement 98.6 % of the time");
        }
    }

    #[test]
    fn a_group_has_at_least_two_and_not_too_many() {
        for nodes in [0, 1, NODES_MAX + 1] {
            let why = Plan::new(goals(nodes, 0.1)).unwrap_err().to_string();
            assert!(why.ends_with("but 2 <= nodes <= 100000000 must hold here"), "{why}");
        }
    }
}
