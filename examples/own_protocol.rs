//! A protocol of your own in one file: simulated for a thousand processes, then run for real.
//!
//! Everyone says hello every now and then, and whoever heard of nobody greater leads. It promises
//! no more than that; see the protocols of this project for what it takes to promise more.
//!
//! ```text
//! cargo run --release --example own_protocol
//! ```

use bellwether::core::{
    Boot, Cx, Duration, Instant, Leadership, Malformed, Message, NodeId, Protocol, Reader, Rebase,
    Stage, TimerKind,
};
use bellwether::sim::{Coins, Plan, Tracer, World};
use bellwether::{Election, Peers};
use std::borrow::Cow;
use std::net::UdpSocket;

/// The state of one process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Loudest {
    greatest: NodeId,
}

/// What it is told beforehand.
#[derive(Clone, Debug)]
struct Params {
    every: Duration,
}

/// All it ever says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Hello;

impl Message for Hello {
    fn kind(&self) -> &'static str {
        "hello"
    }

    fn encode(&self, _out: &mut Vec<u8>) {}

    fn decode(_input: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self)
    }
}

/// All it is ever woken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Tick;

impl TimerKind for Tick {
    type Slots = [Instant; 1];

    fn slot(self) -> usize {
        0
    }

    fn at(_slot: usize) -> Self {
        Self
    }
}

impl Protocol for Loudest {
    const NAME: &'static str = "loudest";
    type Params = Params;
    type Message = Hello;
    type Timer = Tick;

    fn start(boot: Boot<'_>, cx: &mut Cx<'_, Self>) -> Self {
        let mut process = Self { greatest: boot.me };
        process.on_timer(Tick, cx);
        process
    }

    fn on_message(&mut self, from: NodeId, _hello: Cow<'_, Hello>, _cx: &mut Cx<'_, Self>) {
        self.greatest = self.greatest.max(from);
    }

    fn on_timer(&mut self, _tick: Tick, cx: &mut Cx<'_, Self>) {
        cx.broadcast(Hello);
        cx.arm(Tick, cx.now() + cx.params().every);
    }

    fn leadership(&self, _now: Instant) -> Leadership<'_> {
        Leadership::of(std::slice::from_ref(&self.greatest), Stage::Decided)
    }

    fn instants(&mut self, _rebase: &Rebase<'_>) {} // it stores none
}

fn simulate(params: Params) {
    let mut plan = Plan::new(1000);
    plan.horizon = Duration::from_secs(1);
    let mut world = World::<Loudest>::new(params);
    let outcome = world.run(&plan, Coins::new(1, 0), &mut Tracer::default());
    let follows = |node| world.node(node).map(|state| state.protocol().greatest);
    println!("simulated: {} messages arrived", outcome.deliveries);
    println!("process 0 of 1000 follows {:?}", follows(0));
}

fn run(params: &Params) -> Result<(), Box<dyn std::error::Error>> {
    let sockets = (0..3).map(|_| UdpSocket::bind("127.0.0.1:0")).collect::<Result<Vec<_>, _>>()?;
    let places = sockets.iter().map(|socket| socket.local_addr().map(|at| at.to_string()));
    let places = places.collect::<Result<Vec<_>, _>>()?;
    let list: Vec<String> =
        (1..).zip(&places).map(|(id, at): (u64, _)| format!("{id}={at}")).collect();
    drop(sockets); // the ports are free, and the members take them
    let peers: Peers = list.join(",").parse()?;
    let join = |id| {
        let member = Election::builder("loudest").peers(peers.clone()).id(id).insecure();
        member.own_protocol::<Loudest>(params.clone()).join()
    };
    let members = [join(1)?, join(2)?, join(3)?];
    let guard = members[2].wait(None)?.ok_or("nobody limits its patience")?;
    println!("live: member 3 leads: {}", guard.still_leading());
    let mut watch = members[0].watch();
    while members[0].leadership().leaders != [NodeId(3)] {
        watch.next_within(None);
    }
    println!("live: member 1 follows {:?}", members[0].leadership().leaders);
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let params = Params { every: Duration::from_millis(100) };
    simulate(params.clone());
    run(&params)
}
