//! The leader is killed, stopped, cut off or told to end: the address moves, and nobody else has
//! it.

use crate::lab::clock::now;
use crate::lab::group::Group;
use crate::scene::{Scene, V4, V6, group};
use crate::stage;
use bellwether::core::Instant;
use rustix::process::{Pid, Signal, kill_process};

/// Signals a process of this member, which has this name.
fn signal(group: &mut Group, id: u64, name: &str, signal: Signal) {
    let found: Vec<Pid> = group.member(id).called(name);
    assert_eq!(found.len(), 1, "{name}: {found:?}");
    kill_process(found[0], signal).expect("it can be signalled");
}

#[test]
fn whatever_befalls_the_leader_the_address_moves_and_nobody_else_has_it() {
    let _stage = stage();
    let mut scene = Scene::new(V4, 24);
    scene.group.start_all();
    for _ in 0..3 {
        let leader = scene.settled();
        scene.strike("kill -9 of the member", leader, Group::crash);
        scene.group.restart(leader);

        let leader = scene.settled();
        scene.hand_over("SIGTERM", leader, Group::stop);
        scene.group.member(leader).wait();
        scene.group.start(leader);

        let leader = scene.settled();
        scene.hand_over("resign", leader, Group::resign);

        let leader = scene.settled();
        scene.strike("SIGSTOP of the member", leader, Group::pause);
        scene.group.resume(leader);

        let leader = scene.settled();
        scene.strike("silent cut", leader, Group::cut_silently);
        scene.group.heal();
    }
    assert!(scene.unasked > 0, "whoever is told that the address was given up asks all the same");
    let leader = scene.settled();
    assert_eq!(scene.owners.now(), [leader]);
    scene.assert_one_owner("at the end");
    let Scene { group, .. } = scene;
    group.calm();
    group.acquit();
}

#[test]
fn a_guardian_that_is_killed_or_stopped_leaves_no_address() {
    let _stage = stage();
    let mut scene = Scene::new(V4, 32);
    scene.group.start_all();
    for (what, member_stops, hit) in [
        ("kill -9 of the guardian", false, Signal::KILL),
        ("SIGSTOP of the guardian", false, Signal::STOP),
        ("SIGSTOP of member and guardian", true, Signal::STOP),
        ("kill -9 of the guardian, SIGSTOP of the member", true, Signal::KILL),
    ] {
        let leader = scene.settled();
        scene.strike(what, leader, |group, id| {
            let begun = if member_stops { group.pause(id) } else { now() };
            signal(group, id, "bw-guardian", hit);
            begun
        });
        if member_stops {
            scene.group.resume(leader);
        }
    }
    let leader = scene.settled();
    // Without a watchdog the guardian holds nothing; the member starts others, and resigns.
    let begun = now();
    signal(&mut scene.group, leader, "bw-watchdog", Signal::KILL);
    scene.wait("the address is gone", |scene| {
        scene.owners.lost(leader).is_some_and(|lost| lost >= begun)
    });
    scene.settled();
    scene.assert_one_owner("kill -9 of the watchdog");
}

#[test]
fn an_ipv6_address_moves_too() {
    let _stage = stage();
    let (mut group, client) = group();
    let both = format!("{V6}/64@eth0,{V4}/24@eth0");
    group.give_flags(&["--address", &both]);
    let mut scene = Scene::around(group, client, V6);
    scene.group.start_all();
    let leader = scene.settled();
    let listed = scene.ip(leader, "-6 address show dev eth0");
    assert!(listed.contains(V6) && !listed.contains("tentative"), "{listed}");
    assert!(scene.ip(leader, "-4 address show dev eth0").contains(V4), "both are set");
    let next = scene.strike("kill -9 of the member", leader, Group::crash);
    scene.group.restart(leader);
    assert!(scene.ip(next, "-4 address show dev eth0").contains(V4), "both have moved");
    let leader = scene.settled();
    scene.strike("silent cut", leader, Group::cut_silently);
    scene.group.heal();
    scene.settled();
}

#[test]
fn a_command_has_the_address_from_its_start_to_its_end() {
    let _stage = stage();
    let (mut group, client) = group();
    group.give_flags(&["--address", &format!("{V4}/24@eth0")]);
    let seen = |id: u64, group: &Group| group.folder().file(&format!("seen-{id}"));
    for id in group.ids() {
        let file = seen(id, &group);
        let look = format!("ip -o -4 address show dev eth0 | grep -c '{V4}/'");
        let script = format!(
            "trap '({look}) >> {file}; exit 0' TERM; ({look}) >> {file}; \
             while :; do sleep 1 & wait $!; done"
        );
        group.give_command(id, ["sh", "-c", &script].map(str::to_owned).to_vec());
    }
    let mut scene = Scene::around(group, client, V4);
    scene.group.start_all();
    let mut leader = 0;
    scene.wait("somebody has it", |scene| {
        leader = scene.owners.now().first().copied().unwrap_or_default();
        leader != 0
    });
    scene.reached(leader);
    let file = seen(leader, &scene.group);
    let text = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
    scene.wait("the command runs", |_| text(&file) == "1\n");
    let begun: Instant = scene.group.stop(leader);
    scene.group.member(leader).wait();
    // The command has 15 ms to end, in which it may not get that far.
    assert!(["1\n", "1\n1\n"].contains(&text(&file).as_str()), "{}", text(&file));
    assert!(scene.owners.lost(leader).is_some_and(|lost| lost >= begun), "it had it until then");
    scene.wait("the next one has it", |scene| {
        let owners = scene.owners.now();
        !owners.is_empty() && !owners.contains(&leader)
    });
    scene.assert_one_owner("SIGTERM");
}
