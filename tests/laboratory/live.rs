//! Real processes: watched, struck, and gone with the laboratory.

use super::asking::{Lab, next, program, seconds};
use super::client::{Door, Group};
use serde_json::{Value, json};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::thread::sleep;
use std::time::Duration;

/// How long anything of a live group may take on a busy machine, in seconds.
const PATIENCE: f64 = 60.0;

/// The members that run for a laboratory, by the directory that it has made.
fn members_of(pid: u32) -> Vec<u64> {
    let mine = format!("bellwether-demo-{pid}-");
    let numbers = fs::read_dir("/proc").expect("there is a /proc").filter_map(|entry| {
        let pid = entry.ok()?.file_name().to_str()?.parse::<u64>().ok()?;
        let command = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        String::from_utf8_lossy(&command).contains(&mine).then_some(pid)
    });
    numbers.collect()
}

/// Reads lines until one is as it should be.
fn until(lab: &Lab, what: &str, so: impl Fn(&Value) -> bool) -> Value {
    let began = seconds();
    let mut stream = lab.open("GET /api/live", &Value::Null);
    loop {
        let line = next(&mut stream);
        if line["lab"] == "members" && so(&line) {
            return line;
        }
        assert!(seconds() - began < PATIENCE, "{what}: {line}");
    }
}

fn led_by(line: &Value) -> Option<u64> {
    line["demo"]["leader"].as_u64()
}

#[test]
fn a_real_group_loses_its_leader_gets_a_new_one_and_ends_with_the_laboratory() {
    let mut lab = Lab::with("--demo");
    assert_eq!(lab.get("/api/about").json()["demo"], true);
    let post = |path: String| lab.post(&path, &Value::Null);
    // Nobody has asked for it: it begins with the laboratory.
    let line = until(&lab, "all five answer and one leads", |line| {
        let members = line["members"].as_array().unwrap();
        let answer = members.iter().filter(|it| !it["status"].is_null()).count();
        answer == 5 && led_by(line).is_some()
    });
    assert!(post("/api/demo/start".to_owned()).error(409).contains("runs already"));
    let old = led_by(&line).unwrap();
    assert_eq!(members_of(lab.pid()).len(), 5);
    assert!(post(format!("/api/demo/{old}/restart")).error(409).contains("kill it first"));
    assert!(post(format!("/api/demo/{old}/zzz")).error(409).contains("there are kill, pause"));
    assert!(post("/api/demo/9/kill".to_owned()).error(409).contains("no member 9"));
    assert_eq!(post(format!("/api/demo/{old}/kill")).json(), json!({ "done": true }));
    let line = until(&lab, "another one leads", |line| {
        !line["demo"]["failovers"].as_array().unwrap().is_empty()
    });
    let failover = &line["demo"]["failovers"][0];
    assert_eq!((&failover["what"], &failover["old"]), (&json!("kill"), &json!(old)));
    assert_ne!(failover["new"], json!(old));
    assert!(failover["ms"].as_f64().unwrap() > 0.0, "{failover}");
    let dead = line["demo"]["members"].as_array().unwrap().iter().find(|it| it["id"] == old);
    assert_eq!(dead.unwrap()["state"], "dead");
    assert_eq!(post(format!("/api/demo/{old}/restart")).json(), json!({ "done": true }));
    let recorded = lab.get("/api/demo/trace");
    let judged = lab.request("POST /api/judge", &lab.own(), recorded.body.as_bytes());
    let verdict = &judged.said("verdict")[0];
    assert_ne!(verdict["verdict"], "violated", "{verdict}");
    assert_eq!(verdict["invariants"]["never-two"]["verdict"], "holds", "{verdict}");
    let (head, end) = (&judged.said("head")[0], &judged.said("end")[0]);
    assert_eq!(head["ids"], json!([1, 2, 3, 4, 5]));
    assert_eq!(judged.records().len() as u64, end["records"].as_u64().unwrap());
    lab.end();
    let began = seconds();
    while !members_of(lab.pid()).is_empty() {
        assert!(seconds() - began < PATIENCE, "they are gone with the laboratory");
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_laboratory_that_cannot_begin_with_its_group_says_why() {
    let mut command = program("lab --no-open --port 0 --demo");
    command.env("TMPDIR", "/nonexistent/bellwether");
    let lab = Lab::of(command);
    let line = until(&lab, "the reason", |line| line["demo"]["complaint"].is_string());
    assert_eq!(line["demo"]["running"], false);
    let why = line["demo"]["complaint"].as_str().unwrap();
    assert!(why.contains("temporary directory"), "{why}");
    let refused = lab.post("/api/demo/start", &Value::Null).error(409);
    assert_eq!(refused, why, "a page that asks for it is told the same");
}

#[test]
fn a_leader_that_stands_still_is_replaced_and_one_that_resigns_hands_over() {
    let lab = Lab::start();
    let post = |path: String| lab.post(&path, &Value::Null);
    post("/api/demo/start".to_owned()).json();
    let line = until(&lab, "one leads", |line| led_by(line).is_some());
    let old = led_by(&line).unwrap();
    post(format!("/api/demo/{old}/pause")).json();
    assert!(post(format!("/api/demo/{old}/resign")).error(409).contains("stands still"));
    let failovers = |count: usize| {
        move |line: &Value| line["demo"]["failovers"].as_array().unwrap().len() == count
    };
    let line = until(&lab, "another one leads", failovers(1));
    assert_eq!(line["demo"]["failovers"][0]["what"], "pause");
    post(format!("/api/demo/{old}/continue")).json();
    let line = until(&lab, "one leads", |line| led_by(line).is_some());
    let leader = led_by(&line).unwrap();
    // Leadership may have changed by itself on a busy machine.
    let resigned = post(format!("/api/demo/{leader}/resign"));
    if resigned.code == 200 {
        let line = until(&lab, "the next one leads", failovers(2));
        assert_eq!(line["demo"]["failovers"][1]["what"], "resign");
    }
    assert_eq!(post("/api/demo/stop".to_owned()).json(), json!({ "done": true }));
    assert_eq!(members_of(lab.pid()).len(), 0, "they are waited for");
    let line = until(&lab, "nobody is there", |line| line["demo"]["running"] == false);
    assert_eq!(line["members"], json!([]));
}

#[test]
fn what_is_no_trace_is_refused_and_a_remote_member_that_is_silent_is_named() {
    let lab = Lab::with("--member http://127.0.0.1:9");
    let judged = lab.request("POST /api/judge", &lab.own(), b"{\"t\":1}\nx\n");
    let line = judged.said("error")[0]["error"].as_str().unwrap().to_owned();
    assert!(line.contains("the trace:1: no record"), "{line}");
    let line = until(&lab, "it is named", |line| !line["members"].as_array().unwrap().is_empty());
    let member = &line["members"][0];
    assert_eq!(member["from"], "http://127.0.0.1:9");
    assert!(member["error"].as_str().unwrap().contains("refused"), "{member}");
}

#[test]
fn a_live_page_that_is_closed_frees_its_place() {
    let lab = Lab::start();
    let began = seconds();
    // More than three times as many as may watch at once.
    for _ in 0..25 {
        while lab.status("GET /api/live") == 503 {
            assert!(seconds() - began < PATIENCE, "all places are still taken");
        }
    }
}

#[test]
fn what_is_no_status_of_a_member_is_not_shown_as_one() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let status = r#"{"group":["x"],"id":{},"role":"leader","history":7}"#;
        for client in listener.incoming().flatten() {
            let mut client = client;
            let mut asked = [0; 1024];
            let _ = client.read(&mut asked); // whatever it asks
            let _ = write!(client, "HTTP/1.0 200 OK\r\n\r\n{status}");
        }
    });
    let lab = Lab::with(&format!("--member http://{place}"));
    let line = until(&lab, "it is named", |line| !line["members"].as_array().unwrap().is_empty());
    let member = &line["members"][0];
    assert_eq!(member["error"], "it does not answer as a member does");
    assert_eq!(member["status"], Value::Null);
}

#[test]
fn a_trace_of_more_processes_than_the_stage_has_room_for_is_refused() {
    let lab = Lab::start();
    let records: String = (0..65)
        .map(|node| {
            format!("{{\"t\":{node},\"node\":{node},\"kind\":\"start\",\"incarnation\":1}}\n")
        })
        .collect();
    let judged = lab.request("POST /api/judge", &lab.own(), records.as_bytes());
    let line = judged.said("error")[0]["error"].as_str().unwrap().to_owned();
    assert!(line.contains("65 processes recorded this"), "{line}");
}

#[test]
fn what_members_remember_is_told_and_two_groups_of_one_name_are_two() {
    let (group, other) = (Group::start("past", 3, &[]), Group::start("other", 1, &[]));
    let Door::Tcp(elsewhere) = &other.doors[0] else { panic!("an address") };
    // On a machine that stands still, it may lead no longer when it is asked.
    let resigned = super::member::eventually("a leader that resigns", || {
        let (leader, ..) = group.roles();
        group.members[leader as usize - 1].ask("resign").status.success().then_some(leader)
    });
    super::member::eventually("another leader", || (group.roles().0 != resigned).then_some(()));
    let lab = Lab::with(&format!("--dir {} --member http://{elsewhere}", group.folder.dir()));
    let mut stream = lab.open("GET /api/live", &Value::Null);
    let (began, mut homes, mut pasts) = (seconds(), Vec::new(), Vec::new());
    // The first answers may be those of some members alone.
    let place = |reigns: &[Value]| {
        let at = reigns.iter().position(|it| it["leader"] == resigned && it["end"] == "resigned");
        at.filter(|at| at + 1 < reigns.len())
    };
    let whole = |past: &Value| past["reigns"].as_array().is_some_and(|it| place(it).is_some());
    while homes.len() < 4 || pasts.len() < 2 || !pasts.iter().any(whole) {
        assert!(seconds() - began < PATIENCE, "{homes:?} {pasts:?}");
        let line = next(&mut stream);
        if line["lab"] == "past" {
            pasts.retain(|known: &Value| known["group"] != line["group"]);
            pasts.push(line);
        } else {
            let known = |it: &&Value| it["home"].is_number();
            homes = line["members"].as_array().unwrap().iter().filter(known).cloned().collect();
        }
    }
    let home = |from: &str| {
        let of = |it: &&Value| it["from"].as_str().unwrap().starts_with(from);
        let all: Vec<u64> =
            homes.iter().filter(of).map(|it| it["home"].as_u64().unwrap()).collect();
        assert!(all.windows(2).all(|two| two[0] == two[1]), "{homes:?}");
        all[0]
    };
    let (here, there) = (home(&group.folder.dir()), home("http://"));
    assert_ne!(here, there, "both are called web: {homes:?}");
    let reigns = |home: u64| {
        let past = pasts.iter().find(|past| past["group"] == home).expect("its past");
        past["reigns"].as_array().unwrap().clone()
    };
    let (reigns, others) = (reigns(here), reigns(there));
    let next = &reigns[place(&reigns).expect("its reign") + 1];
    assert!(next["without_ms"].as_f64().is_some_and(|ms| ms < PATIENCE * 1e3), "{next}");
    assert!(next["wall_ms"].as_f64().is_some_and(|ms| ms > 1.7e12), "{next}");
    assert_eq!(others.last().unwrap()["leader"], 1);
}

/// Who leads, by what these members say.
fn leader(line: &Value, like: impl Fn(&Value) -> bool) -> Option<u64> {
    let members = line["members"].as_array().expect("a list").iter().filter(|it| like(it));
    let leads = |member: &&Value| member["error"].is_null() && member["status"]["role"] == "leader";
    members.into_iter().find(leads).and_then(|member| member["id"].as_u64())
}

#[test]
fn members_here_and_elsewhere_are_watched_and_those_here_can_be_asked_to_resign() {
    let group = Group::start("lab", 3, &[]);
    let urls: Vec<String> = group
        .doors
        .iter()
        .map(|door| match door {
            Door::Tcp(address) => format!("http://{address}"),
            Door::Unix(path) => panic!("{path}"),
        })
        .collect();
    let members: String = urls.iter().map(|url| format!(" --member {url}")).collect();
    let lab = Lab::with(&format!("--dir {}{members}", group.folder.dir()));
    let remote = |member: &Value| member["from"].as_str().unwrap().starts_with("http://");
    let here = |member: &Value| !remote(member);
    // All six answer, by both ways, and say the same.
    let line = until(&lab, "all answer and one leads", |line| {
        let all = line["members"].as_array().unwrap();
        let answer = all.iter().filter(|it| it["error"].is_null() && it["group"] == "web").count();
        answer == 6 && leader(line, here).is_some() && leader(line, here) == leader(line, remote)
    });
    let all = line["members"].as_array().unwrap();
    let keys: Vec<&str> = all.iter().map(|member| member["key"].as_str().unwrap()).collect();
    // Two directories may have a member of the same group and number.
    let key = |id: u64| format!("{}/web/{id}", group.folder.dir());
    assert_eq!(keys[..3], [key(1), key(2), key(3)]);
    assert!(urls.iter().all(|url| keys.contains(&url.as_str())), "{keys:?}");
    assert!(all.iter().all(|member| member["resigns"] == here(member)), "{all:?}");
    // A leader renews its lease, and knows how long that takes.
    until(&lab, "it has measured a round trip", |line| {
        let leads = |it: &&Value| remote(it) && it["status"]["role"] == "leader";
        let told = line["members"].as_array().unwrap().iter().find(leads);
        let told = told.map(|it| it["status"]["round_trip"].clone()).unwrap_or_default();
        let positive = |key: &str| told[key].as_f64().is_some_and(|ms| ms > 0.0);
        told["count"].as_u64() > Some(1) && positive("last_ms") && positive("mean_ms")
    });
    let ask = |member: &str| lab.post("/api/live/resign", &json!({ "member": member }));
    let refused = ask(&urls[0]).error(409);
    assert!(refused.contains(&urls[0]) && refused.contains("only watched"), "{refused}");
    assert!(ask("web/1").error(409).contains("called DIRECTORY/GROUP/ID"));
    // On a machine that stands still, leadership changes by itself: then all of it once more.
    let old = (0..10).find_map(|_| {
        let line = until(&lab, "all follow one", |line| {
            let all = line["members"].as_array().unwrap();
            let follow = |id: u64| all.iter().all(|it| it["status"]["leaders"] == json!([id]));
            leader(line, here).is_some_and(follow)
        });
        let old = leader(&line, here).unwrap();
        let refused = ask(&key(old % 3 + 1));
        let line = until(&lab, "one leads", |line| leader(line, here).is_some());
        if leader(&line, here) != Some(old) {
            return None;
        }
        let why = refused.error(409);
        assert!(why.contains(&format!("it follows {old}")), "{why}");
        let asked = ask(&key(old));
        (asked.code == 200).then(|| assert_eq!(asked.json(), json!({ "done": true })))?;
        Some(old)
    });
    let old = old.expect("one leads for longer than it takes to ask");
    until(&lab, "another one leads", |line| leader(line, remote).is_some_and(|new| new != old));
    // One that is gone is no longer shown here, and elsewhere it is said why.
    drop(group);
    until(&lab, "nobody answers", |line| {
        let all = line["members"].as_array().unwrap();
        all.len() == 3 && all.iter().all(|it| remote(it) && it["error"].is_string())
    });
}
