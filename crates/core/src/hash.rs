//! The two hashes of the project: fast, the same on every machine, not cryptographic.

/// The increment of SplitMix64: odd, and 2⁶⁴ divided by the golden ratio.
pub const STRIDE: u64 = 0x9e37_79b9_7f4a_7c15;

/// SplitMix64's finisher: every bit of the word changes about half of the bits of the result
/// (Stafford's variant 13).
#[inline]
pub const fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// FNV-1a of 64 bits (Fowler, Noll and Vo), for texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fnv1a(u64);

impl Default for Fnv1a {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv1a {
    /// Adds these bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// The hash of all added bytes.
    pub const fn value(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Fnv1a;

    #[test]
    fn fnv_1a_gives_the_published_value() {
        let mut hash = Fnv1a::default();
        hash.add(b"foo");
        hash.add(b"bar");
        assert_eq!(hash.value(), 0x8594_4171_f739_67e8);
    }
}
