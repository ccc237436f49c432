//! The probabilistic election on the command line: flags, measures, files and refusals.

use crate::command::{bellwether, json, mean, refusal, stdout};
use serde_json::Value;

/// The answer of `sim`.
fn sim(arguments: &str) -> Value {
    json(&format!("sim probabilistic {arguments}"))
}

#[test]
fn an_election_has_all_its_measures_and_the_parameters_it_was_asked_with() {
    let answer = sim(
        "--nodes 300 --runs 50 --k 9 --strategy fixed --max-rounds 3 --view .4 --ucast-loss .1 \
         --mcast-loss .2 --fail .01 --reinitiate hash --size view",
    );
    for metric in [
        "strong_success",
        "weak_success",
        "rounds",
        "unicasts",
        "multicasts",
        "relays",
        "components",
        "detected",
        "aborted",
        "time",
    ] {
        assert!(answer["metrics"][metric]["mean"].is_number(), "{metric}");
    }
    let params = &answer["params"];
    for (name, value) in [("k", 9.0), ("max_rounds", 3.0), ("view", 0.4), ("fail", 0.01)] {
        assert_eq!(params[name].as_f64(), Some(value), "{name}");
    }
    assert_eq!(params["ucast_loss"].as_f64(), Some(0.1));
    assert_eq!(params["mcast_loss"].as_f64(), Some(0.2));
    assert_eq!(
        (params["reinitiate"].as_str(), params["size"].as_str()),
        (Some("hash"), Some("view"))
    );
    assert_eq!(answer["unsettled"].as_u64(), Some(0), "failures are in the means");
}

#[test]
fn the_result_depends_on_the_seed_and_not_on_the_threads() {
    let flags = "--nodes 500 --runs 40 --loss .3 --fail .01";
    let metrics = |more: &str| sim(&format!("{flags} {more}"))["metrics"].clone();
    let one = metrics("--threads 1");
    assert_eq!(one, metrics("--threads 2"));
    assert_ne!(one, metrics("--threads 1 --seed 2"));
}

/// Views of a half, as they take their own view for all: twice as many relays. Exact means: K,
/// and 2K; tolerance 4 standard errors of 400 runs.
#[test]
fn a_view_taken_for_the_group_doubles_the_relays() {
    for (size, expected) in [("true", 20.0), ("view", 40.0)] {
        let answer = sim(&format!("--nodes 1000 --runs 400 --k 20 --max-rounds 1 --size {size}"));
        let relays = mean(&answer, "relays");
        assert!((relays - expected).abs() < 4.0 * (expected / 400.0).sqrt(), "{size}: {relays}");
    }
}

/// Within 5 %, which the estimate promises with probability .95, and 4 standard errors.
#[test]
fn a_gossiped_size_lets_about_k_through() {
    let answer = sim("--nodes 300 --runs 30 --k 20 --max-rounds 1 --size gossip --view .3");
    let relays = mean(&answer, "relays");
    assert!((relays - 20.0).abs() < 1.0 + 4.0 * (20.0_f64 / 30.0).sqrt(), "{relays}");
    assert!(mean(&answer, "unicasts") < 2_000.0, "gossip is not counted");
}

#[test]
fn a_strategy_is_listed_inline_or_in_a_file() {
    let file = std::env::temp_dir().join(format!("bellwether-strategy-{}", std::process::id()));
    std::fs::write(&file, "3\n9 all\n").unwrap();
    let flags = "--nodes 60 --runs 60 --loss .4 --max-rounds 3 --strategy";
    let listed = sim(&format!("{flags} {}", file.display()));
    std::fs::remove_file(&file).unwrap();
    assert_eq!(listed["metrics"], sim(&format!("{flags} 3,9,all"))["metrics"]);
    assert_ne!(listed["metrics"], sim(&format!("{flags} 3,9,9"))["metrics"]);
}

#[test]
fn whoever_must_fail_fails_and_nobody_is_left_to_lead() {
    let answer = sim("--nodes 50 --runs 5 --fail 1 --max-rounds 1");
    assert_eq!(mean(&answer, "strong_success"), 0.0);
    let calm = sim("--nodes 50 --runs 20 --k 50 --view 1");
    assert_eq!((mean(&calm, "strong_success"), mean(&calm, "rounds")), (1.0, 1.0));
}

#[test]
fn a_round_of_everyone_ends_and_elects() {
    let answer = sim("--nodes 400 --runs 2 --strategy all --max-rounds 1 --loss .3");
    assert!(mean(&answer, "relays") > 200.0);
    assert!(mean(&answer, "unicasts") > 20_000.0);
    let limited = sim("--nodes 400 --runs 20 --strategy all --max-rounds 1 --most-relays 50");
    assert!((mean(&limited, "relays") - 50.0).abs() < 7.0, "a limit is a limit");
}

#[test]
fn what_is_certain_is_judged_and_what_is_probable_is_not() {
    let text = stdout("check probabilistic --schedules 20");
    for words in ["probabilistic with 5 processes", "by: eventually one", "agreement", "held"] {
        assert!(text.contains(words), "{words}:\n{text}");
    }
    let text = stdout("check probabilistic --schedules 5 --k 4");
    assert!(
        text.contains("by: probably one") && text.contains("a group no larger than K"),
        "{text}"
    );
    for flag in ["--view .5", "--fail .1", "--ucast-loss .1", "--mcast-loss .1", "--initiators all"]
    {
        let message = refusal(&format!("check probabilistic {flag}"), 2);
        assert!(message.contains("every schedule draws its own"), "{flag}: {message}");
    }
}

#[test]
fn a_few_are_looked_at_and_a_view_is_not_what_a_picture_shows() {
    let text = stdout("trace probabilistic");
    assert!(text.contains(" 19  start") && !text.contains(" 20  start"), "{text}");
    assert!(text.contains("leads, term 1"), "{text}");
    let narrow = stdout("trace probabilistic --view-prob .1");
    assert_ne!(text, narrow);
    let message = refusal("trace probabilistic --fail .1", 2);
    assert!(message.contains("use --crash-leader, or a scenario file's [[faults]]"), "{message}");
    let message = refusal("trace le-s --view-prob .1", 2);
    assert!(message.contains("--view-prob is no flag of le-s"), "{message}");
}

#[test]
fn a_live_group_keeps_in_touch() {
    let file = std::env::temp_dir().join(format!("bellwether-touch-{}.toml", std::process::id()));
    let says = |text: &str| {
        std::fs::write(&file, format!("[params]\n{text}")).unwrap();
        let member = "--insecure --id 1 --peers 1=127.0.0.1:7501,2=127.0.0.1:7502";
        let output = bellwether(&format!(
            "check-config web --protocol probabilistic {member} --config {}",
            file.display()
        ));
        let errors = String::from_utf8(output.stderr).expect("errors are text");
        (output.status.code(), errors)
    };
    assert_eq!(says("k = 9"), (Some(0), String::new()));
    let (code, errors) = says("beat = \"infinite\"\nsilence = \"infinite\"");
    assert!(code == Some(78) && errors.contains("nobody tells a live member"), "{errors}");
    let (code, errors) = says("beat = \"2s\"");
    assert!(code == Some(78) && errors.contains("silence > beat + multicast"), "{errors}");
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn what_cannot_be_is_refused_with_the_rule_and_the_way_out() {
    for (arguments, said) in [
        ("--k 0", "K = 0 in round 1, but K >= 1 must hold"),
        ("--max-rounds 0", "--max-rounds = 0, but 1 <= --max-rounds <= 64 must hold"),
        ("--max-rounds 65", "max-rounds = 65"),
        ("--view 1.5", "'1.5' breaks the rule: a probability lies between 0 and 1"),
        ("--fail -0.1", "a probability lies between 0 and 1"),
        ("--ucast-loss x", "a probability lies between 0 and 1"),
        ("--strategy /no/such/file", "a strategy is double, fixed, or a list of whole numbers"),
        ("--strategy 7,many", "'many' is no K"),
        ("--strategy 1,2,3 --max-rounds 2", "strategy lists 3 values of K"),
        ("--most-relays 0", "most-relays = 0"),
        ("--gossip 2s", "--gossip has no effect with --size true, only with --size gossip"),
        ("--strategy fixed --last-round-all=false", "only with --strategy double"),
        ("--nodes 1", "there is nobody to elect"),
        ("--initiator 2000", "initiator 2000"),
        ("--suppress 1s", "--suppress is no flag of probabilistic"),
        ("--order random", "--order is no flag of probabilistic"),
        ("--detection 1s", "--detection is no flag of probabilistic"),
        ("--scenario departure", "scenario departure is not for elections that are called"),
        ("--mcast-loss 1", "loss = 1"),
        ("--engine lazy", "the lazy engine does not apply"),
        ("--bound 0s", "--bound 0s, but a message takes 0.1s"),
        ("--bound infinite", "--bound = infinite, but 0 < --bound < infinite must hold"),
    ] {
        let message = refusal(&format!("sim probabilistic {arguments}"), 2);
        assert!(message.contains(said), "{arguments}: {message}");
    }
    let message = refusal("sim le-s --view .4", 2);
    assert!(message.contains("--view is no flag of le-s"), "{message}");
}
