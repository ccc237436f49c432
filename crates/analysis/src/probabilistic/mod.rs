//! Probabilistic election of large groups: how often a round succeeds, and what it costs.
//!
//! **Source.** Indranil Gupta, Robbert van Renesse and Kenneth Birman, "A probabilistically correct
//! leader election protocol for large groups", technical report, Cornell University, April 2000,
//! section 4, each formula as printed and as corrected in our reading.
//!
//! **Assumptions**, those of the section: losses are independent of each other, time-outs are long
//! enough, the hash is fair, everyone knows N, and a process that fails in a round does so before
//! its final message. The latter is where a simulation differs, in which processes fail at any
//! moment of the round; so what depends on p_fail is called exact only where nobody fails. Two
//! things are ours: the initiator is a member, which need not hear itself, and K above N means
//! everyone.
//!
//! **Promise.** Exact forms are exact to a relative error of 10⁻⁹ for N and K up to 10⁸; random
//! graphs are exact up to [`EXACT_MAX`](connectivity::EXACT_MAX) members. No probability is above
//! 1, and none is a NaN, for probabilities of 0 and 1 too. Lower bounds say that they are bounds. A
//! formula has a value for all [`ValidInputs`], unless it says otherwise.
//!
//! | paper | code | unit | meaning |
//! |---|---|---|---|
//! | N | [`nodes`](crate::Inputs::nodes) | members | all of the group |
//! | K | [`k`](crate::Inputs::k) | members | relays that a round is to have, on average |
//! | view_prob | [`view`](crate::Inputs::view) | | the probability that a process knows another |
//! | p_fail | [`fail`](crate::Inputs::fail) | | how often a member fails within a round |
//! | p_ucastl | [`unicast_loss`](crate::Inputs::unicast_loss) | | how often a unicast is lost |
//! | p_mcastl | [`multicast_loss`](crate::Inputs::multicast_loss) | | how often a receiver misses a multicast |
//! | K_1 = (1−p_mcastl)K | [`relays`] | members | relays that begin |
//! | K_2 = (1−p_fail)K_1 | [`relays`] | members | relays that send their final message |
//! | E1 | [`e1`] | | both are within half of that |
//! | E2 | [`e2`] | | the relays that last are one component |
//! | E3 | [`e3`] | | they choose the same leader |
//! | E4 | [`e4`] | | everyone fails or hears it |
//! | E5 | [`e5`] | | the leader lives |
//! | p^Success | [`success`], [`full_views`] | | all of these |
//! | p^Detection | [`detection`] | | Theorem 2: that a failure is seen |
//! | m³/2, 1 + m | [`messages`] | messages | Theorems 3 and 4: what a round costs |
//! | 10^107 | [`largest_group`] | powers of ten | the largest N for which success hardly depends on N |

pub mod connectivity;
pub mod detection;
pub mod e1;
pub mod e2;
pub mod e3;
pub mod e4;
pub mod e5;
pub mod full_views;
pub mod largest_group;
pub mod messages;
pub mod relays;
mod round;
mod spread;
pub mod success;
#[cfg(test)]
mod testing;

use crate::inputs::{Loss, OutOfDomain, ValidInputs};
use crate::point::Point;
use crate::quantity::{Quantity, Unit};
use bellwether_protocols::probabilistic::Config;

/// The paper's strategy in a group of so many: views of a half, losses and failures of .001.
pub fn point(nodes: u32) -> Point {
    let point = Point::new("probabilistic", nodes).loss(Loss::apart(0.001));
    Point { fail: 0.001, ..point }
}

/// A single round of it with K relays on average.
pub fn one_round(nodes: u32, k: u32) -> Point {
    point(nodes).with("k", k).with("max-rounds", 1)
}

/// All quantities, one list per file.
pub const QUANTITIES: &[&[&Quantity]] = &[
    relays::QUANTITIES,
    e1::QUANTITIES,
    e2::QUANTITIES,
    connectivity::QUANTITIES,
    e3::QUANTITIES,
    e4::QUANTITIES,
    e5::QUANTITIES,
    success::QUANTITIES,
    full_views::QUANTITIES,
    detection::QUANTITIES,
    largest_group::QUANTITIES,
    messages::QUANTITIES,
];

/// A probability; to be completed.
const CHANCE: Quantity = Quantity {
    name: "",
    section: "",
    about: "",
    unit: Unit::Fraction,
    reads: &["nodes", "k"],
    printed: |_| Err(OutOfDomain::NoValue("the text has no formula")),
    corrected: |_| Err(OutOfDomain::NoValue("there is no formula")),
    note: |_| "",
    exact: nobody_fails,
    is_percentile: false,
    simulation: |_| None,
};

/// One round in these circumstances; a quantity changes in it what it does not read.
fn round_of(inputs: &ValidInputs) -> Point {
    let most = Config::default().most_relays.max(inputs.k);
    Point {
        view: inputs.view,
        fail: inputs.fail,
        unicast_loss: Loss::apart(inputs.unicast_loss),
        multicast_loss: Loss::apart(inputs.multicast_loss),
        ..one_round(inputs.nodes, inputs.k).with("most-relays", most)
    }
}

/// Whether it does not matter when within a round processes fail.
fn nobody_fails(inputs: &ValidInputs) -> bool {
    inputs.fail == 0.0
}
