//! Who led when, told by the members that are left: from what they remember, and nothing on disk.

use super::member::{Folder, Member, bellwether, eventually, leader, peers, refusal};
use serde_json::{Value, json};
use std::path::Path;

/// What `bellwether report` tells programs.
fn report(arguments: &str) -> Value {
    let output = bellwether(&format!("report --format json {arguments}"));
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}{}", String::from_utf8_lossy(&output.stdout));
    serde_json::from_slice(&output.stdout).expect("it is JSON")
}

/// The leader and the reason of each reign.
fn reigns(report: &Value) -> Vec<(u64, String)> {
    let all = report["reigns"].as_array().expect("a list");
    let told = |reign: &Value| {
        let end = reign["end"].as_str().expect("a word").to_owned();
        (reign["leader"].as_u64().expect("a number"), end)
    };
    all.iter().map(told).collect()
}

/// Whether the elements of a picture are closed in order, and no text leaves its place.
fn is_well_formed(picture: &str) -> bool {
    let mut open: Vec<&str> = Vec::new();
    for part in picture.split('<').skip(1) {
        let Some((tag, text)) = part.split_once('>') else { return false };
        if text.contains('>') || tag.matches('"').count() % 2 != 0 {
            return false;
        }
        let name = tag.split([' ', '/', '\n']).find(|word| !word.is_empty()).unwrap_or_default();
        if let Some(closed) = tag.strip_prefix('/') {
            if open.pop() != Some(closed.trim()) {
                return false;
            }
        } else if !tag.ends_with('/') && !tag.starts_with(['?', '!']) {
            open.push(name);
        }
    }
    open.is_empty() && picture.trim_end().ends_with("</svg>")
}

/// Takes the member with this id out of the list.
fn take(members: &mut Vec<Member>, id: u64) -> Member {
    let place = members.iter().position(|member| member.id() == id).expect("it runs");
    members.remove(place)
}

#[test]
fn a_transfer_a_kill_and_a_stop_are_told_by_those_that_are_left() {
    let folder = Folder::new("report");
    let list = peers(3);
    let mut members: Vec<Member> =
        (1..=3).map(|id| Member::start(&folder, &list, id, &[])).collect();
    let first = leader(&members);
    let second = first % 3 + 1;
    let led = members.iter().find(|member| member.id() == first).expect("it runs");
    let moved = bellwether(&format!("transfer web {second} --id {first} --dir {}", folder.dir()));
    assert!(moved.status.success(), "{}", String::from_utf8_lossy(&moved.stderr));
    led.becomes("follower");
    assert_eq!(leader(&members), second);
    drop(take(&mut members, second)); // by SIGKILL
    let third = leader(&members);
    members.push(Member::start(&folder, &list, second, &[]));
    members.last().expect("it was added").becomes("follower");
    let (code, _) = take(&mut members, third).end();
    assert_eq!(code, Some(0));
    let fourth = leader(&members);

    let svg = folder.file("report.svg");
    let told = report(&format!("web --dir {} --svg {}", folder.dir(), svg.display()));
    let own: Vec<(u64, String)> = reigns(&told);
    let expected =
        [(first, "transferred"), (second, "killed"), (third, "released"), (fourth, "leads")];
    // Right after the start, and under load, there may be short reigns more.
    let mut found = own.iter();
    for (leader, end) in expected {
        let like = |reign: &&(u64, String)| reign.0 == leader && reign.1 == end;
        assert!(found.any(|reign| like(&reign)), "{leader} {end} in {told:#}");
    }
    assert_eq!(told["members"], json!([1, 2, 3]), "{told:#}");
    let missing = told["missing"].as_array().expect("a list");
    let names: Vec<&Value> = missing.iter().map(|member| &member["member"]).collect();
    assert_eq!(names, [&json!(third.to_string())], "{told:#}");
    assert_eq!((&told["violated"], &told["overlaps"]), (&json!(false), &json!([])), "{told:#}");
    let without = told["without_seconds"].as_f64().expect("a number");
    let gaps = told["gaps"].as_array().expect("a list");
    let sum: f64 = gaps.iter().filter_map(|gap| gap["seconds"].as_f64()).sum();
    assert!(!gaps.is_empty() && (sum - without).abs() < 1e-6, "{told:#}");
    let part = told["availability"].as_f64().expect("a number");
    assert!(part > 0.0 && part < 1.0, "{told:#}");
    let picture = std::fs::read_to_string(&svg).expect("it was drawn");
    assert!(is_well_formed(&picture), "{picture}");

    let text = bellwether(&format!("report web --dir {}", folder.dir())).stdout;
    let text = String::from_utf8(text).expect("it is text");
    assert!(text.contains(&format!("missing: member {third}: ")), "{text}");
    assert!(text.contains(&format!("handed over to {second}")), "{text}");
    assert!(text.contains("killed (as others saw it)"), "{text}");
    // The last second has only the reign that goes on.
    let recent = report(&format!("web --dir {} --since 1ms", folder.dir()));
    assert_eq!(reigns(&recent), [(fourth, "leads".to_owned())], "{recent:#}");
}

#[test]
fn members_elsewhere_are_asked_by_http_and_one_that_does_not_answer_is_named() {
    let folder = Folder::new("report-http");
    let list = peers(3);
    let place = |id: usize| {
        let place = list.split(',').nth(id - 1).expect("a place");
        place.split_once('=').expect("a place").1.replace(":7400", ":7480")
    };
    let start = |id: u64| Member::start(&folder, &list, id, &["--http", &place(id as usize)]);
    let members: Vec<Member> = (1..=3).map(start).collect();
    let first = leader(&members);
    let urls = (1..=2).map(|id| format!("--http-from http://{}", place(id)));
    let urls = urls.collect::<Vec<_>>().join(" ");
    let nowhere = place(1).replace(":7480", ":7481");
    let empty = folder.file("empty");
    let told = eventually("an answer", || {
        let told =
            report(&format!("--dir {} {urls} --http-from http://{nowhere}", empty.display()));
        (told["missing"].as_array().expect("a list").len() == 2).then_some(told)
    });
    let missing = told["missing"].to_string();
    assert!(missing.contains(&format!("http://{nowhere}")), "{missing}");
    assert!(missing.contains("\"3\""), "{missing}");
    let last = reigns(&told).last().expect("somebody led").clone();
    assert_eq!(last, (first, "leads".to_owned()), "{told:#}");
    // The first one knows the others.
    let all =
        format!("--dir {} --http-from http://{} --http-from :7480", empty.display(), place(1));
    let told = eventually("all", || {
        let told = report(&all);
        told["missing"].as_array().expect("a list").is_empty().then_some(told)
    });
    assert_eq!(told["members"], json!([1, 2, 3]), "{told:#}");
    // What was answered is a trace, and can be kept for later.
    let saved = folder.file("one.jsonl");
    let asked = std::process::Command::new("curl")
        .args(["-sf", "-o"])
        .arg(&saved)
        .arg(format!("http://{}/v1/trace?since=1h", place(1)))
        .status();
    if asked.is_ok_and(|asked| asked.success()) {
        assert!(std::fs::metadata(&saved).expect("it is there").len() < 4 << 20);
        report(&format!("--trace {}", saved.display()));
    }
}

#[test]
fn what_cannot_be_reported_is_refused_in_one_line() {
    let folder = Folder::new("report-nobody");
    let line = |arguments: &str, code| refusal(&bellwether(&format!("report {arguments}")), code);
    let nobody = line(&format!("web --dir {}", folder.dir()), 1);
    assert!(nobody.contains("no member of group web answers in"), "{nobody}");
    assert!(line("--http-from https://a:1", 2).contains("as in http://10.0.0.2:7480"));
    line("--since yesterday", 2);
    line("web --trace x.jsonl", 2);
    let file = folder.file("x.jsonl");
    std::fs::write(&file, "").expect("there is room");
    let nothing = line(&format!("--trace {}", file.display()), 78);
    assert!(nothing.contains("no member has begun"), "{nothing}");
    std::fs::write(&file, "{}\n").expect("there is room");
    assert!(line(&format!("--trace {}", file.display()), 78).contains("no record"));
    assert!(Path::new(&file).exists());
}
