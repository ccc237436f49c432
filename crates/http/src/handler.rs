//! What the server asks the member: what the control socket asks, and what it believes right now.

use bellwether_net::control::ControlHandler;
use bellwether_net::{Measured, Snapshot, Watch};
use std::collections::BTreeMap;

/// Answers for a member. What [`ControlHandler`] asks may block for a moment; nothing else may.
pub trait HttpHandler: ControlHandler {
    /// The group.
    fn group(&self) -> &str;

    /// What the member believes now. Somebody is about to be told that, and it is noted first.
    ///
    /// # Errors
    /// Why there is no answer, in a sentence.
    fn standing(&self) -> Result<Snapshot, String>;

    /// Notes that somebody is about to be told this.
    fn note(&self, standing: &Snapshot);

    /// All changes, from the present on; `None` while the member has not joined.
    fn changes(&self) -> Option<Watch>;

    /// The name of the member, if it has one.
    fn name(&self) -> Option<&str> {
        None
    }

    /// Why the member is not ready although it knows who leads, if it is not.
    fn unready(&self) -> Option<String> {
        None
    }

    /// What was counted besides the status.
    fn tallies(&self) -> Tallies;
}

/// Counts that the status does not tell.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Tallies {
    /// Whether the member trusts its clock.
    pub clock_trusted: bool,
    /// How often its clock was not trusted.
    pub clock_faults: u64,
    /// How long messages take.
    pub measured: Measured,
    /// Calls of hooks, by how they ended.
    pub hooks: BTreeMap<&'static str, u64>,
    /// Lines that a named pipe was told, by what became of them.
    pub notify: BTreeMap<&'static str, u64>,
    /// What happened to the command and its guardian.
    pub guardian: BTreeMap<&'static str, u64>,
}
