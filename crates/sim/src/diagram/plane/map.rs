//! The contents of the picture: the processes at the end of the run, and who sent to whom.

use super::arrangement::Arrangement;
use super::steps::steps;
use super::tree::{self, Part};
use crate::diagram::story::{Belief, Phase, Story};
use crate::trace::believes;
use bellwether_core::{NodeId, Record, Stage};
use std::collections::BTreeMap;

/// A run without its times.
pub(super) struct Map {
    /// The process at each place of a ring, or with each number in a graph.
    pub(super) processes: Vec<Process>,
    /// Who sent to whom. Multicasts are not included.
    pub(super) hops: Vec<Hop>,
    /// How many messages of each kind were sent, in the order of first use.
    pub(super) totals: Vec<(String, u64)>,
}

/// One process at the end.
pub(super) struct Process {
    pub(super) id: NodeId,
    pub(super) presence: Presence,
    /// The colour index of the leader it follows.
    pub(super) follows: Option<usize>,
    pub(super) leads: bool,
    /// Its belief in words.
    pub(super) belief: String,
    pub(super) part: Part,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    There,
    /// It crashed.
    Down,
    /// It never started, or has left.
    Absent,
}

/// All messages of one kind from one process to another, by their places.
pub(super) struct Hop {
    pub(super) from: usize,
    pub(super) to: usize,
    /// An index into [`Story::kinds`].
    pub(super) kind: usize,
    pub(super) sent: u64,
    pub(super) received: u64,
}

impl Map {
    pub(super) fn of(records: &[&Record], story: &Story, arrangement: &Arrangement) -> Self {
        let id = |node: u32| NodeId(u64::from(node));
        let steps = steps(records);
        let (ids, mut parts): (Vec<NodeId>, _) = match arrangement {
            Arrangement::Ring { order, .. } => {
                (order.iter().copied().map(id).collect(), tree::on_ring(&steps))
            }
            Arrangement::Graph(graph) => {
                ((0..graph.nodes).map(id).collect(), tree::on_graph(graph, &steps))
            }
        };
        let places: BTreeMap<NodeId, usize> = ids.iter().copied().zip(0..).collect();
        let processes = ids
            .iter()
            .map(|id| Process::of(*id, story, parts.remove(id).unwrap_or_default()))
            .collect();
        let mut totals: Vec<(String, u64)> = Vec::new();
        for kind in story.messages.iter().map(|message| story.kind(message)) {
            match totals.iter_mut().find(|(known, _)| known == kind) {
                Some((_, total)) => *total += 1,
                None => totals.push((kind.to_owned(), 1)),
            }
        }
        Self { processes, hops: hops(story, &places), totals }
    }
}

impl Process {
    fn of(id: NodeId, story: &Story, part: Part) -> Self {
        let lane = story.lanes.binary_search_by_key(&id, |lane| lane.id);
        let lane = lane.ok().map(|place| &story.lanes[place]);
        let phase = lane.and_then(|lane| lane.phases.last()).map(|span| span.what);
        let presence = match phase {
            Some(Phase::Up | Phase::Paused) => Presence::There,
            Some(Phase::Down) => Presence::Down,
            Some(Phase::Absent) | None => Presence::Absent,
        };
        let belief = lane.and_then(|lane| lane.end.as_ref());
        let decided = belief.filter(|belief| belief.stage == Stage::Decided);
        let leader = decided.and_then(|belief| belief.leaders.first());
        let words = |what: &Belief| believes(id, &what.leaders, what.term, None, what.stage);
        Self {
            id,
            presence,
            follows: leader.and_then(|leader| story.leaders.get(leader).copied()),
            leads: decided.is_some_and(|belief| belief.leaders.contains(&id)),
            belief: match presence {
                Presence::There => belief.map_or_else(String::new, words),
                Presence::Down => "is down".to_owned(),
                Presence::Absent => "is not there".to_owned(),
            },
            part,
        }
    }
}

fn hops(story: &Story, places: &BTreeMap<NodeId, usize>) -> Vec<Hop> {
    let mut hops: BTreeMap<(usize, usize, usize), (u64, u64)> = BTreeMap::new();
    for message in &story.messages {
        let from = places.get(&story.lanes[message.lane].id);
        let to = message.to.and_then(|to| places.get(&to));
        if let (Some(&from), Some(&to), Some(kind)) = (from, to, message.kind)
            && from != to
        {
            let (sent, received) = hops.entry((kind, from, to)).or_default();
            *sent += 1;
            *received += u64::from(!message.received.is_empty());
        }
    }
    let hop = |((kind, from, to), (sent, received))| Hop { from, to, kind, sent, received };
    hops.into_iter().map(hop).collect()
}
