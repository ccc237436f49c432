//! Member, guardian and watchdog are killed together: nobody is left to remove the address.

use crate::lab::clock::{millis, now};
use crate::lab::group::Group;
use crate::lab::member::BELLWETHER;
use crate::scene::{Scene, V4};
use crate::stage;
use bellwether::core::Instant;
use std::process::Command;

#[test]
fn the_kernel_removes_what_nobody_else_can_and_the_next_leader_waits_for_that() {
    let _stage = stage();
    let mut scene = Scene::new(V4, 24);
    scene.group.start_all();
    let leader = scene.settled();
    let begun = scene.group.crash_all(leader);
    let (next, took) = scene.group.replaced(leader, begun);
    println!("{next} leads after {:.1} ms, and waits", millis(took));
    scene.wait("the next leader says who has it", |scene| {
        scene.group.member(next).complaints().contains(&format!("{V4} is answered for by "))
    });
    scene.wait("somebody else has it", |scene| {
        scene.owners.now().first().is_some_and(|owner| *owner != leader)
    });
    println!("somebody else has it after {:.1} ms", millis(now().since(begun)));
    scene.assert_one_owner("kill -9 of all");
    let others = scene.group.without(&[leader]);
    scene.settled_among(&others);
}

#[test]
fn a_leader_that_could_not_have_the_address_hands_over_without_saying_that_it_is_free() {
    let _stage = stage();
    for (what, end) in
        [("SIGTERM", Group::stop as fn(&mut Group, u64) -> Instant), ("kill -9", Group::crash)]
    {
        let mut scene = Scene::of(5, V4, 24);
        scene.group.start_all();
        let first = scene.settled();
        let begun = scene.group.crash_all(first);
        let (second, _) = scene.group.replaced(first, begun);
        scene.wait("the next leader says who has it", |scene| {
            scene.group.member(second).complaints().contains(&format!("{V4} is answered for by "))
        });
        let begun = end(&mut scene.group, second);
        scene.group.replaced(second, begun);
        scene.wait("somebody else has it", |scene| {
            scene.owners.now().first().is_some_and(|owner| *owner != first)
        });
        println!("{what}: somebody else has it after {:.1} ms", millis(now().since(begun)));
        scene.assert_one_owner(what);
    }
}

#[test]
fn a_member_that_starts_removes_what_its_former_life_left() {
    let _stage = stage();
    let mut scene = Scene::new(V4, 24);
    scene.group.start_all();
    let leader = scene.settled();
    scene.group.crash_all(leader);
    // However long the start takes, the kernel does not remove it first.
    scene.ip(leader, &format!("address change {V4}/24 dev eth0 valid_lft forever"));
    scene.group.restart(leader);
    let begun = now();
    scene.wait("it is removed", |scene| {
        let said = scene.group.member(leader).complaints();
        said.contains(&format!("{V4}/24@eth0 was there before this member leads; it was removed"))
    });
    println!("removed after {:.1} ms", millis(now().since(begun)));
    scene.settled();
    scene.assert_one_owner("a restart");
}

#[test]
fn an_address_that_somebody_removes_by_hand_is_set_again() {
    let _stage = stage();
    let mut scene = Scene::new(V4, 24);
    scene.group.start_all();
    let leader = scene.settled();
    let since = now();
    scene.ip(leader, &format!("address del {V4}/24 dev eth0"));
    scene.wait("it was gone", |scene| scene.owners.lost(leader).is_some_and(|lost| lost >= since));
    scene.reached(leader);
    scene.group.assert_unchanged("the leader stays", since);
    scene.strike("SIGTERM", leader, Group::stop);
}

#[test]
fn a_second_process_that_cannot_listen_removes_nothing() {
    let _stage = stage();
    let mut scene = Scene::new(V4, 24);
    scene.group.start_all();
    let leader = scene.settled();
    let since = now();
    let at = scene.group.places()[leader as usize - 1];
    let (list, dir) = (format!("1={at}"), scene.group.folder().file("second"));
    let (namespace, address) = (scene.group.network().namespace(leader), format!("{V4}/24@eth0"));
    let second = Command::new("ip")
        .args(["netns", "exec", &namespace, BELLWETHER, "run", "second", "--insecure"])
        .args(["--peers", &list, "--dir", &dir, "--address", &address])
        .output();
    let second = second.expect("ip can be started");
    let said = String::from_utf8_lossy(&second.stderr);
    assert!(said.contains(&format!("cannot listen at {at}: Address already in use")), "{said}");
    assert_eq!(second.status.code(), Some(1), "{said}");
    scene.reached(leader);
    let gone = scene.owners.lost(leader).filter(|lost| *lost >= since);
    assert_eq!(gone, None, "the address stayed where it was");
}
