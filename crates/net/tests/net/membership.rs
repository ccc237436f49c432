//! Local leaders as a membership service, and answers that come through others.

use crate::support::{PATIENCE, eventually, leader, member, patient_leases, places};
use bellwether_core::{Duration, Instant, NodeId};
use bellwether_net::{Election, Partition};
use bellwether_protocols::choice::Config;
use bellwether_protocols::local_leader::{self, Mode, Preset, Tokens};

fn group(count: u64, config: &Config) -> Vec<Election> {
    let places = places(count);
    let join = |id| member(id, &places).protocol("local-leader", config.clone()).join();
    (1..=count).map(|id| join(id).expect("it joins")).collect()
}

/// The partition of these members, once each of them tells the same.
fn partition(members: &[Election]) -> Partition {
    let ids: Vec<NodeId> = members.iter().map(|election| election.leadership().me).collect();
    eventually("a partition that all know", || {
        let first = members.first()?.partition().filter(|known| known.members == ids)?;
        let same = |election: &Election| election.partition().as_ref() == Some(&first);
        members.iter().all(same).then_some(first)
    })
}

#[test]
fn every_member_knows_its_partition_and_is_told_of_changes() {
    let mut members = group(3, &patient_leases(Mode::Local, Tokens::Volatile));
    let all = partition(&members);
    let leads = all.leader;
    assert_eq!(leader(&members), leads);
    let status = members[0].status().expect("it runs");
    assert_eq!(status.partition.as_ref(), Some(&all), "the status shows the same");
    // A member that follows leaves, and the others are told.
    let gone = members.iter().rposition(|election| election.leadership().me != leads);
    members.remove(gone.expect("two follow")).leave();
    let mut known = all.clone();
    let now = loop {
        let next = members[0].next_partition(Some(&known), PATIENCE);
        match next.filter(|next| *next != known) {
            Some(next) if next.members.len() == 2 => break next,
            Some(next) => known = next,
            // Between two leases it belongs to none.
            None => assert!(members[0].partition() != Some(known.clone()), "it is told in time"),
        }
    };
    assert!(now.version > all.version, "{now:?} {all:?}");
    assert_eq!(partition(&members).members, now.members);
}

#[test]
fn by_majority_there_is_no_partition() {
    let members = group(3, &patient_leases(Mode::Majority, Tokens::Volatile));
    leader(&members);
    assert!(members.iter().all(|election| election.partition().is_none()));
    assert_eq!(members[0].status().expect("it runs").partition, None);
}

/// Five members whose answers go through a chain keep their leader, in both modes.
#[test]
fn answers_through_others_keep_a_live_leader() {
    for mode in [Mode::Majority, Mode::Local] {
        let (preset, tokens, tree) = (Preset::Wan, Tokens::Volatile, 1);
        let other = local_leader::Config::default();
        let config = local_leader::Config { mode, preset, tokens, tree, ..other };
        let members = group(5, &Config::LocalLeader(config));
        leader(&members);
        // Without the answers of others a lease of 900 ms would not be renewed. A machine that
        // stalls may cost a reign, so the longest counts.
        let mut reigns: Vec<(u64, Instant)> = vec![(0, Instant::ZERO); members.len()];
        let first = eventually("a reign of three leases", || {
            let mut pairs = members.iter().zip(&mut reigns);
            pairs.find_map(|(election, (reign, began))| {
                let now = election.leadership();
                if !now.leads() || now.reign != *reign {
                    (*reign, *began) = (now.reign, now.until);
                }
                let led = now.leads() && now.until.since(*began) > Duration::from_millis(2_700);
                led.then_some(election)
            })
        });
        eventually("the support of all", || {
            let status = first.status().ok()?;
            let supporters = status.members.iter().filter(|member| member.supports);
            (supporters.count() == 5).then_some(())
        });
    }
}
