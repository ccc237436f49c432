//! Finds who called an election, and on a graph the tree that grew from it. The records do not
//! contain the contents of messages, so both follow from who sent to whom.
//!
//! On a graph: a process that is called and then calls others, but not its caller, has its caller
//! as parent. So has a process that answers and has nobody else to call. An answer to the parent is
//! a report of the best process in the subtree; an answer to any other process is a refusal. A
//! process that calls its own parent, or calls when it no longer has one, starts an election
//! itself. Where messages are acknowledged hop by hop, acknowledgements look like answers; the last
//! one is the report all the same.

use super::arrangement::Graph;
use super::steps::{Cause, MessageKey, Step};
use bellwether_core::NodeId;
use std::collections::{BTreeMap, BTreeSet};

/// A claim to lead, and the process that has it.
pub(super) type Claim = (u64, NodeId);

/// An election: the process that called it, and its number among that process's elections.
type Wave = (NodeId, u32);

/// What one process did.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Part {
    /// Whether it ever called an election.
    pub(super) called: bool,
    /// The process that called it, in the last election it took part in.
    pub(super) parent: Option<NodeId>,
    /// What it reported to its parent.
    pub(super) report: Option<Claim>,
    /// Its own claim.
    pub(super) claim: Option<u64>,
    /// The last election it took part in.
    wave: Option<Wave>,
    /// The best claim it has heard of in that election.
    best: Option<Claim>,
    /// How many elections it has called.
    waves: u32,
    /// The processes it can reach, as far as it was told.
    peers: BTreeSet<NodeId>,
    /// Whether it is in an election.
    engaged: bool,
}

/// What messages said, as far as it can be inferred.
#[derive(Default)]
struct Said {
    /// The election that each call belongs to.
    calls: BTreeMap<MessageKey, Wave>,
    /// The election and the claim of each report.
    reports: BTreeMap<MessageKey, (Wave, Claim)>,
}

/// On a ring: the processes that called an election while they were in none.
pub(super) fn on_ring(steps: &[Step]) -> BTreeMap<NodeId, Part> {
    let mut parts: BTreeMap<NodeId, Part> = BTreeMap::new();
    for step in steps {
        let part = parts.entry(step.node).or_default();
        part.claim = step.claim.or(part.claim);
        if step.cause == Cause::Life {
            part.engaged = false;
        }
        let by_itself = match step.cause {
            Cause::Call(_) | Cause::Answer(_) | Cause::Message => false,
            Cause::Command | Cause::Life => true,
            // A process in an election may resend a message, or send past a stopped process.
            Cause::Reach(..) | Cause::Itself => !part.engaged,
        };
        part.called |= by_itself && !step.calls.is_empty();
        part.engaged |= matches!(step.cause, Cause::Call(_)) || !step.calls.is_empty();
        part.engaged &= !step.settles;
    }
    parts
}

/// On a graph: the election tree.
pub(super) fn on_graph(graph: &Graph, steps: &[Step]) -> BTreeMap<NodeId, Part> {
    let mut parts: BTreeMap<NodeId, Part> = BTreeMap::new();
    let id = |node: u32| NodeId(u64::from(node));
    for &(a, b) in &graph.links {
        parts.entry(id(a)).or_default().peers.insert(id(b));
        parts.entry(id(b)).or_default().peers.insert(id(a));
    }
    let mut said = Said::default();
    for step in steps {
        parts.entry(step.node).or_default().take(step, &mut said);
    }
    parts
}

impl Part {
    fn take(&mut self, step: &Step, said: &mut Said) {
        self.claim = step.claim.or(self.claim);
        match step.cause {
            Cause::Life => {
                (self.parent, self.report, self.wave, self.best) = (None, None, None, None);
            }
            Cause::Reach(peer, true) => {
                self.peers.insert(peer);
            }
            Cause::Reach(peer, false) => {
                self.peers.remove(&peer);
            }
            Cause::Answer(key) => {
                let report = said.reports.get(&key).filter(|report| Some(report.0) == self.wave);
                self.best = self.best.max(report.map(|report| report.1));
            }
            Cause::Call(_) | Cause::Message | Cause::Command | Cause::Itself => {}
        }
        match step.cause {
            Cause::Call(key) if self.joins(key, step, said) => {
                self.begin(step.node, Some(key.0), said.calls.get(&key).copied());
            }
            _ if self.begins(step) => {
                self.called = true;
                self.waves += 1;
                self.begin(step.node, None, Some((step.node, self.waves)));
            }
            _ => {}
        }
        self.say(step, said);
    }

    /// Whether it takes part because of this call.
    fn joins(&self, call: MessageKey, step: &Step, said: &Said) -> bool {
        let from = call.0;
        let wave = said.calls.get(&call);
        if step.calls.is_empty() {
            let alone = self.peers.iter().all(|peer| *peer == from);
            let answers = step.answers.iter().any(|(to, _)| *to == from);
            return answers && alone && wave.copied() != self.wave;
        }
        // The last messages of a dead process make nobody its child.
        !step.calls.iter().any(|(to, _)| *to == from) && self.peers.contains(&from)
    }

    fn begins(&self, step: &Step) -> bool {
        let calls = |peer| step.calls.iter().any(|(to, _)| *to == peer);
        match self.parent {
            Some(parent) if self.peers.contains(&parent) => calls(parent),
            _ => !step.calls.is_empty(),
        }
    }

    fn begin(&mut self, me: NodeId, parent: Option<NodeId>, wave: Option<Wave>) {
        (self.parent, self.wave, self.report) = (parent, wave, None);
        self.best = self.claim.map(|weight| (weight, me));
    }

    /// Notes what the process says by its messages.
    fn say(&mut self, step: &Step, said: &mut Said) {
        let Some(wave) = self.wave else { return };
        said.calls.extend(step.calls.iter().map(|(_, key)| (*key, wave)));
        for (to, key) in &step.answers {
            if let (Some(best), true) = (self.best, self.parent == Some(*to)) {
                self.report = Some(best);
                said.reports.insert(*key, (wave, best));
            }
        }
    }
}
