//! A short list without memory of its own on the heap, as long as it is short.
//!
//! **Promise.** Up to `N` items need no allocation: not to build the list, to clone it or to read
//! it from a message. A longer list is a vector. Two lists with the same items are equal and have
//! the same hash, however they are held.

use alloc::vec::Vec;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::ops::{Deref, DerefMut};

/// A list that is usually short.
#[derive(Clone)]
pub struct Few<T, const N: usize>(Held<T, N>);

#[derive(Clone)]
enum Held<T, const N: usize> {
    /// The items, and how many of them count.
    Here([T; N], usize),
    Heap(Vec<T>),
}

impl<T: Copy + Default, const N: usize> Few<T, N> {
    /// An empty list.
    pub fn new() -> Self {
        Self(Held::Here([T::default(); N], 0))
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
                self.0 = Held::Heap(all);
            }
            Held::Heap(items) => items.push(item),
        }
    }

    /// Removes all items. A vector keeps its memory.
    pub fn clear(&mut self) {
        match &mut self.0 {
            Held::Here(_, count) => *count = 0,
            Held::Heap(items) => items.clear(),
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
            Held::Heap(items) => items.retain(wanted),
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

impl<T, const N: usize> DerefMut for Few<T, N> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.0 {
            Held::Here(items, count) => &mut items[..*count],
            Held::Heap(items) => items,
        }
    }
}

impl<T: Copy + Default, const N: usize> FromIterator<T> for Few<T, N> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut all = Self::new();
        items.into_iter().for_each(|item| all.push(item));
        all
    }
}

impl<T: Copy + Default, const N: usize> From<&[T]> for Few<T, N> {
    fn from(items: &[T]) -> Self {
        items.iter().copied().collect()
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
            for step in steps {
                match step {
                    0..5 => {
                        few.clear();
                        all.clear();
                    }
                    5..30 => {
                        few.retain(|item| item % 3 != step % 3);
                        all.retain(|item| item % 3 != step % 3);
                    }
                    _ => {
                        few.push(step);
                        all.push(step);
                    }
                }
                prop_assert_eq!(&*few, &*all);
                let again: Few<u32, 3> = all.as_slice().into();
                prop_assert_eq!(&again, &few);
                prop_assert_eq!([hash(&again), hash(&few)], [hash(&all); 2]);
                prop_assert_eq!(format!("{few:?}"), format!("{all:?}"));
                few.iter_mut().for_each(|item| *item += 1);
                all.iter_mut().for_each(|item| *item += 1);
            }
        }
    }
}
