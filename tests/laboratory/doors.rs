//! Who may ask: tokens, hosts, origins and sizes.

use super::asking::{Lab, ran};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;

/// A sweep with a key that nobody knows.
const SWEEP: &str = "{\"protocol\":\"le-s\",\"over\":\"loss\",\"values\":[0],\"zzz\":1}";

#[test]
fn nothing_is_answered_without_the_token_but_the_page() {
    let lab = Lab::start();
    assert_eq!(lab.token.len(), 32, "{}", lab.token);
    let host = format!("Host: {}", lab.host);
    let with = |token: &str| vec![host.clone(), format!("Authorization: Bearer {token}")];
    let run = json!({ "protocol": "le-s" }).to_string();
    let wrong = format!("{}x", &lab.token[1..]);
    for headers in [vec![host.clone()], with(""), with(&wrong), with("é")] {
        for (line, body) in [
            ("GET /api/protocols", ""),
            ("GET /api/live", ""),
            ("POST /api/run", &run),
            ("POST /api/demo/start", ""),
            ("POST /api/demo/1/kill", ""),
            ("POST /api/live/resign", "{\"member\":\"web/1\"}"),
            ("GET /api/nonsense", ""),
        ] {
            let refused = lab.request(line, &headers, body.as_bytes());
            assert!(refused.error(401).contains("Bearer TOKEN"), "{line}: {refused:?}");
        }
    }
    let script = lab.request("GET /api.js", std::slice::from_ref(&host), b"");
    assert_eq!(script.code, 200, "a file of the page, whatever its name begins with");
    let page = lab.request("GET /", &[host], b"");
    assert_eq!(page.code, 200);
    assert!(page.head.contains("content-type: text/html"), "{page:?}");
    assert!(page.head.contains("script-src 'self';"), "{page:?}");
    assert!(!page.head.contains("script-src 'self' 'unsafe"), "{page:?}");
    assert!(page.head.contains("x-content-type-options: nosniff"), "{page:?}");
}

#[test]
fn a_foreign_origin_or_host_is_turned_away_even_with_the_token() {
    let lab = Lab::start();
    let token = format!("Authorization: Bearer {}", lab.token);
    let (_, port) = lab.host.rsplit_once(':').unwrap();
    let ask = |headers: &[&str]| {
        let mut all = vec![token.clone()];
        all.extend(headers.iter().map(|header| (*header).to_owned()));
        lab.request("GET /api/about", &all, b"")
    };
    let host = format!("Host: {}", lab.host);
    for origin in ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1"] {
        let refused = ask(&[&host, &format!("Origin: {origin}")]);
        assert!(refused.error(403).contains("may not ask"), "{refused:?}");
    }
    let refused = ask(&[&host, "Sec-Fetch-Site: cross-site"]);
    assert!(refused.error(403).contains("may not ask"), "{refused:?}");
    for other in ["evil.example", &format!("evil.example:{port}"), "127.0.0.1:1", ""] {
        let refused = ask(&[&format!("Host: {other}")]);
        assert!(refused.error(403).contains("is not ours"), "{refused:?}");
    }
    let own = format!("Origin: http://{}", lab.host);
    for headers in [vec![&*host], vec![&*host, &*own], vec![&*format!("Host: localhost:{port}")]] {
        assert_eq!(ask(&headers).code, 200, "{headers:?}");
    }
}

#[test]
fn requests_that_are_too_large_or_not_understood_are_refused_in_one_line() {
    let lab = Lab::start();
    let large = vec![b' '; (1 << 20) + 1];
    let refused = lab.request("POST /api/run", &lab.own(), &large);
    assert!(refused.error(413).contains("at most 1048576 bytes"), "{refused:?}");
    // By its length alone: nothing of it is sent.
    let refused = lab.announce("POST /api/judge", 70_000_000);
    assert!(refused.error(413).contains("at most 67108864 bytes"), "{refused:?}");
    // Two lengths are none.
    let headers = [lab.own(), vec!["Content-Length: 70000000".to_owned()]].concat();
    assert_eq!(lab.request("POST /api/judge", &headers, b"x").code, 400);
    for (line, body, code, why) in [
        ("GET /api/nonsense", "", 404, "there is no /api/nonsense"),
        ("GET /../Cargo.toml", "", 404, "there is no"),
        ("GET /api/run", "", 405, "GET is not for /api/run"),
        ("DELETE /", "", 405, "DELETE is not for /"),
        ("POST /api/run", "{", 400, "the body is not as it should be"),
        ("POST /api/run", "7", 400, "the body is not as it should be"),
        ("POST /api/run", "[]", 422, "say which run"),
        ("POST /api/run", "{\"zzz\":1}", 400, "unknown field `zzz`"),
        ("POST /api/run", "{\"z\\nz\":1}", 400, "unknown field `z\\nz`"),
        ("POST /api/run", "{}", 422, "say which run"),
        ("POST /api/judge", "", 422, "no records"),
        ("GET /api/lessons/zzz", "", 404, "no lesson is called 'zzz'"),
        ("POST /api/figures/zzz", "{}", 404, "no figure is called 'zzz'"),
        ("POST /api/demo/1/kill", "", 409, "the demonstration does not run"),
        ("POST /api/demo/x/kill", "", 409, "'x' is no member"),
        ("POST /api/live/resign", "{\"member\":\"web/1\"}", 409, "no member 'web/1' is here"),
        ("POST /api/live/resign", "{}", 400, "missing field `member`"),
        ("POST /api/sweep", "{\"protocol\":\"le-s\"}", 400, "missing field `over`"),
        ("POST /api/sweep", SWEEP, 400, "unknown field `zzz`"),
    ] {
        let refused = lab.request(line, &lab.own(), body.as_bytes());
        assert!(refused.error(code).contains(why), "{line}: {refused:?}");
    }
}

#[test]
fn beyond_this_machine_it_answers_only_with_a_token_from_a_file() {
    let output = ran("lab --no-open --listen 0.0.0.0");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("--listen 0.0.0.0") && errors.contains("--token-file"), "{errors}");
    let path = std::env::temp_dir().join(format!("bw-lab-token-{}", std::process::id()));
    std::fs::write(&path, "0123456789abcdef0123\n").unwrap();
    let mode = |mode| {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(0o644);
    let arguments = format!("--token-file {}", path.display());
    let output = ran(&format!("lab --no-open {arguments}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(78), "{errors}");
    assert!(errors.contains("has mode 0644"), "{errors}");
    mode(0o600);
    let mut lab = Lab::with(&arguments);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(lab.token, "", "a token of a file is not printed");
    assert_eq!(lab.get("/api/about").code, 401);
    "0123456789abcdef0123".clone_into(&mut lab.token);
    assert_eq!(lab.get("/api/about").code, 200);
}

#[test]
fn the_usual_port_is_always_the_same_and_another_one_serves_if_it_is_taken() {
    let labs = [Lab::at(""), Lab::at("")];
    for lab in &labs {
        assert_eq!(lab.get("/api/about").code, 200, "{}", lab.host);
    }
    assert_ne!(labs[0].host, labs[1].host);
    let usual = std::net::TcpListener::bind("127.0.0.1:7490");
    assert!(usual.is_err(), "one of them, or a stranger, has the usual port");
    drop(usual);
    let output = ran("lab --no-open --port 7490");
    assert_eq!(output.status.code(), Some(1), "a port that was chosen is not replaced");
}

#[test]
fn a_name_that_was_given_is_ours_and_no_other() {
    let lab = Lab::with("--host lab.example --host other.example");
    let (_, port) = lab.host.rsplit_once(':').unwrap();
    let token = format!("Authorization: Bearer {}", lab.token);
    let ask = |name: &str| {
        let host = format!("{name}:{port}");
        let headers = [token.clone(), format!("Host: {host}"), format!("Origin: http://{host}")];
        lab.request("GET /api/about", &headers, b"")
    };
    for name in ["lab.example", "LAB.example", "other.example", "localhost", "127.0.0.1"] {
        assert_eq!(ask(name).code, 200, "{name}");
    }
    for name in ["example", "x.lab.example", "lab.example.evil", "evil.example"] {
        assert!(ask(name).error(403).contains("is not ours"), "{name}");
    }
    let headers =
        [token.clone(), format!("Host: lab.example:{port}"), "Origin: http://evil.example".into()];
    let refused = lab.request("GET /api/about", &headers, b"");
    assert!(refused.error(403).contains("may not ask"), "{refused:?}");
}

#[test]
fn few_recorded_traces_are_held_at_a_time_and_runs_do_not_wait_for_them() {
    let lab = Lab::start();
    let held = [(); 2].map(|()| lab.begin("POST /api/judge", 1000));
    let body = serde_json::json!({ "protocol": "le-s", "flags": {} });
    assert_eq!(lab.post("/api/run", &body).said("end").len(), 1);
    let refused = lab.announce("POST /api/judge", 1000).error(503);
    assert!(refused.starts_with("2 such requests are worked on already"), "{refused}");
    drop(held);
}
