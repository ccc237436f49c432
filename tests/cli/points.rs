//! A point's command prints the numbers of the point.

use crate::command::mean_of;
use bellwether::analysis::point::duration;
use bellwether::analysis::{Loss, Point, announce_listen};
use bellwether::core::Duration;
use bellwether::protocols::announce_listen::{Shape, Variant};
use bellwether::sim::motion::Motion;
use bellwether::sim::{Churn, Initiators, Measure, Order, Scenario, Terrain};

/// Points of the announce-listen family that differ from the usual one in every way they can.
fn announced() -> Vec<(Point, Measure)> {
    let point = |variant, nodes, loss| announce_listen::point(variant, nodes, loss).runs(20);
    let start = |change: fn(Point) -> Point| {
        let point = change(point(Variant::LeS, 9, Loss::Uncorrelated(0.3)));
        (point, Measure::LeadershipDelay)
    };
    let again = |scenario, window, loss| {
        let point = point(Variant::LeS, 7, loss).listen(2.5).scenario(scenario, window);
        (point, Measure::InconsistentFraction)
    };
    let churn = Scenario::Churn(Churn { departures: 0.05, arrivals: 0.07 });
    let mut bye = again(Scenario::Departure, 20.0, Loss::Correlated(0.2));
    bye.0 = bye.0.with("bye-copies", 3);
    vec![
        start(|point| point),
        start(|point| point.seed(123_456_789)),
        start(|point| Point { delay: Duration::from_nanos(12_345_678), ..point }),
        start(|point| point.shape(Shape::Rising { rate: 3.5 })),
        start(|point| point.shape(Shape::Falling { rate: 0.1 })),
        start(|point| point.with("suppress", duration(0.333))),
        start(|point| point.with("announce", duration(7.0))),
        start(|point| point.with("criterion", "rank")),
        start(|point| point.with("mapping", "standing").with("jitter", duration(0.05))),
        start(|point| point.with("leaders", 2)),
        (point(Variant::LeA, 30, Loss::Correlated(0.4)), Measure::Messages),
        (point(Variant::LeM, 30, Loss::None), Measure::Messages),
        (point(Variant::Sup, 30, Loss::Uncorrelated(0.4)), Measure::Messages),
        (point(Variant::Al, 5, Loss::Uncorrelated(0.1)), Measure::Rounds),
        (point(Variant::Query, 8, Loss::Uncorrelated(0.1)), Measure::LeadershipDelay),
        (point(Variant::SuppressQuery, 8, Loss::Uncorrelated(0.1)), Measure::LeadershipDelay),
        again(Scenario::Departure, 30.0, Loss::Uncorrelated(0.2)),
        again(Scenario::FalseDeparture, 50.0, Loss::Correlated(0.4)),
        again(Scenario::JoinGreater, 20.0, Loss::None),
        again(Scenario::JoinSmaller, 20.0, Loss::Uncorrelated(0.2)),
        again(churn, 100.0, Loss::None),
        bye,
    ]
}

/// Elections that are called and differ from the usual one in every way that has a flag.
fn called() -> Vec<(Point, Measure)> {
    let of = |protocol, change: fn(&mut Point)| {
        let mut point = Point::new(protocol, 7).runs(5);
        change(&mut point);
        (point, Measure::Messages)
    };
    let names = ["bully", "ring", "chang-roberts", "merea", "hirschberg-sinclair", "ad-hoc"];
    let mut all: Vec<_> = names.map(|name| of(name, |_| ())).to_vec();
    all.extend([
        of("bully", |point| point.initiation.top_dead = true),
        of("bully", |point| point.initiation.initiators = Initiators::Named(vec![2, 4])),
        of("bully", |point| point.initiation.detection = Some(Duration::from_millis(7))),
        of("bully", |point| {
            let stamped = point.clone().with("reply", "2s").with("wait", "5s").with("stamps", true);
            *point = stamped.with("top-answers", "coordinator").with("recovery", "ask");
        }),
        of("merea", |point| point.initiation.initiators = Initiators::Some(3)),
        of("merea", |point| point.initiation.order = Order::Random),
        of("merea", |point| {
            *point = point.clone().initiators(Initiators::All).with("as-printed", true);
        }),
        of("chang-roberts", |point| {
            point.initiation.initiators = Initiators::Random;
            point.initiation.order = Order::Listed(vec![3, 1, 4, 0, 5, 2, 6]);
        }),
        of("hirschberg-sinclair", |point| {
            point.initiation.order = Order::Descending;
            point.initiation.processing = Duration::from_secs(1);
            point.delay = Duration::from_secs(3);
        }),
        of("ad-hoc", |point| point.initiation.terrain = Terrain::Random { links: 9 }),
        of("ad-hoc", |point| point.initiation.terrain = Terrain::Disc { range: 0.6 }),
        of("ad-hoc", |point| {
            point.initiation.terrain = Terrain::Listed((0..6).map(|a| (a, a + 1)).collect());
        }),
    ]);
    let fixed = [Terrain::Complete, Terrain::Circle, Terrain::Line, Terrain::Grid, Terrain::Tree];
    all.extend(fixed.map(|terrain| {
        let mut point = Point::new("ad-hoc", 7).runs(5);
        point.initiation.terrain = terrain;
        (point, Measure::Time)
    }));
    let (rest, lasts) = (Duration::from_secs(5), Duration::from_secs(20));
    let (slowest, fastest) = (0.02 / 10.0, 0.02); // as the flags have it
    let motion = Motion { side: 1.0, range: 0.4, slowest, fastest, rest, lasts };
    let mut moving = Point::new("ad-hoc", 7).runs(2);
    moving.initiation.terrain = Terrain::Moving(motion);
    all.push((moving, Measure::MessagesPerSecond));
    all
}

/// Elections in rounds that differ from the usual one in every way that figures use.
fn in_rounds() -> Vec<(Point, Measure)> {
    let point = || Point::new("probabilistic", 60).runs(20);
    let lossy = || Point { fail: 0.01, ..point().loss(Loss::apart(0.1)) };
    let one_round = || lossy().with("k", 9).with("max-rounds", 1);
    let points = vec![
        point(),
        lossy(),
        Point { view: 0.25, unicast_loss: Loss::None, ..lossy() },
        lossy().with("strategy", "fixed").with("most-relays", 30),
        lossy().with("strategy", "7,20,all").with("max-rounds", 3).with("reinitiate", "hash"),
        one_round().with("choice", "rank"),
        one_round().with("size", "view").with("woken-by", "preference"),
        Point { delay: Duration::from_millis(7), ..one_round().with("size", "gossip") },
    ];
    points.into_iter().map(|point| (point, Measure::Unicasts)).collect()
}

#[test]
fn the_command_of_a_point_prints_the_very_same_mean() {
    for (point, measure) in [announced(), called(), in_rounds()].concat() {
        let command = point.command();
        let answer = point.answer(1, &|| ()).unwrap_or_else(|why| panic!("{command}: {why}"));
        let summary = answer.measure(measure);
        let mean = summary.unwrap_or_else(|| panic!("{command}: no number")).mean;
        assert_eq!(mean_of(&command, &measure.name()), mean, "{command}");
    }
}
