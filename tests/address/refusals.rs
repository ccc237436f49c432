//! Somebody who is no member has the address: no leader takes it.

use crate::lab::clock::{millis, now, sleep};
use crate::lab::group::Group;
use crate::lab::shell::must;
use crate::scene::{Scene, V4, V6};
use crate::stage;
use crate::telling::{ask, state};
use bellwether::core::Duration;
use rustix::net::netdevice::name_to_index;
use rustix::net::sockopt::set_ipv6_multicast_hops;
use rustix::net::{AddressFamily, SendFlags, SocketType, ipproto, sendto, socket};
use std::net::{Ipv6Addr, SocketAddrV6};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A stranger has the address; the group starts. Nobody takes it until the stranger gives it up.
fn a_stranger_has(ip: &str, length: u8, nodad: &str) {
    let mut scene = Scene::new(ip, length);
    let stranger = scene.client;
    scene.ip(stranger, &format!("address add {ip}/{length} dev eth0{nodad}"));
    scene.group.start_all();
    let leader = scene.group.settled(&scene.group.ids());
    let since = now();
    scene.wait("it says who has it", |scene| {
        let said = scene.group.member(leader).complaints();
        said.contains(&format!("{ip} is answered for by ")) && said.contains("it is not set while")
    });
    // Whoever leads: on a busy machine that one may have resigned by now.
    let told = format!("it leads without its address: {ip} is answered for by ");
    scene.wait("a leader shows who has it", |scene| {
        let shows = |id: &u64| {
            let why = ask(&scene.group, *id, &["why"]);
            why.contains(&told) && state(&scene.group, *id) == "in-use"
        };
        scene.group.ids().iter().any(shows)
    });
    scene.wait("it resigns", |scene| {
        scene.group.member(leader).complaints().contains("for 5s by now; it resigns")
    });
    println!("resigned after {:.1} ms", millis(now().since(since)));
    assert_eq!(scene.owners.now(), [stranger], "nobody else took it");
    scene.group.replaced(leader, since);
    scene.assert_one_owner("refused");
    scene.ip(stranger, &format!("address del {ip}/{length} dev eth0"));
    let begun = now();
    scene.wait("a member has it", |scene| {
        scene.owners.now().first().is_some_and(|owner| *owner != stranger)
    });
    println!("taken {:.1} ms after it was free", millis(now().since(begun)));
    scene.assert_one_owner("taken");
}

#[test]
fn an_address_that_a_stranger_has_is_not_taken_and_its_leader_resigns() {
    let _stage = stage();
    a_stranger_has(V4, 24, "");
}

#[test]
fn an_ipv6_address_that_a_stranger_has_is_not_taken_either() {
    let _stage = stage();
    a_stranger_has(V6, 64, " nodad");
}

#[test]
fn an_address_that_a_stranger_took_from_its_leader_is_set_and_removed_again_at_once() {
    let _stage = stage();
    let mut scene = Scene::new(V4, 24);
    let stranger = scene.client;
    let text = |what: &str| format!("{V4}/24 dev eth0{what}");
    scene.group.start_all();
    let sets = |scene: &mut Scene, id: u64| {
        scene.group.member(id).complaints().matches(": set and announced").count()
    };
    let mut was_set = false;
    // On a busy machine the next leader hears too late that it is given up, and asks first.
    for _ in 0..5 {
        let leader = scene.settled();
        scene.ip(stranger, &format!("address add {}", text("")));
        let before: Vec<usize> =
            scene.group.ids().into_iter().map(|id| sets(&mut scene, id)).collect();
        let begun = scene.group.stop(leader);
        let (next, _) = scene.group.replaced(leader, begun);
        scene.wait("it says who has it", |scene| state(&scene.group, next) == "in-use");
        scene.wait("the next leader has it no longer", |scene| scene.owners.now() == [stranger]);
        if sets(&mut scene, next) > before[next as usize - 1] {
            was_set = true;
            let said = scene.group.member(next).complaints();
            assert!(said.contains("it is removed again, and not set while"), "{said}");
        }
        scene.group.member(leader).wait();
        scene.group.start(leader);
        scene.ip(stranger, &format!("address del {}", text("")));
        if was_set {
            break;
        }
    }
    assert!(was_set, "the next leader does not ask first");
    scene.settled();
}

/// Whenever the group starts, something answers for the address all the time: with so many hops
/// left, from these hosts by this interface.
fn answers_with(hops: u32, mut scene: Scene, hosts: &[u64], interface: &'static str) -> Scene {
    let over: Arc<AtomicBool> = Arc::default();
    let shouts = hosts.iter().map(|host| {
        let ended = Arc::clone(&over);
        scene.group.network().thread(*host, move || shout(hops, interface, &ended))
    });
    let shouts: Vec<_> = shouts.collect();
    scene.group.start_all();
    let leader = scene.group.settled(&scene.group.ids());
    scene.wait("it is set or refused", |scene| {
        let refused = scene.group.member(leader).complaints().contains("is answered for by ");
        refused || !scene.owners.now().is_empty()
    });
    over.store(true, Ordering::Relaxed);
    shouts.into_iter().for_each(|shouts| shouts.join().expect("it goes on until then"));
    scene
}

/// Sends advertisements of the address until it is over.
fn shout(hops: u32, interface: &str, over: &AtomicBool) {
    let ip: Ipv6Addr = V6.parse().expect("it is one");
    let kind = Some(ipproto::ICMPV6);
    let socket = socket(AddressFamily::INET6, SocketType::RAW, kind).expect("it is root");
    set_ipv6_multicast_hops(&socket, hops).expect("it may");
    let all_nodes = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);
    let index = name_to_index(&socket, interface).expect("it is there");
    let to = SocketAddrV6::new(all_nodes, 0, 0, index);
    // An advertisement that overrides, with the hardware address 02:00:00:00:00:99.
    let mut packet = [0; 32];
    packet[..5].copy_from_slice(&[136, 0, 0, 0, 0x20]);
    packet[8..24].copy_from_slice(&ip.octets());
    packet[24..].copy_from_slice(&[2, 1, 2, 0, 0, 0, 0, 0x99]);
    while !over.load(Ordering::Relaxed) {
        let _ = sendto(&socket, &packet, SendFlags::empty(), &to); // the next one may
        sleep(Duration::from_millis(1));
    }
}

fn all_that_was_said(scene: &mut Scene) -> String {
    scene.group.ids().into_iter().map(|id| scene.group.member(id).complaints()).collect()
}

#[test]
fn an_advertisement_counts_only_if_no_router_forwarded_it() {
    let _stage = stage();
    let beyond = |hops| {
        let scene = Scene::new(V6, 64);
        let client = scene.client;
        answers_with(hops, scene, &[client], "eth0")
    };
    let neighbour = beyond(255);
    assert!(neighbour.owners.now().is_empty(), "a neighbour has it");
    drop(neighbour);
    let said = all_that_was_said(&mut beyond(64));
    assert!(!said.contains("is answered for by "), "{said}");
}

#[test]
fn an_advertisement_counts_only_on_the_interface_of_the_address() {
    let _stage = stage();
    let scene = Scene::new(V6, 64);
    let ids = scene.group.ids();
    ids.iter().for_each(|id| add_interface(&scene.group, *id));
    let said = all_that_was_said(&mut answers_with(255, scene, &ids, "other"));
    assert!(!said.contains("is answered for by "), "{said}");
}

/// Gives a member two more interfaces, `extra` and `other`, with a cable between them.
fn add_interface(group: &Group, id: u64) {
    let namespace = group.network().namespace(id);
    for words in [
        "link add extra type veth peer other",
        "link set other up",
        "link set extra up",
        "address add fd00:78::1/64 dev other nodad", // of use at once
    ] {
        let words: Vec<&str> =
            ["ip", "-n", &namespace].into_iter().chain(words.split(' ')).collect();
        must(&words, "");
    }
}

#[test]
fn an_interface_that_is_gone_ends_the_leadership_and_is_reported() {
    let _stage = stage();
    let (mut group, client) = crate::scene::group();
    group.ids().into_iter().for_each(|id| add_interface(&group, id));
    group.give_flags(&["--address", "10.78.0.100/24@extra"]);
    let mut scene = Scene::around(group, client, "10.78.0.100");
    scene.group.start_all();
    let leader = scene.group.settled(&scene.group.ids());
    scene.wait("it has the address", |scene| scene.owners.now() == [leader]);
    let since = now();
    scene.ip(leader, "link del extra");
    let (next, took) = scene.group.replaced(leader, since);
    println!("{next} leads after {:.1} ms", millis(took));
    scene.wait("the next one has it", |scene| scene.owners.now() == [next]);
    let said = scene.group.member(leader).complaints();
    assert!(said.contains("cannot set 10.78.0.100/24@extra: No such device"), "{said}");
    assert!(took < Duration::from_secs(5), "the address is looked at every second or so");
}
