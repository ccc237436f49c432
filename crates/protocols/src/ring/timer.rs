//! The timers of a process on a ring.

use bellwether_core::{Instant, TimerKind};

/// What a process waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// An election that it takes part in has not ended.
    Retry,
    /// Something has been wrong for too long.
    CallAfter,
}

impl TimerKind for Timer {
    type Slots = [Instant; 2];

    fn slot(self) -> usize {
        self as usize
    }

    fn at(slot: usize) -> Self {
        if slot == 0 { Self::Retry } else { Self::CallAfter }
    }
}
