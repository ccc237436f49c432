//! A protocol of your own, step by step: simulated, checked, and run for a moment.
//!
//! ```text
//! cargo run --release --example own_protocol
//! ```
//!
//! Everyone says hello every now and then. Whoever was not silent for too long, and has the
//! greatest id, leads. The steps:
//!
//! 1. what processes say to each other (`Hello`),
//! 2. what a process can be woken for (`Timer`),
//! 3. the parameters: what a person writes (`Config`), what the protocol reads (`Params`), and the
//!    rule between them,
//! 4. the handlers (`Loudest`),
//! 5. what others ask of a protocol (`Answers`): its time scales and its promise,
//! 6. trying it: one handler, a hundred simulated processes, random faults, real sockets.
//!
//! An application needs no more than that: it hands its type to `own_protocol`, as [`run`] does.
//! To bring the protocol into the table of this project, so that the command and scenario files
//! have it by name, see "A new protocol" in CONTRIBUTING.md: these steps become a directory of
//! `crates/protocols/src`, which implements `Row` beside `Answers`, and two other files name it.

use bellwether::check::{Fuzz, Trial};
use bellwether::core::harness::Harness;
use bellwether::core::{
    Boot, Command, Cx, Dest, Duration, Effect, Fact, Instant, Leadership, Malformed, Message,
    NodeId, Protocol, Reader, Rebase, Refused, Stage, timer_kinds,
};
use bellwether::protocols::answers::Answers;
use bellwether::protocols::param::Described;
use bellwether::protocols::params;
use bellwether::protocols::profile::Profile;
use bellwether::protocols::promise::Promise;
use bellwether::protocols::time_scales::TimeScales;
use bellwether::sim::{Plan, RunSeed, World};
use bellwether::{Election, Peers};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::net::UdpSocket;

// Step 1. A message is plain data. `kind` is the name under which it is counted and shown;
// `encode` and `decode` are its bytes. The sender is known without being written.

/// All that a process ever says.
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

// Step 2. Each timer has one slot: to arm it again replaces the former deadline.

/// What a process can be woken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Timer {
    /// It says hello.
    Speak,
    /// Whom it follows was silent for too long.
    Silence,
}

timer_kinds!(Timer: Speak, Silence);

// Step 3. The `Config` is flat, and each of its parameters is described once: name, type, default,
// rule and help. Flags, files, results and `--help` read that. The conversion into `Params` is the
// only place where values are checked; its error names the values, the rule and the way out.

params! {
    /// What a person writes.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Config {
        /// The time between two hellos of a process.
        every: Duration = Duration::from_millis(100), is("100ms"), within("0 < every < silence");
        /// The silence after which a process is given up.
        silence: Duration = Duration::from_millis(350),
            is("350ms"), within("every < silence < infinite"), on(&["every"]);
    }
}

/// Parameters that keep the rule.
#[derive(Clone, Debug)]
struct Params(Config);

/// The rule that a [`Config`] breaks.
#[derive(Clone, Debug, PartialEq)]
struct BadConfig(Config);

impl fmt::Display for BadConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Config { every, silence } = &self.0;
        write!(
            f,
            "every = {every} and silence = {silence}, but 0 < every < silence < infinite must \
             hold; try silence = 3.5 times every"
        )
    }
}

impl Error for BadConfig {}

impl TryFrom<Config> for Params {
    type Error = BadConfig;

    fn try_from(config: Config) -> Result<Self, BadConfig> {
        let Config { every, silence } = config;
        let finite = silence <= Duration::LONGEST_WRITTEN;
        let kept = Duration::ZERO < every && every < silence && finite;
        if kept { Ok(Self(config)) } else { Err(BadConfig(config)) }
    }
}

// Step 4. The state holds what differs between processes; parameters are read from `cx`. A handler
// changes the state and asks for effects, and does nothing else: no clock, no socket, no luck of
// its own. That is why the same code can be simulated, checked and run.

/// The state of one process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Loudest {
    me: NodeId,
    greatest: NodeId,
}

impl Protocol for Loudest {
    const NAME: &'static str = "loudest";
    type Params = Params;
    type Message = Hello;
    type Timer = Timer;

    fn start(boot: Boot<'_>, cx: &mut Cx<'_, Self>) -> Self {
        let mut process = Self { me: boot.me, greatest: boot.me };
        process.on_timer(Timer::Speak, cx);
        process
    }

    fn on_message(&mut self, from: NodeId, _hello: Cow<'_, Hello>, cx: &mut Cx<'_, Self>) {
        if from >= self.greatest {
            self.greatest = from;
            cx.arm(Timer::Silence, cx.now() + cx.params().0.silence);
        }
    }

    fn on_timer(&mut self, timer: Timer, cx: &mut Cx<'_, Self>) {
        match timer {
            Timer::Speak => {
                cx.broadcast(Hello);
                cx.arm(Timer::Speak, cx.now() + cx.params().0.every);
            }
            // The next hello of somebody greater corrects it.
            Timer::Silence => self.greatest = self.me,
        }
    }

    /// Everybody may leave; there is nothing to tell the others. Nothing else is accepted.
    fn on_command(&mut self, command: Command, _cx: &mut Cx<'_, Self>) -> Result<(), Refused> {
        if command == Command::Leave { Ok(()) } else { Err(Refused::Unsupported) }
    }

    fn leadership(&self, _now: Instant) -> Leadership<'_> {
        Leadership::of(std::slice::from_ref(&self.greatest), Stage::Decided)
    }

    /// By what it is elected, larger is better: a simulation waits until all follow the best.
    fn facts(&self, _now: Instant, tell: &mut dyn FnMut(Fact)) {
        tell(Fact::Claim { weight: self.me.0 });
    }

    fn instants(&mut self, _rebase: &Rebase<'_>) {} // the state holds none
}

// Step 5. Two answers are required: the profile, by which a simulation plans, and the time scales,
// by which the checker makes trouble and knows how long the promise may take. All others have a
// default; see `Answers`.

impl Answers for Params {
    fn profile(&self) -> Profile {
        Profile { trust: self.0.silence, ..Profile::every(self.0.every) }
    }

    /// How it settles: a process that is gone is given up after `silence`, then the greatest that
    /// is there says hello. Each step is late by a delay and by a process that is slow to react.
    fn time_scales(&self, _nodes: u32) -> TimeScales {
        let Config { every, silence } = self.0;
        let (timely, scheduling) = (every / 10, every / 20);
        let settles = silence + every * 2 + (timely + scheduling) * 4;
        TimeScales {
            fastest: every / 100,
            timely,
            scheduling,
            lease: silence,
            settles: TimeScales::stretched(settles, TimeScales::QUARTZ),
            ..TimeScales::USUAL
        }
    }

    fn promise(&self) -> Promise {
        Promise::EventuallyOne
    }
}

// Step 6. A handler is tried by one input, the exact effects and what is believed then.

fn try_a_handler(params: Params) {
    let (every, silence) = (params.0.every, params.0.silence);
    let mut process = Harness::<Loudest>::start(NodeId(3), params, &[]);
    let speaks = Effect::Send(Dest::Everyone, Hello);
    assert_eq!(process.effects(), [speaks, process.armed(Timer::Speak, every)]);
    process.message(7, Hello);
    assert_eq!(process.effects(), [process.armed(Timer::Silence, silence)]);
    assert!(process.leadership().names(NodeId(7)), "a greater one spoke");
    println!("handler: process 3 follows 7 once that one has spoken");
}

fn simulate(params: Params) {
    let mut plan = Plan::new(100);
    plan.horizon = Duration::from_secs(1);
    let mut world = World::<Loudest>::new(params);
    let outcome = world.run(&plan, RunSeed::new(1, 0), &mut ()); // nobody watches
    let follows = |node| world.node(node).map(|state| state.protocol().greatest);
    println!("simulated: {} messages arrived", outcome.deliveries);
    println!("simulated: process 0 of 100 follows {:?}", follows(0));
}

/// Random crashes, pauses, losses and cuts, and calm after them. The protocol keeps its own promise
/// and breaks a stronger one: the checker can tell them apart.
fn check(params: &Params) -> Result<(), Box<dyn Error>> {
    for promise in [None, Some(Promise::NeverTwo)] {
        let trial = Trial::of(params, 5, promise, 1);
        let fuzz = Fuzz { trial: &trial, numbers: 0..100, threads: 1, progress: &|| () };
        let report = fuzz.run::<Loudest>(params)?;
        match report.violation {
            None => println!("checked: {} in 100 schedules", trial.promise),
            Some(found) => println!("checked: not {}: {}", trial.promise, found.breach.invariant),
        }
    }
    Ok(())
}

fn run(params: &Params) -> Result<(), Box<dyn Error>> {
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

fn main() -> Result<(), Box<dyn Error>> {
    let config = Config::default().with("every", "50ms")?.with("silence", "200ms")?;
    let params = Params::try_from(config)?;
    try_a_handler(params.clone());
    simulate(params.clone());
    check(&params)?;
    run(&params)
}
