//! When to ask whether a run is to be given up.

/// The work between two questions: in a step each process may do something for each other one.
const WORK: u64 = 1 << 28;
/// The most steps between two questions, in a small group, and the fewest, in a large one.
const STEPS_MAX: u32 = 1 << 14;
const STEPS_MIN: u32 = 1 << 6;

/// Counts steps between two questions whether to give a run up. A step may be a multicast that all
/// processes answer, and an answer may be looked at beside all others. So a large group makes fewer
/// steps between two questions.
pub(super) struct Patience<'a> {
    over: Option<&'a dyn Fn() -> bool>,
    steps: u32,
    left: u32,
}

impl<'a> Patience<'a> {
    /// For a group of so many.
    pub(super) fn new(nodes: u32, over: Option<&'a dyn Fn() -> bool>) -> Self {
        let pairs = u64::from(nodes.max(1)).pow(2);
        let steps = (WORK / pairs).clamp(STEPS_MIN.into(), STEPS_MAX.into()) as u32;
        Self { over, steps, left: steps }
    }

    /// Counts a step; whether the run is to be given up before it.
    #[inline(always)]
    pub(super) fn is_over(&mut self) -> bool {
        self.left -= 1;
        self.left == 0 && self.ask()
    }

    #[cold]
    fn ask(&mut self) -> bool {
        self.left = self.steps;
        self.over.is_some_and(|over| over())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn it_asks_after_so_many_steps_and_more_often_in_a_large_group() {
        for (nodes, steps) in [(1, 1 << 14), (128, 1 << 14), (1000, 268), (u32::MAX, 1 << 6)] {
            let asked = Cell::new(0);
            let over = || {
                asked.set(asked.get() + 1);
                asked.get() == 3
            };
            let mut patience = Patience::new(nodes, Some(&over));
            let made = (1..).find(|_| patience.is_over());
            assert_eq!((made, asked.get()), (Some(3 * steps), 3), "{nodes} processes");
        }
        let mut endless = Patience::new(u32::MAX, None);
        assert!(!(0..1000).any(|_| endless.is_over()));
    }
}
