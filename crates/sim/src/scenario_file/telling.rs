//! What a scenario file tells its readers beside the run: captions, and what the run comes to.
//!
//! **Promise.** A run does not depend on either. What is stated can be compared with the
//! [`Ending`] of the run, or of its part up to a caption, and the first difference is named.

use crate::ending::{Ending, EndingReader};
use bellwether_core::{Duration, Record, SimTime};
use serde::{Deserialize, Serialize};

/// A sentence or two about what happens from this moment of a run on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Caption {
    /// From when on it is shown.
    pub at: Duration,
    /// What it says.
    pub text: String,
    /// Who leads then, in ascending order, after all that happens at that instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaders: Option<Vec<u32>>,
    /// How many messages are sent by then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<u64>,
}

impl Caption {
    /// The first difference of what it states to the records of the run, in words.
    pub fn differs(&self, records: &[Record]) -> Option<String> {
        let Self { at, leaders, sent, .. } = self;
        let now = SimTime::ZERO + *at;
        let mut reader = EndingReader::default();
        records.iter().take_while(|record| record.t <= now).for_each(|record| reader.read(record));
        let so_far = reader.end(now);
        let lead = leaders.as_ref().and_then(|leaders| leaders_differ(leaders, &so_far));
        let difference = lead.or_else(|| sent.and_then(|sent| sent_differs(sent, &so_far)))?;
        Some(format!("at {at}, {difference}"))
    }
}

/// Who should lead, if others do.
fn leaders_differ(stated: &[u32], ending: &Ending) -> Option<String> {
    let stated: Vec<u64> = stated.iter().copied().map(u64::from).collect();
    let lead: Vec<u64> = ending.leaders.iter().map(|node| node.0).collect();
    (stated != lead).then(|| format!("{stated:?} should lead, and {lead:?} do"))
}

/// How many messages should be sent, if others are.
fn sent_differs(stated: u64, ending: &Ending) -> Option<String> {
    let sent = ending.sent;
    (stated != sent).then(|| format!("{stated} messages should be sent, and {sent} were"))
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
        if let Some(difference) = leaders_differ(leaders, ending) {
            return Some(difference);
        }
        if let Some(most) = most_leaders.filter(|most| *most as usize != ending.most_leaders) {
            return Some(format!("{most} should lead at once, and {} did", ending.most_leaders));
        }
        if let Some(difference) = sent.and_then(|sent| sent_differs(sent, ending)) {
            return Some(difference);
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
