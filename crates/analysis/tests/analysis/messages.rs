//! Numbers of messages beside simulation: every corrected form, in the simulation its quantity
//! names.
//!
//! Seeds are fixed. An exact form must lie within the 99.9 % interval, in settings in which no
//! parameter can stand for another; an approximate one within what it promises.

use bellwether_analysis::{Inputs, Loss, Quantity, ValidInputs, quantity};
use bellwether_protocols::announce_listen::Shape;
use bellwether_sim::stats::Summary;

/// The quantities that have an exact form.
const EXACT: [&str; 8] = [
    "le-s.messages-in-suppression",
    "le-s.messages",
    "le-a.messages",
    "al.messages",
    "le-m.messages",
    "sup.messages",
    "sup.convergence-time",
    "sup.delay",
];

fn named(name: &str) -> &'static Quantity {
    quantity(name).expect("a quantity of this name")
}

fn simulated(quantity: &Quantity, inputs: &ValidInputs, runs: u64) -> Option<(Summary, String)> {
    let (point, measure) = (quantity.simulation)(inputs)?;
    let point = point.runs(runs).seed(1);
    let answer = point.answer(2, &|| ()).expect("a simulation that can be made");
    Some((answer.measure(measure).expect("measured in every run").clone(), point.command()))
}

fn settings() -> impl Iterator<Item = ValidInputs> {
    let losses = [Loss::None, Loss::Correlated(0.4), Loss::Uncorrelated(0.4)];
    // Δ, T_S, T_A: as in the figures; without delay; with announcements that overtake each other.
    let times =
        [(0.1, 1.0, 1.0), (0.0, 1.0, 1.5), (0.25, 1.0, 0.4), (0.7, 0.3, 0.2), (0.03, 0.5, 2.0)];
    let shapes = [Shape::Uniform, Shape::Rising { rate: 3.0 }, Shape::Falling { rate: 8.0 }];
    losses.into_iter().flat_map(move |loss| {
        times.into_iter().flat_map(move |(delay, suppress, announce)| {
            [(2, Shape::Uniform), (7, shapes[0]), (40, shapes[1]), (40, shapes[2])].map(
                |(nodes, shape)| {
                    let given = Inputs {
                        nodes,
                        loss,
                        delay,
                        suppress,
                        announce,
                        shape,
                        ..Inputs::default()
                    };
                    ValidInputs::try_from(given).expect("in the domain")
                },
            )
        })
    })
}

#[test]
fn exact_forms_agree_with_simulation() {
    let (mut bad, mut compared) = (String::new(), 0);
    for name in EXACT {
        let quantity = named(name);
        for inputs in settings().filter(|inputs| (quantity.exact)(inputs)) {
            let Ok(value) = (quantity.corrected)(&inputs) else { continue };
            let Some((got, command)) = simulated(quantity, &inputs, 4000) else { continue };
            compared += 1;
            if !got.agrees_with(value, 0.999) {
                let off = (got.mean - value) / got.stderr;
                bad += &format!("{name} is {value}, but {} off {off:.2}: {command}\n", got.mean);
            }
        }
    }
    assert!(bad.is_empty(), "{bad}");
    assert!(compared > 250, "{compared} comparisons only");
}

/// Section 5.3.3.3, Δ = 0: the closure is too high, by more in larger groups. The recurrence is as
/// good in small groups with heavy loss, and no such thing in large ones. The bounds are what
/// `closure` says of itself, and the error of 2000 runs.
#[test]
fn the_closure_stays_near_and_the_recurrence_does_not() {
    let (closure, recurrence) = (named("le-s.closure"), named("le-s.recurrence"));
    for l in [0.1, 0.4, 0.7] {
        for (nodes, most) in [(10, 1.03), (100, 1.04), (1000, 1.05)] {
            let given =
                Inputs { nodes, loss: Loss::Uncorrelated(l), delay: 0.0, ..Inputs::default() };
            let inputs = given.try_into().expect("in the domain");
            let (got, command) = simulated(closure, &inputs, 2000).expect("simulated");
            let noise = 3.3 * got.stderr / got.mean;
            let near = (closure.corrected)(&inputs).expect("a value") / got.mean;
            assert!(1.0 - noise < near && near < most + noise, "{near} ± {noise}: {command}");
            if nodes >= 100 {
                let far = (recurrence.corrected)(&inputs).expect("a value") / got.mean;
                assert!(far > near + 0.1, "{far} {near}: {command}");
            }
        }
    }
}
