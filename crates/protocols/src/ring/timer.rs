//! The timers of a process on a ring.

use bellwether_core::timer_kinds;

/// What a process waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// An election that it takes part in has not ended.
    Retry,
    /// Something has been wrong for too long.
    CallAfter,
}

timer_kinds!(Timer: Retry, CallAfter);
