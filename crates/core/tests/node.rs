//! What a node, an endpoint and a harness do for a protocol, whatever it is.
//!
//! What protocols owe in return is held of every one of them in `crates/protocols/tests/contract`.

use bellwether_core::harness::{Harness, Scripted};
use bellwether_core::*;
use std::borrow::Cow;

/// As little as a protocol can be. It takes terms from others, and finds out late that it cannot do
/// what it was told.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Tiny {
    believed: Hello,
    ticks: u8,
}

/// The term that its receiver is to believe in; 255 for none. In term 0 it does what it must not:
/// it tells a belief that is over.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Hello(u8);

impl Message for Hello {
    fn kind(&self) -> &'static str {
        "hello"
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u8(self.0);
    }

    fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        input.u8().map(Self)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Tick {
    First,
    Second,
}

timer_kinds!(Tick: First, Second);

impl Protocol for Tiny {
    const NAME: &'static str = "tiny";
    type Params = ();
    type Message = Hello;
    type Timer = Tick;

    fn start(_boot: Boot<'_>, cx: &mut Cx<'_, Self>) -> Self {
        cx.broadcast(Hello(1));
        Self { believed: Hello(1), ticks: 0 }
    }

    fn on_message(&mut self, _from: NodeId, hello: Cow<'_, Hello>, _cx: &mut Cx<'_, Self>) {
        self.believed = hello.into_owned();
    }

    fn on_timer(&mut self, tick: Tick, cx: &mut Cx<'_, Self>) {
        assert!(cx.now() < Instant::NEVER, "nothing is armed for the end of time");
        self.ticks += 1;
        if tick == Tick::First && self.ticks == 1 {
            cx.arm(tick, cx.now());
        }
    }

    fn on_command(&mut self, command: Command, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        cx.broadcast(Hello(2));
        cx.store(vec![1]);
        cx.arm(Tick::First, cx.now());
        cx.arm(Tick::Second, cx.now());
        if command == Command::Campaign { Ok(()) } else { Err(Refused::NotNow) }
    }

    /// It stores none.
    fn instants(&mut self, _rebase: &Rebase<'_>) {}

    fn leadership(&self, now: Instant) -> Leadership<'_> {
        let Hello(term) = self.believed;
        if term == u8::MAX {
            return Leadership::NONE;
        }
        let until = if term == 0 { now } else { Instant::NEVER };
        Leadership { term: Term::new(term.into()), until, ..Leadership::NONE }
    }
}

/// Begins, and gives the process to the test as a node.
fn with_node(test: impl FnOnce(&mut Node<Tiny>, &mut Env<'_>, &mut Vec<Effect<Tiny>>)) {
    let (peers, mut entropy) = (Members::default(), Scripted::default());
    let mut env = Env { now: Instant::ZERO, peers: &peers, entropy: &mut entropy };
    let mut effects = Vec::new();
    let mut node = Node::start(Boot::first(NodeId(1)), &mut env, &(), &mut effects);
    test(&mut node, &mut env, &mut effects);
}

/// The same behind bytes, when what it asked for at first is done.
fn with_endpoint(test: impl FnOnce(&mut dyn Endpoint, &mut Env<'_>)) {
    let (peers, mut entropy) = (Members::default(), Scripted::default());
    let mut env = Env { now: Instant::ZERO, peers: &peers, entropy: &mut entropy };
    let mut endpoint = endpoint::<Tiny>(Boot::first(NodeId(1)), &mut env, ());
    while endpoint.poll_output().is_some() {}
    test(&mut *endpoint, &mut env);
}

fn harness() -> Harness<Tiny> {
    Harness::start(NodeId(1), (), &[])
}

#[test]
fn what_a_refused_command_asked_for_is_discarded_and_nothing_else() {
    with_node(|node, env, effects| {
        let (before, sent) = (node.clone(), [Effect::Send(Dest::Everyone, Hello(1))]);
        assert_eq!(node.command(Command::Resign, env, &(), effects), Err(Refused::NotNow));
        assert_eq!(*node, before, "no timer was armed");
        assert_eq!(*effects, sent, "what was not yet done is still to be done");
        assert_eq!(node.command(Command::Campaign, env, &(), effects), Ok(Change::Same));
        assert_eq!((node.poll_timeout(), effects.len()), (Instant::ZERO, 3));
    });
}

#[test]
fn an_endpoint_and_a_harness_discard_it_too() {
    let mut harness = harness();
    assert_eq!(harness.command(Command::Resign).err(), Some(Refused::NotNow));
    assert_eq!(harness.effects(), []);
    harness.timeout();
    assert_eq!(harness.node().poll_timeout(), Instant::NEVER);
    with_endpoint(|endpoint, env| {
        assert_eq!(endpoint.command(Command::Resign, env), Err(Refused::NotNow));
        endpoint.timeout(env);
        assert_eq!(endpoint.poll_output(), None, "not even with the next step");
    });
}

#[test]
fn an_endpoint_stores_first_then_sends_and_then_tells() {
    with_endpoint(|endpoint, env| {
        endpoint.command(Command::Campaign, env).expect("it campaigns");
        let send = |term| Output::Send { to: Dest::Everyone, message: "hello", bytes: vec![term] };
        assert_eq!(endpoint.poll_output(), Some(Output::Store(vec![1])));
        assert_eq!((endpoint.poll_output(), endpoint.poll_output()), (Some(send(2)), None));
        assert_eq!(endpoint.datagram(NodeId(2), &[3], env), Ok("hello"));
        assert_eq!(endpoint.poll_output(), Some(Output::Leadership));
        assert_eq!(endpoint.datagram(NodeId(2), &[3, 0], env), Err(Unheard::Malformed));
        assert_eq!(endpoint.poll_output(), None);
    });
}

#[test]
fn one_timer_runs_per_call_the_lower_slot_first_and_it_may_arm_itself_again() {
    let mut harness = harness();
    harness.command(Command::Campaign).expect("it campaigns");
    for left in [Some(Tick::First), Some(Tick::Second), None] {
        harness.timeout();
        assert_eq!(harness.node().due(harness.now()), left);
    }
    assert_eq!(harness.node().protocol().ticks, 3);
}

#[test]
fn a_timer_that_is_not_armed_does_not_run_even_at_the_end_of_time() {
    let mut harness = harness();
    harness.wait(Duration::from_nanos(u64::MAX - 1)).timeout();
    assert_eq!(harness.node().due(Instant::NEVER), None);
    assert_eq!(harness.node().protocol().ticks, 0);
}

#[test]
#[should_panic(expected = "a belief that is over is never told")]
fn a_belief_that_is_over_is_never_told() {
    harness().message(2, Hello(0));
}

#[test]
#[should_panic(expected = "a term never falls within a life")]
fn a_term_never_falls_within_a_life() {
    harness().message(2, Hello(3)).message(2, Hello(2));
}

#[test]
#[should_panic(expected = "a term never falls within a life")]
fn a_term_does_not_fall_either_after_a_time_without_a_leader() {
    harness().message(2, Hello(3)).message(2, Hello(u8::MAX)).message(2, Hello(2));
}
