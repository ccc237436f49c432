//! Settings that are read again while a member runs.

use super::member::{Folder, Member, bellwether, command, eventually, leader, peers, refusal};
use rustix::process::Signal;
use serde_json::Value;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;

/// The file with settings of one member, which the test writes anew.
fn settings(folder: &Folder, list: &str, rest: &str) {
    let text = format!(
        "group = \"web\"\npeers = \"{list}\"\ninsecure = true\ndir = \"{}\"\n{rest}\n[params]\n\
         preset = \"wan\"\n",
        folder.dir()
    );
    fs::write(folder.file("web.toml"), text).expect("there is room");
}

fn start(folder: &Folder, id: u64) -> Member {
    let file = folder.file("web.toml");
    let words = format!("run --config {} --id {id}", file.display());
    Member::spawn(command(&words), &folder.dir(), id)
}

/// The names of what a reload changed, sorted.
fn reload(member: &Member) -> Vec<String> {
    let output = member.ask("reload --format json");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    let changed = told["changed"].as_array().expect("a list");
    let name = |it: &Value| it["setting"].as_str().expect("it has a name").to_owned();
    let mut names: Vec<String> = changed.iter().map(name).collect();
    names.sort();
    names
}

/// What nobody may lose by a reload.
fn reign(member: &Member) -> [Value; 4] {
    let status = member.becomes("leader");
    ["id", "term", "changes", "incarnation"].map(|key| status[key].clone())
}

/// The first line of an answer.
fn answer(mut stream: impl Read + Write, request: &str) -> String {
    let close = "Connection: close\r\nContent-Length: 0\r\n\r\n";
    write!(stream, "{request}{close}").expect("it reads");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("it answers");
    text.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn all_that_may_change_does_and_the_member_goes_on_leading() {
    let folder = Folder::new("reload");
    let (list, log) = (peers(1), folder.file("log").display().to_string());
    let hook = |name: &str| {
        let script = folder.script(name, &format!("echo \"{name} $3 $4\" >> {log}"));
        script.display().to_string()
    };
    let (old, new) = (hook("old"), hook("new"));
    let work = format!(
        "trap 'echo TERM >> {log}; exit 0' TERM; trap 'echo INT >> {log}; exit 0' INT; echo works \
         >> {log}; while :; do sleep 0.05; done"
    );
    let sockets = ["a.http", "b.http"].map(|name| folder.file(name));
    let write = |rest: &str, socket: &Path, hook: &str| {
        let rest = format!(
            "command = [\"sh\", \"-c\", \"{work}\"]\non-change = \"{hook}\"\nhttp = \
             \"unix:{}\"\n{rest}",
            socket.display()
        );
        settings(&folder, &list, &rest);
    };
    write("hook-timeout = \"9s\"\nrank = 4", &sockets[0], &old);
    let member = start(&folder, 1);
    eventually("the command and the hook", || {
        let log = folder.text("log");
        (log.contains("works") && log.contains("old MASTER 4")).then_some(())
    });
    let before = reign(&member);
    let told = folder.text("log").matches("old ").count();
    assert_eq!(reload(&member), Vec::<String>::new(), "the same file changes nothing");
    let rest = "hook-timeout = \"8s\"\nrank = 7\nstop-timeout = \"5s\"\nstop-signal = \"INT\"\n\
                restart = true\nonce = false\nformat = \"json\"";
    write(rest, &sockets[1], &new);
    let expected = [
        "format",
        "hook-timeout",
        "http",
        "on-change",
        "rank",
        "restart",
        "stop-signal",
        "stop-timeout",
    ];
    assert_eq!(reload(&member), expected);
    assert_eq!(reign(&member), before, "leader, term and life stay");
    let living = |path: &Path| {
        let stream = UnixStream::connect(path).ok()?;
        Some(answer(stream, "GET /livez HTTP/1.1\r\nHost: x\r\n"))
    };
    assert_eq!(living(&sockets[1]).as_deref(), Some("HTTP/1.1 200 OK"));
    assert!(!sockets[0].exists(), "nobody is answered at the old place");
    assert!(!folder.text("log").contains("new "), "hooks are told of changes alone");
    assert!(member.ask("resign").status.success());
    let line = member.line(|line| line.contains("\"role\":\"leader\""));
    assert!(serde_json::from_str::<Value>(&line).is_ok(), "changes are printed as JSON: {line}");
    eventually("the new hook", || folder.text("log").contains("new MASTER 7").then_some(()));
    let log = folder.text("log");
    assert!(log.contains("INT") && !log.contains("TERM"), "the new signal: {log}");
    assert_eq!(log.matches("old ").count(), told, "the old hook is not called any more: {log}");
    assert_ne!(member.becomes("leader")["term"], before[1], "it resigned, and leads again");
    eventually("the command again", || {
        (folder.text("log").matches("works").count() == 2).then_some(())
    });
}

#[test]
fn sighup_does_the_same_and_a_command_is_restarted_from_then_on() {
    let folder = Folder::new("reload-hup");
    let list = peers(1);
    let work = "command = [\"sh\", \"-c\", \"echo runs; while ! test -e go; do sleep 0.05; done; \
                rm go; exit 3\"]\n";
    settings(&folder, &list, work);
    let file = folder.file("web.toml");
    let mut run = command(&format!("run --config {} --id 1", file.display()));
    run.current_dir(&folder.0);
    let mut member = Member::spawn(run, &folder.dir(), 1);
    member.line(|line| line == "runs");
    let before = reign(&member);
    settings(&folder, &list, &format!("{work}restart = true"));
    member.signal(Signal::HUP);
    member.error("read the settings again: restart is now true");
    assert_eq!(reign(&member), before);
    fs::write(folder.file("go"), "").expect("there is room");
    member.error("the command exited with code 3; it is started again");
    member.line(|line| line == "runs");
    settings(&folder, &list, work);
    member.signal(Signal::HUP);
    member.error("restart is now false");
    fs::write(folder.file("go"), "").expect("there is room");
    assert_eq!(member.code(), Some(3), "the member leaves with its command again");
}

#[test]
fn a_bad_file_changes_nothing_and_is_refused_in_one_line() {
    let folder = Folder::new("reload-bad");
    let list = peers(1);
    let hook = folder.script("hook", "true").display().to_string();
    let good = format!("on-change = \"{hook}\"\nhook-timeout = \"9s\"");
    settings(&folder, &list, &good);
    let member = start(&folder, 1);
    let before = reign(&member);
    // Each has a good change beside the bad one.
    for (rest, text) in [
        ("hook-timeout = = \"1s\"", "web.toml: line "),
        ("hook-timeout = \"soon\"", "invalid value 'soon' for '--hook-timeout <T>'"),
        ("hook-timeot = \"1s\"", "no setting is called 'hook-timeot'; did you mean"),
        ("hook-timeout = \"1s\"\non-change = \"/no/hook\"", "hook /no/hook"),
        ("hook-timeout = \"1s\"", "--hook-timeout has no effect without a hook"),
        (
            "rank = 3\nhttp = \"192.0.2.1:7480\"\non-change = \"HOOK\"",
            "cannot answer HTTP at 192.0.2.1:7480",
        ),
        (
            "rank = 3\nhttp = \"127.0.0.1:0\"\nhttp-token = \"/no/token\"\non-change = \"HOOK\"",
            "token file /no/token",
        ),
    ] {
        settings(&folder, &list, &rest.replace("HOOK", &hook));
        let line = refusal(&member.ask("reload"), 78);
        assert!(line.contains(text) && line.contains("; nothing changed"), "{rest}: {line}");
    }
    fs::remove_file(folder.file("web.toml")).expect("it is there");
    let line = refusal(&member.ask("reload"), 1);
    assert!(line.contains("cannot read ") && line.contains("; nothing changed"), "{line}");
    settings(&folder, &list, &good);
    assert_eq!(reload(&member), Vec::<String>::new(), "nothing of all that was taken over");
    assert_eq!(reign(&member), before);
}

#[test]
fn what_cannot_change_is_named_and_then_nothing_changes() {
    let folder = Folder::new("reload-fixed");
    let (list, dir) = (peers(1), folder.dir());
    let hook = folder.script("hook", "true").display().to_string();
    let base = |hook_timeout: &str| {
        format!("on-change = \"{hook}\"\nhook-timeout = \"{hook_timeout}\"\nname = \"one\"\n")
    };
    let text = |head: &str, params: &str| {
        format!(
            "group = \"web\"\npeers = \"{list}\"\ninsecure = true\ndir = \"{dir}\"\n{head}\n\
             [params]\npreset = \"wan\"\n{params}"
        )
    };
    let file = folder.file("web.toml");
    fs::write(&file, text(&base("9s"), "")).expect("there is room");
    let member = Member::spawn(command(&format!("run --config {}", file.display())), &dir, 1);
    let before = reign(&member);
    let now = base("1s"); // which could change
    let other_list = list.replace(":7400", ":7401");
    let key = folder.file("web.key").display().to_string();
    assert!(bellwether(&format!("keygen {key}")).status.success());
    let all = text(&now, "");
    for (changed, names) in [
        (all.replace("\"web\"", "\"db\""), "group (from web to db)"),
        (all.replace(&list, &other_list), &*format!("peers (from {list} to {other_list})")),
        (all.replace(&dir, "/tmp"), &*format!("dir (from {dir} to /tmp)")),
        (
            all.replace("insecure = true", &format!("key = \"{key}\"")),
            &*format!("insecure (from true to nothing), key (from nothing to {key})"),
        ),
        (all.replace("\"one\"", "\"two\""), "name (from one to two)"),
        (
            all.replace("name = \"one\"", "command = [\"sleep\", \"9\"]"),
            "command (from nothing to sleep), name (from one to nothing)",
        ),
        (
            all.replace("name = \"one\"", "name = \"one\"\nguardian = \"no\""),
            "guardian (from nothing to no)",
        ),
        (
            all.replace("name = \"one\"", "name = \"one\"\nlisten = \"127.0.0.1:7\""),
            "listen (from nothing to 127.0.0.1:7)",
        ),
        (
            all.replace("name = \"one\"", "name = \"one\"\nid = 1\nlease = \"5s\""),
            "[params] preset (from \"wan\" to nothing), id (from nothing to 1), lease (from \
             nothing to 5s)",
        ),
        (text(&now, "cooldown = \"3s\""), "[params] cooldown (from nothing to \"3s\")"),
    ] {
        let changed =
            changed.replace("\nid = 1\nlease", "\nid = 1\nprotocol = \"local-leader\"\nlease");
        let changed = if changed.contains("lease =") {
            changed.replace("preset = \"wan\"\n", "")
        } else {
            changed
        };
        fs::write(&file, &changed).expect("there is room");
        let line = refusal(&member.ask("reload"), 1);
        let told = format!(": {names} cannot change while the member runs, and nothing changed: ");
        assert!(line.contains(&told) && line.contains("restart the member"), "{names}: {line}");
    }
    // Another way to write the same, which flags and defaults say, is no change.
    let same = all.replace("\"1s\"", "\"9000ms\"").replace("[params]", "once = false\n[params]");
    fs::write(&file, same).expect("there is room");
    assert_eq!(reload(&member), Vec::<String>::new(), "nothing of all that was taken over");
    assert_eq!(reign(&member), before);
}

/// All addresses of a port cannot be had while the member itself has one of them.
#[test]
fn a_port_that_the_member_has_itself_is_no_other_process() {
    let folder = Folder::new("reload-port");
    let list = peers(1);
    let http = list.split('=').nth(1).expect("an address").replace(":7400", ":7480");
    settings(&folder, &list, &format!("http = \"{http}\""));
    let member = start(&folder, 1);
    reign(&member);
    settings(&folder, &list, "http = \"0.0.0.0:7480\"");
    let line = refusal(&member.ask("reload"), 1);
    let cause = format!("--http 0.0.0.0:7480: this member itself has the port, at {http}");
    assert!(line.contains(&cause) && line.contains("leave `http` out for one reload"), "{line}");
}

#[test]
fn another_token_is_asked_for_at_once_and_another_rank_counts_in_the_election() {
    let folder = Folder::new("reload-token");
    let list = peers(2);
    let token = folder.file("token");
    let secret = |text: &str| {
        fs::write(&token, text).expect("there is room");
        fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).expect("it is ours");
    };
    secret("the-first-token-of-all");
    let http = list.split(['=', ',']).nth(1).expect("an address").replace(":7400", ":7480");
    let text = |rank: u64| {
        format!(
            "group = \"web\"\npeers = \"{list}\"\ninsecure = true\ndir = \"{}\"\nprotocol = \
             \"le-s\"\nhttp = \"{http}\"\nhttp-token = \"{}\"\nrank = {rank}\n[params]\n\
             criterion = \"rank\"\n",
            folder.dir(),
            token.display()
        )
    };
    fs::write(folder.file("web.toml"), text(5)).expect("there is room");
    let mut members = vec![start(&folder, 1)];
    fs::write(folder.file("two.toml"), text(6).replace(":7480", ":7481")).expect("there is room");
    let two = format!("run --config {} --id 2", folder.file("two.toml").display());
    members.push(Member::spawn(command(&two), &folder.dir(), 2));
    let first = leader(&members);
    let ask = |token: &str| {
        let stream = TcpStream::connect(&http).expect("it answers");
        let head =
            format!("POST /v1/resign HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n");
        answer(stream, &head)
    };
    // Member 1 has rank 5 and member 2 rank 6, so the first leader shows which rank is better. The
    // other one leads once the leader has a rank that is worse than both.
    let (index, name, port) =
        if first == 1 { (0, "web.toml", ":7480") } else { (1, "two.toml", ":7481") };
    let worse = if first == 1 { 99 } else { 1 };
    fs::write(folder.file(name), text(worse).replace(":7480", port)).expect("there is room");
    let told = reload(&members[index]);
    assert!(told.contains(&"rank".to_owned()), "{told:?}");
    eventually("the other leads", || {
        let status = members[1 - index].status()?;
        (status["role"] == "leader").then_some(())
    });
    assert!(ask("another-token-of-nobody").contains("401"));
    secret("the-second-token-of-all");
    assert_eq!(reload(&members[0]), ["http-token"]);
    assert!(ask("the-first-token-of-all").contains("401"));
    assert!(!ask("the-second-token-of-all").contains("401"));
}

/// The first check of a member, and how willing it is to lead.
fn checked(member: &Member) -> Option<(Value, Value)> {
    let status = member.status()?;
    Some((status["checks"].clone(), status["why"].clone()))
}

#[test]
fn checks_and_priorities_change_in_one_step_or_not_at_all() {
    let folder = Folder::new("reload-checks");
    let list = peers(1);
    let well = folder.file("well").display().to_string();
    fs::write(&well, "").expect("there is room");
    let check = |name: &str, rest: &str| {
        format!("[[check]]\nname = \"{name}\"\nfile = \"{well}\"\ninterval = \"50ms\"\n{rest}\n")
    };
    let settings = |head: &str, tables: &str| {
        let text = format!(
            "group = \"web\"\npeers = \"{list}\"\ninsecure = true\ndir = \"{}\"\n{head}\n{tables}\
             [params]\npreset = \"wan\"\n",
            folder.dir()
        );
        fs::write(folder.file("web.toml"), text).expect("there is room");
    };
    // It fails until it was well once.
    settings("", &check("old", "init_fail = true"));
    let member = start(&folder, 1);
    let before = reign(&member);
    let runs = |member: &Member| checked(member)?.0[0]["succeeded"].as_u64();
    let ran = eventually("a run", || runs(&member).filter(|runs| *runs > 0));

    // What stays the same is as well as it was; what is new begins.
    settings("priority = 7", &(check("old", "init_fail = true") + &check("new", "weight = 5")));
    assert_eq!(reload(&member), ["check", "priority"]);
    eventually("both", || {
        let (checks, _) = checked(&member)?;
        let new = checks[1]["succeeded"].as_u64()?;
        (checks[1]["name"] == "new" && new > 0 && checks[0]["up"] == true).then_some(())
    });
    assert!(runs(&member) >= Some(ran), "it goes on counting");
    assert_eq!(reign(&member), before, "it leads on");

    // What is bad changes nothing, also not the priority beside it.
    for (head, tables, text) in [
        ("priority = 8", check("x", "interval = \"soon\""), "interval"),
        ("priority = 8", check("x", "") + &check("x", ""), "two checks are called 'x'"),
        ("witness = true", check("x", ""), "a witness never leads"),
        ("priority = 8\npriorities = [\"1=9\"]", String::new(), "priorit"),
    ] {
        settings(head, &tables.replacen("interval = \"50ms\"\ninterval", "interval", 1));
        let output = member.ask("reload");
        let line = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && line.contains(text), "{head} {tables}: {line}");
        assert_eq!(
            checked(&member).map(|(checks, _)| checks[1]["name"].clone()),
            Some("new".into())
        );
    }

    // A witness does not lead; without checks nothing is looked at.
    settings("witness = true", "");
    assert_eq!(reload(&member), ["check", "priority", "witness"]);
    member.becomes("looking");
    assert_eq!(checked(&member).map(|(checks, _)| checks), Some(Value::Null), "no checks are left");
    settings("", "");
    assert_eq!(reload(&member), ["witness"]);
    member.becomes("leader");
}

#[test]
fn a_reload_that_hands_over_leaves_the_command_its_own_time_to_end() {
    let folder = Folder::new("reload-witness");
    let (list, log) = (peers(1), folder.file("log").display().to_string());
    // Longer than a command has whose member leads no longer.
    let work = format!(
        "trap 'sleep 0.5; echo ended >> {log}; exit 0' TERM; echo works >> {log}; while :; do \
         sleep 0.05; done"
    );
    let write = |rest: &str| {
        let command = format!("command = [\"sh\", \"-c\", \"{work}\"]\n{rest}");
        settings(&folder, &list, &command);
    };
    let said = |what: &str| folder.text("log").matches(what).count();
    write("");
    let member = start(&folder, 1);
    eventually("the command", || (said("works") == 1).then_some(()));
    write("witness = true");
    assert_eq!(reload(&member), ["witness"]);
    eventually("it leads no longer", || {
        let leads = member.status()?["role"] == "leader";
        assert!(leads || said("ended") == 1, "it leads until the command has ended");
        (!leads).then_some(())
    });
    member.becomes("looking");
    write("");
    assert_eq!(reload(&member), ["witness"]);
    member.becomes("leader");
    eventually("the command again", || (said("works") == 2).then_some(()));
}
