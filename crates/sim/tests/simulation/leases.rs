//! Experiments with leases: what they measure, and how well the corrected protocol works.
//!
//! Seeds are fixed. Where a number is compared with a bound of the protocol the bound is exact;
//! where it is an estimate the tolerance stands next to it. A failure prints the command that
//! repeats it.

use crate::support::{experiment, p};
use bellwether_core::Duration;
use bellwether_protocols::local_leader::{Config, Mode, Params, Preset, Rule};
use bellwether_sim::network::{Delay, Loss, Network};
use bellwether_sim::stats::Summary;
use bellwether_sim::{Answer, BadExperiment, Churn, Experiment, Measure, Scenario};

const BOTH: [Mode; 2] = [Mode::Majority, Mode::Local];
const SEED: u64 = 1;

#[derive(Clone, Copy, Debug)]
struct Case {
    mode: Mode,
    preset: Preset,
    nodes: u32,
    delay: Duration,
    loss: f64,
    scenario: Scenario,
    window: Duration,
    runs: u64,
    without: Option<Rule>,
}

impl Case {
    /// Five processes in a local network that loses nothing, watched for ten seconds.
    fn new(mode: Mode) -> Self {
        Self {
            mode,
            preset: Preset::Lan,
            nodes: 5,
            delay: Duration::from_millis(1),
            loss: 0.0,
            scenario: Scenario::Start,
            window: Duration::from_secs(10),
            runs: 50,
            without: None,
        }
    }

    fn of(mode: Mode, scenario: Scenario) -> Self {
        Self { scenario, ..Self::new(mode) }
    }

    fn params(&self) -> Params {
        let config = Config { mode: self.mode, preset: self.preset, ..Config::default() };
        let params = Params::try_from(config).expect("presets are valid");
        self.without.into_iter().fold(params, Params::without)
    }

    fn experiment(&self) -> Experiment {
        let params = self.params();
        let loss = match self.loss {
            0.0 => Loss::None,
            loss => Loss::Uncorrelated(p(loss)),
        };
        let network = Network::uniform(Delay::Constant(self.delay), loss);
        Experiment {
            drift: params.drift_ppm() * 1_000,
            scenario: self.scenario,
            window: self.window,
            runs: self.runs,
            seed: SEED,
            threads: 2,
            ..experiment(params, self.nodes, network)
        }
    }

    /// The command that repeats it.
    fn command(&self) -> String {
        let Self { nodes, delay, loss, window, runs, without, .. } = self;
        let (mode, preset) = (self.mode.name(), self.preset.name());
        let mut line = format!(
            "bellwether sim local-leader --mode {mode} --preset {preset} --nodes {nodes} \
             --delay {delay} --loss {loss} --scenario {} --window {window} --runs {runs} \
             --seed {SEED}",
            self.scenario.name()
        );
        if let Scenario::Churn(Churn { departures, arrivals }) = self.scenario {
            line += &format!(" --departures {departures} --arrivals {arrivals}");
        }
        if let Some(rule) = without {
            line += &format!(" (without the rule {rule:?}, as tests only can)");
        }
        line
    }

    /// Runs the experiment; every run must settle.
    fn answer(&self) -> Answer {
        let answer = self.experiment().run(&|| ()).unwrap_or_else(|bad| panic!("{bad}"));
        assert_eq!(answer.unsettled, 0, "{}", self.command());
        answer
    }

    fn measure(&self, answer: &Answer, measure: Measure) -> Summary {
        let summary = answer.measure(measure).cloned();
        summary.unwrap_or_else(|| panic!("no {}: {}", measure.name(), self.command()))
    }
}

fn close(left: f64, right: f64, tolerance: f64) -> bool {
    (left - right).abs() <= tolerance
}

#[test]
fn without_loss_a_group_has_a_leader_and_keeps_it() {
    for mode in BOTH {
        for (preset, micros) in [
            (Preset::Lan, 1_000),
            (Preset::Fast, 1_000),
            (Preset::Fastest, 500),
            (Preset::Wan, 40_000),
        ] {
            let delay = Duration::from_micros(micros);
            let case = Case { preset, delay, ..Case::new(mode) };
            let answer = case.answer();
            let presence = case.measure(&answer, Measure::LeaderPresence);
            assert!(presence.min > 0.999, "{}: {presence:?}", case.command());
            let losses = case.measure(&answer, Measure::LeadershipLossesPerHour);
            assert_eq!(losses.max, 0.0, "{}", case.command());
        }
    }
}

/// A majority elects with its first replies: one round trip of 2 ms. A local leader waits until all
/// that hear it have had time to answer: 2Δ(1+ρ) on its own clock. Clocks drift by 200 ppm.
#[test]
fn an_election_takes_a_round_trip_or_the_longest_one_there_can_be() {
    for (mode, seconds) in [(Mode::Majority, 0.002), (Mode::Local, 0.020_004)] {
        let case = Case::new(mode);
        let election = case.measure(&case.answer(), Measure::ElectionTime);
        let within = |value: f64| close(value, seconds, 0.000_3 * seconds);
        assert!(within(election.min) && within(election.max), "{}: {election:?}", case.command());
    }
}

/// One broadcast and N−1 replies every P, and a stamp of every silent process at its refresh
/// interval. The tolerance, one in two hundred, covers drift and the end of the window.
#[test]
fn messages_are_counted_as_datagrams() {
    for mode in BOTH {
        for nodes in [2, 3, 5, 8] {
            let case = Case { nodes, runs: 5, ..Case::new(mode) };
            let params = case.params();
            let rounds = f64::from(nodes) / params.renew().as_secs_f64();
            let stamps = f64::from(nodes - 1) / params.refresh().as_secs_f64();
            let sent = case.measure(&case.answer(), Measure::MessagesPerSecond).mean;
            let expected = rounds + stamps;
            assert!(close(sent, expected, expected / 200.0), "{}: {sent}", case.command());
        }
    }
}

/// A simulated day of five processes, with one message in a hundred lost.
#[test]
fn one_message_lost_in_a_hundred_deposes_nobody_in_a_day() {
    let window = Duration::from_secs(3 * 3600);
    for mode in BOTH {
        let case = Case { loss: 0.01, window, runs: 8, ..Case::new(mode) };
        let losses = case.measure(&case.answer(), Measure::LeadershipLossesPerHour);
        assert!(losses.mean * 24.0 < 1.0, "{}: {losses:?}", case.command());
    }
}

/// C6. With one attempt for each renewal a local leader, which needs every reply, fails in one of
/// thirteen. One by majority fails where three of four replies are missing, about once an hour;
/// over a day, anything from 8 to 60 is within chance.
#[test]
fn without_retries_lost_messages_depose_the_leader() {
    let without = Some(Rule::Retry);
    let case = Case { loss: 0.01, without, ..Case::new(Mode::Local) };
    let answer = case.answer();
    let losses = case.measure(&answer, Measure::LeadershipLossesPerHour);
    assert!(losses.mean > 1_000.0, "{}: {losses:?}", case.command());
    let presence = case.measure(&answer, Measure::LeaderPresence);
    assert!(presence.mean < 0.95, "{}: {presence:?}", case.command());
    let window = Duration::from_secs(3 * 3600);
    let case = Case { loss: 0.01, without, window, runs: 8, ..Case::new(Mode::Majority) };
    let losses = case.measure(&case.answer(), Measure::LeadershipLossesPerHour);
    let a_day = losses.mean * 24.0;
    // A lease that ran out is over: late votes do not bring it back.
    assert!((50.0..90.0).contains(&a_day), "{}: {a_day} {losses:?}", case.command());
}

#[test]
fn a_crashed_leader_is_replaced_in_the_time_the_parameters_promise() {
    for mode in BOTH {
        for loss in [0.0, 0.05] {
            let case = Case { loss, ..Case::of(mode, Scenario::Departure) };
            let (params, answer) = (case.params(), case.answer());
            let delay = case.measure(&answer, Measure::ReestablishmentDelay);
            let least = params.lock().saturating_sub(params.renew()).as_secs_f64();
            assert!(delay.min > least, "{}: {delay:?}", case.command());
            if loss == 0.0 {
                let most = match mode {
                    Mode::Majority => params.failover(),
                    Mode::Local => params.kappa_timeliness() + params.period(),
                };
                assert!(delay.max <= most.as_secs_f64(), "{}: {delay:?} {most}", case.command());
            }
            assert_eq!(delay.count as u64, case.runs, "{}", case.command());
        }
    }
}

/// In every run both measures say the same in two ways. Nothing is lost, so there is no other gap.
#[test]
fn a_group_is_without_a_leader_for_as_long_as_it_takes_to_have_the_next() {
    for mode in BOTH {
        for scenario in [Scenario::Departure, Scenario::Split] {
            let case = Case { runs: 10, ..Case::of(mode, scenario) };
            let answer = case.answer();
            let delay = case.measure(&answer, Measure::ReestablishmentDelay);
            let presence = case.measure(&answer, Measure::LeaderPresence);
            let window = case.window.as_secs_f64();
            for (delay, presence) in
                [(delay.min, presence.max), (delay.mean, presence.mean), (delay.max, presence.min)]
            {
                let expected = 1.0 - delay / window;
                assert!(close(presence, expected, 1e-9), "{}: {presence}", case.command());
            }
        }
    }
}

/// The part with a majority waits for the locks, then for the turns of processes that were cut off.
/// In local mode the part without the old leader waits until none of the others counts as alive.
#[test]
fn after_a_split_the_part_that_can_has_a_leader() {
    for mode in BOTH {
        for nodes in [3, 4, 5, 8] {
            let case = Case { nodes, ..Case::of(mode, Scenario::Split) };
            let (params, answer) = (case.params(), case.answer());
            let apart = u64::from((nodes - 1) / 2);
            let most = match mode {
                Mode::Majority => params.failover() + params.stagger() * (apart - 1),
                Mode::Local => params.kappa_timeliness() + params.period(),
            };
            let delay = case.measure(&answer, Measure::ReestablishmentDelay);
            assert!(delay.max <= most.as_secs_f64(), "{}: {delay:?} {most}", case.command());
            let losses = case.measure(&answer, Measure::LeadershipLossesPerHour);
            assert_eq!(losses.max, 0.0, "{}: who is cut off loses nothing", case.command());
        }
    }
}

/// Two parts meet. In majority mode one of them had no leader: its members vote for the other's
/// next request, and name it at the one after that. In local mode each had one, and no leader may
/// go on without the support of all whom it hears: one gives way, or both and one of them leads
/// again, within κ of bounded inconsistency. A request later all name it.
#[test]
fn after_a_merge_all_name_one_leader() {
    for (mode, given_way) in [(Mode::Majority, [0.0, 0.0]), (Mode::Local, [1.0, 2.0])] {
        for nodes in [3, 4, 5, 8] {
            let case = Case { nodes, ..Case::of(mode, Scenario::Merge) };
            let (params, answer) = (case.params(), case.answer());
            let losses = case.measure(&answer, Measure::LeadershipLossesPerHour);
            let in_a_run = |losses: f64| losses * case.window.as_secs_f64() / 3600.0;
            let seen = [losses.min, losses.max].map(in_a_run);
            assert!(seen[0] >= given_way[0] - 1e-9, "{}: {losses:?}", case.command());
            assert!(seen[1] <= given_way[1] + 1e-9, "{}: {losses:?}", case.command());
            let most = match mode {
                Mode::Majority => params.renew() * 2 + params.delta(),
                Mode::Local => params.kappa_inconsistency() + params.renew(),
            };
            let agreed = case.measure(&answer, Measure::AgreementTime);
            assert!(agreed.min > 0.0, "{}: {agreed:?}", case.command());
            assert!(agreed.max <= most.as_secs_f64(), "{}: {agreed:?} {most}", case.command());
            assert_eq!(agreed.count as u64, case.runs, "{}", case.command());
            assert!(answer.measure(Measure::ReestablishmentDelay).is_none(), "nobody departed");
        }
    }
}

#[test]
fn a_newcomer_with_the_least_id_is_patient_in_majority_mode_and_takes_over_in_local_mode() {
    for (mode, replaced) in [(Mode::Majority, 0.0), (Mode::Local, 1.0)] {
        let case = Case::of(mode, Scenario::JoinSmaller);
        let answer = case.answer();
        let losses = case.measure(&answer, Measure::LeadershipLossesPerHour);
        let a_run = losses.mean * case.window.as_secs_f64() / 3600.0;
        assert!(close(a_run, replaced, 1e-9), "{}: {losses:?}", case.command());
        let agreed = case.measure(&answer, Measure::AgreementTime);
        let most = case.params().kappa_inconsistency() + case.params().kappa_timeliness();
        assert!(agreed.min > 0.0 && agreed.max <= most.as_secs_f64(), "{}", case.command());
        assert!(answer.measure(Measure::ReestablishmentDelay).is_none(), "nobody departed");
    }
}

/// All but one crash, and none comes back: after the third of five there is no majority, and the
/// rest of the time does not count. Each crash that counts costs at most a failover.
#[test]
fn time_in_which_too_few_are_left_does_not_count() {
    let churn = Churn { departures: 2.0, arrivals: 0.0 };
    let case = Case { runs: 200, ..Case::of(Mode::Majority, Scenario::Churn(churn)) };
    let answer = case.answer();
    let presence = case.measure(&answer, Measure::LeaderPresence);
    // In ten seconds about twenty departures are drawn where four can happen; if the time without a
    // majority counted, some eight seconds of ten would be lost.
    assert!(presence.mean > 0.8 && presence.mean < 1.0, "{}: {presence:?}", case.command());
    let local = Case { mode: Mode::Local, ..case };
    let presence = local.measure(&local.answer(), Measure::LeaderPresence);
    assert!(presence.min > 0.7, "{}: the last one leads itself: {presence:?}", local.command());
}

#[test]
fn the_number_of_threads_changes_nothing() {
    for scenario in [Scenario::Start, Scenario::Split, Scenario::Merge] {
        let case = Case { loss: 0.05, runs: 8, ..Case::of(Mode::Local, scenario) };
        let (two, one) = (case.experiment(), Experiment { threads: 1, ..case.experiment() });
        assert_eq!(one.run(&|| ()), two.run(&|| ()), "{}", case.command());
    }
}

#[test]
fn questions_that_leases_have_no_answer_to_are_refused() {
    let refused = |case: Case| case.experiment().check().unwrap_err();
    let two = |scenario| Case { nodes: 2, ..Case::of(Mode::Majority, scenario) };
    assert_eq!(
        refused(two(Scenario::Departure)),
        BadExperiment::NoQuorum { scenario: "departure", left: 1, quorum: 2 }
    );
    for (scenario, name) in [(Scenario::Split, "split"), (Scenario::Merge, "merge")] {
        let nothing = BadExperiment::NothingToSplit { nodes: 2, scenario: name };
        assert_eq!(refused(two(scenario)), nothing);
    }
    assert_eq!(
        refused(Case { nodes: 1, ..two(Scenario::JoinSmaller) }),
        BadExperiment::NoQuorum { scenario: "join-smaller", left: 1, quorum: 2 }
    );
    let local = Case { mode: Mode::Local, ..two(Scenario::Departure) };
    assert_eq!(local.experiment().check(), Ok(()), "the other leads itself");
    assert_eq!(
        refused(two(Scenario::FalseDeparture)),
        BadExperiment::OnlyAnnounced("false-departure")
    );
    let crowd = Case { nodes: 1025, ..Case::new(Mode::Majority) };
    assert!(matches!(refused(crowd), BadExperiment::GroupTooLarge(_)));
}
