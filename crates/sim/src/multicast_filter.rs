//! Selects the receivers of a multicast, sixty-four at a time.
//!
//! Two conditions decide for each receiver: whether it loses the packet (a random draw), and
//! whether the message concerns it (its minimum weight). Both are computed in plain loops over
//! arrays. The compiler vectorises them for the instruction set found at run time; the results are
//! the same bits on every machine.

use crate::coin::PacketDraws;
use pulp::{Arch, Simd, WithSimd};

/// Receivers handled per word of the result.
pub(crate) const LANES: usize = 64;

/// The inputs that decide which processes receive one multicast.
#[derive(Clone, Copy)]
pub(crate) struct MulticastFilter<'a> {
    pub(crate) draws: PacketDraws,
    /// A draw below this is a loss.
    pub(crate) threshold: u32,
    /// The weight of the message.
    pub(crate) weight: u64,
    /// The minimum weight of each receiver; as many as `open` has bits.
    pub(crate) min_weights: &'a [u64],
    /// Which processes can receive at all, one bit each.
    pub(crate) open: &'a [u64],
}

/// The result for sixty-four receivers, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Receivers {
    /// Those that receive the packet.
    pub(crate) reached: u64,
    /// Those of them that the message concerns.
    pub(crate) concerned: u64,
}

impl MulticastFilter<'_> {
    /// Selects the receivers; `out` is overwritten.
    pub(crate) fn apply(self, arch: Arch, out: &mut Vec<Receivers>) {
        debug_assert_eq!(self.min_weights.len(), self.open.len() * LANES);
        out.resize(self.open.len(), Receivers::default());
        arch.dispatch(Kernel { filter: self, out });
    }
}

struct Kernel<'a> {
    filter: MulticastFilter<'a>,
    out: &'a mut [Receivers],
}

impl WithSimd for Kernel<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        plain(self.filter, self.out);
    }
}

#[inline(always)]
fn plain(filter: MulticastFilter<'_>, out: &mut [Receivers]) {
    let MulticastFilter { draws, threshold, weight, min_weights, open } = filter;
    let chunks = min_weights.chunks_exact(LANES).zip(open).zip(out);
    for (chunk, ((min_weights, &open), out)) in chunks.enumerate() {
        let first = (chunk * LANES) as u32;
        let (mut kept, mut low) = ([0u8; LANES], [0u8; LANES]);
        for (lane, kept) in kept.iter_mut().enumerate() {
            *kept = u8::from(draws.loss(first.wrapping_add(lane as u32)) >= threshold);
        }
        for (low, &min_weight) in low.iter_mut().zip(min_weights) {
            *low = u8::from(min_weight <= weight);
        }
        let reached = pack(&kept) & open;
        *out = Receivers { reached, concerned: pack(&low) & reached };
    }
}

/// Packs sixty-four bytes that are 0 or 1 into sixty-four bits.
#[inline(always)]
pub(crate) fn pack(bytes: &[u8; LANES]) -> u64 {
    // The multiplication moves byte i of eight to bit 56 + i; no other product reaches those bits.
    const GATHER: u64 = 0x0102_0408_1020_4080;
    let mut bits = 0;
    for (group, eight) in bytes.as_chunks::<8>().0.iter().enumerate() {
        bits |= (u64::from_le_bytes(*eight).wrapping_mul(GATHER) >> 56) << (8 * group);
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coin::RunSeed;
    use bellwether_core::mix;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_vector_path_gives_the_same_bits_as_asking_one_by_one(
            seed: u64, number: u32, threshold: u32, weight in 0u64..1000, words in 1usize..6,
            salt: u64,
        ) {
            let draws = RunSeed::new(seed, 0).packet(1, number);
            let open: Vec<u64> = (0..words as u64).map(|i| mix(salt ^ i)).collect();
            let min_weights: Vec<u64> =
                (0..(words * LANES) as u64).map(|i| mix(salt ^ !i) % 1000).collect();
            let mut out = Vec::new();
            let (min_weights, open) = (&min_weights, &open);
            let filter = MulticastFilter { draws, threshold, weight, min_weights, open };
            filter.apply(Arch::new(), &mut out);
            for (i, min_weight) in min_weights.iter().enumerate() {
                let bit = |word: u64| word >> (i % LANES) & 1 == 1;
                let reached = bit(open[i / LANES]) && draws.loss(i as u32) >= threshold;
                prop_assert_eq!(bit(out[i / LANES].reached), reached);
                prop_assert_eq!(bit(out[i / LANES].concerned), reached && *min_weight <= weight);
            }
            let mut scalar = vec![Receivers::default(); words];
            plain(filter, &mut scalar);
            prop_assert_eq!(out, scalar);
        }
    }
}
