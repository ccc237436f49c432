//! Many runs: the numbers of the command line, sharper with every answer.

use super::asking::{Lab, next, ran, seconds, stdout};
use serde_json::{Value, json};

#[test]
fn the_last_answer_is_that_of_the_command_line_and_formulas_stand_beside_it() {
    let lab = Lab::start();
    let flags = json!({ "nodes": 50, "loss": ".4" });
    let body = json!({ "protocol": "le-s", "flags": flags, "measure": "leadership_delay",
                       "runs": 200 });
    let answer = lab.post("/api/measure", &body);
    let results = answer.said("result");
    let runs: Vec<u64> = results.iter().map(|result| result["runs"].as_u64().unwrap()).collect();
    assert!(runs.is_sorted() && runs[0] < 20 && *runs.last().unwrap() == 200, "{runs:?}");
    let last = results.last().unwrap();
    let command = answer.said("asked")[0]["command"].as_str().unwrap().to_owned();
    let arguments = command.strip_prefix("bellwether ").unwrap();
    let told: Value = serde_json::from_str(&stdout(&format!("{arguments} --format json"))).unwrap();
    assert_eq!(last["summary"], told["metrics"]["leadership_delay"], "{command}");
    assert_eq!(last["all"], told["metrics"]);
    let counts = last["histogram"]["counts"].as_array().unwrap();
    let counted: u64 = counts.iter().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(counted, 200);
    let curve = last["cumulative"].as_array().unwrap();
    assert_eq!((&curve[0][1], &curve[curve.len() - 1][1]), (&json!(0.0), &json!(1.0)));
    let forms = &last["forms"];
    assert_eq!(forms["quantity"], "le-s.leadership-delay", "{last}");
    let analyzed = stdout("analyze le-s.leadership-delay --nodes 50 --loss .4 --format json");
    let analyzed: Value = serde_json::from_str(&analyzed).unwrap();
    for form in ["printed", "corrected"] {
        assert_eq!(forms[form], analyzed[form], "{form}");
    }
}

#[test]
fn before_a_run_that_takes_long_there_is_what_the_formula_gives() {
    let lab = Lab::start();
    let body = json!({ "protocol": "bully", "flags": { "nodes": 2000 }, "runs": 1 });
    let results = lab.post("/api/measure", &body).said("result");
    let (first, last) = (&results[0], &results[results.len() - 1]);
    assert_eq!((&first["runs"], &first["measure"]), (&json!(0), &last["measure"]), "{first}");
    assert!(first["forms"]["corrected"].is_number() && first["summary"].is_null(), "{first}");
    assert_eq!(first["forms"], last["forms"]);
    assert_eq!((&last["runs"], &last["summary"]["count"]), (&json!(1), &json!(1)));
    // It says nothing of how long a run is watched, and neither does the formula.
    let flags = json!({ "nodes": 250, "window": "200ms" });
    let body = json!({ "protocol": "local-leader", "flags": flags, "runs": 1 });
    let results = lab.post("/api/measure", &body).said("result");
    let (first, last) = (&results[0], &results[results.len() - 1]);
    assert_eq!(first["forms"]["quantity"], "local-leader.election-time", "{first}");
    assert_eq!((&first["runs"], &first["forms"]), (&json!(0), &last["forms"]), "{last}");
    assert_eq!(last["measure"], "election_time");
    // Its messages have a formula, and its time has none.
    let body = json!({ "protocol": "ad-hoc", "flags": { "nodes": 2000 }, "runs": 1 });
    let results = lab.post("/api/measure", &body).said("result");
    assert!(results.iter().all(|result| result["measure"] == "time"), "{results:?}");
}

#[test]
fn where_no_formula_is_known_a_smaller_group_stands_in_for_one_whose_runs_take_long() {
    let lab = Lab::start();
    let flags = |more: &[(&str, &str)]| {
        let mut flags = json!({ "nodes": 201, "window": "3.2s" });
        for (name, value) in more {
            flags[name] = json!(value);
        }
        flags
    };
    let of = |flags: &Value, measure: &Value| {
        let body =
            json!({ "protocol": "local-leader", "flags": flags, "measure": measure, "runs": 1 });
        lab.post("/api/measure", &body).said("result")
    };
    // Losses have no formula, and neither has how much is sent after the end of a leader.
    let lossy = (flags(&[("loss", ".1")]), Value::Null);
    let departure = flags(&[("scenario", "departure")]);
    let chosen = (departure.clone(), json!("messages_per_second"));
    for (flags, measure) in [lossy, chosen] {
        let results = of(&flags, &measure);
        let (first, last) = (&results[0], &results[results.len() - 1]);
        assert_eq!((&first["runs"], &first["instead"]["nodes"]), (&json!(0), &json!(5)), "{first}");
        assert!(first["summary"]["mean"].is_number() && first["forms"].is_null(), "{first}");
        assert_eq!(first["measure"], last["measure"], "{first}");
        assert_eq!((&last["runs"], &last["instead"]), (&json!(1), &Value::Null), "{last}");
    }
    // What follows the end of a leader has a formula.
    let first = &of(&departure, &Value::Null)[0];
    assert_eq!(first["forms"]["quantity"], "local-leader.failover.mean", "{first}");
    assert!(first["forms"]["corrected"].is_number() && first["instead"].is_null(), "{first}");
}

#[test]
fn a_mean_of_which_runs_were_cut_has_no_interval() {
    let lab = Lab::start();
    let flags = json!({ "nodes": 50, "loss": ".4", "listen": "2.5s", "scenario": "departure",
                        "window": "7s" });
    let body = json!({ "protocol": "le-s", "flags": flags, "runs": 300,
                       "measure": "reestablishment_delay" });
    let answer = lab.post("/api/measure", &body);
    let last = answer.said("result").pop().unwrap();
    let command = answer.said("asked")[0]["command"].as_str().unwrap().to_owned();
    let arguments = command.strip_prefix("bellwether ").unwrap();
    let told: Value = serde_json::from_str(&stdout(&format!("{arguments} --format json"))).unwrap();
    assert_eq!(last["all"], told["metrics"]);
    let (summary, cut) = (&last["summary"], last["unsettled"].as_u64().unwrap());
    assert!(cut > 100 && summary["cut"] == cut, "{summary}");
    assert!(summary["ci95"].is_null() && summary["stderr"].is_null(), "{summary}");
    assert_eq!(summary["survival"]["until"], 7.0);
    // Nothing cuts the other measure.
    let other = &last["all"]["inconsistent_fraction"];
    assert!(other["ci95"].is_array() && other["cut"].is_null(), "{other}");
    let body = json!({ "protocol": "le-s", "flags": body["flags"], "runs": 300, "over": "window",
        "values": ["7s"], "measure": "reestablishment_delay" });
    assert_eq!(&lab.post("/api/sweep", &body).said("point")[0]["summary"], summary);
}

#[test]
fn a_sweep_has_a_point_for_each_value_and_says_what_is_wrong_with_one() {
    let lab = Lab::start();
    let body = json!({ "protocol": "le-s", "flags": { "loss": ".1" }, "runs": 30,
        "measure": "leadership_delay", "over": "nodes", "values": ["5", "20", "0"] });
    let answer = lab.post("/api/sweep", &body);
    let points = answer.said("point");
    assert_eq!(points.len(), 3);
    assert_eq!((&points[1]["x"], &points[1]["summary"]["count"]), (&json!(20.0), &json!(30)));
    let error = points[2]["error"].as_str().unwrap();
    assert!(error.contains("invalid value '0' for '--nodes <N>'"), "{error}");
    assert_eq!(answer.said("end").len(), 1);
}

#[test]
fn limits_and_measures_that_are_not_there_are_named() {
    let lab = Lab::start();
    for (body, why) in [
        (json!({ "protocol": "le-s", "runs": 0 }), "runs = 0"),
        (json!({ "protocol": "le-s", "runs": 1_000_001 }), "from 1 to 1000000 runs"),
        (
            json!({ "protocol": "le-s", "runs": 2000, "flags": { "nodes": 1_000_000 } }),
            "choose fewer runs",
        ),
        (json!({ "protocol": "zzz" }), "no protocol is called 'zzz'"),
    ] {
        let line = lab.post("/api/measure", &body).error(422);
        assert!(line.contains(why), "{line}");
    }
    let body = json!({ "protocol": "le-s", "runs": 5, "measure": "zzz" });
    let errors = lab.post("/api/measure", &body).said("error");
    let line = errors[0]["error"].as_str().unwrap();
    assert!(line.contains("'zzz' is not measured here; there are"), "{line}");
    let body = json!({ "protocol": "le-s", "over": "nodes", "values": [] });
    assert!(lab.post("/api/sweep", &body).error(422).contains("from 1 to 200 points"));
}

#[test]
fn the_command_of_a_violation_shows_the_same_schedule() {
    let lab = Lab::start();
    for flags in [json!({}), json!({ "seed": "7", "nodes": "3" })] {
        let body = json!({ "protocol": "le-s", "promise": "never-two", "flags": flags });
        let found = &lab.post("/api/check", &body).said("violation")[0];
        let command = found["command"].as_str().unwrap();
        assert_eq!(command.matches("--seed ").count(), 1, "{command}");
        let output = ran(command.strip_prefix("bellwether ").unwrap());
        let told = String::from_utf8_lossy(&output.stdout).into_owned();
        let number = format!("schedule {}", found["schedule"]);
        assert!(told.contains("never-two") && told.contains(&number), "{command}: {told}");
    }
}

#[test]
fn each_promise_that_the_page_offers_is_one() {
    let lab = Lab::start();
    let told = lab.get("/api/protocols").json();
    let promises = told["promises"].as_array().unwrap();
    let names: Vec<&str> = promises.iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"one-per-partition") && names.len() >= 4, "{names:?}");
    for name in names {
        let body = json!({ "protocol": "le-s", "promise": name, "schedules": 1 });
        assert_eq!(lab.post("/api/check", &body).said("end").len(), 1, "{name}");
    }
}

#[test]
fn the_judge_finds_what_is_broken_and_the_stage_plays_it() {
    let lab = Lab::start();
    let body = json!({ "protocol": "le-s", "promise": "never-two", "schedules": 2000 });
    let judged = lab.post("/api/check", &body);
    let found = &judged.said("violation")[0];
    assert_eq!(found["invariant"], "never-two");
    assert!(found["after"].as_u64().unwrap() <= found["before"].as_u64().unwrap());
    let progress = &judged.said("progress")[0];
    assert!(progress["schedules"].as_u64().unwrap() > 0, "{progress}");
    assert!(!progress["faults"].as_object().unwrap().is_empty(), "{progress}");
    let played = lab.post("/api/run", &found["what"]);
    let end = &played.said("end")[0];
    assert!(end["most_leaders"].as_u64().unwrap() >= 2, "{end}");
    assert_eq!(end["broken"], "never-two", "the server finds it again, by the same promise");
    assert_eq!(played.said("violation")[0]["t"], found["at"], "at the same instant");
    let body = json!({ "protocol": "le-s", "schedules": 40 });
    let held = lab.post("/api/check", &body);
    assert_eq!(held.said("held")[0]["schedules"], 40);
    assert_eq!(held.said("end")[0]["held"], true);
    let body = json!({ "protocol": "le-s", "schedules": 0 });
    assert!(lab.post("/api/check", &body).error(422).contains("schedules = 0"));
    let body = json!({ "protocol": "le-s", "promise": "zzz" });
    assert!(lab.post("/api/check", &body).error(422).contains("zzz"));
}

#[test]
fn radios_that_move_are_not_drawn_to_check_flags_and_nobody_who_left_keeps_a_place() {
    let lab = Lab::start();
    let body = json!({ "protocol": "ad-hoc", "flags": { "nodes": 5000, "graph": "moving" } });
    let began = seconds();
    // Twice as many as there are places, each of which would take minutes.
    for _ in 0..12 {
        let mut stream = lab.open("POST /api/measure", &body);
        assert_eq!(next(&mut stream)["lab"], "asked");
    }
    let took = seconds() - began;
    assert!(took < 20.0, "{took} s");
}
