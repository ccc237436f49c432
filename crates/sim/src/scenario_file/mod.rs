//! Scenario files: one run with everything that happens in it.
//!
//! ```toml
//! about = "The leader crashes and the next one takes over"
//! protocol = "le-s"
//! nodes = 5
//! until = "8s"
//!
//! [params]
//! listen = "3s"
//!
//! [[faults]]
//! at = "4s"
//! what = "crash"
//! node = "leader"
//! ```
//!
//! **Promise.** [`ScenarioFile::parse`] reads the output of [`ScenarioFile::write`] as the same
//! run. Errors name the line and the key. A fault or key that would have no effect is an error too.

mod bad;
mod document;
mod row;
mod telling;
mod written;

pub use bad::{BadScenario, Place, Problem};
pub use telling::{Caption, StatedOutcome};
pub use written::Unwritable;

use crate::ineffective_fault::{idle, idle_among};
use crate::order::Order;
use crate::plan::{Key, Plan, Ranks};
use bellwether_protocols::choice::{self, Choice};
use bellwether_protocols::promise::Promise;
use bellwether_protocols::simulated::Layout;
use document::Document;
use serde::Serialize;
use written::{Beside, Written};

/// A scenario that can be run.
#[derive(Clone, Debug)]
pub struct ScenarioFile {
    /// What it shows.
    pub about: String,
    /// The protocol's name.
    pub protocol: String,
    /// The protocol and its parameters.
    pub choice: Choice,
    /// What happens.
    pub plan: Plan,
    /// The seed, unless the caller uses another one.
    pub seed: u64,
    /// The promise that the run is judged by, if it is not the protocol's own. The run does not
    /// depend on it.
    pub promise: Option<Promise>,
    /// What a reader is told, in order of time. The run does not depend on it.
    pub captions: Vec<Caption>,
    /// What the run comes to, if the file states it. The run does not depend on it.
    pub outcome: Option<StatedOutcome>,
}

impl ScenarioFile {
    /// A scenario that nobody wrote in a file, and that tells nothing beside the run.
    pub fn of(about: String, protocol: String, choice: Choice, plan: Plan, seed: u64) -> Self {
        let (promise, captions, outcome) = (None, Vec::new(), None);
        Self { about, protocol, choice, plan, seed, promise, captions, outcome }
    }

    /// Reads a scenario.
    ///
    /// # Errors
    /// [`BadScenario`], naming the line, the key and the rule.
    pub fn parse(text: &str) -> Result<Self, BadScenario> {
        Self::parse_added(text, &[])
    }

    /// Reads a scenario to which faults were added one after the other: `added` says for each fault
    /// how many were there before it was, as far as they are known. A fault that had an effect
    /// until another was added is left out; one that never had any is refused.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn parse_added(text: &str, added: &[usize]) -> Result<Self, BadScenario> {
        let document = Document::parse(text)?;
        let Written { about, protocol, seed, plan, promise, captions, outcome } =
            Written::read(&document)?;
        let Some(entry) = choice::find(&protocol) else {
            return Err(document.refuse("protocol", Problem::Protocol(protocol)));
        };
        let config = document.params(entry.family)?;
        let choice = Choice::try_from(config)
            .map_err(|bad| document.refuse("params", Problem::Config(bad)))?;
        plan.check_keys().map_err(|(key, bad)| document.refuse(key, Problem::Plan(bad)))?;
        let voters = if plan.founders.is_empty() { plan.nodes } else { plan.founders.len() as u32 };
        choice
            .check_nodes(voters.into())
            .map_err(|bad| document.refuse("nodes", Problem::GroupTooLarge(bad)))?;
        if !telling::in_order(&captions, plan.horizon) {
            return Err(document.refuse("caption", Problem::Captions(plan.horizon)));
        }
        let mut scenario = Self { about, protocol, choice, plan, seed, promise, captions, outcome };
        let checked = scenario.check_effects().and_then(|()| scenario.keep_effective(added));
        checked.map_err(|(key, problem)| document.refuse(key, problem))?;
        Ok(scenario)
    }

    /// Rejects what would have no effect.
    fn check_effects(&self) -> Result<(), (Key, Problem)> {
        let ring = matches!(self.choice.layout(), Some(Layout::Ring { .. }));
        let unused = |key, why| Err((Key::Top(key), Problem::Unused(self.protocol.clone(), why)));
        if self.plan.order != Order::Ascending && !ring {
            return unused("order", "has no ring");
        }
        if self.plan.detection.is_some() && !self.choice.profile().on_demand {
            return unused("detection", "is not told of failures: it notices them itself");
        }
        if self.plan.ranks != Ranks::ById && !self.choice.reads_rank() {
            return unused("ranks", "chooses by something else with these parameters");
        }
        if !self.plan.view.is_certain() && self.choice.announcing().is_some() {
            return unused("view", "keeps no list of the others, and hears whoever speaks");
        }
        if !self.choice.reads_candidacy() {
            let why = "has no priorities and witnesses with these parameters";
            if !self.plan.priorities.is_empty() {
                return unused("priorities", why);
            }
            if !self.plan.witnesses.is_empty() {
                return unused("witnesses", why);
            }
        }
        let leases = self.choice.profile().leases.is_some();
        if self.plan.unknown_first_lives && !leases {
            return unused("unknown-first-lives", "has no leases, and begins every life alike");
        }
        if !self.plan.founders.is_empty() && !leases {
            return unused("founders", "has no leases, and nobody votes");
        }
        Ok(())
    }

    /// Leaves out the faults that others, added later, have made idle. Rejects those that were idle
    /// when they were added.
    fn keep_effective(&mut self, added: &[usize]) -> Result<(), (Key, Problem)> {
        let age = |number: usize| added.get(number).copied().unwrap_or_default();
        let found = idle(&self.plan);
        for &(number, _) in &found {
            let before = idle_among(&self.plan, |other| age(other) <= age(number));
            if let Some(&(_, idle)) = before.iter().find(|(other, _)| *other == number) {
                let key = Key::Fault(number, idle.key());
                return Err((key, Problem::IneffectiveFault(idle)));
            }
        }
        for (number, _) in found.into_iter().rev() {
            self.plan.faults.remove(number);
        }
        Ok(())
    }

    /// Writes a scenario of the protocol with this name and these parameters, in the form of a
    /// file. Faults that have no effect are left out, because the parser rejects them.
    ///
    /// # Errors
    /// [`Unwritable`] if the parameters have no form in a file.
    pub fn write<C: Serialize>(
        about: &str,
        protocol: &str,
        params: &C,
        plan: &Plan,
        seed: u64,
    ) -> Result<String, Unwritable> {
        Self::write_judged(about, protocol, params, plan, seed, None)
    }

    /// The same with the promise that the run is judged by, if it is not the protocol's own.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn write_judged<C: Serialize>(
        about: &str,
        protocol: &str,
        params: &C,
        plan: &Plan,
        seed: u64,
        promise: Option<Promise>,
    ) -> Result<String, Unwritable> {
        let beside = Beside { promise, ..Beside::default() };
        written::write(about, protocol, params, plan, seed, beside)
    }

    /// Writes this scenario with these parameters, which are those of its protocol, and with all
    /// that it tells beside the run.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn to_toml<C: Serialize>(&self, params: &C) -> Result<String, Unwritable> {
        let Self { about, protocol, plan, seed, promise, captions, outcome, .. } = self;
        let beside = Beside { promise: *promise, captions, outcome: outcome.as_ref() };
        written::write(about, protocol, params, plan, *seed, beside)
    }
}
