//! What changes something: only with the token, or through the Unix socket.

use super::client::{Answer, Door, Group};
use super::member::{Folder, Member, eventually, peers};
use std::os::unix::fs::PermissionsExt;

const TOKEN: &str = "4dcb8a2f0e7b4a5c9b1d";

#[test]
fn without_a_token_nothing_changes_by_tcp_and_the_answer_says_how() {
    let group = Group::start("none", 1, &[]);
    group.members[0].becomes("leader");
    let reign = |group: &Group| group.doors[0].get("/v1/status").json()["changes"].clone();
    let before = reign(&group);
    for path in ["/v1/resign", "/v1/transfer?to=1"] {
        let answer = group.doors[0].request(&format!("POST {path}"), &[], "");
        assert_eq!(answer.code, 403, "{answer:?}");
        let why = answer.error();
        assert!(why.contains("http-token") && why.contains("unix:PATH"), "{why}");
    }
    assert_eq!(reign(&group), before);
}

#[test]
fn with_the_token_leadership_is_handed_over_and_without_it_not() {
    let folder = Folder::new("http-token-file");
    let file = folder.file("token");
    std::fs::write(&file, format!("{TOKEN}\n")).expect("there is room");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).expect("it is ours");
    let group = Group::start("token", 3, &["--http-token", &file.display().to_string()]);
    let (leader, leads, follows) = group.roles();
    let right = format!("Authorization: Bearer {TOKEN}");
    let right = right.as_str();
    let wrong = format!("Authorization: Bearer {TOKEN}x");
    let basic = format!("Authorization: Basic {TOKEN}");
    for header in [wrong.as_str(), &basic, "X-Token: x", "Authorization: Bearer"] {
        let answer = leads.request("POST /v1/resign", &[header], "");
        assert_eq!((answer.code, answer.header("WWW-Authenticate")), (401, Some("Bearer")));
        assert!(!answer.error().contains(TOKEN));
    }
    assert_eq!(group.roles().0, leader, "nothing has changed");
    for (line, body) in [
        ("POST /v1/transfer", "{\"to\":"),
        ("POST /v1/transfer", "{\"to\":\"x\"}"),
        ("POST /v1/transfer", "{\"to\":1,\"from\":2}"),
        ("POST /v1/transfer", ""),
        ("POST /v1/transfer?to=x", ""),
        ("POST /v1/transfer?to=1", "{\"to\":2}"),
        ("POST /v1/resign", "now"),
    ] {
        let answer = leads.request(line, &[right], body);
        assert_eq!(answer.code, 400, "{line} {body}: {answer:?}");
        answer.error();
    }
    let elsewhere = follows.request("POST /v1/resign", &[right], "");
    assert_eq!(elsewhere.code, 409, "{elsewhere:?}");
    assert!(elsewhere.error().contains(&format!("it follows {leader}")), "{elsewhere:?}");
    let next = leader % 3 + 1;
    let answer = leads.request("POST /v1/transfer", &[right], &format!("{{\"to\":{next}}}"));
    assert_eq!((answer.code, answer.body.as_str()), (200, "{\"done\":true}\n"), "{answer:?}");
    eventually("the next leader", || (group.roles().0 == next).then_some(()));
    let (_, leads, _) = group.roles();
    assert_eq!(leads.request("POST /v1/resign", &[right], "{}").code, 200);
    eventually("another leader", || (group.roles().0 != next).then_some(()));
}

#[test]
fn whoever_may_open_the_unix_socket_needs_no_token() {
    let folder = Folder::new("http-unix");
    let path = folder.file("web.http").display().to_string();
    let door = Door::Unix(path.clone());
    let mut member = Member::start(&folder, &peers(1), 1, &["--http", &format!("unix:{path}")]);
    member.becomes("leader");
    let mode = std::fs::metadata(&path).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o7777, 0o600);
    assert_eq!(door.get("/leader").code, 200);
    assert_eq!(door.request("POST /v1/resign", &[], "").code, 200);
    member.line(|line| line.contains("looks for a leader"));
    assert_eq!(member.end().0, Some(0));
    assert!(!std::path::Path::new(&path).exists(), "it is removed at the end");
}

/// Blanks around what a body says do not count: without the bound on a body, these would resign.
#[test]
fn a_body_that_is_too_large_is_refused_and_changes_nothing() {
    let folder = Folder::new("http-large-body");
    let path = folder.file("web.http").display().to_string();
    let door = Door::Unix(path.clone());
    let member = Member::start(&folder, &peers(1), 1, &["--http", &format!("unix:{path}")]);
    let before = member.becomes("leader")["changes"].clone();
    let blanks = " ".repeat(5_000);
    // In five pieces, whose sum nobody was told before.
    let pieces = format!("3e8\r\n{}\r\n", " ".repeat(1_000)).repeat(5) + "0\r\n\r\n";
    for line in ["POST /v1/resign", "POST /v1/transfer?to=1"] {
        let whole = door.request(line, &[], &blanks);
        let head = "Host: test\r\nConnection: close\r\nTransfer-Encoding: chunked";
        let chunked = door.send(format!("{line} HTTP/1.1\r\n{head}\r\n\r\n{pieces}").as_bytes());
        for answer in [whole, Answer::of(&chunked)] {
            assert_eq!(answer.code, 413, "{line}: {answer:?}");
            assert!(answer.error().contains("4096 bytes"), "{line}: {answer:?}");
        }
    }
    assert_eq!(door.get("/leader").code, 200);
    assert_eq!(member.becomes("leader")["changes"], before, "the same reign");
    // As many as there may be are read, and taken for nothing.
    let blanks = " ".repeat(4_096);
    assert_eq!(door.request("POST /v1/resign", &[], &blanks).code, 200);
}
