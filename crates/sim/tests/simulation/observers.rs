//! The end of the lease, as observers tell it: no leader leads beyond it.
//!
//! Three vote and four observe, so that observers hear every request. Clocks drift. The leader is
//! cut off from all others, and goes on to lead until its lease ends.

use crate::support::{at, constant, fault, ms, plan};
use bellwether_core::{Duration, SimTime};
use bellwether_protocols::local_leader::{Config, LocalLeader, Params};
use bellwether_sim::network::Loss;
use bellwether_sim::{Fault, Observer, Plan, RunSeed, Scene, Timed, Who, World, id};

const NODES: u32 = 7;
const VOTERS: u32 = 3;
/// A message takes 2 ms, and processes are looked at once a millisecond.
const LITTLE: Duration = ms(5);

/// What observers told while the first process led, though nothing of it reaches them.
struct Seen {
    /// From when on.
    since: SimTime,
    /// How often it led, and an observer told that its lease lasts.
    lasts: u64,
    /// How often it led, and an observer told that its lease is over, or named nobody.
    over: u64,
    /// How often it led, and an end that is a little earlier would have been over.
    close: u64,
    /// How often it led no longer, and an observer still told that its lease lasts.
    late: u64,
}

impl Observer<LocalLeader> for Seen {
    const LOOKS: bool = true;

    fn on_step(&mut self, _node: u32, scene: &Scene<'_, LocalLeader>) {
        let Some(leader) = scene.node(0).filter(|_| scene.at() >= self.since) else { return };
        let leads = leader.leadership(scene.clock(0)).names(id(0));
        for node in VOTERS..NODES {
            let (Some(state), now) = (scene.node(node), scene.clock(node)) else { continue };
            let end = state.lease_end(now).filter(|_| state.leadership(now).names(id(0)));
            let lasts = end.is_some_and(|end| now < end);
            self.close += u64::from(leads && end.is_some_and(|end| now + LITTLE >= end));
            self.lasts += u64::from(leads && lasts);
            self.over += u64::from(leads && !lasts);
            self.late += u64::from(!leads && lasts);
        }
    }
}

#[test]
fn while_a_leader_leads_no_observer_tells_that_its_lease_is_over() {
    let params = Params::try_from(Config::default()).expect("valid parameters");
    let mut close = 0;
    for seed in 0..40 {
        let cut = 1_000 + seed * 7;
        let others: Vec<u32> = (1..NODES).collect();
        let mut faults: Vec<Timed> = vec![
            fault(cut, Fault::Cut { from: vec![0], to: others.clone() }),
            fault(cut, Fault::Cut { from: others, to: vec![0] }),
        ];
        // A command that is refused is a step: all of them are looked at once a millisecond.
        let look = |at| fault(at, Fault::Campaign { node: Who::Node(NODES - 1) });
        faults.extend((cut + 1..cut + 200).map(look));
        let group = plan(NODES, constant(2, Loss::None), ms(cut + 400), faults);
        let group = Plan { founders: (0..VOTERS).collect(), drift: 200_000, ..group };
        let mut world = World::<LocalLeader>::new(params.clone().layered());
        let mut seen = Seen { since: at(cut), lasts: 0, over: 0, close: 0, late: 0 };
        world.run(&group, RunSeed::new(seed, 0), &mut seen);
        assert_eq!(seen.over, 0, "seed {seed}: it led after the end that was told");
        assert!(seen.lasts > 200, "seed {seed}: {}", seen.lasts);
        close += u64::from(seen.close > 0);
        // The votes for the last request may be lost: then the lease ends a period earlier.
        assert!(seen.late <= 4 * 60, "seed {seed}: {} times later", seen.late);
    }
    assert!(close > 30, "an end {LITTLE} earlier would be wrong in {close} of 40 groups");
}
