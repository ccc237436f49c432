//! Small sets of processes.

use std::fmt;

/// A set of processes by number, below [`Nodes::MAX`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nodes(u64);

impl Nodes {
    /// The most processes that are judged together.
    pub const MAX: u32 = 64;
    /// Nobody.
    pub const NONE: Self = Self(0);

    /// This one alone; nobody if there can be no such process.
    pub fn only(node: u32) -> Self {
        Self(1u64.checked_shl(node).unwrap_or(0))
    }

    /// The first so many.
    pub fn first(count: u32) -> Self {
        (0..count).collect()
    }

    /// Whether it holds this one.
    #[inline]
    pub fn contains(self, node: u32) -> bool {
        self.meets(Self::only(node))
    }

    /// Whether it holds all of these.
    pub fn holds(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    /// Whether it has any of these.
    pub fn meets(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    /// Those in both.
    pub fn and(self, others: Self) -> Self {
        Self(self.0 & others.0)
    }

    /// Those in either.
    pub fn or(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Those that are not in the other.
    pub fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    /// Adds one, or takes it out.
    pub fn set(&mut self, node: u32, there: bool) {
        let one = Self::only(node);
        *self = if there { self.or(one) } else { self.without(one) };
    }

    /// How many.
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether it holds nobody.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The least.
    pub fn least(self) -> Option<u32> {
        (!self.is_empty()).then(|| self.0.trailing_zeros())
    }

    /// All of them, from the least.
    pub fn iter(self) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(self), |rest| Some(Self(rest.0 & rest.0.wrapping_sub(1))))
            .map_while(Self::least)
    }

    /// All of them, in a list.
    pub fn to_vec(self) -> Vec<u32> {
        self.iter().collect()
    }
}

impl FromIterator<u32> for Nodes {
    fn from_iter<I: IntoIterator<Item = u32>>(nodes: I) -> Self {
        nodes.into_iter().fold(Self::NONE, |set, node| set.or(Self::only(node)))
    }
}

/// `{0, 2, 3}`.
impl fmt::Display for Nodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.iter().map(|node| node.to_string()).collect();
        write!(f, "{{{}}}", names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_was_put_into_it_up_to_the_last_number() {
        let set: Nodes = [0, 5, 63].into_iter().collect();
        assert_eq!(set.to_vec(), [0, 5, 63]);
        assert_eq!((set.len(), set.least(), set.to_string()), (3, Some(0), "{0, 5, 63}".into()));
        assert!(set.contains(63) && !set.contains(1));
        assert!(Nodes::only(64).is_empty(), "no such process");
        assert_eq!(Nodes::NONE.least(), None);
        assert_eq!(Nodes::first(64).len(), 64);
    }
}
