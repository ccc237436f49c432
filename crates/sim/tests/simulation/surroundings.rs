//! Features of the world for checkers: looking at it after every step, changing networks, reboots,
//! unsynchronised clocks, misconfigured members, observers of receptions, and ranks.

use crate::support::ping::{Ping, Pings};
use crate::support::{
    at, constant, fault, ms, node, p, params, plan, receives, scenario, times, trace,
};
use bellwether_core::{Duration, Event, Instant, NodeId, Protocol, Record, SimTime};
use bellwether_protocols::announce_listen::{AnnounceListen, Config, Criterion, Params, Variant};
use bellwether_sim::network::{Bursts, Delay, Loss, Network};
use bellwether_sim::{
    BadPlan, Cause, Disk, Fault, Observer, Plan, RunSeed, Scene, Timed, Tracer, World,
    trace::digest,
};

fn becomes(millis: u64, network: Network) -> Timed {
    fault(millis, Fault::Network { network: Box::new(network) })
}

#[test]
fn a_change_of_the_network_is_for_what_is_sent_after_it() {
    let faults = vec![
        becomes(250, constant(30, Loss::None)),
        becomes(450, constant(10, Loss::Uncorrelated(p(1.0)))),
        becomes(650, constant(5, Loss::None)),
    ];
    let plan = plan(2, constant(60, Loss::None), ms(800), faults);
    let records = trace::<Ping>(&Pings::to_all(ms(100)), &plan, 1);
    // Sent at 100, …, 800; the one of 200 was in flight when the network changed.
    assert_eq!(times(&records, 1, receives), [160, 260, 330, 430, 705].map(at));
}

/// Plain, bursty and duplicating networks, one after the other, while messages are in flight.
fn changing() -> Plan {
    let bursts = Bursts { worsen: p(0.2), recover: p(0.3), good: p(0.05), bad: p(0.9) };
    let unruly = Network {
        duplicate: p(0.3),
        ..Network::uniform(Delay::Exponential { min: ms(1), mean: ms(80) }, Loss::Bursts(bursts))
    };
    let faults = vec![
        becomes(1_020, unruly.clone()),
        becomes(2_010, constant(90, Loss::Correlated(p(0.3)))),
        becomes(3_030, unruly),
        fault(3_500, Fault::Crash { node: node(4) }),
        becomes(4_000, constant(20, Loss::None)),
    ];
    plan(6, constant(150, Loss::Uncorrelated(p(0.4))), ms(8_000), faults)
}

#[test]
fn a_changing_network_gives_the_same_run_with_and_without_batches() {
    for variant in Variant::ALL {
        let params = params(variant, ms(2_500));
        let mut each = World::<AnnounceListen>::new(params.clone()).without_batches();
        let mut all = World::<AnnounceListen>::new(params);
        for seed in 0..20 {
            let [mut one, mut other] = [Tracer::default(), Tracer::default()];
            let run_seed = RunSeed::new(seed, 0);
            // Twice: the network of the last run must not be left over.
            all.run(&changing(), run_seed, &mut ());
            let first = all.run(&changing(), run_seed, &mut one);
            let second = each.run(&changing(), run_seed, &mut other);
            assert_eq!(first, second, "{} {seed}", variant.name());
            let drops = |records: &[Record]| -> Vec<_> {
                let is_drop = |record: &&Record| matches!(record.event, Event::Drop { .. });
                records.iter().filter(is_drop).cloned().collect()
            };
            assert_eq!(drops(&one.records).len(), drops(&other.records).len());
            for who in 0..6 {
                let got = |records: &[Record]| times(records, who, receives);
                assert_eq!(got(&one.records), got(&other.records), "{} {seed}", variant.name());
            }
        }
    }
}

#[test]
fn a_network_to_come_is_checked_like_the_first() {
    let slow = becomes(10, constant(u64::MAX / 1_000_000, Loss::None));
    let far = Plan { faults: vec![slow], ..Plan::new(2) };
    assert!(matches!(far.check(), Err(BadPlan::Delay(_))));
    let link = bellwether_sim::network::Link { from: 0, to: 2, delay: None, loss: None };
    let strange = becomes(10, Network { links: vec![link], ..Network::default() });
    let plan = Plan { faults: vec![strange], ..Plan::new(2) };
    assert_eq!(plan.check(), Err(BadPlan::NoSuchNode { node: 2, nodes: 2 }));
}

#[test]
fn a_scenario_file_changes_the_network_and_reboots_machines() {
    let file = scenario(
        "protocol = \"le-s\"\nnodes = 3\nabsent = [1]\nuntil = \"9s\"\noffset = \"5s\"\n\
         [[faults]]\nat = \"1s\"\nwhat = \"network\"\nnetwork.duplicate = 1\n\
         network.multicast.loss.uncorrelated = 0.5\n\
         [[faults]]\nat = \"2s\"\nwhat = \"restart\"\nnode = 1\nreboot = true\n",
    );
    assert_eq!(file.plan.offset, Duration::from_secs(5));
    let Fault::Network { network } = &file.plan.faults[0].fault else { panic!("{file:?}") };
    assert_eq!(network.duplicate, p(1.0));
    assert_eq!(network.multicast.loss, Loss::Uncorrelated(p(0.5)));
    let again = Fault::Restart { node: node(1), disk: Disk::Kept, reboot: true };
    assert_eq!(file.plan.faults[1].fault, again);
}

/// What each process's clock read at its steps, and which steps there were.
#[derive(Default)]
struct Looker {
    steps: Vec<(SimTime, u32, bool, Instant)>,
}

impl<P: Protocol> Observer<P> for Looker {
    const LOOKS: bool = true;

    fn on_step(&mut self, node: u32, scene: &Scene<'_, P>) {
        assert_eq!((scene.len(), scene.is_empty()), (2, false));
        assert!(scene.node(scene.len()).is_none());
        assert!(scene.when(node, scene.clock(node)) <= scene.at());
        self.steps.push((scene.at(), node, scene.node(node).is_some(), scene.clock(node)));
    }
}

fn looked(faults: Vec<Timed>, offset: Duration) -> Vec<(SimTime, u32, bool, Instant)> {
    let plan = Plan { offset, ..plan(2, constant(10, Loss::None), ms(350), faults) };
    let mut looker = Looker::default();
    World::<Ping>::new(Pings::to_all(ms(100))).run(&plan, RunSeed::new(1, 0), &mut looker);
    looker.steps
}

#[test]
fn the_world_is_shown_after_every_step_and_nothing_else() {
    let faults = vec![
        fault(150, Fault::Pause { node: node(1) }),
        fault(230, Fault::Resume { node: node(1) }),
        fault(240, Fault::Resign { node: node(1) }),
        fault(250, Fault::Crash { node: node(1) }),
        fault(260, Fault::Restart { node: node(1), disk: Disk::Kept, reboot: true }),
        fault(320, Fault::Leave { node: node(0) }),
    ];
    let (there, gone) = (true, false);
    let seen: Vec<_> =
        looked(faults, Duration::ZERO).iter().map(|(at, node, is, _)| (*at, *node, *is)).collect();
    let expected = [
        (0, 0, there), // both start
        (0, 1, there),
        (100, 0, there), // it sends
        (110, 1, there), // and the other receives
        (200, 0, there),
        (230, 1, there), // what waited while it stood still
        (240, 1, there), // a command, though refused
        (250, 1, gone),
        (260, 1, there),
        (300, 0, there),
        (310, 1, there),
        (320, 0, gone),
    ];
    assert_eq!(seen, expected.map(|(millis, node, is)| (at(millis), node, is)));
}

#[test]
fn a_machine_that_reboots_begins_its_clock_anew() {
    let restart = |reboot| {
        let faults = vec![
            fault(250, Fault::Crash { node: node(1) }),
            fault(260, Fault::Restart { node: node(1), disk: Disk::Kept, reboot }),
        ];
        let steps = looked(faults, Duration::ZERO);
        let mine = steps.iter().filter(|(_, node, is, _)| *node == 1 && *is);
        mine.map(|(_, _, _, reads)| reads.as_nanos() / 1_000_000).collect::<Vec<_>>()
    };
    assert_eq!(restart(false), [0, 110, 210, 260, 310]);
    assert_eq!(restart(true), [0, 110, 210, 0, 50]);
}

#[test]
fn clocks_that_never_agreed_measure_the_same_lengths() {
    let (apart, together) = (looked(vec![], ms(5_000)), looked(vec![], Duration::ZERO));
    let [first, second] = [apart[0].3, apart[1].3];
    assert!(first != second && first.max(second) < Instant::ZERO + ms(5_000));
    for (one, other) in apart.iter().zip(&together) {
        let began = if one.1 == 0 { first } else { second };
        assert_eq!(
            (one.0, one.1, one.3.since(began)),
            (other.0, other.1, other.3.since(Instant::ZERO))
        );
    }
}

#[test]
fn one_member_can_have_other_parameters_than_the_rest() {
    let plan = plan(3, constant(10, Loss::None), ms(450), vec![]);
    let both = Pings { speakers: 2, ..Pings::to_all(ms(200)) };
    let hasty = Pings { every: ms(100), ..both };
    let mut tracer = Tracer::default();
    let mut world = World::<Ping>::new(both).with_params_of(1, hasty);
    world.run(&plan, RunSeed::new(1, 0), &mut tracer);
    let from = |sender: u64| {
        times(
            &tracer.records,
            2,
            |event| matches!(event, Event::Recv { from, .. } if *from == NodeId(sender)),
        )
    };
    assert_eq!(from(0), [210, 410].map(at));
    assert_eq!(from(1), [110, 210, 310, 410].map(at));
    let mut same = Tracer::default();
    World::<Ping>::new(both).with_params_of(1, both).run(&plan, RunSeed::new(1, 0), &mut same);
    assert_eq!(digest(&same.records), digest(&trace::<Ping>(&both, &plan, 1)));
}

/// Counts what each process hears.
#[derive(Default)]
struct Ears(Vec<u32>);

impl Observer<AnnounceListen> for Ears {
    const HEARS: bool = true;

    fn on_receive(&mut self, at: SimTime, node: u32, cause: Cause) {
        assert_eq!(at.since(cause.sent), ms(150), "the delay of this network");
        self.0.resize(self.0.len().max(node as usize + 1), 0);
        self.0[node as usize] += 1;
    }
}

#[test]
fn who_listens_hears_every_message_also_those_below_a_bar() {
    let network = constant(150, Loss::Uncorrelated(p(0.4)));
    let plan = plan(6, network, ms(8_000), Vec::new());
    let params = params(Variant::Al, ms(2_500));
    let mut all = World::<AnnounceListen>::new(params.clone());
    let mut each = World::<AnnounceListen>::new(params).without_batches();
    let [mut one, mut other] = [Ears::default(), Ears::default()];
    let outcome = all.run(&plan, RunSeed::new(3, 0), &mut one);
    assert_eq!(each.run(&plan, RunSeed::new(3, 0), &mut other), outcome);
    assert_eq!(one.0, other.0);
    assert_eq!(one.0.iter().sum::<u32>() as u64, outcome.deliveries);
    assert!(one.0.iter().all(|heard| *heard > 0));
}

#[test]
fn a_rank_that_was_measured_decides() {
    let config = Config { criterion: Some(Criterion::Rank), ..Config::new(Variant::LeS) };
    let params = Params::try_from(config).unwrap();
    let plan = plan(5, constant(10, Loss::None), ms(5_000), Vec::new());
    let mut world = World::<AnnounceListen>::new(params).with_rank_of(1, 77).with_rank_of(4, 0);
    world.run(&plan, RunSeed::new(1, 0), &mut ());
    for node in 0..5 {
        let state = world.node(node).expect("nobody left");
        assert!(state.leadership(world.clock(node)).names(NodeId(1)), "process {node}");
    }
}
