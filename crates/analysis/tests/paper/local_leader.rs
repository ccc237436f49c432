//! Fetzer and Cristian, sections IV and IX to XI: bounds, times and costs of leases, simulated.
//!
//! Every quantity that has a simulation is compared with it: an exact form must lie in the 99.9 %
//! interval, a bound must not be exceeded by any run, and an approximation must be as near as it is
//! said to be. Two runs show what the printed constants get wrong.

use bellwether_analysis::support::{CONFIDENCE, may_be};
use bellwether_analysis::{Inputs, Loss, Point, Quantity, ValidInputs, quantity};
use bellwether_core::{Dest, Duration, Leadership, Message as _, Protocol, SimTime, Stage};
use bellwether_protocols::local_leader::{Config, LocalLeader, Mode, Params, Preset};
use bellwether_sim::network::{self, Delay, Network};
use bellwether_sim::stats::Summary;
use bellwether_sim::{
    Cause, Control, Fault, Measure, Observer, Plan, Quantile, RunSeed, Scenario, Timed, Who, World,
    id,
};

const RUNS: u64 = 300;

/// So many processes, messages of this many milliseconds, and what is changed.
fn at(nodes: u32, delay: u32, change: impl FnOnce(&mut Inputs)) -> ValidInputs {
    let mut given = Inputs { nodes, delay: f64::from(delay) / 1000.0, ..Inputs::default() };
    change(&mut given);
    ValidInputs::try_from(given).expect("in the domain")
}

fn local(given: &mut Inputs) {
    given.leases.mode = Mode::Local;
}

/// What a quantity gives, and what its simulation does.
fn both(name: &str, inputs: &ValidInputs) -> (f64, Summary, String) {
    let found = quantity(name).expect("it is listed");
    let form = (found.corrected)(inputs).expect("it has a value");
    let (point, measure) = (found.simulation)(inputs).expect("it is simulated");
    let point = point.runs(RUNS).seed(1);
    let answer = point.answer(0, &|| ()).expect("it can be simulated");
    let summary = answer.measure(measure).expect("it is measured").clone();
    println!("{name}: {form} and {} ± {}: {}", summary.mean, summary.stderr, point.command());
    (form, summary, point.command())
}

/// What 99 of 100 runs of a quantity's simulation do not exceed; there are enough for an interval.
fn percentile(found: &Quantity, inputs: &ValidInputs) -> (Quantile, String) {
    let (point, measure) = (found.simulation)(inputs).expect("it is simulated");
    let point = point.runs(1000).seed(1);
    let experiment = point.experiment(0).expect("it can be simulated");
    let control = Control { progress: &|| (), over: &|| false };
    let (answer, samples) = experiment.run_and_keep(control).expect("it can be simulated");
    assert_eq!((answer.unsettled, answer.cut(measure)), (0, None), "{}", point.command());
    let p99 = Quantile::of(0.99, samples.of_measure(measure)).expect("it is measured");
    println!("{}: {} {:?}: {}", found.name, p99.value(), p99.interval(0.95), point.command());
    (p99, point.command())
}

fn assert_exact(name: &str, inputs: &ValidInputs) {
    let (form, summary, command) = both(name, inputs);
    let near = (form - summary.mean).abs() <= 1e-4 * form.abs();
    assert!(may_be(&summary, form) || near, "{name}: {form} and {summary:?}: {command}");
}

/// Within this part of the simulated mean.
fn assert_near(name: &str, part: f64, inputs: &ValidInputs) {
    let (form, summary, command) = both(name, inputs);
    let margin = part * summary.mean + 4.0 * summary.stderr;
    assert!((form - summary.mean).abs() <= margin, "{name}: {form} and {summary:?}: {command}");
}

#[test]
fn a_leader_receives_as_many_answers_as_the_tree_is_wide() {
    for nodes in [2, 5, 9] {
        for tree in [0, 2, 3] {
            let inputs = at(nodes, 1, |given| given.leases.tree = tree);
            // The first request of a reign and those before the tree is known are answered by all.
            let part = if tree == 0 { 0.01 } else { 0.1 };
            assert_near("local-leader.answers", part, &inputs);
        }
    }
}

#[test]
fn datagrams_are_requests_answers_and_stamps() {
    for nodes in [3, 5, 9] {
        assert_near("local-leader.messages-per-second", 0.05, &at(nodes, 1, |_| {}));
        assert_near("local-leader.messages-per-second", 0.05, &at(nodes, 1, local));
    }
    let lossy = |given: &mut Inputs| given.loss = Loss::apart(0.1);
    assert_near("local-leader.messages-per-second", 0.05, &at(5, 1, lossy));
}

#[test]
fn an_election_takes_a_round_trip_or_twice_the_threshold() {
    for nodes in [3, 5, 8] {
        assert_exact("local-leader.election-time", &at(nodes, 1, |_| {}));
        assert_exact("local-leader.election-time", &at(nodes, 2, local));
    }
}

#[test]
fn a_dead_leader_is_replaced_when_locks_or_alive_sets_lapse() {
    for nodes in [3, 5, 8] {
        assert_exact("local-leader.failover.mean", &at(nodes, 1, |_| {}));
        assert_exact("local-leader.failover.mean", &at(nodes, 2, local));
    }
}

#[test]
fn in_99_of_100_crashes_it_takes_no_longer() {
    for mode in [Mode::Majority, Mode::Local] {
        let inputs = at(5, 1, |given| given.leases.mode = mode);
        let found = quantity("local-leader.failover.99").expect("it is listed");
        let most = (found.corrected)(&inputs).expect("it has a value");
        let (p99, command) = percentile(found, &inputs);
        assert!(p99.may_be(most, CONFIDENCE), "{most} and {}: {command}", p99.value());
        // The mean is another number, and the simulation sees that.
        let mean = quantity("local-leader.failover.mean").expect("it is listed");
        let mean = (mean.corrected)(&inputs).expect("it has a value");
        assert!(!p99.may_be(mean, CONFIDENCE), "{mean}: {command}");
    }
}

#[test]
fn in_99_of_100_starts_an_election_takes_no_longer() {
    let found = quantity("local-leader.election-time.99").expect("it is listed");
    let inputs = at(5, 1, |_| {});
    let most = (found.corrected)(&inputs).expect("it has a value");
    let (p99, command) = percentile(found, &inputs);
    assert!(p99.may_be(most, CONFIDENCE), "{most} and {}: {command}", p99.value());
    let printed = (found.printed)(&inputs).expect("it has a value");
    assert!(!p99.may_be(printed, CONFIDENCE), "{printed} and {}: {command}", p99.value());
    // In local mode it is the wait of the slowest clock.
    let inputs = at(5, 1, local);
    let most = (found.corrected)(&inputs).expect("it has a value");
    let rho = f64::from(inputs.leases.corrected().expect("they fit").drift_ppm()) / 1e6;
    let (p99, command) = percentile(found, &inputs);
    let off = p99.value() / most - 1.0;
    assert!(off > 0.9 * rho && off < 1.1 * rho, "{most} and {}: {command}", p99.value());
}

/// With losses there is a bound alone, in majority mode.
#[test]
fn with_losses_99_of_100_crashes_take_no_longer_than_the_bound() {
    let found = quantity("local-leader.failover.99").expect("it is listed");
    for loss in [0.05, 0.2] {
        let inputs = at(5, 1, |given| given.loss = Loss::apart(loss));
        let most = (found.corrected)(&inputs).expect("it has a value");
        let (p99, command) = percentile(found, &inputs);
        assert!(p99.interval(0.95)[1] <= most, "{most} and {}: {command}", p99.value());
    }
}

/// "Bounded inconsistency": two parts that meet have one leader soon (section IX-D). All name it a
/// request after they support it.
#[test]
fn two_parts_that_meet_have_one_leader_within_the_bound() {
    let inputs = at(5, 1, local);
    let (bound, summary, command) = both("local-leader.kappa.inconsistency", &inputs);
    let renew = inputs.leases.corrected().expect("they fit").renew().as_secs_f64();
    assert_eq!(summary.count as u64, RUNS, "none was cut: {command}");
    assert!(summary.max <= bound + renew, "{bound} and {summary:?}: {command}");
    // The bound is not far too high: a lease has to end, and the other part to be forgotten.
    assert!(summary.mean >= 0.3 * bound, "{bound} and {summary:?}: {command}");
}

#[test]
fn the_printed_protocol_leads_as_much_of_the_time_as_its_constants_allow() {
    for (period, delay) in [(40, 1), (48, 1), (48, 3), (50, 1), (50, 3), (65, 3), (80, 3), (200, 1)]
    {
        let inputs = at(3, delay, |given| {
            given.leases.preset = Preset::Paper;
            given.leases.period = Some(Duration::from_millis(period));
        });
        let (form, summary, command) = both("local-leader.presence", &inputs);
        assert!((form - summary.mean).abs() < 0.01, "{form} and {summary:?}: {command}");
    }
}

#[test]
fn with_several_requests_in_a_lease_leaders_are_lost_as_seldom_as_too_few_answer() {
    for loss in [0.35, 0.45] {
        let lossy = |given: &mut Inputs| given.loss = Loss::apart(loss);
        let (form, summary, command) = both("local-leader.losses-per-hour", &at(5, 1, lossy));
        let ratio = summary.mean / form;
        assert!((0.7..1.5).contains(&ratio), "{form} and {summary:?}: {command}");
    }
}

/// The same for each lease, whose number is counted in the run.
#[test]
fn a_lease_is_lost_as_seldom_as_too_few_answer_any_of_its_requests() {
    for loss in [0.35, 0.45] {
        let lossy = |given: &mut Inputs| given.loss = Loss::apart(loss);
        let (form, summary, command) = both("local-leader.loss-per-lease", &at(5, 1, lossy));
        let ratio = summary.mean / form;
        assert!((0.7..1.5).contains(&ratio), "{form} and {summary:?}: {command}");
    }
}

/// A renewal that one answer is missing from costs the leadership, and so does every loss.
#[test]
fn with_one_request_in_a_lease_every_lost_answer_costs_the_leadership() {
    for loss in [0.005, 0.01] {
        let inputs = at(5, 1, |given| given.loss = Loss::apart(loss));
        let found = quantity("local-leader.losses-per-hour").expect("it is listed");
        let form = (found.printed)(&inputs).expect("it has a value");
        let point = Point::new("local-leader", 5).loss(Loss::apart(loss)).runs(RUNS);
        let point = point.scenario(Scenario::Start, 60.0).with("as-published", true);
        let answer = point.answer(0, &|| ()).expect("it can be simulated");
        let measure = Measure::LeadershipLossesPerHour;
        let mean = answer.measure(measure).expect("it is measured").mean;
        println!("{loss}: {form} and {mean}");
        assert!((mean / form - 1.0).abs() < 0.1, "{form} and {mean}: {}", point.command());
    }
}

/// No split takes longer than either bound: processes react at once, so that σ is not used.
#[test]
fn no_partition_is_without_a_leader_for_longer_than_the_bound() {
    let (bound, summary, command) = both("local-leader.kappa.timeliness", &at(5, 1, |_| {}));
    assert!(summary.max <= bound, "{bound} and {summary:?}: {command}");
    assert!(summary.mean > 0.8 * bound, "a bound that says something: {summary:?}");
}

/// Δ is 10 ms. A message ends a round trip of twice its delay, and must be certain to have taken
/// less. On exact clocks the longest delay of the formula is told from one 1 % longer. On clocks
/// that err by ρ it keeps room for stamps as old as they may be; where they are fresh, only 2ε is
/// left of that room, and nobody leads from (Δ−2ε)/2 on.
#[test]
fn a_threshold_just_above_the_delay_elects_nobody() {
    let presence = |delay: f64, drift_ppm: u32| {
        let delay = Duration::from_secs_f64(delay).expect("a length of time");
        let point = Point { delay, ..Point::new("local-leader", 5) }.with("drift-ppm", drift_ppm);
        let answer = point.scenario(Scenario::Start, 5.0).runs(20).answer(0, &|| ());
        let answer = answer.expect("it can be simulated");
        let presence = answer.measure(Measure::LeaderPresence).map_or(0.0, |found| found.mean);
        println!("{delay}, {drift_ppm} ppm: {presence}");
        presence
    };
    let forms = |drift_ppm: u32| {
        let inputs = at(5, 1, |given| given.leases.drift_ppm = Some(drift_ppm));
        let found = quantity("local-leader.datagram.timely").expect("it is listed");
        let params = inputs.leases.corrected().expect("they fit");
        let corrected = (found.corrected)(&inputs).expect("it has a value");
        (corrected, (found.printed)(&inputs).expect("it has a value"), params)
    };
    let (exact, printed, _) = forms(0);
    assert!(presence(0.99 * exact, 0) > 0.99);
    assert_eq!(presence(1.01 * exact, 0), 0.0);
    assert_eq!(presence(0.8 * printed, 0), 0.0, "although 8 ms are less than Δ = 10 ms");
    let (longest, _, params) = forms(200);
    let fresh = params.delta().saturating_sub(params.clock_error() * 2) / 2;
    assert!(presence(0.99 * longest, 200) > 0.99);
    assert_eq!(presence(1.01 * fresh.as_secs_f64(), 200), 0.0);
    assert!(1.07 * longest > fresh.as_secs_f64(), "{longest} and {fresh}");
}

/// A leader of the printed protocol asks again when its alarm comes: the figure's, and not the
/// text's, which comes σ later.
#[test]
fn a_leader_of_the_printed_protocol_asks_again_as_its_alarm_is_set() {
    let name = "local-leader.next-request";
    let feasible = |given: &mut Inputs| {
        given.leases.preset = Preset::Paper;
        given.leases.period = Some(Duration::from_millis(250));
        given.leases.expires = Some(Duration::from_millis(500));
    };
    for inputs in [at(5, 1, |_| {}), at(5, 1, feasible)] {
        assert_exact(name, &inputs);
        let (_, summary, command) = both(name, &inputs);
        let printed = (quantity(name).expect("it is listed").printed)(&inputs);
        let printed = printed.expect("it has a value");
        assert!(!may_be(&summary, printed), "{printed} and {summary:?}: {command}");
    }
}

/// The second process of three, which is to lead when it has lost sight of the first.
struct Second {
    from: SimTime,
    asked: Vec<SimTime>,
    led: Option<SimTime>,
}

impl Observer<LocalLeader> for Second {
    fn on_send(
        &mut self,
        at: SimTime,
        from: u32,
        _to: Dest,
        message: &<LocalLeader as Protocol>::Message,
        _number: u32,
    ) {
        if from == 1 && at >= self.from && self.led.is_none() && message.kind() == "election" {
            self.asked.push(at);
        }
    }

    fn on_change(
        &mut self,
        at: SimTime,
        node: u32,
        leadership: &Leadership<'_>,
        _cause: Option<Cause>,
    ) {
        let leads = leadership.stage == Stage::Decided && leadership.names(id(node));
        if node == 1 && at >= self.from && leads {
            self.led.get_or_insert(at);
        }
    }
}

/// Cuts the leader off from the others at this moment, and pauses the second process in these
/// intervals.
fn cut_off(params: &Params, cut: SimTime, pauses: &[(SimTime, SimTime)]) -> Second {
    let since = |at: SimTime| at.since(SimTime::ZERO);
    let part = |from: &[u32], to: &[u32]| Fault::Cut { from: from.into(), to: to.into() };
    let mut faults = vec![
        Timed { at: since(cut), fault: part(&[0], &[1, 2]) },
        Timed { at: since(cut), fault: part(&[1, 2], &[0]) },
    ];
    for (from, to) in pauses {
        let node = Who::Node(1);
        faults.push(Timed { at: since(*from), fault: Fault::Pause { node } });
        faults.push(Timed { at: since(*to), fault: Fault::Resume { node } });
    }
    let delay = Delay::Constant(Duration::from_millis(1));
    let plan = Plan {
        network: Network::uniform(delay, network::Loss::None),
        faults,
        horizon: Duration::from_secs(5),
        ..Plan::new(3)
    };
    let mut second = Second { from: cut, asked: Vec::new(), led: None };
    World::<LocalLeader>::new(params.layered()).run(&plan, RunSeed::new(1, 0), &mut second);
    second
}

/// Three alarms, each of which wakes the process only after σ, as it may: when the former leader
/// has expired, when it asks again, and when it counts the answers. Nothing else goes wrong.
#[test]
fn a_leader_may_come_later_than_the_printed_bound() {
    let config = Config { mode: Mode::Local, drift_ppm: Some(0), ..Config::default() };
    let params = Params::try_from(config).expect("a preset is valid");
    let (sigma, instant) = (params.sigma(), Duration::from_micros(1));
    let settled = SimTime::ZERO + Duration::from_secs(2);
    let prompt = cut_off(&params, settled, &[]);
    // Right after the last message of the former leader.
    let cut = prompt.asked[0] - params.expires() + instant;
    let late = |alarm: SimTime| (alarm - instant, alarm + sigma);
    let first = late(prompt.asked[0]);
    // It asks again EP − σ after its request, and counts the answers 2Δ after that.
    let second = late(first.1 + params.period() - sigma);
    let third = late(second.1 + params.round());
    let found = cut_off(&params, cut, &[first, second, third]);
    assert_eq!(found.asked, [first.1, second.1], "it reacts within σ");
    let took = found.led.expect("it leads").since(cut);
    let printed = params.expires() + sigma + params.period() + params.delta() * 2;
    println!("{took}, for {printed} as printed and {}", params.kappa_timeliness());
    assert!(took + instant * 2 > printed + sigma, "{took} and {printed}");
    assert!(took <= params.kappa_timeliness(), "{took}");
    let form = quantity("local-leader.kappa.timeliness").expect("it is listed");
    let inputs = at(5, 1, |given| given.leases.drift_ppm = Some(0));
    let value = (form.printed)(&inputs).expect("it has a value");
    assert!((value - printed.as_secs_f64()).abs() < 1e-9, "{value} and {printed}");
}
