//! Rare events: what the command prints, and what it refuses.

use crate::command::{folder, json, refusal, stdout};

const FOLLOWER: &str = "sim le-s --nodes 2 --loss .1 --window 20s --rare false-departure";

/// T_L is nine and a half announce intervals: the chain of `crates/sim` gives 1.8e-8 for twenty of
/// them.
#[test]
fn one_in_fifty_million_is_estimated_both_ways() {
    let exact = 20.0 * 0.9 * 1e-9;
    for method in ["split", "tilt"] {
        let flags = format!("{FOLLOWER} --listen 9.5s --effort 200 --method {method}");
        let found = json(&flags);
        let number = |key: &str| found[key].as_f64().expect("a number");
        let off = (number("probability") - exact) / number("stderr");
        assert!(off.abs() < 4.5, "{method}: {found}");
        assert!(number("relative_error") < 0.2, "{method}: {found}");
        assert_eq!(found["replications"].as_array().map(Vec::len), Some(20));
        let other = json(&format!("{flags} --threads 1"));
        assert_eq!(found["replications"], other["replications"], "{method}");
    }
}

/// 200 processes and K = 20: (1 − K/N)^N is 7.1e-10.
#[test]
fn one_failed_election_in_a_billion_is_estimated() {
    let flags = "sim probabilistic --nodes 200 --k 20 --max-rounds 1 --view 1 --loss 0";
    let found = json(&format!("{flags} --rare failed-election --effort 60"));
    let number = |key: &str| found[key].as_f64().expect("a number");
    let off = (number("probability") - 7.055e-10) / number("stderr");
    assert!(off.abs() < 4.5 && number("relative_error") < 0.1, "{found}");
    assert!(found["per_year"].is_null(), "{found}");
    let table = stdout(&format!("{flags} --rare failed-election --effort 20"));
    assert!(table.contains("failed-election, in one election"), "{table}");
}

/// Lost leases at a loss of .01, where no run comes near: two packets of each renewal are lost.
#[test]
fn leases_are_lost_at_small_losses() {
    let flags = "sim local-leader --nodes 3 --window 2s --rare leadership-loss --effort 1000";
    let of = |loss: &str| {
        let found = json(&format!("{flags} --loss {loss}"));
        let number = |key: &str| found[key].as_f64().expect("a number");
        assert!(number("relative_error") < 0.2, "{found}");
        let [low, high] = [0, 1].map(|end| found["ci95"][end].as_f64().expect("a number"));
        assert!(0.0 < low && low < number("probability") && number("probability") < high);
        assert!(found["levels"].as_array().is_some_and(Vec::is_empty), "{found}");
        // Windows of 2 s that follow one another: −ln(1 − p) in each.
        let terms = (1..=12).map(|k| number("probability").powi(k) / f64::from(k));
        let a_year = terms.sum::<f64>() * 31_557_600.0 / 2.0;
        assert!((number("per_year") / a_year - 1.0).abs() < 1e-12, "{a_year}: {found}");
        number("probability")
    };
    let [more, less] = [".04", ".01"].map(of);
    assert!(less > 0.0 && less < more / 16.0, "two losses a renewal, at least: {more} {less}");
}

/// Each event, with an interval that excludes zero. Votes are often split where many are lost.
#[test]
fn every_event_is_estimated() {
    for flags in [
        "le-s --nodes 4 --listen 4.5s --loss .1 --window 30s --rare two-leaders --longer 5s",
        "le-s --nodes 5 --listen 8.5s --loss .1 --window 60s --rare false-departure",
        "le-s --nodes 5 --listen 8.5s --loss .1 --window 60s --rare false-departure --method tilt",
        "local-leader --nodes 3 --loss .15 --window 2s --rare leadership-loss --method split",
        "local-leader --nodes 4 --loss .3 --scenario start --rare split-vote",
        "probabilistic --nodes 300 --k 20 --max-rounds 1 --rare failed-election",
    ] {
        let found = json(&format!("sim {flags} --effort 150 --replications 8"));
        let [low, high] = [0, 1].map(|end| found["ci95"][end].as_f64().expect("a number"));
        let most = if flags.ends_with("split-vote") { 1.0 } else { 0.2 };
        assert!(0.0 < low && low < high && high < most, "{flags}: {found}");
    }
}

#[test]
fn people_and_spreadsheets_get_the_interval_too() {
    let flags = format!("{FOLLOWER} --listen 4.5s --effort 100 --replications 5");
    let table = stdout(&flags);
    for word in ["probability", "95 % interval", "a year has", "5 replications"] {
        assert!(table.contains(word), "{word}: {table}");
    }
    let csv = stdout(&format!("{flags} --format csv"));
    let header = "protocol,nodes,event,longer,window,probability,stderr,ci95_low,ci95_high,";
    assert!(csv.starts_with(header) && csv.lines().count() == 2, "{csv}");
    assert!(csv.contains(",large_error,") && csv.contains(",false,"), "{csv}");
    assert!(!table.contains("relative error is large"), "{table}");
}

#[test]
fn what_has_no_effect_or_cannot_happen_is_refused() {
    for (flags, rule) in [
        ("--runs 5 --listen 3s", "--runs has no effect with --rare; choose --effort"),
        ("--samples x.csv --listen 3s", "--samples has no effect with --rare"),
        ("--longer 3s --listen 3s", "only on two-leaders"),
        ("", "--rare false-departure: with an infinite listen"),
        ("", "choose a finite --listen"),
        ("--listen 3s --scenario departure", "leave out --scenario"),
        ("--listen 3s --delay-model uniform --method tilt", "only where the delay is constant"),
        ("--listen 3s --loss-model correlated --method tilt", "must be independent"),
        ("--listen 3s --clock-drift 100 --method tilt", "only where clocks do not drift"),
    ] {
        let line = refusal(&format!("{FOLLOWER} {flags}"), 2);
        assert!(line.contains(rule), "{flags}: {line}");
    }
    for (flags, rule) in [
        ("le-s --rare failed-election", "only an election in rounds"),
        ("probabilistic --nodes 5 --rare failed-election", "with as many relays as members"),
        ("probabilistic --rare failed-election --method split", "no run comes near"),
        ("local-leader --mode local --rare split-vote", "only majorities are voted"),
        ("le-s --rare two-leaders --longer 5s --method tilt", "choose --method split"),
        ("le-s --rare two-leaders", "give --longer"),
        ("local-leader --rare leadership-loss", "choose --method split"),
    ] {
        let line = refusal(&format!("sim {flags}"), 2);
        assert!(line.contains(rule), "{flags}: {line}");
    }
    // Only runs can tell that they come no nearer: the flags break no rule.
    let calm = "sim le-s --nodes 3 --listen 3s --window 5s --effort 10 --rare false-departure";
    let line = refusal(calm, 1);
    assert!(line.contains("choose --method tilt, raise --effort"), "{line}");
    let line = refusal("sim le-s --effort 50", 2);
    assert!(line.contains("--rare"), "{line}");
}

/// An interval that may be too narrow says so in every form.
#[test]
fn a_large_error_is_told_to_programs_too() {
    let flags = format!("{FOLLOWER} --listen 8.5s --effort 10 --replications 3 --seed 2");
    let table = stdout(&flags);
    assert!(
        table.contains("The relative error is large: the interval may be too narrow"),
        "{table}"
    );
    assert_eq!(json(&flags)["large_error"], true);
    let csv = stdout(&format!("{flags} --format csv"));
    assert!(csv.contains(",true,"), "{csv}");
    let folder = folder("rare-large-error");
    let file = folder.join("sweep.toml");
    let text = "sim = \"le-s\"\nruns = 3\nmeasures = [\"probability\", \"branches\"]\n[fixed]\n\
                nodes = 2\nloss = 0.1\nwindow = \"20s\"\nrare = \"false-departure\"\neffort = 10\n\
                listen = \"8.5s\"\n[[axis]]\nseed = [2]\n";
    std::fs::write(&file, text).expect("there is room for a file");
    let rows = stdout(&format!("sweep {} --format json", file.display()));
    let rows: Vec<serde_json::Value> =
        rows.lines().map(|row| serde_json::from_str(row).expect("an object a line")).collect();
    assert_eq!(rows[0]["metric"], "probability");
    assert_eq!((&rows[0]["large_error"], rows[1]["large_error"].is_null()), (&true.into(), true));
    let table = stdout(&format!("sweep {}", file.display()));
    assert!(table.contains("(large error)"), "{table}");
    std::fs::remove_dir_all(folder).expect("it was made by this test");
}
