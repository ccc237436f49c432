//! Clients that are too many, too slow or too large: bounded, and the leader goes on leading.

use super::client::{Connection, Door, Events, Group};
use super::member::eventually;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

const STREAMS: usize = 1_000;

/// Lets this test have so many connections. Members that were started before have what they had.
fn permit_many() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    let wanted = maximum.map_or(4_096, |most| most.min(4_096));
    let raised = Rlimit { current: Some(wanted), maximum };
    setrlimit(Resource::Nofile, raised).expect("the limit may be raised");
}

/// The value of a metric of a member.
fn metric(door: &Door, name: &str) -> Option<f64> {
    let page = door.get_soon("/metrics").body;
    let line = page.lines().find(|line| line.starts_with(&format!("{name}{{")))?;
    line.rsplit(' ').next()?.parse().ok()
}

/// Resident memory of a process, in kilobytes.
fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

/// Clients that send the head of a request byte by byte, until the test ends.
fn crawl(door: &Door, over: &AtomicBool) {
    let mut slow: Vec<Box<dyn Connection>> = Vec::new();
    while !over.load(Ordering::Relaxed) {
        slow.retain_mut(|stream| stream.write_all(b"X").is_ok());
        while slow.len() < 200 {
            let Ok(mut stream) = door.connect() else { break };
            let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: ");
            slow.push(stream);
        }
        thread::sleep(Duration::from_millis(200));
    }
}

/// Clients that ask and never read, and others that send more than anybody reads.
fn misbehave(door: &Door, over: &AtomicBool) {
    while !over.load(Ordering::Relaxed) {
        let mut deaf: Vec<Box<dyn Connection>> = Vec::new();
        for _ in 0..20 {
            let Ok(mut stream) = door.connect() else { continue };
            let _ = stream.write_all(&b"GET /v1/status HTTP/1.1\r\nHost: x\r\n\r\n".repeat(50));
            deaf.push(stream);
        }
        let large = format!("GET / HTTP/1.1\r\nHost: x\r\nX: {}\r\n\r\n", "x".repeat(1 << 20));
        assert!(!door.send(large.as_bytes()).contains(" 200 "), "a head of a megabyte");
        thread::sleep(Duration::from_millis(100));
    }
}

/// Ends the clients, also if the test fails.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_thousand_streams_and_bad_clients_do_not_cost_the_leader_its_lease() {
    let group = Group::start("many", 3, &[]);
    let (leader, leads, _) = group.roles();
    permit_many();
    let terms =
        |door: &Door| (metric(door, "bellwether_term"), metric(door, "bellwether_elections_total"));
    let before = terms(leads);
    assert!(before.0.is_some() && before.1.is_some(), "{before:?}");
    let pid = group.members[leader as usize - 1].pid();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let ends = Over(&over);
        scope.spawn(|| crawl(leads, &over));
        scope.spawn(|| misbehave(leads, &over));
        let mut streams: Vec<Events> = Vec::new();
        while streams.len() < STREAMS {
            // A connection that has not asked yet may give way to those that crawl.
            let mut events = leads.events(None);
            if events.line().is_some_and(|line| line.contains(" 200 ")) {
                events.find(|event| event.kind == "state");
                streams.push(events);
            }
        }
        assert_eq!(metric(leads, "bellwether_http_streams"), Some(STREAMS as f64));
        let full = leads.get_soon("/v1/events");
        assert_eq!((full.code, full.header("Retry-After")), (503, Some("5")), "one too many");
        full.error();
        for _ in 0..20 {
            assert_eq!(leads.get_soon("/leader").code, 200);
            thread::sleep(Duration::from_millis(100));
        }
        drop(ends);
        assert!(resident(pid) < 300_000, "{} kB", resident(pid));
        assert_eq!(terms(leads), before, "the same reign");
        // Each of them hears of the next change.
        assert!(group.members[leader as usize - 1].ask("resign").status.success());
        for events in &mut streams {
            events.find(|event| event.kind == "change" && event.data["role"] != "leader");
        }
    });
    eventually("the end of the streams", || {
        (metric(leads, "bellwether_http_streams") == Some(0.0)).then_some(())
    });
    assert!(metric(leads, "bellwether_http_closed_total") > Some(0.0), "slow ones gave way");
}

#[test]
fn requests_that_are_too_large_or_never_end_are_refused() {
    let group = Group::start("large", 1, &[]);
    group.members[0].becomes("leader");
    let door = &group.doors[0];
    let head = "Host: x\r\nConnection: close\r\n";
    let long = format!("GET / HTTP/1.1\r\n{head}X: {}\r\n\r\n", "x".repeat(20_000));
    let many = format!("GET / HTTP/1.1\r\n{head}{}\r\n", "X: y\r\n".repeat(100));
    for request in [long, many] {
        let said = door.send(request.as_bytes());
        assert!(said.starts_with("HTTP/1.1 431"), "{said}");
    }
    let path = format!("GET /{} HTTP/1.1\r\n{head}\r\n", "x".repeat(15_000));
    assert!(door.send(path.as_bytes()).starts_with("HTTP/1.1 4"), "a long path");
    // The body of a request that changes something, at the Unix socket: see `changing`.
    let mut slow = door.connect().expect("it listens");
    slow.write_all(b"GET /leader HTTP/1.1\r\nHost:").expect("it is read");
    let mut rest = Vec::new();
    let ended = slow.read_to_end(&mut rest); // within the time limit of a head
    assert!(ended.is_ok(), "a head that never ends: {ended:?}");
    assert_eq!(door.get("/leader").code, 200);
}
