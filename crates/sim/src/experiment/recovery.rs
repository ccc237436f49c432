//! Something happens to a settled group: how long until it is settled again.
//!
//! The group is *consistent* while all live processes name the same live leaders. After a time to
//! settle the event strikes, at a random moment of the announce interval, and the group is watched
//! for a window:
//!
//! | measure | what it is |
//! |---|---|
//! | `reestablishment_delay` | from the event until the group is consistent again; where there is no event (false departures, churn), the mean length of an inconsistent stretch that lies inside the window |
//! | `inconsistent_fraction` | the part of the window in which the group was not consistent |
//!
//! A run is *unsettled*, and gives no delay, if the group was never consistent before the event
//! struck, or not again by the end of the window. A window should be long beside the delays in it:
//! one that is not cuts off the long ones.

use super::agreement::Agreement;
use super::{Measure, Sample};
use crate::observer::{Cause, Observer};
use bellwether_core::{Duration, Instant, Leadership, Node, Protocol, SimTime};

/// Watches a group lose and regain its agreement.
#[derive(Clone, Debug)]
pub(crate) struct Recovery {
    agreement: Agreement,
    /// The window in which it is watched.
    from: SimTime,
    until: SimTime,
    /// Whether the window begins with an event.
    event: bool,
    /// Whether it was ever consistent before the window began.
    settled: bool,
    /// Since when it has been inconsistent, if it is.
    lost: Option<SimTime>,
    /// For how long it was, in all.
    inconsistent: Duration,
    /// How often it was and was not again, all within the window, and for how long.
    stretches: u64,
    whole: Duration,
    /// When it was consistent again after the event.
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

    /// What was measured by the end of the window.
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

    /// An inconsistent stretch is over. Its part inside the window counts for the fraction; for
    /// the length only what lies inside it as a whole.
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
