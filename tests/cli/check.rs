//! `bellwether check` as scripts and people meet it: what it says, what it writes, how it ends.

use crate::command::{bellwether, folder, ran, unused};
use serde_json::Value;
use std::path::Path;

/// The verdict as JSON, and the exit code.
fn json(arguments: &str) -> (Value, Option<i32>) {
    let (text, code) = ran(&format!("{arguments} --format json"));
    (serde_json::from_str(&text).expect("it is JSON"), code)
}

#[test]
fn a_promise_that_holds_says_what_was_tested() {
    let (verdict, code) = json("check le-s --schedules 300 --seed 4");
    assert_eq!(code, Some(0), "{verdict}");
    assert_eq!(verdict["verdict"], "holds");
    assert_eq!((&verdict["nodes"], &verdict["schedules"]), (&5.into(), &300.into()));
    assert_eq!(verdict["promise"], "eventually-one");
    assert!(verdict["invariants"]["agreement"]["checks"].as_u64() > Some(1_000), "{verdict}");
    assert_eq!(verdict["invariants"]["agreement"]["breaches"], 0);
    for key in ["elections", "deliveries", "simulated_seconds", "wall_seconds"] {
        assert!(verdict[key].as_f64() > Some(0.0), "{key}: {verdict}");
    }
    for key in ["schedules_per_second", "simulated_per_wall"] {
        assert!(verdict[key].as_f64() > Some(1.0), "{key}: {verdict}");
    }
    let faults = verdict["faults"].as_object().expect("faults by kind");
    assert!(faults.len() > 20 && faults.values().all(|n| n.as_u64() > Some(0)), "{verdict}");
    assert_eq!(verdict["violations"], Value::Array(vec![]));
    let (text, _) = ran("check le-s --schedules 50");
    for words in ["le-s with 5 processes, 50 schedules from seed 1", "agreement", "held"] {
        assert!(text.contains(words), "{words}:\n{text}");
    }
}

#[test]
fn a_broken_promise_is_shown_shrunk_written_down_and_replayed() {
    let out = unused("check");
    let flags = format!("check sup-al-elect --promise eventually-one --out {}", out.display());
    let (verdict, code) = json(&format!("{flags} --schedules 500"));
    assert_eq!(code, Some(1), "{verdict}");
    assert_eq!(verdict["verdict"], "violated");
    let [violation] = &verdict["violations"].as_array().expect("a list")[..] else {
        panic!("one violation, not {verdict}")
    };
    assert_eq!(violation["invariant"], "agreement");
    assert!(violation["shrunk"]["faults"].as_u64() < violation["faults"].as_u64(), "{violation}");

    let number = violation["schedule"].as_u64().expect("a number");
    let replay = violation["replay"].as_str().expect("a command");
    let words = format!("--promise eventually-one --seed 1 --schedule {number}");
    assert_eq!(replay, format!("bellwether check sup-al-elect {words}"));
    let arguments = replay.strip_prefix("bellwether ").expect("a command");
    let (again, code) = json(&format!("{arguments} --out {}", out.display()));
    assert_eq!(code, Some(1));
    assert_eq!(again["schedules"], 1);
    assert_eq!(again["violations"][0], *violation, "the same, to the last word");

    let name = format!("violation-sup-al-elect-1-{number}");
    let scenario = out.join(format!("{name}.toml"));
    assert_eq!(violation["scenario"], scenario.display().to_string());
    let (transcript, code) = ran(&format!("trace {}", scenario.display()));
    assert_eq!(code, Some(0), "{transcript}");
    assert!(transcript.contains("start"), "{transcript}");
    let picture = std::fs::read_to_string(out.join(format!("{name}.svg")));
    assert!(picture.expect("a picture").starts_with("<svg"));
    let (text, code) = ran(&format!("{flags} --schedule {number}"));
    assert_eq!(code, Some(1));
    for words in ["BROKEN", "VIOLATED by schedule", "shrunk from", "again:", "picture:"] {
        assert!(text.contains(words), "{words}:\n{text}");
    }
    std::fs::remove_dir_all(&out).expect("it was made by this test");
}

#[test]
fn schedules_may_draw_parameters_and_a_replay_draws_the_same() {
    let (verdict, code) = json("check local-leader --vary --schedules 60 --seed 4");
    assert_eq!(code, Some(0), "{verdict}");
    for name in ["preempt", "preempt-delay", "replace-after"] {
        assert!(verdict["parameters"][name].as_u64() > Some(15), "{name}: {verdict}");
    }
    let (text, _) = ran("check local-leader --vary --schedules 60 --seed 4");
    assert!(text.contains("schedules that drew a parameter:\n  preempt "), "{text}");
    // Parts without a majority have no leader, which another promise would have.
    let out = unused("vary");
    let out_flag = format!("--out {}", out.display());
    let flags = "check local-leader --vary --promise one-per-partition --seed 4 --schedules 500";
    let (verdict, code) = json(&format!("{flags} {out_flag}"));
    assert_eq!(code, Some(1), "{verdict}");
    let violation = &verdict["violations"][0];
    let replay = violation["replay"].as_str().expect("a command");
    assert!(replay.contains(" --promise one-per-partition --vary "), "{replay}");
    let arguments = replay.strip_prefix("bellwether ").expect("a command");
    let (again, _) = json(&format!("{arguments} {out_flag}"));
    assert_eq!(again["violations"][0], *violation, "the same, to the last word");
    std::fs::remove_dir_all(&out).expect("it was made by this test");
}

#[test]
fn the_verdict_does_not_depend_on_the_number_of_threads() {
    let verdict = |threads: u32| {
        let (mut verdict, _) = json(&format!("check le-a --schedules 200 --threads {threads}"));
        for key in ["wall_seconds", "schedules_per_second", "simulated_per_wall"] {
            verdict[key] = Value::Null;
        }
        verdict
    };
    assert_eq!(verdict(1), verdict(3));
}

#[test]
fn who_promises_nothing_cannot_be_judged() {
    let (text, code) = ran("check sup-al-elect --schedules 5");
    assert_eq!(code, Some(0));
    assert!(text.contains("nothing to judge"), "{text}");
    assert_eq!(json("check sup-al-elect --schedules 5").0["verdict"], "nothing to judge");
}

#[test]
fn bad_calls_are_refused_in_one_line_and_leave_nothing() {
    let out = unused("refused");
    for (arguments, words) in [
        ("check le-x", "no protocol has that name"),
        ("check le-s --promise always", "'always' is no promise; choose one of never-two"),
        ("check le-s --schedules 0", "schedules are a whole number, at least 1"),
        ("check le-s --schedules 5 --schedule 3", "cannot be used with"),
        ("check le-s --nodes 65", "nodes = 65, but the judge watches from 1 to 64 processes"),
        ("check le-s --loss .1", "--loss: every schedule draws its own networks, clocks and calls"),
        ("check le-s --clock-drift 3", "every schedule draws its own networks, clocks and calls"),
        ("check le-s --listen 900000000s", "choose shorter timers"),
        ("check le-s --mode local", "--mode is no flag of le-s"),
        ("check le-s --vary", "schedules cannot draw parameters"),
        ("check local-leader --vary --mode local", "parameters of leases from a majority"),
        ("check local-leader --vary --tree 2", "--tree: with --vary every schedule draws its own"),
    ] {
        let output = bellwether(&format!("{arguments} --out {}", out.display()));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {errors}");
        assert!(errors.contains(words), "{arguments}: {errors}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
        assert!(output.stdout.is_empty() && !Path::new(&out).exists(), "{arguments}");
    }
}

#[test]
fn help_names_what_the_command_has_and_hides_what_it_draws_itself() {
    let (help, _) = ran("check --help");
    for words in ["--promise", "--schedule ", "[default: 5]", "Exit code"] {
        assert!(help.contains(words), "{words}:\n{help}");
    }
    assert!(!help.contains("--loss") && !help.contains("--clock-drift"), "{help}");
    let (help, _) = ran("check le-s --help");
    for words in ["--promise", "--suppress", "[default: 3s]"] {
        assert!(help.contains(words), "{words}:\n{help}");
    }
    assert!(!help.contains("--loss") && !help.contains("--clock-drift"), "{help}");
}

/// The paper's protocol as printed: C3 is missing, and two global leaders follow.
#[test]
fn the_published_protocol_is_found_out() {
    let out = unused("published");
    let flags = format!("check local-leader --as-published --out {}", out.display());
    let (verdict, code) = json(&flags);
    assert_eq!((code, &verdict["verdict"]), (Some(1), &Value::from("violated")), "{verdict}");
    let (verdict, code) = json(&format!("{flags} --promise never-two --nodes 3 --schedules 10000"));
    assert_eq!(code, Some(1), "{verdict}");
    assert_eq!(verdict["violations"][0]["invariant"], "never-two", "{verdict}");
    std::fs::remove_dir_all(&out).expect("it was made by this test");
}

#[test]
fn a_small_group_is_explored_to_the_end_and_says_how_far() {
    let flags = "check local-leader --explore --nodes 2 --crashes 1";
    let (verdict, code) = json(flags);
    assert_eq!(code, Some(0), "{verdict}");
    assert_eq!(verdict["complete"], true, "{verdict}");
    assert_eq!(verdict["somebody_leads"], true, "{verdict}");
    let (text, _) = ran(flags);
    assert!(text.contains("all that can be reached"), "{text}");
    let (verdict, code) = json(&format!("{flags} --states 100"));
    assert_eq!((code, &verdict["complete"]), (Some(0), &Value::from(false)), "{verdict}");
}

/// Nothing that holds in it means much if no change comes to its end.
#[test]
fn an_exploration_says_whether_a_change_was_committed() {
    for (ticks, commits, said) in
        [(8, true, "; a changed list was committed"), (6, false, "; no changed list was ever")]
    {
        let flags = format!("check local-leader --explore --nodes 2 --changes 1 --ticks {ticks}");
        let (verdict, code) = json(&flags);
        assert_eq!((code, &verdict["somebody_commits"]), (Some(0), &commits.into()), "{verdict}");
        let (text, _) = ran(&flags);
        assert!(text.contains(said), "{text}");
    }
}

#[test]
fn a_group_that_draws_is_explored_and_its_deadlock_is_found() {
    let (verdict, code) = json("check le-s --explore --nodes 2");
    assert_eq!(code, Some(0), "{verdict}");
    assert_eq!((&verdict["complete"], &verdict["ticks"]), (&true.into(), &10.into()), "{verdict}");
    assert_eq!((&verdict["protocol"], &verdict["somebody_leads"]), (&"le-s".into(), &true.into()));
    let out = unused("explored");
    let flags = format!("check sup-al-elect --explore --nodes 2 --out {}", out.display());
    let (verdict, code) = json(&flags);
    assert_eq!(code, Some(1), "{verdict}");
    assert_eq!(verdict["broken"], "somebody-stands", "{verdict}");
    let drawn: Vec<_> = std::fs::read_dir(&out).expect("it was made").flatten().collect();
    let name = drawn[0].file_name().into_string().expect("it is plain text");
    // What is broken, and by which run: another one does not overwrite it.
    assert!(name.starts_with("explored-somebody-stands-"), "{name}");
    std::fs::remove_dir_all(&out).expect("it was made by this test");
}

#[test]
fn every_flag_of_an_exploration_is_taken() {
    let flags = "check local-leader --explore --nodes 3 --ticks 2 --states 20000 --quickest 1 \
                 --slowest 2 --crashes 1 --lost-disks 1 --releases 1 --copies 1 --resignations 1 \
                 --transfers 1 --changes 1 --founders 2 --campaigns 1 --sleep --threads 2";
    let (text, code) = ran(flags);
    assert_eq!(code, Some(0), "{text}");
    for said in ["1 crash,", "1 lost disk,", "1 release,", "2 vote at first", "pause at any time"] {
        assert!(text.contains(said), "{said}: {text}");
    }
}

#[test]
fn what_cannot_be_explored_is_refused() {
    for (flags, said) in [
        ("check bully --explore", "bully is not explored; choose local-leader"),
        ("check sup --explore", "sup is not explored; choose local-leader"),
        ("check le-s --explore --listen 3s", "--listen has no effect with --explore"),
        ("check local-leader --explore --nodes 5", "from 1 to 4 processes"),
        ("check local-leader --explore --preset fast", "--preset has no effect with --explore"),
        ("check local-leader --explore --quickest 2", "--quickest 2 and --slowest 1"),
        ("check local-leader --explore --states 0", "at least 1"),
        ("check local-leader --crashes 1", "--explore"),
        ("check local-leader --schedule 18446744073709551615", "18446744073709551615"),
        ("check local-leader --refresh 60s", "no message is certain to be fast"),
        (
            "check local-leader --refresh 60s --fastest 1ms --unchecked",
            "no message is certain to be fast",
        ),
    ] {
        let output = bellwether(flags);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{flags}: {text}");
        assert!(text.contains(said), "{flags}: {text}");
    }
}

#[test]
fn violations_do_not_overwrite_each_other() {
    let out = unused("several");
    let scenario = |flags: &str| {
        let (verdict, code) = json(&format!("check {flags} --out {}", out.display()));
        assert_eq!(code, Some(1), "{verdict}");
        let path = verdict["violations"][0]["scenario"].as_str().expect("a path").to_owned();
        (std::fs::read_to_string(&path).expect("it was written"), path)
    };
    let [first, other, wider] = [
        "le-s --promise never-two --schedule 3",
        "le-a --promise never-two --schedule 3",
        "le-s --promise never-two --schedule 3 --nodes 6",
    ]
    .map(scenario);
    assert!(first.1.ends_with("violation-le-s-1-3.toml"), "{}", first.1);
    assert!(other.1.ends_with("violation-le-a-1-3.toml"), "{}", other.1);
    assert!(wider.1.ends_with("violation-le-s-1-3-2.toml"), "{}", wider.1);
    assert_eq!(scenario("le-s --promise never-two --schedule 3"), first, "the same has its name");
    for (text, path) in [first, other, wider] {
        assert_eq!(std::fs::read_to_string(&path).expect("it is there"), text);
        assert!(Path::new(&path).with_extension("svg").exists());
    }
    std::fs::remove_dir_all(&out).expect("it was made by this test");
}

/// A shrunk schedule ends in the instant in which two lead; in the picture both are to be seen.
#[test]
fn the_picture_of_two_leaders_shows_both() {
    let out = unused("both");
    let flags = "check le-s --promise never-two --schedule 3";
    let (verdict, _) = json(&format!("{flags} --out {}", out.display()));
    let violation = &verdict["violations"][0];
    let at = violation["shrunk"]["at"].as_f64().expect("a time");
    let path = violation["scenario"].as_str().expect("a path");
    let written = std::fs::read_to_string(path).expect("it was written");
    let until = written.lines().find_map(|line| line.strip_prefix("until = "));
    let until = until.expect("it says how long").trim_matches(['"', 's']);
    let until: f64 = until.parse().unwrap_or_else(|_| panic!("{until}: in seconds"));
    assert!(until > 1.05 * at, "broken at {at}, shown until {until}");
    std::fs::remove_dir_all(&out).expect("it was made by this test");
}

#[test]
fn a_picture_is_not_written_under_the_name_of_another_kind() {
    let out = folder("png");
    let png = out.join("x.png");
    let output = bellwether(&format!("trace le-s --nodes 3 --svg {}", png.display()));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("pictures are written as SVG; name the file"), "{errors}");
    assert!(!png.exists());
    std::fs::remove_dir_all(&out).expect("it was made by this test");
}
