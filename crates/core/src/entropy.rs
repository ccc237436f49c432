//! Randomness as something a protocol is given, never something it has.

/// Where every random choice of a protocol comes from: sampled live and in the simulator,
/// enumerated by a checker, scripted in a handler test.
pub trait Entropy {
    /// One of `0..n`, each as likely. Asking among nothing (`n == 0`) is a bug of the caller;
    /// implementations answer 0 rather than panic.
    fn below(&mut self, n: u64) -> u64;
}

/// Turns 64 random bits a call into an unbiased choice among `n`, by multiplication and, rarely,
/// another call (Lemire, "Fast random integer generation in an interval", 2019). One rule for every
/// generator, so that a stream means the same choices everywhere.
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

#[cfg(test)]
mod tests {
    use super::choose_below;

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
