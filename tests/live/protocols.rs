//! Every protocol of the table, live: the same endpoint over real sockets keeps the promise it is
//! judged by.

use crate::lab::clock::sleep;
use crate::lab::group::{Ground, Group, Shape};
use crate::stage;
use bellwether::core::Duration;
use bellwether::protocols::choice::{Choice, Entry, PROTOCOLS, Promise};

/// What one of three members tells of itself.
fn status(group: &Group, id: u64) -> serde_json::Value {
    let text = group.ask("status", id, &["--format", "json"]);
    let text = text.unwrap_or_else(|error| panic!("{error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Whether its elections begin only when somebody calls one.
fn is_on_demand(entry: &Entry) -> bool {
    Choice::try_from(entry.default_config()).is_ok_and(|choice| choice.profile().on_demand)
}

fn keeps_its_promise(entry: &Entry, group: &mut Group) {
    let name = entry.name;
    match entry.promise() {
        Promise::NeverTwo
        | Promise::OnePerPartition
        | Promise::EventuallyOne
        | Promise::ProbablyOne => {
            let leader = group.settled(&group.ids());
            println!("{name}: {leader} leads");
        }
        Promise::ElectsNobody => {
            let roles = group.ids().into_iter().map(|id| status(group, id)["role"].clone());
            let roles: Vec<_> = roles.collect();
            assert!(roles.iter().all(|role| *role != "leader"), "{name}: {roles:?}");
        }
        Promise::Nothing => {}
    }
    let mut received = 0;
    for id in group.ids() {
        let status = status(group, id);
        assert_eq!(status["protocol"], name);
        let traffic = &status["traffic"];
        received += traffic["received"].as_u64().expect("what is received is counted");
        let refused = traffic["refused"].as_object().expect("refusals are counted by reason");
        assert!(refused.values().all(|count| *count == 0), "{name}: {traffic}");
    }
    assert!(received > 0, "{name}: nobody heard anybody");
}

#[test]
fn every_protocol_runs_live() {
    let _stage = stage();
    // All at once: most of them wait for seconds.
    let mut groups: Vec<(&Entry, Group)> = PROTOCOLS
        .iter()
        .map(|entry| {
            let ground = Ground::Loopback;
            let shape = Shape { protocol: entry.name, ground, ..Shape::lan(3) };
            (entry, Group::started(shape))
        })
        .collect();
    // As long as the slowest takes to settle, and then as long again to be watched.
    sleep(Duration::from_secs(5));
    for (entry, group) in &mut groups {
        keeps_its_promise(entry, group);
    }
    for (entry, group) in groups {
        if is_on_demand(entry) {
            // That all agree was seen; by their κ, a minute or so, it need not have come so soon.
            group.judge();
        } else {
            group.acquit();
        }
    }
}
