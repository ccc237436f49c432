//! The event queue: items come out in order of time, and items with equal times in the order of
//! insertion.
//!
//! Simulated time never goes back, so a general heap is not needed. Streams with one constant delay
//! arrive already sorted and use a plain lane. Items known at the start are sorted into the lane
//! once. All others go into a radix heap, in buckets by the highest bit in which an item's time
//! differs from the last time taken out. An item moves down at most once per bit, and usually far
//! less often.

use std::collections::VecDeque;

const BUCKETS: usize = 65;
/// Initial capacity of every part, so that a small world never allocates more.
const ROOM: usize = 64;

/// An event queue. It allocates nothing once it has reached its largest size.
#[derive(Clone, Debug)]
pub(crate) struct Queue<T> {
    lane: VecDeque<(u64, T)>,
    buckets: Vec<Vec<(u64, T)>>,
    /// One bit for each bucket that is not empty, except the first.
    filled: u64,
    /// How many items of the first bucket are already taken out. All of its items are due at
    /// `last`.
    taken: usize,
    last: u64,
    /// The earliest time in the buckets.
    least: u64,
}

impl<T: Copy> Queue<T> {
    pub(crate) fn new() -> Self {
        Self {
            lane: VecDeque::with_capacity(ROOM),
            buckets: (0..BUCKETS).map(|_| Vec::with_capacity(ROOM)).collect(),
            filled: 0,
            taken: 0,
            last: 0,
            least: u64::MAX,
        }
    }

    /// Reserves room for this many items in the lane.
    pub(crate) fn reserve(&mut self, items: usize) {
        self.lane.reserve_exact(items);
    }

    pub(crate) fn clear(&mut self) {
        self.lane.clear();
        self.buckets.iter_mut().for_each(Vec::clear);
        (self.filled, self.taken, self.last, self.least) = (0, 0, 0, u64::MAX);
    }

    /// Inserts an item. `at` must not be before the last time taken out.
    #[inline(always)]
    pub(crate) fn push(&mut self, at: u64, item: T) {
        debug_assert!(at >= self.last, "time goes back");
        match self.lane.back() {
            Some((back, _)) if *back > at => self.push_bucket(at, item),
            _ => self.lane.push_back((at, item)),
        }
    }

    /// Inserts an item before the run, in any order. [`seal`](Self::seal) must be called before the
    /// first item is taken out. One sort is faster than many insertions and needs no additional
    /// memory.
    pub(crate) fn gather(&mut self, at: u64, item: T) {
        self.lane.push_back((at, item));
    }

    /// Sorts the gathered items by time, and by item where times are equal.
    pub(crate) fn seal(&mut self)
    where
        T: Ord,
    {
        let items = self.lane.make_contiguous();
        items.sort_unstable_by_key(|(at, _)| *at);
        // Equal times are rare, and a comparison of one word is quicker than one of two.
        for equal in items.chunk_by_mut(|a, b| a.0 == b.0).filter(|equal| equal.len() > 1) {
            equal.sort_unstable_by_key(|(_, item)| *item);
        }
    }

    /// Inserts an item into the buckets, for times that come in no order.
    #[inline]
    pub(crate) fn push_bucket(&mut self, at: u64, item: T) {
        let bucket = bucket(at, self.last);
        self.buckets[bucket].push((at, item));
        if bucket > 0 {
            self.filled |= 1 << (bucket - 1);
        }
        self.least = self.least.min(at);
    }

    /// The time of the next item; `u64::MAX` if there is none.
    #[inline]
    pub(crate) fn next_at(&self) -> u64 {
        self.lane.front().map_or(u64::MAX, |(at, _)| *at).min(self.least)
    }

    /// Removes and returns the next item.
    #[inline(always)] // so that it is not handed over through memory
    pub(crate) fn pop(&mut self) -> Option<(u64, T)> {
        match self.lane.front() {
            Some((at, _)) if *at <= self.least => self.lane.pop_front(),
            _ => self.pop_bucket(),
        }
    }

    #[inline(never)]
    fn pop_bucket(&mut self) -> Option<(u64, T)> {
        if self.taken == self.buckets[0].len() {
            let lowest = self.lowest()?;
            if let [only] = self.buckets[lowest][..] {
                return Some(self.take_only(lowest, only));
            }
            self.advance(lowest);
        }
        let item = self.buckets[0][self.taken];
        self.taken += 1;
        if self.taken == self.buckets[0].len() {
            self.buckets[0].clear();
            self.taken = 0;
            self.least = self.least_above();
        }
        Some(item)
    }

    /// Moves `last` to the earliest time and distributes the items of its bucket over lower ones.
    fn advance(&mut self, lowest: usize) {
        self.last = self.least;
        self.filled &= self.filled - 1;
        let mut items = std::mem::take(&mut self.buckets[lowest]);
        for item in items.drain(..) {
            let bucket = bucket(item.0, self.last);
            self.buckets[bucket].push(item);
            if bucket > 0 {
                self.filled |= 1 << (bucket - 1);
            }
        }
        self.buckets[lowest] = items; // empty; its memory is kept
    }

    /// Removes an item that is alone in its bucket; nothing is left to distribute.
    fn take_only(&mut self, lowest: usize, only: (u64, T)) -> (u64, T) {
        self.buckets[lowest].clear();
        self.filled &= self.filled - 1;
        self.last = only.0;
        self.least = self.least_above();
        only
    }

    /// The lowest bucket above the first that is not empty.
    fn lowest(&self) -> Option<usize> {
        (self.filled != 0).then(|| self.filled.trailing_zeros() as usize + 1)
    }

    fn least_above(&self) -> u64 {
        let Some(lowest) = self.lowest() else { return u64::MAX };
        self.buckets[lowest].iter().map(|(at, _)| *at).min().unwrap_or(u64::MAX)
    }
}

#[inline]
fn bucket(at: u64, last: u64) -> usize {
    (u64::BITS - (at ^ last).leading_zeros()) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compares with a sorted list, with pushes between pops, never before the last time taken
        /// out.
        #[test]
        fn items_come_out_in_order_of_time(
            steps in prop::collection::vec((0u64..2000, any::<bool>(), any::<bool>()), 1..300),
        ) {
            let mut queue = Queue::new();
            let mut model: Vec<(u64, usize)> = Vec::new();
            let mut now = 0;
            for (number, (ahead, lane, pop)) in steps.into_iter().enumerate() {
                let at = now + ahead;
                if lane { queue.push(at, number) } else { queue.push_bucket(at, number) }
                model.push((at, number));
                prop_assert_eq!(queue.next_at(), model.iter().map(|item| item.0).min().unwrap());
                if pop {
                    let least = queue.next_at();
                    let (at, number) = queue.pop().unwrap();
                    prop_assert_eq!(at, least);
                    let place = model.iter().position(|item| *item == (at, number)).unwrap();
                    model.remove(place);
                    now = at;
                }
            }
            let mut rest = Vec::new();
            while let Some(item) = queue.pop() {
                rest.push(item);
            }
            prop_assert!(rest.is_sorted_by_key(|item| item.0));
            rest.sort_unstable();
            model.sort_unstable();
            prop_assert_eq!(rest, model);
            prop_assert_eq!(queue.next_at(), u64::MAX);
        }

        #[test]
        fn what_was_gathered_comes_out_sorted(
            early in prop::collection::vec(0u64..50, 1..50), late in 50u64..100,
        ) {
            let mut queue = Queue::new();
            for (number, &at) in early.iter().enumerate() {
                queue.gather(at, number);
            }
            queue.seal();
            queue.push_bucket(late, usize::MAX);
            let mut sorted: Vec<_> = early.into_iter().enumerate().map(|(n, at)| (at, n)).collect();
            sorted.sort_unstable();
            sorted.push((late, usize::MAX));
            prop_assert_eq!(std::iter::from_fn(|| queue.pop()).collect::<Vec<_>>(), sorted);
        }

        #[test]
        fn equal_times_come_out_as_they_went_in(times in prop::collection::vec(0u64..4, 1..100)) {
            for lane in [true, false] {
                let mut queue = Queue::new();
                for (number, &at) in times.iter().enumerate() {
                    if lane { queue.push(at, number) } else { queue.push_bucket(at, number) }
                }
                let mut out: Vec<(u64, usize)> = Vec::new();
                while let Some(item) = queue.pop() {
                    out.push(item);
                }
                prop_assert!(out.is_sorted_by_key(|item| item.0));
                // A queue that uses lane and buckets for the same times has no order of arrival
                // among them; buckets alone, and a lane whose times only grow, have.
                if !lane || times.is_sorted() {
                    prop_assert!(out.is_sorted());
                }
            }
        }
    }
}
