//! Frames that were authentic once: of a former life, of a former leader, and to a member that has
//! forgotten what it heard.

use crate::attacker::{Ear, Mouth, Packet};
use crate::lab::clock::now;
use crate::lab::group::Group;
use crate::scene::{Scene, places, shape, status};
use crate::stage;
use bellwether::core::Duration;
use std::collections::BTreeMap;

fn only(reason: &str, count: usize) -> BTreeMap<String, u64> {
    BTreeMap::from([(reason.to_owned(), count as u64)])
}

#[test]
fn what_was_said_before_the_sender_restarted_is_of_a_former_life() {
    let _stage = stage();
    let mut scene = Scene::whole();
    let (leader, follower) = (scene.leader, scene.follower);
    let said: Vec<Packet> = vec![scene.frame(follower, leader); 100];
    scene.restart_follower(|| ());
    let (before, (_, refused), begun) = (scene.see(leader), scene.counts(leader), now());
    said.iter().for_each(|packet| scene.mouth.say(packet));
    assert_eq!(scene.risen(leader, &refused, 100), only("former-life", 100));
    assert_eq!(scene.see(leader), before);
    scene.group.assert_unchanged("replays of a former life", begun);
    scene.group.acquit();
}

/// A receiver that restarted cannot know what its former life heard: it takes each frame once more,
/// and finds by the stamps that it is old.
#[test]
fn what_was_said_before_the_receiver_restarted_is_heard_once_at_most_and_changes_nothing() {
    let _stage = stage();
    let mut scene = Scene::whole();
    let (leader, follower) = (scene.leader, scene.follower);
    let (from, to) = (scene.places[&leader], scene.places[&follower]);
    let mut said = scene.hear(Duration::from_secs(2));
    said.retain(|packet| packet.from == from && packet.to == to);
    assert!(said.len() > 20, "the leader renews: {}", said.len());
    scene.restart_follower(|| ());
    let (before, (_, refused), begun) = (scene.see(follower), scene.counts(follower), now());
    said.iter().for_each(|packet| scene.mouth.say(packet));
    said.iter().for_each(|packet| scene.mouth.say(packet));
    let risen = scene.risen(follower, &refused, said.len() as u64);
    let times = risen.get("replayed").copied().unwrap_or(0);
    assert_eq!(risen.len(), 1, "{risen:?}");
    assert!(times >= said.len() as u64, "{times} of twice {}", said.len());
    assert_eq!(scene.see(follower), before);
    scene.group.assert_unchanged("replays to a new life", begun);
    scene.group.acquit();
}

#[test]
fn what_a_former_leader_said_does_not_make_it_lead_again() {
    let _stage = stage();
    let mut group = Group::started(shape());
    let old = group.settled(&[1, 2, 3]);
    let places = places(&group, old);
    let (ear, mut mouth) = (Ear::new(), Mouth::new());
    let all: Vec<_> = places.values().copied().collect();
    let mut said = ear.listen(Duration::from_secs(1), &all);
    said.retain(|packet| packet.from == places[&old]);
    let refused = |group: &Group, id, reason: &str| {
        status(group, id)["traffic"]["refused"][reason].as_u64().unwrap_or(0)
    };
    let begun = group.crash(old);
    let (new, _) = group.replaced(old, begun);
    let others = group.without(&[old]);
    assert_eq!(group.settled(&others), new);
    for (reason, restarted) in [("replayed", false), ("former-life", true)] {
        if restarted {
            group.restart(old);
            assert_eq!(group.settled(&[1, 2, 3]), new, "it follows");
        }
        let counts: Vec<u64> = others.iter().map(|id| refused(&group, *id, reason)).collect();
        let begun = now();
        for _ in 0..20 {
            said.iter().for_each(|packet| mouth.say(packet));
        }
        group.calm();
        group.assert_unchanged("replays of a former leader", begun);
        for (id, before) in others.iter().zip(counts) {
            assert!(refused(&group, *id, reason) >= before + 20 * 10, "{id} counts {reason}");
            assert_eq!(status(&group, *id)["leaders"], serde_json::json!([new]));
        }
    }
    group.acquit();
}
