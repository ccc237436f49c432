//! How inputs are made from others: bits are flipped, numbers become extreme, parts are repeated,
//! removed, inserted, and taken from other inputs.

use bellwether::core::{Entropy as _, Seeded};

/// The longest input.
const LENGTH_MAX: usize = 4096;
/// The most changes to one input.
const CHANGES_MAX: u64 = 6;

/// Bytes and words that parsers treat in their own way.
const TOKENS: &[&[u8]] = &[
    b"\0",
    b"\n",
    b"\r\n",
    b"\"",
    b"\\",
    b"\\u0000",
    b"{",
    b"}",
    b"[",
    b"]",
    b"=",
    b",",
    b":",
    b"#",
    b"null",
    b"true",
    b"false",
    b"-1",
    b"0",
    b"1e999",
    b"nan",
    b"inf",
    b"18446744073709551615",
    b"18446744073709551616",
    b"9223372036854775808",
    b"4294967296",
    b"0.0000001",
    b"1d",
    b"1ns",
    b"infinite",
    b"\xff\xfe",
    b"\xc3\xa4",
    b"\xe2\x80\xae",
    b"bwk1-",
    b"[params]\n",
    b"::",
    b"%eth0",
];

/// Makes inputs. The same seed makes the same ones.
pub struct Mutator {
    luck: Seeded,
}

impl Mutator {
    /// The one with this seed.
    pub fn new(seed: u64) -> Self {
        Self { luck: Seeded::new(seed) }
    }

    /// A number below this one, or 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.luck.below(n as u64) as usize
    }

    /// Replaces `out` by a changed copy of one of these. A corpus is never empty.
    pub fn mutate(&mut self, corpus: &[Vec<u8>], out: &mut Vec<u8>) {
        out.clear();
        let from = self.below(corpus.len());
        out.extend_from_slice(corpus.get(from).map_or(&[][..], Vec::as_slice));
        for _ in 0..=self.luck.below(CHANGES_MAX) {
            self.change(corpus, out);
        }
        out.truncate(LENGTH_MAX);
    }

    /// One change.
    fn change(&mut self, corpus: &[Vec<u8>], out: &mut Vec<u8>) {
        let at = self.below(out.len() + 1);
        match self.luck.below(12) {
            0..=1 => self.flip(out),
            2 => {
                if let Some(byte) = out.get_mut(at) {
                    *byte = self.luck.below(256) as u8;
                }
            }
            3 => {
                if let Some(byte) = out.get_mut(at) {
                    let by = 1 + self.luck.below(16) as u8;
                    let up = self.luck.below(2) == 0;
                    *byte = if up { byte.wrapping_add(by) } else { byte.wrapping_sub(by) };
                }
            }
            4..=5 => self.extreme_number(out),
            6 => {
                let token = TOKENS[self.below(TOKENS.len())];
                out.splice(at..at, token.iter().copied());
            }
            7 => {
                let token = TOKENS[self.below(TOKENS.len())];
                let end = (at + token.len()).min(out.len());
                out.splice(at..end, token.iter().copied());
            }
            8 => {
                let end = (at + 1 + self.below(16)).min(out.len());
                out.drain(at..end);
            }
            9 => self.repeat(out),
            10 => out.truncate(at),
            _ => self.splice(corpus, out),
        }
    }

    fn flip(&mut self, out: &mut [u8]) {
        let (at, bit) = (self.below(out.len()), self.luck.below(8));
        if let Some(byte) = out.get_mut(at) {
            *byte ^= 1 << bit;
        }
    }

    /// Writes an integer at one of its boundaries, in any width and either order of bytes.
    fn extreme_number(&mut self, out: &mut [u8]) {
        let width = 1_usize << self.luck.below(4);
        let bits = width as u32 * 8;
        let ones = u64::MAX >> (64 - bits);
        let number = match self.luck.below(8) {
            0 => 0,
            1 => 1,
            2 => ones,
            3 => ones - 1,
            4 => ones >> 1,
            5 => (ones >> 1) + 1,
            6 => 1 << self.luck.below(u64::from(bits)),
            _ => (1 << self.luck.below(u64::from(bits))) - 1,
        };
        let Some(room) = (out.len() + 1).checked_sub(width).filter(|room| *room > 0) else {
            return;
        };
        let at = self.below(room);
        let bytes = number.to_le_bytes();
        let place = &mut out[at..at + width];
        place.copy_from_slice(&bytes[..width]);
        if self.luck.below(4) == 0 {
            place.reverse();
        }
    }

    /// Repeats a part, a few times or many.
    fn repeat(&mut self, out: &mut Vec<u8>) {
        let from = self.below(out.len() + 1);
        let end = (from + 1 + self.below(32)).min(out.len());
        let part = out[from..end].to_vec();
        let times = if self.luck.below(8) == 0 { 64 } else { 1 + self.luck.below(3) };
        for _ in 0..times {
            if out.len() + part.len() <= LENGTH_MAX {
                out.splice(end..end, part.iter().copied());
            }
        }
    }

    /// Replaces a part by one of another input.
    fn splice(&mut self, corpus: &[Vec<u8>], out: &mut Vec<u8>) {
        let from = self.below(corpus.len());
        let Some(other) = corpus.get(from) else { return };
        let (from, at) = (self.below(other.len() + 1), self.below(out.len() + 1));
        let length = self.below(other.len() - from + 1);
        let end = (at + self.below(out.len() - at + 1)).min(out.len());
        out.splice(at..end, other[from..from + length].iter().copied());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_seed_makes_the_same_inputs_and_they_differ_from_each_other() {
        let corpus = [b"hello, world".to_vec(), vec![0; 40], Vec::new()];
        let made = |seed| {
            let mut mutator = Mutator::new(seed);
            let mut make = || {
                let mut out = Vec::new();
                mutator.mutate(&corpus, &mut out);
                out
            };
            (0..2000).map(|_| make()).collect::<Vec<_>>()
        };
        assert_eq!(made(7), made(7));
        assert_ne!(made(7), made(8));
        let different: BTreeSet<_> = made(7).into_iter().collect();
        assert!(different.len() > 1000, "most differ: {}", different.len());
        assert!(different.iter().all(|input| input.len() <= LENGTH_MAX));
        assert!(different.iter().any(|input| input.len() > 100), "some are long");
        assert!(different.iter().any(|input| input.ends_with(b"world")), "some are hardly changed");
    }
}
