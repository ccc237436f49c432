//! The partition that a member belongs to, where leaders are local.

use bellwether_core::NodeId;
use serde::{Deserialize, Serialize};

/// The members that support one leader, itself included, as that leader told them.
///
/// Partitions of two leaders never overlap. A leader's partition has at least all members that it
/// has been connected with for a while.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partition {
    /// Its number, which grows with every change of this member's partition for as long as the
    /// member runs. To all members of one leader it means the same partition. Two sides of a cut
    /// count on from the number that they had together.
    pub version: u64,
    /// The leader.
    pub leader: NodeId,
    /// The members, in order.
    pub members: Vec<NodeId>,
}

impl Partition {
    /// Whether this is the partition with that number and leader.
    pub(crate) fn is(&self, version: u64, leader: NodeId) -> bool {
        (self.version, self.leader) == (version, leader)
    }
}
