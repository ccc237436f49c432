//! Leases whose renewals are answered by as many voters as are needed, and some to spare: fewer
//! messages, and hardly more losses of leadership.
//!
//! The seed is fixed. The tolerance on losses is one in an hour at a loss of one message in twenty,
//! and one in four hours at one in a hundred.

use crate::support::{experiment, p};
use bellwether_core::Duration;
use bellwether_protocols::local_leader::{Config, Params, Preset};
use bellwether_sim::network::{Delay, Loss, Network};
use bellwether_sim::{Experiment, Measure};

/// A quarter of an hour, four times.
const WINDOW: Duration = Duration::from_secs(900);
const RUNS: u64 = 4;

/// Messages in a second, and losses of leadership in an hour.
fn measured(nodes: u32, loss: f64, spare: Option<u32>, preset: Preset) -> (f64, f64) {
    let params = Params::try_from(Config { spare, preset, ..Config::default() }).expect("valid");
    let delay = Delay::Constant(Duration::from_micros(500));
    let network = Network::uniform(delay, Loss::Uncorrelated(p(loss)));
    let (drift, threads) = (params.drift_ppm() * 1_000, 2);
    let usual = experiment(params, nodes, network);
    let experiment = Experiment { drift, window: WINDOW, runs: RUNS, seed: 1, threads, ..usual };
    let answer = experiment.run(&|| ()).expect("it can be run");
    assert_eq!(answer.unsettled, 0, "every run has a leader");
    let mean = |measure| answer.measure(measure).expect("it is measured").mean;
    (mean(Measure::MessagesPerSecond), mean(Measure::LeadershipLossesPerHour))
}

#[test]
fn with_one_voter_to_spare_there_are_fewer_messages_and_hardly_more_losses() {
    for (nodes, saved) in [(5, 0.15), (7, 0.22)] {
        for (loss, more) in [(0.01, 0.25), (0.05, 1.0)] {
            let of = |spare| measured(nodes, loss, spare, Preset::Fast);
            let (all, one, none) = (of(None), of(Some(1)), of(Some(0)));
            println!(
                "{nodes} voters, loss {loss}: all answer {all:.2?}, one to spare {one:.2?}, none \
                 {none:.2?} (messages/s, losses/h)"
            );
            assert!(one.0 < all.0 * (1.0 - saved), "{nodes} {loss}: {one:?} {all:?}");
            assert!(one.1 <= all.1 + more, "{nodes} {loss}: {one:?} {all:?}");
        }
    }
}
