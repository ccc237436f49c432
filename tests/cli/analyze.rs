//! What `analyze` says, and what it refuses.

use crate::command::{bellwether, json, mean_of, refusal, stdout};
use serde_json::{Value, json};

const MODELS: [&str; 3] = ["", "--loss .3 --loss-model correlated", "--loss .3"];

/// Where a quantity has no value at the defaults: what it needs to have one.
fn needs(name: &str) -> &'static str {
    match name {
        "le-s.closure" | "le-s.first-round" => "--delay 0",
        _ if name.starts_with("le-s.recurrence") => "--delay 0",
        _ if name.contains("departure") => "--listen 12s",
        "local-leader.answers"
        | "local-leader.messages-per-second"
        | "local-leader.election-time"
        | "local-leader.election-time.99"
        | "local-leader.failover.mean"
        | "local-leader.failover.99"
        | "local-leader.loss-per-lease"
        | "local-leader.losses-per-hour"
        | "local-leader.presence" => "--delay 1ms",
        _ => "",
    }
}

/// What must be there.
const NAMES: &[&str] = &[
    "le-a.leadership-delay",
    "le-s.leadership-delay",
    "le-m.leadership-delay",
    "le-s.messages-in-suppression",
    "le-s.messages",
    "le-a.messages",
    "sup.messages",
    "sup.convergence-time",
    "le-s.reestablishment-delay.departure",
    "le-s.reestablishment-delay.false-departure",
    "le-s.reestablishment-delay.joiner-greater",
    "le-s.reestablishment-delay.joiner-smaller",
    "le-s.inconsistent-fraction.false-departure",
    "le-s.inconsistent-fraction.departures",
    "le-s.inconsistent-fraction.joiners",
    "le-s.recurrence",
    "announcements-beyond-first",
    "bully.messages.worst",
    "bully.messages.all-alive",
    "bully.messages.lecture",
    "bully.messages.from",
    "bully.messages.recovery",
    "bully.messages-election.worst",
    "bully.messages-ok.worst",
    "bully.messages-coordinator.worst",
    "ring.messages",
    "chang-roberts.messages-election.best",
    "chang-roberts.messages-election.worst",
    "chang-roberts.messages-election.mean",
    "hirschberg-sinclair.messages.bound",
    "ad-hoc.messages.election",
    "ad-hoc.messages.ack",
    "ad-hoc.messages.leader",
    "ad-hoc.messages.total",
    "merea.messages.best",
    "merea.messages.worst-best",
    "merea.messages.worst-worst",
    "merea.messages.mean",
    "probabilistic.relays",
    "probabilistic.relays.last",
    "probabilistic.relays.by-view",
    "probabilistic.e1",
    "probabilistic.e2",
    "probabilistic.connected",
    "probabilistic.random-graph",
    "probabilistic.e3",
    "probabilistic.e4",
    "probabilistic.e5",
    "probabilistic.ceiling",
    "probabilistic.success",
    "probabilistic.success.full-views",
    "probabilistic.detection",
    "probabilistic.largest-group",
    "probabilistic.unicasts",
    "probabilistic.multicasts",
    "local-leader.kappa.timeliness",
    "local-leader.kappa.inconsistency",
    "local-leader.constraint.expires",
    "local-leader.constraint.expires-heard",
    "local-leader.constraint.lock-least",
    "local-leader.constraint.lock-most",
    "local-leader.constraint.alarm",
    "local-leader.constraint.renewal",
    "local-leader.constraint.retries",
    "local-leader.constraint.renew",
    "local-leader.constraint.expires.left",
    "local-leader.constraint.expires-heard.left",
    "local-leader.constraint.lock-least.left",
    "local-leader.constraint.lock-most.left",
    "local-leader.constraint.alarm.left",
    "local-leader.constraint.renewal.left",
    "local-leader.constraint.retries.left",
    "local-leader.constraint.renew.left",
    "local-leader.lease",
    "local-leader.next-request",
    "local-leader.datagram.slack",
    "local-leader.datagram.bound",
    "local-leader.datagram.timely",
    "local-leader.answers",
    "local-leader.messages-per-second",
    "local-leader.election-time",
    "local-leader.election-time.99",
    "local-leader.failover.mean",
    "local-leader.failover.99",
    "local-leader.loss-per-lease",
    "local-leader.losses-per-hour",
    "local-leader.presence",
];

fn listed() -> Vec<Value> {
    serde_json::from_str(&stdout("analyze --list --format json")).expect("it is JSON")
}

#[test]
fn the_list_names_every_quantity_of_the_chapter() {
    let listed = listed();
    let names: Vec<_> = listed.iter().map(|entry| entry["quantity"].as_str().unwrap()).collect();
    for name in NAMES {
        assert!(names.contains(name), "{name} is missing from {names:?}");
    }
    for (place, entry) in listed.iter().enumerate() {
        assert!(!names[..place].contains(&names[place]), "{} is there twice", names[place]);
        for key in ["section", "unit", "about"] {
            assert!(entry[key].as_str().is_some_and(|text| !text.is_empty()), "{entry}");
        }
        let section = entry["section"].as_str().unwrap();
        let sources = ["5.", "lecture, ", "MEREA", "Gupta ", "Fetzer and Cristian"];
        let known = sources.iter().any(|source| section.starts_with(source));
        assert!(known, "{entry}");
    }
    let (table, csv) = (stdout("analyze --list"), stdout("analyze --list --format csv"));
    assert!(names.iter().all(|name| table.contains(name) && csv.contains(name)));
    assert_eq!(csv.lines().count(), names.len() + 1);
}

#[test]
fn the_json_has_the_keys_that_scripts_rely_on() {
    let found = json("analyze le-s.leadership-delay --nodes 10 --loss .4");
    assert_eq!(found["quantity"], "le-s.leadership-delay");
    assert_eq!((&found["unit"], &found["exact"]), (&json!("s"), &json!(true)));
    let params = json!({
        "nodes": 10, "loss": 0.4, "loss_model": "uncorrelated", "delay": 0.1,
        "suppress": 1.0, "announce": 1.0, "timer": "uniform",
    });
    assert_eq!(found["params"], params);
    let value = |key: &str| found[key].as_f64().unwrap();
    assert!((value("corrected") - 3.187_651_025).abs() < 1e-8, "{found}");
    assert!((value("printed") - 4.296_542_083).abs() < 1e-8, "{found}");
    assert!(found["note"].as_str().is_some_and(|note| note.contains("X(N-1)")), "{found}");
    assert_eq!((&found["simulated"], &found["printed_why"]), (&Value::Null, &Value::Null));
}

/// The mean of the same runs would contradict the form.
#[test]
fn a_percentile_is_compared_with_that_of_the_runs() {
    let flags = "analyze local-leader.failover.99 --nodes 5 --delay 1ms";
    let found = json(&format!("{flags} --simulate 800"));
    let simulated = &found["simulated"];
    assert_eq!(simulated["supports"], "corrected", "{found}");
    let number = |value: &Value| value.as_f64().unwrap();
    let [low, high] = [0, 1].map(|end| number(&simulated["p99_ci95"][end]));
    let (p99, form) = (number(&simulated["p99"]), number(&found["corrected"]));
    assert!(low <= p99 && p99 <= high && low <= form && form <= high, "{found}");
    assert!(number(&simulated["mean"]) < low, "{found}");
    let table = stdout(&format!("{flags} --simulate 800"));
    assert!(table.contains("supports the corrected form"), "{table}");
    let csv = stdout(&format!("{flags} --simulate 800 --format csv"));
    let (header, row) = csv.split_once('\n').unwrap();
    // Counted from the end: the section, at the beginning, has a comma.
    let cell = |name: &str| {
        let place = header.rsplit(',').position(|column| column == name).unwrap();
        row.trim_end().rsplit(',').nth(place).unwrap().parse::<f64>().unwrap()
    };
    assert_eq!([cell("p99"), cell("p99_low"), cell("p99_high")], [p99, low, high], "{csv}");
    let few = stdout(&format!("{flags} --simulate 100"));
    assert!(few.contains("and above at 95 %") && few.contains("choose 757"), "{few}");
    let few = json(&format!("{flags} --simulate 100"));
    assert_eq!(few["simulated"]["supports"], Value::Null, "{few}");
    assert_eq!(few["simulated"]["p99_ci95"][1], Value::Null, "{few}");
}

#[test]
fn a_simulation_supports_the_right_form_and_says_how_to_make_it_again() {
    let flags = "analyze le-s.leadership-delay --nodes 10 --loss .4";
    let found = json(&format!("{flags} --simulate 2000 --seed 3"));
    let simulated = &found["simulated"];
    assert_eq!(simulated["supports"], "corrected", "{found}");
    assert_eq!((&simulated["count"], &simulated["unsettled"]), (&json!(2000), &json!(0)));
    assert!(simulated["ci95"].as_array().is_some_and(|ends| ends.len() == 2));
    let table = stdout(&format!("{flags} --simulate 2000 --seed 3"));
    assert!(table.contains("supports the corrected form"), "{table}");
    assert!(table.contains(simulated["command"].as_str().unwrap()), "{table}");
    let other = json(&format!("{flags} --simulate 2000 --seed 4 --threads 1"));
    assert_ne!(other["simulated"]["mean"], simulated["mean"]);
    let same = json("analyze le-s.leadership-delay --nodes 10 --simulate 200");
    assert_eq!(same["simulated"]["supports"], "both", "nothing is lost, the print is right");
}

/// And the command that a simulation names prints the very same mean.
#[test]
fn every_quantity_has_a_value_or_says_why_not_in_every_model_of_loss() {
    let mut simulated = 0;
    for entry in listed() {
        let name = entry["quantity"].as_str().unwrap();
        let mut known = 0;
        for loss in MODELS {
            let sized =
                entry["reads"].as_array().is_some_and(|reads| reads.contains(&json!("nodes")));
            let nodes = if sized { "--nodes 6" } else { "" };
            let question = format!("analyze {name} {nodes} {} {loss}", needs(name));
            let output = bellwether(&format!("{question} --format json"));
            if !output.status.success() {
                let line = refusal(&question, 2);
                assert!(line.contains(name), "{line}");
                continue;
            }
            known += 1;
            let found = json(&question);
            assert!(found["corrected"].as_f64().is_some_and(f64::is_finite), "{found}");
            let printed = found["printed"].as_f64().is_some_and(f64::is_finite);
            let why = found["printed_why"].as_str().is_some_and(|why| !why.is_empty());
            assert!(printed != why, "a value or a reason: {found}");
            assert!(found["note"].as_str().is_some_and(|note| !note.is_empty()), "{found}");
            let output = bellwether(&format!("{question} --simulate 5 --seed 9 --format json"));
            let Ok(found) = serde_json::from_slice::<Value>(&output.stdout) else { continue };
            let measure = found["simulated"]["measure"].as_str().unwrap();
            let mean = mean_of(found["simulated"]["command"].as_str().unwrap(), measure);
            assert_eq!(found["simulated"]["mean"], mean, "{found}");
            simulated += 1;
        }
        assert!(known > 0, "{name} has no value at all");
    }
    assert!(simulated > 20, "only {simulated} were simulated");
}

#[test]
fn bad_questions_are_refused_in_one_line_that_names_the_way_out() {
    for (arguments, words) in [
        ("analyze", ["name a <QUANTITY>, or --list", "try --help"]),
        ("analyze --simulate 5", ["name a <QUANTITY>, or --list", "try --help"]),
        ("analyze LE-S.messages", ["did you mean 'le-s.messages'", "--list"]),
        ("analyze xyzzy", ["no quantity has that name", "--list"]),
        ("analyze le-s.leadership-dealy", ["did you mean 'le-s.leadership-delay'", "--list"]),
        ("analyze le-s.leadership-delay --listen 3s", ["--listen has no effect", "--suppress"]),
        ("analyze le-a.leadership-delay --timer uniform", ["--timer has no effect", "--delay"]),
        ("analyze le-a.leadership-delay --timer-rate 3", ["--timer-rate", "--announce"]),
        ("analyze le-s.leadership-delay --timer-rate 3", ["with --timer uniform", "--timer exp"]),
        (
            "analyze le-s.leadership-delay --timer uniform --timer-rate 3",
            ["with --timer uniform", ""],
        ),
        ("analyze sup.messages --loss .4", ["sup.messages: ", "or add --simulate 1000"]),
        ("analyze le-s.leadership-delay --nodes 1", ["--nodes = 1", "2 <= --nodes"]),
        ("analyze le-s.leadership-delay --nodes 0", ["'0'", "processes"]),
        ("analyze le-s.leadership-delay --loss 1", ["loss = 1", "0.9999"]),
        ("analyze le-s.leadership-delay --loss 2", ["'2'", ""]),
        ("analyze le-s.leadership-delay --loss NaN", ["'NaN'", ""]),
        ("analyze le-s.leadership-delay --loss .1 --loss-model none", ["--loss 0.1", "choose"]),
        ("analyze le-s.leadership-delay --loss-model bursts", ["'bursts'", ""]),
        ("analyze le-s.leadership-delay --announce 0", ["announce = 0", "above 0"]),
        ("analyze le-s.leadership-delay --delay infinite", ["delay = inf", "finite"]),
        ("analyze le-s.leadership-delay --timer exponential --timer-rate 0", ["rate = 0", "0 <"]),
        ("analyze le-s.leadership-delay --simulate 1", ["'1'", "at least 2"]),
        ("analyze le-s.leadership-delay --seed 3", ["--seed 3", "--simulate 1000"]),
        ("analyze bully.messages.worst --loss .1", ["nothing is lost", "leave --loss out"]),
        ("analyze bully.messages.worst --initiator 1", ["--initiator has no effect", "--nodes"]),
        ("analyze bully.messages.from --nodes 9 --initiator 8", ["initiator = 8", "<= 7"]),
        ("analyze ring.messages --nodes 9 --initiators 10", ["initiators = 10", "<= 9"]),
        ("analyze ring.messages --initiators random", ["random", "one, all or a number"]),
        ("analyze ring.messages --initiators few", ["'few'", "a number"]),
        ("analyze ad-hoc.messages.total --nodes 9 --links 7", ["links = 7", "8 <= --links"]),
        ("analyze bully.time.worst --reply .2s", ["reply <= 2 delays", "--delay"]),
        ("analyze probabilistic.e1 --k 0", ["--k = 0", "1 <= --k"]),
        ("analyze probabilistic.e1 --k -3", ["'-3'", "--k"]),
        ("analyze probabilistic.e1 --mcast-loss 1.5", ["'1.5'", "--mcast-loss"]),
        ("analyze probabilistic.e1 --fail NaN", ["'NaN'", "--fail"]),
        ("analyze probabilistic.e1 --view .3", ["--view has no effect", "--mcast-loss"]),
        ("analyze probabilistic.largest-group --mcast-loss 0", ["mcast-loss = 0", "above 0"]),
        ("analyze --list --nodes 3", ["--list", "--nodes"]),
        ("analyze --list le-s.leadership-delay", ["--list", "cannot be used with"]),
    ] {
        let line = refusal(arguments, 2);
        assert!(words.iter().all(|word| line.contains(word)), "{arguments}: {line}");
    }
}

#[test]
fn the_probabilistic_election_is_asked_about_with_flags_of_its_own() {
    let flags = "--nodes 10000 --k 40 --view .4 --fail .01 --ucast-loss .01 --mcast-loss .01";
    let found = json(&format!("analyze probabilistic.success {flags}"));
    let params = json!({
        "nodes": 10_000, "k": 40, "view": 0.4, "fail": 0.01, "ucast_loss": 0.01, "mcast_loss": 0.01,
    });
    assert_eq!((&found["params"], &found["exact"]), (&params, &json!(false)));
    assert!(found["printed"].as_f64().is_some_and(|bound| (0.5..0.6).contains(&bound)), "{found}");
    let table = stdout("analyze probabilistic.largest-group --k 40 --fail .01 --mcast-loss .01");
    assert!(table.contains("117.61 powers of ten"), "{table}");
    assert!(table.contains("39.204 powers of ten"), "{table}");
    assert!(table.contains("(Gupta 4: after figure 4)"), "{table}");
    let calm = json("analyze probabilistic.connected --nodes 1000000 --fail 0 --mcast-loss 0");
    assert_eq!(calm["exact"], true, "{calm}");
}

/// What the lecture leaves for exercise, and MEREA's equation (4) to the letter.
#[test]
fn elections_that_are_called_are_counted() {
    let value = |question: &str, key: &str| json(&format!("analyze {question}"))[key].clone();
    assert_eq!(value("bully.messages.worst --nodes 10", "corrected"), 89.0);
    assert_eq!(value("bully.messages.worst --nodes 10", "printed"), Value::Null);
    let why = value("bully.messages.worst --nodes 10", "printed_why");
    assert!(why.as_str().is_some_and(|why| why.contains("exercise")), "{why}");
    assert_eq!(value("bully.messages.worst --nodes 1000000", "corrected"), 999_998_999_999.0);
    assert_eq!(value("bully.messages.from --nodes 10 --initiator 8", "corrected"), 9.0);
    assert_eq!(value("ring.messages --nodes 100 --initiators all", "corrected"), 20_000.0);
    assert_eq!(value("ring.messages --nodes 100 --initiators 3", "corrected"), 600.0);
    assert_eq!(value("ad-hoc.messages.total --nodes 10 --links 45", "corrected"), 171.0);
    assert_eq!(value("ring.time --delay 3s --processing 1s", "corrected"), 796.0);
    let found = json("analyze merea.messages.worst-worst --nodes 100 --simulate 2");
    assert_eq!((&found["printed"], &found["corrected"]), (&json!(10_150.0), &json!(5150.0)));
    assert_eq!(found["simulated"]["supports"], "corrected", "{found}");
    let table = stdout("analyze merea.messages.worst-worst --nodes 100");
    assert!(table.contains("(MEREA 5.B.2, equation (4))"), "{table}");
    assert_eq!(found["params"], json!({"nodes": 100, "loss": 0.0, "loss_model": "none"}));
}

#[test]
fn a_spreadsheet_has_the_same_columns_for_every_quantity() {
    let header = |arguments: &str| {
        let text = stdout(&format!("{arguments} --format csv"));
        assert_eq!(text.lines().count(), 2, "{text}");
        text.lines().next().unwrap().to_owned()
    };
    let plain = header("analyze le-s.leadership-delay --loss .4");
    assert_eq!(plain, header("analyze announcements-beyond-first --loss .4"));
    assert_eq!(plain, header("analyze le-s.leadership-delay --loss .4 --simulate 20"));
    assert!(plain.ends_with(
        "printed,corrected,exact,mean,stderr,ci95_low,ci95_high,supports,off,off_stderr,\
         p99,p99_low,p99_high"
    ));
}

/// With uncorrelated loss and a delay the messages of SUP have no form.
#[test]
fn what_has_no_form_is_simulated_all_the_same() {
    let question = "analyze sup.messages --nodes 50 --loss .4 --simulate 100";
    let found = json(question);
    let null = &Value::Null;
    assert_eq!((&found["corrected"], &found["exact"]), (null, null), "{found}");
    assert!(found["corrected_why"].as_str().is_some_and(|why| why.contains("delay")), "{found}");
    let simulated = &found["simulated"];
    assert!(simulated["mean"].as_f64().is_some_and(|mean| mean > 1.0), "{found}");
    assert_eq!((&simulated["supports"], &simulated["off"]), (null, null), "{found}");
    let table = stdout(question);
    let row = table.lines().find(|line| line.contains("corrected")).unwrap();
    assert!(row.contains("no value") && row.contains("delay"), "{table}");
    assert!(table.contains("100 runs\n"), "nothing to judge: {table}");
    let csv = stdout(&format!("{question} --format csv"));
    let end = format!(",,,,{},,\n", simulated["p99"].as_f64().unwrap());
    assert!(csv.ends_with(&end), "no support, no distance, no interval of the percentile: {csv}");
}

/// The closure is too high with a delay; enough runs would turn any approximation away.
#[test]
fn an_approximation_is_not_judged_but_measured() {
    let question = "analyze le-s.messages --nodes 50 --loss .2 --simulate 1000";
    let found = json(question);
    assert_eq!(found["exact"], false, "{found}");
    let simulated = &found["simulated"];
    assert_eq!(simulated["supports"], Value::Null, "{found}");
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{value}: {found}"));
    let (mean, corrected) = (number(&simulated["mean"]), number(&found["corrected"]));
    let off = number(&simulated["off"]);
    assert!((off - (corrected / mean - 1.0)).abs() < 1e-12, "{found}");
    assert!(off > 0.0 && off < 0.15, "{found}");
    let error = corrected * number(&simulated["stderr"]) / (mean * mean);
    assert!((number(&simulated["off_stderr"]) - error).abs() < 1e-12, "{found}");
    let table = stdout(question);
    let words = format!(
        "the corrected form, an approximation, is {:+.1} % ± {:.1} % off",
        100.0 * off,
        100.0 * error
    );
    assert!(table.contains(&words) && !table.contains("supports"), "{table}");
}
