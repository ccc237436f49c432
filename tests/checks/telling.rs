//! What is told outside: hooks that are called again, a named pipe, names.

use super::client::Door;
use super::member::{Folder, Member, bellwether, eventually, peers, refusal};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::OpenOptionsExt;
use std::process::Command;

#[test]
fn a_hook_that_fails_is_called_again_while_its_state_lasts() {
    let folder = Folder::new("retry");
    let log = folder.file("log").display().to_string();
    // It succeeds at its third call with MASTER.
    let script = format!("echo $3 >> {log}; [ $3 != MASTER ] || [ $(grep -c MASTER {log}) -ge 3 ]");
    let hook = folder.script("hook", &script).display().to_string();
    let flags = ["--on-change", &hook, "--hook-retry", "5"];
    let mut member = Member::start(&folder, &peers(1), 1, &flags);
    let calls = || folder.text("log").lines().filter(|line| *line == "MASTER").count();
    eventually("three calls", || (calls() == 3).then_some(()));
    assert_eq!(member.end().0, Some(0));
    assert_eq!(calls(), 3, "then it had succeeded");
    assert_eq!(folder.text("log").lines().last(), Some("STOP"));
}

#[test]
fn a_pipe_is_told_the_states_and_one_that_nobody_reads_costs_nothing() {
    let folder = Folder::new("fifo");
    let pipe = folder.file("pipe");
    let path = pipe.display().to_string();
    let made = Command::new("mkfifo").arg(&path).status().expect("there is mkfifo");
    assert!(made.success());
    let mut options = File::options();
    let nonblocking = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let reader = options.read(true).custom_flags(nonblocking).open(&path).expect("it is there");
    let flags = ["--notify-fifo", &path, "--rank", "7"];
    let mut member = Member::start(&folder, &peers(1), 1, &flags);
    member.becomes("leader");
    assert_eq!(member.end().0, Some(0));
    let told: Vec<String> = BufReader::new(reader).lines().map_while(Result::ok).collect();
    let expected = ["BACKUP", "MASTER", "STOP"].map(|state| format!("INSTANCE \"web\" {state} 7"));
    assert_eq!(told, expected);
    assert!(pipe.exists(), "who made it removes it");

    let other = folder.file("other");
    let path = other.display().to_string();
    let mut member = Member::start(&folder, &peers(1), 1, &["--notify-fifo", &path]);
    eventually("its warning", || {
        let warnings = member.status()?["warnings"].to_string();
        warnings.contains("lost that --notify-fifo tells: nobody reads").then_some(())
    });
    member.becomes("leader");
    assert_eq!(member.end().0, Some(0));
    assert!(!other.exists(), "it was made by the member");
}

#[test]
fn a_name_is_shown_beside_the_id() {
    let folder = Folder::new("name");
    let log = folder.file("log").display().to_string();
    let hook = folder.script("hook", &format!("echo $BELLWETHER_NAME >> {log}"));
    let (hook, socket) = (hook.display().to_string(), folder.file("http").display().to_string());
    let http = format!("unix:{socket}");
    let flags = ["--name", "east one", "--on-change", &hook, "--http", &http];
    let member = Member::start(&folder, &peers(1), 1, &flags);
    let status = member.becomes("leader");
    assert_eq!(status["name"], "east one");
    let text = String::from_utf8_lossy(&member.ask("status").stdout).into_owned();
    assert!(text.starts_with("member 1 (east one) leads web"), "{text}");
    eventually("the hook", || {
        (folder.text("log").lines().next() == Some("east one")).then_some(())
    });
    let answer = Door::Unix(socket).get("/").json();
    assert_eq!((&answer["name"], &answer["member"]["name"]), (&"1".into(), &"east one".into()));
}

#[test]
fn a_shell_reads_the_line_and_the_command_has_the_input_or_none() {
    let folder = Folder::new("shell");
    let log = folder.file("log").display().to_string();
    let line = format!("echo $((40 + 2)) > {log}; cat >> {log}; sleep 1000");
    for (pass, written) in [("yes", "42\nhello\n"), ("no", "42\n")] {
        let dir = folder.dir();
        let words = format!("run web --peers {} --id 1 --dir {dir} --insecure", peers(1));
        let mut command = super::member::command(&words);
        command.args(["--preset", "wan", "--shell", &line, "--pass-stdin", pass]);
        let input = folder.file("input");
        std::fs::write(&input, "hello\n").expect("there is room");
        command.stdin(File::open(input).expect("it is there"));
        let mut member = Member::spawn(command, &dir, 1);
        eventually("what it wrote", || (folder.text("log") == written).then_some(()));
        assert_eq!(member.end().0, Some(0));
        std::fs::remove_file(folder.file("log")).expect("it is there");
    }
}

#[test]
fn what_is_not_right_is_refused() {
    let folder = Folder::new("not-right");
    let base = format!("check-config web --peers {} --id 1 --insecure", peers(1));
    let file = folder.file("web.toml");
    let plain = folder.file("plain");
    std::fs::write(&plain, "").expect("there is room");
    let plain = plain.display();
    for (text, why) in [
        (format!("notify-fifo = \"{plain}\""), "it is no named pipe"),
        ("notify-fifo = \"/nothing/there\"".to_owned(), "make its folder, or give another path"),
        ("hook-retry = 3".to_owned(), "--hook-retry has no effect without a hook"),
        ("hook-retry = 1000".to_owned(), "1000 is not in 0..=100"),
        ("leader-file = \"/proc/x\"".to_owned(), "its folder is on a disk"),
        (format!("leader-file = \"{}\"", folder.0.display()), "something else is there"),
        ("name = \"\"".to_owned(), "a name has 1 to 64 characters"),
        ("shell = \" \"".to_owned(), "--shell is empty"),
        ("shell = \"a\"\ncommand = [\"true\"]".to_owned(), "keep one of them"),
        ("pass-stdin = \"no\"".to_owned(), "--pass-stdin has no effect without a command"),
    ] {
        std::fs::write(&file, &text).expect("there is room");
        let dir = folder.dir();
        let refused = bellwether(&format!("{base} --dir {dir} --config {}", file.display()));
        let errors = refusal(&refused, 78);
        assert!(errors.contains(why), "{text}: {errors}");
    }
}
