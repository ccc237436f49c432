//! An attacker who is on the network and sends to the multicast address: it changes counters, as if
//! it sent to each member.

use crate::attacker::{Mouth, Packet};
use crate::lab::clock::{now, sleep};
use crate::lab::group::{Group, NAME, PATIENCE, Shape};
use crate::lab::network::{Family, Network};
use crate::scene::status;
use crate::stage;
use bellwether::core::{Duration, NodeId};
use bellwether::net::Keyring;
use bellwether::net::frame::{Kind, Sealer, Session};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};

/// The place where the attacker is: that of a listed member that does not run.
const ATTACKER: u64 = 4;

fn v4(address: SocketAddr) -> SocketAddrV4 {
    if let SocketAddr::V4(address) = address { address } else { panic!("{address} is of IPv4") }
}

/// What is multicast in the network for so long.
fn overheard(ear: &UdpSocket, length: Duration) -> Vec<Packet> {
    let (end, mut buffer, mut heard) = (now() + length, [0; 2048], Vec::new());
    let to = v4(Network::multicast(Family::V4));
    while now() < end {
        if let Ok((length, from)) = ear.recv_from(&mut buffer) {
            heard.push(Packet { from: v4(from), to, bytes: buffer[..length].to_vec() });
        }
    }
    heard
}

fn refused(group: &Group, id: u64) -> BTreeMap<String, u64> {
    let told = status(group, id);
    let counts = told["traffic"]["refused"].as_object().expect("it counts");
    counts.iter().map(|(why, count)| (why.clone(), count.as_u64().unwrap_or(0))).collect()
}

/// Waits until a member has refused so many more for this reason.
fn wait_until_refused(group: &Group, id: u64, why: &str, before: u64, count: u64) {
    let (end, known) = (now() + PATIENCE, || refused(group, id).get(why).copied().unwrap_or(0));
    while known() < before + count {
        assert!(now() < end, "{why}: {} of {count} were refused", known() - before);
        sleep(Duration::from_millis(20));
    }
    // A member may get a broadcast twice by itself.
    assert!(known() <= before + count + 9, "{why}: {} more", known() - before);
}

/// Frames that a member would have to accept if it looked at anything less.
fn attacks(heard: &[Packet], keyring: &Keyring) -> Vec<(&'static str, Packet)> {
    let last = heard.last().expect("somebody multicasts");
    let strange = |group: &str, keyring: &Keyring| {
        let (id, life, digest) = (last.sender(), last.incarnation(), last.digest());
        let mut sealer = Sealer::new(group, id, life, Session([7; 8]), digest, keyring);
        let mut bytes = Vec::new();
        sealer.seal(Kind::Hearing, None, &[0; 16], &mut bytes).expect("it fits");
        Packet { bytes, ..last.clone() }
    };
    let far = 1_000_000_u64.to_le_bytes();
    vec![
        ("replayed", last.clone()),
        ("forged", last.with(48, &far)),
        ("forged", last.with(48, &far).with(3, &[6])),
        ("key", strange(NAME, &Keyring::generate().expect("the machine has randomness"))),
        ("group", strange("another", keyring)),
        ("magic", last.with(0, b"xx")),
        ("short", Packet { bytes: last.bytes[..40].to_vec(), ..last.clone() }),
    ]
}

#[test]
fn what_is_multicast_is_refused_and_counted_like_anything_else() {
    let _stage = stage();
    let mut group = Group::new(Shape::lan(4));
    let to = v4(Network::multicast(Family::V4));
    group.give_flags(&["--multicast", &to.to_string()]);
    let running = [1, 2, 3];
    running.iter().for_each(|id| group.start(*id));
    let leader = group.settled(&running);
    let ear = group.network().inside(ATTACKER, move || {
        let ear = UdpSocket::bind(to).expect("the port is free");
        ear.join_multicast_v4(to.ip(), &Ipv4Addr::new(10, 77, 0, 4)).expect("it is on the network");
        ear
    });
    ear.set_read_timeout(Some(std::time::Duration::from_millis(50))).expect("it can wait");
    let mut mouth = group.network().inside(ATTACKER, Mouth::new);
    sleep(Duration::from_secs(2));
    let mut heard = overheard(&ear, Duration::from_secs(1));
    heard.retain(|packet| packet.sender() == NodeId(leader));
    assert!(heard.len() > 10, "requests are multicast: {}", heard.len());
    let keyring = Keyring::read(group.folder().file("key").as_ref()).expect("there is a key");
    let followers: Vec<u64> = running.into_iter().filter(|id| *id != leader).collect();
    let begun = now();
    for (why, packet) in attacks(&heard, &keyring) {
        let known = |id: &u64| refused(&group, *id).get(why).copied().unwrap_or(0);
        let before: Vec<u64> = followers.iter().map(known).collect();
        (0..50).for_each(|_| mouth.say(&packet));
        for (follower, before) in followers.iter().zip(before) {
            wait_until_refused(&group, *follower, why, before, 50);
            let told = status(&group, *follower);
            assert_eq!(told["leaders"], serde_json::json!([leader]), "{why}");
        }
    }
    group.assert_unchanged("hostile multicasts", begun);
    let by = status(&group, leader)["multicast"]["heard_by"].clone();
    assert_eq!(by, serde_json::json!(followers), "and multicast is used as before");
    group.judge();
}
