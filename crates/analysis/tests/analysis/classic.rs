//! The counts and times of elections that somebody calls, beside the simulation that each names.
//!
//! Where nothing is left to luck they are equal; means lie within their interval of 99.9 %.

use bellwether_analysis::classic::{QUANTITIES, bully};
use bellwether_analysis::{Inputs, OutOfDomain, Quantity, ValidInputs};
use bellwether_sim::Measure;

fn all() -> impl Iterator<Item = &'static Quantity> {
    QUANTITIES.iter().copied().flatten().copied()
}

fn inputs(given: Inputs) -> ValidInputs {
    given.try_into().expect("inputs in the domain")
}

/// Compares, and says whether there was anything to compare.
fn agrees(quantity: &Quantity, inputs: &ValidInputs, runs: u64) -> bool {
    let Some((point, measure)) = (quantity.simulation)(inputs) else { return false };
    let value = (quantity.corrected)(inputs).expect("what is simulated has a value");
    let runs = (point.runs * runs / 1000).max(2);
    let point = point.runs(runs).seed(1);
    let command = point.command();
    let answer = point.answer(1, &|| ()).unwrap_or_else(|why| panic!("{command}: {why}"));
    assert_eq!(answer.unsettled, 0, "{}: {command}", quantity.name);
    let got = answer.measure(measure).unwrap_or_else(|| panic!("{command}: nothing measured"));
    let name = quantity.name;
    if (quantity.exact)(inputs) {
        assert!(got.agrees_with(value, 0.999), "{name} is {value}, not {}: {command}", got.mean);
    } else {
        assert!(got.max <= value, "{name} is at most {value}, not {}: {command}", got.max);
    }
    true
}

#[test]
fn every_quantity_is_what_its_simulation_gives_for_any_size() {
    for quantity in all() {
        let compared = (2..=64)
            .filter(|nodes| {
                agrees(quantity, &inputs(Inputs { nodes: *nodes, ..Inputs::default() }), 50)
            })
            .count();
        // Bully's OKs need three processes.
        let simulated = quantity.name != "merea.wrong-leader";
        assert_eq!(compared >= 61, simulated, "{}: {compared} sizes", quantity.name);
    }
}

#[test]
fn means_agree_with_a_thousand_runs() {
    let means = all().filter(|quantity| quantity.name.ends_with(".mean"));
    let mut compared = 0;
    for quantity in means {
        for nodes in [3, 10, 100, 500] {
            compared +=
                u32::from(agrees(quantity, &inputs(Inputs { nodes, ..Inputs::default() }), 1000));
        }
    }
    assert_eq!(compared, 16);
}

#[test]
fn it_matters_who_calls_and_how_many() {
    for nodes in [2, 3, 10, 33] {
        for quantity in all() {
            let reads = |flag| quantity.reads.contains(&flag);
            for initiator in (0..nodes - 1).filter(|_| reads("initiator")) {
                agrees(quantity, &inputs(Inputs { nodes, initiator, ..Inputs::default() }), 50);
            }
            for k in (1..=nodes).filter(|_| reads("initiators")) {
                let given = Inputs { nodes, initiators: Some(k), ..Inputs::default() };
                agrees(quantity, &inputs(given), 300);
            }
        }
    }
}

#[test]
fn it_matters_how_long_things_take() {
    for quantity in all().filter(|quantity| quantity.reads.contains(&"delay")) {
        for (delay, processing, reply) in
            [(3.0, 1.0, None), (0.0, 0.25, Some(7.0)), (0.5, 0.0, Some(1.5))]
        {
            let processing = if quantity.reads.contains(&"processing") { processing } else { 0.0 };
            let given = Inputs { nodes: 20, delay, processing, reply, ..Inputs::default() };
            assert!(agrees(quantity, &inputs(given), 50), "{}", quantity.name);
        }
    }
}

/// Where nobody is told that the top is dead the time-out says so; it is one, and counts stay.
#[test]
fn a_dead_top_costs_bully_one_time_out() {
    for nodes in [2, 3, 4, 20, 64] {
        for (initiator, delay, reply) in
            [(0, 0.1, None), (nodes - 2, 0.5, Some(3.0)), (1, 0.0, Some(7.0))]
        {
            let initiator = initiator.min(nodes - 2);
            let at = inputs(Inputs { nodes, initiator, delay, reply, ..Inputs::default() });
            let answer = bully::untold(bully::Case::From, &at).experiment(1).unwrap().run(&|| ());
            let answer = answer.expect("it can be simulated");
            let mean = |measure| answer.measure(measure).expect("it is measured").clone();
            let took = bully::time(bully::Case::From, &at).unwrap();
            assert!(mean(Measure::Time).agrees_with(took, 0.999), "{took}: {answer:?}");
            let sent = bully::corrected(bully::Case::From, bully::Column::All, &at).unwrap();
            assert_eq!((mean(Measure::Messages).mean, answer.unsettled), (sent, 0));
        }
    }
}

#[test]
fn on_networks_it_matters_how_many_links_there_are() {
    for quantity in all().filter(|quantity| quantity.reads.contains(&"links")) {
        for links in [19, 25, 60, 190] {
            let given = Inputs { nodes: 20, links: Some(links), ..Inputs::default() };
            assert!(agrees(quantity, &inputs(given), 1000), "{}", quantity.name);
        }
    }
}

#[test]
fn with_losses_nothing_is_counted() {
    let loss = bellwether_analysis::Loss::Uncorrelated(0.1);
    let lossy = inputs(Inputs { loss, ..Inputs::default() });
    for quantity in all() {
        let refused = (quantity.corrected)(&lossy);
        let name = quantity.name;
        assert!(matches!(refused, Err(OutOfDomain::Condition { .. })), "{name}: {refused:?}");
        assert!((quantity.simulation)(&lossy).is_none(), "{name}");
        assert!(quantity.reads.contains(&"loss"), "{name}");
    }
}
