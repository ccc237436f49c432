//! Every number that a process may draw, one branch each.
//!
//! **Source.** TigerBeetle's `exhaustigen`: a source of random numbers turned into one that
//! enumerates all of them.
//!
//! **How.** A move runs with the numbers that are known so far. If it asks for one more, what it
//! did is thrown away and the move is suspended: the next move of the explorer is the draw, one for
//! each value that is tried, and then the suspended move is run again from its beginning. So a
//! state holds at most one suspended move, and a protocol that draws nothing costs nothing.
//!
//! **Promise.** Of a draw among no more numbers than are tried, all are. Of one among more, the
//! first, the last and those at equal distances between: what happens only at others is not seen.

use super::world::Move;
use bellwether_core::Entropy;

/// The numbers that a move draws.
#[derive(Clone, Debug)]
pub(super) struct Draws {
    known: Vec<u64>,
    used: usize,
    /// How many numbers the first draw beyond the known ones is among.
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
    /// For a protocol of whose draws so many values are tried.
    pub(super) fn of(values: u64) -> Self {
        Self { known: Vec::new(), used: 0, wanted: None, allowed: values > 0 }
    }

    /// For a protocol that draws nothing.
    pub(super) fn none() -> Self {
        Self::of(0)
    }

    /// The move with these draws, if it needs one more.
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
        // Whatever comes of it is thrown away.
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
