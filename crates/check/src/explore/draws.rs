//! Enumerates the random numbers of a process: one branch for each.
//!
//! **Source.** TigerBeetle's `exhaustigen`: a source of random numbers that enumerates all of them.
//!
//! **How.** A move runs with the numbers known so far. If it draws one more, its result is
//! discarded and the move is suspended: the explorer's next move is the draw, one for each tried
//! value, and then the suspended move runs again from its beginning. So a state holds at most one
//! suspended move, and a protocol without draws costs nothing.
//!
//! **Promise.** A draw among few numbers tries all of them. A draw among more tries the first, the
//! last and some at equal distances between; behaviour of other values is not seen.

use super::world::Move;
use bellwether_core::Entropy;

/// The numbers that a move draws.
#[derive(Clone, Debug)]
pub(super) struct Draws {
    known: Vec<u64>,
    used: usize,
    /// The range of the first unknown draw.
    wanted: Option<u64>,
    allowed: bool,
}

/// A move that waits for a draw.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Pending {
    chosen: Move,
    known: Vec<u64>,
    among: u64,
}

impl Draws {
    /// For a protocol with draws, of which this many values are tried.
    pub(super) fn of(values: u64) -> Self {
        Self { known: Vec::new(), used: 0, wanted: None, allowed: values > 0 }
    }

    /// For a protocol without draws.
    pub(super) fn none() -> Self {
        Self::of(0)
    }

    /// The suspended move, if it needs one more draw.
    pub(super) fn suspended(self, chosen: Move) -> Option<Pending> {
        let Self { known, wanted, .. } = self;
        wanted.map(|among| Pending { chosen, known, among })
    }
}

impl Entropy for Draws {
    fn below(&mut self, n: u64) -> u64 {
        assert!(self.allowed, "a draw below {n} in a protocol explored as one that draws nothing");
        if let Some(draw) = self.known.get(self.used) {
            self.used += 1;
            return *draw;
        }
        // The result is discarded.
        self.wanted.get_or_insert(n);
        0
    }
}

impl Pending {
    /// The values that are tried, in order.
    pub(super) fn values(&self, most: u64) -> impl Iterator<Item = u64> + use<> {
        let last = self.among.saturating_sub(1);
        let count = most.clamp(1, last.saturating_add(1));
        (0..count).map(move |at| match count {
            1 => 0,
            _ => (u128::from(last) * u128::from(at) / u128::from(count - 1)) as u64,
        })
    }

    /// The same move, with one more draw known.
    pub(super) fn with(self, value: u64) -> (Move, Draws) {
        let Self { chosen, mut known, .. } = self;
        known.push(value);
        (chosen, Draws { known, used: 0, wanted: None, allowed: true })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(among: u64, most: u64) -> Vec<u64> {
        Pending { chosen: Move::Wake, known: Vec::new(), among }.values(most).collect()
    }

    #[test]
    fn few_numbers_are_all_tried_and_of_many_the_ends_and_some_between() {
        assert_eq!(values(1, 3), [0]);
        assert_eq!(values(3, 3), [0, 1, 2]);
        assert_eq!(values(2_000_000, 3), [0, 999_999, 1_999_999]);
        assert_eq!(values(u64::MAX, 2), [0, u64::MAX - 1]);
        assert_eq!(values(10, 1), [0]);
        assert_eq!(values(0, 3), [0], "a draw among nothing has one outcome");
    }

    #[test]
    fn a_move_is_run_again_with_each_draw_until_it_needs_no_more() {
        let mut draws = Draws::of(2);
        assert_eq!(draws.below(7), 0, "unknown");
        let pending = draws.suspended(Move::Wake).expect("a draw is needed");
        let (chosen, mut draws) = pending.with(6);
        assert_eq!((chosen, draws.below(7), draws.below(5)), (Move::Wake, 6, 0));
        let (_, mut draws) = draws.suspended(chosen).expect("another one").with(4);
        assert_eq!((draws.below(7), draws.below(5)), (6, 4));
        assert_eq!(draws.suspended(chosen), None);
    }
}
