//! One run, played: the same bytes as the command line, whatever is asked.

use super::asking::{Lab, next, ran, seconds, stdout};
use serde_json::{Value, json};

/// The records before this time, in nanoseconds.
fn before<'a>(records: &[&'a str], at: u64) -> Vec<&'a str> {
    let t = |line: &str| {
        let record: Value = serde_json::from_str(line).expect("a line of JSON");
        record["t"].as_u64().expect("a time")
    };
    records.iter().copied().filter(|line| t(line) < at).collect()
}

#[test]
fn every_protocol_plays_and_its_records_are_those_of_the_command_that_is_told() {
    let lab = Lab::start();
    let told = lab.get("/api/protocols").json();
    let protocols = told["protocols"].as_array().unwrap();
    assert!(protocols.len() > 15, "{told}");
    for protocol in protocols {
        let name = protocol["name"].as_str().unwrap();
        let run = lab.post("/api/run", &json!({ "protocol": name, "flags": { "nodes": 6 } }));
        let (head, end) = (&run.said("head")[0], &run.said("end")[0]);
        assert_eq!(head["nodes"], 6, "{name}");
        assert_eq!(head["places"].as_array().unwrap().len(), 6, "{name}");
        let layout = protocol["layout"].as_str().unwrap_or("circle");
        assert_eq!(head["layout"], layout, "{name}");
        assert_eq!(end["complete"], true, "{name}");
        let command = head["command"].as_str().unwrap();
        let arguments = command.strip_prefix("bellwether ").unwrap();
        let traced = stdout(&format!("{arguments} --format json"));
        assert_eq!(run.records(), traced.lines().collect::<Vec<_>>(), "{command}");
        let carried = run.said("carries");
        assert_eq!(carried.len() as u64, end["sent"].as_u64().unwrap(), "{name}");
    }
}

#[test]
fn a_fault_changes_nothing_before_its_time_and_taking_it_back_changes_nothing_at_all() {
    let lab = Lab::start();
    let asked = |faults: Value| {
        json!({ "protocol": "local-leader", "flags": { "loss": ".1", "until": "2s" },
                "faults": faults })
    };
    let whole = lab.post("/api/run", &asked(json!([])));
    for fault in [
        json!({ "at": "700ms", "what": "crash", "node": "leader" }),
        json!({ "at": "700ms", "what": "pause", "node": 1 }),
        json!({ "at": "700ms", "what": "slow", "node": 1, "by": "20ms" }),
        json!({ "at": "700ms", "what": "drift", "node": 1, "parts-per-billion": 100_000 }),
        json!({ "at": "700ms", "what": "cut", "from": [0, 1], "to": [2, 3, 4] }),
        json!({ "at": "700ms", "what": "resign", "node": "leader" }),
    ] {
        let broken = lab.post("/api/run", &asked(json!([fault])));
        assert_ne!(whole.records(), broken.records(), "{fault}");
        let at = 700_000_000;
        let (first, second) = (before(&whole.records(), at), before(&broken.records(), at));
        assert!(first.len() > 100, "{}", first.len());
        assert_eq!(first, second, "{fault}");
    }
    let again = lab.post("/api/run", &asked(json!([])));
    assert_eq!(whole.body, again.body, "equal requests give equal bytes");
    // The file that is told gives the same, and so does its JSON form.
    let head = &whole.said("head")[0];
    let toml = lab.post("/api/run", &json!({ "toml": head["toml"] }));
    let scenario = lab.post("/api/run", &json!({ "scenario": head["scenario"] }));
    assert_eq!(whole.records(), toml.records());
    assert_eq!(whole.records(), scenario.records());
}

/// What can be done to a group of five at one time, and undone at another.
fn strokes(at: u64, later: u64) -> Vec<(&'static str, Value)> {
    let time = |t: u64| format!("{}.{:09}s", t / 1_000_000_000, t % 1_000_000_000);
    let (at, later) = (time(at), time(later));
    let (few, many) = (json!([0, 1]), json!([2, 3, 4]));
    vec![
        (
            "crash and restart",
            json!([{ "at": at, "what": "crash", "node": 1 },
                   { "at": later, "what": "restart", "node": 1 }]),
        ),
        (
            "pause and go on",
            json!([{ "at": at, "what": "pause", "node": 2 },
                   { "at": later, "what": "resume", "node": 2 }]),
        ),
        (
            "cut and heal",
            json!([{ "at": at, "what": "cut", "from": few, "to": many },
                   { "at": at, "what": "cut", "from": many, "to": few },
                   { "at": later, "what": "heal" }]),
        ),
        ("call an election", json!([{ "at": at, "what": "campaign", "node": 3 }])),
    ]
}

#[test]
fn whatever_the_protocol_a_fault_changes_nothing_before_its_time() {
    let lab = Lab::start();
    let told = lab.get("/api/protocols").json();
    for protocol in told["protocols"].as_array().unwrap() {
        let name = protocol["name"].as_str().unwrap();
        let run = |faults: &Value| {
            let flags = json!({ "nodes": 5 });
            lab.post("/api/run", &json!({ "protocol": name, "flags": flags, "faults": faults }))
        };
        let whole = run(&json!([]));
        let records = whole.records();
        let times: Vec<u64> = whole.lines().iter().filter_map(|line| line["t"].as_u64()).collect();
        // In the middle of what happens.
        let (at, last) = (times[times.len() / 2], *times.last().unwrap());
        let unchanged = before(&records, at);
        assert!(!unchanged.is_empty(), "{name}: nothing happens before {at}");
        let mut changed = Vec::new();
        for (what, faults) in strokes(at, at + (last - at) / 2) {
            let broken = run(&faults);
            assert_eq!(unchanged, before(&broken.records(), at), "{name}: {what}");
            if broken.records() != records {
                changed.push(what);
            }
        }
        assert!(changed.len() >= 3, "{name}: only {changed:?} change something");
    }
}

#[test]
fn what_is_refused_is_refused_with_the_words_of_the_command_line() {
    let lab = Lab::start();
    for (flags, arguments) in [
        (json!({ "nodes": "0" }), "--nodes 0"),
        (json!({ "jitter": "5ms" }), "--jitter 5ms"),
        (json!({ "loss": "1.5" }), "--loss 1.5"),
        (json!({ "until": "infinite" }), "--until infinite"),
        (json!({ "straggle": "1s" }), "--straggle 1s"),
    ] {
        let body = json!({ "protocol": "le-s", "flags": flags });
        let line = lab.post("/api/run", &body).error(422);
        let output = ran(&format!("trace le-s {arguments}"));
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(errors.contains(&line), "{line} is not in {errors}");
    }
    let body = json!({ "protocol": "le-s", "flags": { "nodes": 65 } });
    let line = lab.post("/api/run", &body).error(422);
    assert!(line.contains("nodes = 65, but the stage has room for 2 to 64"), "{line}");
    let fault = json!([{ "at": "1s", "what": "crash" }]);
    let body = json!({ "protocol": "le-s", "faults": fault });
    let line = lab.post("/api/run", &body).error(422);
    assert!(line.contains("needs the key `node`"), "{line}");
    // Refused before anything is built for so many: one entry for each would not fit into memory.
    for body in [
        json!({ "protocol": "bully", "flags": { "nodes": "4000000000", "initiators": "all" } }),
        json!({ "protocol": "bully", "flags": { "nodes": 4e9 as u64, "initiators": "all" } }),
        json!({ "toml": "protocol = 'bully'\nnodes = 4000000000\nuntil = '8s'" }),
        json!({ "scenario": { "protocol": "bully", "nodes": 4_000_000_000_u64, "until": "8s" } }),
    ] {
        let line = lab.post("/api/run", &body).error(422);
        assert!(line.contains("nodes = 4000000000, but the stage has room for"), "{line}");
    }
    let output = ran("trace bully --nodes 4000000000 --initiators all");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("4000000000 processes") && errors.contains("GiB are free"), "{errors}");
    let body = json!({ "protocol": "le-s", "flags": { "svg": "/tmp/x.svg" } });
    assert!(lab.post("/api/run", &body).error(422).contains("--svg is not for a page"));
}

#[test]
fn a_broken_invariant_is_marked_at_its_instant_with_its_name() {
    let lab = Lab::start();
    let lesson = lab.get("/api/lessons/hall-bug").json();
    let run = lab.post("/api/run", &json!({ "toml": lesson["toml"] }));
    let found = &run.said("violation")[0];
    assert_eq!(found["invariant"], "locked-supporters");
    let at = found["t"].as_u64().unwrap();
    assert!((430_000_000..=530_000_000).contains(&at), "{found}");
    let lines = run.lines();
    let place = lines.iter().position(|line| line["lab"] == "violation").unwrap();
    let t = |line: &Value| line["t"].as_u64().unwrap_or(0);
    assert!(lines[1..place].iter().all(|line| t(line) <= at), "what came before");
    assert!(lines[place + 1..].iter().all(|line| t(line) >= at), "what comes after");
    assert_eq!(lines.len() - 1, lines.iter().position(|line| line["lab"] == "end").unwrap());
}

#[test]
fn lessons_are_listed_and_play_to_their_stated_ends() {
    let lab = Lab::start();
    let listed = lab.get("/api/lessons").json();
    let lessons = listed["lessons"].as_array().unwrap();
    assert!(lessons.len() >= 10);
    for lesson in lessons {
        let name = lesson["name"].as_str().unwrap();
        let whole = lab.get(&format!("/api/lessons/{name}")).json();
        let run = lab.post("/api/run", &json!({ "toml": whole["toml"] }));
        let (head, end) = (&run.said("head")[0], &run.said("end")[0]);
        assert_eq!(head["captions"], whole["captions"], "{name}");
        assert_eq!(end["leaders"], whole["outcome"]["leaders"], "{name}");
        let broken = whole["outcome"].get("broken").cloned().unwrap_or_default();
        assert_eq!(end["broken"], broken, "{name}");
        assert_eq!(end["as_stated"], true, "{name}");
    }
    // A lesson that states no broken invariant is not as stated where one is broken.
    let text = lab.get("/api/lessons/hall-bug").json()["toml"].as_str().unwrap().to_owned();
    let stated = text.lines().find(|line| line.starts_with("broken = ")).unwrap();
    let run = lab.post("/api/run", &json!({ "toml": text.replace(stated, "") }));
    assert_eq!(run.said("end")[0]["as_stated"], false);
    let run = lab.post("/api/run", &json!({ "protocol": "le-s" }));
    assert_eq!(run.said("end")[0]["as_stated"], Value::Null, "nothing is stated");
}

#[test]
fn captions_and_an_outcome_become_part_of_the_file_and_change_no_record() {
    let lab = Lab::start();
    let mut body = json!({ "protocol": "le-s", "flags": { "nodes": 3, "until": "4s" } });
    let plain = lab.post("/api/run", &body);
    let leaders = &plain.said("end")[0]["leaders"];
    body["captions"] = json!([{ "at": "0s", "text": "All begin." }]);
    body["outcome"] = json!({ "leaders": leaders, "text": "They agree." });
    let told = lab.post("/api/run", &body);
    assert_eq!(told.records(), plain.records());
    let (head, end) = (&told.said("head")[0], &told.said("end")[0]);
    assert_eq!(head["captions"], json!([{ "at": 0, "text": "All begin." }]));
    assert_eq!(
        (&head["outcome"]["text"], &end["as_stated"]),
        (&json!("They agree."), &json!(true))
    );
    let own = &plain.said("head")[0]["command"];
    assert_eq!(&head["command"], own, "the same command makes it");
    // In place of those that a file has, or none.
    let file = json!({ "toml": head["toml"], "captions": [], "outcome": null });
    let head = &lab.post("/api/run", &file).said("head")[0];
    assert_eq!((&head["captions"], &head["outcome"]), (&json!([]), &Value::Null));
    body["captions"] = json!([{ "at": "5s", "text": "Too late." }]);
    assert!(lab.post("/api/run", &body).error(422).contains("caption"));
}

#[test]
fn a_run_is_judged_by_the_promise_that_is_named() {
    let lab = Lab::start();
    let flags = json!({ "nodes": 4, "listen": "3s", "until": "40s" });
    let faults = json!([{ "at": "8s", "what": "cut", "from": [0, 1], "to": [2, 3] },
                        { "at": "8s", "what": "cut", "from": [2, 3], "to": [0, 1] },
                        { "at": "16s", "what": "heal" }]);
    let run = |promise: Value| {
        let body =
            json!({ "protocol": "le-s", "flags": flags, "faults": faults, "promise": promise });
        lab.post("/api/run", &body)
    };
    let own = run(Value::Null);
    assert_eq!(own.said("violation"), Vec::<Value>::new());
    assert_ne!(own.said("head")[0]["promise"], "never two");
    let judged = run(json!("never-two"));
    assert_eq!(judged.said("violation")[0]["invariant"], "never-two");
    assert_eq!(judged.said("end")[0]["broken"], "never-two");
    assert_eq!(own.records(), judged.records(), "it is the same run");
    // The saved file says by which one, and can be judged by another.
    let saved = &judged.said("head")[0]["toml"];
    let again = lab.post("/api/run", &json!({ "toml": saved }));
    assert_eq!(again.said("violation"), judged.said("violation"));
    let other = json!({ "toml": saved, "promise": "eventually-one" });
    assert_eq!(lab.post("/api/run", &other).said("violation"), Vec::<Value>::new());
    assert!(run(json!("zzz")).error(422).contains("'zzz' is no promise"));
}

#[test]
fn a_seed_may_be_a_number_or_its_digits() {
    let lab = Lab::start();
    let toml = lab.get("/api/lessons/bully-3-12").json()["toml"].clone();
    let told = |seed: Value| lab.post("/api/command", &json!({ "toml": toml, "seed": seed }));
    for seed in [json!(9_007_199_254_740_993_u64), json!("9007199254740993")] {
        let written = told(seed).json()["toml"].as_str().unwrap().to_owned();
        assert!(written.contains("seed = 9007199254740993\n"), "{written}");
    }
    for seed in [json!(u64::MAX), json!("18446744073709551615"), json!("-1"), json!("x")] {
        let line = told(seed).error(422);
        assert!(line.contains("but a seed is a number up to 9223372036854775807"), "{line}");
    }
}

#[test]
fn the_command_and_the_picture_are_those_of_the_same_run() {
    let lab = Lab::start();
    let folder = std::env::temp_dir().join(format!("bw-lab-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let body = json!({ "protocol": "ring", "flags": { "nodes": 5 },
        "faults": [{ "at": "500ms", "what": "campaign", "node": 2 }] });
    let told = lab.post("/api/command", &body).json();
    assert_eq!(told["command"], "bellwether trace ring-1.toml");
    assert_eq!(told["file"], "ring-1.toml", "the command names the file that a page saves");
    let file = folder.join(told["file"].as_str().unwrap());
    std::fs::write(&file, told["toml"].as_str().unwrap()).unwrap();
    let traced = stdout(&format!("trace {} --format json", file.display()));
    let run = lab.post("/api/run", &body);
    assert_eq!(run.records(), traced.lines().collect::<Vec<_>>());
    let head = &run.said("head")[0];
    assert_eq!((&head["file"], &head["command"]), (&told["file"], &told["command"]));
    let svg = folder.join("ring.svg");
    stdout(&format!("trace {} --svg {}", file.display(), svg.display()));
    let drawn = lab.post("/api/diagram", &body);
    assert!(drawn.head.contains("image/svg+xml"), "{}", drawn.head);
    assert_eq!(drawn.body, std::fs::read_to_string(&svg).unwrap());
    let mut other = body;
    other["view"] = json!("graph");
    assert!(lab.post("/api/diagram", &other).error(422).contains("no such ring or network"));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn radios_that_move_have_paths_and_links_that_change() {
    let lab = Lab::start();
    let flags = json!({ "nodes": 12, "graph": "moving", "speed": "0.1", "until": "20s" });
    let run = lab.post("/api/run", &json!({ "protocol": "ad-hoc", "flags": flags }));
    let head = &run.said("head")[0];
    assert_eq!(head["layout"], "plane");
    let (paths, changes) = (head["paths"].as_array().unwrap(), &head["changes"]);
    assert!(paths.len() > 100 && !changes.as_array().unwrap().is_empty());
    assert_eq!(paths[0]["places"], head["places"]);
    let inside = |way: &Value| (0.0..=1.0).contains(&way.as_f64().unwrap());
    let places = paths.iter().flat_map(|moment| moment["places"].as_array().unwrap());
    assert!(places.flat_map(|place| place.as_array().unwrap()).all(inside));
}

#[test]
fn a_long_run_is_cut_off_with_a_word_and_so_is_its_picture() {
    let lab = Lab::start();
    let flags = json!({ "nodes": 64, "until": "100000s" });
    let run = lab.post("/api/run", &json!({ "protocol": "al", "flags": flags }));
    let end = &run.said("end")[0];
    assert_eq!((&end["complete"], &end["records"]), (&json!(false), &json!(200_000)));
    assert!(end["limit"].as_str().unwrap().contains("cut off after 200000 records"), "{end}");
    let flags = json!({ "nodes": 64, "until": "100000s" });
    let drawn =
        lab.post("/api/diagram", &json!({ "protocol": "al", "flags": flags, "view": "time" }));
    assert_eq!(drawn.code, 200);
    assert!(drawn.body.contains("cut off after 200000 records"), "it says so");
}

#[test]
fn work_of_a_client_that_has_gone_ends() {
    let lab = Lab::start();
    // More than are worked on at a time, and each would take hours.
    for _ in 0..12 {
        let flags =
            json!({ "nodes": 20, "window": "100000s", "listen": "3s", "scenario": "churn" });
        let body = json!({ "protocol": "le-s", "flags": flags, "runs": 1_000_000 });
        let mut stream = lab.open("POST /api/measure", &body);
        assert_eq!(next(&mut stream)["lab"], "asked");
    }
    let began = seconds();
    let run = lab.post("/api/run", &json!({ "protocol": "le-s" }));
    assert_eq!(run.said("end").len(), 1, "{run:?}");
    assert!(seconds() - began < 60.0, "{} s", seconds() - began);
}

#[test]
fn a_single_run_of_a_client_that_has_gone_is_given_up() {
    let lab = Lab::start();
    // As many as are worked on at a time, of one run each, which would take years.
    for _ in 0..6 {
        let flags = json!({ "nodes": "100", "window": "100000000s" });
        let body = json!({ "protocol": "local-leader", "flags": flags, "runs": 1 });
        let mut stream = lab.open("POST /api/measure", &body);
        assert_eq!(next(&mut stream)["lab"], "asked");
    }
    let began = seconds();
    let run = json!({ "protocol": "le-s" });
    // A request waits three seconds for a slot, and on a busy machine it may ask again.
    while lab.post("/api/run", &run).code == 503 {
        assert!(seconds() - began < 60.0, "all slots are still taken");
    }
}

#[test]
fn a_request_that_takes_too_long_is_given_up_with_a_word() {
    let lab = Lab::with("--time-limit 300ms");
    let seconds = lab.get("/api/about").json()["limits"]["seconds"].clone();
    assert_eq!(seconds, 0.3);
    let flags = json!({ "nodes": "100", "window": "100000000s" });
    let body = json!({ "protocol": "local-leader", "flags": flags, "runs": 1 });
    let answer = lab.post("/api/measure", &body);
    let line = answer.said("error")[0]["error"].as_str().unwrap().to_owned();
    assert!(line.contains("longer than 0.3s") && line.contains("--time-limit"), "{line}");
    // Before the first run there may be what a formula gives.
    let measured = |it: &Value| it["runs"] != 0;
    assert!(!answer.said("result").iter().any(measured), "a run that is given up has no result");
}

#[test]
fn a_picture_that_takes_too_long_is_given_up_with_a_word() {
    let lab = Lab::with("--time-limit 10ms");
    let flags = json!({ "nodes": 64, "until": "100000s" });
    let drawn = lab.post("/api/diagram", &json!({ "protocol": "al", "flags": flags }));
    let line = drawn.error(422);
    assert!(line.contains("longer than 0.01s") && line.contains("--time-limit"), "{line}");
    // It takes the place of a request that simulates.
    let small = lab.post("/api/diagram", &json!({ "protocol": "le-s", "flags": { "nodes": 2 } }));
    assert_ne!(small.code, 503, "its place is free again");
}

#[test]
fn one_link_is_healed_and_the_other_cuts_stay() {
    let lab = Lab::start();
    let cut = |from: u32, to: u32| json!({ "at": "1s", "what": "cut", "from": [from], "to": [to] });
    let heal = json!({ "at": "3s", "what": "heal", "from": [0], "to": [1] });
    let faults = json!([cut(0, 1), cut(1, 0), cut(0, 2), heal]);
    let flags = json!({ "nodes": 3, "until": "6s", "announce": "500ms" });
    let run = lab.post("/api/run", &json!({ "protocol": "al", "flags": flags, "faults": faults }));
    let last = |from: u64, to: u64| {
        let heard = run
            .lines()
            .into_iter()
            .filter(|it| it["kind"] == "recv" && it["node"] == to && it["from"] == from);
        heard.map(|record| record["t"].as_u64().unwrap()).max().unwrap() / 1_000_000_000
    };
    assert_eq!([last(0, 1), last(1, 0), last(0, 2), last(2, 0)], [5, 0, 0, 5]);
    let half = json!([{ "at": "3s", "what": "heal", "from": [0] }]);
    let body = json!({ "protocol": "al", "flags": { "nodes": 3 }, "faults": half });
    let refused = lab.post("/api/run", &body).error(422);
    assert!(refused.contains("what = \"heal\" needs the key `to`"), "{refused}");
}

#[test]
fn every_broken_invariant_is_told_at_its_instant() {
    let lab = Lab::start();
    let lesson = lab.get("/api/lessons/hall-bug").json();
    let run = lab.post("/api/run", &json!({ "toml": lesson["toml"] }));
    let broken = run.said("violation");
    let named = |name: &str| broken.iter().filter(|line| line["invariant"] == name).count();
    assert_eq!((named("locked-supporters"), named("never-two")), (1, 1), "{broken:?}");
    assert_eq!(run.said("end")[0]["broken"], broken[0]["invariant"], "the first one");
    // Each stands between what was recorded up to its instant and what comes after it.
    let mut now = 0;
    for line in run.lines().into_iter().filter(|line| line["lab"] != "carries") {
        let Some(t) = line["t"].as_u64() else { continue };
        assert!(t >= now, "{line} comes too late");
        now = t;
    }
}
