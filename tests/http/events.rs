//! Streams of events: the present state, every change, and what was missed.

use super::client::{Event, Group};
use super::member::eventually;
use serde_json::json;
use std::collections::BTreeSet;

#[test]
fn a_stream_begins_with_the_state_and_has_every_change_with_an_id() {
    let group = Group::start("events", 3, &[]);
    let (leader, leads, _) = group.roles();
    let mut events = leads.events(None);
    assert_eq!(events.line().as_deref(), Some("HTTP/1.1 200 OK"));
    let first = events.next().expect("it begins at once");
    assert_eq!((first.kind.as_str(), &first.data["role"]), ("state", &json!("leader")));
    assert!(first.data["until"].as_u64() > first.data["t"].as_u64(), "{first:?}");
    assert!(group.members[leader as usize - 1].ask("resign").status.success());
    let mut seen: Vec<Event> = Vec::new();
    while seen.last().is_none_or(|last| last.data["role"] != "follower") {
        seen.push(events.find(|event| event.kind == "change"));
    }
    let ids: BTreeSet<&String> = seen.iter().map(|event| &event.id).collect();
    assert_eq!(ids.len(), seen.len(), "each has its own: {seen:?}");
    // Whoever comes back is sent what came after the last id that it has seen.
    for (at, last) in std::iter::once(&first).chain(&seen[..seen.len() - 1]).enumerate() {
        let mut again = leads.events(Some(&last.id));
        for event in &seen[at..] {
            let told = again.next().expect("it is in the ring");
            assert_eq!((told.id, told.kind), (event.id.clone(), event.kind.clone()));
            assert_eq!(told.data, event.data);
        }
    }
}

#[test]
fn an_id_that_is_not_known_is_told_as_missed_and_the_state_follows() {
    let group = Group::start("missed", 1, &[]);
    group.members[0].becomes("leader");
    for unknown in ["1-1", "nonsense", "ffffffffffffffff-99999999999999999999"] {
        let mut events = group.doors[0].events(Some(unknown));
        let kinds = [events.next(), events.next()].map(|event| event.expect("two").kind);
        assert_eq!(kinds, ["missed", "state"], "{unknown}");
    }
}

#[test]
fn a_silent_stream_shows_that_it_is_there_and_ends_with_its_member() {
    let mut group = Group::start("silent", 1, &[]);
    group.members[0].becomes("leader");
    let mut events = group.doors[0].events(None);
    events.find(|event| event.kind == "state");
    let mut comments = 0;
    while comments < 2 {
        let line = events.line().expect("the stream goes on");
        comments += usize::from(line.starts_with(": "));
    }
    assert_eq!(group.members[0].end().0, Some(0));
    eventually("the end of the stream", || events.line().is_none().then_some(()));
}
