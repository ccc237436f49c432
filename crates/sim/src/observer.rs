//! Observers: what a caller sees of a run.

use crate::fault::Fault;
use crate::world::Scene;
use bellwether_core::{Dest, Instant, Leadership, Node, NodeId, Protocol, Record, SimTime};
use std::fmt;

/// The message whose handling changed something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The sender.
    pub from: u32,
    /// The sender's number for it, from 0.
    pub number: u32,
    /// When it was sent.
    pub sent: SimTime,
}

/// Observes what happens in a world. All methods have defaults that do nothing.
pub trait Observer<P: Protocol> {
    /// Whether [`on_record`](Self::on_record) is called for every event. This slows a run down.
    const TRACES: bool = false;
    /// Whether [`on_receive`](Self::on_receive) is called for every message that arrives, including
    /// those below a minimum weight.
    const HEARS: bool = false;
    /// Whether [`on_step`](Self::on_step) is called after every step.
    const LOOKS: bool = false;

    /// A process has started; its own clock reads `now`.
    fn on_start(&mut self, _at: SimTime, _node: u32, _now: Instant, _state: &Node<P>) {}

    /// All processes that start at time zero have started, and no message has arrived yet.
    fn on_ready(&mut self) {}

    /// A message was sent: the sender's `number`-th, from 0.
    fn on_send(
        &mut self,
        _at: SimTime,
        _from: u32,
        _to: Dest,
        _message: &P::Message,
        _number: u32,
    ) {
    }

    /// A message has arrived; its handler runs next if the message concerns the process. Called
    /// only if [`HEARS`](Self::HEARS).
    fn on_receive(&mut self, _at: SimTime, _node: u32, _cause: Cause) {}

    /// The belief of a process has changed, because of a message or for another reason.
    fn on_change(
        &mut self,
        _at: SimTime,
        _node: u32,
        _leadership: &Leadership<'_>,
        _cause: Option<Cause>,
    ) {
    }

    /// A process crashed or left.
    fn on_gone(&mut self, _at: SimTime, _node: u32) {}

    /// Everybody is told that this incarnation is over: it left, or somebody sends its last will.
    fn on_farewell(&mut self, _at: SimTime, _node: u32, _life: u64) {}

    /// An event was recorded. Called only if [`TRACES`](Self::TRACES).
    fn on_record(&mut self, _record: Record) {}

    /// A process has started, handled an input or stopped, and its effects are applied. A process
    /// changes in no other way. Called only if [`LOOKS`](Self::LOOKS).
    fn on_step(&mut self, _node: u32, _scene: &Scene<'_, P>) {}

    /// When the observer injects its next fault, in nanoseconds; `u64::MAX` if never. This is for
    /// faults that depend on what happens and so cannot be part of a plan.
    #[inline]
    fn injects_at(&self) -> u64 {
        u64::MAX
    }

    /// The fault to inject at that time. Afterwards [`injects_at`](Self::injects_at) must advance.
    fn inject(&mut self) -> Option<Fault> {
        None
    }

    /// Whether the run may end.
    fn done(&self) -> bool {
        false
    }
}

/// Observes nothing.
impl<P: Protocol> Observer<P> for () {}

/// Two observers of the same run. The first injects faults, and the run ends when either may.
impl<P: Protocol, A: Observer<P>, B: Observer<P>> Observer<P> for (&mut A, &mut B) {
    const TRACES: bool = A::TRACES || B::TRACES;
    const HEARS: bool = A::HEARS || B::HEARS;
    const LOOKS: bool = A::LOOKS || B::LOOKS;

    fn on_start(&mut self, at: SimTime, node: u32, now: Instant, state: &Node<P>) {
        self.0.on_start(at, node, now, state);
        self.1.on_start(at, node, now, state);
    }

    fn on_ready(&mut self) {
        self.0.on_ready();
        self.1.on_ready();
    }

    fn on_send(&mut self, at: SimTime, from: u32, to: Dest, message: &P::Message, number: u32) {
        self.0.on_send(at, from, to, message, number);
        self.1.on_send(at, from, to, message, number);
    }

    fn on_receive(&mut self, at: SimTime, node: u32, cause: Cause) {
        if A::HEARS {
            self.0.on_receive(at, node, cause);
        }
        if B::HEARS {
            self.1.on_receive(at, node, cause);
        }
    }

    fn on_change(
        &mut self,
        at: SimTime,
        node: u32,
        leadership: &Leadership<'_>,
        cause: Option<Cause>,
    ) {
        self.0.on_change(at, node, leadership, cause);
        self.1.on_change(at, node, leadership, cause);
    }

    fn on_gone(&mut self, at: SimTime, node: u32) {
        self.0.on_gone(at, node);
        self.1.on_gone(at, node);
    }

    fn on_farewell(&mut self, at: SimTime, node: u32, life: u64) {
        self.0.on_farewell(at, node, life);
        self.1.on_farewell(at, node, life);
    }

    fn on_record(&mut self, record: Record) {
        if A::TRACES && B::TRACES {
            self.0.on_record(record.clone());
            self.1.on_record(record);
        } else if A::TRACES {
            self.0.on_record(record);
        } else if B::TRACES {
            self.1.on_record(record);
        }
    }

    fn on_step(&mut self, node: u32, scene: &Scene<'_, P>) {
        if A::LOOKS {
            self.0.on_step(node, scene);
        }
        if B::LOOKS {
            self.1.on_step(node, scene);
        }
    }

    fn injects_at(&self) -> u64 {
        self.0.injects_at()
    }

    fn inject(&mut self) -> Option<Fault> {
        self.0.inject()
    }

    fn done(&self) -> bool {
        self.0.done() || self.1.done()
    }
}

/// Keeps all records of a run.
#[derive(Clone, Debug, Default)]
pub struct Tracer {
    /// The records, in order of time.
    pub records: Vec<Record>,
}

impl<P: Protocol> Observer<P> for Tracer {
    const TRACES: bool = true;

    fn on_record(&mut self, record: Record) {
        self.records.push(record);
    }
}

/// Reads a run while it is made, whatever the protocol.
pub trait Reader {
    /// An event was recorded.
    fn on_record(&mut self, record: Record);

    /// A message was sent, the sender's `number`-th from 0, and this is what it holds.
    fn on_send(&mut self, _at: SimTime, _from: NodeId, _number: u64, _message: &dyn fmt::Debug) {}

    /// Whether the run may end.
    fn is_done(&self) -> bool {
        false
    }
}

impl Reader for Vec<Record> {
    fn on_record(&mut self, record: Record) {
        self.push(record);
    }
}

/// A [`Reader`] as an observer.
pub(crate) struct Reading<'a>(pub(crate) &'a mut dyn Reader);

impl<P: Protocol> Observer<P> for Reading<'_> {
    const TRACES: bool = true;

    fn on_send(&mut self, at: SimTime, from: u32, _to: Dest, message: &P::Message, number: u32) {
        self.0.on_send(at, id(from), u64::from(number), message);
    }

    fn on_record(&mut self, record: Record) {
        self.0.on_record(record);
    }

    fn done(&self) -> bool {
        self.0.is_done()
    }
}

/// The id of the process with this number; both have the same value.
#[inline]
pub fn id(node: u32) -> NodeId {
    NodeId(u64::from(node))
}
