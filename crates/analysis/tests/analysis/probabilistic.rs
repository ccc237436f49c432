//! The analysis of the probabilistic election, wherever it may be asked about.

use bellwether_analysis::probabilistic::one_round;
use bellwether_analysis::probabilistic::{
    QUANTITIES, detection, e1, e2, e3, e4, full_views, success,
};
use bellwether_analysis::support::may_be;
use bellwether_analysis::{Inputs, Loss, OutOfDomain, Point, Quantity, Unit, ValidInputs};
use bellwether_core::{Event, NodeId};
use bellwether_protocols::probabilistic::Choice;
use bellwether_sim::{Control, Measure, Proportion, Run};
use std::collections::{BTreeMap, BTreeSet};

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

/// The runs of one round of this point, and what is measured in them.
fn kept(point: &Point) -> (Vec<Measure>, Vec<Run>) {
    let control = Control { progress: &|| (), over: &|| false };
    let experiment = point.experiment(0).expect("it can be simulated");
    let (_, samples) = experiment.run_and_keep(control).expect("it can be simulated");
    (samples.measures, samples.runs)
}

fn value(measures: &[Measure], run: &Run, of: Measure) -> Option<f64> {
    let place = measures.iter().position(|measure| *measure == of)?;
    run.values[place]
}

/// E1 where nothing is lost and nobody fails: K_1 = K_2 = K. Tolerance: a 99.9 % interval.
#[test]
fn relays_are_within_half_of_k_as_often_as_computed() {
    for (k, printed_is_low) in [(3, true), (7, true), (40, false)] {
        let given = Inputs { nodes: 1000, k, fail: 0.0, ..Inputs::default() };
        let given = inputs(Inputs { unicast_loss: 0.0, multicast_loss: 0.0, ..given });
        let point = Point { fail: 0.0, ..one_round(1000, k) }.loss(Loss::None).runs(2000);
        let (measures, runs) = kept(&point);
        let window = 0.5 * f64::from(k)..=1.5 * f64::from(k);
        let inside = |run: &&Run| {
            value(&measures, run, Measure::Relays).is_some_and(|relays| window.contains(&relays))
        };
        let successes = runs.iter().filter(inside).count() as u64;
        let [low, high] = Proportion { successes, runs: runs.len() as u64 }.interval(0.999);
        let (right, wrong) = (e1::corrected(&given).unwrap(), e1::printed(&given).unwrap());
        assert!((low..=high).contains(&right), "K = {k}: {low} .. {high}, {right}");
        assert_eq!(wrong < low, printed_is_low, "K = {k}: {low} .. {high}, printed {wrong}");
    }
}

/// The proof of the bound on E3 has a gap, so a counterexample is looked for among rounds whose
/// relays are as many as E1 asks and have one component, where nothing but E3 can fail. With small
/// views and much loss most edges are seen from one side only, and take two unicasts. Where all are
/// relays there are no rounds with fewer relays that make up for it; and where only a relay itself
/// knows its rank, nobody prefers the best one because it sees it. Tolerance: the upper end of a
/// 99.9 % interval.
#[test]
fn no_round_with_small_views_and_much_loss_refutes_the_printed_bound_on_e3() {
    let many = [(4, 0.1, 0.5), (6, 0.2, 0.7), (8, 0.1, 0.3), (12, 0.1, 0.3), (20, 0.1, 0.2)];
    let many = many.map(|(k, view, loss)| (1000, k, view, loss));
    let mut all = Vec::new();
    for k in [2, 3, 4, 5, 6, 8] {
        for view in [0.1, 0.2, 0.4] {
            all.extend([0.05, 0.2, 0.5, 0.8].map(|loss| (k, k, view, loss)));
        }
    }
    let (mut nearest, mut judged) = (f64::INFINITY, 0);
    for (nodes, k, view, loss) in many.into_iter().chain(all) {
        let given = Inputs { nodes, k, view, fail: 0.0, ..Inputs::default() };
        let bound = inputs(Inputs { unicast_loss: loss, multicast_loss: 0.0, ..given });
        let bound = e3::printed(&bound).expect("a value");
        let unicast_loss = Loss::apart(loss);
        let mut point = Point { view, fail: 0.0, unicast_loss, ..one_round(nodes, k) };
        if nodes == k {
            point = point.with("choice", Choice::Rank.name());
        }
        // Small groups are quick, and seldom of one component.
        let runs = if nodes == k { 4000 } else { 1000 };
        let point = Point { multicast_loss: Loss::None, ..point }.runs(runs);
        let (measures, runs) = kept(&point);
        let window = 0.5 * f64::from(k)..=1.5 * f64::from(k);
        let counts = |run: &&Run| {
            value(&measures, run, Measure::Components) == Some(1.0)
                && value(&measures, run, Measure::Relays)
                    .is_some_and(|relays| window.contains(&relays))
        };
        let runs: Vec<&Run> = runs.iter().filter(counts).collect();
        let good = |run: &&&Run| value(&measures, run, Measure::StrongSuccess) == Some(1.0);
        let successes = runs.iter().filter(good).count() as u64;
        let seen = Proportion { successes, runs: runs.len() as u64 };
        let cell = format!("N = {nodes}, K = {k}, view {view}, loss {loss}");
        if seen.runs < 20 {
            assert_eq!(nodes, k, "{cell}: {seen:?}");
            continue; // seldom one component
        }
        judged += 1;
        nearest = nearest.min(seen.share() - bound);
        assert!(seen.interval(0.999)[1] > bound, "{cell}: {seen:?}, {bound}");
    }
    assert!(judged >= 50, "{judged} cells");
    println!("{judged} cells; nearest to the bound by {nearest}");
}

/// How often somebody who lives hears the final messages of all relays, in one round of a group of
/// this size.
fn somebody_hears_all(nodes: u32, runs: u64) -> Proportion {
    let point = Point { fail: 0.1, view: 0.5, ..one_round(nodes, 12) };
    let point = Point { multicast_loss: Loss::apart(0.4), unicast_loss: Loss::None, ..point };
    let heard_all = |seed: &u64| {
        let records = point.clone().seed(*seed).experiment(1).expect("it is possible").trace();
        let (mut told, mut gone) = (BTreeSet::new(), BTreeSet::new());
        let mut heard: BTreeMap<NodeId, BTreeSet<NodeId>> = BTreeMap::new();
        for record in &records {
            match &record.event {
                Event::Send { message, .. } if message == "final" => {
                    told.insert(record.node);
                    heard.entry(record.node).or_default().insert(record.node);
                }
                Event::Recv { from, message, .. } if message == "final" => {
                    heard.entry(record.node).or_default().insert(*from);
                }
                Event::Crash => {
                    gone.insert(record.node);
                }
                _ => {}
            }
        }
        let mut living = heard.iter().filter(|(node, _)| !gone.contains(*node));
        !told.is_empty() && living.any(|(_, heard)| *heard == told)
    };
    let successes = (1..=runs).filter(heard_all).count() as u64;
    Proportion { successes, runs }
}

/// Theorem 2: as printed the probability falls to 0 as N grows, corrected it rises. Both are meant
/// as lower bounds. Tolerance: 99.9 % intervals.
#[test]
fn somebody_hears_all_final_messages_more_often_in_larger_groups() {
    let at = |nodes| {
        let given = Inputs { nodes, k: 12, fail: 0.1, ..Inputs::default() };
        let given = inputs(Inputs { multicast_loss: 0.4, ..given });
        let (printed, corrected) = (detection::printed(&given), detection::corrected(&given));
        (printed.expect("a value"), corrected.expect("a value"))
    };
    let (few, many) = (somebody_hears_all(20, 400), somebody_hears_all(2000, 60));
    let ([_, most], [least, highest]) = (few.interval(0.999), many.interval(0.999));
    assert!(most < least, "{few:?} {many:?}");
    assert!(at(20).0 > at(2000).0 && at(20).1 < at(2000).1, "{:?} {:?}", at(20), at(2000));
    assert!(at(2000).1 <= highest && at(20).1 <= most, "they are lower bounds");
}
