//! Records, for observers that want them.

use super::World;
use crate::observer::{Cause, Observer, id};
use bellwether_core::{Event, Instant, Leadership, Message, Protocol, Record};
use std::borrow::Cow;

impl<P: Protocol> World<P> {
    pub(super) fn record<O: Observer<P>>(&self, node: u32, event: Event, observer: &mut O) {
        if O::TRACES {
            observer.on_record(Record { t: self.now, node: id(node), event });
        }
    }

    /// What a process believes now, and what it holds true beside.
    pub(super) fn record_leadership<O: Observer<P>>(&self, node: u32, observer: &mut O) {
        let Some(state) = self.node(node) else { return };
        let now = self.clock(node);
        let Leadership { leaders, term, until, stage } = state.leadership(now);
        let until = (until != Instant::NEVER).then_some(until);
        let event = Event::Leadership { leaders: leaders.to_vec(), term, until, stage };
        self.record(node, event, observer);
        state.facts(now, &mut |fact| self.record(node, Event::Fact(fact), observer));
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
        self.record(to, Event::Recv { from, message, number, sent }, observer);
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
            return; // who is not there loses nothing
        }
        let (from, number, sent) = (id(cause.from), u64::from(cause.number), cause.sent);
        let message = Cow::Borrowed(message.kind());
        let why = Cow::Borrowed(why);
        self.record(to, Event::Drop { from, message, number, sent, why }, observer);
    }
}
