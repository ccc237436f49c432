//! Elections by multicast: fewer datagrams where the network has it, and the same elections where
//! it has not, has it for some, or loses it.

use crate::lab::clock::{now, sleep};
use crate::lab::group::{Ground, Group, PATIENCE, Shape};
use crate::lab::network::{Family, Network};
use crate::stage;
use bellwether::core::{Duration, Instant};
use bellwether::protocols::local_leader::Preset;
use serde_json::Value;

/// For how long datagrams are counted.
const COUNTED: Duration = Duration::from_secs(4);

/// A group that was started with a multicast address, and has a leader.
fn multicasting(shape: Shape) -> (Group, u64) {
    multicasting_with(shape, &[])
}

/// The same with these flags.
fn multicasting_with(shape: Shape, flags: &[&str]) -> (Group, u64) {
    let mut group = Group::new(shape);
    group.give_flags(flags);
    let family = if let Ground::Listed(family) = shape.ground { family } else { Family::V4 };
    group.give_flags(&["--multicast", &Network::multicast(family).to_string()]);
    group.start_all();
    let leader = group.settled(&group.ids());
    (group, leader)
}

fn status(group: &Group, id: u64) -> Value {
    let text = group.ask("status", id, &["--format", "json"]).expect("it answers");
    serde_json::from_str(&text).expect("it is JSON")
}

fn sent(group: &Group, id: u64, what: &str) -> u64 {
    status(group, id)["traffic"][what].as_u64().expect("it counts")
}

/// The members that hear this one's multicasts.
fn heard_by(group: &Group, id: u64) -> Vec<u64> {
    let told = status(group, id);
    let ids = told["multicast"]["heard_by"].as_array().expect("it has an address for that");
    ids.iter().filter_map(Value::as_u64).collect()
}

/// Waits until exactly these hear the multicasts of a member.
fn wait_until_heard(group: &Group, id: u64, by: &[u64]) {
    let end = now() + PATIENCE;
    while heard_by(group, id) != by {
        assert!(now() < end, "{:?} hear {id}, and not {by:?}", heard_by(group, id));
        sleep(Duration::from_millis(50));
    }
}

/// Waits until a member says that this one supports it.
fn wait_until_supported(group: &Group, id: u64, by: u64) {
    let end = now() + PATIENCE;
    while status(group, id)["members"][by as usize - 1]["supports"] != true {
        assert!(now() < end, "{by} does not support {id}: {}", status(group, id));
        sleep(Duration::from_millis(50));
    }
}

/// How many datagrams all members send in a second, by their own count and by the kernel's.
fn rates(group: &Group) -> (f64, f64) {
    let own = || group.ids().into_iter().map(|id| sent(group, id, "sent")).sum::<u64>();
    let kernel = || group.ids().into_iter().map(|id| group.network().datagrams(id)).sum::<u64>();
    let (begun, before) = (now(), (own(), kernel()));
    sleep(COUNTED);
    let after = (own(), kernel());
    let seconds = now().since(begun).as_nanos() as f64 / 1e9;
    let rate = |before: u64, after: u64| (after - before) as f64 / seconds;
    (rate(before.0, after.0), rate(before.1, after.1))
}

/// Nobody began to lead since then, and this one still does.
fn assert_leads(group: &mut Group, what: &str, leader: u64, since: Instant) {
    group.assert_unchanged(what, since);
    assert_eq!(group.settled(&group.ids()), leader, "{what}");
}

#[test]
fn a_group_that_multicasts_sends_fewer_datagrams_and_replaces_a_leader_in_time() {
    let _stage = stage();
    for (members, preset, family) in
        [(3, Preset::Lan, Family::V4), (5, Preset::Fast, Family::V4), (5, Preset::Lan, Family::V6)]
    {
        let shape = Shape { preset, ground: Ground::Listed(family), ..Shape::lan(members) };
        let plain = {
            let mut group = Group::started(shape);
            group.settled(&group.ids());
            sleep(Duration::from_secs(2));
            let rates = rates(&group);
            group.acquit();
            rates
        };
        let (mut group, leader) = multicasting(shape);
        wait_until_heard(&group, leader, &group.without(&[leader]));
        sleep(Duration::from_secs(1));
        let shared = rates(&group);
        println!("{members} members, {preset:?}, {family:?}: {plain:?} and {shared:?} datagrams/s");
        assert!(shared.0 < plain.0 * 0.85, "by their own count");
        assert!(shared.1 < plain.1 * 0.85, "by the kernel's");
        let leader = group.settled(&group.ids()); // a stall may have deposed the first
        let begun = group.crash(leader);
        let (next, took) = group.replaced(leader, begun);
        group.assert_within("failover", took, group.failover(0), begun);
        group.restart(leader);
        group.settled(&group.ids());
        wait_until_heard(&group, next, &group.without(&[next]));
        group.calm();
        group.acquit();
    }
}

#[test]
fn with_one_voter_to_spare_a_group_that_multicasts_sends_even_fewer() {
    let _stage = stage();
    let shape = Shape { preset: Preset::Fast, ..Shape::lan(5) };
    let mut seen = Vec::new();
    for flags in [&[][..], &["--spare", "1"]] {
        let (mut group, leader) = multicasting_with(shape, flags);
        wait_until_heard(&group, leader, &group.without(&[leader]));
        sleep(Duration::from_secs(1));
        seen.push(rates(&group).1);
        let leader = group.settled(&group.ids()); // a stall may have deposed the first
        let begun = group.crash(leader);
        let (_, took) = group.replaced(leader, begun);
        group.assert_within("failover", took, group.failover(0), begun);
        group.restart(leader);
        group.settled(&group.ids());
        group.calm();
        group.acquit();
    }
    println!("all answer: {:.1} datagrams/s, one to spare: {:.1}", seen[0], seen[1]);
    assert!(seen[1] < seen[0] * 0.9, "{seen:?}");
}

#[test]
fn a_member_that_hears_no_multicasts_takes_part_and_nothing_is_lost_when_nobody_does() {
    let _stage = stage();
    let (mut group, leader) = multicasting(Shape::lan(5));
    let others = group.without(&[leader]);
    wait_until_heard(&group, leader, &others);
    let begun = now();
    let (deaf, hearing) = (others[0], &others[1..]);
    group.network().deafen(deaf);
    wait_until_heard(&group, leader, hearing);
    // One way only: the deaf one is heard, and is told so directly.
    wait_until_heard(&group, deaf, &group.without(&[deaf]));
    let before = sent(&group, leader, "multicast");
    sleep(Duration::from_secs(1));
    assert!(sent(&group, leader, "multicast") > before + 10, "the others hear it");
    assert_leads(&mut group, "one member is deaf", leader, begun);
    wait_until_supported(&group, leader, deaf);
    // Nobody hears anything by multicast: one request is lost.
    let all_deaf = now();
    hearing.iter().for_each(|id| group.network().deafen(*id));
    wait_until_heard(&group, leader, &[]);
    let before = sent(&group, leader, "multicast");
    sleep(Duration::from_secs(2));
    let probes = sent(&group, leader, "multicast") - before;
    assert!(probes <= 6, "only reports are multicast: {probes}");
    assert_leads(&mut group, "multicast is lost", leader, all_deaf);
    // It comes back.
    let healed = now();
    group.ids().into_iter().for_each(|id| group.network().mend(id));
    wait_until_heard(&group, leader, &others);
    let before = sent(&group, leader, "multicast");
    sleep(Duration::from_secs(1));
    assert!(sent(&group, leader, "multicast") > before + 10, "it is used again");
    assert_leads(&mut group, "multicast comes back", leader, healed);
    group.calm();
    group.acquit();
}

#[test]
fn multicast_that_comes_and_goes_deposes_no_leader() {
    let _stage = stage();
    let (mut group, leader) = multicasting(Shape::lan(3));
    wait_until_heard(&group, leader, &group.without(&[leader]));
    let begun = now();
    for _ in 0..5 {
        group.ids().into_iter().for_each(|id| group.network().deafen(id));
        sleep(Duration::from_millis(700));
        group.ids().into_iter().for_each(|id| group.network().mend(id));
        wait_until_heard(&group, leader, &group.without(&[leader]));
    }
    assert_leads(&mut group, "multicast comes and goes", leader, begun);
    group.calm();
    group.acquit();
}

#[test]
fn who_resigns_is_heard_by_those_that_hear_no_multicast_any_more() {
    let _stage = stage();
    let (mut group, leader) = multicasting(Shape::lan(3));
    wait_until_heard(&group, leader, &group.without(&[leader]));
    group.ids().into_iter().for_each(|id| group.network().deafen(id));
    let begun = group.resign(leader);
    let (_, took) = group.replaced(leader, begun);
    // Without its word the others would wait until their locks have lapsed.
    let params = group.params();
    let bound = params.delta() * 4 + params.sigma() * 2 + params.stagger();
    group.assert_within("resigned", took, bound, begun);
    group.ids().into_iter().for_each(|id| group.network().mend(id));
    group.settled(&group.ids());
    group.calm();
    group.acquit();
}
