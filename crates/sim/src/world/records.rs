//! Records for observers that trace.

use super::World;
use crate::observer::{Cause, Observer, id};
use bellwether_core::{Event, Fact, Message, Protocol, Record};
use std::borrow::Cow;

impl<P: Protocol> World<P> {
    pub(super) fn record<O: Observer<P>>(&self, node: u32, event: Event, observer: &mut O) {
        if O::TRACES {
            observer.on_record(Record { t: self.now, node: id(node), event });
        }
    }

    /// Records a process's belief and facts as far as they are new; see
    /// [`BeliefTracer`](bellwether_core::BeliefTracer).
    pub(super) fn record_belief<O: Observer<P>>(
        &mut self,
        node: u32,
        changed: bool,
        observer: &mut O,
    ) {
        let Some(state) = self.node(node) else { return };
        let now = self.clock(node);
        let (mut facts, mut news) = (Vec::new(), Vec::new());
        state.facts(now, &mut |fact| facts.push(fact));
        let mut told = self.told.get(&node).cloned().unwrap_or_default();
        told.tell(now, &state.leadership(now), &facts, changed, &mut |event| news.push(event));
        let apart = now.as_nanos() != self.now.as_nanos();
        if apart && !news.is_empty() && !told.is_timeless() {
            self.record(node, Event::Fact(Fact::Clock { reads: now }), observer);
        }
        news.into_iter().for_each(|event| self.record(node, event, observer));
        self.told.insert(node, told);
    }

    pub(super) fn record_receipt<O: Observer<P>>(
        &self,
        to: u32,
        message: &P::Message,
        cause: Cause,
        observer: &mut O,
    ) {
        let (from, number, sent) = (id(cause.from), u64::from(cause.number), cause.sent);
        let message = Cow::Borrowed(message.kind());
        let received = Event::Recv { from, message, number, sent, life: None, body: None };
        self.record(to, received, observer);
    }

    pub(super) fn record_loss<O: Observer<P>>(
        &self,
        to: u32,
        message: &P::Message,
        cause: Cause,
        why: &'static str,
        observer: &mut O,
    ) {
        if self.node(to).is_none() {
            return; // a stopped process loses nothing
        }
        let (from, number, sent) = (id(cause.from), u64::from(cause.number), cause.sent);
        let message = Cow::Borrowed(message.kind());
        let why = Cow::Borrowed(why);
        self.record(to, Event::Drop { from, message, number, sent, why }, observer);
    }
}
