//! What `plan` chooses, predicts and confirms.

use crate::command::{bellwether, json, mean_of, refusal, stdout};
use serde_json::Value;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// l = .1 apart, N = 20, T_A = 1 s: 19·.9·.1^m a second is at most 1 a day from m = 7 on.
#[test]
fn the_timers_follow_from_the_goals() {
    let of = |flags: &str| json(&format!("plan announce-listen --nodes 20 --simulate 0 {flags}"));
    let plan = of("--loss .1");
    let params = &plan["params"];
    assert_eq!(number(&params["losses_in_a_row"]), 7.0);
    assert!((number(&params["listen"]) - 7.1).abs() < 1e-9, "{plan}");
    assert!((number(&params["suppress"]) - 0.9).abs() < 1e-9, "T_A >= T_S + Δ: {plan}");
    let per_day = &plan["predicted"]["false_departures_per_day"]["value"];
    assert!((number(per_day) - 19.0 * 0.9e-7 * 86_400.0).abs() < 1e-5, "{plan}");
    // (1 − .1^c)^19 is .827 for two, .981 for three and .998 for four.
    assert_eq!(number(&params["bye_copies"]), 4.0);
    assert_eq!(number(&plan["bye"]["thesis_copies"]), 3.0);
    assert!((number(&plan["bye"]["all_hear"]) - 0.9999_f64.powi(19)).abs() < 1e-12);
    let losses = |flags: &str| number(&of(flags)["params"]["losses_in_a_row"]);
    assert_eq!(losses("--loss .1 --false-departures 10"), 6.0);
    assert_eq!(losses("--loss .1 --false-departures .1"), 8.0, "one more for each tenth");
    assert_eq!(losses("--loss .1 --false-departures 1/10d"), 8.0, "the same in another time");
    assert_eq!(losses("--loss .1 --loss-model correlated"), 5.0, "all lose together");
    assert_eq!(losses("--loss .1 --announce .1s --delay 1ms"), 8.0, "ten times as many chances");
    assert_eq!(losses(""), 1.0, "nothing is lost");
}

/// One false alarm in ten years cannot be waited for: its rate is estimated, at the T_L that was
/// planned, and must agree with the formula at 99.9 %.
#[test]
fn one_false_alarm_in_ten_years_is_planned_and_estimated() {
    for loss in ["--loss .1", "--loss .02"] {
        let goal = "--false-departures 1/10y --simulate 20 --seed 5";
        let plan = json(&format!("plan announce-listen --nodes 5 {loss} {goal}"));
        let rate = &plan["watched"]["estimated"];
        let (found, predicted) = (number(&rate["per_day"]), number(&rate["predicted_per_day"]));
        assert!(predicted <= 1.0 / 3652.5 && rate["agrees"] == true, "{loss}: {plan}");
        assert!((found / predicted - 1.0).abs() < 0.5, "{loss}: {rate}");
        let command = rate["command"].as_str().and_then(|text| text.strip_prefix("bellwether "));
        let again = json(command.expect("it is our command"));
        let a_day = number(&again["probability"]) * 8640.0;
        assert!((a_day / found - 1.0).abs() < 1e-3, "{again}");
    }
    let line = refusal("plan announce-listen --false-departures 1/10x", 2);
    assert!(line.contains("X/Ny"), "{line}");
}

#[test]
fn fewer_messages_take_a_longer_suppression() {
    let of = |goal: f64| {
        let flags = "--nodes 100 --loss .1 --loss-model correlated --simulate 0";
        json(&format!("plan announce-listen {flags} --messages {goal}"))
    };
    let (many, few) = (of(60.0), of(25.0));
    let suppress = |plan: &Value| number(&plan["params"]["suppress"]);
    assert!(suppress(&many) < suppress(&few) && suppress(&few) <= 0.9, "{many} {few}");
    for (plan, goal) in [(&many, 60.0), (&few, 25.0)] {
        let messages = number(&plan["predicted"]["messages"]["value"]);
        assert!(messages <= goal && messages > 0.98 * goal, "{messages} of {goal}");
    }
}

/// Statistical: fixed seeds, each prediction judged at 99.9 %, approximate ones within their slack.
#[test]
fn what_is_predicted_happens() {
    for flags in
        ["--nodes 20 --loss .1", "--nodes 20 --loss .2 --loss-model correlated", "--nodes 9"]
    {
        let plan = json(&format!("plan announce-listen {flags} --simulate 100 --seed 5"));
        let confirmed = plan["confirmations"].as_array().unwrap();
        let names: Vec<_> = confirmed.iter().map(|entry| entry["name"].as_str().unwrap()).collect();
        for name in [
            "leadership_delay",
            "messages",
            "reestablishment_delay",
            "reestablishment_delay_with_bye",
            "inconsistent_fraction",
        ] {
            assert!(names.contains(&name), "{flags}: {name} is not in {names:?}");
        }
        assert_eq!((&plan["confirmed"], &plan["warning"]), (&Value::Bool(true), &Value::Null));
        for entry in confirmed {
            let verdict = entry["verdict"].as_str().unwrap();
            assert!(["agrees", "near"].contains(&verdict), "{flags}: {entry}");
            assert!(verdict == "agrees" || number(&entry["slack"]) > 0.0, "{flags}: {entry}");
        }
        if !flags.contains("--loss") {
            assert_eq!(plan["watched"], Value::Null, "there is nothing to wait for");
            continue;
        }
        assert_eq!(plan["watched"]["consistent"], true, "{flags}: {plan}");
        assert!(names.contains(&"false_departure_length"), "{names:?}");
        let rare = confirmed.iter().find(|entry| entry["name"] == "inconsistent_fraction");
        let rare = rare.expect("it was among the names");
        let (there, planned) = (number(&rare["listen"]), number(&plan["params"]["listen"]));
        assert!(there < planned, "false departures are seen at a shorter T_L: {plan}");
        let again = mean_of(rare["command"].as_str().unwrap(), "inconsistent_fraction");
        assert_eq!(rare["simulated"]["mean"], again, "{rare}");
    }
}

#[test]
fn a_large_group_is_planned_and_says_with_how_many_it_was_confirmed() {
    let plan = json("plan announce-listen --nodes 1000000 --loss .4 --simulate 20");
    let of = |name: &str| {
        let mut confirmed = plan["confirmations"].as_array().unwrap().iter();
        let found = confirmed.find(|entry| entry["name"] == name);
        found.unwrap_or_else(|| panic!("{name} is not in {plan}"))["nodes"].clone()
    };
    assert_eq!(of("leadership_delay"), 1_000_000);
    assert!(number(&of("reestablishment_delay")) <= 500.0);
    assert_eq!(plan["command_nodes"], 500);
    let table = stdout("plan announce-listen --nodes 1000 --loss .1 --simulate 20");
    for words in ["with the T_L planned for 1000", "try it with 500 processes and the T_L of 1000:"]
    {
        assert!(table.contains(words), "{words} is not in\n{table}");
    }
    let table = stdout("plan announce-listen --nodes 20 --loss .1 --simulate 20");
    assert!(!table.contains("planned for"), "{table}");
    for words in [
        "the simulation confirms the prediction",
        "--listen",
        "--bye-copies",
        "a day",
        "agrees",
        "too few to confirm",
        "try it",
    ] {
        assert!(table.contains(words), "{words} is not in\n{table}");
    }
}

#[test]
fn goals_that_cannot_be_reached_are_refused_with_what_can() {
    for (flags, words) in [
        ("--loss .1 --false-departures 0", ["any number of announcements", "days"]),
        ("--loss .1 --false-departures -1", ["false departures = -1", "not negative"]),
        ("--loss .9999 --false-departures 1e-9 --announce 4h", ["T_L above", "can be reached"]),
        ("--loss .1 --bye-confidence 1", ["bye confidence = 1", "0.999999"]),
        ("--loss .9999 --false-departures 1e6", ["more than 10000 copies", "that or less"]),
        ("--loss .1 --bye-confidence 1.5", ["bye confidence = 1.5", "< 1"]),
        ("--loss .1 --loss-model correlated --messages 3", ["messages = 3", "longer T_A"]),
        ("--delay 2s", ["announce = 1 s with delay = 2 s", "at least 4 s"]),
        ("--nodes 1", ["nodes = 1", "2 <= nodes <= 100000000"]),
        ("--loss 1", ["loss = 1", "0.9999"]),
        ("--announce 0", ["announce = 0", "above 0"]),
        ("--simulate 5", ["'5'", "20"]),
    ] {
        let line = refusal(&format!("plan announce-listen {flags}"), 2);
        assert!(words.iter().all(|word| line.contains(word)), "{flags}: {line}");
    }
    assert!(refusal("plan bully", 2).contains("'bully'"));
}

/// T_L is hardly longer than T_A, so somebody of the 50 has always given up.
#[test]
fn a_group_without_agreement_is_warned_of_and_no_delay_predicted() {
    let flags = "plan announce-listen --nodes 50 --loss .2 --false-departures 1e9 --simulate 20";
    let plan = json(flags);
    let predicted = &plan["predicted"];
    for name in ["reestablishment_delay", "reestablishment_delay_with_bye"] {
        assert_eq!(predicted[name]["value"], Value::Null, "{plan}");
        let why = predicted[name]["why"].as_str().unwrap();
        assert_eq!(why, "the group is without agreement 98.6 % of the time");
    }
    assert!(number(&predicted["inconsistent_fraction"]["value"]) > 0.9, "{plan}");
    let confirmations = plan["confirmations"].as_array().unwrap();
    let about_departures = |entry: &Value| {
        entry["name"].as_str().is_some_and(|name| name.starts_with("reestablishment"))
    };
    assert!(!confirmations.iter().any(about_departures), "{plan}");
    assert_eq!(plan["confirmed"], true, "what is left is right: {plan}");
    let table = stdout(flags);
    assert!(table.contains("warning: the group is without agreement 98.6 % of"), "{table}");
    let silent = json("plan announce-listen --nodes 9 --simulate 0");
    assert_eq!(silent["confirmed"], Value::Null, "{silent}");
}

/// Of two processes one hears no goodbye in one run of 125, which then takes forty times as long.
#[test]
fn what_rests_on_rare_runs_has_enough_of_them_and_says_how_many() {
    let flags = "plan announce-listen --nodes 2 --loss .2 --simulate 200";
    let plan = json(flags);
    let mut confirmations = plan["confirmations"].as_array().unwrap().iter();
    let bye = confirmations.find(|entry| entry["name"] == "reestablishment_delay_with_bye");
    let bye = bye.expect("it is confirmed");
    assert!(number(&bye["simulated"]["count"]) >= 6000.0, "{bye}");
    assert!((number(&bye["rests_on"]) - 50.0).abs() < 1.0, "{bye}");
    assert_eq!(bye["verdict"], "agrees", "{bye}");
    let table = stdout(flags);
    assert!(table.contains("agrees, with about 50 of 6250 runs without a goodbye"), "{table}");
}

/// A goodbye that most do not hear: how long that takes is predicted for all or none, and wrong.
#[test]
fn what_the_simulation_does_not_confirm_fails() {
    let flags = "plan announce-listen --nodes 50 --loss .2 --bye-confidence .1 --simulate 400";
    let output = bellwether(flags);
    assert_eq!(output.status.code(), Some(1));
    let table = String::from_utf8(output.stdout).unwrap();
    let line = "\nthe simulation does not confirm: reestablishment delay with bye\n";
    assert!(table.contains(line) && table.contains("differs"), "{table}");
    let output = bellwether(&format!("{flags} --format json"));
    assert_eq!(output.status.code(), Some(1));
    let plan: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    assert_eq!(plan["confirmed"], false, "{plan}");
}
