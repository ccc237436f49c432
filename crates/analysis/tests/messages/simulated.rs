//! Every corrected form beside the simulation its quantity names.
//!
//! Seeds are fixed; an exact form must lie within the 99.9 % interval.

use crate::setting;
use bellwether_analysis::{Given, Loss, Setting, quantity};
use bellwether_protocols::announce_listen::Shape;

/// The exact forms, in settings in which no parameter can stand for another.
#[test]
fn exact_forms_agree_with_simulation() {
    let mut bad = String::new();
    for name in [
        "le-s.messages-in-suppression",
        "le-s.messages",
        "le-a.messages",
        "al.messages",
        "le-m.messages",
        "sup.messages",
        "sup.convergence-time",
        "sup.delay",
    ] {
        for given in settings() {
            compare(name, given, &mut bad);
        }
    }
    assert!(bad.is_empty(), "{bad}");
}

fn settings() -> Vec<Given> {
    let mut all = Vec::new();
    for loss in [Loss::None, Loss::Correlated(0.4), Loss::Uncorrelated(0.4)] {
        for (delay, suppress, announce) in
            [(0.1, 1.0, 1.0), (0.0, 1.0, 1.5), (0.25, 1.0, 0.4), (0.7, 0.3, 0.2), (0.03, 0.5, 2.0)]
        {
            for nodes in [2, 7, 40] {
                for shape in
                    [Shape::Uniform, Shape::Rising { rate: 3.0 }, Shape::Falling { rate: 8.0 }]
                {
                    let given =
                        Given { nodes, loss, delay, suppress, announce, shape, ..Given::default() };
                    all.push(given);
                }
            }
        }
    }
    all
}

fn compare(name: &str, given: Given, bad: &mut String) {
    let quantity = quantity(name).unwrap();
    let setting = Setting::try_from(given).unwrap();
    let (Ok(value), Some((cell, measure))) =
        ((quantity.corrected)(&setting), (quantity.simulation)(&setting))
    else {
        return;
    };
    if !(quantity.exact)(&setting) {
        return;
    }
    let cell = cell.runs(4000);
    let answer = cell.answer(2, &|| ()).unwrap();
    let got = answer.measure(measure).unwrap();
    if !got.agrees_with(value, 0.999) {
        let off = (got.mean - value) / got.stderr;
        *bad += &format!("{name} {value}: {} off {off:.2} {}\n", got.mean, cell.command());
    }
}

#[test]
fn settings_differ() {
    let _ = setting(|_| ());
}
