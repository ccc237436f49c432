//! Large groups: five vote, and all others follow.
//!
//! The leader crashes after three seconds. Messages take from 1 to 4 ms, and one in a hundred is
//! lost. Nobody loses sight of a leader that works, all live members name the next one within the
//! bound, and what a follower sends does not depend on the size of the group.

use crate::support::{at, crash, ms, p, plan};
use bellwether_core::{Dest, Duration, Instant, Leadership, Node, NodeId, Protocol, SimTime};
use bellwether_protocols::local_leader::{Config, LocalLeader, Params};
use bellwether_sim::network::{Delay, Loss, Network};
use bellwether_sim::{Cause, Observer, Plan, RunSeed, World};
use std::ops::Range;

const VOTERS: u32 = 5;
/// When the leader crashes.
const CRASH: u64 = 3_000;
/// When datagrams are counted, and nobody may lose sight of the leader.
const CALM: Range<u64> = 1_000..CRASH;

/// What the members sent while the leader worked, and when they named the next one.
struct Seen {
    sent: Vec<u64>,
    /// How often a follower named nobody.
    lost: u64,
    named: Vec<Option<SimTime>>,
}

impl Observer<LocalLeader> for Seen {
    fn on_send(
        &mut self,
        now: SimTime,
        from: u32,
        _to: Dest,
        _message: &<LocalLeader as Protocol>::Message,
        _number: u32,
    ) {
        let counts = (at(CALM.start)..at(CALM.end)).contains(&now);
        self.sent[from as usize] += u64::from(counts);
    }

    fn on_change(
        &mut self,
        now: SimTime,
        node: u32,
        leadership: &Leadership<'_>,
        _cause: Option<Cause>,
    ) {
        let calm = (at(CALM.start)..at(CALM.end)).contains(&now);
        let follows = node >= VOTERS;
        self.lost += u64::from(calm && follows && leadership.leaders.is_empty());
        let next = leadership.leaders.first().is_some_and(|leader| *leader != NodeId(0));
        if next && now > at(CRASH) {
            self.named[node as usize].get_or_insert(now);
        }
    }
}

fn params() -> Params {
    Config::default().try_into().expect("valid parameters")
}

/// How long the death of a leader, and the news of the next one, may take.
fn bound() -> Duration {
    params().failover() + params().stagger() * u64::from(VOTERS) + params().announce()
}

/// What came of a group.
#[derive(Debug)]
struct Large {
    /// Datagrams a second: of the leader, of a follower, and the most of one follower.
    leader: f64,
    follower: f64,
    most: f64,
    /// How long after the crash the first and the last live member named the next leader.
    first: Duration,
    last: Duration,
}

/// A group of so many, in which every `dead`th follower is dead from the beginning.
fn run(nodes: u32, dead: Option<u32>, seed: u64) -> Large {
    let delay = Delay::Uniform { min: ms(1), max: ms(4) };
    let network = Network::uniform(delay, Loss::Uncorrelated(p(0.01)));
    let is_dead =
        |node: u32| node >= VOTERS && dead.is_some_and(|every| node.is_multiple_of(every));
    let absent = (0..nodes).filter(|node| is_dead(*node)).collect();
    let until = ms(CRASH) + params().hold() + params().failover();
    let group = plan(nodes, network, until, vec![crash(CRASH, 0)]);
    let group = Plan { founders: (0..VOTERS).collect(), absent, ..group };
    let mut world = World::<LocalLeader>::new(params().layered());
    let none = vec![None; nodes as usize];
    let mut seen = Seen { sent: vec![0; nodes as usize], lost: 0, named: none };
    world.run(&group, RunSeed::new(seed, 0), &mut seen);
    if dead.is_none() {
        assert_eq!(seen.lost, 0, "{nodes} members: followers lost sight of the leader");
    }
    let alive = || (1..nodes).filter(|node| !is_dead(*node));
    let named = |node: u32| {
        let at_last = seen.named[node as usize];
        at_last.unwrap_or_else(|| panic!("{node} of {nodes} never named the next leader"))
    };
    let times = || alive().map(|node| named(node).since(at(CRASH)));
    let leader_of = |node: u32| {
        let state = world.node(node).expect("it runs");
        state.leadership(world.clock(node)).leaders.first().copied()
    };
    let one = leader_of(1);
    assert!(one.is_some_and(|leader| leader.0 > 0 && leader.0 < VOTERS.into()));
    assert!(alive().all(|node| leader_of(node) == one), "all of {nodes} name the same one");
    let seconds = (CALM.end - CALM.start) as f64 / 1e3;
    let followers: Vec<f64> = alive()
        .filter(|node| *node >= VOTERS)
        .map(|node| seen.sent[node as usize] as f64 / seconds)
        .collect();
    Large {
        leader: seen.sent[0] as f64 / seconds,
        follower: followers.iter().sum::<f64>() / followers.len() as f64,
        most: followers.iter().copied().fold(0.0, f64::max),
        first: times().min().unwrap_or_default(),
        last: times().max().unwrap_or_default(),
    }
}

#[test]
fn what_a_member_sends_does_not_depend_on_the_size_of_the_group() {
    let small = run(20, None, 1);
    let large = run(2_000, None, 1);
    for group in [&small, &large] {
        assert!(group.last <= bound(), "{group:?}");
        // Two announcements a second, each two ways.
        assert!(group.follower < 5.0 && group.most <= 16.0 + 8.0, "{group:?}");
    }
    assert!((small.leader - large.leader).abs() < 20.0, "{small:?} {large:?}");
    assert!(large.last < small.last + ms(200), "{small:?} {large:?}");
}

#[test]
fn those_behind_dead_members_follow_too() {
    let group = run(1_000, Some(10), 1);
    assert!(group.last <= params().failover() + params().hold(), "{group:?}");
}

#[test]
fn ten_thousand_members_name_the_next_leader_in_time() {
    let group = run(10_000, None, 1);
    assert!(group.last <= bound(), "{group:?}");
    assert!(group.follower < 5.0 && group.most <= 16.0 + 8.0, "{group:?}");
}

/// The table of `docs/members.md`.
#[test]
#[ignore = "it takes a while, and is for the documentation"]
fn ten_thousand() {
    println!("members  leader's/s  follower's/s  the most  first knows   last knows");
    for nodes in [10, 30, 100, 300, 1_000, 3_000, 10_000] {
        let Large { leader, follower, most, first, last } = run(nodes, None, 1);
        let [first, last] = [first, last].map(|length| length.as_secs_f64() * 1e3);
        println!(
            "{nodes:>7} {leader:>11.1} {follower:>13.2} {most:>9.1} {first:>9.0} ms {last:>9.0} ms"
        );
        assert!(last <= bound().as_secs_f64() * 1e3);
    }
}

/// How many have started.
struct Started(u32);

impl Observer<LocalLeader> for Started {
    fn on_start(&mut self, _: SimTime, _: u32, _: Instant, _: &Node<LocalLeader>) {
        self.0 += 1;
    }
}

#[test]
fn a_run_is_given_up_while_its_processes_start() {
    let founders = (0..VOTERS).collect();
    let plan = Plan { founders, ..plan(2_000, Network::default(), ms(100), Vec::new()) };
    let new = || World::<LocalLeader>::new(params().layered());
    let (mut world, mut started) = (new(), Started(0));
    let outcome = world.run_unless(&plan, RunSeed::new(1, 0), &mut started, &|| true);
    assert_eq!(outcome, None);
    assert!((1..2_000).contains(&started.0), "{} have started", started.0);
    // The world can be used again.
    let ended = world.run_unless(&plan, RunSeed::new(1, 0), &mut Started(0), &|| false);
    let other = new().run(&plan, RunSeed::new(1, 0), &mut Started(0));
    assert_eq!(ended, Some(other));
}
