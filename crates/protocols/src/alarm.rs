//! The timer of a process that waits for one thing at a time.

use bellwether_core::{Cx, Duration, Protocol};

/// The kind of timer that is armed, if any is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Alarm<T>(Option<T>);

impl<T: Copy + PartialEq> Alarm<T> {
    /// No timer is armed.
    pub(crate) const OFF: Self = Self(None);

    /// Arms this timer and no other; none if it would never fire.
    pub(crate) fn set<P>(&mut self, timer: T, after: Duration, cx: &mut Cx<'_, P>)
    where
        P: Protocol<Timer = T>,
    {
        self.clear(cx);
        if after != Duration::MAX {
            self.0 = Some(timer);
            cx.arm(timer, cx.now() + after);
        }
    }

    /// Disarms the timer.
    pub(crate) fn clear<P: Protocol<Timer = T>>(&mut self, cx: &mut Cx<'_, P>) {
        if let Some(armed) = self.0.take() {
            cx.disarm(armed);
        }
    }

    /// This timer has fired.
    pub(crate) fn fired(&mut self, timer: T) {
        assert!(self.0 == Some(timer), "only the timer that was set last fires");
        self.0 = None;
    }

    pub(crate) fn is_off(self) -> bool {
        self.0.is_none()
    }

    /// Whether this timer is armed.
    pub(crate) fn is(self, timer: T) -> bool {
        self.0 == Some(timer)
    }
}
