//! Partial views: whether one process sees another is computed on demand, never stored.
//!
//! It is a pure function of the run's seed and the two ids, so a million views of half a million
//! members take no memory. Members are drawn in blocks of 64. The probability is processed bit by
//! bit from the highest, with one random word for all 64 members per bit, until all are decided. A
//! probability of one half takes one word.

use crate::coin::RunSeed;
use crate::network::Probability;
use crate::observer::id;
use bellwether_core::{NodeId, STRIDE, mix};

/// Which processes see which others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sight {
    key: u64,
    /// The probability, in units of 2⁻³².
    chance: u32,
    count: u32,
}

/// How many members one word covers.
const BLOCK: u32 = u64::BITS;

impl Sight {
    /// Each of `count` processes sees each other one with this probability, which is below one.
    pub(super) fn new(chance: Probability, count: u32, run_seed: RunSeed) -> Self {
        Self { key: run_seed.group() ^ STRIDE, chance: chance.threshold(), count }
    }

    /// The members of a block that this process sees, one bit each.
    #[inline]
    fn block(&self, me: u32, block: u32) -> u64 {
        let mut state = mix(self.key ^ (u64::from(me) << 32 | u64::from(block)));
        let (mut seen, mut undecided, mut rest) = (0, u64::MAX, self.chance);
        while rest != 0 && undecided != 0 {
            state = state.wrapping_add(STRIDE);
            let drawn = mix(state);
            // A number below the threshold first differs from it at a bit where the threshold has a
            // one.
            if rest >> 31 == 1 {
                seen |= undecided & !drawn;
                undecided &= drawn;
            } else {
                undecided &= !drawn;
            }
            rest <<= 1;
        }
        if me / BLOCK == block {
            seen &= !(1 << (me % BLOCK));
        }
        let left = self.count - block * BLOCK;
        if left < BLOCK { seen & ((1 << left) - 1) } else { seen }
    }

    fn blocks(&self) -> u32 {
        self.count.div_ceil(BLOCK)
    }

    /// Whether one process sees another.
    #[inline]
    pub(super) fn sees(&self, me: u32, other: u32) -> bool {
        other < self.count && self.block(me, other / BLOCK) >> (other % BLOCK) & 1 == 1
    }

    /// How many others a process sees.
    pub(super) fn len(&self, me: u32) -> usize {
        (0..self.blocks()).map(|block| self.block(me, block).count_ones() as usize).sum()
    }

    /// Calls `see` with all others that a process sees, in order.
    pub(super) fn show(&self, me: u32, see: &mut dyn FnMut(NodeId)) {
        for block in 0..self.blocks() {
            let mut rest = self.block(me, block);
            while rest != 0 {
                see(id(block * BLOCK + rest.trailing_zeros()));
                rest &= rest - 1;
            }
        }
    }

    /// The first other that a process sees, from this number on.
    pub(super) fn first_from(&self, me: u32, number: u32) -> Option<NodeId> {
        let mut mask = u64::MAX << (number % BLOCK);
        for block in number / BLOCK..self.blocks() {
            let seen = self.block(me, block) & mask;
            if seen != 0 {
                return Some(id(block * BLOCK + seen.trailing_zeros()));
            }
            mask = u64::MAX;
        }
        None
    }

    /// The last other that a process sees below this number.
    pub(super) fn last_below(&self, me: u32, number: u32) -> Option<NodeId> {
        let last = number.min(self.count).checked_sub(1)?;
        let mut mask = u64::MAX >> (BLOCK - 1 - last % BLOCK);
        for block in (0..=last / BLOCK).rev() {
            let seen = self.block(me, block) & mask;
            if seen != 0 {
                return Some(id(block * BLOCK + seen.ilog2()));
            }
            mask = u64::MAX;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sight(chance: f64, count: u32, run: u64) -> Sight {
        Sight::new(Probability::try_from(chance).unwrap(), count, RunSeed::new(7, run))
    }

    #[test]
    fn each_sees_each_other_as_often_as_asked_for_and_never_itself() {
        for chance in [0.0, 0.001, 0.2, 0.5, 0.7, 0.999] {
            let (count, runs) = (150, 20);
            let mut seen = 0;
            for run in 0..runs {
                let sight = sight(chance, count, run);
                for me in 0..count {
                    assert!(!sight.sees(me, me));
                    seen += sight.len(me) as u32;
                }
            }
            let pairs = f64::from(count * (count - 1)) * runs as f64;
            let error = (chance * (1.0 - chance) / pairs).sqrt();
            assert!((f64::from(seen) / pairs - chance).abs() <= 4.0 * error, "{chance}: {seen}");
        }
    }

    #[test]
    fn pairs_neighbours_and_runs_are_independent() {
        let (count, mut both) = (200, [0u32; 4]);
        let (one, other) = (sight(0.5, count, 0), sight(0.5, count, 1));
        for me in 0..count - 1 {
            for peer in (0..count - 1).filter(|peer| *peer != me) {
                let sees = one.sees(me, peer);
                both[0] += u32::from(sees && one.sees(peer, me));
                both[1] += u32::from(sees && one.sees(me, peer + 1));
                both[2] += u32::from(sees && one.sees(me + 1, peer));
                both[3] += u32::from(sees && other.sees(me, peer));
            }
        }
        let pairs = f64::from((count - 1) * (count - 2));
        for (which, both) in both.into_iter().enumerate() {
            // Some of the neighbours are the process itself, which it never sees: one in two
            // hundred.
            let part = f64::from(both) / pairs;
            assert!((part - 0.25).abs() < 0.01, "{which}: {part}");
        }
    }

    #[test]
    fn all_ways_to_look_show_the_same() {
        for count in [1, 2, 63, 64, 65, 128, 130] {
            let sight = sight(0.3, count, 5);
            for me in [0, count / 2, count - 1] {
                let expected: Vec<_> =
                    (0..count).filter(|peer| sight.sees(me, *peer)).map(id).collect();
                let mut shown = Vec::new();
                sight.show(me, &mut |peer| shown.push(peer));
                assert_eq!((&shown, sight.len(me)), (&expected, expected.len()));
                for number in 0..=count {
                    let at = u64::from(number);
                    let next = expected.iter().find(|peer| peer.0 >= at);
                    assert_eq!(sight.first_from(me, number), next.copied());
                    let last = expected.iter().rev().find(|peer| peer.0 < at);
                    assert_eq!(sight.last_below(me, number), last.copied());
                }
            }
        }
    }
}
