//! A short list without memory of its own on the heap, as long as it is short.
//!
//! **Promise.** Up to `N` items need no allocation: not to build the list, to clone it or to read
//! it from a message. A longer list is a vector, which its clones share until one of them changes.
//! Two lists with the same items are equal and have the same hash, however they are held.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::ops::{Deref, DerefMut};

/// A list that is usually short.
pub struct Few<T, const N: usize>(Held<T, N>);

#[derive(Clone)]
enum Held<T, const N: usize> {
    /// The items, and how many of them count.
    Here([T; N], usize),
    Heap(Arc<Vec<T>>),
}

impl<T: Copy + Default, const N: usize> Few<T, N> {
    /// An empty list.
    #[inline]
    pub fn new() -> Self {
        Self(Held::Here([T::default(); N], 0))
    }

    /// A list of at most one item.
    #[inline]
    pub fn at_most_one(item: Option<T>) -> Self {
        let count = usize::from(item.is_some() && N > 0);
        Self(Held::Here([item.unwrap_or_default(); N], count))
    }

    /// Appends an item.
    pub fn push(&mut self, item: T) {
        match &mut self.0 {
            Held::Here(items, count) if *count < N => {
                items[*count] = item;
                *count += 1;
            }
            Held::Here(items, _) => {
                let mut all = Vec::with_capacity(2 * N + 1);
                all.extend_from_slice(items);
                all.push(item);
                self.0 = Held::Heap(Arc::new(all));
            }
            Held::Heap(items) => Arc::make_mut(items).push(item),
        }
    }

    /// Inserts an item before the one that is at this place.
    pub fn insert(&mut self, place: usize, item: T) {
        self.push(item);
        self[place..].rotate_right(1);
    }

    /// Removes all items. A vector that no clone shares keeps its memory.
    pub fn clear(&mut self) {
        match &mut self.0 {
            Held::Here(_, count) => *count = 0,
            Held::Heap(items) => match Arc::get_mut(items) {
                Some(items) => items.clear(),
                None => *self = Self::new(),
            },
        }
    }

    /// Keeps the items that `wanted` selects, in order.
    pub fn retain(&mut self, mut wanted: impl FnMut(&T) -> bool) {
        match &mut self.0 {
            Held::Here(items, count) => {
                let mut kept = 0;
                for place in 0..*count {
                    if wanted(&items[place]) {
                        items[kept] = items[place];
                        kept += 1;
                    }
                }
                *count = kept;
            }
            Held::Heap(items) => Arc::make_mut(items).retain(wanted),
        }
    }
}

impl<T: Copy + Default, const N: usize> Default for Few<T, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, const N: usize> Deref for Few<T, N> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match &self.0 {
            Held::Here(items, count) => &items[..*count],
            Held::Heap(items) => items,
        }
    }
}

impl<T: Clone, const N: usize> DerefMut for Few<T, N> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.0 {
            Held::Here(items, count) => &mut items[..*count],
            Held::Heap(items) => Arc::<Vec<T>>::make_mut(items),
        }
    }
}

impl<T: Copy + Default, const N: usize> FromIterator<T> for Few<T, N> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut all = Self::new();
        let mut items = items.into_iter();
        while let Some(item) = items.next() {
            all.push(item);
            if let Held::Heap(held) = &mut all.0 {
                // The rest at once: a push to a vector that may be shared takes longer.
                Arc::make_mut(held).extend(items);
                break;
            }
        }
        all
    }
}

impl<T: Copy + Default, const N: usize> From<&[T]> for Few<T, N> {
    fn from(items: &[T]) -> Self {
        items.iter().copied().collect()
    }
}

impl<T: Copy, const N: usize> Clone for Few<T, N> {
    #[inline]
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }

    /// Copies no more than the items that count.
    #[inline]
    fn clone_from(&mut self, source: &Self) {
        match (&mut self.0, &source.0) {
            (Held::Here(items, count), Held::Here(from, many)) => {
                items[..*many].copy_from_slice(&from[..*many]);
                *count = *many;
            }
            (held, source) => *held = source.clone(),
        }
    }
}

impl<T: PartialEq, const N: usize> PartialEq for Few<T, N> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq, const N: usize> Eq for Few<T, N> {}

impl<T: Hash, const N: usize> Hash for Few<T, N> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<T: fmt::Debug, const N: usize> fmt::Debug for Few<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::Fnv1a;
    use alloc::format;
    use proptest::prelude::*;

    #[derive(Default)]
    struct Sum(Fnv1a);

    impl Hasher for Sum {
        fn write(&mut self, bytes: &[u8]) {
            self.0.add(bytes);
        }

        fn finish(&self) -> u64 {
            self.0.value()
        }
    }

    fn hash(of: &impl Hash) -> u64 {
        let mut sum = Sum::default();
        of.hash(&mut sum);
        sum.finish()
    }

    proptest! {
        /// Whatever is done to it, it holds what a vector would.
        #[test]
        fn it_is_a_vector(steps in prop::collection::vec(0_u32..100, 0..40)) {
            let (mut few, mut all) = (Few::<u32, 3>::new(), Vec::new());
            let mut other = few.clone();
            for step in steps {
                match step {
                    0..5 => {
                        few.clear();
                        all.clear();
                    }
                    5..20 => {
                        let place = step as usize % (all.len() + 1);
                        few.insert(place, step);
                        all.insert(place, step);
                    }
                    20..40 => {
                        few.retain(|item| item % 3 != step % 3);
                        all.retain(|item| item % 3 != step % 3);
                    }
                    _ => {
                        few.push(step);
                        all.push(step);
                    }
                }
                prop_assert_eq!(&*few, &*all);
                let one = all.first().copied();
                prop_assert_eq!(&*Few::<u32, 3>::at_most_one(one), one.as_slice());
                let again: Few<u32, 3> = all.as_slice().into();
                prop_assert_eq!(&again, &few);
                prop_assert_eq!([hash(&again), hash(&few)], [hash(&all); 2]);
                prop_assert_eq!(format!("{few:?}"), format!("{all:?}"));
                let (shared, before) = (few.clone(), all.clone());
                other.clone_from(&few);
                prop_assert_eq!((&other, &few), (&again, &again), "whatever it held before");
                few.iter_mut().for_each(|item| *item += 1);
                all.iter_mut().for_each(|item| *item += 1);
                prop_assert_eq!((&*few, &*shared), (&*all, &*before), "a clone stays as it was");
                if step % 2 == 0 {
                    (few, all) = (shared, before);
                }
            }
        }
    }
}
