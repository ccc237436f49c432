//! Replies that are collated: a leader receives as many as its tree is wide, however large the
//! group; elections take as long as without; and a relay that dies or pauses costs one attempt to
//! renew at most more than without a tree. In majority mode it costs no leadership. In local mode a
//! leader needs every process of its alive-set, so that a death costs the leadership with a tree
//! as it does without.
//!
//! The seed is fixed. Messages take half a millisecond, so that the tree of 256 processes, which
//! is seven deep, has its answer within Δ.

use crate::support::{crash, experiment, fault, ms, node, p};
use bellwether_core::{Dest, Duration, Instant, Protocol, SimTime, Stage};
use bellwether_protocols::local_leader::message::Message;
use bellwether_protocols::local_leader::{Config, LocalLeader, Mode, Params};
use bellwether_sim::network::{Delay, Link, Loss, Network};
use bellwether_sim::{
    Experiment, Fault, Measure, Observer, Plan, RunSeed, Scene, Timed, World, id,
};
use std::collections::{BTreeMap, BTreeSet};

fn params(mode: Mode, tree: u32) -> Params {
    // Stamps are as good for five seconds, and would be most of the messages of a large group.
    let refresh = Some(Duration::from_secs(5));
    Params::try_from(Config { mode, tree, refresh, ..Config::default() }).expect("valid")
}

fn network(loss: Loss) -> Network {
    Network::uniform(Delay::Constant(Duration::from_micros(500)), loss)
}

/// Answers to a request, and the time of an election in milliseconds.
fn measured(nodes: u32, mode: Mode, tree: u32) -> (f64, f64) {
    let params = params(mode, tree);
    let usual = experiment(params, nodes, network(Loss::None));
    let window = Duration::from_secs(2);
    let experiment = Experiment { window, runs: 1, seed: 1, threads: 1, ..usual };
    let answer = experiment.run(&|| ()).expect("it can be run");
    assert_eq!(answer.unsettled, 0, "{nodes} {mode:?} {tree}: it has a leader");
    let mean = |measure| answer.measure(measure).expect("it is measured").mean;
    assert_eq!(mean(Measure::LeadershipLossesPerHour), 0.0, "{nodes} {mode:?} {tree}");
    (mean(Measure::AnswersPerRequest), mean(Measure::ElectionTime) * 1e3)
}

#[test]
fn a_leader_receives_as_many_answers_as_its_tree_is_wide() {
    for mode in [Mode::Majority, Mode::Local] {
        for nodes in [16, 64, 256] {
            let (all, direct) = measured(nodes, mode, 0);
            assert!((all / f64::from(nodes - 1) - 1.0).abs() < 0.05, "{nodes}: {all}");
            for tree in [2, 8] {
                let (some, by_tree) = measured(nodes, mode, tree);
                println!("{mode:?}, {nodes}: {all:.1} answers, {some:.1} with tree {tree}");
                // The first request of a reign is answered by all, one of about forty.
                let most = f64::from(tree) + 0.1 * f64::from(nodes);
                assert!(some >= f64::from(tree) && some <= most, "{mode:?} {nodes} {tree}: {some}");
                assert_eq!(by_tree, direct, "an election takes as long: {mode:?} {nodes}");
            }
        }
    }
}

/// A process that relays the answers of half of the group crashes, one after the other.
#[test]
fn a_dead_relay_costs_no_majority_its_leader() {
    let params = params(Mode::Majority, 2);
    for seed in 1..=10 {
        let faults = vec![crash(1_000, 3), crash(2_000, 5), crash(3_000, 2)];
        let network = network(Loss::Uncorrelated(p(0.005)));
        let plan = Plan { network, faults, horizon: ms(5_000), ..Plan::new(9) };
        let renewals = Renewals::of(&params, &plan, seed);
        assert_eq!(renewals.leaders.len(), 1, "seed {seed}: {:?} led", renewals.leaders);
        renewals.assert_no_lapse(&plan, &format!("seed {seed}"));
    }
}

/// Whoever dies or pauses, and whenever: of the requests of the leader at most one is in vain, and
/// another lease begins before the last one ends. In a group of ten, unlike nine, half of the tree
/// and the leader are no majority, so that one attempt is lost if the relay of the greater half is
/// concerned.
#[test]
fn a_relay_that_dies_or_pauses_costs_one_attempt_at_most() {
    let params = params(Mode::Majority, 2);
    let mut lost = [0, 0];
    for nodes in [9, 10, 16] {
        for victim in 1..nodes {
            // Requests are 50 ms apart.
            for moment in [1_000, 1_017, 1_034] {
                let died = vec![crash(moment, victim)];
                let stop = fault(moment, Fault::Pause { node: node(victim) });
                let go_on = fault(moment + 700, Fault::Resume { node: node(victim) });
                for (kind, faults) in [died, vec![stop, go_on]].into_iter().enumerate() {
                    let plan = quiet(nodes, faults);
                    let renewals = Renewals::of(&params, &plan, 1);
                    if renewals.leaders.iter().eq(&[victim]) {
                        continue;
                    }
                    let case = format!("{nodes} processes, {victim} at {moment} ms, {kind}");
                    let failed = renewals.in_vain();
                    assert!(failed.len() <= 1, "{case}: {failed:?}");
                    lost[kind] += failed.len();
                    renewals.assert_no_lapse(&plan, &case);
                    assert_eq!(renewals.leaders.len(), 1, "{case}: {:?}", renewals.leaders);
                }
            }
        }
    }
    println!("attempts in vain: {lost:?}, by crashes and by pauses");
    assert!(lost.iter().all(|count| *count > 0), "{lost:?}: no relay was concerned");
}

/// A supporter that is paused for less than its votes may take, or a little longer. One that
/// relays then answers after its share of Δ.
#[test]
fn in_local_mode_a_pause_costs_one_attempt_at_most() {
    let params = params(Mode::Local, 2);
    let mut lost = 0;
    for nodes in [9, 10] {
        for victim in 1..nodes {
            for (moment, pause) in [5, 10, 15].into_iter().flat_map(|pause| {
                // Requests are 50 ms apart.
                (1_000..1_050).step_by(4).map(move |moment| (moment, pause))
            }) {
                let stop = fault(moment, Fault::Pause { node: node(victim) });
                let go_on = fault(moment + pause, Fault::Resume { node: node(victim) });
                let plan = quiet(nodes, vec![stop, go_on]);
                let renewals = Renewals::of(&params, &plan, 1);
                let case = format!("{nodes} processes, {victim} at {moment} ms for {pause} ms");
                let failed = renewals.in_vain();
                assert!(failed.len() <= 1, "{case}: {failed:?}");
                lost += failed.len();
                renewals.assert_no_lapse(&plan, &case);
                assert_eq!(renewals.leaders.len(), 1, "{case}: {:?}", renewals.leaders);
            }
        }
    }
    println!("attempts in vain: {lost}");
    assert!(lost > 0, "no pause was longer than a vote may take");
}

/// A link that takes as long as a message may that is certain to be fast: whoever relays over it
/// answers after its share of Δ, and the votes are passed on as they come.
#[test]
fn in_local_mode_a_slow_link_costs_one_attempt_at_most() {
    let params = params(Mode::Local, 2);
    let slow = Some(Delay::Constant(Duration::from_micros(4_400)));
    for nodes in [9, 10] {
        for (from, to) in (0..nodes).flat_map(|from| (from + 1..nodes).map(move |to| (from, to))) {
            let mut plan = quiet(nodes, vec![]);
            let link = |from, to| Link { from, to, delay: slow.clone(), loss: None };
            plan.network.links = vec![link(from, to), link(to, from)];
            let renewals = Renewals::of(&params, &plan, 1);
            let case = format!("{nodes} processes, {from} and {to}");
            let failed = renewals.in_vain();
            println!("{case}: {} of {} in vain", failed.len(), renewals.asked.len());
            assert!(failed.len() <= 1, "{case}: {failed:?}");
            renewals.assert_no_lapse(&plan, &case);
            assert_eq!(renewals.leaders.len(), 1, "{case}: {:?}", renewals.leaders);
        }
    }
}

/// Who dies stays in the alive-set for longer than a lease lasts, and has to vote.
#[test]
fn in_local_mode_a_death_costs_what_it_costs_without_a_tree() {
    let [with, without] = [2, 0].map(|tree| params(Mode::Local, tree));
    for nodes in [9, 10] {
        for victim in 1..nodes {
            for moment in [1_000, 1_017, 1_034] {
                let plan = quiet(nodes, vec![crash(moment, victim)]);
                let [with, without] = [&with, &without].map(|of| Renewals::of(of, &plan, 1));
                let case = format!("{nodes} processes, {victim} at {moment} ms");
                let failed = [with.in_vain().len(), without.in_vain().len()];
                println!("{case}: {failed:?} in vain, {} and {}", with.lapsed, without.lapsed);
                assert!(failed[0] <= failed[1] + 1, "{case}: {failed:?}");
                assert_eq!((with.lapses, without.lapses), (1, 1), "{case}");
                assert_eq!(with.leaders, without.leaders, "{case}");
                let longer = with.lapsed.saturating_sub(without.lapsed);
                assert!(longer <= with.round, "{case}: {longer} more without a lease");
            }
        }
    }
}

/// Three seconds without loss.
fn quiet(nodes: u32, faults: Vec<Timed>) -> Plan {
    let network = network(Loss::None);
    Plan { network, faults, horizon: ms(3_000), ..Plan::new(nodes) }
}

/// The requests of a leader, and the leases that they gave it.
struct Renewals {
    lease: Duration,
    /// How long answers to a request are waited for.
    round: Duration,
    leaders: BTreeSet<u32>,
    /// When each request was sent, on the leader's clock; and when the lease was there that counts
    /// from it.
    asked: BTreeSet<Instant>,
    granted: BTreeMap<Instant, Instant>,
    /// The end of the current lease, and how often it was over when the next began, and for how
    /// long in all.
    until: Option<Instant>,
    lapses: u32,
    lapsed: Duration,
    /// The leader's clock, when it was last looked at.
    now: Instant,
}

impl Renewals {
    fn of(params: &Params, plan: &Plan, seed: u64) -> Self {
        let mut renewals = Self {
            lease: params.lease(),
            round: params.round(),
            leaders: BTreeSet::new(),
            asked: BTreeSet::new(),
            granted: BTreeMap::new(),
            until: None,
            lapses: 0,
            lapsed: Duration::ZERO,
            now: Instant::ZERO,
        };
        let mut world = World::<LocalLeader>::new(params.layered());
        world.run(plan, RunSeed::new(seed, 0), &mut renewals);
        assert!(renewals.granted.len() > 30, "it renews its lease again and again");
        renewals
    }

    /// The requests that too few granted in time, but for the last, which may be under way. A lease
    /// that counts from one of them may come later, by votes for it and for the next one.
    fn in_vain(&self) -> Vec<Instant> {
        let first = self.granted.keys().next();
        let in_time = |asked: &Instant| {
            self.granted.get(asked).is_some_and(|had| had.since(*asked) <= self.round)
        };
        let settled = self.asked.iter().filter(|asked| Some(*asked) > first);
        let failed = settled.filter(|asked| !in_time(asked));
        failed.filter(|asked| Some(*asked) != self.asked.last()).copied().collect()
    }

    /// From its first lease to the end of the run the leader always had one.
    fn assert_no_lapse(&self, plan: &Plan, case: &str) {
        assert_eq!(self.lapses, 0, "{case}");
        let until = self.until.expect("it led");
        assert!(until > self.now, "{case}: its last lease is over");
        // It was seen to renew as late as can be: one lease before the end.
        let [first, last] = [self.granted.keys().next(), self.granted.keys().next_back()];
        let seen = last.expect("it led").since(*first.expect("it led"));
        assert!(seen + self.lease * 2 > plan.horizon.saturating_sub(ms(500)), "{case}: {seen}");
    }
}

impl Observer<LocalLeader> for Renewals {
    const LOOKS: bool = true;

    fn on_send(
        &mut self,
        _at: SimTime,
        from: u32,
        _to: Dest,
        message: &<LocalLeader as Protocol>::Message,
        _number: u32,
    ) {
        match &message.body {
            Some(Message::Election { request, .. }) if self.leaders.contains(&from) => {
                self.asked.insert(request.sent);
            }
            _ => {}
        }
    }

    fn on_step(&mut self, node: u32, scene: &Scene<'_, LocalLeader>) {
        let Some(state) = scene.node(node) else { return };
        let now = scene.clock(node);
        let leadership = state.leadership(now);
        if leadership.stage != Stage::Decided || !leadership.names(id(node)) {
            return;
        }
        self.leaders.insert(node);
        self.now = now;
        if self.until.is_none_or(|until| leadership.until > until) {
            if let Some(until) = self.until.filter(|until| now >= *until) {
                self.lapses += 1;
                self.lapsed = self.lapsed + now.since(until);
            }
            self.until = Some(leadership.until);
            self.granted.insert(leadership.until - self.lease, now);
        }
    }
}
