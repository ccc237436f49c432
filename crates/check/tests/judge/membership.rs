//! Local leaders as a membership service: each process knows its partition, whose number grows with
//! every change and means the same processes to all that one leader leads.

use crate::lan;
use bellwether_check::FaultKind::{Crash, Loss, NonTransitive, OneWay, Partition, QuickRestart};
use bellwether_check::{FaultMix, Trial};
use bellwether_core::{Fact, NodeId};
use bellwether_protocols::choice::Choice;
use bellwether_protocols::local_leader::{LocalLeader, Mode};
use bellwether_sim::{Observer, Scene, World};
use std::collections::BTreeMap;

/// A leader, its life, and the number of its partition.
type Name = (NodeId, u64, u64);

/// The partitions that processes told of in one run.
#[derive(Default)]
struct Views {
    /// The members of each.
    members: BTreeMap<Name, Vec<NodeId>>,
    /// The last one of each life of a process.
    last: BTreeMap<(u32, u64), (u64, Vec<NodeId>)>,
    changes: u64,
}

impl Observer<LocalLeader> for Views {
    const LOOKS: bool = true;

    fn on_step(&mut self, node: u32, scene: &Scene<'_, LocalLeader>) {
        let Some(state) = scene.node(node) else { return };
        let now = scene.clock(node);
        let (mut version, mut members, mut life, mut granted) = (None, Vec::new(), 0, None);
        state.facts(now, &mut |fact| match fact {
            Fact::Partition { version: number } => version = Some(number),
            Fact::Supporter { peer } | Fact::Member { peer } => members.push(peer),
            Fact::Life { number } => life = number,
            Fact::Granted { life, .. } => granted = Some(life),
            _ => {}
        });
        let Some(version) = version else { return };
        let leadership = state.leadership(now);
        let &[leader] = leadership.leaders else { panic!("it belongs to a leader's partition") };
        members.sort_unstable();
        let me = NodeId(u64::from(node));
        assert!(members.contains(&me), "{node} belongs to {members:?}");
        let leader_life = if leader == me { Some(life) } else { granted };
        let name = (leader, leader_life.expect("it is locked to its leader"), version);
        let known = self.members.entry(name).or_insert_with(|| members.clone());
        assert_eq!(*known, members, "{node} tells another partition by the name {name:?}");
        let now = (version, members);
        let before = self.last.insert((node, life), now.clone());
        if let Some(before) = before.filter(|before| *before != now) {
            assert!(before.0 < now.0, "{node}: the number falls, or stays: {before:?}, {now:?}");
            self.changes += 1;
        }
    }
}

#[test]
fn a_number_grows_with_the_partition_and_means_the_same_to_all() {
    for (nodes, seed) in [(3, 71), (5, 72), (7, 73)] {
        let params = lan(Mode::Local);
        let mut trial = Trial::new(&Choice::from(params.clone()), nodes, None, seed);
        let kinds = [Crash, Loss, NonTransitive, OneWay, Partition, QuickRestart];
        trial.mix = FaultMix::only(&kinds);
        let mut world = World::<LocalLeader>::new(params.layered());
        let (mut changes, mut partitions) = (0, 0);
        for number in 0..100 {
            let schedule = trial.schedule(number);
            let mut views = Views::default();
            world.run(&schedule.plan, schedule.run_seed(), &mut views);
            (changes, partitions) = (changes + views.changes, partitions + views.members.len());
        }
        println!("{nodes} processes: {partitions} partitions, {changes} changes");
        assert!(partitions > 300 && changes > 500, "{nodes}: {partitions} {changes}");
    }
}

/// In majority mode the list of voters has a number, and there is no partition.
#[test]
fn by_majority_nobody_belongs_to_a_partition() {
    let params = lan(Mode::Majority);
    let trial = Trial::new(&Choice::from(params.clone()), 3, None, 74);
    let mut world = World::<LocalLeader>::new(params.layered());
    let mut views = Views::default();
    let schedule = trial.schedule(0);
    world.run(&schedule.plan, schedule.run_seed(), &mut views);
    assert!(views.members.is_empty(), "{:?}", views.members);
}
