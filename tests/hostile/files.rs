//! Malformed keys, settings, states, traces and questions.

use crate::lab::Folder;
use crate::lab::group::NAME;
use crate::lab::member::BELLWETHER;
use crate::lab::shell;
use crate::scene::Scene;
use crate::stage;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Bytes that are none of what is expected.
fn junk() -> Vec<(&'static str, Vec<u8>)> {
    let key = b"bwk1-";
    vec![
        ("nothing", Vec::new()),
        ("zeros", vec![0; 512]),
        ("no text", vec![0xff, 0xfe, 0x80, 0x01]),
        ("a line", b"hello\n".to_vec()),
        ("half a key", [&key[..], &[b'a'; 40]].concat()),
        ("a key too long", [&key[..], &[b'a'; 65]].concat()),
        ("open brackets", b"[".repeat(5000)),
        ("open braces", b"{\"a\":".repeat(2000)),
        ("many lines", b"x = 1\n".repeat(2000)),
        ("too much", vec![b'a'; 3 << 20]),
    ]
}

/// Runs a command that must refuse its input: with one line, and without a panic.
fn refuses(words: &[&str], codes: &[i32], what: &str) -> String {
    let all: Vec<&str> = [BELLWETHER].into_iter().chain(words.iter().copied()).collect();
    let output = shell::run(&all, "").unwrap_or_else(|error| panic!("{error}"));
    let text = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    let code = output.status.code();
    assert!(code.is_some_and(|code| codes.contains(&code)), "{what}: {code:?}: {text}");
    assert!(!text.contains("panicked") && text.lines().count() <= 1, "{what}: {text}");
    assert!(text.len() < 1000, "{what}: an error is short: {text}");
    text
}

#[test]
fn malformed_keys_settings_and_traces_are_refused_in_one_line() {
    let folder = Folder::new();
    let dir = folder.file("state");
    let file = folder.file("input.toml");
    for (what, bytes) in junk() {
        std::fs::write(&file, &bytes).expect("the folder can be written");
        let private = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(&file, private).expect("it is ours");
        let run = ["run", NAME, "--id", "1", "--peers", "1=127.0.0.1:7411", "--dir", &dir];
        let text = refuses(&[&run[..], &["--key", &file]].concat(), &[78], what);
        assert!(!text.contains("aaaaaaaa"), "{what}: no part of a key is shown: {text}");
        if what != "nothing" {
            refuses(&[&run[..], &["--insecure", "--config", &file]].concat(), &[78], what);
        }
        refuses(&["check", "--trace", &file], &[1, 78], what);
        refuses(&["replay", &file], &[1, 78], what);
        refuses(&["sim", &file], &[1, 78], what);
    }
}

#[test]
fn a_key_that_others_may_read_is_refused() {
    let folder = Folder::new();
    let (key, dir) = (folder.file("key"), folder.file("state"));
    shell::must(&[BELLWETHER, "keygen", &key], "");
    let run = ["run", NAME, "--id", "1", "--peers", "1=127.0.0.1:7411", "--dir", &dir];
    for mode in [0o640, 0o604, 0o660, 0o620, 0o601] {
        let mode_of = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(&key, mode_of).expect("it is ours");
        let text = refuses(&[&run[..], &["--key", &key]].concat(), &[78], "an open key");
        assert!(text.contains(&format!("has mode {mode:04o}")), "{text}");
    }
}

#[test]
fn malformed_questions_are_answered_in_one_line_and_a_malformed_state_counts_as_lost() {
    let _stage = stage();
    let mut scene = Scene::whole();
    let folder = |id: u64| scene.group.folder().file(&format!("state-{id}"));
    let follower = scene.follower;
    let (socket, state) = (
        format!("{}/{NAME}.{follower}.sock", folder(follower)),
        format!("{}/{NAME}.{follower}.state", folder(follower)),
    );
    let before = (scene.see(1), scene.see(2));
    for (what, bytes) in junk() {
        let mut client = UnixStream::connect(&socket).expect("it listens");
        client.set_read_timeout(Some(Duration::from_secs(2))).expect("a socket can be set");
        client.set_write_timeout(Some(Duration::from_secs(2))).expect("a socket can be set");
        // It hangs up on a question that is too long.
        let _ = client.write_all(&bytes).and_then(|()| client.write_all(b"\n"));
        let _ = client.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = client.read_to_end(&mut answer);
        let lines = answer.iter().filter(|byte| **byte == b'\n').count();
        assert!(lines <= 1 && answer.len() < 1000, "{what}: {}", String::from_utf8_lossy(&answer));
    }
    assert_eq!((scene.see(1), scene.see(2)), before, "nothing changed");

    for (what, bytes) in junk() {
        scene.restart_follower(|| {
            std::fs::write(&state, &bytes).expect("the folder can be written");
        });
        let text = scene.group.ask("status", follower, &[]).expect("it answers");
        assert!(text.contains("its state file is not used"), "{what}: {text}");
    }
}
