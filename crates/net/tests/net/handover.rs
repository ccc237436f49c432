//! Resigning and handing over: who leads next.

use crate::support::{PATIENCE, member, places};
use bellwether_core::{Duration, NodeId, Refused, Unfit};
use bellwether_net::clock::{BootTime, Clock as _};
use bellwether_net::{Builder, Election, Next, NotNow};
use bellwether_protocols::choice::Config;
use bellwether_protocols::local_leader::{self, Params, Preset, Tokens};
use std::sync::Mutex;
use std::thread;

fn group(count: u64) -> Vec<Election> {
    group_of(count, |_, member| member)
}

/// Leases so long that a stalled machine costs nobody its turn.
fn patient() -> local_leader::Config {
    let (preset, tokens) = (Preset::Wan, Tokens::Volatile);
    local_leader::Config { preset, tokens, ..local_leader::Config::default() }
}

fn group_of(count: u64, change: impl Fn(u64, Builder) -> Builder) -> Vec<Election> {
    let places = places(count);
    let join = |id| {
        let member = change(id, member(id, &places));
        member.protocol("local-leader", Config::LocalLeader(patient())).join()
    };
    (1..=count).map(|id| join(id).expect("it joins")).collect()
}

/// Waits until this member believes in a leader that is as wanted.
fn leader(election: &Election, wanted: impl Fn(NodeId) -> bool) -> NodeId {
    let mut watch = election.watch();
    loop {
        if let Some(leader) = election.leadership().leaders.first().filter(|id| wanted(**id)) {
            return *leader;
        }
        assert!(!matches!(watch.next_within(PATIENCE), Next::Nothing | Next::Ended), "a leader");
    }
}

#[test]
fn whoever_drops_its_guard_and_waits_again_is_not_the_next_leader() {
    const TURNS: usize = 25;
    let members = group(3);
    let led = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for (id, election) in (1_u64..).zip(&members) {
            let (led, members) = (&led, &members);
            scope.spawn(move || {
                while led.lock().unwrap().len() <= TURNS {
                    let Ok(Some(guard)) = election.wait(PATIENCE) else { continue };
                    led.lock().unwrap().push(id);
                    drop(guard);
                    // The others wait for a leader that never comes, once these are enough.
                    if led.lock().unwrap().len() > TURNS {
                        members.iter().for_each(Election::leave);
                    }
                }
            });
        }
    });
    let led = led.into_inner().unwrap();
    assert!(led.windows(2).all(|pair| pair[0] != pair[1]), "{led:?}");
}

#[test]
fn a_leader_hands_over_to_the_member_that_is_named() {
    let members = group(3);
    let first = leader(&members[0], |_| true);
    for election in &members {
        leader(election, |id| id == first);
    }
    let of = |id: NodeId| &members[id.0 as usize - 1];
    let next = members.iter().rev().map(|election| election.leadership().me);
    let next = next.into_iter().find(|id| *id != first).expect("there are three");
    let guard = of(first).wait(PATIENCE).unwrap().expect("it leads");
    let refused = |to, why| {
        let answer = Err(NotNow::Refused(why));
        assert_eq!(of(first).can_transfer(NodeId(to)), answer);
        assert_eq!(of(first).transfer(NodeId(to)), answer);
        assert!(guard.still_leading(), "nothing changed");
    };
    refused(9, Refused::Nominee(NodeId(9), Unfit::Unknown));
    refused(first.0, Refused::Nominee(first, Unfit::Itself));
    assert_eq!(of(next).transfer(first), Err(NotNow::Refused(Refused::NotLeading)));
    thread::scope(|scope| {
        let handing = scope.spawn(|| of(first).transfer(next));
        assert!(guard.wait_lost(PATIENCE), "its holder is told");
        assert_eq!(leader(of(next), |_| true), first, "and waited for");
        drop(guard);
        handing.join().unwrap().expect("the nominee can lead");
    });
    for election in &members {
        assert_eq!(leader(election, |id| id != first), next);
    }
}

#[test]
fn a_witness_never_leads_and_the_greatest_priority_comes_first() {
    let members = group_of(4, |id, member| match id {
        1 => member.witness(true),
        4 => member.priority(3),
        _ => member,
    });
    assert_eq!(leader(&members[0], |_| true), NodeId(4));
    leader(&members[3], |id| id == NodeId(4));
    let witness = Err(NotNow::Refused(Refused::Nominee(NodeId(1), Unfit::Witness)));
    assert_eq!(members[3].transfer(NodeId(1)), witness);
    let why = members[0].status().expect("it runs").why;
    assert!(why.iter().any(|line| line.contains("is a witness")), "{why:?}");
    for next in [2, 3] {
        let first = leader(&members[0], |_| true);
        members[first.0 as usize - 1].resign().expect("it leads");
        assert_eq!(leader(&members[0], |id| id != first), NodeId(next));
        leader(&members[next as usize - 1], |id| id == NodeId(next));
    }
}

/// A better member that comes late leads after the delay: the leader lets its lease run out. The
/// delay counts from its vote, and is longer than a lease: a leader that yields at once is seen.
#[test]
fn a_leader_with_preempt_yields_to_a_better_member_after_the_delay_and_not_before() {
    let delay = Duration::from_secs(3);
    let (places, preempt_delay) = (places(3), Some(delay));
    let config = local_leader::Config { preempt: true, preempt_delay, ..patient() };
    let lease = Params::try_from(config.clone()).expect("it keeps the rules").lock();
    assert!(delay > lease * 2);
    let of = |id| member(id, &places).protocol("local-leader", Config::LocalLeader(config.clone()));
    let mut members: Vec<Election> = [1, 2].map(|id| of(id).join().expect("it joins")).into();
    let first = leader(&members[0], |_| true);
    let former = members.remove(first.0 as usize - 1);
    leader(&former, |id| id == first);
    let before = former.leadership();
    assert!(before.leads());

    let better = of(3).priority(5).join().expect("it joins");
    let mut begun = BootTime.now();
    let end = begun + Duration::from_secs(20);
    while former.can_transfer(NodeId(3)).is_err() {
        begun = BootTime.now(); // it has not voted for the leader yet
        assert!(begun < end, "it never voted");
        thread::sleep(std::time::Duration::from_millis(1));
    }
    loop {
        // The former leader is looked at before and after: if it led all the time, both did.
        let (held, next, holds) = (former.leadership(), better.leadership(), former.leadership());
        let throughout = held.leads() && holds.leads() && held.reign == holds.reign;
        assert!(!(next.leads() && throughout), "two lead: {holds:?}, {next:?}");
        if next.leads() {
            break;
        }
        assert!(BootTime.now() < end, "it never yielded: {holds:?}");
        thread::sleep(std::time::Duration::from_millis(1));
    }
    let (took, after) = (BootTime.now().since(begun), better.leadership());
    assert!(took > delay, "it yielded after {took}, and the delay is {delay}");
    assert_eq!(former.leadership().reign, before.reign, "it led until then, without a break");
    assert!(after.term > before.term, "{:?} after {:?}", after.term, before.term);
    leader(&members[0], |id| id == NodeId(3));
    leader(&former, |id| id == NodeId(3));
}

#[test]
fn roles_that_have_no_effect_or_contradict_each_other_are_refused() {
    let places = places(1);
    let both = member(1, &places).witness(true).priority(2).join().unwrap_err().to_string();
    assert!(both.contains("a witness never leads"), "{both}");
    let (name, mode) = ("local-leader", local_leader::Mode::Local);
    let local = local_leader::Config { mode, ..local_leader::Config::default() };
    let local = member(1, &places).protocol(name, Config::LocalLeader(local)).priority(2);
    let refused = local.join().unwrap_err().to_string();
    assert!(refused.contains("only leases from a majority do"), "{refused}");
}
