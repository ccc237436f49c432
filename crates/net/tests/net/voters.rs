//! Who votes: the founding list, and its changes while the group runs.

use crate::support::{Folder, eventually, leader, member, patient_leases, peers, places};
use bellwether_core::{NodeId, Refused};
use bellwether_net::status::Voters;
use bellwether_net::{Builder, Election, NotNow, Role, VoterChange};
use bellwether_protocols::choice::Config;
use bellwether_protocols::local_leader::{self, Mode, Preset, Tokens};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

/// Has the leader change the voters, and waits for the list; whoever led may have lost its lease.
fn change(members: &[Election], change: VoterChange) {
    eventually("the change begins", || {
        let leader = leader(members);
        let leader = &members[leader.0 as usize - 1];
        match change {
            VoterChange::Add(id) => leader.add_voter(id).ok(),
            VoterChange::Remove(id) => leader.remove_voter(id).ok(),
            VoterChange::Replace { old, new } => leader.replace_voter(old, new).ok(),
            VoterChange::Lengths { lock, drift_ppm } => leader.set_lengths(lock, drift_ppm).ok(),
            other => panic!("no method makes {other:?}"),
        }
    });
}

fn list(version: u64, ids: &[u64]) -> Voters {
    let (lock_ms, drift_ppm) = (None, None);
    Voters { version, committed: true, ids: ids.to_vec(), invited: None, lock_ms, drift_ppm }
}

/// Waits until all of them hold this list.
fn hold(members: &[Election], wanted: &Voters) {
    eventually("the list", || {
        let lists = || members.iter().map(|election| election.status().expect("it runs").voters);
        let as_named = |list| Voters { lock_ms: None, drift_ppm: None, ..list };
        lists().all(|list| list.map(as_named).as_ref() == Some(wanted)).then_some(())
    });
}

/// A member of a group with records, of which these vote at first.
fn durable(id: u64, places: &[String], voters: &[u64], dir: &Path) -> Builder {
    let config = patient_leases(Mode::Majority, Tokens::Durable);
    let voters = voters.iter().copied();
    member(id, places).protocol("local-leader", config).voters(voters).dir(dir)
}

#[test]
fn those_that_are_named_vote_and_the_others_follow() {
    let places = places(4);
    let join = |id| member(id, &places).voters([1, 2, 3]).join().expect("it joins");
    let members: Vec<Election> = (1..=4).map(join).collect();
    let first = leader(&members);
    assert_ne!(first, NodeId(4));
    hold(&members, &list(0, &[1, 2, 3]));
    for election in &members {
        let status = election.status().expect("it runs");
        let observers: Vec<u64> = status
            .members
            .iter()
            .filter(|member| member.observes)
            .map(|member| member.id)
            .collect();
        assert_eq!(observers, [4]);
        let heard = |line: &String| line.contains("4 was never heard");
        assert!(!status.why.iter().any(heard), "observers say nothing: {:?}", status.why);
    }
    let why = members[3].status().expect("it runs").why;
    assert!(why.contains(&"is an observer, which follows and does not vote".to_owned()), "{why:?}");
    let refused = members[first.0 as usize - 1].add_voter(NodeId(4));
    assert_eq!(refused, Err(NotNow::Refused(Refused::Volatile)), "nothing is stored");
    // Two of three voters are gone: the rest is a majority of nothing.
    let gone = [1, 2, 3].into_iter().filter(|id| NodeId(*id) != first).collect::<Vec<u64>>();
    gone.iter().for_each(|id| members[*id as usize - 1].leave());
    let rest = &members[first.0 as usize - 1];
    eventually("no leader", || (!rest.leadership().leads()).then_some(()));
    let lacks = "1 of 3 voters are there, a leader needs 2".to_owned();
    eventually("why", || rest.status().expect("it runs").why.contains(&lacks).then_some(()));
}

#[test]
fn a_group_changes_its_voters_one_at_a_time_and_keeps_them_when_all_restart() {
    let (places, folder) = (places(3), Folder::new());
    let join = |id| durable(id, &places, &[1, 2], &folder.0).join().expect("it joins");
    let members: Vec<Election> = (1..=3).map(join).collect();
    leader(&members);
    hold(&members, &list(0, &[1, 2]));
    change(&members, VoterChange::Add(NodeId(3)));
    hold(&members, &list(1, &[1, 2, 3]));
    let first = leader(&members);
    let other = NodeId(if first == NodeId(1) { 2 } else { 1 });
    change(&members, VoterChange::Remove(other));
    let rest: Vec<u64> = (1..=3).filter(|id| NodeId(*id) != other).collect();
    hold(&members, &list(2, &rest));
    members.iter().for_each(Election::leave);
    let mut members: Vec<Election> = (1..=3).map(join).collect();
    hold(&members, &list(2, &rest));
    assert_ne!(leader(&members), other, "it votes no longer");
    // A member that lost everything reads list and term from the others.
    let lost = members.remove(other.0 as usize - 1);
    lost.leave();
    std::fs::remove_file(folder.0.join(format!("test.{other}.state"))).expect("it had a record");
    members.insert(other.0 as usize - 1, join(other.0));
    hold(&members, &list(2, &rest));
}

#[test]
fn a_change_that_is_not_possible_is_refused_and_changes_nothing() {
    let (places, folder) = (places(4), Folder::new());
    let join = |id| durable(id, &places, &[1, 2], &folder.0).join().expect("it joins");
    let members: Vec<Election> = (1..=3).map(join).collect();
    let first = leader(&members);
    let other = NodeId(3 - first.0);
    let leads = &members[first.0 as usize - 1];
    for (change, why) in [
        (VoterChange::Add(NodeId(9)), Refused::UnknownMember(NodeId(9))),
        (VoterChange::Remove(NodeId(9)), Refused::UnknownMember(NodeId(9))),
        (VoterChange::Add(other), Refused::AlreadyMember(other)),
        (VoterChange::Remove(NodeId(3)), Refused::NotVoter(NodeId(3))),
        (VoterChange::Remove(first), Refused::Leads(first)),
        (VoterChange::Replace { old: NodeId(3), new: NodeId(4) }, Refused::NotVoter(NodeId(3))),
    ] {
        assert_eq!(leads.change_voters(change), Err(NotNow::Refused(why)), "{change:?}");
    }
    let follower = &members[other.0 as usize - 1];
    let add = follower.add_voter(NodeId(3));
    assert_eq!(add, Err(NotNow::Refused(Refused::NotLeading)));
    // Member 4 does not run: the change is given up.
    leads.add_voter(NodeId(4)).expect("it is asked");
    let pending = leads.add_voter(NodeId(3));
    assert_eq!(pending, Err(NotNow::Refused(Refused::ChangePending)));
    eventually("it is given up", || leads.add_voter(NodeId(3)).ok());
    hold(&members, &list(1, &[1, 2, 3]));
}

#[test]
fn a_change_of_another_list_than_the_present_one_is_refused() {
    let (places, folder) = (places(4), Folder::new());
    let join = |id| durable(id, &places, &[1, 2], &folder.0).join().expect("it joins");
    let members: Vec<Election> = (1..=4).map(join).collect();
    let first = leader(&members);
    let leads = &members[first.0 as usize - 1];
    let add = |list, id| leads.change_voters_of(list, VoterChange::Add(NodeId(id)));
    assert_eq!(add(1, 3), Err(NotNow::Refused(Refused::Outdated(0))), "there is no list 1 yet");
    eventually("a change of list 0", || add(0, 3).ok());
    hold(&members, &list(1, &[1, 2, 3]));
    // Somebody who looked before that asks for the next change.
    let late = eventually("an answer of the leader", || {
        let leads = members.iter().find(|member| member.leadership().leads())?;
        leads.change_voters_of(0, VoterChange::Add(NodeId(4))).err()
    });
    assert_eq!(late, NotNow::Refused(Refused::Outdated(1)));
    let line = late.to_string();
    assert!(line.contains("is list 1; look at that first; nothing changed"), "{line}");
    hold(&members, &list(1, &[1, 2, 3]));
}

/// It begins with its record, which has the older list. While it is away the leader needs all the
/// others, so a lease lasts for as long as a machine with slow disks may stall.
#[test]
fn a_voter_that_was_away_while_the_list_changed_adopts_the_newer_one() {
    let (places, folder) = (places(4), Folder::new());
    let ms = |ms| Some(bellwether_core::Duration::from_millis(ms));
    let config = local_leader::Config {
        tokens: Tokens::Durable,
        preset: Preset::Wan,
        renew: ms(500),
        lock: ms(3_000),
        period: ms(3_500),
        expires: ms(5_000),
        ..local_leader::Config::default()
    };
    let join = |id| {
        let config = Config::LocalLeader(config.clone());
        let builder = durable(id, &places, &[1, 2, 3], &folder.0);
        builder.protocol("local-leader", config).join().expect("it joins")
    };
    let mut members: Vec<Election> = (1..=4).map(join).collect();
    let first = leader(&members);
    hold(&members, &list(0, &[1, 2, 3]));
    let leads = |members: &[Election]| {
        let named = members.iter().find(|member| member.leadership().me == first);
        let leadership = named.expect("it runs").leadership();
        (leadership.leads(), leadership.reign)
    };
    let before = leads(&members);
    let away = first.0 % 3 + 1;
    let others: Vec<u64> = (1..=4).filter(|id| *id != away).collect();
    for (change, newer) in [
        (VoterChange::Add(NodeId(4)), list(1, &[1, 2, 3, 4])), // it still votes
        (VoterChange::Remove(NodeId(away)), list(2, &others)), // and now observes
    ] {
        let gone = members.remove(away as usize - 1);
        gone.leave();
        drop(gone);
        let leader = members.iter().find(|member| member.leadership().me == first);
        let leader = leader.expect("it runs");
        eventually("the change begins", || leader.change_voters(change).ok());
        hold(&members, &newer);
        members.insert(away as usize - 1, join(away));
        hold(&members, &newer);
        assert_eq!(self::leader(&members), first);
        assert_eq!(leads(&members), before, "it goes on");
    }
}

#[test]
fn one_voter_more_than_fit_a_datagram_is_refused() {
    let folder = Folder::new();
    let fits = |count: &u64| {
        let all: Vec<String> = (1..=*count).map(|id| format!("{id}=127.0.0.1:{id}")).collect();
        let founders: Vec<u64> = (1..=*count).collect();
        durable(1, &all, &founders, &folder.0).check().is_ok()
    };
    let most = (3..200).rev().find(fits).expect("three voters fit");
    for (count, why) in [(most - 2, Refused::NotLeading), (most - 1, Refused::TooManyVoters)] {
        let (all, folder) = (places(count + 1), Folder::new());
        let founders: Vec<u64> = (1..=count).collect();
        let alone = durable(1, &all, &founders, &folder.0).join().expect("it joins");
        let refused = alone.add_voter(NodeId(count + 1));
        assert_eq!(refused, Err(NotNow::Refused(why)), "{count} voters of at most {most}");
    }
}

/// Three of seven vote. Were only those counted that vote, one mistyped list would stop them.
#[test]
fn observers_count_among_the_members_that_agree_on_a_list() {
    let places = places(7);
    let join = |id, voters: &[u64]| {
        member(id, &places).voters(voters.iter().copied()).join().expect("it joins")
    };
    let members: Vec<Election> = (1..=6).map(|id| join(id, &[1, 2, 3])).collect();
    let first = leader(&members);
    // Longer than a member counts that was heard once, when it read its record.
    sleep(Duration::from_secs(6));
    let known = members[first.0 as usize - 1].status().expect("it runs").members;
    let lately = |ms: f64| ms < 5_000.0;
    let heard = known.iter().filter(|member| member.heard_ms.is_some_and(lately)).count();
    assert_eq!(heard, 5, "{known:?}");
    let odd = join(7, &[1, 2, 7]);
    eventually("it takes no part", || {
        (odd.status().expect("it runs").role == Role::Withdrawn).then_some(())
    });
    for _ in 0..100 {
        for election in &members[..3] {
            let status = election.status().expect("it runs");
            assert_ne!(status.role, Role::Withdrawn, "{:?}", status.warnings);
        }
        sleep(Duration::from_millis(10));
    }
}

#[test]
fn the_best_of_the_list_vote_by_priority_and_then_by_id() {
    let places = places(5);
    let of = |id| member(id, &places).best_voters(3);
    let ranked = |id| of(id).priorities([(5, 2), (4, 1)]);
    for (builder, who) in [
        (of(1), "members 1, 2, 3 vote at first"),
        (ranked(1), "members 1, 4, 5 vote at first"),
        (ranked(5), "members 1, 4, 5 vote at first"),
        (ranked(5).priority(2), "it leads before members of a priority below 2"),
        (ranked(2).witness(true), "it votes and never leads"),
    ] {
        let rules = builder.check().expect("all is well");
        assert!(rules.iter().any(|rule| rule.text.contains(who)), "{who}: {rules:?}");
    }
    for (builder, words) in [
        (of(1).best_voters(6), "the best 6 members are to vote, but 5 are listed"),
        (of(1).best_voters(0), "at least one must vote"),
        (of(1).priority(3), "set `priorities` to 1=3 in all members"),
        (ranked(5).priority(3), "`priority` is 3, but `priorities` has 2 for member 5"),
        (ranked(5).witness(true), "a witness never leads"),
        (of(1).priorities([(9, 1)]), "`priorities` has member 9, which is not in the list"),
        (of(1).priorities([(2, 1), (2, 1)]), "`priorities` has member 2 twice"),
    ] {
        let refused = builder.check().unwrap_err();
        assert!(refused.is_config() && refused.to_string().contains(words), "{refused}");
    }
    let members: Vec<Election> = (1..=5).map(|id| ranked(id).join().expect("it joins")).collect();
    hold(&members, &list(0, &[1, 4, 5]));
    assert!([1, 4, 5].contains(&leader(&members).0));
}

#[test]
fn voters_that_cannot_vote_are_refused() {
    let places = places(3);
    let of = |voters: &[u64]| member(1, &places).voters(voters.iter().copied());
    of(&[1, 2]).check().expect("a part of the list");
    let local = patient_leases(Mode::Local, Tokens::Volatile);
    let open = of(&[1]).peers("dns:localhost:7400".parse().expect("a name"));
    for (builder, words) in [
        (of(&[1, 9]), "voter 9 is not in the list of members"),
        (of(&[1, 2, 1]), "voter 1 is named twice"),
        (of(&[]), "no voter is named"),
        (of(&[1]).protocol("local-leader", local), "only leases from a majority do"),
        (open, "only leases from a majority do"),
    ] {
        let refused = builder.check().unwrap_err();
        assert!(refused.is_config() && refused.to_string().contains(words), "{refused}");
    }
}

#[test]
fn a_member_with_other_founding_voters_is_refused_and_told_so() {
    let places = places(4);
    let join = |id, voters: &[u64]| {
        member(id, &places).voters(voters.iter().copied()).join().expect("it joins")
    };
    let all: [u64; 4] = [1, 2, 3, 4];
    let mut members: Vec<Election> = (1..=3).map(|id| join(id, &[1, 2, 3])).collect();
    leader(&members);
    members.push(join(4, &[1, 2, 4]));
    let odd = &members[3];
    eventually("it takes no part", || {
        let status = odd.status().expect("it runs");
        let told = status.warnings.iter().any(|line| line.contains("voters=1+2+4"));
        (status.role == Role::Withdrawn && told).then_some(())
    });
    assert!(leader(&members[..3]).0 <= 3, "the group goes on");
    // All members are the default, written out.
    let default = Election::builder("test").peers(peers(&places)).id(1).insecure();
    let rules = |builder: Builder| builder.check().expect("all is well").len();
    assert_eq!(rules(default.clone()), rules(default.voters(all)));
}
