//! Positions of processes: on a circle, at given places, or computed from the graph.

use super::arrangement::Graph;
use super::shape;
use bellwether_core::SimTime;

/// A place in the picture, in pixels.
pub(super) type Point = [f64; 2];

/// A rectangle to draw in: left, top, right, bottom.
pub(super) type Area = [f64; 4];

/// The angle of a place on a ring with `places` places, clockwise from the top.
pub(super) fn angle(place: usize, places: usize) -> f64 {
    std::f64::consts::TAU * place as f64 / places.max(1) as f64
}

/// The point at this distance from the centre, at this angle.
pub(super) fn on_circle([x, y]: Point, radius: f64, angle: f64) -> Point {
    [x + radius * libm::sin(angle), y - radius * libm::cos(angle)]
}

/// Positions of the processes of a network in an area, at least `apart` from each other if small
/// moves can achieve that.
pub(super) fn places(graph: &Graph, at: SimTime, area: Area, apart: f64) -> Vec<Point> {
    let nodes = graph.nodes as usize;
    let given = graph.places.as_ref().filter(|places| {
        places.len() == nodes && places.iter().flatten().all(|number| number.is_finite())
    });
    let mut points = match given {
        Some(places) => places.clone(),
        None => shape::of(nodes, graph.at(at).0.into_iter()),
    };
    fit(&mut points, area);
    for _ in 0..ROUNDS {
        if !part(&mut points, area, apart) {
            break;
        }
    }
    points
}

/// How many rounds of moves separate crowded processes.
const ROUNDS: u32 = 80;

/// Scales all points to the area, equally in both directions, and centres them.
fn fit(points: &mut [Point], [left, top, right, bottom]: Area) {
    let range = |axis: usize| {
        let along = points.iter().map(|point| point[axis]);
        (along.clone().fold(f64::INFINITY, f64::min), along.fold(f64::NEG_INFINITY, f64::max))
    };
    let ranges = [range(0), range(1)];
    let room = [right - left, bottom - top];
    let scales = [0, 1].map(|axis| room[axis] / (ranges[axis].1 - ranges[axis].0).max(1e-9));
    // A single process has no extent to scale.
    let scale = scales[0].min(scales[1]).min(1e6);
    let middle = [(left + right) / 2.0, (top + bottom) / 2.0];
    for point in points {
        for axis in [0, 1] {
            let centre = (ranges[axis].0 + ranges[axis].1) / 2.0;
            point[axis] = middle[axis] + (point[axis] - centre) * scale;
        }
    }
}

/// Moves points that are too close a little apart; returns whether there were any.
fn part(points: &mut [Point], [left, top, right, bottom]: Area, apart: f64) -> bool {
    let mut crowded = false;
    for one in 0..points.len() {
        for other in one + 1..points.len() {
            let [x, y] = [0, 1].map(|axis| points[other][axis] - points[one][axis]);
            let far = libm::sqrt(x * x + y * y);
            if far >= apart {
                continue;
            }
            crowded = true;
            // Points at the same place move in different directions.
            let turn = 2.399_963 * other as f64;
            let apart_by = [libm::cos(turn), libm::sin(turn)];
            let [x, y] = if far > 1e-6 { [x / far, y / far] } else { apart_by };
            let step = (apart - far) / 2.0 + 0.1;
            for (node, sign) in [(one, -step), (other, step)] {
                points[node][0] = (points[node][0] + sign * x).clamp(left, right);
                points[node][1] = (points[node][1] + sign * y).clamp(top, bottom);
            }
        }
    }
    crowded
}
