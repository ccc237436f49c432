//! Handler tests: one process, one input, the whole list of effects and the whole belief; and
//! groups under random faults.
//!
//! The clock of every test starts at zero and is read in milliseconds. Unless a test says
//! otherwise the group is 1 to 5, the times are those of `lan`, and clocks do not drift: Δ = 10,
//! σ = 20, P = 50, lockTime = lease = 150, EP = 181, expires = 302, 2Δ = 20 and 2Δ+σ = 40.
//!
//! The messages that tests write are of the first term, a refusal of none; [`in_term`] gives them
//! another. In local mode there are no terms, and [`hear`] and [`expect`] take them out.

mod after_the_storm;
mod alive;
mod announcing;
mod answering;
mod asking;
mod assertions;
mod bounded;
mod changes;
mod collating;
mod counting;
mod edges;
mod expiry;
mod last_will;
mod leaving;
mod lengths;
mod lists;
mod nearest;
mod needed;
mod never_two;
mod newcomer;
mod observing;
mod one_per_partition;
mod params;
mod partitions;
mod quarantine;
mod refusing;
mod releasing;
mod replacing;
mod rotating;
mod rules;
mod standing;
mod tokens;
mod told;
mod transfer;
mod turns;
mod used_up;
mod voting;
mod wire;
mod world;

use super::hall::{Hall, Timer};
use super::message::{Farewell, Ids, Message, Request};
use super::terms::Stored;
use super::times::Lengths;
use super::*;
use crate::testing::{ms, others};
use alloc::vec;
use alloc::vec::Vec;
use bellwether_core::harness::Harness;
use bellwether_core::{
    Boot, Candidacy, Command, Cx, Dest, Duration, Fact, Instant, Leadership, Memory, NodeId, Reach,
    Refused, Stage,
};
use bounded::{Bounded, Packet};

type Process = Harness<Bounded>;
type Effect = bellwether_core::Effect<Bounded>;

const NANO: Duration = Duration::from_nanos(1);
const AT_ONCE: Option<Duration> = Some(Duration::ZERO);

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn valid(config: Config) -> Params {
    Params::try_from(config).expect("the test's configuration is valid")
}

/// The usual parameters.
fn majority() -> Params {
    valid(Config { drift_ppm: Some(0), ..Config::default() })
}

fn local() -> Params {
    valid(Config { drift_ppm: Some(0), mode: Mode::Local, ..Config::default() })
}

fn published() -> Params {
    let config = Config { drift_ppm: Some(0), as_published: true, ..Config::default() };
    valid(Config { mode: Mode::Local, lock: Some(ms(150)), ..config })
}

/// One of a group of `n`, in this incarnation, which has granted no term before.
fn boot(id: u64, n: u64, incarnation: u64, params: Params) -> Process {
    boot_with(Memory::First, id, n, incarnation, params)
}

/// One of a group of `n`, in this incarnation, with what is left of its record.
fn boot_with(memory: Memory<'_>, id: u64, n: u64, incarnation: u64, params: Params) -> Process {
    let boot = Boot { incarnation, memory, ..Boot::first(NodeId(id)) };
    Process::boot(boot, params, &others(id, n), &[])
}

fn start(id: u64, params: Params) -> Process {
    boot(id, 5, 1, params)
}

/// Lets time pass up to this millisecond, without waking the process.
fn until(process: &mut Process, ms: u64) -> &mut Process {
    let length = at(ms).since(process.now());
    process.wait(length)
}

/// Delivers a message that was certainly fast.
fn hear(process: &mut Process, from: u64, body: Message) -> &mut Process {
    let body = fit(process, body);
    process.message(from, Packet { bound: AT_ONCE, body })
}

/// Delivers a message that may have been slow.
fn hear_slow(process: &mut Process, from: u64, body: Message) -> &mut Process {
    let body = fit(process, body);
    process.message(from, Packet { bound: None, body })
}

/// The message as the processes of this one's group send it: without a term in local mode.
fn fit(process: &Process, body: Message) -> Message {
    if process.params().by_majority() || !has_term(&body) { body } else { in_term(0, body) }
}

fn has_term(body: &Message) -> bool {
    matches!(body, Message::Election { .. } | Message::Reply { .. })
}

/// The message with another term: the one it asks for or grants, or the highest one granted.
fn in_term(number: u64, mut body: Message) -> Message {
    match &mut body {
        Message::Election { term, .. } => *term = number,
        Message::Reply { highest, .. } => *highest = number,
        other => panic!("{other:?} has no term"),
    }
    body
}

/// Process 1, which asked at 20 and leads by the votes of 2 and 3, which came at 25. It asked again
/// then, to tell them.
fn leader(params: Params) -> Process {
    let mut process = start(1, params);
    process.ring();
    until(&mut process, 25);
    hear(&mut process, 2, yes(20));
    hear(&mut process, 3, yes(20));
    assert_eq!(led_until(&process), Some(at(170)), "it leads");
    process
}

/// Process 1 in a local group, which leads itself and 2, asked at 161 and again at 181.
fn local_leader(params: Params) -> Process {
    let mut process = start(1, params);
    process.ring().ring().ring();
    assert_eq!(process.now(), at(161), "it asked for the second time");
    hear(&mut process, 2, yes(161));
    process.ring();
    assert_eq!(led_until(&process), Some(at(311)), "it leads");
    process
}

/// The end of its lease.
fn led_until(process: &Process) -> Option<Instant> {
    let Leadership { leaders, until, .. } = process.leadership();
    let me = process.node().protocol().0.me;
    (leaders == [me]).then_some(until)
}

fn request(sent: u64) -> Request {
    Request { life: 1, sent: at(sent) }
}

fn ask(sent: u64) -> Message {
    renew(sent, &[])
}

/// The request of a leader with these supporters.
fn renew(sent: u64, supporters: &[u64]) -> Message {
    let supporters = supporters.iter().copied().map(NodeId).collect();
    Message::Election {
        request: request(sent),
        term: 1,
        lock: ms(150),
        supporters,
        farewell: None,
        token: None,
        list: None,
        answerers: None,
        tree: None,
    }
}

/// A request that carries the farewell of `node`.
fn ask_with_news(sent: u64, node: u64, given_up: u64) -> Message {
    let farewell = Some(Farewell { node: NodeId(node), request: request(given_up) });
    let (request, supporters) = (request(sent), Ids::new());
    Message::Election {
        request,
        term: 1,
        lock: ms(150),
        supporters,
        farewell,
        token: None,
        list: None,
        answerers: None,
        tree: None,
    }
}

fn yes(sent: u64) -> Message {
    Message::Reply {
        request: request(sent),
        support: true,
        remaining: Duration::ZERO,
        highest: 1,
        list: None,
    }
}

/// The refusal of a process that has granted no term.
fn no(sent: u64, remaining: Duration) -> Message {
    Message::Reply { request: request(sent), support: false, remaining, highest: 0, list: None }
}

/// These voters grant the request that was sent then.
fn grant(process: &mut Process, sent: u64, voters: &[u64]) {
    voters.iter().for_each(|voter| {
        hear(process, *voter, yes(sent));
    });
}

/// What it tells everybody when its timer rings.
fn rung(process: &mut Process) -> Message {
    process.ring();
    let told = process.effects().into_iter().find_map(|effect| match effect {
        Effect::Send(Dest::Everyone, Packet { body, .. }) => Some(body),
        _ => None,
    });
    told.expect("it tells everybody something")
}

fn release(sent: u64) -> Message {
    Message::Release { request: request(sent), leaving: false, nominee: None }
}

fn farewell(sent: u64) -> Message {
    Message::Release { request: request(sent), leaving: true, nominee: None }
}

/// The farewell of a leader that names the next one.
fn hand_over(sent: u64, nominee: u64) -> Message {
    let nominee = Some(NodeId(nominee));
    Message::Release { request: request(sent), leaving: true, nominee }
}

/// One of a group of `n` in its first life, with this priority, or as a witness.
fn boot_as(candidacy: Candidacy, id: u64, n: u64, params: Params) -> Process {
    let boot = Boot { candidacy, ..Boot::first(NodeId(id)) };
    Process::boot(boot, params, &others(id, n), &[])
}

const WITNESS: Candidacy = Candidacy { priority: 0, witness: true };

fn priority(priority: u32) -> Candidacy {
    Candidacy { priority, witness: false }
}

fn say(body: Message) -> Effect {
    Effect::Send(Dest::Everyone, Packet { bound: None, body })
}

fn tell(to: u64, body: Message) -> Effect {
    Effect::Send(Dest::Node(NodeId(to)), Packet { bound: None, body })
}

/// The record that this term was granted to the first life of `node`.
fn store(term: u64, node: u64) -> Effect {
    Effect::Store(Stored { highest: term, granted: Some((NodeId(node), 1)) }.encode(None))
}

fn arm(timer: Timer, ms: u64) -> Effect {
    Effect::Arm(timer, at(ms))
}

/// Armed for the first instant after this millisecond.
fn arm_after(timer: Timer, ms: u64) -> Effect {
    Effect::Arm(timer, at(ms) + NANO)
}

fn disarm(timer: Timer) -> Effect {
    Effect::Disarm(timer)
}

/// The whole outcome of the last input: the effects, and who is believed to lead for how long.
#[track_caller]
fn expect(process: &Process, effects: &[Effect], belief: Option<(u64, u64)>) {
    let fitting = |effect: &Effect| match effect {
        Effect::Send(to, Packet { bound, body }) => {
            Effect::Send(*to, Packet { bound: *bound, body: fit(process, body.clone()) })
        }
        other => other.clone(),
    };
    let expected: Vec<Effect> = effects.iter().map(fitting).collect();
    assert_eq!(process.effects(), expected, "effects");
    let Leadership { leaders, until, stage, .. } = process.leadership();
    let believed = match (leaders, stage) {
        ([leader], Stage::Decided) => Some((leader.0, until)),
        ([], Stage::Undecided) => None,
        other => panic!("a strange belief: {other:?}"),
    };
    assert_eq!(believed, belief.map(|(leader, until)| (leader, at(until))), "belief");
}

/// The process it is locked to, and until when.
fn lock_of(process: &Process) -> Option<(u64, Instant)> {
    process.facts().into_iter().find_map(|fact| match fact {
        Fact::Locked { to, until } => Some((to.0, until)),
        _ => None,
    })
}

fn alive(process: &Process) -> Vec<u64> {
    let alive = |fact| if let Fact::Alive { peer } = fact { Some(peer.0) } else { None };
    process.facts().into_iter().filter_map(alive).collect()
}

fn supporters(process: &Process) -> Vec<u64> {
    let supporter = |fact| if let Fact::Supporter { peer } = fact { Some(peer.0) } else { None };
    process.facts().into_iter().filter_map(supporter).collect()
}

fn members(process: &Process) -> Vec<u64> {
    let member = |fact| if let Fact::Member { peer } = fact { Some(peer.0) } else { None };
    process.facts().into_iter().filter_map(member).collect()
}
