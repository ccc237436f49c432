//! Wherever a formula is asked about, it has a finite value or says why not: never a NaN.

use bellwether_analysis::{Inputs, Loss, OutOfDomain, Quantity, ValidInputs, quantities};
use bellwether_protocols::announce_listen::Shape;

const SHAPES: [Shape; 3] =
    [Shape::Uniform, Shape::Rising { rate: 10.0 }, Shape::Falling { rate: 10.0 }];

fn losses(rates: &[f64]) -> Vec<Loss> {
    let both = |rate: &f64| [Loss::Correlated(*rate), Loss::Uncorrelated(*rate)];
    rates.iter().flat_map(both).chain([Loss::None]).collect()
}

/// Times that are zero, equal, multiples of each other, or neither: Δ, T_S, T_A, T_L.
const TIMES: [(f64, f64, f64, f64); 8] = [
    (0.1, 1.0, 1.0, f64::INFINITY),
    (0.1, 1.0, 1.0, 3.0),
    (0.0, 1.0, 1.0, 2.5),
    (0.0, 0.0, 1.0, 1.0),
    (1.0, 1.0, 1.0, 0.25),
    (3.0, 1.0, 2.0, 40.0),
    (0.25, 7.0, 0.5, 0.5),
    (0.1, 0.0, 0.3, 0.9),
];

fn settings(sizes: &[u32], rates: &[f64]) -> Vec<ValidInputs> {
    let mut all = Vec::new();
    for &nodes in sizes {
        for &loss in &losses(rates) {
            for (delay, suppress, announce, listen) in TIMES {
                for shape in SHAPES {
                    let given = Inputs {
                        nodes,
                        loss,
                        delay,
                        suppress,
                        announce,
                        listen,
                        shape,
                        ..Inputs::default()
                    };
                    all.push(ValidInputs::try_from(given).expect("in the common domain"));
                }
            }
        }
    }
    all
}

fn has_a_value_or_a_reason(quantity: &Quantity, inputs: &ValidInputs) {
    let forms = [("printed", quantity.printed), ("corrected", quantity.corrected)];
    for (name, form) in forms {
        let value: Result<f64, OutOfDomain> = form(inputs);
        let finite = value.as_ref().map_or(true, |value| value.is_finite());
        assert!(finite, "{} {name}: {value:?} for {inputs:?}", quantity.name);
        if let Err(why) = value {
            let text = why.to_string();
            assert!(text.len() > 10 && !text.contains("--"), "{} {name}: {text}", quantity.name);
            // What stands between backticks is a parameter.
            for parameter in text.split('`').skip(1).step_by(2) {
                let known = |quantity: &Quantity| quantity.reads.contains(&parameter);
                assert!(quantities().any(known), "{}: {parameter}", quantity.name);
            }
        }
    }
    // A quantity that cannot be negative is not.
    if let Ok(value) = (quantity.corrected)(inputs) {
        assert!(value >= 0.0, "{}: {value} for {inputs:?}", quantity.name);
    }
    let note = (quantity.note)(inputs);
    assert!(!note.is_empty() && !note.contains("--"), "{}: {note}", quantity.name);
    if let Some((point, _)) = (quantity.simulation)(inputs) {
        assert!(point.window > bellwether_core::Duration::ZERO, "{}", point.command());
    }
}

#[test]
fn every_form_has_a_value_or_a_reason_for_groups_of_any_size() {
    for inputs in settings(&[1, 2, 3, 500], &[0.0, 0.4, 0.99]) {
        for quantity in quantities() {
            has_a_value_or_a_reason(quantity, &inputs);
        }
    }
}

#[test]
fn every_form_has_a_value_or_a_reason_for_a_million() {
    let [usual, ..] = TIMES;
    for loss in losses(&[0.4, 0.99]) {
        let given = Inputs { nodes: 1_000_000, loss, delay: usual.0, ..Inputs::default() };
        let inputs = ValidInputs::try_from(given).expect("in the common domain");
        for quantity in quantities() {
            has_a_value_or_a_reason(quantity, &inputs);
        }
    }
}

#[test]
fn names_are_dotted_and_each_is_had_once() {
    let mut names: Vec<&str> = quantities().map(|quantity| quantity.name).collect();
    for name in &names {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c);
        assert!(name.chars().all(plain), "{name}");
    }
    names.sort_unstable();
    let all = names.len();
    names.dedup();
    assert_eq!(names.len(), all, "two quantities have one name");
}
