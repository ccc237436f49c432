//! Messages for the operator, in the form that was asked for.

use super::member::{Folder, Member, bellwether, peers, refusal};
use serde_json::Value;

#[test]
fn each_change_is_a_message_in_the_form_that_was_asked_for() {
    let folder = Folder::new("log");
    let file = folder.file("web.toml");
    std::fs::write(&file, "log = \"json\"\n").expect("there is room");
    let file = file.display().to_string();
    let mut member = Member::start(&folder, &peers(1), 1, &["--config", &file]);
    let line = member.error("leads web");
    let message: Value = serde_json::from_str(&line).expect("it is JSON");
    assert_eq!(message["level"], "info", "{line}");
    assert!(message["time"].as_str().is_some_and(|time| time.ends_with('Z')), "{line}");
    let said = message["message"].as_str().expect("it is a text");
    assert!(said.starts_with("member 1 leads web"), "the time is told once: {line}");
    assert!(message["clock"].as_f64().is_some_and(|clock| clock > 0.0), "{line}");
    assert!(member.line(|line| line.contains("leads web")).contains("member 1 leads web"));
    assert_eq!(member.end().0, Some(0));
    member.error("member 1 handed over and left web");

    // The lines of a journal have priorities; without a key is a warning, a change is not.
    let flags = ["--log", "journald", "--log-level", "warning"];
    let mut member = Member::start(&folder, &peers(1), 1, &flags);
    member.becomes("leader");
    assert_eq!(member.end().0, Some(0));
    let lines = member.last_errors();
    assert_eq!(lines, ["<4>without a key, whoever reaches the port can lead the group"]);
}

#[test]
fn form_and_level_change_while_the_member_runs() {
    let folder = Folder::new("log-reload");
    let file = folder.file("web.toml");
    let write = |text: &str| std::fs::write(&file, text).expect("there is room");
    write("log = \"journald\"\nlog-level = \"error\"\n");
    let path = file.display().to_string();
    let mut member = Member::start(&folder, &peers(1), 1, &["--config", &path]);
    member.becomes("leader");
    write("log = \"json\"\nlog-level = \"info\"\n");
    let told = member.ask("reload");
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    assert_eq!(member.end().0, Some(0));
    let lines = member.last_errors();
    let message = |line: &String| serde_json::from_str(line).expect("it is JSON");
    let messages: Vec<Value> = lines.iter().map(message).collect();
    let said = |text: &str| {
        messages.iter().any(|it| it["message"].as_str().is_some_and(|said| said.contains(text)))
    };
    assert!(said("log is now json; log-level is now info"), "{lines:?}");
    assert!(said("handed over and left web") && !said("leads web"), "{lines:?}");
}

#[test]
fn a_form_or_a_level_that_does_not_exist_is_refused_in_one_line() {
    let folder = Folder::new("log-bad");
    let start = format!("run web --peers 1=127.0.0.1:1 --insecure --dir {}", folder.dir());
    for (flags, code, word) in
        [("--log xml", 2, "journald"), ("--log-level loud", 2, "warning"), ("", 78, "log")]
    {
        let file = folder.file("bad.toml");
        std::fs::write(&file, "log = \"xml\"\n").expect("there is room");
        let config = match flags {
            "" => format!("--config {}", file.display()),
            _ => String::new(),
        };
        let why = refusal(&bellwether(&format!("{start} {flags} {config}")), code);
        assert!(why.contains(word), "{why}");
    }
}
