//! What operators are told of the address: in `status`, in `why`, and in messages.

use crate::lab::group::{Group, NAME};
use crate::lab::member::BELLWETHER;
use crate::lab::shell::must;
use crate::scene::{Scene, V4};
use crate::stage;

/// What a command prints that asks this member.
pub(crate) fn ask(group: &Group, id: u64, words: &[&str]) -> String {
    let (dir, id) = (group.dir(id), id.to_string());
    let whom = [words[0], NAME, "--dir", &dir, "--id", &id];
    let words: Vec<&str> =
        [BELLWETHER].into_iter().chain(whom).chain(words[1..].to_vec()).collect();
    must(&words, "")
}

/// The state of the address on the machine of this member.
pub(crate) fn state(group: &Group, id: u64) -> String {
    let status = ask(group, id, &["status", "--format", "json"]);
    let status: serde_json::Value = serde_json::from_str(&status).expect("it is JSON");
    status["addresses"][0]["state"].as_str().unwrap_or("none").to_owned()
}

#[test]
fn who_has_the_address_is_shown_and_each_change_of_it_is_told() {
    let _stage = stage();
    let mut scene = Scene::new(V4, 24);
    scene.group.start_all();
    let leader = scene.settled();
    let follower = scene.group.without(&[leader])[0];
    scene.wait("the leader shows it", |scene| state(&scene.group, leader) == "set");
    assert_eq!(state(&scene.group, follower), "not-set");
    let text = ask(&scene.group, leader, &["status"]);
    assert!(text.contains(&format!(" address         {V4}/24@eth0 is set, for ")), "{text}");
    let text = ask(&scene.group, follower, &["status"]);
    assert!(text.contains(&format!(" address         {V4}/24@eth0 is not set, for ")), "{text}");
    let says = |scene: &mut Scene, what: &str| {
        scene.group.member(leader).complaints().contains(&format!(" {V4}/24@eth0: {what}\n"))
    };
    assert!(says(&mut scene, "set and announced"), "it says that it is set");
    scene.ip(leader, &format!("address del {V4}/24 dev eth0"));
    scene.wait("it is set again", |scene| says(scene, "somebody removed it; set again"));
    assert!(!says(&mut scene, "removed"), "it has it");
    ask(&scene.group, leader, &["resign"]);
    scene.wait("it says that it is removed", |scene| says(scene, "removed"));
    assert_eq!(state(&scene.group, leader), "not-set");
}
