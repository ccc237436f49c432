//! Measures how long a settled group takes to settle again after an event.
//!
//! The group is *consistent* while all live processes name the same live leaders. After a time to
//! settle, the event happens at a random moment of the announce interval. Then the group is watched
//! for a window:
//!
//! | measure | what it is |
//! |---|---|
//! | `reestablishment_delay` | from the event until the group is consistent again; without an event (false departures, churn), the mean length of an inconsistent interval within the window |
//! | `inconsistent_fraction` | the fraction of the window in which the group was not consistent |
//!
//! A run is *unsettled*, and gives no delay, if the group was never consistent before the event, or
//! not again by the end of the window. A window should be long compared with the delays in it; a
//! short one cuts off the long delays.

use super::agreement::Agreement;
use super::{Measure, Sample};
use crate::observer::{Cause, Observer};
use bellwether_core::{Duration, Instant, Leadership, Node, Protocol, SimTime};

/// Measures how a group loses and regains agreement.
#[derive(Clone, Debug)]
pub(crate) struct Recovery {
    agreement: Agreement,
    /// The window.
    from: SimTime,
    until: SimTime,
    /// Whether the window begins with an event.
    event: bool,
    /// Whether the group was ever consistent before the window began.
    settled: bool,
    /// Since when the group has been inconsistent, if it is.
    lost: Option<SimTime>,
    /// How long it was inconsistent in all.
    inconsistent: Duration,
    /// How many inconsistent intervals lay within the window, and their total length.
    stretches: u64,
    whole: Duration,
    /// When the group was first consistent again after the event.
    regained: Option<SimTime>,
}

impl Recovery {
    pub(crate) fn new() -> Self {
        Self {
            agreement: Agreement::default(),
            from: SimTime::ZERO,
            until: SimTime::NEVER,
            event: false,
            settled: false,
            lost: None,
            inconsistent: Duration::ZERO,
            stretches: 0,
            whole: Duration::ZERO,
            regained: None,
        }
    }

    pub(crate) fn reset(&mut self, nodes: u32, from: SimTime, window: Duration, event: bool) {
        self.agreement.reset(nodes);
        (self.from, self.until, self.event) = (from, from + window, event);
        (self.settled, self.lost, self.regained) = (false, Some(SimTime::ZERO), None);
        (self.stretches, self.inconsistent, self.whole) = (0, Duration::ZERO, Duration::ZERO);
    }

    /// The results at the end of the window.
    pub(crate) fn sample(&mut self, deliveries: u64) -> Sample {
        let mut sample = Sample::new(deliveries);
        if let Some(since) = self.lost.take() {
            self.close(since, self.until);
        }
        let window = self.until.since(self.from).as_secs_f64();
        sample.set(Measure::InconsistentFraction, self.inconsistent.as_secs_f64() / window);
        let delay = if self.event {
            let regained = self.regained.filter(|_| self.settled);
            sample.unsettled = regained.is_none();
            // A group that had not settled before the event was not cut by the window.
            sample.cut = (self.settled && regained.is_none()).then_some(window);
            regained.map(|at| at.since(self.from).as_secs_f64())
        } else {
            let count = self.stretches as f64;
            (self.stretches > 0).then(|| self.whole.as_secs_f64() / count)
        };
        if let Some(delay) = delay {
            sample.set(Measure::ReestablishmentDelay, delay);
        }
        sample
    }

    fn look(&mut self, at: SimTime) {
        match (self.lost, self.agreement.agreed()) {
            (None, false) => self.lost = Some(at),
            (Some(since), true) => {
                self.lost = None;
                self.close(since, at);
                if at >= self.from {
                    self.regained.get_or_insert(at);
                } else {
                    self.settled = true;
                }
            }
            _ => {}
        }
    }

    /// Ends an inconsistent interval. Its part inside the window counts for the fraction; for the
    /// mean length only intervals that lie entirely inside the window count.
    fn close(&mut self, since: SimTime, at: SimTime) {
        let (begins, ends) = (since.max(self.from), at.min(self.until));
        if ends > begins {
            self.inconsistent = self.inconsistent + ends.since(begins);
        }
        if since >= self.from && at < self.until {
            self.stretches += 1;
            self.whole = self.whole + at.since(since);
        }
    }
}

impl<P: Protocol> Observer<P> for Recovery {
    fn on_start(&mut self, at: SimTime, node: u32, now: Instant, state: &Node<P>) {
        self.agreement.names(node, &state.leadership(now));
        self.look(at);
    }

    fn on_change(
        &mut self,
        at: SimTime,
        node: u32,
        leadership: &Leadership<'_>,
        _cause: Option<Cause>,
    ) {
        self.agreement.names(node, leadership);
        self.look(at);
    }

    fn on_gone(&mut self, at: SimTime, node: u32) {
        self.agreement.gone(node);
        self.look(at);
    }
}
