//! The analysis of the probabilistic election, wherever it may be asked about.

use bellwether_analysis::probabilistic::one_round;
use bellwether_analysis::probabilistic::{QUANTITIES, e1, e2, e4, full_views, success};
use bellwether_analysis::support::may_be;
use bellwether_analysis::{Inputs, Loss, OutOfDomain, Point, Quantity, Unit, ValidInputs};
use bellwether_protocols::probabilistic::Choice;
use bellwether_sim::Measure;

fn all() -> impl Iterator<Item = &'static Quantity> {
    QUANTITIES.iter().copied().flatten().copied()
}

fn inputs(given: Inputs) -> ValidInputs {
    given.try_into().expect("inputs in the domain")
}

/// Sizes with K from one to more than all, and probabilities that are sure among others.
fn everywhere() -> impl Iterator<Item = ValidInputs> {
    let sizes = [(1, 1), (1, 9), (2, 1), (3, 7), (100, 7), (100, 100), (6000, 40)];
    let large = [(1_000_000, 1), (1_000_000, 7), (1_000_000, 3000), (1_000_000, 1_000_000)];
    let chances = [0.0, 1e-300, 0.001, 0.5, 0.999, 1.0];
    let few = [0.0, 0.3, 1.0];
    let grid = move |(nodes, k)| {
        let with = move |view, fail, unicast_loss, multicast_loss| {
            let given = Inputs { nodes, k, view, fail, ..Inputs::default() };
            inputs(Inputs { unicast_loss, multicast_loss, ..given })
        };
        let mut all = Vec::new();
        for view in if nodes > 10_000 { &few[1..2] } else { &chances[..] } {
            for fail in few {
                for multicast_loss in if nodes > 10_000 { &few[..] } else { &chances[..] } {
                    all.push(with(*view, fail, fail, *multicast_loss));
                }
            }
        }
        all
    };
    sizes.into_iter().chain(large).flat_map(grid)
}

#[test]
fn probabilities_are_probabilities_wherever_they_are_asked_about() {
    for at in everywhere() {
        for quantity in all() {
            let name = quantity.name;
            for (form, formula) in
                [("printed", quantity.printed), ("corrected", quantity.corrected)]
            {
                match formula(&at) {
                    Ok(value) if quantity.unit == Unit::Fraction => {
                        assert!((0.0..=1.0).contains(&value), "{name} {form}: {value} at {at:?}");
                    }
                    Ok(value) => {
                        assert!(value >= 0.0 && value.is_finite(), "{name} {form}: {at:?}");
                    }
                    Err(why) => assert!(why.to_string().len() > 10, "{name}: {why:?}"),
                }
            }
        }
    }
}

#[test]
fn what_is_no_probability_is_refused_with_its_name() {
    let refused = |change: fn(&mut Inputs)| {
        let mut given = Inputs::default();
        change(&mut given);
        ValidInputs::try_from(given).expect_err("it is refused").to_string()
    };
    assert!(refused(|given| given.k = 0).contains("k = 0, but 1 <= k"));
    for (change, words) in [
        ((|given| given.view = 1.1) as fn(&mut Inputs), "view = 1.1"),
        (|given| given.fail = -0.1, "fail = -0.1"),
        (|given| given.unicast_loss = f64::NAN, "ucast-loss = NaN"),
        (|given| given.multicast_loss = 2.0, "mcast-loss = 2"),
    ] {
        let line = refused(change);
        assert!(line.contains(words) && line.contains("from 0 to 1"), "{line}");
    }
}

/// More relays make all but E3 better; more that goes wrong makes everything worse.
#[test]
fn more_of_what_goes_wrong_is_worse() {
    let usual = Inputs { nodes: 2000, k: 20, ..Inputs::default() };
    let falls = |formula: fn(&ValidInputs) -> Result<f64, OutOfDomain>,
                 change: fn(&mut Inputs, f64)| {
        let curve: Vec<f64> = [0.0, 0.05, 0.1, 0.3, 0.6]
            .map(|chance| {
                let mut given = usual;
                change(&mut given, chance);
                formula(&inputs(given)).expect("it has a value")
            })
            .to_vec();
        assert!(curve.windows(2).all(|pair| pair[0] >= pair[1] - 1e-12), "{curve:?}");
    };
    let fail: fn(&mut Inputs, f64) = |given, chance| given.fail = chance;
    let loss: fn(&mut Inputs, f64) = |given, chance| given.multicast_loss = chance;
    for change in [fail, loss] {
        falls(e2::connected, change);
        falls(full_views::corrected, change);
        falls(e4::printed, change);
    }
    falls(success::printed, |given, chance| given.unicast_loss = chance);
    falls(success::corrected, |given, chance| given.view = 1.0 - chance);
    let enough = [2, 7, 20, 60, 200].map(|k| {
        let at = inputs(Inputs { k, ..usual });
        (e1::corrected(&at).expect("a value"), e2::connected(&at).expect("a value"))
    });
    assert!(enough.windows(2).all(|pair| pair[0].1 < pair[1].1 + 1e-12), "{enough:?}");
    assert!(enough[1].0 > 0.8 && enough[4].0 > 0.999_999, "{enough:?}");
}

/// Wherever a form is exact and there is a simulation, they agree at 99.9 %.
#[test]
fn what_is_exact_is_what_its_simulation_gives() {
    let mut compared = [0; 2];
    for (nodes, k, view, fail, multicast_loss) in [
        (2, 2, 0.5, 0.0, 0.0),
        (6, 3, 0.2, 0.0, 0.0),
        (20, 30, 0.3, 0.2, 0.1),
        (60, 4, 1.0, 0.0, 0.3),
        (150, 12, 0.1, 0.0, 0.0),
        (150, 12, 0.3, 0.0, 0.5),
        (600, 7, 0.5, 0.001, 0.001),
    ] {
        let given = Inputs { nodes, k, view, fail, multicast_loss, ..Inputs::default() };
        let at = inputs(given);
        for quantity in all() {
            let Some((point, measure)) = (quantity.simulation)(&at) else { continue };
            let point = point.runs(1000).seed(5);
            let answer = point.answer(1, &|| ()).expect("it can be simulated");
            let found = answer.measure(measure).expect("it is measured");
            let value = (quantity.corrected)(&at).expect("what is simulated has a value");
            let (name, command) = (quantity.name, point.command());
            let exact = (quantity.exact)(&at);
            compared[usize::from(exact)] += 1;
            if exact {
                let agrees = may_be(found, value);
                assert!(agrees, "{name}: {value}, not {}: {command}", found.mean);
            } else if name == "probabilistic.success" || name == "probabilistic.unicasts" {
                let bound = value <= found.mean + 4.0 * found.stderr;
                assert!(bound, "{name}: {value} is above {}: {command}", found.mean);
            }
        }
    }
    assert!(compared[0] > 10 && compared[1] > 30, "{compared:?}");
}

/// Three relays that see each other and prefer three different ones.
#[test]
fn three_relays_send_more_than_the_texts_bound() {
    let point = one_round(3, 3).loss(Loss::None).with("choice", Choice::Rank.name());
    let point = Point { view: 1.0, fail: 0.0, ..point.runs(100) };
    let answer = point.answer(1, &|| ()).expect("it is possible");
    let unicasts = answer.measure(Measure::Unicasts).expect("they are counted");
    assert!(unicasts.min > 13.5 && unicasts.max == 18.0, "{unicasts:?}");
}
