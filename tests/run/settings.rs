//! Where settings come from, which of them count, and how bad ones are refused.

use super::member::{Folder, bellwether, command, peers, refusal};
use serde_json::Value;
use std::collections::BTreeMap;

/// The rules that hold, by their names.
fn rules(mut command: std::process::Command) -> BTreeMap<String, String> {
    let output = command.args(["--format", "json"]).output().expect("the command starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("it is text");
    let rule = |line: &str| {
        let rule: Value = serde_json::from_str(line).expect("it is JSON");
        let text = |key: &str| rule[key].as_str().expect("rules are texts").to_owned();
        (text("rule"), text("holds"))
    };
    text.lines().map(rule).collect()
}

#[test]
fn flags_go_before_the_environment_and_that_before_the_file() {
    let folder = Folder::new("layers");
    let (file, list) = (folder.file("web.toml"), peers(3));
    let text = format!(
        "group = \"web\"\npeers = \"{list}\"\nid = 1\ninsecure = true\ndir = \"{}\"\n\
         command = [\"sleep\", \"1\"]\n[params]\npreset = \"wan\"\n",
        folder.dir()
    );
    std::fs::write(&file, text).expect("there is room");
    let check = || command(&format!("check-config --config {}", file.display()));
    let id = |rules: &BTreeMap<String, String>| rules["id"].chars().nth(15);
    let by_file = rules(check());
    assert_eq!(id(&by_file), Some('1'), "{by_file:?}");
    assert!(by_file["group"].contains("'web'") && by_file["peers"] == list, "{by_file:?}");
    assert!(by_file["permission"].contains("lease 0.89944s"), "{by_file:?}");
    assert!(by_file["command"].ends_with("sleep can be executed"), "{by_file:?}");
    let mut with_environment = check();
    with_environment.env("BELLWETHER_ID", "2").env("BELLWETHER_PRESET", "lan");
    let rules_now = rules(with_environment);
    assert_eq!(id(&rules_now), Some('2'), "{rules_now:?}");
    assert!(rules_now["permission"].contains("lease 0.14974s"), "{rules_now:?}");
    let mut with_flags = check();
    with_flags.env("BELLWETHER_ID", "2").args(["db", "--id", "3"]);
    let rules_now = rules(with_flags);
    assert_eq!(id(&rules_now), Some('3'), "{rules_now:?}");
    assert!(rules_now["group"].contains("'db'"), "{rules_now:?}");
    let mut elsewhere = command("check-config");
    elsewhere.env("BELLWETHER_CONFIG", &file);
    assert_eq!(id(&rules(elsewhere)), Some('1'));
}

#[test]
fn every_mistake_is_told_in_one_line_with_the_way_out() {
    let folder = Folder::new("mistakes");
    let file = |name: &str, text: &str| {
        let file = folder.file(name);
        std::fs::write(&file, text).expect("there is room");
        format!("run web --config {}", file.display())
    };
    let (dir, list) = (folder.dir(), peers(2));
    let group = format!("run web --peers {list} --dir {dir}");
    let good = format!("{group} --id 1");
    for (arguments, code, text) in [
        (
            file("name.toml", "peer = \"x\""),
            78,
            "no setting is called 'peer'; did you mean 'peers'?",
        ),
        (file("value.toml", "id = \"me\""), 78, "value.toml: invalid value 'me' for '--id <N>'"),
        (file("form.toml", "id = = 1"), 78, "form.toml: line 1: "),
        (format!("run --peers {list}"), 2, "no group is named"),
        ("run a/b --insecure".to_owned(), 78, "group 'a/b': "),
        (format!("run web --dir {dir} --insecure"), 78, "--peers"),
        (format!("run web --peers 1=x --dir {dir}"), 2, "--peers"),
        (good.clone(), 78, "may lead; `bellwether keygen FILE` makes one"),
        (format!("{group} --insecure --id 9"), 78, "id 9 is not in the list of members"),
        (format!("{good} --insecure --key x"), 2, "cannot be used with"),
        (format!("{good} --key /no/such/key"), 78, "; `bellwether keygen /no/such/key` makes one"),
        (format!("{good} --insecure --on-change /no/hook"), 78, "hook /no/hook"),
        (format!("{good} --insecure --lock 1ms"), 78, "local-leader: "),
        (
            format!("{good} --insecure --multicast 10.0.0.1:7401"),
            78,
            "--multicast is 10.0.0.1:7401, which is no multicast address with a port",
        ),
        (
            format!("{good} --insecure --multicast [ff02::7]:7401"),
            78,
            "of the other family of addresses",
        ),
        (
            format!(
                "run web --peers multicast:239.1.2.3:7400 --dir {dir} --insecure --multicast \
                 239.1.2.4:7401"
            ),
            78,
            "is no list of members, and only listed members know who should hear them",
        ),
        (
            format!("{good} --insecure --listen 0.0.0.0:7401 --multicast 239.1.2.3:7401"),
            78,
            "choose another port for --multicast, or set --listen to one address",
        ),
        (format!("{good} --insecure --record /no/dir/x"), 1, "cannot write /no/dir/x: No such"),
        (
            file("params.toml", "peers = \"1=127.0.0.1:1\"\n[params]\nlock = \"1 parsec\"\n"),
            78,
            "params.toml: line 3: [params] lock: ",
        ),
        (format!("{good} --insecure --as-published"), 78, "leave as-published out"),
        (format!("{good} --insecure --unchecked"), 78, "leave unchecked out"),
        (format!("{good} --insecure --protocol le-s --as-printed"), 78, "leave as-printed out"),
        (format!("{good} --insecure --protocol nobody"), 2, "no protocol has that name"),
        ("run web --config /no/such/file".to_owned(), 1, "cannot read /no/such/file"),
    ] {
        let line = refusal(&bellwether(&arguments), code);
        assert!(line.contains(text), "{arguments}: {line}");
    }
    let mut misspelt = command(&good);
    misspelt.env("BELLWETHER_KEYS", "x");
    let line = refusal(&misspelt.output().expect("the command starts"), 78);
    assert!(line.contains("BELLWETHER_KEYS: did you mean BELLWETHER_KEY?"), "{line}");
}

#[test]
fn what_newcomers_write_is_refused_with_what_they_meant() {
    let folder = Folder::new("newcomers");
    let good = format!("run web --peers {} --dir {} --id 1", peers(2), folder.dir());
    for (rest, code, texts) in [
        ("--insecure sleep 10", 2, ["'sleep' found; put -- before the command", ""]),
        ("--insecure --restrt", 2, ["'--restrt' found; ", ""]),
        (
            "--insecure --preset lan --lock 5s",
            78,
            [
                "choose a preset (fast, lan, wan: each has longer leases than the one before)",
                "; `bellwether plan local-leader --detect T` computes all values",
            ],
        ),
    ] {
        let line = refusal(&bellwether(&format!("{good} {rest}")), code);
        assert!(texts.iter().all(|text| line.contains(text)), "{rest}: {line}");
    }
    // A file that is no key is not to be protected, but replaced.
    let wrong = folder.file("no.key");
    std::fs::write(&wrong, "secret").expect("there is room");
    let line = refusal(&bellwether(&format!("{good} --key {}", wrong.display())), 78);
    assert!(line.contains("line 1 is no key") && line.contains("keygen FILE` makes one"), "{line}");
}

#[test]
fn check_config_tells_what_holds_before_it_tells_what_does_not_and_leaves_nothing_behind() {
    let folder = Folder::new("check");
    let arguments = format!(
        "check-config web --peers {} --dir {} --insecure --grace 99ms -- sleep 1",
        peers(1),
        folder.dir()
    );
    let output = bellwether(&arguments);
    assert_eq!(output.status.code(), Some(78));
    let said = String::from_utf8(output.stdout).expect("it is text");
    assert!(said.lines().all(|line| line.starts_with("ok  ")), "{said}");
    assert!(said.contains("ok  protocol   local-leader"), "{said}");
    let errors = String::from_utf8(output.stderr).expect("it is text");
    assert!(errors.contains("grace 0.099s") && errors.contains("> lease"), "{errors}");
    assert!(!folder.file("members").exists(), "it does not even make the directory");
}

#[test]
fn check_config_tells_the_rules_of_a_probabilistic_group() {
    let folder = Folder::new("probably");
    let check = |silence: &str| {
        let file = folder.file("web.toml");
        let params = format!("[params]\nk = 3\nsilence = \"{silence}\"\n");
        std::fs::write(&file, params).expect("there is room");
        bellwether(&format!(
            "check-config web --protocol probabilistic --peers {} --id 1 --dir {} --insecure \
             --config {}",
            peers(2),
            folder.dir(),
            file.display()
        ))
    };
    let said = String::from_utf8(check("2s").stdout).expect("it is text");
    assert!(said.contains("ok  timing     beat + multicast < silence: 0.36s and 2s"), "{said}");
    assert!(said.contains("1 <= max-rounds <= 64: 5, with 3, 6, 12, 24, all relays"), "{said}");
    let line = refusal(&check("10ms"), 78);
    assert!(line.contains("silence"), "{line}");
}
