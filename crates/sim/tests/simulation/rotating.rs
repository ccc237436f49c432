//! Leadership that goes round: everybody leads in turn, within the stated time, and for about as
//! long as the others.
//!
//! The seeds are fixed. A share of the time may differ from that of the others by the time in which
//! a leader notices that its own is over, a renewal.

use crate::support::{crash, ms, p};
use bellwether_core::{Duration, Leadership, SimTime};
use bellwether_protocols::local_leader::{Config, LocalLeader, Mode, Params};
use bellwether_sim::network::{Delay, Loss, Network};
use bellwether_sim::{Cause, Observer, Plan, RunSeed, Timed, World, id};

const AFTER: Duration = Duration::from_secs(1);
const NODES: u32 = 5;

/// Who led, one after the other, and from when to when.
#[derive(Default)]
struct Reigns(Vec<(u32, SimTime, Option<SimTime>)>);

impl Observer<LocalLeader> for Reigns {
    fn on_change(
        &mut self,
        at: SimTime,
        node: u32,
        leadership: &Leadership<'_>,
        _cause: Option<Cause>,
    ) {
        let open = self.0.iter_mut().rfind(|(leader, _, end)| *leader == node && end.is_none());
        match (open, leadership.names(id(node))) {
            (None, true) => self.0.push((node, at, None)),
            (Some((.., end)), false) => *end = Some(at),
            _ => {}
        }
    }
}

fn params(mode: Mode) -> Params {
    let config = Config { mode, preempt: true, rotate_after: Some(AFTER), ..Config::default() };
    Params::try_from(config).expect("they are valid")
}

fn run(params: &Params, loss: Loss, faults: Vec<Timed>, seed: u64) -> Vec<(u32, SimTime, SimTime)> {
    let network = Network::uniform(Delay::Uniform { min: ms(0), max: ms(2) }, loss);
    let horizon = ms(60_000);
    let plan = Plan { network, horizon, drift: 200_000, faults, ..Plan::new(NODES) };
    let mut reigns = Reigns::default();
    let mut world = World::<LocalLeader>::new(params.clone().layered());
    world.run(&plan, RunSeed::new(seed, 0), &mut reigns);
    let end = |(leader, begin, end): (u32, SimTime, Option<SimTime>)| {
        (leader, begin, end.unwrap_or(SimTime::ZERO + horizon))
    };
    reigns.0.into_iter().map(end).collect()
}

/// The longest time from the end of a reign until the same process leads again.
fn longest_wait(reigns: &[(u32, SimTime, SimTime)]) -> Duration {
    let wait = |(place, (leader, _, end)): (usize, &(u32, SimTime, SimTime))| {
        let again = reigns[place + 1..].iter().find(|reign| reign.0 == *leader)?;
        Some(again.1.since(*end))
    };
    reigns.iter().enumerate().filter_map(wait).max().expect("everybody led more than once")
}

#[test]
fn everybody_leads_in_turn_and_for_equal_times() {
    for mode in [Mode::Majority, Mode::Local] {
        let params = params(mode);
        let most = params.rotation().expect("it goes round");
        for seed in 1..=5 {
            let reigns = run(&params, Loss::None, Vec::new(), seed);
            let led: Vec<u32> = reigns.iter().map(|reign| reign.0).collect();
            let next = |pair: &[u32]| (pair[0] + 1) % NODES == pair[1];
            assert!(led.windows(2).all(next), "{mode:?}, seed {seed}: {led:?}");
            let between = reigns.windows(2).map(|pair| pair[1].1.since(pair[0].1)).max();
            assert!(between.is_some_and(|length| length <= most), "{mode:?} {between:?} {most}");
            // Whole rounds, so that everybody had as many reigns.
            let rounds = led.len() / NODES as usize;
            assert!(rounds >= 7, "{mode:?}, seed {seed}: {rounds} rounds");
            let mut shares = [0.0; NODES as usize];
            for (leader, begin, end) in &reigns[..rounds * NODES as usize] {
                shares[*leader as usize] += end.since(*begin).as_secs_f64();
            }
            let total: f64 = shares.iter().sum();
            let shares = shares.map(|share| share / total);
            let wait = longest_wait(&reigns);
            println!("{mode:?}, seed {seed}: {rounds} rounds, shares {shares:.3?}, wait {wait}");
            let renewal = params.renew().as_secs_f64() / AFTER.as_secs_f64();
            for share in shares {
                let off = (share * f64::from(NODES) - 1.0).abs();
                assert!(off <= renewal, "{mode:?}, seed {seed}: {shares:?}");
            }
            // The others lead once each, and each of them for at least its time.
            let others = u64::from(NODES) - 1;
            assert!(wait <= most * others, "{mode:?}, seed {seed}: {wait}");
            assert!(wait >= AFTER * others, "{mode:?}, seed {seed}: {wait}");
        }
    }
}

#[test]
fn a_member_that_is_gone_is_passed_over_and_lost_messages_pass_over_nobody_for_long() {
    for mode in [Mode::Majority, Mode::Local] {
        let params = params(mode);
        let reigns = run(&params, Loss::None, vec![crash(2_500, 3)], 6);
        let mut led: Vec<u32> = reigns.iter().skip(4).map(|reign| reign.0).collect();
        assert!(led.len() > 20 && !led.contains(&3), "{mode:?}: {led:?}");
        led.truncate(8);
        led.sort_unstable();
        assert_eq!(led, [0, 0, 1, 1, 2, 2, 4, 4], "{mode:?}");
    }
    let reigns = run(&params(Mode::Majority), Loss::Uncorrelated(p(0.01)), Vec::new(), 7);
    let count = |node: u32| reigns.iter().filter(|reign| reign.0 == node).count();
    let counts: Vec<usize> = (0..NODES).map(count).collect();
    println!("at a loss of one in a hundred: {counts:?} reigns");
    assert!(counts.iter().all(|count| *count >= 6), "{counts:?}");
}
