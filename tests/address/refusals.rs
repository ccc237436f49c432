//! Somebody who is no member has the address: no leader takes it.

use crate::lab::clock::{millis, now};
use crate::lab::shell::must;
use crate::scene::{Scene, V4, V6};
use crate::stage;
use bellwether::core::Duration;

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
fn an_interface_that_is_gone_ends_the_leadership_and_is_reported() {
    let _stage = stage();
    let (mut group, client) = crate::scene::group();
    for id in group.ids() {
        let namespace = group.network().namespace(id);
        let ip = ["ip", "-n", &namespace];
        for words in
            ["link add extra type veth peer other", "link set other up", "link set extra up"]
        {
            let words: Vec<&str> = ip.into_iter().chain(words.split(' ')).collect();
            must(&words, "");
        }
    }
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
