//! E2: the relays that last are one component of the relay graph.
//!
//! * Printed: e^{−m(1−v)^{m−1}} for m = K_2/2 relays, v = view_prob being the probability of an
//!   edge.
//! * Corrected: there is an edge if one sees the other *or* the other sees the one, so its
//!   probability is 1−(1−v)²; and graphs of few relays are counted exactly
//!   ([`connectivity`](super::connectivity)). E1 allows for K_2/2 to 3K_2/2 relays. The text takes
//!   the fewest, since the probability rises with m, but it falls for very few: one relay is
//!   connected, two need an edge. So the least of all these is taken, which mostly is the first.
//!
//! [`connected`] is not conditional: that somebody lasts and all who do are one component, averaged
//! over how many they are. [`components`] is how many components there are, on average; of no relay
//! there is none.

use super::connectivity::{Connectivity, is_exact, limit};
use super::round::{Round, window};
use super::{CHANCE, nobody_fails, round_of};
use crate::inputs::{Loss, OutOfDomain, ValidInputs};
use crate::point::Point;
use crate::quantity::{Quantity, Unit};
use bellwether_protocols::probabilistic::Choice;
use bellwether_sim::Measure;

/// As printed.
pub fn printed(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    Ok(limit(Round::of(inputs).k2() / 2.0, inputs.view))
}

/// The least probability for as many relays as E1 allows.
pub fn corrected(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let [few, many] = window(Round::of(inputs).k2());
    let many = many.max(few).min(u64::from(inputs.nodes).max(few));
    Ok(Connectivity::up_to(many, edge(inputs)).least(few, many))
}

/// What the text has for one component: E1 and E2.
pub fn connected_printed(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    Ok(super::e1::printed(inputs)? * printed(inputs)?)
}

/// That there is one component, whatever the number of relays.
pub fn connected(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let relays = Round::of(inputs).last();
    let graphs = Connectivity::up_to(relays.most(), edge(inputs));
    Ok(relays.mean_of(|relays| graphs.of(relays)).min(1.0))
}

/// How many components there are, on average.
pub fn components(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let relays = Round::of(inputs).last();
    let graphs = Connectivity::up_to(relays.most(), edge(inputs));
    Ok(relays.mean_of(|relays| graphs.components(relays)))
}

/// Where each relay knows of nobody better than itself, nothing is lost and nobody fails, a round
/// succeeds if and only if there is one component: each of them chooses its own best. If processes
/// fail, it also takes that the leader lives, and there is nothing to compare.
fn one_component(inputs: &ValidInputs) -> Option<(Point, Measure)> {
    let point = round_of(inputs).with("choice", Choice::Rank.name());
    let point = Point { unicast_loss: Loss::None, ..point };
    let comparable = inputs.multicast_loss == 0.0 && nobody_fails(inputs);
    comparable.then_some((point, Measure::StrongSuccess))
}

/// Where no more relays are at all probable than graphs are summed for, all of them are.
fn is_exactly_summed(inputs: &ValidInputs) -> bool {
    let relays = Round::of(inputs).last().most();
    nobody_fails(inputs) && is_exact(relays as f64, edge(inputs))
}

/// How probable it is that at least one of two members sees the other.
fn edge(inputs: &ValidInputs) -> f64 {
    inputs.view * (2.0 - inputs.view)
}

/// The quantities of this file.
pub(super) const QUANTITIES: &[&Quantity] = &[
    &Quantity {
        name: "probabilistic.e2",
        section: "Gupta 4: E2",
        about: "that the relays that last are one component, a lower bound given E1",
        reads: &["nodes", "k", "view", "fail", "mcast-loss"],
        printed,
        corrected,
        note: |_| {
            "printed: a limit, with edges of probability v; corrected: exact graphs with edges of \
             1-(1-v)², since one that sees the other will do"
        },
        exact: |_| false,
        ..CHANCE
    },
    &Quantity {
        name: "probabilistic.connected",
        section: "Gupta 4: E1, E2",
        about: "that the relays that last are one component, however many they are",
        reads: &["nodes", "k", "view", "fail", "mcast-loss"],
        printed: connected_printed,
        corrected: connected,
        note: |_| "printed: the bounds of E1 and E2; corrected: averaged over the number of relays",
        exact: is_exactly_summed,
        simulation: one_component,
        ..CHANCE
    },
    &Quantity {
        name: "probabilistic.components",
        section: "Gupta 3.1: the relay graph",
        about: "in how many components the relays that last fall, on average",
        unit: Unit::Components,
        reads: &["nodes", "k", "view", "fail", "mcast-loss"],
        corrected: components,
        note: |_| "none if there is no relay; each chooses a leader",
        exact: is_exactly_summed,
        simulation: |inputs| Some((round_of(inputs), Measure::Components)),
        ..CHANCE
    },
];

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_near, calm, figure_4, inputs};
    use super::*;

    /// Who passes and who sees whom, of four: everything that can happen.
    #[test]
    fn it_is_what_going_through_all_views_gives() {
        let (nodes, view) = (4usize, 0.3f64);
        for k in [1, 2, 3, 4] {
            let pass = f64::from(k) / 4.0;
            let (mut sum, mut parts) = (0.0, 0.0);
            for seen in 0u32..1 << 16 {
                let sees = |a: usize, b: usize| seen >> (a * nodes + b) & 1 == 1;
                if (0..nodes).any(|a| sees(a, a)) {
                    continue; // nobody looks at itself
                }
                let count = seen.count_ones() as i32;
                let likely = view.powi(count) * (1.0 - view).powi(12 - count);
                for relays in 1u32..1 << nodes {
                    let is_relay = |a: &usize| relays >> a & 1 == 1;
                    let m = relays.count_ones() as i32;
                    let likely = likely * pass.powi(m) * (1.0 - pass).powi(4 - m);
                    let (mut reached, mut count) = (0, 0);
                    while reached != relays {
                        reached |= 1u32 << (relays & !reached).trailing_zeros();
                        count += 1;
                        for _ in 0..nodes {
                            for a in (0..nodes).filter(is_relay) {
                                for b in (0..nodes).filter(is_relay) {
                                    if reached >> a & 1 == 1 && (sees(a, b) || sees(b, a)) {
                                        reached |= 1 << b;
                                    }
                                }
                            }
                        }
                    }
                    sum += if count == 1 { likely } else { 0.0 };
                    parts += likely * f64::from(count);
                }
            }
            assert_near(components(&calm(4, k, view)).unwrap(), parts, 1e-11);
            assert_near(connected(&calm(4, k, view)).unwrap(), sum, 1e-11);
        }
    }

    #[test]
    fn it_is_within_what_it_may_be_and_grows_with_views() {
        for k in [1, 2, 7, 40, 500] {
            let mut before = [0.0; 2];
            for view in [0.0, 0.1, 0.3, 0.5, 0.9, 1.0] {
                let at = inputs(5000, |given| (given.k, given.view) = (k, view));
                let now = [corrected(&at).unwrap(), connected(&at).unwrap()];
                for (now, before) in now.iter().zip(before) {
                    assert!((before..=1.0).contains(now), "{k} {view}: {now} after {before}");
                }
                before = now;
            }
        }
    }

    #[test]
    fn it_is_measured_only_where_success_is_one_component() {
        let measured = |fail: f64, loss: f64| {
            one_component(&inputs(100, |given| {
                (given.fail, given.multicast_loss) = (fail, loss);
            }))
            .is_some()
        };
        assert!(measured(0.0, 0.0));
        assert!(!measured(0.01, 0.0) && !measured(0.0, 0.01) && !measured(0.01, 0.01));
    }

    /// The relay graph has more edges than the text counts on: its bound is too low by far.
    #[test]
    fn the_relay_graph_is_better_connected_than_printed() {
        let at = figure_4(20);
        assert!(printed(&at).unwrap() < 0.91 && corrected(&at).unwrap() > 0.998);
        // One relay is connected, and two need an edge: the text's "rises with m" fails here.
        let at = calm(1000, 2, 0.3);
        assert_near(corrected(&at).unwrap(), 0.515_151, 0.03);
        let graphs = Connectivity::up_to(3, 0.51);
        assert!(graphs.of(1) > graphs.of(2) && graphs.of(2) < graphs.of(3));
    }
}
