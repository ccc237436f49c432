//! Which processes are connected: in both directions, with timely messages.
//!
//! Fetzer and Cristian, section IV: a *stable partition* is a set of processes that are all
//! connected with each other and with no other process. Section X: a *maximum connected set* is one
//! in which all are linked by some path, and none is linked to a process outside.

use crate::nodes::Nodes;

/// Which processes are connected. Always symmetric and reflexive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Links(Vec<Nodes>);

impl Links {
    /// All processes are connected.
    pub fn all(nodes: u32) -> Self {
        Self(vec![Nodes::first(nodes); nodes as usize])
    }

    /// Each process is connected only with itself.
    pub fn none(nodes: u32) -> Self {
        Self((0..nodes).map(Nodes::only).collect())
    }

    /// The number of processes.
    pub fn len(&self) -> u32 {
        self.0.len() as u32
    }

    /// Whether there are no processes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Connects two processes.
    pub fn join(&mut self, a: u32, b: u32) {
        self.0[a as usize].set(b, true);
        self.0[b as usize].set(a, true);
    }

    /// The processes connected with this one, including itself.
    pub fn of(&self, node: u32) -> Nodes {
        self.0.get(node as usize).copied().unwrap_or_default()
    }

    /// The maximum connected sets among these processes.
    pub fn parts(&self, among: Nodes) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut left = among;
        while let Some(first) = left.least() {
            let mut members = Nodes::only(first);
            loop {
                let reach = members.iter().fold(members, |all, node| all.or(self.of(node)));
                let more = reach.and(among);
                if more == members {
                    break;
                }
                members = more;
            }
            let clique = members.iter().all(|node| self.of(node).holds(members));
            parts.push(Part { members, clique });
            left = left.without(members);
        }
        parts
    }
}

/// A maximum connected set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its processes.
    pub members: Nodes,
    /// Whether all are directly connected, which makes it a stable partition.
    pub clique: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_what_is_connected_by_some_path() {
        let mut links = Links::none(6);
        [(0, 1), (1, 2), (3, 4)].into_iter().for_each(|(a, b)| links.join(a, b));
        let set = |nodes: &[u32]| nodes.iter().copied().collect::<Nodes>();
        let parts = links.parts(Nodes::first(6));
        let found: Vec<_> = parts.iter().map(|part| (part.members, part.clique)).collect();
        assert_eq!(found, [(set(&[0, 1, 2]), false), (set(&[3, 4]), true), (set(&[5]), true)]);
        let without_the_middle = links.parts(set(&[0, 2]));
        assert_eq!(without_the_middle.len(), 2, "a path through the dead is none");
        assert_eq!(Links::all(3).parts(Nodes::first(3)).len(), 1);
    }
}
