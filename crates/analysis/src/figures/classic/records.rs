//! What the records of a run tell, as claims ask for it.

use crate::figures::Claim;
use bellwether_core::{Event, Record, SimTime};
use std::collections::{BTreeMap, BTreeSet};

/// A message on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sent {
    pub(super) at: SimTime,
    pub(super) from: u64,
    pub(super) to: u64,
}

/// All messages of a kind to one process, in order of sending.
pub(super) fn sent(records: &[Record], kind: &str) -> Vec<Sent> {
    let one = |record: &Record| match &record.event {
        Event::Send { to: Some(to), message, .. } if message == kind => {
            Some(Sent { at: record.t, from: record.node.0, to: to.0 })
        }
        _ => None,
    };
    records.iter().filter_map(one).collect()
}

/// How many messages of any kind were sent.
pub(super) fn count(records: &[Record]) -> usize {
    records.iter().filter(|record| matches!(record.event, Event::Send { .. })).count()
}

/// Who was asked to hold an election, and when.
pub(super) fn callers(records: &[Record]) -> Vec<(SimTime, u64)> {
    let asked = |record: &&Record| matches!(record.event, Event::Command { .. });
    records.iter().filter(asked).map(|record| (record.t, record.node.0)).collect()
}

/// What happened from then on.
pub(super) fn since(records: &[Record], time: SimTime) -> &[Record] {
    &records[records.partition_point(|record| record.t < time)..]
}

/// Whom each process that did not crash names in the end.
pub(super) fn ends(records: &[Record]) -> BTreeMap<u64, Vec<u64>> {
    let mut ends = BTreeMap::new();
    for record in records {
        match &record.event {
            Event::Leadership { leaders, .. } => {
                ends.insert(record.node.0, leaders.iter().map(|leader| leader.0).collect());
            }
            Event::Crash => {
                ends.remove(&record.node.0);
            }
            _ => {}
        }
    }
    ends
}

/// The one whom all name in the end, if there is one.
pub(super) fn elected(records: &[Record]) -> Option<u64> {
    let ends = ends(records);
    let mut named = ends.values();
    let leader = match named.next()?.as_slice() {
        [leader] => *leader,
        _ => return None,
    };
    named.all(|leaders| *leaders == [leader]).then_some(leader)
}

/// That one in words.
pub(super) fn in_words(elected: Option<u64>) -> String {
    elected.map_or_else(|| "they name no common leader".to_owned(), |id| format!("all name {id}"))
}

/// Processes, in words.
pub(super) fn ids<'a>(ids: impl IntoIterator<Item = &'a u64>) -> String {
    let ids: Vec<String> = ids.into_iter().map(u64::to_string).collect();
    if ids.is_empty() { "nobody".to_owned() } else { ids.join(", ") }
}

/// The senders of these messages.
pub(super) fn senders(messages: &[Sent]) -> BTreeSet<u64> {
    messages.iter().map(|message| message.from).collect()
}

/// Claims that these messages went from whom to whom they should, and no others.
pub(super) fn exchanged(
    says: &'static str,
    section: &'static str,
    messages: &[Sent],
    expected: &[(u64, u64)],
) -> Claim {
    let pairs: Vec<(u64, u64)> = messages.iter().map(|sent| (sent.from, sent.to)).collect();
    let holds = pairs.len() == expected.len()
        && pairs.iter().collect::<BTreeSet<_>>() == expected.iter().collect();
    let pair = |sent: &Sent| format!("{} → {} at {} s", sent.from, sent.to, sent.at.as_secs_f64());
    let because = match messages {
        [] => "nothing of the kind was sent".to_owned(),
        messages => messages.iter().map(pair).collect::<Vec<_>>().join(", "),
    };
    Claim::judged(says, section, holds, because)
}

/// Claims that as many messages were sent as a formula says.
pub(super) fn counted(
    says: &'static str,
    section: &'static str,
    found: &[usize],
    formula: &[f64],
) -> Claim {
    let holds = found.len() == formula.len()
        && found.iter().zip(formula).all(|(found, formula)| *found as f64 == *formula);
    let texts: Vec<String> = found.iter().map(usize::to_string).collect();
    let forms: Vec<String> = formula.iter().map(f64::to_string).collect();
    let because = format!("{} sent; by the formula {}", texts.join(", "), forms.join(", "));
    Claim::judged(says, section, holds, because)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Verdict;
    use bellwether_core::{NodeId, Stage};

    fn at(second: u64, node: u64, event: Event) -> Record {
        Record { t: SimTime::from_nanos(second * 1_000_000_000), node: NodeId(node), event }
    }

    fn names(second: u64, node: u64, leader: u64) -> Record {
        let leaders = vec![NodeId(leader)];
        at(
            second,
            node,
            Event::Leadership { leaders, term: None, until: None, stage: Stage::Decided },
        )
    }

    fn sends(second: u64, node: u64, to: u64) -> Record {
        at(second, node, Event::Send { to: Some(NodeId(to)), message: "ok".into(), number: 0 })
    }

    #[test]
    fn only_the_living_must_agree() {
        let mut run = vec![names(0, 0, 1), names(0, 1, 1), names(1, 2, 2)];
        assert_eq!(elected(&run), None);
        run.push(at(2, 2, Event::Crash));
        assert_eq!(elected(&run), Some(1));
        run.push(names(3, 0, 0));
        assert_eq!(elected(&run), None);
        assert_eq!(elected(&[]), None);
    }

    #[test]
    fn a_message_too_many_or_elsewhere_refutes() {
        let run = [sends(0, 5, 4), sends(1, 6, 4)];
        let verdict = |expected: &[(u64, u64)]| {
            exchanged("They answer.", "(b)", &sent(&run, "ok"), expected).verdict
        };
        assert_eq!(verdict(&[(6, 4), (5, 4)]), Verdict::Confirmed);
        for wrong in [&[(5, 4)][..], &[(5, 4), (6, 5)], &[(5, 4), (6, 4), (7, 4)], &[]] {
            assert_eq!(verdict(wrong), Verdict::Refuted, "{wrong:?}");
        }
        assert_eq!(since(&run, SimTime::from_nanos(1)).len(), 1);
    }
}
