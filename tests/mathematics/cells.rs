//! A cell's command prints the numbers of the cell.

use crate::mean_of;
use bellwether::analysis::{Cell, Election, Loss};
use bellwether::core::Duration;
use bellwether::protocols::announce_listen::{Criterion, Mapping, Shape, Variant};
use bellwether::protocols::choice::{Config, Family};
use bellwether::protocols::surroundings::Surroundings;
use bellwether::protocols::{bully, ring};
use bellwether::sim::motion::Motion;
use bellwether::sim::{Churn, Initiators, Measure, Order, Scenario, Terrain};

/// Cells that differ from the usual one in every way a cell can.
fn cells() -> Vec<(Cell, Measure)> {
    let cell = |variant, nodes, loss| Cell::new(variant, nodes, loss).runs(20);
    let start = |change: fn(&mut Cell)| {
        let mut cell = cell(Variant::LeS, 9, Loss::Uncorrelated(0.3));
        change(&mut cell);
        (cell, Measure::LeadershipDelay)
    };
    let again = |scenario, window, loss| {
        let cell = cell(Variant::LeS, 7, loss).listen(2.5).scenario(scenario, window);
        (cell, Measure::InconsistentFraction)
    };
    let churn = Scenario::Churn(Churn { departures: 0.05, arrivals: 0.07 });
    let mut bye = again(Scenario::Departure, 20.0, Loss::Correlated(0.2));
    bye.0.config.bye_copies = 3;
    vec![
        start(|_| ()),
        start(|cell| cell.seed = 123_456_789),
        start(|cell| cell.delay = Duration::from_nanos(12_345_678)),
        start(|cell| cell.config = cell.config.clone().shaped(Shape::Rising { rate: 3.5 })),
        start(|cell| cell.config = cell.config.clone().shaped(Shape::Falling { rate: 0.1 })),
        start(|cell| cell.config.suppress = Duration::from_millis(333)),
        start(|cell| cell.config.announce = Duration::from_secs(7)),
        start(|cell| cell.config.criterion = Some(Criterion::Rank)),
        start(|cell| {
            let jitter = Duration::from_millis(50);
            let mapping = Mapping::ByStanding { best: 8, worst: 0, jitter };
            cell.config = cell.config.clone().mapped(mapping);
        }),
        start(|cell| cell.config.leaders = 2),
        (cell(Variant::LeA, 30, Loss::Correlated(0.4)), Measure::Messages),
        (cell(Variant::LeM, 30, Loss::None), Measure::Messages),
        (cell(Variant::Sup, 30, Loss::Uncorrelated(0.4)), Measure::Messages),
        (cell(Variant::Al, 5, Loss::Uncorrelated(0.1)), Measure::Rounds),
        (cell(Variant::Query, 8, Loss::Uncorrelated(0.1)), Measure::LeadershipDelay),
        (cell(Variant::SuppressQuery, 8, Loss::Uncorrelated(0.1)), Measure::LeadershipDelay),
        again(Scenario::Departure, 30.0, Loss::Uncorrelated(0.2)),
        again(Scenario::FalseDeparture, 50.0, Loss::Correlated(0.4)),
        again(Scenario::JoinGreater, 20.0, Loss::None),
        again(Scenario::JoinSmaller, 20.0, Loss::Uncorrelated(0.2)),
        again(churn, 100.0, Loss::None),
        bye,
    ]
}

/// Elections that differ from the usual one in every way that has a flag.
fn elections() -> Vec<(Election, Measure)> {
    let (bully, radios) = (Family::Bully, Family::AdHoc);
    let of = |family: Family, change: fn(&mut Election)| {
        let mut election = Election::new(family, 7).runs(5);
        change(&mut election);
        (election, Measure::Messages)
    };
    let ring = |variant, change: fn(&mut Election)| of(Family::Ring(variant), change);
    let rings = ring::Variant::ALL.map(Family::Ring);
    let called = [bully].into_iter().chain(rings).chain([radios]);
    let mut all: Vec<_> = called.map(|family| of(family, |_| ())).collect();
    all.extend([
        of(bully, |election| election.convening.top_dead = true),
        of(bully, |election| election.convening.initiators = Initiators::Named(vec![2, 4])),
        of(bully, |election| election.convening.detection = Some(Duration::from_millis(7))),
        of(bully, |election| election.config = stamped()),
        ring(ring::Variant::Merea, |election| election.convening.initiators = Initiators::Some(3)),
        ring(ring::Variant::Merea, |election| election.convening.order = Order::Random),
        ring(ring::Variant::Merea, |election| {
            election.convening.initiators = Initiators::All;
            if let Config::Ring(config) = &mut election.config {
                config.as_printed = true;
            }
        }),
        ring(ring::Variant::ChangRoberts, |election| {
            election.convening.initiators = Initiators::Random;
            election.convening.order = Order::Listed(vec![3, 1, 4, 0, 5, 2, 6]);
        }),
        ring(ring::Variant::HirschbergSinclair, |election| {
            election.convening.order = Order::Descending;
            election.convening.processing = Duration::from_secs(1);
            election.delay = Duration::from_secs(3);
        }),
        of(radios, |election| election.convening.terrain = Terrain::Random { links: 9 }),
        of(radios, |election| election.convening.terrain = Terrain::Disc { range: 0.6 }),
        of(radios, |election| {
            election.convening.terrain = Terrain::Listed((0..6).map(|a| (a, a + 1)).collect());
        }),
    ]);
    let fixed = [Terrain::Complete, Terrain::Circle, Terrain::Line, Terrain::Grid, Terrain::Tree];
    all.extend(fixed.map(|terrain| {
        let mut election = Election::new(radios, 7).runs(5);
        election.convening.terrain = terrain;
        (election, Measure::Time)
    }));
    let (rest, lasts) = (Duration::from_secs(5), Duration::from_secs(20));
    let (slowest, fastest) = (0.02 / 10.0, 0.02); // as the flags have it
    let motion = Motion { side: 1.0, range: 0.4, slowest, fastest, rest, lasts };
    let mut moving = Election::new(radios, 7).runs(2);
    moving.convening.terrain = Terrain::Moving(motion);
    let around = Surroundings { moving: true, ..Surroundings::calm(7, moving.delay) };
    moving.config = radios.fitted(&around); // links are told of
    all.push((moving, Measure::MessagesPerSecond));
    all
}

fn stamped() -> Config {
    let config = Family::Bully.fitted(&Surroundings::calm(2, Duration::from_millis(100)));
    let Config::Bully(config) = config else { return config };
    Config::Bully(bully::Config {
        reply: Duration::from_secs(2),
        wait: Duration::from_secs(5),
        top_answers: bully::TopAnswers::Coordinator,
        recovery: bully::Recovery::Ask,
        stamps: true,
        ..config
    })
}

#[test]
fn the_command_of_an_election_prints_the_very_same_mean() {
    for (election, measure) in elections() {
        let command = election.command();
        let experiment = election.experiment(1).unwrap_or_else(|why| panic!("{command}: {why}"));
        let answer = experiment.run(&|| ()).unwrap_or_else(|why| panic!("{command}: {why}"));
        let summary = answer.measure(measure);
        let mean = summary.unwrap_or_else(|| panic!("{command}: no number")).mean;
        assert_eq!(mean_of(&command, &measure.name()), mean, "{command}");
    }
}

#[test]
fn the_command_of_a_cell_prints_the_very_same_mean() {
    for (cell, measure) in cells() {
        let answer =
            cell.answer(1, &|| ()).unwrap_or_else(|why| panic!("{}: {why}", cell.command()));
        let summary = answer.measure(measure);
        let mean = summary.unwrap_or_else(|| panic!("{}: no number", cell.command())).mean;
        assert_eq!(mean_of(&cell.command(), &measure.name()), mean, "{}", cell.command());
    }
}
