//! A misbehaving protocol: process 0 asks to be woken in the past, again and again.

use super::ping::{Hello, Tick};
use bellwether_core::{Boot, Cx, Duration, Instant, Leadership, NodeId, Protocol, Rebase};
use std::borrow::Cow;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Spinner {
    spins: bool,
}

impl Protocol for Spinner {
    const NAME: &'static str = "spinner";
    /// How far in the past.
    type Params = Duration;
    type Message = Hello;
    type Timer = Tick;

    fn start(boot: Boot<'_>, cx: &mut Cx<'_, Self>) -> Self {
        cx.arm(Tick, cx.now() + Duration::from_millis(10));
        Self { spins: boot.me == NodeId(0) }
    }

    fn on_message(&mut self, _from: NodeId, _hello: Cow<'_, Hello>, cx: &mut Cx<'_, Self>) {
        cx.arm(Tick, cx.now() - *cx.params());
    }

    fn on_timer(&mut self, _tick: Tick, cx: &mut Cx<'_, Self>) {
        if self.spins {
            cx.arm(Tick, cx.now() - *cx.params());
        } else {
            cx.broadcast(Hello);
            cx.arm(Tick, cx.now() + Duration::from_millis(10));
        }
    }

    fn leadership(&self, _now: Instant) -> Leadership<'_> {
        Leadership::NONE
    }

    fn instants(&mut self, _rebase: &Rebase<'_>) {}
}
