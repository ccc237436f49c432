//! The lecture's figure 6.21: two elections at once on a ring.

use super::common::value_of;
use super::records::{callers, counted, elected, ends, ids, in_words, sent};
use crate::figures::{Claim, Figure, Finding, Run};
use crate::inputs::usual;
use std::collections::BTreeMap;

const RUN: Run =
    Run { scenario: "ring-6-21", text: include_str!("../../../scenarios/ring-6-21.toml") };

/// The figure.
pub(super) fn figure() -> Figure {
    Figure {
        title: "A ring that collects ids: processes 6 and 3 hold elections at once",
        source: "lecture, LCR: the algorithm illustrated, figure 6.21",
        says: "The election messages of P_6 and of P_3 go round at the same time. Each collects \
            the ids of all who live; then the caller sends the result round once.",
        choices: &[
            "The lecture's text has the caption and not the picture. Eight processes in a row, of \
             which 7 has crashed, are those of the book it is from.",
            "Messages take .1 s; everyone knows at once that 7 is dead.",
        ],
        run: Some(RUN),
        claims,
        ..Figure::BARE
    }
}

fn claims(finding: &Finding) -> Vec<Claim> {
    let records = &finding.played().records;
    let (elections, coordinators) = (sent(records, "election"), sent(records, "coordinator"));
    let alive: Vec<u64> = ends(records).keys().copied().collect();
    let next = |id: u64| alive.iter().find(|peer| **peer > id).or(alive.first()).copied();
    let mut passed: BTreeMap<u64, usize> = alive.iter().map(|id| (*id, 0)).collect();
    for message in &elections {
        *passed.entry(message.from).or_default() += 1;
    }
    let astray: Vec<_> =
        elections.iter().filter(|message| next(message.from) != Some(message.to)).collect();
    let called = callers(records);
    let at_once = called.windows(2).all(|pair| pair[0].0 == pair[1].0);
    let callers: Vec<u64> = called.iter().map(|(_, id)| *id).collect();
    let at = usual(alive.len() as u32, |given| given.initiators = Some(called.len() as u32));
    let leader = elected(records);
    vec![
        Claim::judged(
            "The election messages of P_6 and P_3 both go round, at the same time.",
            "figure 6.21",
            at_once && callers == [3, 6] && passed.values().all(|count| *count == 2),
            format!(
                "called by {}; Election messages sent by each who lives: {}",
                ids(&callers),
                passed.iter().map(|(id, n)| format!("{id}: {n}")).collect::<Vec<_>>().join(", ")
            ),
        ),
        Claim::judged(
            "A message goes to the closest clockwise neighbour that lives.",
            "lecture, LCR: the algorithm in words",
            astray.is_empty() && !elections.is_empty(),
            format!(
                "{} Election messages, {} of them to another; 6 wrote to {}",
                elections.len(),
                astray.len(),
                ids(elections.iter().find(|message| message.from == 6).map(|message| &message.to))
            ),
        ),
        Claim::judged(
            "The caller picks the highest id of the live processes, and all come to know it.",
            "lecture, LCR: the algorithm in words",
            leader.is_some() && leader == alive.last().copied(),
            format!("{} live, and {}", ids(&alive), in_words(leader)),
        ),
        counted(
            "An election takes 2N messages, N of them to elect and N to tell; two take twice that.",
            "lecture, LCR: message complexity",
            &[elections.len() + coordinators.len(), coordinators.len()],
            &[value_of("ring.messages", &at), value_of("ring.messages", &at) / 2.0],
        ),
    ]
}
