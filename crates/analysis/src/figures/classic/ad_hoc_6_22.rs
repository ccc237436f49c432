//! The lecture's figure 6.22: a tree grows over a network and reports the best node.

use super::common::value_of;
use super::records::{Sent, callers, counted, elected, ends, senders, sent};
use crate::figures::{Claim, Figure, Finding, Run};
use crate::inputs::usual;
use bellwether_core::{Event, Record, SimTime};
use std::collections::{BTreeMap, BTreeSet};

const RUN: Run =
    Run { scenario: "ad-hoc-6-22", text: include_str!("../../../scenarios/ad-hoc-6-22.toml") };

/// The figure's name of each process, by number.
const NAMES: [&str; 10] = ["e", "d", "g", "c", "a", "f", "j", "i", "b", "h"];
const SECTION: &str = "figure 6.22";
const IN_WORDS: &str = "lecture, MAH: the algorithm in words";

/// The figure.
pub(super) fn figure() -> Figure {
    Figure {
        title: "An ad hoc network: a tree grows from node 4 (a) and reports the best, 9 (h)",
        source: "lecture, MAH: the algorithm illustrated, figure 6.22",
        says: "Node a calls an election. In four steps a tree is built; the last step, in which f \
            and i broadcast, is not drawn in the lecture any more. Then the best node is reported \
            to the source.",
        choices: &[
            "The lecture's text has the caption and not the picture: the links and the capacities \
             are ours, chosen so that the caption can hold.",
            "The picture has numbers, by capacity, where the lecture has letters: e = 0, d = 1, g \
             = 2, c = 3, a = 4, f = 5, j = 6, i = 7, b = 8, h = 9. Below each stands with both.",
            "Messages take 10 ms, and one to each neighbour stands for a broadcast. The Leader \
             message, which the lecture leaves out, goes down the tree.",
        ],
        run: Some(RUN),
        claims,
        ..Figure::BARE
    }
}

/// The lecture's name of a process.
fn name(id: u64) -> &'static str {
    usize::try_from(id).ok().and_then(|id| NAMES.get(id)).unwrap_or(&"?")
}

/// Processes by the lecture's names, in their order, and by the numbers of the picture.
fn names<'a>(ids: impl IntoIterator<Item = &'a u64>) -> String {
    let mut names: Vec<(&str, u64)> = ids.into_iter().map(|id| (name(*id), *id)).collect();
    names.sort_unstable();
    let both: Vec<String> = names.iter().map(|(name, id)| format!("{name} ({id})")).collect();
    if both.is_empty() { "nobody".to_owned() } else { both.join(", ") }
}

/// What was received: when, by whom, from whom.
fn received(records: &[Record], kind: &str) -> Vec<(SimTime, u64, u64)> {
    let one = |record: &Record| match &record.event {
        Event::Recv { from, message, .. } if message == kind => {
            Some((record.t, record.node.0, from.0))
        }
        _ => None,
    };
    records.iter().filter_map(one).collect()
}

fn claims(finding: &Finding) -> Vec<Claim> {
    let records = &finding.played().records;
    let (elections, acks) = (sent(records, "election"), sent(records, "ack"));
    let leaders = sent(records, "leader");
    let heard = received(records, "election");
    let mut parents: BTreeMap<u64, u64> = BTreeMap::new();
    for (_, node, from) in &heard {
        parents.entry(*node).or_insert(*from);
    }
    let sources: Vec<u64> = callers(records).iter().map(|(_, id)| *id).collect();
    sources.iter().for_each(|source| {
        parents.remove(source);
    });
    let links: BTreeSet<(u64, u64)> =
        elections.iter().map(|s| (s.from.min(s.to), s.from.max(s.to))).collect();
    let processes = ends(records).len();
    let at = usual(processes as u32, |given| given.links = Some(links.len() as u64));
    let forms =
        ["election", "ack", "leader"].map(|kind| value_of(&format!("ad-hoc.messages.{kind}"), &at));
    vec![
        built(&elections, &sources),
        grown(&elections, &links, &parents, processes),
        answered(&heard, &acks, &parents),
        reported(records, &sources),
        alone(records, &leaders, processes),
        counted(
            "It takes 2E − V + 1 Election messages, as many acknowledgements, and V − 1 that tell.",
            "ours; the lecture has no count",
            &[elections.len(), acks.len(), leaders.len()],
            &forms,
        ),
    ]
}

fn built(elections: &[Sent], sources: &[u64]) -> Claim {
    let steps: BTreeSet<SimTime> = elections.iter().map(|sent| sent.at).collect();
    let in_step = |step: &SimTime| {
        let in_it: Vec<Sent> = elections.iter().copied().filter(|sent| sent.at == *step).collect();
        names(&senders(&in_it))
    };
    let told: Vec<String> = steps.iter().map(in_step).collect();
    let in_last = elections.iter().filter(|sent| Some(&sent.at) == steps.last());
    let last: BTreeSet<&str> = in_last.map(|sent| name(sent.from)).collect();
    let last: Vec<&str> = last.into_iter().collect();
    let holds =
        sources.iter().map(|id| name(*id)).eq(["a"]) && told.len() == 5 && last == ["f", "i"];
    let because = format!("they broadcast in this order: {}", told.join("; "));
    let says = "The tree is built from node a (4) in four steps, and a last one in which f (5) and \
                i (7) broadcast.";
    Claim::judged(says, SECTION, holds, because)
}

fn grown(
    elections: &[Sent],
    links: &BTreeSet<(u64, u64)>,
    parents: &BTreeMap<u64, u64>,
    processes: usize,
) -> Claim {
    let passes_on = |(node, parent): (&u64, &u64)| {
        let near = links.iter().filter_map(|(a, b)| match () {
            () if a == node => Some(*b),
            () if b == node => Some(*a),
            () => None,
        });
        let others: BTreeSet<u64> = near.filter(|peer| peer != parent).collect();
        let told = elections.iter().filter(|sent| sent.from == *node).map(|sent| sent.to);
        told.collect::<BTreeSet<_>>() == others
    };
    let good = parents.iter().filter(|pair| passes_on(*pair)).count();
    let because = format!("{good} of {} did, all but the source", processes.saturating_sub(1));
    let says = "A process that hears of the election takes the sender as its parent, and writes \
                to all its other neighbours.";
    Claim::judged(says, IN_WORDS, good > 0 && good + 1 == processes, because)
}

fn answered(heard: &[(SimTime, u64, u64)], acks: &[Sent], parents: &BTreeMap<u64, u64>) -> Claim {
    let answer = |node: u64, to: u64| acks.iter().find(|ack| ack.from == node && ack.to == to);
    let is_parent = |node: u64, from: u64| parents.get(&node) == Some(&from);
    let (to_parents, to_others): (Vec<_>, Vec<_>) =
        heard.iter().partition(|(_, node, from)| is_parent(*node, *from));
    let at_once = to_others
        .iter()
        .filter(|(time, node, from)| answer(*node, *from).is_some_and(|ack| ack.at == *time))
        .count();
    let last = to_parents
        .iter()
        .filter(|(_, node, from)| {
            let of_node = acks.iter().rfind(|ack| ack.from == *node);
            of_node.is_some_and(|ack| ack.to == *from)
        })
        .count();
    let because = format!(
        "{at_once} of {} were answered at once; {last} of {} parents had the last answer",
        to_others.len(),
        to_parents.len()
    );
    let says = "An Election of another than the parent is merely acknowledged; the parent's is \
                when all acknowledgements are there.";
    let holds = at_once == to_others.len() && last == to_parents.len() && last > 0;
    Claim::judged(says, IN_WORDS, holds, because)
}

fn reported(records: &[Record], sources: &[u64]) -> Claim {
    let names_one = |record: &&Record| match &record.event {
        Event::Leadership { leaders, .. } => !leaders.is_empty(),
        _ => false,
    };
    let first = records.iter().find(names_one).map(|record| (record.t, record.node.0));
    let (leader, best) = (elected(records), NAMES.len() as u64 - 1);
    let holds = first.is_some_and(|(_, node)| sources == [node]) && leader == Some(best);
    let because = format!(
        "first to name a leader: {}; in the end all name {}, whose capacity is the greatest: {}",
        first.map_or("nobody".to_owned(), |(t, id)| {
            format!("{} at {} s", names([&id]), t.as_secs_f64())
        }),
        names(&leader),
        names([&best])
    );
    Claim::judged("(f) The best node is reported to the source.", SECTION, holds, because)
}

/// Who knows the leader before the first message that the lecture does not have.
fn alone(records: &[Record], leaders: &[Sent], processes: usize) -> Claim {
    let before = |record: &&Record| leaders.first().is_none_or(|told| record.t <= told.at);
    let before: Vec<Record> = records.iter().filter(before).cloned().collect();
    let know: Vec<u64> = ends(&before)
        .into_iter()
        .filter(|(_, named)| !named.is_empty())
        .map(|(id, _)| id)
        .collect();
    let because = format!(
        "when all acknowledgements are there {} of {processes} know who leads: {}; {} Leader \
         messages tell the others",
        know.len(),
        names(&know),
        leaders.len()
    );
    let says = "Election and Acknowledgement are all the messages it takes.";
    Claim::judged(says, "lecture, MAH: message types", know.len() == processes, because)
}
