//! A check that hangs is killed, counts as failed, and holds up nothing.

use super::check;
use super::member::{Folder, Member, eventually, leader, lives, peers};

#[test]
fn a_check_that_hangs_is_killed_with_all_it_started_and_the_election_goes_on() {
    let folder = Folder::new("hangs");
    let pid = folder.file("pid").display().to_string();
    let script = format!("sleep 1000 & echo $! >> {pid}.$BELLWETHER_ID; wait");
    let script = folder.script("stuck", &script).display().to_string();
    let list = peers(3);
    // With a weight it changes nobody's leadership here, so whoever leads must go on.
    let flag = format!("exec={script},interval=100ms,timeout=200ms,fall=3,weight=-5");
    let start = |id| Member::start(&folder, &list, id, &["--check", &flag]);
    let mut members: Vec<Member> = (1..=3).map(start).collect();
    let first = leader(&members);
    let leads = members.iter().find(|member| member.id() == first).expect("it is one of them");
    let changes = leads.status().expect("it answers")["changes"].clone();
    leads.error("check stuck fails: it took longer than 0.2s; its priority is 0");
    let seen = eventually("many runs", || {
        check(leads).filter(|check| check["too_long"].as_u64() >= Some(10))
    });
    assert_eq!((&seen["up"], &seen["succeeded"]), (&false.into(), &0.into()));
    let status = leads.becomes("leader");
    assert_eq!(status["changes"], changes, "it has led all the time: {status}");
    members.iter_mut().for_each(|member| assert_eq!(member.end().0, Some(0)));
    for id in 1..=3 {
        let started = folder.text(&format!("pid.{id}"));
        let started: Vec<u32> = started.lines().map(|pid| pid.parse().expect("a number")).collect();
        eventually("their end", || started.iter().all(|pid| !lives(*pid)).then_some(()));
    }
}

#[test]
fn a_member_that_ends_leaves_no_check_behind() {
    let folder = Folder::new("ends");
    let pid = folder.file("pid").display().to_string();
    let script = format!("sleep 1000 & echo $! > {pid}; wait");
    let script = folder.script("stuck", &script).display().to_string();
    let flag = format!("exec={script},interval=1000s");
    let mut member = Member::start(&folder, &peers(1), 1, &["--check", &flag]);
    let started: u32 = eventually("the check", || folder.text("pid").trim().parse().ok());
    assert!(lives(started));
    assert_eq!(member.end().0, Some(0));
    eventually("its end", || (!lives(started)).then_some(()));
}
