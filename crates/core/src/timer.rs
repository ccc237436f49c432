//! Timers: one slot per kind. A new arming replaces the old one, so no timer is stale.

use crate::protocol::Value;
use crate::time::Instant;
use core::fmt::Debug;

/// The kinds of timer a protocol has; each has one slot, and arming a kind replaces its slot.
pub trait TimerKind: Value + Copy {
    /// The table that holds the deadlines, usually `[Instant; N]`.
    type Slots: Slots;

    /// The slot of this kind, below `Slots::LEN`.
    fn slot(self) -> usize;

    /// The kind in this slot: the inverse of [`slot`](Self::slot).
    fn at(slot: usize) -> Self;
}

/// Implements [`TimerKind`] for an enum without fields, whose variants are named in their order, or
/// for a unit struct: `timer_kinds!(Timer: Ask, Count)`, `timer_kinds!(Tick)`.
#[macro_export]
macro_rules! timer_kinds {
    ($timer:ident) => {
        $crate::timer_kinds!(@slots $timer, [$timer], |_timer| 0);
    };
    ($timer:ident: $($kind:ident),+) => {
        const _: () = {
            let (slots, mut slot) = ([$($timer::$kind as usize),+], 0);
            while slot < slots.len() {
                assert!(slots[slot] == slot, "the kinds are not in the order of the enum");
                slot += 1;
            }
        };
        $crate::timer_kinds!(@slots $timer, [$($timer::$kind),+], |timer| timer as usize);
    };
    (@slots $timer:ident, $kinds:expr, |$kind:ident| $slot:expr) => {
        impl $crate::TimerKind for $timer {
            type Slots = [$crate::Instant; { $kinds.len() }];

            #[inline]
            fn slot(self) -> usize {
                let $kind = self;
                $slot
            }

            #[inline]
            fn at(slot: usize) -> Self {
                $kinds[slot]
            }
        }
    };
}

/// A fixed table of deadlines. [`Instant::NEVER`] means not armed.
pub trait Slots: Value {
    /// How many slots there are.
    const LEN: usize;
    /// A table with no timer armed.
    const EMPTY: Self;

    /// The deadline in this slot.
    fn deadline(&self, slot: usize) -> Instant;

    /// Arms this slot, or disarms it with [`Instant::NEVER`].
    fn set(&mut self, slot: usize, at: Instant);

    /// The slot that is due first and its deadline. At equal deadlines the lower slot comes first.
    fn earliest(&self) -> (usize, Instant);

    /// Passes every armed deadline to `each`.
    fn for_each(&mut self, each: &mut dyn FnMut(&mut Instant));
}

impl<const N: usize> Slots for [Instant; N] {
    const LEN: usize = N;
    const EMPTY: Self = [Instant::NEVER; N];

    #[inline]
    fn deadline(&self, slot: usize) -> Instant {
        self[slot]
    }

    #[inline]
    fn set(&mut self, slot: usize, at: Instant) {
        self[slot] = at;
    }

    #[inline]
    fn earliest(&self) -> (usize, Instant) {
        let mut first = (0, Instant::NEVER);
        for (slot, &at) in self.iter().enumerate() {
            if at < first.1 {
                first = (slot, at);
            }
        }
        first
    }

    fn for_each(&mut self, each: &mut dyn FnMut(&mut Instant)) {
        self.iter_mut().filter(|at| **at != Instant::NEVER).for_each(each);
    }
}

/// The slots of a layer, followed by those of its inner protocol.
impl<A: Slots, B: Slots> Slots for (A, B) {
    const LEN: usize = A::LEN + B::LEN;
    const EMPTY: Self = (A::EMPTY, B::EMPTY);

    #[inline]
    fn deadline(&self, slot: usize) -> Instant {
        if slot < A::LEN { self.0.deadline(slot) } else { self.1.deadline(slot - A::LEN) }
    }

    #[inline]
    fn set(&mut self, slot: usize, at: Instant) {
        if slot < A::LEN {
            self.0.set(slot, at);
        } else {
            self.1.set(slot - A::LEN, at);
        }
    }

    #[inline]
    fn earliest(&self) -> (usize, Instant) {
        let (own, inner) = (self.0.earliest(), self.1.earliest());
        if own.1 <= inner.1 { own } else { (A::LEN + inner.0, inner.1) }
    }

    fn for_each(&mut self, each: &mut dyn FnMut(&mut Instant)) {
        self.0.for_each(each);
        self.1.for_each(each);
    }
}

/// The timer kinds of a layer: its own, and those of its inner protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layered<O, I> {
    /// A timer of the layer itself.
    Own(O),
    /// A timer of the inner protocol.
    Inner(I),
}

impl<O: TimerKind, I: TimerKind> TimerKind for Layered<O, I> {
    type Slots = (O::Slots, I::Slots);

    #[inline]
    fn slot(self) -> usize {
        match self {
            Self::Own(timer) => timer.slot(),
            Self::Inner(timer) => O::Slots::LEN + timer.slot(),
        }
    }

    #[inline]
    fn at(slot: usize) -> Self {
        if slot < O::Slots::LEN {
            Self::Own(O::at(slot))
        } else {
            Self::Inner(I::at(slot - O::Slots::LEN))
        }
    }
}

/// The timers of a protocol that has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoTimer {}

impl TimerKind for NoTimer {
    type Slots = [Instant; 0];

    fn slot(self) -> usize {
        match self {}
    }

    fn at(slot: usize) -> Self {
        unreachable!("a protocol without timers was asked for slot {slot}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    #[test]
    fn the_earliest_slot_comes_first_and_the_lower_one_at_a_tie() {
        let mut slots = <[Instant; 3]>::EMPTY;
        assert_eq!(slots.earliest().1, Instant::NEVER);
        slots.set(2, at(5));
        slots.set(1, at(5));
        assert_eq!(slots.earliest(), (1, at(5)));
        slots.set(2, at(4));
        assert_eq!(slots.earliest(), (2, at(4)));
    }

    #[test]
    fn a_layers_own_slots_come_first_at_equal_deadlines() {
        let mut slots = <([Instant; 1], [Instant; 2])>::EMPTY;
        slots.set(2, at(7));
        assert_eq!(slots.earliest(), (2, at(7)));
        slots.set(0, at(7));
        assert_eq!(slots.earliest(), (0, at(7)));
        assert_eq!(slots.deadline(2), at(7));
    }
}
