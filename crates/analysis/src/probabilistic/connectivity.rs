//! How probable it is that a random graph is connected: m members, each two of them with an edge
//! with probability p, all independent of each other.
//!
//! * Printed, after Bollobás and Thomason: e^{−m(1−p)^{m−1}}, the probability that no member is
//!   alone, if those that are were independent of each other. It is right in the limit. "It rises
//!   with m", says the text; it does from some m on, and falls before.
//! * Corrected: exactly. Of two members, take one away: the component of the other has k members,
//!   is connected, has no edge to the m−1−k who remain but at least one to the first; and what is
//!   left with the first is connected, too. So P_1 = 1 and
//!   P_m = Σ_{k=1..m−1} C(m−2, k−1) P_k P_{m−k} (1−(1−p)^k) (1−p)^{k(m−1−k)}.
//!
//! All terms are positive. Gilbert's P_m = 1 − Σ C(m−1, k−1) P_k (1−p)^{k(m−k)} is the same in
//! theory; in floating point it is noise for 100 members and p = .01, where it subtracts what is
//! multiplied by 10²⁵.

use super::{CHANCE, one_round};
use crate::inputs::{Loss, OutOfDomain, ValidInputs};
use crate::point::Point;
use crate::quantity::Quantity;
use bellwether_protocols::probabilistic::Choice;
use bellwether_sim::Measure;
use libm::{exp, expm1, log, log1p, pow, sqrt};

/// The largest graph that is summed. Larger ones are taken as in the limit; what that changes is
/// below p for any p, and nothing that a float can tell where m(1−p)^{m/2} is small.
pub const EXACT_MAX: u64 = 1024;

/// Where m(1−p)^{m/2} is below this, the graph is connected as far as a float can tell: a union
/// bound over all ways to cut it in two.
const CERTAIN: f64 = 1e-17;

/// Random graphs with one probability of edges.
pub(super) struct Connectivity {
    edge: f64,
    /// ln P_m, from m = 1 on.
    logs: Vec<f64>,
    /// ln m!, from m = 0 on.
    factorials: Vec<f64>,
}

impl Connectivity {
    /// Graphs of up to so many members.
    pub(super) fn up_to(most: u64, edge: f64) -> Self {
        let mut graphs = Self { edge, logs: Vec::new(), factorials: vec![0.0] };
        // ln(1 − (1−p)^k), for k from 0 on.
        let mut touched = vec![f64::NEG_INFINITY];
        for m in 1..=most.min(EXACT_MAX) {
            let size = m as f64;
            if is_certain(size, edge) {
                break;
            }
            graphs.factorials.push(graphs.factorials[m as usize - 1] + log(size));
            touched.push(log(-expm1(size * log1p(-edge))));
            graphs.add(&touched);
        }
        graphs
    }

    /// One member more.
    fn add(&mut self, touched: &[f64]) {
        let m = self.logs.len() + 1;
        if m == 1 {
            self.logs.push(0.0);
            return;
        }
        let absent = log1p(-self.edge);
        let sum: f64 = (1..m)
            .map(|k| {
                let ways = self.ways(m - 2, k - 1);
                let parts = self.logs[k - 1] + self.logs[m - k - 1] + touched[k];
                exp(ways + parts + (k * (m - 1 - k)) as f64 * absent - self.logs[m - 2])
            })
            .sum();
        // In units of the graph before, so that nothing underflows.
        let log = if self.edge > 0.0 { log(sum) + self.logs[m - 2] } else { f64::NEG_INFINITY };
        self.logs.push(log.min(0.0));
    }

    /// ln C(n, k).
    fn ways(&self, n: usize, k: usize) -> f64 {
        self.factorials[n] - self.factorials[k] - self.factorials[n - k]
    }

    /// How many components a graph of so many has on average: of each set of members it is known
    /// how probable it is that they are one, Σ_k C(m, k) P_k (1−p)^{k(m−k)}. Beyond what is summed,
    /// one and those who are alone.
    pub(super) fn components(&self, members: u64) -> f64 {
        let (absent, count) = (log1p(-self.edge), members as f64);
        if members > self.logs.len() as u64 {
            return (1.0 + count * pow(1.0 - self.edge, count - 1.0)).min(count);
        }
        let m = members as usize;
        let part = |k: usize| {
            let apart = if k == m { 0.0 } else { (k * (m - k)) as f64 * absent };
            exp(self.ways(m, k) + self.logs[k - 1] + apart)
        };
        (1..=m).map(part).sum()
    }

    /// How probable it is that a graph of so many is connected; one of nobody is not.
    pub(super) fn of(&self, members: u64) -> f64 {
        let Some(place) = members.checked_sub(1) else { return 0.0 };
        match self.logs.get(place as usize) {
            Some(log) => exp(*log),
            None => limit(members as f64, self.edge),
        }
    }

    /// The least of these, both included.
    pub(super) fn least(&self, low: u64, high: u64) -> f64 {
        let known = (self.logs.len() as u64).min(high);
        let small = (low..=known).map(|m| self.of(m)).fold(1.0, f64::min);
        // m(1−p)^{m−1} rises up to m = 1/ln(1/(1−p)), and falls from there.
        let turn = (-1.0 / log1p(-self.edge)).clamp(0.0, 1e18) as u64;
        let first = low.max(known + 1);
        let large = [first, high, turn].into_iter().filter(|m| (first..=high).contains(m));
        large.map(|m| self.of(m)).fold(small, f64::min)
    }
}

fn is_certain(m: f64, edge: f64) -> bool {
    m > 1.0 && m * pow(1.0 - edge, m / 2.0) < CERTAIN
}

/// Whether a graph of so many is computed exactly.
pub(super) fn is_exact(members: f64, edge: f64) -> bool {
    members <= EXACT_MAX as f64 || is_certain(members, edge)
}

/// e^{−m(1−p)^{m−1}}; 1 for nobody.
pub(super) fn limit(m: f64, edge: f64) -> f64 {
    if m == 0.0 { 1.0 } else { exp(-m * pow(1.0 - edge, m - 1.0)) }
}

/// As printed, for K members and the edges' probability view_prob.
pub fn printed(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    Ok(limit(f64::from(inputs.k), inputs.view))
}

/// Exactly, for K members and the edges' probability view_prob.
pub fn corrected(inputs: &ValidInputs) -> Result<f64, OutOfDomain> {
    let members = u64::from(inputs.k);
    Ok(Connectivity::up_to(members, inputs.view).of(members))
}

/// The quantities of this file.
pub(super) const QUANTITIES: &[&Quantity] = &[&Quantity {
    name: "probabilistic.random-graph",
    section: "Gupta 4: E2",
    about: "that a random graph of k members is connected, view the probability of an edge",
    reads: &["k", "view"],
    printed,
    corrected,
    note: |_| "printed: nobody is alone, if those were independent; corrected: a recurrence",
    exact: |inputs| is_exact(f64::from(inputs.k), inputs.view),
    simulation: |inputs| {
        // All are relays, each prefers itself, and two of them see each other by one coin each: a
        // round succeeds if they are one component.
        let point = one_round(inputs.k, inputs.k).loss(Loss::None);
        let point = point.with("choice", Choice::Rank.name());
        let view = 1.0 - sqrt(1.0 - inputs.view);
        let point = Point { view, fail: 0.0, ..point };
        (inputs.k <= 200).then_some((point, Measure::StrongSuccess))
    },
    ..CHANCE
}];

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_near, chosen};
    use super::*;

    /// All graphs.
    fn counted(m: usize, edge: f64) -> f64 {
        let pairs: Vec<(usize, usize)> = (0..m).flat_map(|a| (0..a).map(move |b| (a, b))).collect();
        let mut sum = 0.0;
        for graph in 0u32..1 << pairs.len() {
            let edges = || pairs.iter().enumerate().filter(|(place, _)| graph >> place & 1 == 1);
            let mut reached = 1u32;
            for _ in 0..m {
                for (_, &(a, b)) in edges() {
                    if reached & (1 << a | 1 << b) != 0 {
                        reached |= 1 << a | 1 << b;
                    }
                }
            }
            if reached.count_ones() as usize == m {
                let present = graph.count_ones() as i32;
                sum += edge.powi(present) * (1.0 - edge).powi(pairs.len() as i32 - present);
            }
        }
        sum
    }

    #[test]
    fn it_is_what_counting_all_graphs_gives() {
        for edge in [0.0, 0.01, 0.3, 0.5, 0.75, 0.99, 1.0] {
            let graphs = Connectivity::up_to(6, edge);
            assert_eq!(graphs.of(0), 0.0);
            for m in 1..=6 {
                assert_near(graphs.of(m), counted(m as usize, edge), 1e-12);
            }
        }
    }

    /// Gilbert's sum, where nothing cancels.
    #[test]
    fn it_is_gilberts() {
        for edge in [0.2, 0.5, 0.9] {
            let graphs = Connectivity::up_to(40, edge);
            for m in 1..=40u64 {
                let apart: f64 = (1..m)
                    .map(|k| {
                        let cut = (1.0f64 - edge).powi((k * (m - k)) as i32);
                        chosen(m - 1, k - 1) * graphs.of(k) * cut
                    })
                    .sum();
                assert_near(graphs.of(m), 1.0 - apart, 1e-11);
            }
        }
    }

    /// Cayley's trees: with hardly any edges only those are connected.
    #[test]
    fn with_few_edges_connected_graphs_are_trees() {
        let edge = 1e-9;
        let graphs = Connectivity::up_to(60, edge);
        for m in [2u64, 3, 10, 60] {
            let log = (m - 2) as f64 * log(m as f64) + (m - 1) as f64 * log(edge);
            assert!((graphs.logs[m as usize - 1] - log).abs() < 1e-5, "{m}");
        }
    }

    #[test]
    fn sums_and_the_limit_meet() {
        for (edge, near) in
            [(0.002, 0.05), (0.005, 0.02), (0.0068, 0.02), (0.01, 1e-3), (0.1, 1e-9)]
        {
            let graphs = Connectivity::up_to(u64::MAX, edge);
            let (last, next) = (graphs.of(EXACT_MAX), graphs.of(EXACT_MAX + 1));
            assert!((last - next).abs() < near, "{edge}: {last} {next}");
        }
        assert_eq!(Connectivity::up_to(1 << 40, 0.75).of(1 << 40), 1.0);
    }

    #[test]
    fn the_least_of_many_is_found() {
        for edge in [0.0, 0.001, 0.05, 0.36, 0.9, 1.0] {
            let graphs = Connectivity::up_to(3000, edge);
            for (low, high) in [(0, 0), (1, 1), (1, 9), (4, 30), (900, 2000), (1500, 3000)] {
                let all = (low..=high).map(|m| graphs.of(m)).fold(1.0, f64::min);
                let got = graphs.least(low, high);
                assert!((got - all).abs() < 1e-9, "{edge} {low} {high}: {got} {all}");
            }
        }
    }
}
