//! The lecture's figure 3-12: process 4 holds an election, and 6 wins it.

use super::common::value_of;
use super::records::{
    callers, count, counted, elected, ends, exchanged, ids, in_words, sent, since,
};
use crate::figures::{Claim, Figure, Finding, Run};
use crate::inputs::usual;

const RUN: Run =
    Run { scenario: "bully-3-12", text: include_str!("../../../scenarios/bully-3-12.toml") };

/// The figure.
pub(super) fn figure() -> Figure {
    Figure {
        title: "Bully: process 4 holds an election after 7 has crashed",
        source: "lecture, bully: the algorithm illustrated, figure 3-12",
        says: "The caption tells five steps: process 4 holds an election; 5 and 6 respond and tell \
            it to stop; 5 and 6 each hold an election; 6 tells 5 to stop; 6 wins and tells \
            everyone.",
        choices: &[
            "The lecture's text has the caption and not the picture. Eight processes, of which 7 \
             led and has crashed, are those of the book it is from.",
            "Messages take .1 s and an OK is waited for for .4 s; nobody is told of the crash.",
        ],
        run: Some(RUN),
        claims,
        ..Figure::BARE
    }
}

fn claims(finding: &Finding) -> Vec<Claim> {
    let all = &finding.played().records;
    let Some(&(called, caller)) = callers(all).last() else { return Vec::new() };
    let records = since(all, called);
    let (elections, oks) = (sent(records, "election"), sent(records, "ok"));
    let coordinators = sent(records, "coordinator");
    let by =
        |who: u64| elections.iter().copied().filter(|sent| sent.from == who).collect::<Vec<_>>();
    let to = |whom: u64| oks.iter().copied().filter(|sent| sent.to == whom).collect::<Vec<_>>();
    let others: Vec<_> = elections.iter().copied().filter(|sent| sent.from != caller).collect();
    let everyone: Vec<(u64, u64)> = (0..6).map(|other| (6, other)).collect();
    let leader = elected(records);
    let at = usual(8, |given| given.initiator = 4);
    let (section, alive) = ("figure 3-12", ends(all));
    vec![
        exchanged("(a) Process 4 holds an election.", section, &by(4), &[(4, 5), (4, 6), (4, 7)]),
        exchanged("(b) 5 and 6 respond, telling 4 to stop.", section, &to(4), &[(5, 4), (6, 4)]),
        exchanged(
            "(c) Now 5 and 6 each hold an election.",
            section,
            &others,
            &[(5, 6), (5, 7), (6, 7)],
        ),
        exchanged("(d) Process 6 tells 5 to stop.", section, &to(5), &[(6, 5)]),
        exchanged("(e) Process 6 wins and tells everyone.", section, &coordinators, &everyone),
        Claim::judged(
            "The living process with the highest id is elected.",
            "lecture, bully: background",
            leader.is_some() && leader == alive.keys().last().copied(),
            format!("{} live, and {}", ids(alive.keys()), in_words(leader)),
        ),
        counted(
            "It takes (k−1)² + N − 2 messages, k = N − i if process i calls.",
            "ours; the lecture leaves the count for exercise",
            &[count(records)],
            &[value_of("bully.messages.from", &at)],
        ),
    ]
}
