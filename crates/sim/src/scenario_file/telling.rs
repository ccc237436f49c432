//! What a scenario file tells its readers beside the run: captions, and what the run comes to.
//!
//! **Promise.** A run does not depend on either. What is stated can be compared with the
//! [`Ending`] of the run, and the first difference is named.

use crate::ending::Ending;
use bellwether_core::{Duration, NodeId};
use serde::{Deserialize, Serialize};

/// A sentence or two about what happens from this moment of a run on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Caption {
    /// From when on it is shown.
    pub at: Duration,
    /// What it says.
    pub text: String,
}

/// What a run comes to, as its file states it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct StatedOutcome {
    /// In words.
    pub text: String,
    /// Who leads at the end, in ascending order.
    pub leaders: Vec<u32>,
    /// How many lead at once at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_leaders: Option<u32>,
    /// How many messages are sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<u64>,
    /// The invariant that the judge finds broken; none if it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<String>,
}

impl StatedOutcome {
    /// The first difference to how the run ended, in words; `broken` is the invariant that the
    /// judge found broken.
    pub fn differs(&self, ending: &Ending, broken: Option<&str>) -> Option<String> {
        let Self { leaders, most_leaders, sent, broken: stated, .. } = self;
        let leaders: Vec<NodeId> = leaders.iter().map(|node| NodeId((*node).into())).collect();
        if leaders != ending.leaders {
            return Some(format!("{leaders:?} should lead, and {:?} do", ending.leaders));
        }
        if let Some(most) = most_leaders.filter(|most| *most as usize != ending.most_leaders) {
            return Some(format!("{most} should lead at once, and {} did", ending.most_leaders));
        }
        if let Some(sent) = sent.filter(|sent| *sent != ending.sent) {
            return Some(format!("{sent} messages should be sent, and {} were", ending.sent));
        }
        (stated.as_deref() != broken)
            .then(|| format!("{stated:?} should be broken, and {broken:?} is"))
    }
}

/// Whether captions come in order of time, and none after the end.
pub(super) fn in_order(captions: &[Caption], until: Duration) -> bool {
    captions.is_sorted_by_key(|caption| caption.at)
        && captions.last().is_none_or(|last| last.at <= until)
}
