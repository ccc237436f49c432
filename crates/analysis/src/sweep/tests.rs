//! Sweeps: points, pieces, shares, and the coverage of the rule that stops.

mod coverage;

use super::looks::{Rule, Width};
use super::piece::Key;
use super::work::{InMemory, Keep, NotSwept, Outcome, Share, Task, Work};
use super::*;
use crate::Point;
use crate::inputs::Loss;
use bellwether_sim::{Control, Experiment, Part};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

fn read(text: &Value) -> Result<Sweep, BadSweep> {
    Sweep::of(text.as_object().expect("a table"))
}

fn settings(sweep: &Sweep) -> Vec<String> {
    let shown = |at: At| {
        let settings = at.settings.iter().map(|(name, value)| format!("{name}={value}"));
        settings.collect::<Vec<_>>().join(" ")
    };
    sweep.points().map(shown).collect()
}

#[test]
fn axes_are_crossed_and_flags_of_one_axis_change_together() {
    let axes = json!([{"nodes": [5, 10], "suppress": ["1s", "2s"]}, {"loss": [0.1, 0.2]}]);
    let sweep = read(&json!({"sim": "le-s", "axis": axes})).unwrap();
    let expected = [
        "nodes=5 suppress=\"1s\" loss=0.1",
        "nodes=5 suppress=\"1s\" loss=0.2",
        "nodes=10 suppress=\"2s\" loss=0.1",
        "nodes=10 suppress=\"2s\" loss=0.2",
    ];
    assert_eq!(settings(&sweep), expected);
    assert_eq!((sweep.len(), sweep.columns()), (Some(4), vec!["nodes", "suppress", "loss"]));
    let two = read(&json!({"sim": ["le-s", "le-m"], "axis": axes})).unwrap();
    let targets: Vec<String> = two.points().map(|at| at.target).collect();
    assert_eq!((targets[3].as_str(), targets[4].as_str(), targets.len()), ("le-s", "le-m", 8));
}

#[test]
fn ranges_go_by_steps_and_by_factors() {
    let values = |range: Value| {
        let sweep = read(&json!({"sim": "le-s", "axis": [{"x": range}]})).unwrap();
        settings(&sweep).into_iter().map(|text| text.replace("x=", "")).collect::<Vec<_>>()
    };
    let tenths = values(json!({"from": 0, "to": 0.5, "step": 0.1}));
    assert_eq!(tenths, ["0.0", "0.1", "0.2", "0.3", "0.4", "0.5"]);
    assert_eq!(values(json!({"from": 10, "to": 4, "step": -3})), ["10", "7", "4"]);
    assert_eq!(values(json!({"from": 0, "to": 1, "count": 3})), ["0.0", "0.5", "1.0"]);
    let factors = json!({"from": 1, "to": 1000, "count": 4, "log": true, "whole": true});
    assert_eq!(values(factors), ["1", "10", "100", "1000"]);
    let few = json!({"from": 1, "to": 3, "count": 9, "log": true, "whole": true});
    assert_eq!(values(few), ["1", "2", "3"], "whole numbers that meet are one");
    let times = json!({"from": "10ms", "to": "1s", "count": 3, "log": true});
    assert_eq!(values(times), ["0.01", "0.1", "1.0"]);
}

#[test]
fn what_is_wrong_is_named_with_its_rule() {
    let axis = |axis: Value| json!({"sim": "le-s", "axis": [axis]});
    for (text, key, rule) in [
        (json!({"axis": []}), "sim", "name a protocol"),
        (json!({"sim": "le-s", "axes": []}), "axes", "no such key"),
        (axis(json!({"loss": []})), "loss", "from 1 to"),
        (axis(json!({"loss": 3})), "loss", "a list"),
        (axis(json!({"link": [[["0-1"]]]})), "link", "or lists of these"),
        (axis(json!({"link": [[]]})), "link", "or lists of these"),
        (json!({"sim": "x", "fixed": {"link": []}}), "link", "given several times"),
        (axis(json!({"loss": {"from": 0, "to": 1}})), "loss", "`step` or `count`"),
        (axis(json!({"loss": {"from": 0, "to": 1, "step": -1}})), "loss.step", "lead"),
        (axis(json!({"loss": {"from": 0, "to": 1, "step": 1e-9}})), "loss", "values"),
        (axis(json!({"loss": {"from": 0, "to": 1, "count": 3, "log": true}})), "loss", "above 0"),
        (axis(json!({"runs": [1]})), "runs", "says this itself"),
        (axis(json!({"loss": [0], "nodes": [1, 2]})), "nodes", "equally many"),
        (axis(json!({"--nodes": [1, 2]})), "--nodes", "without its dashes"),
        (json!({"sim": "x", "fixed": {"a": 1}, "axis": [{"a": [1]}]}), "a", "twice"),
        (json!({"sim": "x", "runs": {"relative": 0.1, "first": 5}}), "runs.first", "100"),
        (json!({"sim": "x", "runs": {"first": 500}}), "runs", "one of"),
        (json!({"sim": "x", "runs": 1}), "runs", "at least 2"),
        (
            json!({"sim": "x", "measures": ["a"], "runs": {"relative": 1, "of": "b"}}),
            "runs.of",
            "not among",
        ),
    ] {
        let error = read(&text).unwrap_err();
        assert!(error.key == key && error.rule.contains(rule), "{text}: {error}");
    }
    let thousand = json!({"from": 1, "to": 1001, "step": 1});
    let axes: Vec<Value> = ["a", "b"].map(|name| json!({name: thousand.clone()})).to_vec();
    let error = read(&json!({"sim": "x", "axis": axes})).unwrap_err();
    assert!(error.rule.contains("1000000 points"), "{error}");
}

#[test]
fn looks_are_fixed_beforehand_and_share_the_doubt() {
    let runs = json!({"relative": 0.05, "first": 200, "most": 1000});
    let rule = read(&json!({"sim": "x", "runs": runs})).unwrap().rule.unwrap();
    assert_eq!(rule.schedule, [200, 400, 800, 1000]);
    assert!((rule.at_each_look() - 0.9875).abs() < 1e-12);
    assert_eq!(rule.narrow.as_ref().unwrap().width, Width::Relative(0.05));
    let fixed = Rule::fixed(1000, 0.95);
    assert_eq!((fixed.at_each_look(), fixed.most()), (0.95, 1000));
}

#[test]
fn a_piece_is_read_by_its_own_key_and_only_whole() {
    let key = |command: &str| Key {
        command: command.to_owned(),
        measures: vec!["messages".to_owned()],
        runs: 10..12,
    };
    let part = Part {
        measures: vec!["messages".to_owned(), "time".to_owned()],
        values: vec![1.5, f64::NAN, 0.1, 3.0],
        settled: vec![true, false],
    };
    let bytes = key("a").encode(&part);
    let again = key("a").decode(&bytes).expect("it is whole");
    assert_eq!(again.measures, part.measures);
    assert!(again.values.iter().zip(&part.values).all(|(a, b)| a.to_bits() == b.to_bits()));
    assert_eq!(again.settled, part.settled);
    assert_ne!(key("a").name(), key("b").name());
    assert_eq!(key("b").decode(&bytes), None);
    assert_eq!(Key { runs: 10..13, ..key("a") }.decode(&bytes), None);
    for length in 0..bytes.len() {
        assert_eq!(key("a").decode(&bytes[..length]), None, "{length} bytes of it");
    }
    for place in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[place] ^= 1;
        assert_eq!(key("a").decode(&damaged), None, "byte {place}");
    }
}

fn experiment(loss: f64) -> Experiment {
    let point = Point::new("le-s", 10).loss(Loss::Uncorrelated(loss)).seed(7);
    point.experiment(1).expect("it can be simulated")
}

fn task(loss: f64) -> Task {
    let make = Arc::new(experiment(loss));
    Task { command: format!("le-s {loss}"), make, measures: Vec::new() }
}

const LOSSES: [f64; 3] = [0.1, 0.3, 0.5];

struct Trial {
    tasks: Vec<Task>,
    rule: Rule,
    made: AtomicU64,
}

impl Trial {
    fn new(rule: Rule) -> Self {
        Self { tasks: LOSSES.map(task).to_vec(), rule, made: AtomicU64::new(0) }
    }

    fn work<'a>(&'a self, keep: &'a dyn Keep, threads: usize, piece: u64) -> Work<'a> {
        Work {
            tasks: &self.tasks,
            rule: &self.rule,
            piece,
            keep,
            threads,
            made: &|_| (),
            spared: &|_| (),
            over: &|| false,
        }
    }

    fn whole(&self, threads: usize, piece: u64) -> Vec<Outcome> {
        self.work(&InMemory::default(), threads, piece).whole().expect("it can be simulated")
    }
}

#[test]
fn the_rows_do_not_depend_on_threads_or_pieces_and_are_those_of_one_experiment() {
    let trial = Trial::new(Rule::fixed(300, 0.95));
    let whole = trial.whole(1, 1000);
    for (threads, piece) in [(1, 7), (2, 50), (2, 1000), (8, 100)] {
        assert_eq!(trial.whole(threads, piece), whole, "{threads} threads, pieces of {piece}");
    }
    for (loss, outcome) in LOSSES.into_iter().zip(&whole) {
        let experiment = Experiment { runs: 300, ..experiment(loss) };
        let answer = experiment.run(&|| ()).expect("it can be simulated");
        assert_eq!(outcome.measured.len(), answer.measures.len());
        for ((measure, summary), measured) in answer.measures.iter().zip(&outcome.measured) {
            assert_eq!((measure.name(), summary), (measured.name.clone(), &measured.summary));
            assert_eq!(summary.ci95, measured.interval);
        }
        assert_eq!((outcome.runs, outcome.unsettled), (300, answer.unsettled));
    }
}

#[test]
fn shares_join_to_what_one_machine_makes() {
    let narrow = json!({"relative": 0.05, "of": "messages", "first": 100, "most": 1000});
    let sequential = read(&json!({"sim": "x", "runs": narrow})).unwrap().rule.unwrap();
    for rule in [Rule::fixed(300, 0.95), sequential] {
        let trial = Trial::new(rule);
        let whole = trial.whole(2, 50);
        let kept = InMemory::default();
        for part in [3, 1] {
            trial.work(&kept, 1, 50).share(Share { part, of: 3 }).expect("it can be simulated");
        }
        let missing = trial.work(&kept, 1, 50).join();
        assert!(matches!(missing, Err(NotSwept::Missing(1.., ..))), "{missing:?}");
        trial.work(&kept, 2, 50).share(Share { part: 2, of: 3 }).expect("it can be simulated");
        assert_eq!(trial.work(&kept, 1, 50).join(), Ok(whole));
    }
}

#[test]
fn a_sweep_that_was_stopped_goes_on_with_the_pieces_that_are_there() {
    let trial = Trial::new(Rule::fixed(200, 0.95));
    let kept = InMemory::default();
    let over = || trial.made.fetch_add(1, Ordering::Relaxed) >= 250;
    let stopped = Work { over: &over, ..trial.work(&kept, 1, 50) }.whole();
    assert_eq!(stopped, Err(NotSwept::Stopped));
    // Twelve pieces in all, of which five were made.
    let count = AtomicU64::new(0);
    let over = || count.fetch_add(1, Ordering::Relaxed) > u64::MAX / 2;
    let whole = Work { over: &over, ..trial.work(&kept, 1, 50) }.whole();
    assert_eq!(whole, Ok(trial.whole(2, 200)));
    assert_eq!(count.load(Ordering::Relaxed), 7 * 50, "only the others are made");
}

#[test]
fn a_part_has_the_runs_of_the_whole() {
    let experiment = experiment(0.3);
    let control = Control { progress: &|| (), over: &|| false };
    let whole = experiment.run_part(0..20, control).unwrap();
    let parts =
        [0..7, 7..20].map(|runs| experiment.run_part(runs, control).expect("it can be simulated"));
    assert_eq!(parts.iter().map(Part::runs).collect::<Vec<_>>(), [7, 13]);
    for name in bellwether_sim::part::measures(&parts) {
        let column = bellwether_sim::part::column(&parts, &name);
        assert_eq!(column, bellwether_sim::part::column(std::slice::from_ref(&whole), &name));
    }
    let only = whole.clone().only(&["messages".to_owned()]);
    assert_eq!((only.measures.len(), only.values.len()), (1, 20));
}

/// What is told adds up to the most runs that all points may get, whether runs are made, found, or
/// not needed; and what was kept is not told as made.
#[test]
fn whoever_follows_learns_which_runs_took_time() {
    let narrow = json!({"sim": "x", "runs": {"relative": 0.2, "first": 100, "most": 400}});
    let narrow = read(&narrow).unwrap().rule.unwrap();
    for rule in [Rule::fixed(200, 0.95), narrow] {
        let trial = Trial::new(rule);
        let keep = InMemory::default();
        let told = || {
            let (made, spared) = (AtomicU64::new(0), AtomicU64::new(0));
            let work = Work {
                made: &|runs| _ = made.fetch_add(runs, Ordering::Relaxed),
                spared: &|runs| _ = spared.fetch_add(runs, Ordering::Relaxed),
                ..trial.work(&keep, 2, 50)
            };
            let runs = work.whole().expect("it can be simulated").iter().map(|row| row.runs).sum();
            let most = LOSSES.len() as u64 * trial.rule.most();
            let [made, spared] = [made, spared].map(AtomicU64::into_inner);
            assert_eq!(made + spared, most);
            (made, runs)
        };
        let (made, runs): (u64, u64) = told();
        assert_eq!(made, runs);
        assert_eq!(told(), (0, runs), "all is there now");
    }
}
