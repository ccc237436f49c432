//! lockTime and ρ change in every schedule, and leases keep what they promise.

use crate::{follow_the_proof, lan, ms, newest_list};
use bellwether_check::{FaultKind, FaultKinds, FaultMix, Trial};
use bellwether_core::{Duration, Fact, Leadership, SimTime};
use bellwether_protocols::choice::Choice;
use bellwether_protocols::local_leader::{LocalLeader, Mode};
use bellwether_sim::network::{Delay, Loss, Network};
use bellwether_sim::{Cause, Fault, Observer, Plan, RunSeed, Scene, Timed, Who, World, id};

/// Alone, beside all other faults, and while voters change, too.
fn mixes() -> [FaultMix; 3] {
    let forced =
        |kinds: &[FaultKind]| FaultMix { forced: FaultKinds::of(kinds), ..FaultMix::default() };
    [
        FaultMix::only(&[FaultKind::Lengths]),
        forced(&[FaultKind::Lengths]),
        forced(&[FaultKind::Lengths, FaultKind::Members]),
    ]
}

#[test]
fn leases_keep_their_promise_while_locks_become_longer_and_shorter() {
    let choice = Choice::from(lan(Mode::Majority));
    for (nodes, seed) in [(3, 1), (5, 2), (4, 3), (2, 4)] {
        for (number, mix) in mixes().into_iter().enumerate() {
            let mut trial = Trial::new(&choice, nodes, None, seed);
            trial.mix = mix;
            let what = format!("mix {number}");
            let report = follow_the_proof(&trial, &choice, (1_000, 200), &what);
            assert!(report.tally.trouble.of(FaultKind::Lengths) >= 1_000);
        }
    }
}

/// How many committed lists with a longer and with a shorter lockTime than the founding one.
#[derive(Default)]
struct Seen {
    longer: u64,
    shorter: u64,
    newest: u64,
}

const FOUNDING: Duration = Duration::from_millis(150);

impl Observer<LocalLeader> for Seen {
    const LOOKS: bool = true;

    fn on_step(&mut self, node: u32, scene: &Scene<'_, LocalLeader>) {
        let Some(state) = scene.node(node) else { return };
        let (mut new, newest) = (false, &mut self.newest);
        let (mut longer, mut shorter) = (0, 0);
        state.facts(scene.clock(node), &mut |fact| match fact {
            Fact::List { version, committed } => {
                new = committed && version > *newest;
                *newest = if new { version } else { *newest };
            }
            Fact::Lengths { lock, .. } if new => {
                longer = u64::from(lock > FOUNDING);
                shorter = u64::from(lock < FOUNDING);
            }
            _ => {}
        });
        self.longer += longer;
        self.shorter += shorter;
    }
}

/// Random changes are not in vain: many groups get other lockTimes in spite of all faults.
#[test]
fn locks_really_change() {
    let choice = Choice::from(lan(Mode::Majority));
    let mut trial = Trial::new(&choice, 5, None, 1);
    trial.mix.forced = FaultKinds::of(&[FaultKind::Lengths]);
    let mut world = World::<LocalLeader>::new(lan(Mode::Majority).layered());
    let mut seen = Seen::default();
    for number in 0..300 {
        let schedule = trial.schedule(number);
        seen.newest = 0;
        world.run(&schedule.plan, schedule.run_seed(), &mut seen);
    }
    assert!(seen.longer > 100 && seen.shorter > 20, "{} and {}", seen.longer, seen.shorter);
}

/// Who began to lead, and the newest committed list.
#[derive(Default)]
struct Reigns {
    begun: Vec<(u32, SimTime)>,
    leads: Option<u32>,
    lists: u64,
}

impl Observer<LocalLeader> for Reigns {
    const LOOKS: bool = true;

    fn on_change(&mut self, at: SimTime, node: u32, told: &Leadership<'_>, _: Option<Cause>) {
        let leads = told.names(id(node));
        if leads && self.leads != Some(node) {
            self.begun.push((node, at));
            self.leads = Some(node);
        } else if !leads {
            self.leads = self.leads.filter(|leader| *leader != node);
        }
    }

    fn on_step(&mut self, node: u32, scene: &Scene<'_, LocalLeader>) {
        self.lists = self.lists.max(newest_list(node, scene));
    }
}

/// lockTime becomes longer, shorter and as it was, and ρ greater and smaller, while messages are
/// fast and nobody fails.
#[test]
fn a_leader_leads_on_while_lock_times_change() {
    let lengths = |at, lock: Option<u64>, drift_ppm| {
        let fault = Fault::Lengths { node: Who::Leader, lock: lock.map(ms), drift_ppm };
        Timed { at: ms(at), fault }
    };
    let faults = vec![
        lengths(3_000, Some(450), None),
        lengths(5_000, Some(100), None),
        lengths(7_000, None, Some(400)),
        lengths(9_000, Some(300), Some(200)),
        lengths(11_000, Some(150), Some(400)),
        lengths(13_000, Some(150), Some(200)),
    ];
    let changes = faults.len() as u64;
    let network = Network::uniform(Delay::Uniform { min: ms(0), max: ms(2) }, Loss::None);
    for nodes in [3, 5] {
        let plan = Plan { network: network.clone(), faults: faults.clone(), ..Plan::new(nodes) };
        let plan = Plan { horizon: ms(15_000), drift: 200_000, ..plan };
        let mut world = World::<LocalLeader>::new(lan(Mode::Majority).layered());
        for seed in 1..=20 {
            let mut reigns = Reigns::default();
            world.run(&plan, RunSeed::new(seed, 0), &mut reigns);
            let Reigns { begun, lists, .. } = reigns;
            assert_eq!(lists, changes, "{nodes} processes, seed {seed}: lists");
            assert!(begun.len() == 1, "{nodes} processes, seed {seed}: {begun:?}");
        }
    }
}
