//! The order of the processes on a ring.

use crate::coin::{RunSeed, StreamPurpose};
use bellwether_core::Entropy;
use serde::{Deserialize, Serialize};

/// The order of the processes, for protocols that pass messages around a ring.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// By ascending id.
    #[default]
    Ascending,
    /// By descending id.
    Descending,
    /// Drawn at random for each run.
    Random,
    /// As listed: every process exactly once.
    Listed(Vec<u32>),
}

impl Order {
    /// Fills `places` with the process at each place.
    pub(crate) fn arrange(&self, nodes: u32, run_seed: RunSeed, places: &mut Vec<u32>) {
        places.clear();
        match self {
            Self::Ascending => places.extend(0..nodes),
            Self::Descending => places.extend((0..nodes).rev()),
            Self::Listed(order) => places.extend(order),
            Self::Random => {
                places.extend(0..nodes);
                let mut luck = run_seed.world(StreamPurpose::RingOrder);
                for place in (1..places.len()).rev() {
                    places.swap(place, luck.below(place as u64 + 1) as usize);
                }
            }
        }
    }

    /// Whether it lists each of `nodes` processes exactly once.
    pub(crate) fn is_of(&self, nodes: u32) -> bool {
        let Self::Listed(order) = self else { return true };
        let mut there = vec![false; nodes as usize];
        let once = |node: &u32| {
            there.get_mut(*node as usize).is_some_and(|there| !std::mem::replace(there, true))
        };
        order.len() == nodes as usize && order.iter().all(once)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arranged(order: &Order, run: u64) -> Vec<u32> {
        let mut places = vec![7; 3];
        order.arrange(5, RunSeed::new(1, run), &mut places);
        places
    }

    #[test]
    fn every_order_has_everyone_once() {
        assert_eq!(arranged(&Order::Descending, 0), [4, 3, 2, 1, 0]);
        let listed = Order::Listed(vec![2, 0, 1, 4, 3]);
        assert_eq!(arranged(&listed, 0), [2, 0, 1, 4, 3]);
        let (first, second) = (arranged(&Order::Random, 0), arranged(&Order::Random, 1));
        assert_ne!(first, second);
        assert_eq!(first, arranged(&Order::Random, 0));
        for order in [first, second] {
            assert!(Order::Listed(order).is_of(5));
        }
    }

    #[test]
    fn a_list_that_is_no_order_is_recognised() {
        for bad in [vec![0, 1], vec![0, 1, 1], vec![0, 1, 3], vec![0, 1, 2, 2]] {
            assert!(!Order::Listed(bad).is_of(3));
        }
        assert!(Order::Listed(vec![2, 1, 0]).is_of(3) && Order::Random.is_of(3));
    }
}
