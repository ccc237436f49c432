//! Small sets of processes.

use std::fmt;

/// A set of processes by number, below [`Nodes::MAX`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nodes(u64);

impl Nodes {
    /// The most processes of a checked group.
    pub const MAX: u32 = 64;
    /// The empty set.
    pub const NONE: Self = Self(0);

    /// The set of this process; empty if the number is too large.
    pub fn only(node: u32) -> Self {
        Self(1u64.checked_shl(node).unwrap_or(0))
    }

    /// The first `count` processes.
    pub fn first(count: u32) -> Self {
        (0..count).collect()
    }

    /// Whether it contains this process.
    #[inline]
    pub fn contains(self, node: u32) -> bool {
        self.meets(Self::only(node))
    }

    /// Whether it contains all of these.
    pub fn holds(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    /// Whether it contains any of these.
    pub fn meets(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    /// The intersection.
    pub fn and(self, others: Self) -> Self {
        Self(self.0 & others.0)
    }

    /// The union.
    pub fn or(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// The difference.
    pub fn without(self, others: Self) -> Self {
        Self(self.0 & !others.0)
    }

    /// Adds or removes a process.
    pub fn set(&mut self, node: u32, there: bool) {
        let one = Self::only(node);
        *self = if there { self.or(one) } else { self.without(one) };
    }

    /// Its size.
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether it is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Its least process.
    pub fn least(self) -> Option<u32> {
        (!self.is_empty()).then(|| self.0.trailing_zeros())
    }

    /// Its processes in increasing order.
    pub fn iter(self) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(self), |rest| Some(Self(rest.0 & rest.0.wrapping_sub(1))))
            .map_while(Self::least)
    }

    /// Its processes as a list.
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
