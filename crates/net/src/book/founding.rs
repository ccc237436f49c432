//! What all members of a group have in common, as a joining process learns it.

use crate::peers::Peers;
use crate::settings::terms_with;
use bellwether_core::NodeId;
use serde::{Deserialize, Serialize};

/// The founding list, its voters, and the parameters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Founding {
    /// The members, as text.
    pub(crate) list: String,
    /// Those that vote at first, unless all do.
    #[serde(default)]
    pub(crate) voters: Option<Vec<u64>>,
    /// The parameters of the protocol, as they are recorded.
    pub(crate) params: String,
}

impl Founding {
    /// The list; `None` if the text is none.
    pub(crate) fn peers(&self) -> Option<Peers> {
        self.list.parse().ok().filter(Peers::is_list)
    }

    /// The ids of the list.
    pub(super) fn ids(&self) -> Vec<NodeId> {
        match self.peers() {
            Some(Peers::Listed(list)) => list.into_keys().collect(),
            _ => Vec::new(),
        }
    }

    /// The text of what members must agree on, with these terms of the protocol.
    pub(crate) fn terms(&self, terms: &str) -> String {
        let of = |ids: &Vec<u64>| ids.iter().copied().map(NodeId).collect::<Vec<_>>();
        terms_with(terms, self.voters.as_ref().map(of).as_deref())
    }

    /// Whether two groups have the same founding list. Parameters may change while all are stopped.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        (&self.list, &self.voters) == (&other.list, &other.voters)
    }
}
