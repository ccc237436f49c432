//! A leader that is killed: its guardian releases those that support it, and the next one leads
//! before its lease is over. Without a guardian the lease runs out.

use crate::lab::clock::{millis, sleep};
use crate::lab::group::{Group, Shape};
use crate::stage;
use bellwether::protocols::local_leader::Preset;

/// The settled group's leader, when all that it told outside is over, and half-way between two
/// renewals: one that reaches only some voters costs a round more than the bound of these tests.
fn silent_leader(group: &mut Group) -> u64 {
    group.settled(&group.ids());
    sleep(group.params().lock() * 3 + group.params().renew() / 2);
    group.settled(&group.ids())
}

#[test]
fn a_killed_leader_is_replaced_before_its_lease_is_over() {
    let _stage = stage();
    for (size, preset) in [(3, Preset::Lan), (5, Preset::Lan), (3, Preset::Fast)] {
        let mut group = Group::started(Shape { preset, ..Shape::lan(size) });
        let mut early = 0;
        for _ in 0..5 {
            let leader = silent_leader(&mut group);
            let begun = group.crash(leader);
            let (_, took) = group.replaced(leader, begun);
            let lease = group.lease(leader);
            println!("{} ms, lease {} ms", millis(took), millis(lease.since(begun)));
            early += u32::from(begun + took < lease);
            group.assert_within("released", took, group.failover(0), begun);
            group.restart(leader);
        }
        group.settled(&group.ids());
        assert!(early >= 3, "{early} of 5 were replaced before their leases were over");
        group.calm();
        group.acquit();
    }
}

#[test]
fn a_leader_that_is_killed_with_its_guardian_keeps_its_lease() {
    let _stage = stage();
    let mut group = Group::started(Shape::lan(3));
    for _ in 0..3 {
        let leader = silent_leader(&mut group);
        let begun = group.crash_all(leader);
        let (_, took) = group.replaced(leader, begun);
        let lease = group.lease(leader);
        assert!(begun + took >= lease, "{} before the end", millis(lease.since(begun + took)));
        group.assert_within("lease", took, group.failover(0), begun);
        group.restart(leader);
    }
    group.settled(&group.ids());
    group.calm();
    group.acquit();
}
