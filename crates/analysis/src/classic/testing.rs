//! What the tests of the counts share: inputs, and all orders of a ring.

pub(super) use crate::inputs::usual as inputs;

/// Shows every order of 0 to n−1, and says how many there were.
pub(super) fn orders(n: usize, mut see: impl FnMut(&[usize])) -> u128 {
    fn permute(order: &mut [usize], from: usize, see: &mut impl FnMut(&[usize])) -> u128 {
        if from == order.len() {
            see(order);
            return 1;
        }
        let mut seen = 0;
        for place in from..order.len() {
            order.swap(from, place);
            seen += permute(order, from + 1, see);
            order.swap(from, place);
        }
        seen
    }
    permute(&mut (0..n).collect::<Vec<_>>(), 0, &mut see)
}

/// n!·n·H_n: a whole number.
pub(super) fn total_of_survivors(n: usize) -> u128 {
    let factorial: u128 = (1..=n as u128).product();
    (1..=n as u128).map(|k| n as u128 * factorial / k).sum()
}
