//! Graphs keep their shape, and fit into the area.

use super::super::layout::{Point, places};
use super::super::shape;
use super::*;

fn far(one: Point, other: Point) -> f64 {
    let [x, y] = [one[0] - other[0], one[1] - other[1]];
    libm::sqrt(x * x + y * y)
}

fn shape_of(nodes: u32, links: &graph::Links) -> Vec<Point> {
    let points = shape::of(nodes as usize, links.iter().copied());
    assert!(points.iter().flatten().all(|number| number.is_finite()));
    assert_eq!(points, shape::of(nodes as usize, links.iter().copied()));
    points
}

#[test]
fn a_line_is_straight_and_a_grid_is_even() {
    let points = shape_of(12, &graph::grid(1, 12));
    assert!((far(points[0], points[11]) - 11.0).abs() < 0.3, "{points:?}");
    for side in [5, 20] {
        let links = graph::grid(side, side);
        let points = shape_of(side * side, &links);
        let lengths = links.iter().map(|(a, b)| far(points[*a as usize], points[*b as usize]));
        for length in lengths {
            assert!((0.5..1.6).contains(&length), "{length} in a grid of {side}");
        }
    }
}

#[test]
fn those_that_are_alike_are_still_apart() {
    let points = shape_of(9, &graph::complete(9));
    for one in 0..9 {
        for other in 0..one {
            assert!(far(points[one], points[other]) > 0.3, "{points:?}");
        }
    }
    // A star, two components, nobody, one.
    shape_of(40, &(1..40).map(|leaf| (0, leaf)).collect());
    let two = shape_of(4, &vec![(0, 1), (2, 3)]);
    assert!(far(two[0], two[2]) > far(two[0], two[1]) && far(two[2], two[3]) > 0.5);
    assert_eq!((shape_of(0, &vec![]).len(), shape_of(1, &vec![]).len()), (0, 1));
}

#[test]
fn nobody_is_drawn_outside_or_over_another() {
    let mut luck = RunSeed::new(3, 0).world(StreamPurpose::Caller(2));
    let area = [20.0, 50.0, 900.0, 700.0];
    for nodes in [1, 2, 10, 40, 60] {
        let links = graph::connected(nodes, 2 * nodes as usize, &mut luck);
        let (corners, _) = graph::disc(nodes, 2.0, &mut luck).expect("all are in range");
        for given in [None, Some(corners), Some(vec![[3.0, 3.0]; nodes as usize])] {
            let plan = on_graph(nodes, links.clone(), vec![]);
            let Arrangement::Graph(graph) = Arrangement::graph(&plan, given) else {
                panic!("a graph")
            };
            let points = places(&graph, SimTime::ZERO, area, 38.0);
            for (place, &[x, y]) in points.iter().enumerate() {
                assert!((19.9..900.1).contains(&x) && (49.9..700.1).contains(&y));
                for other in &points[..place] {
                    assert!(far(*other, [x, y]) > 28.0, "{nodes}: {other:?} and {x} {y}");
                }
            }
        }
    }
}

#[test]
fn given_places_are_kept_in_proportion() {
    let given = vec![[0.0, 0.0], [1.0, 0.0], [1.0, 0.5], [0.2, 0.5]];
    let plan = on_graph(4, vec![(0, 1)], vec![]);
    let Arrangement::Graph(graph) = Arrangement::graph(&plan, Some(given)) else {
        panic!("a graph")
    };
    let points = places(&graph, SimTime::ZERO, [0.0, 0.0, 400.0, 400.0], 5.0);
    assert_eq!(points, [[0.0, 100.0], [400.0, 100.0], [400.0, 300.0], [80.0, 300.0]]);
}
