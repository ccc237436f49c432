//! What `plan probabilistic` chooses, refuses and draws.

use crate::command::{bellwether, json, mean_of, refusal, stdout};
use serde_json::Value;

const FLAGS: &str = "plan probabilistic --nodes 200 --mcast-loss .02 --ucast-loss .02 --success .9";

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn a_strategy_is_chosen_and_confirmed_by_another_seed() {
    let plan = json(FLAGS);
    let (chosen, fresh) = (&plan["chosen"], &plan["confirmation"]);
    assert_eq!(plan["confirmed"], true, "{plan}");
    for trial in [chosen, fresh] {
        assert!(number(&trial["ci95"][0]) >= 0.9, "{trial}");
        let share = number(&trial["successes"]) / number(&trial["runs"]);
        assert_eq!(number(&trial["success"]), share, "{trial}");
        let sum = number(&trial["unicasts"]) + number(&trial["multicasts"]);
        assert_eq!(number(&trial["messages"]), sum, "{trial}");
        let again = mean_of(trial["command"].as_str().unwrap(), "strong_success");
        assert_eq!(number(&trial["success"]), again, "the command prints the same: {trial}");
    }
    assert_eq!((&plan["seed"], &fresh["seed"]), (&Value::from(1), &Value::from(2)));
    assert_eq!(plan["command"], chosen["command"]);
    assert!(number(&plan["bound_of_one_round"]) < number(&chosen["success"]), "{plan}");
    let relays = chosen["relays"].as_array().unwrap();
    assert_eq!(number(&chosen["max_rounds"]), relays.len() as f64);
    assert!(plan["tried"].as_array().unwrap().contains(chosen), "{plan}");
}

#[test]
fn tables_say_what_was_chosen_why_and_whether_it_holds() {
    let table = stdout(FLAGS);
    for words in [
        "the fewest messages of",
        "--max-rounds",
        "strong success",
        "section 4, for one round",
        "fresh runs, seed 2",
        ": confirmed",
        "the same runs: bellwether sim probabilistic --nodes 200",
    ] {
        assert!(table.contains(words), "{words} is not in\n{table}");
    }
    let rows = stdout(&format!("{FLAGS} --format csv"));
    let mut lines = rows.lines();
    assert!(lines.next().is_some_and(|header| header.starts_with("k,growth,max_rounds,runs,")));
    assert_eq!(lines.filter(|line| line.contains(",reaches,true,")).count(), 1, "{rows}");
}

/// Every element that begins ends, in order, and nothing else is in angle brackets.
fn check_nesting(text: &str) {
    let mut open = Vec::new();
    for tag in text.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').expect("a tag ends");
        let name = tag.split([' ', '/']).find(|part| !part.is_empty()).expect("it has a name");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "{tag}");
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert_eq!(open, Vec::<&str>::new());
}

#[test]
fn the_trade_off_is_drawn() {
    let path = std::env::temp_dir().join(format!("bellwether-plan-{}.svg", std::process::id()));
    let table = stdout(&format!("{FLAGS} --svg {}", path.display()));
    let picture = std::fs::read_to_string(&path).expect("it was written");
    std::fs::remove_file(&path).expect("it was there");
    assert!(table.contains("confirmed"), "{table}");
    check_nesting(&picture);
    for words in ["goal 0.9", "chosen: K ", "1 round", "K at the points"] {
        assert!(picture.contains(words), "{words} is not in\n{picture}");
    }
}

#[test]
fn goals_that_cannot_be_reached_are_refused_with_what_can() {
    for (flags, words) in [
        ("--nodes 100 --fail .3 --success .9", ["the best of", "1 - fail = 0.7"]),
        ("--success 1", ["success = 1,", "0 < success < 1"]),
        ("--success .99999", ["success = 0.99999 takes", "greater effort"]),
        ("--max-rounds 0", ["max-rounds = 0", "1 <= max-rounds <= 16"]),
        ("--effort 0", ["'0'", "0.001"]),
        ("--view 2", ["'2'", "--view"]),
    ] {
        let line = refusal(&format!("plan probabilistic {flags}"), 2);
        assert!(words.iter().all(|word| line.contains(word)), "{flags}: {line}");
    }
    let output = bellwether(&format!("{FLAGS} --svg /nowhere/at/all.svg"));
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(output.stdout, b"", "it is refused before anything is simulated");
}
