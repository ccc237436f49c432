//! What a running member says, by itself and when it is asked.

use super::member::{Folder, Member, bellwether, eventually, peers, refusal};
use rustix::process::Signal;
use serde_json::Value;
use std::process::{Command, Stdio};

fn json(line: &str) -> Value {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

#[test]
fn a_list_of_one_leads_and_says_so_in_lines_that_scripts_rely_on() {
    let folder = Folder::new("one");
    let mut member = Member::start(&folder, &peers(1), 1, &["--format", "json"]);
    let line = json(&member.line(|line| line.contains("\"leader\"")));
    assert_eq!((&line["group"], &line["id"]), (&Value::from("web"), &Value::from(1)));
    assert_eq!(line["leaders"], serde_json::json!([1]));
    assert!(line["until"].as_u64() > line["t"].as_u64(), "{line}");
    assert!(line["term"].as_u64().is_some_and(|term| term > 0), "{line}");
    assert_eq!((&line["term_kept"], line.get("why")), (&Value::from(false), Some(&Value::Null)));
    let wall = line["wall"].as_str().expect("it tells the time");
    assert!(wall.len() == 24 && wall.starts_with("20") && wall.ends_with('Z'), "{wall}");
    member.signal(Signal::TERM);
    assert_eq!(member.code(), Some(0));
}

#[test]
fn a_member_tells_its_status_its_members_its_reasons_and_its_changes() {
    let folder = Folder::new("asked");
    let member = Member::start(&folder, &peers(1), 1, &[]);
    member.line(|line| line.contains("member 1 leads web, for "));
    let said = |what: &str| {
        let output = member.ask(what);
        assert!(output.status.success(), "{what}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("it is text")
    };
    let status = said("status");
    let mut lines = status.lines();
    assert_eq!(lines.next(), Some("member 1 leads web"));
    assert!(lines.next().is_some_and(|line| line.starts_with("warning: insecure")), "{status}");
    for fact in ["lease_duration", "renew_deadline", "retry_period", "remaining", "never two"] {
        assert!(status.contains(fact), "{fact}: {status}");
    }
    let members: Value = json(&said("members --format json"));
    assert_eq!(members[0]["id"], 1);
    assert!(said("members").contains("leads"));
    assert!(said("why").contains("\nleader because: "));
    assert!(json(&said("why --format json"))["why"].is_array());
    assert!(said("watch --count 1").contains("member 1 leads web"));
    assert_eq!(json(&said("watch --count 1 --format json"))["role"], "leader");
    assert_eq!(said("resign"), "member 1 no longer leads web\n");
    member.line(|line| line.contains("looks for a leader"));
    member.line(|line| line.contains("member 1 leads web"));
}

#[test]
fn every_reason_for_which_datagrams_are_refused_is_explained() {
    let folder = Folder::new("reasons");
    let list = peers(1);
    let place = list.split_once('=').expect("an id and a place").1;
    let member = Member::start(&folder, &list, 1, &[]);
    member.becomes("leader");
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("there is a port");
    let send = |bytes: &[u8]| socket.send_to(bytes, place).expect("it is sent");
    // The first one is no longer among the latest.
    send(&[b'x'; 200]);
    (0..20).for_each(|_| assert_eq!(send(b"x"), 1));
    let counts = |status: &Value| status["traffic"]["refused"]["short"].as_u64() == Some(20);
    eventually("all are refused", || member.status().filter(counts));
    let status = String::from_utf8(member.ask("status").stdout).expect("it is text");
    let row = |reason: &str| status.lines().find(|line| line.trim_start().starts_with(reason));
    let (magic, short) = (row("magic"), row("short"));
    assert!(magic.is_some_and(|row| row.contains("not a frame; look for other")), "{status}");
    assert!(short.is_some_and(|row| row.contains("too short for a frame; look")), "{status}");
}

#[test]
fn three_members_follow_one_and_another_when_that_resigns_or_leaves() {
    let folder = Folder::new("three");
    let list = peers(3);
    let mut members: Vec<Member> =
        (1..=3).map(|id| Member::start(&folder, &list, id, &["--format", "json"])).collect();
    let leader = |members: &[Member]| {
        eventually("a leader that all follow", || {
            let seen: Option<Vec<Value>> = members.iter().map(Member::status).collect();
            let seen = seen?;
            let leads = seen.iter().find(|status| status["role"] == "leader")?["id"].as_u64()?;
            let agree = seen.iter().all(|status| status["leaders"] == serde_json::json!([leads]));
            agree.then_some(leads)
        })
    };
    let first = leader(&members);
    let follower = if first == 1 { 2 } else { 1 };
    let refused = members[follower - 1].ask("resign");
    refusal(&refused, 1);
    let why = String::from_utf8(members[follower - 1].ask("why").stdout).expect("it is text");
    assert!(why.contains(&format!("\nnot leader because: follows {first}")), "{why}");
    let any = bellwether(&format!("status --dir {}", folder.dir()));
    let several = refusal(&any, 2);
    assert!(several.contains("choose one of web --id 1, web --id 2, web --id 3"), "{several}");
    assert!(members[first as usize - 1].ask("resign").status.success());
    members[first as usize - 1].line(|line| !json(line)["leaders"].as_array().unwrap().is_empty());
    let second = leader(&members);
    let mut gone = members.remove(second as usize - 1);
    gone.signal(Signal::TERM);
    assert_eq!(gone.code(), Some(0));
    assert_ne!(leader(&members), second);
}

/// The leader's command has ended before the next leader's begins.
#[test]
fn a_leader_hands_over_to_the_member_that_is_named_or_says_why_not() {
    let folder = Folder::new("transfer");
    let list = peers(3);
    let log = folder.file("log");
    let script = format!(
        "echo begin $BELLWETHER_ID >> {0}\ntrap 'echo end $BELLWETHER_ID >> {0}; exit' TERM\n\
         while :; do sleep 0.01; done\n",
        log.display()
    );
    let worker = folder.script("worker", &script).display().to_string();
    let members: Vec<Member> =
        (1..=3).map(|id| Member::start(&folder, &list, id, &["--", &worker])).collect();
    let leader = |wanted: &dyn Fn(u64) -> bool| {
        eventually("a leader that all follow", || {
            let seen: Option<Vec<Value>> = members.iter().map(Member::status).collect();
            let seen = seen?;
            let leads = seen.iter().find(|status| status["role"] == "leader")?["id"].as_u64()?;
            let agree = seen.iter().all(|status| status["leaders"] == serde_json::json!([leads]));
            (agree && wanted(leads)).then_some(leads)
        })
    };
    let first = leader(&|_| true);
    let begun = |id: u64| {
        eventually("its command", || {
            let text = std::fs::read_to_string(&log).unwrap_or_default();
            text.contains(&format!("begin {id}")).then_some(())
        });
    };
    begun(first);
    let dir = folder.dir();
    let ask = |id, to| bellwether(&format!("transfer web {to} --id {id} --dir {dir}"));
    let next = if first == 3 { 2 } else { 3 };
    for (asked, to, why) in [
        (first, first, "it leads already"),
        (first, 9, "it is not in the group"),
        (next, first, &*format!("it follows {first}: ask that one")),
    ] {
        let line = refusal(&ask(asked, to), 1);
        assert!(line.contains(why), "{line}");
    }
    let text = folder.text("log");
    assert_eq!(text, format!("begin {first}\n"), "nothing changed");
    let done = ask(first, next);
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{said}{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(said, format!("member {first} hands web over to {next}\n"));
    assert_eq!(leader(&|id| id != first), next);
    begun(next);
    assert_eq!(folder.text("log"), format!("begin {first}\nend {first}\nbegin {next}\n"));
    // Without a name it is the next in the order of ids.
    eventually("the support of all", || {
        let status = members[next as usize - 1].status()?;
        let known = status["members"].as_array()?;
        known.iter().all(|member| member["supports"] == true).then_some(())
    });
    let third = next % 3 + 1;
    let done = bellwether(&format!("transfer web next --id {next} --dir {dir}"));
    let said = String::from_utf8_lossy(&done.stdout);
    assert_eq!(said, format!("member {next} hands web over to {third}\n"));
    assert_eq!(leader(&|id| id != next), third);
}

#[test]
fn where_nobody_runs_the_answer_says_where_it_looked() {
    let folder = Folder::new("nobody");
    let output = bellwether(&format!("status --dir {}", folder.dir()));
    let line = refusal(&output, 1);
    assert!(line.contains(&format!("no running member in {}", folder.dir())), "{line}");
    let output = bellwether(&format!("resign web --id 7 --dir {}", folder.dir()));
    assert!(refusal(&output, 1).contains("no running member 7 of group web in"));
}

#[test]
fn the_same_member_cannot_run_twice_in_one_directory() {
    let folder = Folder::new("twice");
    let list = peers(1);
    let member = Member::start(&folder, &list, 1, &[]);
    member.becomes("leader");
    let mut second = Member::start(&folder, &peers(1), 1, &[]);
    assert_ne!(second.code(), Some(0));
    second.error("another process");
    assert_eq!(member.becomes("leader")["pid"], member.pid(), "the first goes on");
}

#[test]
fn keys_are_read_again_at_sighup_and_bad_ones_change_nothing() {
    let folder = Folder::new("keys");
    let (file, other) = (folder.file("web.key"), folder.file("new.key"));
    for file in [&file, &other] {
        assert!(bellwether(&format!("keygen {}", file.display())).status.success());
    }
    let dir = folder.dir();
    let member = Member::spawn(
        super::member::command(&format!(
            "run web --peers {} --dir {dir} --preset wan --key {}",
            peers(1),
            file.display()
        )),
        &dir,
        1,
    );
    let before = member.becomes("leader");
    assert_eq!(
        (&before["security"], before["keys"].as_array().map(Vec::len)),
        (&"keyed".into(), Some(1))
    );
    let both = folder.text("new.key") + &folder.text("web.key");
    std::fs::write(&file, both).expect("there is room");
    member.signal(Signal::HUP);
    member.error("again: sends with");
    let after = eventually("two keys", || {
        member.status().filter(|status| status["keys"].as_array().map(Vec::len) == Some(2))
    });
    assert_eq!(after["keys"][1], before["keys"][0], "the old one is still accepted");
    std::fs::write(&file, "no key").expect("there is room");
    member.signal(Signal::HUP);
    member.error("the keys stay as they were");
    assert_eq!(member.becomes("leader")["keys"], after["keys"]);
}

#[test]
fn a_member_whose_reader_has_gone_leaves() {
    let folder = Folder::new("reader");
    let dir = folder.dir();
    let mut command = super::member::command(&format!(
        "run web --peers {} --dir {dir} --preset wan --insecure --format json",
        peers(1)
    ));
    let (reader, writer) = std::io::pipe().expect("there are pipes");
    let mut child = command.stdout(writer).spawn().expect("the command starts");
    drop((reader, command));
    let status = eventually("its end", || child.try_wait().expect("it is our child"));
    assert_eq!(status.code(), Some(0));
}

/// A container and its host, or two containers that share a folder: there neither knows the
/// processes of the other by number.
#[test]
fn a_member_in_another_pid_namespace_is_asked_from_outside_and_answers() {
    let unshare = |words: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["--pid", "--fork", "--kill-child", "--mount-proc"]).args(words);
        command.stdin(Stdio::null());
        command
    };
    if !unshare(&["true"]).output().is_ok_and(|done| done.status.success()) {
        return eprintln!("not tested: this machine does not permit another pid namespace");
    }
    let folder = Folder::new("namespace");
    let (dir, list) = (folder.dir(), peers(1));
    let inside = env!("CARGO_BIN_EXE_bellwether");
    let run = unshare(&[
        inside,
        "run",
        "web",
        "--peers",
        &list,
        "--dir",
        &dir,
        "--insecure",
        "--preset",
        "wan",
        "--",
        "sleep",
        "1000",
    ]);
    let member = Member::spawn(run, &dir, 1);
    member.becomes("leader");
    for (what, said) in [
        ("status", "member 1 leads web"),
        ("why", "leader because: "),
        ("watch --count 1", "member 1 leads web"),
        ("members", "leads"),
        ("resign", "member 1 no longer leads web"),
    ] {
        let output = member.ask(what);
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && text.contains(said), "{what}: {text}{errors}");
    }
    // From a third namespace, in which the member has no number at all.
    let elsewhere = unshare(&[inside, "status", "web", "--dir", &dir]).output().expect("it starts");
    let text = String::from_utf8_lossy(&elsewhere.stdout);
    assert!(text.starts_with("member 1 "), "{text}");
}

#[test]
fn nobody_but_the_members_user_and_root_can_connect() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("mode");
    let member = Member::start(&folder, &peers(1), 1, &[]);
    member.becomes("leader");
    let socket = folder.0.join("members/web.1.sock");
    let mode = std::fs::metadata(&socket).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o7777, 0o600);
    if !rustix::process::geteuid().is_root() {
        return eprintln!("not tested: only root can be somebody else");
    }
    // The folder is opened to all, so that the socket alone decides.
    for path in [&folder.0, &folder.0.join("members")] {
        let all = std::fs::Permissions::from_mode(0o777);
        std::fs::set_permissions(path, all).expect("it is ours");
    }
    let program = folder.file("bellwether");
    std::fs::copy(env!("CARGO_BIN_EXE_bellwether"), &program).expect("there is room");
    let mut nobody = Command::new("setpriv");
    nobody.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&program);
    nobody.args(["status", "web", "--id", "1", "--dir", &folder.dir()]);
    let Ok(output) = nobody.output() else { return eprintln!("not tested: there is no setpriv") };
    let line = refusal(&output, 1);
    assert!(line.contains("Permission denied"), "{line}");
}
