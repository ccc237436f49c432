//! Times that the window cuts: how many, and no interval that would not hold the true mean.

use crate::command::{json, mean, stdout, unused};
use serde_json::Value;

const GROUP: &str = "sim le-s --nodes 50 --loss .4 --listen 2.5s --runs 200 --seed 3";

#[test]
fn a_time_that_was_cut_has_no_interval_and_says_how_often() {
    let (short, long) = (format!("{GROUP} --window 20s"), format!("{GROUP} --window 1000s"));
    let [cut, whole] = [&short, &long].map(|command| json(command));
    let of = |result: &Value| result["metrics"]["agreement_time"].clone();
    let missing = of(&cut)["cut"].as_u64().expect("some runs were cut");
    assert_eq!(Some(missing), cut["unsettled"].as_u64());
    assert_eq!(of(&cut)["count"].as_u64(), Some(200 - missing));
    assert!(of(&cut)["ci95"].is_null() && of(&cut)["stderr"].is_null(), "{cut}");
    // What was cut is longer: the mean of the others is far too low.
    assert!(mean(&cut, "agreement_time") < 0.8 * mean(&whole, "agreement_time"));
    assert!(of(&whole)["ci95"].is_array() && of(&whole)["cut"].is_null(), "{whole}");
    // Other measures have a value in every run, and an interval.
    assert!(cut["metrics"]["messages"]["ci95"].is_array(), "{cut}");
    let text = stdout(&short);
    let line = text.lines().find(|line| line.contains("did not settle")).expect("it is said");
    assert!(line.contains("they are not in agreement_time;"), "{line}");
    assert!(!stdout(&long).contains("did not settle"));
    let csv = stdout(&format!("{short} --format csv"));
    let row = csv.lines().find(|row| row.contains("agreement_time")).expect("a row");
    assert!(row.contains(",,,"), "the error and both ends of the interval are empty: {row}");
}

/// With a longer window the same runs are watched for longer, so that what the estimate is of can
/// be counted: the mean of all times, but no longer than the short watch.
#[test]
fn what_was_cut_is_estimated_by_kaplan_and_meier() {
    let file = unused("uncut-runs");
    let cut = json(&format!("{GROUP} --window 20s"));
    json(&format!("{GROUP} --window 1000s --samples {}", file.display()));
    let text = std::fs::read_to_string(&file).expect("the runs are written");
    std::fs::remove_file(&file).expect("it is there");
    let place = text
        .lines()
        .next()
        .and_then(|header| header.split(',').position(|column| column == "agreement_time"));
    let place = place.expect("it is measured");
    let cell = |row: &str| row.split(',').nth(place).and_then(|cell| cell.parse::<f64>().ok());
    let times: Vec<f64> = text.lines().skip(1).filter_map(cell).collect();
    assert_eq!(times.len(), 200, "nothing was cut");
    let survival = &cut["metrics"]["agreement_time"]["survival"];
    let of = |key: &str| survival[key].as_f64().unwrap_or_else(|| panic!("{key}: {survival}"));
    let until = of("until");
    let expected = times.iter().map(|time| time.min(until)).sum::<f64>() / 200.0;
    assert!((of("restricted_mean") - expected).abs() < 1e-9, "{expected}, not {survival}");
    let reached = times.iter().filter(|time| **time <= until).count() as f64 / 200.0;
    assert!((of("reached") - reached).abs() < 1e-9, "{reached}, not {survival}");
    let ends = |key: &str| [0, 1].map(|end| survival[key][end].as_f64().expect("an end"));
    assert!(ends("ci95")[0] < expected && expected < ends("ci95")[1]);
    assert!(ends("reached_ci95")[0] < reached && reached < ends("reached_ci95")[1]);
    let mut sorted = times.clone();
    sorted.sort_by(f64::total_cmp);
    assert_eq!(of("p50"), sorted[99], "half of all are over by then");
    assert!(survival["p99"].is_null(), "it lies beyond the watch: {survival}");
}

#[test]
fn the_table_and_the_spreadsheet_show_the_estimate() {
    let command = format!("{GROUP} --window 20s");
    let result = json(&command);
    let mean = &result["metrics"]["agreement_time"]["survival"]["restricted_mean"];
    let mean = mean.as_f64().expect("an estimate");
    let text = stdout(&command);
    assert!(text.contains("Kaplan and Meier"), "{text}");
    let row = text.lines().find(|line| line.contains("agreement_time") && line.contains('%'));
    let numbers =
        row.into_iter().flat_map(str::split_whitespace).filter_map(|cell| cell.parse().ok());
    let is_shown = numbers.into_iter().any(|number: f64| (number - mean).abs() < 1e-3);
    assert!(is_shown, "{mean} in\n{text}");
    let rows = stdout(&format!("{command} --format csv"));
    let header: Vec<&str> = rows.lines().next().expect("a header").split(',').collect();
    let cell = |metric: &str, column: &str| {
        let row = rows.lines().find(|row| row.contains(metric)).expect("a row");
        let place = header.iter().position(|known| *known == column).expect("a column");
        row.split(',').nth(place).expect("as many cells as columns").to_owned()
    };
    assert_eq!(cell("agreement_time", "restricted_mean").parse::<f64>().ok(), Some(mean));
    assert_eq!(cell("agreement_time", "cut"), result["unsettled"].to_string());
    assert_eq!(
        (cell("leadership_delay", "cut"), cell("leadership_delay", "watched")),
        ("0".to_owned(), String::new())
    );
}

#[test]
fn a_delay_after_an_event_that_was_cut_is_estimated_too() {
    let result = json(
        "sim le-s --nodes 20 --loss .4 --listen 3s --scenario departure --window 7s --runs 50",
    );
    let delay = &result["metrics"]["reestablishment_delay"];
    assert!(delay["cut"].as_u64().is_some_and(|cut| cut > 0), "{delay}");
    assert!(delay["survival"]["restricted_mean"].as_f64().is_some_and(|mean| mean <= 7.0));
}
