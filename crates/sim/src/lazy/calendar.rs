//! Announcements in order of time, for listeners that each look for the first one that reaches
//! them.
//!
//! A listener reads them in order and stops at its first success, so it rarely reads more than a
//! few. These few, the *front*, are kept sorted. The others are collected unsorted behind it, and
//! sorted only if a listener reads further. The length of the front makes that rare; it depends on
//! the loss.

use crate::coin::PacketDraws;

/// At most one in this many listeners reads past the front.
const RARE: f64 = 1e7;
/// The front is never longer than this, because keeping it sorted has a cost.
const FRONT_MAX: usize = 2048;
/// Up to this many new announcements are inserted one by one.
const FEW: usize = 16;

/// One announcement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    /// When it was sent.
    pub(super) at: u64,
    /// Its random draws.
    pub(super) packet: PacketDraws,
}

#[derive(Debug)]
pub(super) struct Calendar {
    /// Draws below this are losses.
    threshold: u32,
    /// The earliest, in order of time.
    front: Vec<Call>,
    room: usize,
    /// All others, none of them earlier than any in the front.
    rest: Vec<Call>,
    /// How many of these are sorted by time.
    sorted: usize,
}

impl Calendar {
    /// A calendar for a network that loses this fraction of packets, by draws below the threshold.
    #[expect(clippy::disallowed_methods, reason = "it decides the speed, not the result")]
    pub(super) fn new(loss: f64, threshold: u32) -> Self {
        let reads = if loss > 0.0 { (-RARE.ln() / loss.ln()).ceil() } else { 1.0 };
        let room = (reads as usize).clamp(4, FRONT_MAX);
        Self { threshold, front: Vec::with_capacity(room), room, rest: Vec::new(), sorted: 0 }
    }

    pub(super) fn clear(&mut self) {
        self.front.clear();
        self.rest.clear();
        self.sorted = 0;
    }

    /// The earliest announcements.
    #[inline(always)]
    pub(super) fn earliest(&self, count: usize) -> &[Call] {
        &self.front[..self.front.len().min(count)]
    }

    #[inline(always)]
    pub(super) fn add(&mut self, call: Call) {
        let full = self.front.len() == self.room;
        match self.front.last() {
            Some(&last) if full && call.at >= last.at => self.put_off(call),
            Some(&last) if full => {
                self.put_off(last);
                let end = self.front.len() - 1;
                self.shift_in(call, end);
            }
            _ => {
                self.front.push(call);
                let end = self.front.len() - 1;
                self.shift_in(call, end);
            }
        }
    }

    /// When the first announcement that reaches this listener was sent, if before the given time;
    /// otherwise that time.
    #[inline(always)]
    pub(super) fn first_heard(&mut self, to: u32, before: u64) -> u64 {
        for call in &self.front {
            if call.at >= before {
                return before;
            }
            if call.packet.loss(to) >= self.threshold {
                return call.at;
            }
        }
        if self.rest.is_empty() { before } else { self.read_on(to, before) }
    }

    /// Inserts a call at its place in the first part of the front; place `end` is free.
    #[inline(always)]
    fn shift_in(&mut self, call: Call, end: usize) {
        let place = self.front[..end].partition_point(|known| known.at <= call.at);
        self.front.copy_within(place..end, place + 1);
        self.front[place] = call;
    }

    #[inline(always)]
    fn put_off(&mut self, call: Call) {
        // If all speak at once, or the best speak first, calls come in order of time.
        let in_order = self.rest.last().is_none_or(|last| last.at <= call.at);
        self.sorted += usize::from(in_order && self.sorted == self.rest.len());
        self.rest.push(call);
    }

    #[cold]
    fn read_on(&mut self, to: u32, before: u64) -> u64 {
        self.sort();
        let calls = self.rest.iter().take_while(|call| call.at < before);
        let mut heard = calls.filter(|call| call.packet.loss(to) >= self.threshold);
        heard.next().map_or(before, |call| call.at)
    }

    fn sort(&mut self) {
        if self.rest.len() - self.sorted > FEW {
            self.rest.sort_unstable_by_key(|call| call.at);
            self.sorted = self.rest.len();
        }
        while self.sorted < self.rest.len() {
            let at = self.rest[self.sorted].at;
            let place = self.rest[..self.sorted].partition_point(|call| call.at <= at);
            self.rest[place..=self.sorted].rotate_right(1);
            self.sorted += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coin::RunSeed;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_heard_is_the_earliest_of_all_that_get_through(
            seed: u64, times in prop::collection::vec(0u64..50, 0..200), loss in 0.1f64..0.999,
            before in 0u64..60,
        ) {
            let threshold = (loss * 2f64.powi(32)) as u32;
            let mut calendar = Calendar::new(loss / 2.0, threshold);
            let calls: Vec<Call> = (0u32..)
                .zip(times)
                .map(|(number, at)| Call { at, packet: RunSeed::new(seed, 0).packet(1, number) })
                .collect();
            for (count, call) in calls.iter().enumerate() {
                calendar.add(*call);
                let to = count as u32;
                let reaches = |call: &&Call| call.packet.loss(to) >= threshold;
                let heard = calls[..=count].iter().filter(reaches).map(|call| call.at).min();
                let expected = heard.map_or(before, |at| at.min(before));
                prop_assert_eq!(calendar.first_heard(to, before), expected);
            }
        }
    }
}
