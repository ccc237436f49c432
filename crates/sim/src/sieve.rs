//! Whom a multicast reaches, sixty-four receivers at a time.
//!
//! For each receiver two questions: did it lose the packet (a coin), and does the message concern
//! it (its bar)? Both are answered in plain loops over arrays that the compiler vectorises for
//! whatever the machine has, chosen at run time; the answers are the same bits everywhere.

use crate::coin::Packet;
use pulp::{Arch, Simd, WithSimd};

/// Receivers handled per word of the result.
pub(crate) const LANES: usize = 64;

/// What is asked about one multicast.
#[derive(Clone, Copy)]
pub(crate) struct Question<'a> {
    pub(crate) packet: Packet,
    /// Coins below this are losses.
    pub(crate) threshold: u32,
    /// The weight of the message.
    pub(crate) weight: u64,
    /// Each receiver's bar; as many as `open` has bits.
    pub(crate) bars: &'a [u64],
    /// Who can receive at all, a bit each.
    pub(crate) open: &'a [u64],
}

/// The answer for sixty-four receivers, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sieved {
    /// Who receives it.
    pub(crate) reached: u64,
    /// Whom of those it concerns.
    pub(crate) concerned: u64,
}

/// Answers for all receivers; `out` is overwritten.
pub(crate) fn sieve(arch: Arch, question: Question<'_>, out: &mut Vec<Sieved>) {
    debug_assert_eq!(question.bars.len(), question.open.len() * LANES);
    out.resize(question.open.len(), Sieved::default());
    arch.dispatch(Kernel { question, out });
}

struct Kernel<'a> {
    question: Question<'a>,
    out: &'a mut [Sieved],
}

impl WithSimd for Kernel<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        plain(self.question, self.out);
    }
}

#[inline(always)]
fn plain(question: Question<'_>, out: &mut [Sieved]) {
    let Question { packet, threshold, weight, bars, open } = question;
    let chunks = bars.chunks_exact(LANES).zip(open).zip(out);
    for (chunk, ((bars, &open), out)) in chunks.enumerate() {
        let first = (chunk * LANES) as u32;
        let (mut kept, mut low) = ([0u8; LANES], [0u8; LANES]);
        for (lane, kept) in kept.iter_mut().enumerate() {
            *kept = u8::from(packet.loss(first.wrapping_add(lane as u32)) >= threshold);
        }
        for (low, &bar) in low.iter_mut().zip(bars) {
            *low = u8::from(bar <= weight);
        }
        let reached = pack(&kept) & open;
        *out = Sieved { reached, concerned: pack(&low) & reached };
    }
}

/// Sixty-four bytes that are 0 or 1 to sixty-four bits.
#[inline(always)]
pub(crate) fn pack(bytes: &[u8; LANES]) -> u64 {
    // The multiplication moves byte i of eight to bit 56 + i; nothing else lands up there.
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
    use crate::coin::Coins;
    use bellwether_core::mix;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_vector_path_gives_the_same_bits_as_asking_one_by_one(
            seed: u64, number: u32, threshold: u32, weight in 0u64..1000, words in 1usize..6,
            salt: u64,
        ) {
            let packet = Coins::new(seed, 0).packet(1, number);
            let open: Vec<u64> = (0..words as u64).map(|i| mix(salt ^ i)).collect();
            let bars: Vec<u64> =
                (0..(words * LANES) as u64).map(|i| mix(salt ^ !i) % 1000).collect();
            let mut out = Vec::new();
            let question = Question { packet, threshold, weight, bars: &bars, open: &open };
            sieve(Arch::new(), question, &mut out);
            for (i, bar) in bars.iter().enumerate() {
                let bit = |word: u64| word >> (i % LANES) & 1 == 1;
                let reached = bit(open[i / LANES]) && packet.loss(i as u32) >= threshold;
                prop_assert_eq!(bit(out[i / LANES].reached), reached);
                prop_assert_eq!(bit(out[i / LANES].concerned), reached && *bar <= weight);
            }
            let mut scalar = vec![Sieved::default(); words];
            plain(question, &mut scalar);
            prop_assert_eq!(out, scalar);
        }
    }
}
