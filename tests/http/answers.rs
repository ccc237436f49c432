//! What is answered to load balancers, probes and scripts.

use super::client::{Door, Group};
use super::member::{Folder, Member, bellwether, command, eventually, peers, refusal};
use serde_json::Value;

#[test]
fn a_leader_and_a_follower_answer_load_balancers_and_probes() {
    let group = Group::start("roles", 3, &[]);
    let (leader, leads, follows) = group.roles();
    for (door, path, code) in [
        (leads, "/leader", 200),
        (follows, "/leader", 503),
        (leads, "/replica", 503),
        (follows, "/replica", 200),
        (leads, "/livez", 200),
        (follows, "/livez", 200),
        (leads, "/readyz", 200),
        (follows, "/readyz", 200),
        (leads, "/", 200),
        (follows, "/", 200),
        (leads, "/metrics", 200),
    ] {
        for method in ["GET", "HEAD", "OPTIONS"] {
            let answer = door.request(&format!("{method} {path}"), &[], "");
            assert_eq!(answer.code, code, "{method} {path}: {answer:?}");
            assert_eq!(answer.body.is_empty(), method != "GET", "{method} {path}: {answer:?}");
        }
    }
    for door in [leads, follows] {
        assert_eq!(door.get("/").body, format!("{{\"name\":\"{leader}\"}}\n"));
    }
    let answer = leads.get("/leader");
    let header = |name| answer.header(name).and_then(|text| text.parse::<u64>().ok());
    let status = group.members[leader as usize - 1].status().expect("it answers");
    let lease = status["renew_deadline_ms"].as_f64().expect("it has a lease");
    let remaining = header("Bellwether-Remaining-Ms").expect("a header");
    assert!((10..=lease as u64).contains(&remaining), "{remaining} ms of {lease} ms");
    assert_eq!(header("Bellwether-Term"), status["term"].as_u64());
    assert_eq!(answer.header("Cache-Control"), Some("no-store"));
    assert_eq!(follows.get("/leader").header("Bellwether-Remaining-Ms"), None);
}

#[test]
fn the_status_and_the_members_are_those_of_the_commands() {
    let group = Group::start("status", 1, &[]);
    group.members[0].becomes("leader");
    let keys = |value: &Value| value.as_object().map(|it| it.keys().cloned().collect::<Vec<_>>());
    let (said, shown) = (group.doors[0].get("/v1/status"), group.members[0].status());
    assert_eq!(keys(&said.json()), keys(&shown.expect("it answers")));
    assert_eq!(said.json()["role"], "leader");
    assert_eq!(said.header("Content-Type"), Some("application/json"));
    let members = group.doors[0].get("/v1/members").json();
    assert_eq!((&members[0]["id"], &members[0]["leads"]), (&1.into(), &true.into()));
}

#[test]
fn what_is_not_understood_is_refused_in_one_line() {
    let group = Group::start("refused", 1, &[]);
    let door = &group.doors[0];
    group.members[0].becomes("leader");
    for (line, code, why) in [
        ("GET /nothing", 404, "there is no /nothing; there are /, /leader"),
        ("GET /v1/", 404, "there is no /v1/"),
        ("DELETE /leader", 405, "DELETE is not for /leader"),
        ("POST /v1/status", 405, "POST is not for /v1/status"),
        ("GET /v1/resign", 405, "GET is not for /v1/resign"),
    ] {
        let answer = door.request(line, &[], "");
        assert_eq!(answer.code, code, "{line}: {answer:?}");
        assert!(answer.error().contains(why), "{line}: {answer:?}");
        assert_eq!(answer.header("Allow").is_some(), code == 405, "{line}: {answer:?}");
    }
    for nonsense in ["\r\n\r\n\r\n\r\nx", "GET", "GET / HTTP/9.9\r\n\r\n", "\u{0}\u{1}\r\n\r\n"] {
        let said = door.send(nonsense.as_bytes());
        assert!(said.is_empty() || said.starts_with("HTTP/1.1 4"), "{nonsense:?}: {said}");
    }
    assert_eq!(door.get("/leader").code, 200);
}

#[test]
fn a_member_without_a_majority_is_alive_and_not_ready() {
    let folder = Folder::new("http-alone");
    let list = peers(3);
    let door = Door::Tcp(list.split(['=', ',']).nth(1).unwrap().replace(":7400", ":7480"));
    let Door::Tcp(address) = &door else { unreachable!() };
    let _member = Member::start(&folder, &list, 1, &["--http", address]);
    eventually("its status", || (door.get_soon("/v1/status").code == 200).then_some(()));
    for (path, code) in [("/livez", 200), ("/readyz", 503), ("/leader", 503), ("/replica", 503)] {
        assert_eq!(door.get(path).code, code, "{path}");
    }
    assert_eq!(door.get("/").body, "{\"name\":\"\"}\n");
    let page = door.get("/metrics").body;
    assert!(
        page.contains("bellwether_role{group=\"web\",member=\"1\",role=\"looking\"} 1"),
        "{page}"
    );
}

#[test]
fn settings_of_http_are_flags_variables_and_keys_and_bad_ones_are_refused() {
    let folder = Folder::new("http-settings");
    let list = peers(1);
    let run =
        |rest: &str| bellwether(&format!("check-config web --insecure --peers {list} {rest}"));
    for (rest, code, why) in [
        ("--http web:80", 2, "write an address and a port"),
        ("--http unix:", 2, "a path follows unix:"),
        ("--http-token /x", 2, "--http-token has no effect without --http ADDRESS"),
        ("--http unix:/x --http-token /x", 2, "--http-token has no effect without --http ADDRESS"),
        ("--http 127.0.0.1:1 --http-token /nowhere", 78, "token file /nowhere: cannot be read"),
    ] {
        let output = run(rest);
        assert_eq!(output.status.code(), Some(code), "{rest}");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains(why), "{rest}: {errors}");
    }
    let file = folder.file("web.toml");
    std::fs::write(&file, "http = \"127.0.0.1:7480\"\n").expect("there is room");
    let dir = folder.dir();
    let told = |output: std::process::Output| String::from_utf8_lossy(&output.stdout).into_owned();
    let by_file = run(&format!("--id 1 --dir {dir} --config {}", file.display()));
    let mut by_variable =
        command(&format!("check-config web --insecure --peers {list} --dir {dir}"));
    by_variable.env("BELLWETHER_HTTP", "127.0.0.1:7480");
    for said in [told(by_file), told(by_variable.output().expect("it starts"))] {
        assert!(said.contains("answers at 127.0.0.1:7480; nobody may change something"), "{said}");
    }
    let held = std::net::TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let taken = held.local_addr().expect("it is bound");
    let run = format!("run web --insecure --peers {list} --dir {dir} --http {taken}");
    let line = refusal(&bellwether(&run), 1);
    assert!(line.contains("another process has it: choose another"), "{line}");
    let line = refusal(&bellwether(&run.replace(&taken.to_string(), "unix:/no/where")), 78);
    assert!(line.contains("make its directory first"), "{line}");
}
