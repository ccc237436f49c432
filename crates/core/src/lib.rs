//! The contract between an election protocol and its driver.
//!
//! **What it is.** A [`Protocol`] is a plain value with handlers. It never reads a clock, opens a
//! socket, draws a random number or starts a thread. It is given inputs, and answers with a list of
//! [`Effect`]s. So the same code runs with sockets, in a simulator of a million processes, in an
//! exhaustive checker, and in a test that compares two lists.
//!
//! **The invariant.** *A process changes only inside a handler, and all its requests are in the
//! effect list when the handler returns.* It does not announce what it believes; the driver asks.
//! [`Protocol::leadership`] takes the time, because a lease can end while nothing happens, and
//! [`Node`] detects a change by comparing.
//!
//! # The run loop
//!
//! A driver does this, in this order:
//!
//! 1. **Start** each process once with [`Node::start`] (again, with a larger incarnation, after a
//!    crash). Steps 4 *and* 5 follow: the driver executes the effects, and tells the application
//!    the first belief.
//! 2. **Wait** for a message, a change of a peer's reachability, a command, or
//!    [`Node::poll_timeout`] on the node's clock, whichever comes first. If a message and a
//!    deadline have the same time, the message comes first.
//! 3. **Handle** it: read the node's clock once (for a datagram, at the socket; it never goes back)
//!    and call [`Node::handle`], or [`Node::command`] for a command; a refused command has no
//!    effects. A message whose weight is less than the node's [`min_weight`](Node::min_weight) may
//!    be skipped, but is counted. Messages from a peer may still arrive after it was reported
//!    [`Down`](Reach::Down), and are handled like any other.
//! 4. **Execute** the effects, in order: make every [`Effect::Store`] durable before a message of
//!    the same step is sent, then send. [`Node`] has already handled the timers.
//! 5. **Tell** the application if the step returned [`Change::Changed`], by asking
//!    [`Node::leadership`] with the time at that moment.
//! 6. While `poll_timeout` is not later than now, handle [`Input::Timeout`] again: one timer fires
//!    per call. Then go to step 2.
//!
//! A live driver does the same through [`Endpoint`], which takes and gives bytes, and needs no type
//! parameter.
//!
//! # A protocol in thirty lines
//!
//! Every process says hello periodically; a process that has heard of no greater one leads.
//!
//! ```
//! use bellwether_core::*;
//! use std::borrow::Cow;
//!
//! #[derive(Clone, Debug, PartialEq, Eq, Hash)]
//! struct Loudest { me: NodeId, greatest: NodeId }
//!
//! #[derive(Clone, Debug)]
//! struct Params { every: Duration }
//!
//! #[derive(Clone, Debug, PartialEq, Eq, Hash)]
//! struct Hello;
//!
//! impl Message for Hello {
//!     fn kind(&self) -> &'static str { "hello" }
//!     fn encode(&self, _out: &mut Vec<u8>) {}
//!     fn decode(_input: &mut Reader<'_>) -> Result<Self, Malformed> { Ok(Hello) }
//! }
//!
//! #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
//! struct Tick;
//!
//! timer_kinds!(Tick);
//!
//! impl Protocol for Loudest {
//!     const NAME: &'static str = "loudest";
//!     type Params = Params;
//!     type Message = Hello;
//!     type Timer = Tick;
//!
//!     fn start(boot: Boot<'_>, cx: &mut Cx<'_, Self>) -> Self {
//!         let mut node = Loudest { me: boot.me, greatest: boot.me };
//!         node.on_timer(Tick, cx);
//!         node
//!     }
//!     fn on_message(&mut self, from: NodeId, _hello: Cow<'_, Hello>, _cx: &mut Cx<'_, Self>) {
//!         self.greatest = self.greatest.max(from);
//!     }
//!     fn on_timer(&mut self, _tick: Tick, cx: &mut Cx<'_, Self>) {
//!         cx.broadcast(Hello);
//!         cx.arm(Tick, cx.now() + cx.params().every);
//!     }
//!     fn leadership(&self, _now: Instant) -> Leadership<'_> {
//!         Leadership::of(std::slice::from_ref(&self.greatest), Stage::Decided)
//!     }
//!     fn instants(&mut self, _rebase: &Rebase<'_>) {} // it stores none
//! }
//!
//! let every = Duration::from_secs(1);
//! let mut node = harness::Harness::<Loudest>::start(NodeId(3), Params { every }, &[]);
//! assert_eq!(node.effects(), [Effect::Send(Dest::Everyone, Hello), node.armed(Tick, every)]);
//! assert!(node.leadership().names(NodeId(3)));
//! node.message(7, Hello);
//! assert!(node.leadership().names(NodeId(7)), "a greater one spoke");
//! assert_eq!(node.effects(), [], "and nothing is to be done about it");
//! ```
//!
//! # Layers
//!
//! A layer is a protocol around another protocol: it wraps the messages of the inner one, adds
//! timers of its own ([`Layered`]) and may pass on what it learned ([`Cx::delay_bound`],
//! `on_peer`). It calls the inner handlers with [`Cx::inner`], takes their effects out with
//! [`Cx::lift`] and sends the wrapped messages with [`Cx::dispatch`]. It keeps the list for the
//! inner effects in its state, empty between steps, so that no step allocates one and equal states
//! stay equal.

#![no_std]

extern crate alloc;

mod belief_tracer;
mod candidacy;
mod cx;
mod effect;
mod endpoint;
mod entropy;
mod fact;
mod few;
pub mod harness;
mod hash;
mod hex;
mod id;
mod leadership;
mod node;
mod peers;
mod protocol;
mod rebase;
mod record;
mod refused;
mod time;
mod timer;
mod wire;
mod work;

pub use belief_tracer::BeliefTracer;
pub use candidacy::Candidacy;
pub use cx::{Cx, Env};
pub use effect::{Dest, Effect};
pub use endpoint::{Endpoint, Output, Unheard, Visitor, endpoint, last_will};
pub use entropy::{Entropy, Seeded, choose_below};
pub use fact::Fact;
pub use few::Few;
pub use hash::{Fnv1a, STRIDE, mix};
pub use hex::{from_hex, to_hex};
pub use id::{NodeId, Term};
pub use leadership::{Change, Leadership, Stage};
pub use node::{Input, Node};
pub use peers::{Members, Peers};
pub use protocol::{Boot, Command, Memory, Message, Protocol, Reach, Value};
pub use rebase::Rebase;
pub use record::{Event, LAST_NUMBER, LifeHeader, Record};
pub use refused::{Refused, Unfit};
pub use time::{BadDuration, Duration, Instant, SimTime};
pub use timer::{Layered, NoTimer, Slots, TimerKind};
pub use wire::{Malformed, Reader, WireWrite};
pub use work::{Watcher, Work};
