//! Ad hoc networks: a tree is built over the links, reports the best process, and tells the leader.
//!
//! V processes, E links, all connected; one calls.
//!
//! * Election: 2E − V + 1. A process that joins writes to all neighbours but its parent:
//!   both ends of every link, but for the V−1 links of the tree, on which only one does.
//! * Ack: as many; each Election is answered, at once or when the subtree is done.
//! * Leader: V − 1, down the tree. The lecture has no such message, so it counts none: without it
//!   nobody but the source knows who leads.
//! * In all 4E − V + 1.
//!
//! Counts are per link. A radio reaches all neighbours with one broadcast, so the Election phase
//! would take V broadcasts. By default there are two links for each process, but no more than there
//! are pairs, as in simulations.
//!
//! **Time.** The tree is as deep as the network is from its source if all messages take the same
//! time: d hops down, d up, d down with the news, and 2 more if the last to join have neighbours
//! that must answer them: 3dΔ to (3d+2)Δ. If everyone has a link to everyone, d = 1 and it is 5Δ;
//! for two 3Δ.

use super::count::{MESSAGES, TIME, group, whole};
use super::point_of;
use crate::inputs::{OutOfDomain, ValidInputs};
use crate::point::{Point, usual_links};
use crate::quantity::Quantity;
use bellwether_sim::{Measure, Terrain};

/// V and E.
fn graph(inputs: &ValidInputs) -> Result<(u128, u128), OutOfDomain> {
    let nodes = group(inputs)?;
    let complete = u64::from(inputs.nodes) * u64::from(inputs.nodes - 1) / 2;
    let (value, least) =
        (inputs.links.unwrap_or(usual_links(inputs.nodes)), u64::from(inputs.nodes - 1));
    if (least..=complete).contains(&value) {
        return Ok((nodes, u128::from(value)));
    }
    let why = "fewer do not connect all processes, and no two have more than one link";
    Err(OutOfDomain::Count { name: "links", value, least, most: complete, why })
}

/// Election messages, and as many acknowledgements.
///
/// # Errors
/// [`OutOfDomain`] with losses, for one process alone, and for so many links as cannot be.
pub fn elections(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let (nodes, links) = graph(inputs)?;
    Ok(whole(2 * links - nodes + 1))
}

/// Leader messages; they need no links but the tree's.
///
/// # Errors
/// As [`elections`].
pub fn leaders(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let (nodes, _) = graph(inputs)?;
    Ok(whole(nodes - 1))
}

/// All messages.
///
/// # Errors
/// As [`elections`].
pub fn total(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let (nodes, links) = graph(inputs)?;
    Ok(whole(4 * links - nodes + 1))
}

/// How long it takes until all know the leader, if everyone has a link to everyone.
///
/// # Errors
/// [`OutOfDomain`] with losses, and for one process alone.
pub fn time(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let hops = if group(inputs)? == 2 { 3.0 } else { 5.0 };
    Ok(hops * inputs.delay)
}

/// On a random network with so many links.
fn simulation(inputs: &ValidInputs) -> Option<Point> {
    let (_, links) = graph(inputs).ok()?;
    let mut point = point_of("ad-hoc", inputs).runs(10);
    point.initiation.terrain = Terrain::Random { links: links as usize };
    Some(point)
}

/// The quantities of this file.
pub(super) const QUANTITIES: &[&Quantity] = &[&ELECTION, &ACK, &LEADER, &TOTAL, &ELECTION_TIME];

const ELECTION: Quantity = Quantity {
    name: "ad-hoc.messages.election",
    section: "lecture, MAH: the algorithm in words",
    about: "Election messages on a network of V processes and E links, one calling",
    reads: &["nodes", "loss", "links"],
    printed: |_| Err(OutOfDomain::NoValue("the lecture has no count")),
    corrected: elections,
    note: |_| "2E - V + 1: both ways over every link, but one way over those of the tree",
    simulation: |inputs| Some((simulation(inputs)?, Measure::MessagesOf("election"))),
    ..MESSAGES
};

const ACK: Quantity = Quantity {
    name: "ad-hoc.messages.ack",
    about: "acknowledgements on a network of V processes and E links, one calling",
    note: |_| "2E - V + 1: every Election message is answered",
    simulation: |inputs| Some((simulation(inputs)?, Measure::MessagesOf("ack"))),
    ..ELECTION
};

const LEADER: Quantity = Quantity {
    name: "ad-hoc.messages.leader",
    about: "Leader messages on a network of V processes, one calling",
    reads: &["nodes", "loss"],
    printed: |inputs| leaders(inputs).map(|_| 0.0),
    corrected: |inputs| Ok(whole(group(inputs)? - 1)),
    note: |_| "printed: the lecture has no such message, and only the source learns who leads",
    simulation: |inputs| Some((simulation(inputs)?, Measure::MessagesOf("leader"))),
    ..ELECTION
};

const TOTAL: Quantity = Quantity {
    name: "ad-hoc.messages.total",
    about: "all messages on a network of V processes and E links, one calling",
    corrected: total,
    note: |_| "4E - V + 1, counted per link; E = 2V, or every pair, unless links are given",
    simulation: |inputs| Some((simulation(inputs)?, Measure::Messages)),
    ..ELECTION
};

const ELECTION_TIME: Quantity = Quantity {
    name: "ad-hoc.time",
    section: "lecture, MAH: the algorithm in words",
    about: "until all know the leader if everyone has a link to everyone, one calling",
    reads: &["nodes", "loss", "delay"],
    corrected: time,
    note: |_| "5 hops; in any network of depth d from its source, 3d to 3d + 2",
    simulation: |inputs| {
        group(inputs).ok()?;
        let mut point = point_of("ad-hoc", inputs).runs(2);
        point.initiation.terrain = Terrain::Complete;
        Some((point, Measure::Time))
    },
    ..TIME
};

#[cfg(test)]
mod tests {
    use super::super::testing::inputs;
    use super::*;
    use bellwether_sim::coin::{RunSeed, StreamPurpose};
    use bellwether_sim::graph;
    use std::collections::VecDeque;

    /// Election, Ack and Leader messages from process 0 over these links, in order of sending.
    fn held(nodes: usize, links: &[(u32, u32)]) -> [u64; 3] {
        let mut near = vec![Vec::new(); nodes];
        for &(a, b) in links {
            near[a as usize].push(b as usize);
            near[b as usize].push(a as usize);
        }
        let (mut joined, mut sent) = (vec![false; nodes], [0; 3]);
        joined[0] = true;
        let mut elections: VecDeque<(usize, usize)> = near[0].iter().map(|to| (0, *to)).collect();
        while let Some((from, to)) = elections.pop_front() {
            sent[0] += 1;
            sent[1] += 1; // at once, or when its subtree is done
            if !std::mem::replace(&mut joined[to], true) {
                sent[2] += 1; // from its parent, in the end
                let others = near[to].iter().filter(|peer| **peer != from);
                elections.extend(others.map(|peer| (to, *peer)));
            }
        }
        sent
    }

    #[test]
    fn on_every_graph_it_is_what_is_sent_link_by_link() {
        let mut luck = RunSeed::new(6, 0).world(StreamPurpose::Caller(9));
        for nodes in [2u32, 3, 7, 30] {
            let most = nodes * (nodes - 1) / 2;
            for links in
                [nodes - 1, nodes, 2 * nodes, most].map(|links| links.clamp(nodes - 1, most))
            {
                let drawn = graph::connected(nodes, links as usize, &mut luck);
                let sent = held(nodes as usize, &drawn).map(|count| count as f64);
                let at = inputs(nodes, |given| given.links = Some(u64::from(links)));
                assert_eq!(elections(&at), Ok(sent[0]));
                assert_eq!(((ACK.corrected)(&at), leaders(&at)), (Ok(sent[1]), Ok(sent[2])));
                assert_eq!(total(&at), Ok(sent.iter().sum()));
            }
        }
    }

    #[test]
    fn there_are_two_links_for_each_process_if_nobody_says() {
        let at = inputs(10, |_| ());
        assert_eq!((elections(&at), total(&at)), (Ok(31.0), Ok(71.0)));
        let small = [2, 3, 4, 5].map(|nodes| elections(&inputs(nodes, |_| ())));
        assert_eq!(small, [Ok(1.0), Ok(4.0), Ok(9.0), Ok(16.0)], "every pair, as far as they go");
        assert_eq!((LEADER.printed)(&at), Ok(0.0));
        for links in [8, 46] {
            let at = inputs(10, |given| given.links = Some(links));
            assert!(matches!(total(&at), Err(OutOfDomain::Count { least: 9, most: 45, .. })));
        }
        let many = inputs(100_000_000, |given| given.links = Some(4_999_999_950_000_000));
        assert_eq!(total(&many), Ok(19_999_999_700_000_001u64 as f64));
    }

    #[test]
    fn a_complete_network_takes_five_hops() {
        let of = |nodes| time(&inputs(nodes, |given| given.delay = 2.0));
        assert_eq!((of(2), of(3), of(1000)), (Ok(6.0), Ok(10.0), Ok(10.0)));
    }
}
