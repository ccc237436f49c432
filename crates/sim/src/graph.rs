//! Generators of networks: trees, grids, random graphs, radios in a square.
//!
//! Every graph that is documented as connected is connected. Each link appears once, smaller end
//! first, and the links are sorted.

use crate::coin::Stream;
use crate::network::Topology;
use bellwether_core::Entropy;
use std::collections::BTreeSet;

/// The links of a network.
pub type Links = Vec<(u32, u32)>;

/// A complete graph.
pub fn complete(nodes: u32) -> Links {
    (0..nodes).flat_map(|a| (a + 1..nodes).map(move |b| (a, b))).collect()
}

/// Processes in rows, each linked to those beside, above and below it.
pub fn grid(rows: u32, columns: u32) -> Links {
    let mut links = Links::new();
    for node in 0..rows.saturating_mul(columns) {
        if (node + 1) % columns != 0 {
            links.push((node, node + 1));
        }
        if node / columns + 1 < rows {
            links.push((node, node + columns));
        }
    }
    links
}

/// A grid as close to a square as possible; the last row may be shorter.
pub fn square(nodes: u32) -> Links {
    let columns = (1..=nodes).find(|side| side * side >= nodes).unwrap_or(1);
    let mut links = grid(nodes.div_ceil(columns), columns);
    links.retain(|(_, b)| *b < nodes);
    links
}

/// A circle.
pub fn circle(nodes: u32) -> Links {
    let mut links = grid(1, nodes);
    if nodes > 2 {
        links.insert(1, (0, nodes - 1));
    }
    links
}

/// A uniformly random tree (by its Prüfer sequence).
pub fn tree(nodes: u32, luck: &mut Stream) -> Links {
    if nodes < 2 {
        return Links::new();
    }
    let sequence: Vec<u32> = (2..nodes).map(|_| luck.below(nodes.into()) as u32).collect();
    let mut degree = vec![1u32; nodes as usize];
    sequence.iter().for_each(|node| degree[*node as usize] += 1);
    let leaf = |node: &u32| degree[*node as usize] == 1;
    let mut leaves: BTreeSet<u32> = (0..nodes).filter(leaf).collect();
    let mut links = Links::new();
    for node in sequence {
        let leaf = leaves.pop_first().expect("a tree that is not finished has leaves");
        links.push((leaf.min(node), leaf.max(node)));
        degree[node as usize] -= 1;
        if degree[node as usize] == 1 {
            leaves.insert(node);
        }
    }
    let last: Vec<u32> = leaves.into_iter().collect();
    links.push((last[0], last[1]));
    links.sort_unstable();
    links
}

/// A connected random graph with `links` links, or fewer if not so many exist: a random tree plus
/// random further links. Every connected graph can occur; those with many spanning trees occur more
/// often. Drawing until a graph happens to be connected would take too long where links are few.
pub fn connected(nodes: u32, links: usize, luck: &mut Stream) -> Links {
    let mut chosen: BTreeSet<(u32, u32)> = tree(nodes, luck).into_iter().collect();
    let mut rest: Links = complete(nodes);
    rest.retain(|link| !chosen.contains(link));
    while chosen.len() < links && !rest.is_empty() {
        let place = luck.below(rest.len() as u64) as usize;
        chosen.insert(rest.swap_remove(place));
    }
    chosen.into_iter().collect()
}

/// Radios at random places in the unit square, linked where they are within `range` of each other.
/// `None` if no draw is connected: it tries a hundred times, or ten thousand times for small
/// groups.
pub fn disc(nodes: u32, range: f64, luck: &mut Stream) -> Option<(Vec<[f64; 2]>, Links)> {
    let pairs = u64::from(nodes).pow(2).max(1);
    let throws = (200_000_000 / pairs).clamp(100, 10_000);
    (0..throws).find_map(|_| {
        let places: Vec<[f64; 2]> = (0..nodes).map(|_| [luck.unit(), luck.unit()]).collect();
        let links = within(&places, range);
        let topology = Topology::Graph { links: links.clone() };
        topology.unreached(nodes).is_none().then_some((places, links))
    })
}

/// All pairs within `range` of each other, in order.
pub(crate) fn within(places: &[[f64; 2]], range: f64) -> Links {
    // From left to right, so that nobody looks at all others.
    let mut row: Vec<(u32, [f64; 2])> = (0..).zip(places.iter().copied()).collect();
    row.sort_by(|(_, a), (_, b)| a[0].total_cmp(&b[0]));
    let square = range * range;
    let mut links = Links::new();
    for (index, (a, [x, y])) in row.iter().enumerate() {
        let apart = row[index + 1..].iter().map(|(b, other)| (b, other[0] - x, other[1] - y));
        let near = apart.take_while(|(_, x, _)| x * x <= square);
        let linked = near.filter(|(_, x, y)| x * x + y * y <= square);
        links.extend(linked.map(|(b, ..)| (*a.min(b), *a.max(b))));
    }
    links.sort_unstable();
    links
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coin::{RunSeed, StreamPurpose};

    fn is_connected(nodes: u32, links: &Links) -> bool {
        Topology::Graph { links: links.clone() }.unreached(nodes).is_none()
    }

    fn is_tidy(links: &Links) -> bool {
        links.iter().all(|(a, b)| a < b) && links.is_sorted_by(|one, other| one < other)
    }

    #[test]
    fn radios_are_linked_exactly_where_they_are_within_range() {
        let mut luck = RunSeed::new(1, 0).world(StreamPurpose::Terrain);
        for range in [0.0, 0.01, 0.2, 2.0] {
            let places: Vec<[f64; 2]> = (0..200).map(|_| [luck.unit(), luck.unit()]).collect();
            let near = |(a, b): &(u32, u32)| {
                let [a, b] = [a, b].map(|node| places[*node as usize]);
                (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2) <= range * range
            };
            let expected: Links = complete(200).into_iter().filter(near).collect();
            assert_eq!(within(&places, range), expected, "{range}");
        }
    }

    #[test]
    fn grids_and_complete_graphs_have_the_links_they_should() {
        assert_eq!(grid(2, 3), [(0, 1), (0, 3), (1, 2), (1, 4), (2, 5), (3, 4), (4, 5)]);
        assert_eq!(grid(1, 1), []);
        assert_eq!(complete(3), [(0, 1), (0, 2), (1, 2)]);
        assert!(is_tidy(&grid(5, 7)) && is_connected(35, &grid(5, 7)));
    }

    #[test]
    fn every_tree_comes_up_equally_often() {
        let mut luck = RunSeed::new(1, 0).world(StreamPurpose::Caller(9));
        let mut counts = std::collections::BTreeMap::<Links, u32>::new();
        let draws = 16_000;
        for _ in 0..draws {
            let links = tree(4, &mut luck);
            assert!(is_connected(4, &links) && is_tidy(&links));
            *counts.entry(links).or_default() += 1;
        }
        // Cayley: 4² trees of four. 1000 of each, within 4.5 standard deviations of √(1000·15/16).
        assert_eq!(counts.len(), 16);
        assert!(counts.values().all(|count| count.abs_diff(1_000) < 138), "{counts:?}");
        assert_eq!((tree(1, &mut luck), tree(2, &mut luck)), (vec![], vec![(0, 1)]));
    }

    #[test]
    fn random_graphs_are_connected_and_have_as_many_links_as_were_asked_for() {
        let mut luck = RunSeed::new(2, 0).world(StreamPurpose::Caller(9));
        for links in 0..=50 {
            let graph = connected(10, links, &mut luck);
            assert_eq!(graph.len(), links.clamp(9, 45));
            assert!(is_connected(10, &graph) && is_tidy(&graph));
        }
    }

    #[test]
    fn radios_that_hear_each_other_are_linked() {
        let places = [[0.0, 0.0], [0.3, 0.4], [0.3, 1.0]];
        assert_eq!(within(&places, 0.5), [(0, 1)]);
        assert_eq!(within(&places, 0.6), [(0, 1), (1, 2)]);
        let mut luck = RunSeed::new(3, 0).world(StreamPurpose::Caller(9));
        let radios = disc(30, 0.4, &mut luck).unwrap();
        assert!(is_connected(30, &radios.1) && radios.1.len() < 435);
        assert_eq!(disc(30, 0.01, &mut luck), None, "too far apart ever to be connected");
    }
}
