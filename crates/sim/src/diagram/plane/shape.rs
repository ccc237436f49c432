//! Computes positions for a graph, so that distances in the plane match the number of hops.
//!
//! It starts from the distances to a few pivots (classical scaling, after Brandes and Pich). Then
//! each process in turn moves to where the distances to all others suggest (stress majorization,
//! after Gansner, Koren and North). Nothing is random.

use super::layout::Point;
use std::collections::VecDeque;

/// The number of pivots for the rough positions.
const PIVOTS: usize = 40;
/// The number of pairs examined to refine them, over all rounds.
const PAIRS: usize = 20_000_000;
/// The most rounds of refinement.
const ROUNDS: usize = 300;
/// The iterations that find the directions of the two longest axes.
const TURNS: usize = 100;

/// Positions for `nodes` processes with these links, in hops.
pub(super) fn of(nodes: usize, links: impl Iterator<Item = (u32, u32)>) -> Vec<Point> {
    let mut linked = vec![Vec::new(); nodes];
    for (a, b) in links {
        linked[a as usize].push(b as usize);
        linked[b as usize].push(a as usize);
    }
    let mut hops: Vec<Vec<u16>> = (0..nodes).map(|node| hops_from(node, &linked)).collect();
    let longest = hops.iter().flatten().filter(|far| **far < u16::MAX).max().copied().unwrap_or(0);
    // Unreachable processes are drawn a little beyond the reachable ones.
    hops.iter_mut().flatten().filter(|far| **far == u16::MAX).for_each(|far| *far = longest + 2);
    let mut points = rough(&hops);
    refine(&mut points, &hops);
    points
}

fn hops_from(start: usize, linked: &[Vec<usize>]) -> Vec<u16> {
    let mut hops = vec![u16::MAX; linked.len()];
    let mut next = VecDeque::from([start]);
    hops[start] = 0;
    while let Some(node) = next.pop_front() {
        for &peer in &linked[node] {
            if hops[peer] == u16::MAX {
                hops[peer] = hops[node] + 1;
                next.push_back(peer);
            }
        }
    }
    hops
}

/// Rough positions, along the two directions in which the distances to the pivots differ most.
fn rough(hops: &[Vec<u16>]) -> Vec<Point> {
    let nodes = hops.len();
    let pivots = pivots(hops);
    let count = pivots.len();
    let square = |node: usize, pivot: usize| {
        let far = f64::from(hops[node][pivots[pivot]]);
        far * far
    };
    let mean = |sum: f64, of: usize| sum / of.max(1) as f64;
    let of_row = |node| mean((0..count).map(|pivot| square(node, pivot)).sum(), count);
    let of_column = |pivot| mean((0..nodes).map(|node| square(node, pivot)).sum(), nodes);
    let rows: Vec<f64> = (0..nodes).map(of_row).collect();
    let columns: Vec<f64> = (0..count).map(of_column).collect();
    let all = mean(rows.iter().sum(), nodes);
    let centred: Vec<Vec<f64>> = (0..nodes)
        .map(|node| {
            let entry = |pivot| (rows[node] + columns[pivot] - all - square(node, pivot)) / 2.0;
            (0..count).map(entry).collect()
        })
        .collect();
    let first = direction(&centred, None);
    let second = direction(&centred, Some(&first));
    let pivotal = libm::sqrt(libm::sqrt(count as f64 / nodes as f64));
    let [first, second] = [first, second].map(|axis| {
        let along: Vec<f64> = centred.iter().map(|row| dot(row, &axis)).collect();
        // The inputs are squared distances, the output is distances.
        let scale = libm::sqrt(libm::sqrt(dot(&along, &along))).max(1e-9) * pivotal;
        along.into_iter().map(|place| place / scale).collect::<Vec<_>>()
    });
    (0..nodes)
        .map(|node| {
            // Processes with equal distances must not overlap, so they are spread in a sunflower
            // pattern.
            let (turn, reach) = (2.399_963 * node as f64, 0.02 + 0.3 * node as f64 / nodes as f64);
            [first[node] + reach * libm::cos(turn), second[node] + reach * libm::sin(turn)]
        })
        .collect()
}

/// The pivots, each as far as possible from the ones before it.
fn pivots(hops: &[Vec<u16>]) -> Vec<usize> {
    let mut pivots = Vec::new();
    let mut nearest = vec![u16::MAX; hops.len()];
    while pivots.len() < PIVOTS.min(hops.len()) {
        // The first of the farthest.
        let far = |node: &usize| (nearest[*node], std::cmp::Reverse(*node));
        let Some(pivot) = (0..hops.len()).max_by_key(far) else { break };
        pivots.push(pivot);
        for (near, far) in nearest.iter_mut().zip(&hops[pivot]) {
            *near = (*near).min(*far);
        }
    }
    pivots
}

fn dot(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

/// The direction of the largest extent of the rows, orthogonal to `but`, by power iteration; zero
/// if the rows have no extent.
fn direction(rows: &[Vec<f64>], but: Option<&[f64]>) -> Vec<f64> {
    let count = rows.first().map_or(0, Vec::len);
    let mut axis: Vec<f64> = (0..count).map(|i| libm::cos(1.0 + 2.0 * i as f64)).collect();
    for _ in 0..TURNS {
        let mut next = vec![0.0; count];
        for row in rows {
            let reach = dot(row, &axis);
            next.iter_mut().zip(row).for_each(|(sum, entry)| *sum += reach * entry);
        }
        if let Some(but) = but {
            let share = dot(&next, but);
            next.iter_mut().zip(but).for_each(|(entry, other)| *entry -= share * other);
        }
        let length = libm::sqrt(dot(&next, &next));
        if length < 1e-9 {
            return vec![0.0; count];
        }
        axis = next.into_iter().map(|entry| entry / length).collect();
    }
    axis
}

fn refine(points: &mut [Point], hops: &[Vec<u16>]) {
    let nodes = points.len();
    let rounds = (PAIRS / (nodes * nodes).max(1)).clamp(3, ROUNDS);
    for _ in 0..rounds {
        for node in 0..nodes {
            let [x, y] = points[node];
            let (mut sum, mut weights) = ([0.0, 0.0], 0.0);
            for (other, &[to_x, to_y]) in points.iter().enumerate() {
                let wanted = f64::from(hops[node][other]);
                if other == node || wanted == 0.0 {
                    continue;
                }
                let [dx, dy] = [x - to_x, y - to_y];
                let stretch = wanted / libm::sqrt(dx * dx + dy * dy).max(1e-9);
                // Short distances have more weight, because readers look at them.
                let weight = 1.0 / (wanted * wanted);
                sum[0] += weight * (to_x + stretch * dx);
                sum[1] += weight * (to_y + stretch * dy);
                weights += weight;
            }
            if weights > 0.0 {
                points[node] = [sum[0] / weights, sum[1] / weights];
            }
        }
    }
}
