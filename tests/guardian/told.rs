//! A killed leader's will waits for what hooks and watchers were told: nobody else leads before the
//! end of the lease that they know. `will.rs` has printed changes and answers.
//!
//! Whatever was told before is over when the hook or the watcher is told, so the will waits for
//! that alone. Leases of two seconds: a busy machine kills the member long before they end.

use super::member::{eventually, now};
use super::will::{BELLWETHER, PATIENCE, Scene};
use bellwether_core::{Duration, Event, Fact, Instant, Record};
use bellwether_net::control;
use bellwether_net::guardian::WithoutCommand;
use bellwether_net::{Election, Keyring};
use bellwether_protocols::choice::Config;
use bellwether_protocols::local_leader;
use std::io::{Read, Write};
use std::net::UdpSocket;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs, thread};

const LEASE: [&str; 8] = ["--preset", "wan", "--lock", "2s", "--period", "2.2s", "--expires", "4s"];

/// Called twice at each change: at MASTER the first waits for the test, the second says what it was
/// told.
const HOOK: &str = "#!/bin/sh
[ \"$3\" = MASTER ] || exit 0
[ ! -e $PIDS.go ] || { echo $BELLWETHER_UNTIL_MS > $PIDS.new; mv $PIDS.new $PIDS.told; exit; }
until [ -e $PIDS.go ]; do sleep .01; done
";

fn wait_until(end: Instant) {
    while now() < end {
        thread::sleep(std::time::Duration::from_millis(10));
    }
}

/// Kills the member, and sees that its will waits for what was told.
fn waits_for(mut scene: Scene, told: Instant) {
    let killed = scene.kill();
    assert!(killed < told, "it was killed {} too late to see anything", killed.since(told));
    let (_, at, _) = scene.will(PATIENCE).expect("a will");
    assert!(at >= told, "{} before what was told", told.since(at));
}

/// What a watcher is told first.
fn watched(scene: &Scene) -> Instant {
    let mut command = Command::new(BELLWETHER);
    command.args(["watch", "will", "--count", "1", "--format", "json", "--dir"]);
    let seen = command.arg(scene.folder.join("dir")).output().expect("it starts");
    let said: serde_json::Value = serde_json::from_slice(&seen.stdout).expect("JSON");
    assert_eq!(said["role"], "leader", "{said}");
    Instant::from_nanos(said["until"].as_u64().expect("it has a lease"))
}

/// What `status` answers.
pub(crate) fn answered(scene: &Scene) -> Instant {
    let (asked, words) = (now(), ["status", "will", "--format", "json", "--dir"]);
    let dir = scene.folder.join("dir");
    let answer = Command::new(BELLWETHER).args(words).arg(dir).output().expect("it starts");
    let said: serde_json::Value = serde_json::from_slice(&answer.stdout).expect("JSON");
    let remaining = said["remaining_ms"].as_f64().unwrap_or_else(|| panic!("it leads: {said}"));
    asked + Duration::from_nanos((remaining * 1e6) as u64)
}

#[test]
fn a_hook_that_was_told_how_long_it_leads_is_waited_for() {
    use std::os::unix::fs::PermissionsExt;
    let hook = env::temp_dir().join(format!("bellwether-hook-{}", std::process::id()));
    fs::write(&hook, HOOK).expect("there is room");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o700)).expect("it is ours");
    let path = hook.display().to_string();
    let hooks = ["--on-change", &path, "--on-change", &path];
    let mut scene = Scene::start(&[&LEASE[..], &hooks].concat(), None);
    let printed = scene.leads();
    wait_until(printed);
    let file = |name: &str| scene.folder.join(name);
    fs::write(file("pids.go"), "").expect("there is room");
    eventually("the second hook", || file("pids.told").exists());
    let told = fs::read_to_string(file("pids.told")).expect("it is there");
    let told = Instant::from_nanos(told.trim().parse::<u64>().expect("it is a number") * 1_000_000);
    assert!(told > printed, "it is told the lease of that moment");
    fs::remove_file(&hook).expect("it is ours");
    waits_for(scene, told);
}

#[test]
fn a_watcher_that_was_told_how_long_it_leads_is_waited_for() {
    let mut scene = Scene::start(&LEASE, None);
    wait_until(scene.leads());
    let told = watched(&scene);
    waits_for(scene, told);
}

/// What a reader of the member's past is told.
fn remembered(scene: &Scene) -> Instant {
    let found = control::find(&scene.folder.join("dir"), Some("will"), Some(1));
    let mut client = found.expect("it listens");
    let mut latest = Instant::ZERO;
    let mut look = |record: Record| {
        if let Event::Leadership { until: Some(until), .. } | Event::Fact(Fact::Held { until }) =
            record.event
        {
            latest = latest.max(until);
        }
    };
    client.past(None, &mut look).expect("it answers");
    latest
}

#[test]
fn whoever_reads_the_past_of_a_member_is_waited_for() {
    let mut scene = Scene::start(&LEASE, None);
    wait_until(scene.leads());
    let told = remembered(&scene);
    waits_for(scene, told);
}

#[test]
fn whoever_reads_in_the_leader_file_how_long_it_leads_is_waited_for() {
    let file = Path::new("/dev/shm").join(format!("bellwether-told-{}", std::process::id()));
    let path = file.display().to_string();
    let mut scene = Scene::start(&[&LEASE[..], &["--leader-file", &path]].concat(), None);
    wait_until(scene.leads());
    let text = fs::read_to_string(&file).expect("it leads");
    let told = Instant::from_nanos(number_after(&text, "until_ms=") as u64 * 1_000_000);
    waits_for(scene, told);
    assert!(!file.exists(), "the guardian has removed it");
}

/// What HTTP answers at this path of the socket: its head and what is there of its body.
fn asked_by_http(socket: &Path, path: &str) -> String {
    let mut stream = UnixStream::connect(socket).expect("it listens");
    let asks = format!("GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n");
    stream.write_all(asks.as_bytes()).expect("it is read");
    let (mut answer, mut part) = (Vec::new(), [0; 4096]);
    // Of a stream of events the first.
    while !(answer.ends_with(b"\n\n") || answer.ends_with(b"\n\n\r\n")) {
        match stream.read(&mut part).expect("it answers") {
            0 => break,
            length => answer.extend_from_slice(&part[..length]),
        }
    }
    String::from_utf8(answer).expect("it is text")
}

/// The number after these words.
fn number_after(text: &str, words: &str) -> f64 {
    let (_, rest) = text.split_once(words).unwrap_or_else(|| panic!("no {words}: {text}"));
    let end = rest.find(|it: char| !it.is_ascii_digit() && it != '.').unwrap_or(rest.len());
    rest[..end].parse().unwrap_or_else(|_| panic!("no number after {words}: {text}"))
}

/// Reads the end of the lease out of an answer to what was asked then.
type Told<'a> = &'a dyn Fn(&str, Instant) -> Instant;

#[test]
fn whoever_asks_by_http_how_long_it_leads_is_waited_for() {
    let millis = |number: f64| Duration::from_nanos((number * 1e6) as u64);
    let told: [(&str, Told<'_>); 5] = [
        ("/leader", &|text, asked| asked + millis(number_after(text, "bellwether-remaining-ms: "))),
        ("/v1/status", &|text, asked| asked + millis(number_after(text, "\"remaining_ms\":"))),
        ("/v1/events", &|text, _| Instant::from_nanos(number_after(text, "\"until\":") as u64)),
        ("/metrics", &|text, asked| {
            let (_, left) = text.split_once("\nbellwether_lease_remaining_seconds{").expect("one");
            asked + millis(1e3 * number_after(left, "} "))
        }),
        ("/v1/trace", &|text, _| {
            let ends = text.split("\"until\":").skip(1);
            let ends = ends.map(|rest| number_after(&format!("x{rest}"), "x") as u64);
            Instant::from_nanos(ends.max().expect("it leads"))
        }),
    ];
    for (at, (path, until)) in told.into_iter().enumerate() {
        let socket = env::temp_dir().join(format!("bellwether-http-{}-{at}", std::process::id()));
        let place = format!("unix:{}", socket.display());
        let mut scene = Scene::start(&[&LEASE[..], &["--http", &place]].concat(), None);
        wait_until(scene.leads());
        let asked = now();
        let answer = asked_by_http(&socket, path);
        assert!(answer.starts_with("HTTP/1.1 200 "), "{path}: {answer}");
        waits_for(scene, until(&answer, asked));
        fs::remove_file(&socket).expect("a member that is killed leaves it");
    }
}

/// A program that embeds a member which leads; it tells nobody until when.
fn embedded() -> Scene {
    let ([place, other], folder) = Scene::ground();
    let this = env::current_exe().expect("this program is a file");
    let mut command = Command::new(this);
    command.args(["--exact", "told::embeds_a_member", "--ignored", "--nocapture"]);
    command.env("PEERS", format!("1={place},2={other}")).env("FOLDER", &folder);
    let other = UdpSocket::bind(other).expect("the address is ours");
    let silent = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let member = silent.spawn().expect("it starts");
    let mut scene = Scene::of(member, other, place, folder, Vec::new());
    scene.leads();
    scene
}

#[test]
fn whoever_asks_a_program_that_embeds_a_member_is_waited_for() {
    for tells in [watched, answered, remembered] {
        let scene = embedded();
        let told = tells(&scene);
        waits_for(scene, told);
    }
}

#[test]
#[ignore = "it is the program that embeds a member"]
fn embeds_a_member() {
    let (Ok(peers), Some(folder)) = (env::var("PEERS"), env::var_os("FOLDER")) else { return };
    let file = |name: &str| Path::new(&folder).join(name);
    let lock = Some(Duration::from_secs(2));
    let period = Some(Duration::from_millis(2_200));
    let expires = Some(Duration::from_secs(4));
    let (preset, tokens) = (local_leader::Preset::Wan, local_leader::Tokens::Volatile);
    let usual = local_leader::Config::default();
    let config = local_leader::Config { preset, tokens, lock, period, expires, ..usual };
    let mut member = Election::builder("will")
        .peers(peers.parse().expect("a list"))
        .id(1)
        .voters([1])
        .keyring(Keyring::read(&file("key")).expect("it was made"))
        .protocol("local-leader", Config::LocalLeader(config))
        .control_dir(file("dir"))
        .prepare()
        .expect("the settings are good");
    let will = member.last_will().expect("there is memory").expect("it has leases");
    let mut guard = Command::new(BELLWETHER);
    guard.arg("guard");
    let _guardian = WithoutCommand::spawn(guard, &will).expect("it starts");
    let election = member.join().expect("it joins");
    let _leading = election.wait(None).expect("it runs").expect("it leads");
    println!("\n{{\"role\":\"leader\",\"until\":0}}");
    thread::sleep(std::time::Duration::from_secs(30)); // whatever becomes of the test
}
