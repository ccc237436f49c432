//! One round in numbers: who passes, who hears, who lasts.

use super::spread::Spread;
use crate::inputs::ValidInputs;
use libm::{ceil, floor};

/// What decides who is a relay.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    others: u64,
    k: f64,
    /// How probable it is that the hash lets a member through.
    pub(super) pass: f64,
    /// How probable it is that a member hears a multicast.
    pub(super) hears: f64,
    /// How probable it is that a member does not fail.
    pub(super) lasts: f64,
}

impl Round {
    /// The round that is asked about.
    pub(super) fn of(inputs: &ValidInputs) -> Self {
        let k = f64::from(inputs.k);
        Self {
            others: u64::from(inputs.nodes - 1),
            k,
            pass: (k / f64::from(inputs.nodes)).min(1.0),
            hears: 1.0 - inputs.multicast_loss,
            lasts: 1.0 - inputs.fail,
        }
    }

    /// K_1, as printed.
    pub(super) fn k1(&self) -> f64 {
        self.hears * self.k
    }

    /// K_2, as printed.
    pub(super) fn k2(&self) -> f64 {
        self.lasts * self.hears * self.k
    }

    /// How many members hear of the round, on average: the initiator, and others.
    pub(super) fn informed(&self) -> f64 {
        1.0 + self.others as f64 * self.hears
    }

    /// How many others there are.
    pub(super) fn others(&self) -> u64 {
        self.others
    }

    /// How many relays begin.
    pub(super) fn begin(&self) -> Spread {
        Spread::binomial(self.others, self.pass * self.hears).and(self.pass)
    }

    /// How many relays send their final message.
    pub(super) fn last(&self) -> Spread {
        let chance = self.pass * self.lasts;
        Spread::binomial(self.others, chance * self.hears).and(chance)
    }
}

/// The whole numbers from half of this to half as much again: what E1 allows.
pub(super) fn window(mean: f64) -> [u64; 2] {
    [ceil(mean / 2.0) as u64, floor(mean * 1.5) as u64]
}
