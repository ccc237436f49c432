//! Who called an election, and on a graph the tree that grew from there, told from what everybody
//! did: the protocol's own words are not in the records.
//!
//! On a graph: whoever is called and thereupon calls others, but not the one who called it, has
//! that one for a parent; so has whoever answers and has nobody else to call. An answer to the
//! parent is a report of the best process in the subtree, an answer to anybody else a refusal.
//! Whoever calls its own parent, or calls though it has none any more, began an election itself.
//! Where messages are acknowledged hop by hop those acknowledgements look like answers; the last
//! one is the report all the same.

use super::arrangement::Graph;
use super::steps::{Cause, Letter, Step};
use bellwether_core::NodeId;
use std::collections::{BTreeMap, BTreeSet};

/// A claim to lead, and whose it is.
pub(super) type Claim = (u64, NodeId);

/// What one process did.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Part {
    /// Whether it ever called an election.
    pub(super) called: bool,
    /// Who called it to take part, in the last election it took part in.
    pub(super) parent: Option<NodeId>,
    /// What it reported to that one.
    pub(super) report: Option<Claim>,
    /// Its own claim.
    pub(super) claim: Option<u64>,
    /// The best it has heard of in that election.
    best: Option<Claim>,
    /// Whom it can talk to, as far as it was told.
    peers: BTreeSet<NodeId>,
    /// It is in an election.
    engaged: bool,
}

/// On a ring: who called an election while it was in none.
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
            // Who is in one sends again what may be lost, or past one that is gone.
            Cause::Reach(..) | Cause::Itself => !part.engaged,
        };
        part.called |= by_itself && !step.calls.is_empty();
        part.engaged |= matches!(step.cause, Cause::Call(_)) || !step.calls.is_empty();
        part.engaged &= !step.settles;
    }
    parts
}

/// On a graph: the tree.
pub(super) fn on_graph(graph: &Graph, steps: &[Step]) -> BTreeMap<NodeId, Part> {
    let mut parts: BTreeMap<NodeId, Part> = BTreeMap::new();
    let id = |node: u32| NodeId(u64::from(node));
    for &(a, b) in &graph.links {
        parts.entry(id(a)).or_default().peers.insert(id(b));
        parts.entry(id(b)).or_default().peers.insert(id(a));
    }
    let mut reports: BTreeMap<Letter, Claim> = BTreeMap::new();
    for step in steps {
        parts.entry(step.node).or_default().take(step, &mut reports);
    }
    parts
}

impl Part {
    fn take(&mut self, step: &Step, reports: &mut BTreeMap<Letter, Claim>) {
        self.claim = step.claim.or(self.claim);
        match step.cause {
            Cause::Life => (self.parent, self.report, self.best) = (None, None, None),
            Cause::Reach(peer, true) => {
                self.peers.insert(peer);
            }
            Cause::Reach(peer, false) => {
                self.peers.remove(&peer);
            }
            Cause::Answer(letter) => self.best = self.best.max(reports.get(&letter).copied()),
            Cause::Call(_) | Cause::Message | Cause::Command | Cause::Itself => {}
        }
        match step.cause {
            Cause::Call(from) if self.joins(from, step) => self.begin(step.node, Some(from)),
            _ if self.begins(step) => {
                self.called = true;
                self.begin(step.node, None);
            }
            _ => {}
        }
        for (to, letter) in &step.answers {
            if let (Some(best), true) = (self.best, self.parent == Some(*to)) {
                self.report = Some(best);
                reports.insert(*letter, best);
            }
        }
    }

    /// Whether it takes part because this one called it.
    fn joins(&self, from: NodeId, step: &Step) -> bool {
        let alone = || self.peers.iter().all(|peer| *peer == from);
        let answers = || step.answers.iter().any(|(to, _)| *to == from);
        match step.calls.as_slice() {
            [] => answers() && alone(),
            // What the dead said last makes nobody a child of theirs.
            calls => !calls.contains(&from) && self.peers.contains(&from),
        }
    }

    fn begins(&self, step: &Step) -> bool {
        match self.parent {
            Some(parent) if self.peers.contains(&parent) => step.calls.contains(&parent),
            _ => !step.calls.is_empty(),
        }
    }

    fn begin(&mut self, me: NodeId, parent: Option<NodeId>) {
        self.parent = parent;
        self.report = None;
        self.best = self.claim.map(|weight| (weight, me));
    }
}
