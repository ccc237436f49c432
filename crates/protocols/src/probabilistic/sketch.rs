//! Counting a group without a list: mergeable traces of its members.
//!
//! **Source.** Extrema propagation (Baquero, Almeida and Menezes, "Fast estimation of aggregates in
//! unstructured networks", 2009): every member draws, the extremes spread, and the extremes tell
//! how many drew. Receiving something twice, late or never changes no extreme, so losses do no
//! harm. A member draws a HyperLogLog register (Flajolet, Fusy, Gandouet and Meunier, 2007), by the
//! hash of its id instead of at random: as informative as their exponential variates with five bits
//! instead of 32. The estimate is Ertl's ("New cardinality estimation algorithms for HyperLogLog
//! sketches", 2017), which needs no tables and has no relevant bias for few members or many.
//!
//! **Promise.** With all traces gathered the estimate has a standard error of 1.04/√1792 = 2.5 %:
//! it is within 5 % with probability .95, and closer for groups of less than a thousand.
//!
//! A sketch does not forget: a member that left is counted until the process restarts.

use super::hash::hash;
use alloc::vec;
use alloc::vec::Vec;
use bellwether_core::{Malformed, NodeId, Reader, mix};

/// The number of registers: as many as fit into one datagram, a multiple of eight.
pub const REGISTERS: usize = 1792;

/// The greatest value of a register: five bits.
const HIGHEST: u8 = 31;

/// How many registers are compared at once.
const BLOCK: usize = 256;

/// Seeds the hashes of ids for sketches, together with the group's number, so that the error
/// differs between groups.
const KEY: u64 = 0x6265_6c6c_7765_7468;

/// The traces of some members.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sketch(Vec<u8>);

impl Sketch {
    /// The traces of these members of a [group](bellwether_core::Peers::group).
    pub fn of(group: u64, members: impl IntoIterator<Item = NodeId>) -> Self {
        let mut sketch = Self(vec![0; REGISTERS]);
        members.into_iter().for_each(|member| sketch.add(group, member));
        sketch
    }

    fn add(&mut self, group: u64, member: NodeId) {
        let word = hash(KEY ^ mix(group), member);
        let place = (u128::from(word) * REGISTERS as u128) >> 64;
        let zeros = mix(word ^ KEY).leading_zeros() as u8;
        let register = &mut self.0[place as usize];
        *register = (zeros + 1).min(HIGHEST).max(*register);
    }

    /// Adds the traces of another sketch. True if that changed something.
    pub fn merge(&mut self, other: &Self) -> bool {
        assert_eq!(self.0.len(), other.0.len(), "all sketches have the same number of registers");
        let news = other.exceeds(self);
        if news {
            self.0.iter_mut().zip(&other.0).for_each(|(mine, theirs)| *mine = *theirs.max(mine));
        }
        news
    }

    /// Whether it has a trace that the other lacks. Registers are compared in blocks, each as a
    /// whole, so that vector instructions can do it.
    pub fn exceeds(&self, other: &Self) -> bool {
        let block = |(mine, theirs): (&[u8], &[u8])| {
            mine.iter().zip(theirs).fold(false, |any, (mine, theirs)| any | (mine > theirs))
        };
        self.0.chunks(BLOCK).zip(other.0.chunks(BLOCK)).any(block)
    }

    /// The estimated number of members that left these traces.
    pub fn estimate(&self) -> u64 {
        let mut counts = [0u32; HIGHEST as usize + 1];
        self.0.iter().for_each(|value| counts[usize::from(*value)] += 1);
        let all = REGISTERS as f64;
        let part = |value: usize| f64::from(counts[value]) / all;
        let highest = usize::from(HIGHEST);
        let mut sum = all * unfinished(part(highest));
        for value in (1..highest).rev() {
            sum = (sum + f64::from(counts[value])) / 2.0;
        }
        sum += all * untouched(part(0));
        let estimate = all * all / (2.0 * core::f64::consts::LN_2) / sum;
        libm::round(estimate) as u64
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        for eight in self.0.chunks_exact(8) {
            let packed = eight.iter().fold(0u64, |bits, value| bits << 5 | u64::from(*value));
            out.extend_from_slice(&packed.to_le_bytes()[..5]);
        }
    }

    pub(super) fn decode(input: &mut Reader<'_>) -> Result<Self, Malformed> {
        let packed = input.bytes(REGISTERS / 8 * 5)?;
        let mut registers = vec![0; REGISTERS];
        for (eight, bytes) in registers.chunks_exact_mut(8).zip(packed.chunks_exact(5)) {
            let mut bits = bytes.iter().rev().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
            for value in eight.iter_mut().rev() {
                (*value, bits) = ((bits & u64::from(HIGHEST)) as u8, bits >> 5);
            }
        }
        Ok(Self(registers))
    }
}

/// Ertl's σ: the contribution of untouched registers. Infinite if all are untouched.
fn untouched(mut part: f64) -> f64 {
    if part >= 1.0 {
        return f64::INFINITY;
    }
    let (mut sum, mut weight) = (part, 1.0);
    loop {
        part *= part;
        let before = sum;
        sum += part * weight;
        weight += weight;
        if sum <= before {
            return sum;
        }
    }
}

/// Ertl's τ: the contribution of saturated registers.
fn unfinished(mut part: f64) -> f64 {
    if part <= 0.0 || part >= 1.0 {
        return 0.0;
    }
    let (mut sum, mut weight) = (1.0 - part, 1.0);
    loop {
        part = libm::sqrt(part);
        let before = sum;
        weight /= 2.0;
        sum -= (1.0 - part) * (1.0 - part) * weight;
        if sum >= before {
            return sum / 3.0;
        }
    }
}
