//! The source of randomness that a driver gives to a protocol.

use crate::hash::{STRIDE, mix};

/// The source of every random choice of a protocol: sampled live and in the simulator, enumerated
/// by a checker, scripted in a handler test.
pub trait Entropy {
    /// A uniform choice from `0..n`. `n == 0` is a bug of the caller; implementations return 0
    /// rather than panic.
    fn below(&mut self, n: u64) -> u64;
}

/// Turns 64 random bits into an unbiased choice among `n`, by multiplication and, rarely, 64 more
/// bits (Lemire, "Fast random integer generation in an interval", 2019). All generators use it, so
/// that a stream gives the same choices everywhere.
pub fn choose_below(n: u64, mut next: impl FnMut() -> u64) -> u64 {
    let mut product = u128::from(next()) * u128::from(n);
    if (product as u64) < n {
        let unfair = n.wrapping_neg() % n.max(1);
        while (product as u64) < unfair {
            product = u128::from(next()) * u128::from(n);
        }
    }
    (product >> 64) as u64
}

/// A generator with one number as its seed: SplitMix64 (Steele, Lea and Flood, "Fast splittable
/// pseudorandom number generators", 2014). The same seed gives the same choices, by which a
/// recorded run is replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seeded(u64);

impl Seeded {
    /// The generator with this seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STRIDE);
        mix(self.0)
    }
}

impl Entropy for Seeded {
    #[inline]
    fn below(&mut self, n: u64) -> u64 {
        choose_below(n, || self.next_u64())
    }
}

#[cfg(test)]
mod tests {
    use super::{Entropy, Seeded, choose_below};

    #[test]
    fn a_seed_means_the_same_choices_for_ever() {
        let mut seeded = Seeded::new(1_234_567);
        let words = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973];
        assert_eq!(words.map(|_| seeded.next_u64()), words, "the generator's published vectors");
        let (mut one, mut other) = (Seeded::new(5), Seeded::new(5));
        assert!((1..1000).all(|n| one.below(n) == other.below(n)));
        assert_ne!(Seeded::new(5).below(1 << 40), Seeded::new(6).below(1 << 40));
    }

    #[test]
    fn choices_lie_below_their_bound_and_reach_both_ends() {
        assert_eq!(choose_below(8, || 1 << 60), 0, "a small word is a small choice");
        assert_eq!(choose_below(10, || u64::MAX), 9, "the greatest word is the greatest choice");
        assert_eq!(choose_below(1, || 12345), 0);
        assert_eq!(choose_below(0, || 12345), 0, "nothing to choose from");
        assert_eq!(choose_below(u64::MAX, || u64::MAX), u64::MAX - 1);
    }

    #[test]
    fn a_word_that_would_favour_some_choices_is_drawn_again() {
        // 2^64 mod 3 = 1: one of the 2^64 words is unfair, the one mapped to a low part of 0.
        let mut words = [0, u64::MAX].into_iter();
        assert_eq!(choose_below(3, || words.next().unwrap()), 2);
        assert_eq!(words.next(), None, "both words were used");
    }
}
