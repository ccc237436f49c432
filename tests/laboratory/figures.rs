//! The papers' figures.

use super::asking::{Lab, stdout};
use serde_json::{Value, json};

#[test]
fn figures_are_listed_and_made_with_verdicts_and_runs_to_play() {
    let lab = Lab::start();
    let listed = lab.get("/api/figures").json();
    let figures = listed["figures"].as_array().unwrap();
    assert!(figures.len() > 10);
    assert!(figures.iter().all(|figure| figure["verdicts"].is_null()));
    let made = lab.post("/api/figures/bully-3-12", &json!({}));
    let figure = &made.said("figure")[0];
    assert!(figure["svg"].as_str().unwrap().starts_with("<svg"), "{figure}");
    let verdicts = figure["verdicts"].as_array().unwrap();
    assert!(verdicts.iter().any(|verdict| verdict["verdict"] == "confirmed"), "{verdicts:?}");
    let run = lab.post("/api/run", &figure["points"][0]["what"]);
    assert_eq!(run.said("end")[0]["leaders"], json!([6]));
    let listed = lab.get("/api/figures").json();
    let figures = listed["figures"].as_array().unwrap();
    let known = figures.iter().find(|figure| figure["id"] == "bully-3-12").unwrap();
    assert_eq!(&known["verdicts"], &figure["verdicts"], "what was made is remembered");
}

#[test]
fn a_simulated_point_of_a_figure_can_be_played() {
    let lab = Lab::start();
    let made = lab.post("/api/figures/5.6", &json!({ "runs": 2 }));
    assert!(made.said("progress").len() > 1);
    let figure = &made.said("figure")[0];
    let points = figure["points"].as_array().unwrap();
    assert!(!points.is_empty(), "{}", figure["command"]);
    let run = lab.post("/api/run", &points[0]["what"]);
    assert_eq!(run.said("end").len(), 1, "{run:?}");
    assert!(figure["csv"].as_str().unwrap().lines().count() > 3);
    assert_eq!(figure["command"], "bellwether reproduce 5.6 --runs 2 --seed 1");
    let listed = lab.get("/api/figures").json();
    let known = |it: &Value| it["id"] == "5.6" && it["verdicts"].is_array();
    let some = listed["figures"].as_array().unwrap().iter().any(known);
    assert!(!some, "the list has verdicts of the usual runs alone");
}

#[test]
fn a_point_of_a_disturbed_group_is_played_as_its_first_run() {
    let lab = Lab::start();
    let made = lab.post("/api/figures/reestablishment-delay", &json!({ "runs": 2 }));
    let figure = &made.said("figure")[0];
    let points = figure["points"].as_array().unwrap();
    let folder = std::env::temp_dir().join(format!("bw-lab-point-{}", std::process::id()));
    for (scenario, kind) in [("departure", "crash"), ("join-greater", "start")] {
        let meant = format!(" --scenario {scenario} ");
        let of = |point: &&Value| point["command"].as_str().unwrap().contains(&meant);
        let point = points.iter().find(of).unwrap_or_else(|| panic!("no {scenario}"));
        assert_eq!(point["note"], Value::Null, "all of its processes are shown: {point}");
        let run = lab.post("/api/run", &point["what"]);
        let at = point["at"].as_u64().unwrap();
        let event = |line: &Value| line["kind"] == kind && line["t"] == at;
        assert!(run.lines().iter().any(event), "{scenario}: nothing happens at {at}");
        let command = point["command"].as_str().unwrap().strip_prefix("bellwether ").unwrap();
        stdout(&format!("{command} --trace {}", folder.display()));
        let traced = std::fs::read_to_string(&folder).unwrap();
        let (records, traced) = (run.records(), traced.lines().collect::<Vec<_>>());
        let both = records.len().min(traced.len());
        assert!(both > 100, "{both}");
        assert_eq!(records[..both], traced[..both], "{command}");
    }
    std::fs::remove_file(&folder).unwrap();
}
