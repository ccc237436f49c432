//! The lecture's example of Hirschberg-Sinclair: phases 0 to 5.

use super::common::value_of;
use super::records::{count, elected, ends, ids, in_words};
use crate::figures::{Claim, Figure, Finding, Run};
use crate::inputs::usual;
use bellwether_core::{Event, Record, SimTime};
use bellwether_sim::{Order, ScenarioFile};
use std::collections::{BTreeMap, BTreeSet};

const RUN: Run = Run {
    scenario: "hirschberg-sinclair-phases",
    text: include_str!("../../../scenarios/hirschberg-sinclair-phases.toml"),
};
const PHASES: &str = "lecture, HS: election phases";

/// The figure.
pub(super) fn figure() -> Figure {
    Figure {
        title: "Hirschberg-Sinclair: phases 0 to 5 on a ring of 17",
        source: "lecture, HS: example, phases 0 to 5",
        says: "In phase k every candidate sends its id 2^k hops each way. Who is the greatest of \
            that neighbourhood gets both back and enters the next phase; fewer do from phase to \
            phase, until the id of one has gone all the way round.",
        choices: &[
            "The lecture's text does not have the ids of its six pictures. A ring of 17 is the \
             least with a phase 5; the order is ours, chosen so that candidates become fewer in \
             every phase but the last.",
            "The hop counter starts at 1; the lecture's, which starts at 0, goes one hop too far.",
            "Messages take .1 s; all begin at once.",
        ],
        run: Some(RUN),
        claims,
        ..Figure::BARE
    }
}

/// Who sent probes of its own in each phase, and when.
fn candidates(records: &[Record]) -> Vec<BTreeMap<u64, SimTime>> {
    let mut phases: Vec<BTreeMap<u64, SimTime>> = Vec::new();
    // A probe that follows upon a probe is passed on; another is one's own, and there are two.
    let (mut passing, mut own) = (BTreeSet::new(), BTreeMap::new());
    for record in records {
        let node = record.node.0;
        match &record.event {
            Event::Recv { message, .. } if message == "probe" => {
                passing.insert(node);
            }
            Event::Recv { .. } | Event::Command { .. } => {
                passing.remove(&node);
            }
            Event::Send { message, .. } if message == "probe" && !passing.contains(&node) => {
                let sent: &mut usize = own.entry(node).or_default();
                let phase = *sent / 2;
                *sent += 1;
                if phases.len() <= phase {
                    phases.resize_with(phase + 1, BTreeMap::new);
                }
                phases[phase].entry(node).or_insert(record.t);
            }
            _ => {}
        }
    }
    phases
}

/// Who is the greatest within so many places on both sides.
fn greatest(order: &[u32], reach: usize) -> BTreeSet<u64> {
    let n = order.len();
    let wins = |place: &usize| {
        let near = (1..=reach.min(n - 1)).flat_map(|hop| [place + hop, place + n - hop]);
        near.into_iter().all(|other| order[other % n] < order[*place])
    };
    (0..n).filter(wins).map(|place| u64::from(order[place])).collect()
}

/// The order of the ring, as the scenario lists it.
fn ring() -> Vec<u32> {
    match ScenarioFile::parse(RUN.text).map(|file| file.plan.order) {
        Ok(Order::Listed(order)) => order,
        _ => Vec::new(),
    }
}

fn claims(finding: &Finding) -> Vec<Claim> {
    let records = &finding.played().records;
    let phases = candidates(records);
    let numbers: Vec<usize> = phases.iter().map(BTreeMap::len).collect();
    let order = ring();
    let alive = ends(records);
    let leader = elected(records);
    let at = usual(alive.len() as u32, |_| ());
    let (sent, bound) = (count(records), value_of("hirschberg-sinclair.messages.bound", &at));
    let listed = numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    vec![
        Claim::judged(
            "There are phases 0 to 5.",
            "lecture, HS: example",
            phases.len() == 6,
            format!("candidates from phase 0 on: {listed}"),
        ),
        Claim::judged(
            "Fewer candidates proceed to higher phases, until there is one.",
            PHASES,
            numbers.windows(2).all(|pair| pair[1] <= pair[0])
                && numbers.first() > numbers.last()
                && numbers.last() == Some(&1),
            format!("candidates from phase 0 on: {listed}"),
        ),
        only_winners(&phases, &order),
        returns(&phases, leader),
        Claim::judged(
            "The process with the highest id is elected, and tells all others.",
            "lecture, HS: correctness",
            leader.is_some() && leader == alive.keys().last().copied(),
            format!("{} processes, and {}", alive.len(), in_words(leader)),
        ),
        Claim::judged(
            "It takes O(n log n) messages: at most 8n(1 + ⌈log₂ n⌉).",
            "lecture, HS: background",
            sent as f64 <= bound,
            format!("{sent} messages, the announcement included; at most {bound}"),
        ),
    ]
}

fn only_winners(phases: &[BTreeMap<u64, SimTime>], order: &[u32]) -> Claim {
    let right = |(phase, candidates): (usize, &BTreeMap<u64, SimTime>)| {
        let before = if phase == 0 { 0 } else { 1 << (phase - 1) };
        candidates.keys().copied().collect::<BTreeSet<_>>() == greatest(order, before)
    };
    let wrong: Vec<usize> =
        phases.iter().enumerate().filter(|pair| !right(*pair)).map(|(phase, _)| phase).collect();
    let in_words = |(phase, candidates): (usize, &BTreeMap<u64, SimTime>)| {
        format!("phase {phase}: {}", ids(candidates.keys()))
    };
    let said: Vec<String> = phases.iter().enumerate().skip(1).map(in_words).collect();
    let says = "Only the greatest of its 2^k-neighbourhood proceeds to phase k + 1.";
    Claim::judged(says, PHASES, wrong.is_empty() && phases.len() > 1, said.join("; "))
}

/// A phase of the one who leads lasts as long as 2^k hops and back take.
fn returns(phases: &[BTreeMap<u64, SimTime>], leader: Option<u64>) -> Claim {
    let begins =
        |phase: &BTreeMap<u64, SimTime>| leader.and_then(|leader| phase.get(&leader)).copied();
    let times: Vec<SimTime> = phases.iter().filter_map(begins).collect();
    let lasted: Vec<f64> =
        times.windows(2).map(|pair| pair[1].as_secs_f64() - pair[0].as_secs_f64()).collect();
    let hops: Vec<f64> = lasted.iter().map(|length| (length / 0.1).round()).collect();
    let holds = hops.len() + 1 == phases.len()
        && hops.iter().enumerate().all(|(phase, hops)| *hops == f64::from(2u32 << phase));
    let texts: Vec<String> = hops.iter().map(f64::to_string).collect();
    let because = format!("the phases of the leader last {} hops", texts.join(", "));
    Claim::judged("Tokens travel distance 2^k and return.", PHASES, holds, because)
}
