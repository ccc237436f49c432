//! The network as processes see it: delays, losses, copies and channels have the configured
//! statistics, measured at the receivers.
//!
//! One process sends a message every millisecond. Fractions are compared with what is expected to
//! within [`SIGMAS`] standard deviations, means at the same confidence; the seeds are fixed, so a
//! test that passes always passes.

use crate::support::ping::{Ping, Pings};
use crate::support::{at, constant, fault, ms, node, p, sends};
use bellwether_core::{Dest, Duration, Event, NodeId, SimTime};
use bellwether_sim::network::{Bursts, Channel, Delay, Link, Loss, Network, Probability};
use bellwether_sim::stats::Summary;
use bellwether_sim::{Fault, Outcome, Plan, RunSeed, Timed, Tracer, World};

const SIGMAS: f64 = 4.0;
const CONFIDENCE: f64 = 0.9999;

/// Fails unless this number of hits fits the probability.
fn expect_rate(what: &str, hits: usize, trials: usize, probability: f64) {
    let (mean, n) = (hits as f64 / trials as f64, trials as f64);
    let allowed = SIGMAS * (probability * (1.0 - probability) / n).sqrt();
    let off = (mean - probability).abs();
    assert!(off <= allowed, "{what}: {mean:.5} of {trials}, not {probability:.5} ± {allowed:.5}");
}

fn expect_mean(what: &str, samples: &[f64], expected: f64) {
    let summary = Summary::of(samples).expect("samples");
    let [low, high] = summary.interval(CONFIDENCE);
    assert!(summary.agrees_with(expected, CONFIDENCE), "{what}: {expected} not in {low}..{high}");
}

/// Everything that happened to the messages of process 0.
struct Heard {
    sent: usize,
    /// Receptions in order of time: when, by whom, which message, and its delay.
    receipts: Vec<(SimTime, u64, u64, Duration)>,
    deliveries: u64,
}

impl Heard {
    /// How often the receiver got each message.
    fn copies(&self, receiver: u64) -> Vec<usize> {
        let mut copies = vec![0; self.sent];
        let its = self.receipts.iter().filter(|(_, to, ..)| *to == receiver);
        its.for_each(|(_, _, number, _)| copies[*number as usize] += 1);
        copies
    }

    fn lost(&self, receiver: u64) -> Vec<bool> {
        self.copies(receiver).into_iter().map(|copies| copies == 0).collect()
    }

    fn lengths(&self) -> Vec<Duration> {
        self.receipts.iter().map(|(.., took)| *took).collect()
    }
}

/// Process 0 sends `count` messages through this network, then stops; packets in flight arrive.
fn send(network: Network, nodes: u32, to: Dest, count: u64) -> Heard {
    let stop = fault(count, Fault::Crash { node: node(0) });
    let stop = Timed { at: stop.at + Duration::from_micros(1), ..stop };
    let plan = Plan { network, faults: vec![stop], ..Plan::new(nodes) };
    let (mut tracer, params) = (Tracer::default(), Pings { to, ..Pings::to_all(ms(1)) });
    let Outcome { deliveries, .. } =
        World::<Ping>::new(params).run(&plan, RunSeed::new(7, 0), &mut tracer);
    let sent = tracer.records.iter().filter(|record| sends(&record.event)).count();
    assert_eq!(sent as u64, count);
    let receipts = tracer.records.iter().filter_map(|record| match record.event {
        Event::Recv { number, sent, .. } => {
            Some((record.t, record.node.0, number, record.t.since(sent)))
        }
        _ => None,
    });
    Heard { sent, receipts: receipts.collect(), deliveries }
}

const ONE: Dest = Dest::Node(NodeId(1));

#[test]
fn delays_have_the_mean_and_the_shape_they_are_given() {
    let delays = [
        (Delay::Uniform { min: ms(20), max: ms(60) }, 0.040, 0.5),
        (Delay::Exponential { min: ms(5), mean: ms(30) }, 0.035, libm::exp(-1.0)),
        // The mean of the additional delay is median · exp(σ²/2); it is exceeded with probability
        // Φ(−σ/2), which is Φ(−.3).
        (
            Delay::LogNormal { min: ms(2), median: ms(40), sigma: 0.6 },
            0.002 + 0.040 * libm::exp(0.18),
            0.382_088_6,
        ),
    ];
    for (delay, mean, beyond) in delays {
        for to in [Dest::Everyone, ONE] {
            let what = format!("{delay:?} to {to:?}");
            let heard = send(Network::uniform(delay.clone(), Loss::None), 5, to, 10_000);
            let receivers = if to == ONE { 1 } else { 4 };
            assert_eq!(heard.deliveries, 10_000 * receivers, "{what}: each arrives once");
            assert_eq!(heard.receipts.len() as u64, heard.deliveries);
            let lengths: Vec<f64> = heard.lengths().iter().map(|took| took.as_secs_f64()).collect();
            expect_mean(&what, &lengths, mean);
            let long = lengths.iter().filter(|took| **took > mean).count();
            expect_rate(&what, long, lengths.len(), beyond);
        }
    }
}

#[test]
fn delays_stay_within_their_bounds_and_a_constant_one_is_constant() {
    let uniform = Delay::Uniform { min: ms(20), max: ms(60) };
    let lengths = send(Network::uniform(uniform, Loss::None), 4, Dest::Everyone, 5_000).lengths();
    assert!(lengths.iter().all(|took| (ms(20)..ms(60)).contains(took)));
    assert!(lengths.iter().min() < Some(&ms(21)) && lengths.iter().max() > Some(&ms(59)));
    for delay in [
        Delay::Exponential { min: ms(5), mean: ms(30) },
        Delay::LogNormal { min: ms(5), median: ms(1), sigma: 1.0 },
    ] {
        let lengths = send(Network::uniform(delay, Loss::None), 4, Dest::Everyone, 5_000).lengths();
        assert!(lengths.iter().all(|took| *took >= ms(5)));
    }
    let constant = send(constant(17, Loss::None), 4, Dest::Everyone, 500);
    assert!(constant.lengths().iter().all(|took| *took == ms(17)));
}

#[test]
fn each_receiver_loses_messages_for_itself_if_losses_are_uncorrelated() {
    let heard = send(constant(10, Loss::Uncorrelated(p(0.3))), 4, Dest::Everyone, 20_000);
    let lost = [1, 2, 3].map(|receiver| heard.lost(receiver));
    for (receiver, lost) in lost.iter().enumerate() {
        let what = format!("receiver {receiver}");
        expect_rate(&what, lost.iter().filter(|lost| **lost).count(), heard.sent, 0.3);
    }
    let all = (0..heard.sent).filter(|i| lost.iter().all(|lost| lost[*i])).count();
    expect_rate("all three lose the same", all, heard.sent, 0.3f64.powi(3));
    let kept = heard.receipts.len() as u64;
    assert_eq!(heard.deliveries, kept, "what is lost is no delivery");
}

#[test]
fn all_receivers_lose_the_same_messages_if_losses_are_correlated() {
    let heard = send(constant(10, Loss::Correlated(p(0.3))), 4, Dest::Everyone, 20_000);
    let lost = heard.lost(1);
    expect_rate("lost", lost.iter().filter(|lost| **lost).count(), heard.sent, 0.3);
    assert!([2, 3].iter().all(|receiver| heard.lost(*receiver) == lost));
}

#[test]
fn what_is_always_lost_never_arrives_and_what_never_is_always_does() {
    for loss in [Loss::Correlated(p(1.0)), Loss::Uncorrelated(p(1.0))] {
        for to in [Dest::Everyone, ONE] {
            assert_eq!(send(constant(10, loss), 70, to, 50).deliveries, 0);
        }
    }
    for loss in [Loss::None, Loss::Correlated(p(0.0)), Loss::Uncorrelated(p(0.0))] {
        assert_eq!(send(constant(10, loss), 70, Dest::Everyone, 50).deliveries, 50 * 69);
        assert_eq!(send(constant(10, loss), 70, ONE, 50).deliveries, 50);
    }
}

/// The lengths of the runs of lost messages.
fn stretches(lost: &[bool]) -> Vec<f64> {
    let runs = lost.chunk_by(|one, next| one == next);
    runs.filter(|run| run[0]).map(|run| run.len() as f64).collect()
}

/// A burst lasts for 1/recover messages on average, and worsen/(worsen + recover) of all messages
/// fall into one. Unicasts have bursts too, even where multicasts have none.
#[test]
fn bursts_are_as_long_and_as_frequent_as_they_are_given() {
    let bursts = Bursts { worsen: p(0.02), recover: p(0.2), good: p(0.0), bad: p(1.0) };
    let bursty = constant(10, Loss::Bursts(bursts));
    let only_unicasts = Network { multicast: Channel::default(), ..bursty.clone() };
    for (network, to) in [(bursty.clone(), Dest::Everyone), (bursty, ONE), (only_unicasts, ONE)] {
        let heard = send(network, 3, to, 40_000);
        let lost = heard.lost(1);
        let lengths = stretches(&lost);
        expect_mean("messages in a burst", &lengths, 5.0);
        // Few independent bursts, not many independent messages, make up this rate.
        let rate = lost.iter().filter(|lost| **lost).count() as f64 / 40_000.0;
        assert!((rate - 1.0 / 11.0).abs() < 0.012, "{rate}");
        if to == Dest::Everyone {
            let both = lost.iter().zip(heard.lost(2)).filter(|(one, two)| **one && *two).count();
            let rate = both as f64 / 40_000.0;
            assert!(rate < 0.02, "each receiver has bursts of its own: both lose {rate}");
        }
    }
}

/// Over many runs and receivers, the first message is lost as often as the hundredth.
#[test]
fn a_run_begins_in_the_middle_of_a_burst_as_often_as_not() {
    let bursts = Bursts { worsen: p(0.05), recover: p(0.1), good: p(0.1), bad: p(0.9) };
    let (receivers, runs) = (40, 500);
    let loss = Loss::Bursts(bursts);
    let stop = fault(100, Fault::Crash { node: node(0) });
    let plan = Plan {
        network: constant(10, loss),
        faults: vec![Timed { at: stop.at + Duration::from_micros(1), ..stop }],
        ..Plan::new(receivers + 1)
    };
    let mut world = World::<Ping>::new(Pings::to_all(ms(1)));
    let mut lost = [0; 2];
    for run in 0..runs {
        let mut tracer = Tracer::default();
        world.run(&plan, RunSeed::new(7, run), &mut tracer);
        for record in tracer.records {
            match record.event {
                Event::Drop { number: 0, .. } => lost[0] += 1,
                Event::Drop { number: 99, .. } => lost[1] += 1,
                _ => {}
            }
        }
    }
    // 1/3 · .9 + 2/3 · .1
    assert!((loss.rate() - 11.0 / 30.0).abs() < 1e-12);
    for (which, lost) in ["the first", "the hundredth"].into_iter().zip(lost) {
        expect_rate(which, lost, receivers as usize * runs as usize, loss.rate());
    }
}

#[test]
fn as_many_messages_arrive_twice_as_are_said_to_and_the_second_soon_after_the_first() {
    let network = Network { duplicate: p(0.15), straggle: ms(40), ..constant(10, Loss::None) };
    for to in [Dest::Everyone, ONE] {
        let heard = send(network.clone(), 3, to, 20_000);
        let copies = heard.copies(1);
        assert!(copies.iter().all(|copies| [1, 2].contains(copies)));
        expect_rate("twice", copies.iter().filter(|copies| **copies == 2).count(), 20_000, 0.15);
        assert!(heard.lengths().iter().all(|took| (ms(10)..ms(50)).contains(took)));
        let late: Vec<f64> = heard.lengths().iter().map(|took| took.as_secs_f64()).collect();
        let late: Vec<f64> = late.into_iter().filter(|took| *took > 0.010).collect();
        expect_mean("a second copy", &late, 0.030);
    }
}

#[test]
fn as_many_messages_are_held_up_as_are_said_to_and_later_ones_overtake_them() {
    let run = |reorder: Probability| {
        let network = Network { reorder, straggle: ms(40), ..constant(10, Loss::None) };
        send(network, 3, ONE, 20_000)
    };
    let heard = run(p(0.15));
    assert_eq!(heard.deliveries, 20_000, "none is lost, none doubled");
    let held = heard.lengths().iter().filter(|took| **took > ms(10)).count();
    expect_rate("held up", held, 20_000, 0.15);
    let numbers =
        |heard: &Heard| heard.receipts.iter().map(|receipt| receipt.2).collect::<Vec<_>>();
    assert!(!numbers(&heard).is_sorted());
    assert!(numbers(&run(p(0.0))).is_sorted());
}

#[test]
fn a_link_of_its_own_has_its_own_delay_and_loss_one_way() {
    let link = |from, to, delay: Option<u64>, loss: Option<f64>| Link {
        from,
        to,
        delay: delay.map(|millis| Delay::Constant(ms(millis))),
        loss: loss.map(p),
    };
    let links = vec![
        link(0, 1, Some(50), None),
        link(0, 2, None, Some(0.4)),
        link(3, 0, Some(500), Some(1.0)), // the other way: nothing goes there
    ];
    let network = Network { links, ..constant(10, Loss::None) };
    let heard = send(network.clone(), 4, Dest::Everyone, 20_000);
    for (_, to, _, took) in &heard.receipts {
        assert_eq!(*took, if *to == 1 { ms(50) } else { ms(10) });
    }
    let lost = |receiver| heard.lost(receiver).into_iter().filter(|lost| *lost).count();
    assert_eq!((lost(1), lost(3)), (0, 0));
    expect_rate("on the lossy link", lost(2), 20_000, 0.4);
    let unicasts = send(network, 4, ONE, 100);
    assert!(unicasts.lengths().iter().all(|took| *took == ms(50)), "a link carries unicasts too");
}

#[test]
fn unicasts_and_multicasts_travel_by_channels_of_their_own() {
    let channel = |millis, loss| Channel { delay: Delay::Constant(ms(millis)), loss };
    let network = Network {
        multicast: channel(10, Loss::Uncorrelated(p(0.5))),
        unicast: channel(30, Loss::Correlated(p(0.1))),
        ..Network::default()
    };
    let multicasts = send(network.clone(), 2, Dest::Everyone, 20_000);
    assert!(multicasts.lengths().iter().all(|took| *took == ms(10)));
    expect_rate("multicasts", multicasts.receipts.len(), 20_000, 0.5);
    let unicasts = send(network, 2, ONE, 20_000);
    assert!(unicasts.lengths().iter().all(|took| *took == ms(30)));
    expect_rate("unicasts", unicasts.receipts.len(), 20_000, 0.9);
}

#[test]
fn a_unicast_reaches_its_addressee_alone_and_one_to_nobody_is_harmless() {
    let heard = send(constant(10, Loss::None), 5, ONE, 100);
    assert!(heard.receipts.iter().all(|receipt| receipt.1 == 1));
    let nobody = send(constant(10, Loss::None), 5, Dest::Node(NodeId(99)), 100);
    assert_eq!(nobody.deliveries, 0);
}

#[test]
fn a_message_to_oneself_takes_no_network() {
    let heard = send(constant(10, Loss::Uncorrelated(p(1.0))), 2, Dest::Node(NodeId(0)), 100);
    assert_eq!(heard.deliveries, 100);
    assert!(heard.lengths().iter().all(|took| *took == Duration::ZERO));
    assert_eq!(heard.receipts[0].0, at(1));
}
