//! A protocol that finds out late that it cannot do what it was told.
//!
//! The case it makes: a handler may ask for things before it refuses, and none of them is done.

use bellwether_core::harness::{Harness, Scripted};
use bellwether_core::*;
use std::borrow::Cow;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Reluctant;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Hello;

impl Message for Hello {
    fn kind(&self) -> &'static str {
        "hello"
    }

    fn encode(&self, out: &mut Vec<u8>) {
        out.put_u8(1);
    }

    fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        if input.u8()? == 1 { Ok(Self) } else { Err(Malformed) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Tick;

impl TimerKind for Tick {
    type Slots = [Instant; 1];

    fn slot(self) -> usize {
        0
    }

    fn at(_slot: usize) -> Self {
        Self
    }
}

impl Protocol for Reluctant {
    const NAME: &'static str = "reluctant";
    type Params = ();
    type Message = Hello;
    type Timer = Tick;

    fn start(_boot: Boot<'_>, cx: &mut Cx<'_, Self>) -> Self {
        cx.broadcast(Hello);
        Self
    }

    fn on_message(&mut self, _from: NodeId, _hello: Cow<'_, Hello>, _cx: &mut Cx<'_, Self>) {}

    fn on_timer(&mut self, _tick: Tick, _cx: &mut Cx<'_, Self>) {}

    fn on_command(&mut self, command: Command, cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        cx.store(vec![1]);
        cx.broadcast(Hello);
        cx.arm(Tick, cx.now());
        if command == Command::Campaign { Ok(()) } else { Err(Refused) }
    }

    fn leadership(&self, _now: Instant) -> Leadership<'_> {
        Leadership::NONE
    }

    fn instants(&mut self, _rebase: &Rebase<'_>) {} // it stores none
}

#[test]
fn what_a_refused_command_asked_for_is_discarded_and_nothing_else() {
    let (peers, mut entropy) = (Members::default(), Scripted::default());
    let mut env = Env { now: Instant::ZERO, peers: &peers, entropy: &mut entropy };
    let mut effects = Vec::new();
    let boot = Boot::first(NodeId(1));
    let mut node = Node::<Reluctant>::start(boot, &mut env, &(), &mut effects);
    let started = (node.clone(), [Effect::Send(Dest::Everyone, Hello)]);
    assert_eq!(node.command(Command::Resign, &mut env, &(), &mut effects), Err(Refused));
    assert_eq!(node, started.0, "no timer was armed");
    assert_eq!(effects, started.1, "what was not yet done is still to be done");
    let taken = node.command(Command::Campaign, &mut env, &(), &mut effects);
    assert_eq!(taken, Ok(Change::Same));
    assert_eq!((node.poll_timeout(), effects.len()), (Instant::ZERO, 3));
}

#[test]
fn an_endpoint_and_a_harness_discard_it_too() {
    let mut harness = Harness::<Reluctant>::start(NodeId(1), (), &[]);
    assert_eq!(harness.command(Command::Resign).err(), Some(Refused));
    assert_eq!(harness.effects(), []);
    harness.timeout();
    assert_eq!(harness.node().poll_timeout(), Instant::NEVER);

    let (peers, mut entropy) = (Members::default(), Scripted::default());
    let mut env = Env { now: Instant::ZERO, peers: &peers, entropy: &mut entropy };
    let mut endpoint = endpoint::<Reluctant>(Boot::first(NodeId(1)), &mut env, ());
    while endpoint.poll_output().is_some() {}
    assert_eq!(endpoint.command(Command::Resign, &mut env), Err(Refused));
    endpoint.timeout(&mut env);
    assert_eq!(endpoint.poll_output(), None, "not even with the next step");
}
