//! A cell's command prints the numbers of the cell.

use crate::mean_of;
use bellwether::analysis::{Cell, Loss};
use bellwether::core::Duration;
use bellwether::protocols::announce_listen::{Criterion, Mapping, Shape, Variant};
use bellwether::sim::{Churn, Measure, Scenario};

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
        start(|cell| cell.config.shape = Shape::Rising { rate: 3.5 }),
        start(|cell| cell.config.shape = Shape::Falling { rate: 0.1 }),
        start(|cell| cell.config.suppress = Duration::from_millis(333)),
        start(|cell| cell.config.announce = Duration::from_secs(7)),
        start(|cell| cell.config.criterion = Some(Criterion::Rank)),
        start(|cell| {
            let jitter = Duration::from_millis(50);
            cell.config.mapping = Mapping::ByStanding { best: 8, worst: 0, jitter };
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

#[test]
fn the_command_of_a_cell_prints_the_very_same_mean() {
    for (cell, measure) in cells() {
        let answer =
            cell.answer(1, &|| ()).unwrap_or_else(|why| panic!("{}: {why}", cell.command()));
        let summary = answer.measure(measure);
        let mean = summary.unwrap_or_else(|| panic!("{}: no number", cell.command())).mean;
        assert_eq!(mean_of(&cell.command(), measure.name()), mean, "{}", cell.command());
    }
}
