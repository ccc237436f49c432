//! Lists in order of id, in which each id is once.

use bellwether_core::NodeId;

/// Where the item of this id is, or would be.
#[inline]
pub(super) fn place_of<T>(
    items: &[T],
    id: NodeId,
    id_of: impl Fn(&T) -> NodeId,
) -> Result<usize, usize> {
    // Ids often are consecutive numbers. Then it is so far from the first, or one less, because a
    // process is not in all of its own lists; a search would take several times as long.
    let first = items.first().map_or(0, |first| id_of(first).0);
    let guess = id.0.saturating_sub(first) as usize;
    for place in [guess, guess.saturating_sub(1)] {
        if items.get(place).is_some_and(|item| id_of(item) == id) {
            return Ok(place);
        }
    }
    items.binary_search_by_key(&id, id_of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn an_id_is_where_a_search_finds_it() {
        let lists: [&[u64]; 7] =
            [&[], &[5], &[0, 1, 2, 3], &[3, 4, 6, 7], &[1, 9, 10], &[0, 2, 4, 6], &[7, u64::MAX]];
        for list in lists {
            let items: Vec<NodeId> = list.iter().copied().map(NodeId).collect();
            for id in (0..12).chain([u64::MAX - 1, u64::MAX]).map(NodeId) {
                assert_eq!(
                    place_of(&items, id, |item| *item),
                    items.binary_search(&id),
                    "{list:?}"
                );
            }
        }
    }
}
