//! Records, for observers that want them.

use super::World;
use crate::observer::{Cause, Observer, id};
use bellwether_core::{Event, Fact, Instant, Leadership, Message, Node, Protocol, Record};
use std::borrow::Cow;

/// What was last recorded of the things a process holds for a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Told {
    /// Until when it believes what it believes, if that ends.
    until: Option<Instant>,
    /// Its lock.
    lock: Option<Fact>,
}

impl Told {
    /// What there is to tell.
    fn by<P: Protocol>(state: &Node<P>, now: Instant) -> Self {
        let until = state.leadership(now).until;
        let mut lock = None;
        state.facts(now, &mut |fact| {
            if matches!(fact, Fact::Locked { .. } | Fact::Bound { .. }) {
                lock = Some(fact);
            }
        });
        Self { until: (until != Instant::NEVER).then_some(until), lock }
    }

    /// The lock, with the end it has now, if it would have gone on and there is none any more.
    fn cut_short(&self, after: &Self, now: Instant) -> Option<Fact> {
        let (ended, until) = match self.lock? {
            Fact::Locked { to, until } => (Fact::Locked { to, until: now }, until),
            Fact::Bound { until } => (Fact::Bound { until: now }, until),
            _ => return None,
        };
        (after.lock.is_none() && until > now).then_some(ended)
    }
}

impl<P: Protocol> World<P> {
    pub(super) fn record<O: Observer<P>>(&self, node: u32, event: Event, observer: &mut O) {
        if O::TRACES {
            observer.on_record(Record { t: self.now, node: id(node), event });
        }
    }

    /// What a process believes now and what it holds true beside, if that `changed`. If not: what
    /// it holds for a time, where that begins, is prolonged or ends before its time. What ends in
    /// time was announced.
    pub(super) fn record_belief<O: Observer<P>>(
        &mut self,
        node: u32,
        changed: bool,
        observer: &mut O,
    ) {
        let Some(state) = self.node(node) else { return };
        let now = self.clock(node);
        let before = self.told.get(&node).copied().unwrap_or_default();
        let told = Told::by(state, now);
        if !changed && told == before {
            return;
        }
        if told != Told::default() && now.as_nanos() != self.now.as_nanos() {
            self.record(node, Event::Fact(Fact::Clock { reads: now }), observer);
        }
        if changed {
            let Leadership { leaders, term, stage, .. } = state.leadership(now);
            let (leaders, until) = (leaders.to_vec(), told.until);
            self.record(node, Event::Leadership { leaders, term, until, stage }, observer);
            state.facts(now, &mut |fact| self.record(node, Event::Fact(fact), observer));
        } else {
            let held = told.until.filter(|_| told.until != before.until);
            let held = held.map(|until| Fact::Held { until });
            let lock = told.lock.filter(|_| told.lock != before.lock);
            for fact in [held, lock].into_iter().flatten() {
                self.record(node, Event::Fact(fact), observer);
            }
        }
        if let Some(ended) = before.cut_short(&told, now) {
            self.record(node, Event::Fact(ended), observer);
        }
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
        self.record(to, Event::Recv { from, message, number, sent, body: None }, observer);
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
