//! A piece: some runs of a point, under a name made of what they are.
//!
//! **Promise.** Who finds a piece under its name need not make its runs. The name is a hash of the
//! version, the point's command with its seed, the measures that are kept and the numbers of the
//! runs; all of this is in the piece, too, and compared. What is damaged or belongs to something
//! else is not read.
//!
//! **Assumptions.** The same code made it. Whoever keeps pieces for longer than a process lives
//! keeps those of different builds apart ([`Keep`](super::work::Keep)).
//!
//! The values are kept as they are, eight bytes each, and summed up only when all pieces are there:
//! so the result is the same to the last bit, whoever made which piece.

use bellwether_core::{Fnv1a, STRIDE, mix};
use bellwether_sim::Part;
use std::ops::Range;

/// What a piece begins with.
const MAGIC: &[u8] = b"bellwether piece 1\n";

/// What is in a piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// The command of the point with its seed.
    pub command: String,
    /// The measures that are kept; all if it is empty.
    pub measures: Vec<String>,
    /// The numbers of the runs.
    pub runs: Range<u64>,
}

impl Key {
    /// All of it, as a text.
    fn text(&self) -> String {
        let Self { command, measures, runs } = self;
        let version = env!("CARGO_PKG_VERSION");
        let measures = if measures.is_empty() { "all".to_owned() } else { measures.join(",") };
        format!("{version}\n{command}\n{measures}\n{}..{}\n", runs.start, runs.end)
    }

    /// The name: letters and digits.
    pub fn name(&self) -> String {
        name_of(&self.text())
    }

    /// The bytes that are kept.
    pub fn encode(&self, part: &Part) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        let put = |bytes: &mut Vec<u8>, text: &str| {
            bytes.extend((text.len() as u64).to_le_bytes());
            bytes.extend(text.as_bytes());
        };
        put(&mut bytes, &self.text());
        bytes.extend((part.measures.len() as u64).to_le_bytes());
        part.measures.iter().for_each(|name| put(&mut bytes, name));
        bytes.extend(part.runs().to_le_bytes());
        bytes.extend(part.settled.iter().map(|settled| u8::from(*settled)));
        part.values.iter().for_each(|value| bytes.extend(value.to_le_bytes()));
        bytes.extend(checksum(&bytes).to_le_bytes());
        bytes
    }

    /// What is in these bytes, if they are this piece and whole.
    pub fn decode(&self, bytes: &[u8]) -> Option<Part> {
        let (content, sum) = bytes.split_last_chunk::<8>()?;
        if u64::from_le_bytes(*sum) != checksum(content) {
            return None;
        }
        self.read(content)
    }

    /// The same without the checksum.
    #[doc(hidden)] // for fuzzers, which would never find one
    pub fn read(&self, content: &[u8]) -> Option<Part> {
        let mut rest = Rest(content.strip_prefix(MAGIC)?);
        if rest.text()? != self.text() {
            return None;
        }
        let count = usize::try_from(rest.number()?).ok()?;
        let measures: Vec<String> =
            (0..count).map(|_| Some(rest.text()?.to_owned())).collect::<Option<_>>()?;
        let runs = usize::try_from(rest.number()?).ok()?;
        let settled = rest.take(runs)?.iter().map(|settled| *settled != 0).collect();
        let (values, none) = rest.0.as_chunks::<8>();
        let values: Vec<f64> = values.iter().map(|value| f64::from_le_bytes(*value)).collect();
        let whole = none.is_empty() && Some(values.len()) == runs.checked_mul(count);
        let all = runs as u64 == self.runs.end.saturating_sub(self.runs.start);
        (whole && all).then_some(Part { measures, values, settled })
    }
}

/// The name of what a text describes: letters and digits.
pub(crate) fn name_of(text: &str) -> String {
    let (mut first, mut second) = (Fnv1a::default(), Fnv1a::default());
    first.add(text.as_bytes());
    second.add(b"second");
    second.add(text.as_bytes());
    format!("{:016x}{:016x}", mix(first.value()), mix(second.value()))
}

/// Bytes that are not read yet.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = usize::try_from(self.number()?).ok()?;
        std::str::from_utf8(self.take(length)?).ok()
    }
}

/// A hash by which damage is found. A piece is large and its runs may be quick, so words of eight
/// bytes go into four lanes in turn: the next one need not wait for the last.
pub fn checksum(bytes: &[u8]) -> u64 {
    let add = |sum: u64, word: u64| mix(sum ^ word).wrapping_add(STRIDE);
    let (words, rest) = bytes.as_chunks::<8>();
    let (rows, last) = words.as_chunks::<4>();
    let mut lanes = [1, 2, 3, 4];
    for row in rows {
        for (lane, word) in lanes.iter_mut().zip(row) {
            *lane = add(*lane, u64::from_le_bytes(*word));
        }
    }
    let last = last.iter().map(|word| u64::from_le_bytes(*word));
    let rest = rest.iter().map(|byte| u64::from(*byte));
    lanes.into_iter().chain(last).chain(rest).fold(bytes.len() as u64, add)
}
