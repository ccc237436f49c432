//! The topology: which processes can reach each other.

use serde::{Deserialize, Serialize};

/// The links at the start of a run; they may change later ([`Fault::Link`](crate::Fault::Link)).
///
/// A ring is not a topology. It is an [order](crate::Order) of a group in which everyone can reach
/// everyone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Topology {
    /// One multicast group: everyone hears everyone.
    #[default]
    Group,
    /// Two processes reach each other if they have a link.
    Graph {
        /// The two ends of each link.
        links: Vec<(u32, u32)>,
    },
}

impl Topology {
    /// The largest process number in it.
    pub(crate) fn highest(&self) -> Option<u32> {
        match self {
            Self::Group => None,
            Self::Graph { links } => links.iter().map(|(a, b)| *a.max(b)).max(),
        }
    }

    /// The first of `nodes` processes that process 0 cannot reach, if there is one.
    pub(crate) fn unreached(&self, nodes: u32) -> Option<u32> {
        let Self::Graph { links } = self else { return None };
        let mut linked = vec![Vec::new(); nodes as usize];
        for &(a, b) in links.iter().filter(|(a, b)| *a.max(b) < nodes) {
            linked[a as usize].push(b);
            linked[b as usize].push(a);
        }
        let mut reached = vec![false; nodes as usize];
        let mut next = vec![0];
        while let Some(node) = next.pop() {
            if !std::mem::replace(&mut reached[node as usize], true) {
                next.extend(&linked[node as usize]);
            }
        }
        (0..nodes).find(|node| !reached[*node as usize])
    }

    /// A link from a process to itself, if there is one.
    pub(crate) fn loops(&self) -> Option<u32> {
        match self {
            Self::Group => None,
            Self::Graph { links } => links.iter().find(|(a, b)| a == b).map(|(a, _)| *a),
        }
    }
}

/// A component number for each of `nodes` processes: those connected by these links share one.
pub(crate) fn components(nodes: u32, links: impl Iterator<Item = (u32, u32)>) -> Vec<u32> {
    let mut root: Vec<u32> = (0..nodes).collect();
    fn find(root: &mut [u32], mut node: u32) -> u32 {
        while root[node as usize] != node {
            root[node as usize] = root[root[node as usize] as usize];
            node = root[node as usize];
        }
        node
    }
    for (a, b) in links {
        let (a, b) = (find(&mut root, a), find(&mut root, b));
        root[a as usize] = b;
    }
    (0..nodes).map(|node| find(&mut root, node)).collect()
}
