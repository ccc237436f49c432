//! The same seed gives the same run: twice, on any number of threads, with or without batches, for
//! any observer. What happens to one process does not change the random draws of another.

use crate::support::rough::Rough;
use crate::support::{
    at, constant, experiment, fault, ms, node, p, params, plan, sends, times, trace,
};
use bellwether_core::{
    Dest, Duration, Event, Fact, Instant, Leadership, Node, Protocol, Record, SimTime,
};
use bellwether_protocols::announce_listen::{AnnounceListen, Message, Variant};
use bellwether_protocols::choice::Choice;
use bellwether_protocols::local_leader::{self, Config, LocalLeader, Mode, Preset};
use bellwether_sim::network::{Bursts, Delay, Loss, Network};
use bellwether_sim::{
    Cause, Churn, Disk, Engine, Experiment, Fault, Observer, Outcome, Plan, RunSeed, Scenario,
    Tracer, Who, World, trace::digest, trace::transcript,
};

/// The runs whose digests are pinned: a group of twelve with most kinds of faults.
fn eventful(network: Network) -> Plan {
    let faults = vec![
        fault(1_500, Fault::Drift { node: node(4), parts_per_billion: 50_000_000 }),
        fault(2_200, Fault::Pause { node: node(2) }),
        fault(3_100, Fault::Crash { node: Who::Leader }),
        fault(3_300, Fault::Join { node: node(7) }),
        fault(4_800, Fault::Resume { node: node(2) }),
        fault(5_000, Fault::Cut { from: vec![0, 1, 2], to: vec![9, 10] }),
        fault(6_000, Fault::Restart { node: node(11), disk: Disk::Kept, reboot: false }),
        fault(6_500, Fault::Heal),
        fault(7_000, Fault::Slow { node: node(5), by: ms(80) }),
        fault(8_000, Fault::Leave { node: node(9) }),
    ];
    Plan { absent: vec![7], ..plan(12, network, ms(10_000), faults) }
}

fn plain() -> Network {
    constant(100, Loss::Uncorrelated(p(0.3)))
}

/// A network in which a multicast is more than one event.
fn unruly() -> Network {
    let bursts = Bursts { worsen: p(0.1), recover: p(0.4), good: p(0.05), bad: p(0.9) };
    let delay = Delay::Exponential { min: ms(20), mean: ms(60) };
    let network = Network::uniform(delay, Loss::Bursts(bursts));
    Network { duplicate: p(0.1), reorder: p(0.1), ..network }
}

/// Digests of the eventful run of seed 1, in the plain and in the unruly network.
///
/// Change only with an explanation: a change of these changes the result of every recorded seed.
const GOLDEN: [(&str, u64, u64); 12] = [
    ("le-a", 0x522c6c62e790c064, 0xe34648840e372888),
    ("le-s", 0x738f0c82e3195d11, 0x548eb5117d87d561),
    ("le-m", 0x9372cce7e03ea812, 0xf39e2a357059e635),
    ("sup", 0xdcc436849d2f2eea, 0x2b8c5cb5f1359047),
    ("al", 0xe51751918d3458ae, 0xd3240237777fc242),
    ("query", 0x718f8440f2a62a5e, 0x17da517b285af20d),
    ("suppress-query", 0x91c24cddd074e772, 0x7b6c5a5153d0a7ae),
    ("sup-al-elect", 0x8ea98d77d30360f8, 0xa8e5b75ba5cede30),
    ("sup-al-limit", 0x2c19facaf33cf7a5, 0x88045f3a72f7b323),
    ("sup-al-spread", 0x00c186dafd69df3a, 0x83095596e5dcfa51),
    ("local-leader", 0xe81782047145cc85, 0x35a1288e129bb836),
    ("local-leader, local", 0xced764502da3bf99, 0x6537203852ab2315),
];

/// The digests of one protocol's runs in both networks.
fn digests<P: Protocol>(name: &'static str, params: &P::Params) -> (&'static str, u64, u64) {
    let [plain, unruly] = [plain(), unruly()].map(|network| {
        let plan = eventful(network);
        let once = digest(&trace::<P>(params, &plan, 1));
        let twice = digest(&trace::<P>(params, &plan, 1));
        assert_eq!(once, twice, "{name}: the same seed, two runs");
        let other = digest(&trace::<P>(params, &plan, 2));
        assert_ne!(once, other, "{name}: another seed, the same run");
        once
    });
    (name, plain, unruly)
}

/// Leases for a network with a delay of a tenth of a second.
fn leases(mode: Mode) -> local_leader::Params {
    let (preset, delta) = (Preset::Wan, Some(ms(300)));
    let config = Config { mode, preset, delta, unchecked: true, ..Config::default() };
    config.try_into().expect("it makes sense")
}

#[test]
fn one_seed_gives_one_trace_and_for_every_protocol_it_is_the_pinned_one() {
    let announcing = Variant::ALL
        .map(|variant| digests::<AnnounceListen>(variant.name(), &params(variant, ms(2_500))));
    let leasing = [("local-leader", Mode::Majority), ("local-leader, local", Mode::Local)]
        .map(|(name, mode)| digests::<LocalLeader>(name, &leases(mode).layered()));
    let found = [&announcing[..], &leasing[..]].concat();
    let line = |(name, plain, unruly): &(&str, u64, u64)| {
        format!("    (\"{name}\", {plain:#018x}, {unruly:#018x}),\n")
    };
    let lines: String = found.iter().map(line).collect();
    assert!(found == GOLDEN, "these runs are not those pinned. If that was meant:\n{lines}");
}

/// Facts follow a process's beliefs in the trace, and do not appear in the transcript.
#[test]
fn a_trace_tells_what_a_process_holds_true_whenever_its_belief_changes() {
    let records = trace::<AnnounceListen>(&params(Variant::LeS, ms(2_500)), &eventful(plain()), 1);
    let is_fact = |event: &Event| matches!(event, Event::Fact(_));
    for (at, record) in records.iter().enumerate() {
        if matches!(record.event, Event::Leadership { .. }) {
            let [claim, round] = &records[at + 1..at + 3] else { panic!("{record:?} is the end") };
            assert!(matches!(claim.event, Event::Fact(Fact::Claim { .. })), "{claim:?}");
            assert!(matches!(round.event, Event::Fact(Fact::Round { .. })), "{round:?}");
            assert!(
                [claim, round].iter().all(|fact| (fact.t, fact.node) == (record.t, record.node))
            );
        }
    }
    let told = records.iter().filter(|record| !is_fact(&record.event)).count();
    assert!(told < records.len());
    assert_eq!(transcript(&records).lines().count(), told);
}

#[test]
fn a_world_that_ran_before_runs_like_a_new_one() {
    for variant in Variant::ALL {
        let params = params(variant, ms(2_500));
        let mut used = World::<AnnounceListen>::new(params.clone());
        // Larger and rougher runs first, so that anything left over would be found.
        used.run(&Rough::new(variant, &unruly(), 3).scenario.plan, RunSeed::new(9, 9), &mut ());
        for network in [unruly(), plain()] {
            let plan = eventful(network);
            let mut tracer = Tracer::default();
            used.run(&plan, RunSeed::new(5, 0), &mut tracer);
            let fresh = trace::<AnnounceListen>(&params, &plan, 5);
            assert_eq!(digest(&tracer.records), digest(&fresh), "{}", variant.name());
        }
    }
}

#[test]
fn an_answer_does_not_depend_on_the_number_of_threads() {
    let churn = Churn { departures: 0.3, arrivals: 0.3 };
    for scenario in [Scenario::Start, Scenario::Departure, Scenario::Churn(churn)] {
        for engine in [Engine::Event, Engine::Auto] {
            let with = |threads| Experiment {
                scenario,
                window: Duration::from_secs(20),
                runs: 60,
                seed: 4,
                threads,
                engine,
                ..experiment(params(Variant::LeS, ms(3_000)), 20, plain())
            };
            let [one, two, five] = [1, 2, 5].map(|threads| with(threads).run(&|| ()).unwrap());
            assert_eq!(one.unsettled, 0, "{}", scenario.name());
            assert_eq!(one, two, "{}: 1 and 2 threads", scenario.name());
            assert_eq!(one, five, "{}: 1 and 5 threads", scenario.name());
        }
    }
}

/// What can be observed of a run without its records.
#[derive(Debug, Default, PartialEq)]
struct Watcher {
    seen: Vec<(SimTime, u32, Seen)>,
}

#[derive(Debug, PartialEq)]
enum Seen {
    Start(Instant),
    Ready,
    Send(Dest, Message, u32),
    Change(Vec<u64>, Option<(u32, u32)>),
    Gone,
}

impl Observer<AnnounceListen> for Watcher {
    fn on_start(&mut self, at: SimTime, node: u32, _: Instant, state: &Node<AnnounceListen>) {
        self.seen.push((at, node, Seen::Start(state.poll_timeout())));
    }

    fn on_ready(&mut self) {
        self.seen.push((SimTime::ZERO, 0, Seen::Ready));
    }

    fn on_send(&mut self, at: SimTime, from: u32, to: Dest, message: &Message, number: u32) {
        self.seen.push((at, from, Seen::Send(to, message.clone(), number)));
    }

    fn on_change(
        &mut self,
        at: SimTime,
        node: u32,
        leadership: &Leadership<'_>,
        cause: Option<Cause>,
    ) {
        let leaders = leadership.leaders.iter().map(|id| id.0).collect();
        let cause = cause.map(|cause| (cause.from, cause.number));
        self.seen.push((at, node, Seen::Change(leaders, cause)));
    }

    fn on_gone(&mut self, at: SimTime, node: u32) {
        self.seen.push((at, node, Seen::Gone));
    }
}

/// How the run ended, and the final state of all processes. The end time is only defined if an
/// observer ended the run: a batch that nobody receives is an event, a lost message is none.
type End = (u64, bool, Vec<Option<Node<AnnounceListen>>>);

fn end_of(rough: &Rough, batches: bool, observer: &mut impl Observer<AnnounceListen>) -> End {
    let file = &rough.scenario;
    let Choice::AnnounceListen(params) = file.choice.clone() else {
        panic!("another family");
    };
    let world = World::<AnnounceListen>::new(params);
    let mut world = if batches { world } else { world.without_batches() };
    let Outcome { deliveries, satisfied, .. } =
        world.run(&file.plan, RunSeed::new(file.seed, 0), observer);
    let states = (0..file.plan.nodes).map(|node| world.node(node).cloned());
    (deliveries, satisfied, states.collect())
}

#[test]
fn batches_and_observers_change_nothing_in_a_run_whatever_happens_to_it() {
    let losses = [Loss::None, Loss::Correlated(p(0.4)), Loss::Uncorrelated(p(0.4))];
    for (number, seed) in (0..losses.len() * 40).zip(1_000u64..) {
        let variant = Variant::ALL[number % Variant::ALL.len()];
        let rough = Rough::new(variant, &constant(100, losses[number % losses.len()]), seed);
        let (mut batched, mut singly) = (Tracer::default(), Tracer::default());
        let end = end_of(&rough, true, &mut batched);
        // States are compared but not printed: the replay tells more.
        assert!(end == end_of(&rough, false, &mut singly), "{}", rough.replay());
        let differing = batched.records.iter().zip(&singly.records).find(|(one, two)| one != two);
        assert_eq!(differing, None, "with and without batches; {}", rough.replay());
        assert_eq!(batched.records.len(), singly.records.len(), "{}", rough.replay());

        let (mut quiet, mut quiet_singly) = (Watcher::default(), Watcher::default());
        assert!(end == end_of(&rough, true, &mut quiet), "watched; {}", rough.replay());
        assert!(end == end_of(&rough, false, &mut quiet_singly), "{}", rough.replay());
        assert!(quiet == quiet_singly, "without records; {}", rough.replay());
        assert!(end == end_of(&rough, true, &mut ()), "unwatched; {}", rough.replay());
        let (mut first, mut second) = (Watcher::default(), Tracer::default());
        assert!(end == end_of(&rough, true, &mut (&mut first, &mut second)));
        assert!(first == quiet && second.records == batched.records, "{}", rough.replay());
    }
}

/// The records of the first `nodes` processes alone: what they send each other, and what is lost of
/// it.
fn among(nodes: u64, records: &[Record]) -> Vec<Record> {
    let theirs = |record: &&Record| {
        record.node.0 < nodes
            && match &record.event {
                Event::Send { .. } => true,
                Event::Drop { from, .. } | Event::Recv { from, .. } => from.0 < nodes,
                _ => false,
            }
    };
    records.iter().filter(theirs).cloned().collect()
}

/// Processes that spread announcements never give way, so all of them speak through the whole run,
/// and only their own random draws tell them when.
#[test]
fn one_more_process_moves_nobody_elses_luck() {
    let params = params(Variant::SupAlSpread, Duration::MAX);
    for seed in 0..20 {
        let of = |nodes| {
            let plan = plan(nodes, plain(), ms(4_000), Vec::new());
            trace::<AnnounceListen>(&params, &plan, seed)
        };
        let (few, more, many) = (of(20), of(21), of(90));
        let alone = among(20, &few);
        assert!(alone.len() > 20 * 3 * 20);
        assert_eq!(alone, among(20, &more), "{}", replay(20, 21, seed));
        assert_eq!(alone, among(20, &many), "{}", replay(20, 90, seed));
    }
}

fn replay(few: u32, more: u32, seed: u64) -> String {
    let with = |nodes| {
        format!("bellwether trace sup-al-spread --nodes {nodes} --loss .3 --seed {seed} --until 4s")
    };
    format!("COMPARE: {}\n   WITH: {}", with(few), with(more))
}

#[test]
fn one_more_draw_in_one_process_moves_nobody_elses_luck() {
    let params = params(Variant::SupAlSpread, Duration::MAX);
    let calm = plan(20, plain(), ms(6_000), Vec::new());
    let restart = Fault::Restart { node: node(3), disk: Disk::Kept, reboot: false };
    let faults = vec![fault(2_000, Fault::Crash { node: node(3) }), fault(2_100, restart)];
    let disturbed = plan(20, plain(), ms(6_000), faults);
    for seed in 0..20 {
        let calm = trace::<AnnounceListen>(&params, &calm, seed);
        let disturbed = trace::<AnnounceListen>(&params, &disturbed, seed);
        for who in 0..20 {
            let (before, after) = (times(&calm, who, sends), times(&disturbed, who, sends));
            assert_eq!(before == after, who != 3, "process {who}, seed {seed}");
        }
        let again = times(&disturbed, 3, sends).into_iter().find(|time| *time > at(2_100));
        assert!(!times(&calm, 3, sends).contains(&again.unwrap()), "it drew again, seed {seed}");
    }
}
