//! The number of a partition: what a leader and its members tell of it.

use super::*;

/// The number and the members that a process tells.
fn view(process: &Process) -> Option<(u64, Vec<u64>)> {
    let number = process.facts().into_iter().find_map(|fact| match fact {
        Fact::Partition { version } => Some(version),
        _ => None,
    });
    number.map(|number| (number, [supporters(process), members(process)].concat()))
}

/// The request of a local leader whose partition has this number.
fn renew_of(sent: u64, number: u64, supporters: &[u64]) -> Message {
    let mut body = renew(sent, supporters);
    if let Message::Election { token, .. } = &mut body {
        *token = Some(number);
    }
    body
}

/// The vote of a process that was in the partition with this number.
fn yes_of(sent: u64, number: u64) -> Message {
    in_term(number, yes(sent))
}

#[test]
fn a_leader_counts_its_partitions_from_the_greatest_number_that_a_supporter_knows() {
    let mut process = local_leader(local());
    assert_eq!(view(&process), Some((1, vec![1, 2])));
    hear(&mut process, 2, yes(181));
    assert_eq!(view(&process), Some((1, vec![1, 2])), "it is the same");
    process.ring();
    assert_eq!(process.now(), at(231), "it asks for longer");
    process.message(2, Packet { bound: AT_ONCE, body: yes_of(231, 1) });
    process.message(3, Packet { bound: AT_ONCE, body: yes_of(231, 7) });
    assert_eq!(view(&process), Some((8, vec![1, 2, 3])), "3 comes from another partition");
}

#[test]
fn a_follower_knows_its_partition_once_its_leader_counts_it() {
    let mut process = start(3, local());
    hear(&mut process, 1, renew_of(0, 4, &[1, 2]));
    assert_eq!(view(&process), None, "it supports the leader, which does not know it yet");
    until(&mut process, 50);
    hear(&mut process, 1, renew_of(50, 5, &[1, 2, 3]));
    assert_eq!(view(&process), Some((5, vec![1, 2, 3])));
    until(&mut process, 100);
    hear(&mut process, 1, renew_of(100, 6, &[1, 3]));
    assert_eq!(view(&process), Some((6, vec![1, 3])));
    // A request that a later one overtook says nothing new.
    hear(&mut process, 1, renew_of(60, 5, &[1, 2, 3]));
    assert_eq!(view(&process), Some((6, vec![1, 3])));
    until(&mut process, 260);
    assert_eq!(view(&process), None, "its leader is silent");
}

#[test]
fn by_majority_there_is_no_number() {
    let mut process = leader(majority());
    assert_eq!(view(&process), None);
    process.ring();
    let mut process = start(3, majority());
    hear(&mut process, 1, renew(0, &[1, 2, 3]));
    assert_eq!((view(&process), members(&process)), (None, vec![1, 2, 3]));
}
