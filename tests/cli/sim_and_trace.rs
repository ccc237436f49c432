//! `bellwether sim` and `bellwether trace`, and what all commands share: help and
//! refusals.

use crate::command::{folder, json, mean, program, refusal, stdout};
use bellwether::protocols::choice::PROTOCOLS;
use serde_json::{Value, json};

#[test]
fn the_json_has_the_keys_that_scripts_rely_on() {
    let result = json("sim le-s --nodes 20 --runs 50 --seed 7 --loss .4 --engine event");
    for key in ["protocol", "nodes", "runs", "seed", "params", "metrics", "deliveries"] {
        assert!(!result[key].is_null(), "{key}: {result}");
    }
    assert!(result["wall_seconds"].as_f64().is_some_and(|seconds| seconds > 0.0));
    let names = [
        "convergence_time",
        "leadership_delay",
        "messages",
        "rounds",
        "average_rounds",
        "simultaneous_leaders",
    ];
    for metric in names {
        for key in ["mean", "stderr", "ci95", "min", "p50", "p99", "max"] {
            assert!(!result["metrics"][metric][key].is_null(), "{metric}.{key}: {result}");
        }
    }
    assert_eq!(result["params"]["loss"], 0.4);
    assert_eq!(result["params"]["delay"], 0.1);
    assert_eq!(result["params"]["suppress"], 1.0);
    assert_eq!(result["params"]["listen"], Value::Null, "infinite");
    assert_eq!(result["params"]["loss_model"], "uncorrelated");
}

#[test]
fn every_listed_protocol_can_be_simulated() {
    let listed = stdout("protocols --format json");
    let listed: Vec<Value> = serde_json::from_str(&listed).expect("it is JSON");
    assert_eq!(listed.len(), PROTOCOLS.len());
    for entry in listed {
        let name = entry["protocol"].as_str().expect("protocols have names");
        // Who follows the first to speak may deadlock, and then there is nothing to measure.
        let result = json(&format!("sim {name} --nodes 5 --runs 20 --seed 3"));
        let settled = result["unsettled"] == 0;
        assert!(settled || name == "sup-al-elect", "{result}");
    }
}

#[test]
fn every_scenario_measures_what_it_is_for() {
    for scenario in ["departure", "false-departure", "join-greater", "join-smaller", "churn"] {
        let result = json(&format!(
            "sim le-s --nodes 8 --runs 30 --listen 2.5s --loss .2 --window 30s \
             --scenario {scenario}"
        ));
        assert!(mean(&result, "reestablishment_delay") > 0.0, "{scenario}: {result}");
        let fraction = mean(&result, "inconsistent_fraction");
        assert!(fraction > 0.0 && fraction < 1.0, "{scenario}: {result}");
        assert_eq!(result["params"]["scenario"], scenario);
    }
}

#[test]
fn the_result_depends_on_the_seed_and_on_nothing_else() {
    let run = |flags: &str| {
        let mut result = json(&format!("sim le-s --nodes 30 --loss .4 --runs 64 {flags}"));
        result["wall_seconds"] = Value::Null;
        result
    };
    assert_eq!(run("--seed 5 --threads 1"), run("--seed 5 --threads 2"));
    assert_ne!(run("--seed 5")["metrics"], run("--seed 6")["metrics"]);
    let (event, lazy) = (run("--engine event"), run("--engine lazy"));
    assert_eq!(event["metrics"], lazy["metrics"]);
    assert_eq!(lazy["deliveries"], Value::Null, "the lazy engine does not look at most of them");
}

/// What it writes, on one line.
fn unwrapped(arguments: &str) -> String {
    stdout(arguments).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_help_shows_the_defaults_that_the_table_of_protocols_has() {
    for entry in PROTOCOLS {
        let usual = entry.family.usual();
        for (command, nodes) in [("sim", usual.nodes), ("trace", usual.nodes_shown)] {
            let help = unwrapped(&format!("{command} {} --help", entry.name));
            let default = |flag: &str| {
                let (_, after) = help.split_once(flag).expect("it is listed");
                let (_, default) = after.split_once("[default: ").expect("it has a default");
                default.split(']').next().unwrap_or_default().to_owned()
            };
            assert_eq!(default("--nodes <N>"), nodes.to_string(), "{command} {}", entry.name);
            assert_eq!(default("--delay <D>"), usual.delay.to_string(), "{}", entry.name);
        }
    }
    let all = unwrapped("sim --help");
    let ten = PROTOCOLS.iter().filter(|entry| entry.family.usual().nodes == 10).count();
    let most = format!(
        "[default: 100; local-leader: 5; bully, ring, chang-roberts and {} others: 10; \
         probabilistic: 1000",
        ten - 3
    );
    assert!(all.contains(&most), "{all}");
}

#[test]
fn the_help_of_a_protocol_shows_its_own_flags_and_the_common_ones() {
    let help = stdout("sim le-s --help");
    assert!(help.contains("--suppress") && help.contains("--loss"), "{help}");
    for foreign in ["--lock", "--graph", "--beat", "--strategy", "--order", "--view"] {
        assert!(!help.contains(foreign), "{foreign}: {help}");
    }
    let common = stdout("sim --help");
    assert!(common.contains("`bellwether sim PROTOCOL --help`"), "{common}");
    assert!(common.contains("--nodes") && !common.contains("--suppress"), "{common}");
    assert!(common.lines().count() < 200, "{common}");
    let ring = stdout("trace ring --help");
    assert!(
        ring.contains("--order") && ring.contains("--view ") && !ring.contains("--view-prob <P>")
    );
    let run = stdout("run --protocol le-s --help");
    assert!(run.contains("--listen-for") && run.contains("[default: 3s]"), "{run}");
    assert!(!run.contains("--drift-ppm"), "{run}");
    assert!(stdout("run --help").contains("--drift-ppm"), "local-leader is the default");
}

#[test]
fn a_scenario_file_is_run_with_many_seeds() {
    let folder = folder("repeat");
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/failover.toml");
    let samples = folder.join("samples.csv");
    let flags = format!("--runs 20 --samples {}", samples.display());
    let result = json(&format!("sim {file} {flags}"));
    assert_eq!((&result["runs"], &result["protocol"]), (&json!(20), &json!("le-s")));
    assert!(mean(&result, "reestablishment_delay") > 0.0, "{result}");
    let again = json(&format!("sim {file} --runs 20 --threads 1"));
    assert_eq!(result["metrics"], again["metrics"]);
    let rows = std::fs::read_to_string(&samples).unwrap();
    assert!(rows.starts_with("run,seed,settled,"), "{rows}");
    assert_eq!(rows.lines().count(), 21, "{rows}");
    let plain = folder.join("failover");
    std::fs::copy(file, &plain).unwrap();
    let named = json(&format!("sim {} --runs 20", plain.display()));
    assert_eq!(named["metrics"], result["metrics"], "a file needs no .toml");
    let traced = stdout(&format!("trace {}", plain.display()));
    assert_eq!(traced, stdout(&format!("trace {file}")), "nor does it to be traced");
    let line = refusal(&format!("sim {file} --nodes 3"), 2);
    assert!(line.contains("--nodes is set by the file"), "{line}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn the_samples_of_every_run_have_the_mean_of_the_result() {
    let folder = folder("samples");
    let path = folder.join("samples.csv");
    let result =
        json(&format!("sim le-s --nodes 9 --runs 30 --loss .3 --samples {}", path.display()));
    let rows = std::fs::read_to_string(&path).unwrap();
    let mut lines = rows.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let column = header.iter().position(|name| *name == "messages").unwrap();
    let values: Vec<f64> = lines.map(|row| row[column].parse().unwrap()).collect();
    assert_eq!(values.len(), 30);
    let mean_of_runs = values.iter().sum::<f64>() / 30.0;
    assert!((mean_of_runs - mean(&result, "messages")).abs() < 1e-9, "{mean_of_runs}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn one_process_alone_leads_at_once() {
    for protocol in ["le-a", "le-s", "le-m", "al"] {
        for engine in ["event", "auto"] {
            let result = json(&format!("sim {protocol} --nodes 1 --runs 3 --engine {engine}"));
            assert_eq!(mean(&result, "leadership_delay"), 0.0, "{result}");
        }
    }
}

#[test]
fn bad_values_are_refused_in_one_line_that_names_them() {
    for (arguments, words) in [
        ("sim le-s --nodes 0", "'0'"),
        ("sim le-s --nodes -3", "'-3'"),
        ("sim le-s --nodes many", "'many'"),
        ("sim le-s --nodes 99999999999", "'99999999999'"),
        ("sim le-s --nodes 4000000000 --engine event", "free"),
        ("sim le-s --runs 0", "'0'"),
        ("sim le-s --threads 1025", "from 0 to 1024"),
        ("sim le-s --threads -1", "'-1'"),
        ("sim le-s --timer-rate NaN", "'NaN'"),
        ("sim le-s --timer-rate inf", "'inf'"),
        ("sim le-s --timer-rate 3", "--timer-rate has no effect with --timer uniform"),
        ("trace le-s --timer uniform --timer-rate 3", "only with --timer exponential"),
        ("sim", "not provided: <PROTOCOL>; try"),
        ("sim le-s --burst NaN", "'NaN'"),
        ("sim le-s --loss 1.5", "'1.5'"),
        ("sim le-s --loss -0.1", "'-0.1'"),
        ("sim le-s --loss NaN", "'NaN'"),
        ("sim le-s --loss 1", "never converges"),
        ("sim le-s --loss 1 --loss-model correlated", "never converges"),
        ("sim le-s --loss .4 --loss-model none", "--loss-model none"),
        ("sim le-s --delay -1", "'-1'"),
        ("sim le-s --delay NaN", "'NaN'"),
        ("sim le-s --delay infinite", "infinite"),
        ("sim le-s --announce 0", "announce > 0"),
        ("sim le-s --listen 0", "listen > 0"),
        ("sim le-s --suppress 1e300", "'1e300'"),
        ("sim le-s --announce 3parsecs", "'3parsecs'"),
        ("sim le-s --leaders 0", "leaders = 0"),
        ("sim le-s --timer exponential --timer-rate -1", "rate = -1"),
        ("sim le-s --aging 5s --listen 3s", "aging"),
        ("sim le-s --loss .5 --loss-model bursts --burst 0", "--burst 0"),
        ("sim le-s --scenario departure", "listen is infinite"),
        ("sim sup --scenario departure --listen 3s", "promises none"),
        ("sim le-s --scenario churn --listen 3s --departures -1", "'-1'"),
        ("sim le-s --scenario churn --listen 3s --departures 1e6", "at most"),
        ("sim le-m --scenario join-greater --listen 3s", "that is random"),
        ("sim le-s --listen 3s --engine lazy", "listen must be infinite"),
        ("sim le-s --scenario split --listen 3s", "try local-leader"),
        ("sim le-s --clock-drift 1000000", "'1000000'"),
        ("sim le-s --clock-drift -1", "'-1'"),
        ("sim le-s --clock-drift 200 --engine lazy", "clocks must not drift"),
        ("sim local-leader --nodes 1025", "at most 1024"),
        ("sim local-leader --nodes 1024 --scenario join-smaller", "1025 processes"),
        ("trace local-leader --nodes 1000000", "a row for each voter"),
        ("sim local-leader --engine lazy", "only announce-listen protocols are lazy"),
        ("sim local-leader --scenario false-departure", "start watches"),
        ("sim local-leader --scenario departure --nodes 2", "a leader needs 2"),
        ("sim local-leader --scenario split --nodes 2", "choose 3 or more"),
        ("sim local-leader --lock 10s", "lockTime <="),
        ("sim local-leader --delta 0", "delta leaves no time"),
        ("sim local-leader --preset paper", "unchecked = true to see what happens"),
        ("sim local-leader --drift-ppm 200000", "drift-ppm = 200000"),
        ("sim local-leader --drift-ppm -1", "'-1'"),
        ("sim local-leader --mode global", "'global'"),
        ("sim local-leader --loss 1", "never converges"),
        ("sim local-leader --mode local --nodes 500 --loss .05", "attempts to converge"),
        ("sim le-s --engine sluggish", "sluggish"),
        ("sim le-s --bogus", "--bogus"),
        ("sim les", "did you mean 'le-s'?"),
        ("sim suppress-querry", "did you mean 'suppress-query'?"),
        ("trace xyzzy", "no protocol has that name"),
        ("trace le-s --until infinite", "--until"),
        ("man nonsense", "'nonsense'"),
    ] {
        let line = refusal(arguments, 2);
        assert!(line.contains(words), "{arguments}: {line}");
    }
}

#[test]
fn what_cannot_be_negative_or_so_many_is_refused_by_the_rule() {
    for (arguments, words) in [
        ("sim le-s --seed -1", "'-1' for '--seed <S>': a seed is a whole number, from 0 to"),
        ("sim le-s --delay -1s", "'-1s' for '--delay <D>': "),
        ("analyze le-s.leadership-delay --delay -1s", "'-1s' for '--delay <D>': "),
        ("check le-s --seed -1", "a seed is a whole number"),
        ("sim le-s --announce -1s", "'-1s' for '--announce <D>': it must be a length of time"),
        ("sim le-s --leaders 11 --nodes 10", "--leaders 11, but there are 10 processes"),
    ] {
        let line = refusal(arguments, 2);
        assert!(line.contains(words), "{arguments}: {line}");
    }
}

#[test]
#[cfg(target_os = "linux")] // elsewhere nobody knows how much memory there is
fn what_would_not_fit_is_refused_before_anything_is_built() {
    let folder = folder("memory");
    let (records, picture) = (folder.join("run.jsonl"), folder.join("run.svg"));
    let (records, picture) = (records.display(), picture.display());
    for (arguments, words) in [
        ("trace le-s --nodes 100000000", "a trace of 100000000 processes"),
        ("trace le-s --until 1e9", "a trace of 100 processes"),
        (&format!("trace le-s --nodes 4000000 --svg {picture}"), "a trace of"),
        ("sim le-s --listen 3s --scenario churn --nodes 3000000000", "6000000000 processes"),
        (&format!("sim le-a --nodes 500000 --loss .4 --trace {records}"), "a trace of"),
        ("sim le-s --announce 1ns --nodes 10000 --loss .4", "the messages under way"),
        ("sim le-a --nodes 6000000 --delay-model exponential --threads 1", "the messages under"),
        ("sim le-a --nodes 6000000 --duplicate .1", "the messages under way"),
        ("sim le-s --runs 1000000000000", "1000000000000 runs"),
    ] {
        let line = refusal(arguments, 2);
        assert!(line.contains(words) && line.contains("free"), "{arguments}: {line}");
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "no file is left behind");
    let path = folder.join("big.toml");
    let group = "about = \"x\"\nprotocol = \"le-s\"\nuntil = \"1s\"\nnodes = 4000000000\n";
    std::fs::write(&path, group).unwrap();
    let line = refusal(&format!("trace {}", path.display()), 78);
    assert!(line.contains("big.toml") && line.contains("free"), "{line}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_scenario_file_says_everything_but_the_seed() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/failover.toml");
    let own = stdout(&format!("trace {file}"));
    let with = |seed: u64| stdout(&format!("trace {file} --seed {seed}"));
    assert_eq!(with(77), with(77));
    assert_ne!(with(77), with(78));
    assert!([with(77), with(78)].iter().any(|other| *other != own), "the seed is heard");
    for flag in ["--nodes 3", "--until 1s", "--crash-leader 1s", "--loss .1", "--bye"] {
        let line = refusal(&format!("trace {file} {flag}"), 2);
        let name = flag.split(' ').next().unwrap();
        assert!(line.contains(&format!("{name} is set by the file")), "{line}");
    }
    let (none, first) = (stdout("trace le-s --nodes 4"), stdout("trace le-s --nodes 4 --seed 1"));
    assert_eq!(none, first);
}

#[test]
fn the_json_suffices_to_ask_the_same_again() {
    for flags in [
        "le-s --loss .3 --loss-model bursts --burst 3.5 --delay-model uniform --duplicate .1",
        "suppress-query --reorder .2 --straggle .37s --timer exponential --timer-rate 3",
        "query --loss .2 --patience .5s --reply-spread 70ms",
        "le-s --criterion rank --mapping standing --jitter 50ms --loss .1",
        "le-s --listen 2.5s --aging 1.7s --bye --bye-from-all --loss .2 --scenario churn",
        "le-s --listen 2.5s --leaders 2 --scenario departure --window 20s",
        "le-s --loss .3 --clock-drift 300",
        "local-leader --loss .05 --window 5s",
        "local-leader --mode local --preset wan --delay 20ms --scenario split --window 20s",
        "local-leader --preset paper --as-published --unchecked --drift-ppm 100 --window 3s",
        "local-leader --delta 8ms --refresh .2s --fastest .1ms --clock-drift 0 --window 5s",
    ] {
        let first = json(&format!("sim {flags} --nodes 9 --runs 20 --seed 5"));
        let mut again = format!("sim {} --nodes {}", first["protocol"].as_str().unwrap(), 9);
        again += &format!(" --runs {} --seed {}", first["runs"], first["seed"]);
        for (key, value) in first["params"].as_object().unwrap() {
            let flag = key.replace('_', "-");
            again += &match value {
                _ if key == "ranks" => String::new(), // follows from the criterion
                Value::Null | Value::Bool(false) => String::new(),
                Value::Bool(true) => format!(" --{flag}"),
                Value::String(text) => format!(" --{flag} {text}"),
                other => format!(" --{flag} {other}"),
            };
        }
        let second = json(&again);
        assert_eq!(first["params"], second["params"], "{again}");
        assert_eq!(first["metrics"], second["metrics"], "{again}");
    }
    let ranks =
        |flags: &str| json(&format!("sim le-s --runs 1 {flags}"))["params"]["ranks"].clone();
    assert_eq!(ranks(""), "by-id");
    assert_eq!(ranks("--criterion rank"), "random");
}

#[test]
fn a_flag_of_another_family_is_refused_and_the_own_ones_are_named() {
    for (arguments, words) in [
        ("sim local-leader --listen 3s", ["--listen is no flag of local-leader", "--mode"]),
        ("sim local-leader --bye", ["--bye is no flag of local-leader", "--as-published"]),
        ("trace local-leader --criterion rank", ["--criterion is no flag", "--renew"]),
        ("sim le-s --mode local", ["--mode is no flag of le-s", "--suppress"]),
        ("trace query --unchecked", ["--unchecked is no flag of query", "--patience"]),
    ] {
        let line = refusal(arguments, 2);
        assert!(words.iter().all(|word| line.contains(word)), "{arguments}: {line}");
    }
}

#[test]
fn a_family_has_its_own_defaults_parameters_and_measures() {
    let result = json("sim local-leader --runs 3 --window 5s");
    assert_eq!((&result["nodes"], &result["params"]["delay"]), (&json!(5), &json!(0.001)));
    assert_eq!(result["params"]["mode"], "majority");
    assert_eq!(
        (&result["params"]["lock"], &result["params"]["renew"]),
        (&json!(0.15), &json!(0.05))
    );
    assert_eq!(result["params"]["clock_drift"], result["params"]["drift_ppm"], "clocks are as bad");
    assert_eq!(result["params"]["suppress"], Value::Null, "it has no such parameter");
    for metric in [
        "election_time",
        "agreement_time",
        "leader_presence",
        "leadership_losses_per_hour",
        "leadership_losses_per_lease",
        "request_interval",
        "messages_per_second",
    ] {
        assert!(mean(&result, metric) >= 0.0);
    }
    let result = json("sim le-s --runs 3");
    assert_eq!((&result["nodes"], &result["params"]["delay"]), (&json!(100), &json!(0.1)));
    assert_eq!(result["params"]["clock_drift"], 0);
    assert_eq!(result["params"]["mode"], Value::Null);
    let wan = json("sim local-leader --preset wan --lock .8s --runs 1 --window 5s");
    assert_eq!((&wan["params"]["lock"], &wan["params"]["renew"]), (&json!(0.8), &json!(0.3)));
}

#[test]
fn every_scenario_with_leases_measures_what_it_is_for() {
    for mode in ["majority", "local"] {
        let run = |scenario: &str| {
            json(&format!(
                "sim local-leader --mode {mode} --runs 10 --window 5s --scenario {scenario}"
            ))
        };
        for scenario in ["departure", "split"] {
            let delay = mean(&run(scenario), "reestablishment_delay");
            assert!(delay > 0.05 && delay < 1.0, "{mode} {scenario}: {delay}");
        }
        for scenario in ["join-smaller", "join-greater", "merge"] {
            let result = run(scenario);
            assert!(mean(&result, "agreement_time") > 0.0, "{mode} {scenario}: {result}");
            assert_eq!(result["metrics"]["reestablishment_delay"], Value::Null, "{result}");
        }
        let churn = run("churn --departures 1 --arrivals 1");
        assert!(mean(&churn, "leader_presence") < 1.0, "{mode}: {churn}");
    }
}

#[test]
fn a_leader_with_a_lease_is_traced_until_it_crashes_and_is_replaced() {
    let text = stdout("trace local-leader --nodes 3 --crash-leader .3s --until .6s");
    let line = |words: &str| text.lines().position(|line| line.contains(words));
    let (crash, next) = (line("0  crash"), line("1  leads, term 2, until"));
    assert!(crash.is_some() && next > crash, "{text}");
}

#[test]
fn a_bad_scenario_file_is_refused_with_its_name_and_place() {
    let folder = folder("cli");
    let path = folder.join("bad.toml");
    let good = "about = \"x\"\nprotocol = \"le-s\"\nnodes = 3\nuntil = \"1s\"\n";
    let leases = good.replace("le-s", "local-leader");
    for (text, words) in [
        ("nodes = ", "line 1"),
        ("", "protocol"),
        (&good.replace("le-s", "le-x"), "le-x"),
        (&good.replace("3", "0"), "nodes = 0"),
        (&format!("{good}bogus = 1\n"), "bogus"),
        (&format!("{good}[params]\nannounce = 0\n"), "announce > 0"),
        (&format!("{good}[[faults]]\nat = 1\nwhat = \"crash\"\nnode = 7\n"), "process 7"),
        (&format!("{good}[[faults]]\nat = 1\nwhat = \"explode\"\n"), "explode"),
        (&format!("{good}[network.multicast]\nloss = {{ uncorrelated = 2 }}\n"), "'2'"),
        (&format!("{good}[params]\nmode = \"local\"\n"), "line 6: unknown field `mode`"),
        (&format!("{leases}[params]\nlisten = \"3s\"\n"), "line 6: unknown field `listen`"),
        (&format!("{leases}[params]\nmode = \"most\"\n"), "line 6: unknown variant `most`"),
        (&format!("{leases}[params]\nlock = \"1ms\"\n"), "lockTime > (2Δ+σ)(1+3ρ)"),
        (&leases.replace('3', "2000"), "at most 1024"),
    ] {
        std::fs::write(&path, text).unwrap();
        let line = refusal(&format!("trace {}", path.display()), 78);
        assert!(line.contains("bad.toml") && line.contains(words), "{text}: {line}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
    let line = refusal("trace no/such/file.toml", 1);
    assert!(line.contains("no/such/file.toml"), "{line}");
}

#[test]
fn a_trace_is_written_and_read_and_drawn() {
    let folder = folder("trace");
    let (records, picture) = (folder.join("run.jsonl"), folder.join("run.svg"));
    stdout(&format!("sim le-s --nodes 5 --runs 2 --trace {}", records.display()));
    let lines = std::fs::read_to_string(&records).unwrap();
    assert!(lines.lines().count() > 10);
    for line in lines.lines() {
        let record: Value = serde_json::from_str(line).expect("each line is JSON");
        assert!(record["t"].is_u64() && record["node"].is_u64() && record["kind"].is_string());
    }
    stdout(&format!("trace le-s --nodes 5 --svg {}", picture.display()));
    assert!(std::fs::read_to_string(&picture).unwrap().starts_with("<svg"));
    std::fs::remove_dir_all(&folder).unwrap();
    for flag in ["sim le-s --runs 1 --trace", "trace le-s --svg"] {
        let line = refusal(&format!("{flag} no/such/folder/run"), 1);
        assert!(line.contains("no/such/folder/run"), "{line}");
    }
}

#[test]
fn rings_and_networks_are_drawn_and_what_cannot_be_is_refused() {
    let folder = folder("views");
    let file = folder.join("run.svg");
    let drawn = |arguments: &str| {
        stdout(&format!("trace {arguments} --svg {}", file.display()));
        std::fs::read_to_string(&file).unwrap()
    };
    let time = "one lane a process";
    for protocol in ["ring", "chang-roberts", "merea", "hirschberg-sinclair"] {
        let both = drawn(&format!("{protocol} --nodes 6 --initiators all --order random"));
        assert!(both.contains("6 processes on a ring, ") && both.contains(time), "{protocol}");
        let ring = drawn(&format!("{protocol} --nodes 6 --view ring"));
        assert!(ring.contains("6 processes on a ring, ") && !ring.contains(time), "{protocol}");
    }
    for graph in ["random", "grid", "disc", "moving --until 5s"] {
        let both = drawn(&format!("ad-hoc --nodes 9 --graph {graph}"));
        assert!(both.contains("9 processes with ") && both.contains(time), "{graph}");
    }
    assert!(!drawn("ad-hoc --nodes 9 --view graph").contains(time));
    for only_time in ["bully --nodes 5", "le-s --nodes 5", "ring --nodes 5 --view time"] {
        let picture = drawn(only_time);
        assert!(picture.contains(time) && !picture.contains("on a ring"), "{only_time}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
    for (arguments, word) in [
        ("bully --nodes 5 --view ring --svg no.svg", "do not stand on a ring"),
        ("ring --nodes 5 --view graph --svg no.svg", "do not stand in a network"),
        ("ring --nodes 2001 --svg no.svg", "at most 2000 apart; choose fewer, or take --view time"),
        ("ring --nodes 5 --view ring", "--svg"),
    ] {
        let line = refusal(&format!("trace {arguments}"), 2);
        assert!(line.contains(word), "{line}");
    }
}

#[test]
fn help_completions_and_manual_pages_are_there() {
    for arguments in ["--help", "sim --help", "trace --help", "protocols --help"] {
        assert!(stdout(arguments).contains("Usage:"), "{arguments}");
    }
    assert!(stdout("sim --help").contains("Examples:"));
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(stdout(&format!("completions {shell}")).contains("bellwether"), "{shell}");
    }
    assert!(stdout("man").contains(".TH"));
    assert!(stdout("man sim").contains("suppress"));
    assert!(stdout("--version").starts_with("bellwether "));
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    use std::io::Read;
    let mut child = program()
        .args("trace le-a --nodes 60 --until 20s".split_whitespace())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 16];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap(); // then the pipe is closed
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.status.success());
}

#[test]
fn tables_and_spreadsheets_show_the_same_numbers() {
    let flags = "sim le-a --nodes 9 --runs 20 --loss .3";
    let rows = stdout(&format!("{flags} --format csv"));
    let header = rows.lines().next().unwrap();
    let own = "protocol,nodes,runs,seed,scenario,loss,unsettled,metric,count,\
               mean,stderr,ci95_low,ci95_high,min,p50,p99,max,";
    assert!(header.starts_with(own), "{header}");
    let params = ["suppress", "announce", "listen", "delay", "window", "clock_drift"];
    for param in params {
        assert!(header.split(',').any(|column| column == param), "{param} in {header}");
    }
    let table = stdout(flags);
    for row in rows.lines().skip(1) {
        let metric = row.split(',').nth(7).unwrap();
        assert!(table.contains(metric), "{metric} in\n{table}");
    }
}
