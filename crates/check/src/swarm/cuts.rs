//! Faults of links: temporary cuts between processes.

use super::Draft;
use crate::fault_kind::FaultKind;
use crate::nodes::Nodes;
use bellwether_core::Duration;
use bellwether_sim::Fault;

impl Draft<'_> {
    /// Draws cuts, one after the other: a new one replaces the one before.
    pub(super) fn draw_cuts(&mut self) {
        let mut cuts = Vec::new();
        for kind in [FaultKind::Partition, FaultKind::OneWay, FaultKind::NonTransitive] {
            cuts.extend(self.moments(kind).into_iter().map(|at| (at, kind)));
        }
        cuts.sort_by_key(|(at, _)| *at);
        for (index, (at, kind)) in cuts.iter().enumerate() {
            let lasts = self.rng.stretch(self.time_scales.lease, self.mix.cut);
            self.push(*at, Fault::Heal);
            self.cut(*at, *kind);
            let next = cuts.get(index + 1).map_or(self.chaos, |(next, _)| *next);
            if *at + lasts < next {
                self.push(*at + lasts, Fault::Heal);
            }
        }
    }

    fn cut(&mut self, at: Duration, kind: FaultKind) {
        let (one, other) = self.halves();
        match kind {
            FaultKind::NonTransitive => {
                for a in 0..self.nodes {
                    let deaf: Nodes = (0..a).filter(|_| self.rng.chance(0.35)).collect();
                    self.sever(at, Nodes::only(a), deaf);
                    self.sever(at, deaf, Nodes::only(a));
                }
            }
            FaultKind::OneWay => self.sever(at, one, other),
            _ => {
                self.sever(at, one, other);
                self.sever(at, other, one);
            }
        }
    }

    /// Draws two sets, both non-empty if there are two processes.
    pub(super) fn halves(&mut self) -> (Nodes, Nodes) {
        let all = Nodes::first(self.nodes);
        let mut one: Nodes = all.iter().filter(|_| self.rng.chance(0.5)).collect();
        if one.is_empty() || one == all {
            one = Nodes::only(self.rng.node(self.nodes));
        }
        (one, all.without(one))
    }

    pub(super) fn sever(&mut self, at: Duration, from: Nodes, to: Nodes) {
        if !from.is_empty() && !to.is_empty() {
            self.push(at, Fault::Cut { from: from.to_vec(), to: to.to_vec() });
        }
    }
}
