//! A protocol that elects nobody: some of its processes send messages periodically, all listen.

use bellwether_core::{
    Boot, Cx, Dest, Duration, Instant, Leadership, Malformed, Message, NodeId, Protocol, Reader,
    Rebase, timer_kinds,
};
use std::borrow::Cow;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ping {
    speaks: bool,
    /// When the next message is due. Messages follow a fixed timetable: a late one does not delay
    /// the others.
    next: Instant,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Pings {
    pub(crate) every: Duration,
    /// Processes below this send.
    pub(crate) speakers: u64,
    pub(crate) to: Dest,
}

impl Pings {
    /// Process 0 sends to all.
    pub(crate) fn to_all(every: Duration) -> Self {
        Self { every, speakers: 1, to: Dest::Everyone }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Hello;

impl Message for Hello {
    fn kind(&self) -> &'static str {
        "ping"
    }

    fn encode(&self, _out: &mut Vec<u8>) {}

    fn decode(_input: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Tick;

timer_kinds!(Tick);

impl Protocol for Ping {
    const NAME: &'static str = "ping";
    type Params = Pings;
    type Message = Hello;
    type Timer = Tick;

    fn start(boot: Boot<'_>, cx: &mut Cx<'_, Self>) -> Self {
        let speaks = boot.me.0 < cx.params().speakers;
        let next = cx.now() + cx.params().every;
        if speaks {
            cx.arm(Tick, next);
        }
        Self { speaks, next }
    }

    fn on_message(&mut self, _from: NodeId, _hello: Cow<'_, Hello>, _cx: &mut Cx<'_, Self>) {}

    fn on_timer(&mut self, _tick: Tick, cx: &mut Cx<'_, Self>) {
        assert!(self.speaks && self.next <= cx.now(), "a timer is never early");
        cx.dispatch(cx.params().to, Hello);
        self.next += cx.params().every;
        cx.arm(Tick, self.next);
    }

    fn leadership(&self, _now: Instant) -> Leadership<'_> {
        Leadership::NONE
    }

    fn instants(&mut self, rebase: &Rebase<'_>) {
        rebase.deadline(&mut self.next);
    }
}
