//! The view of each process: everyone, a ring, a random part of the group, or its neighbours.
//!
//! A view is what `cx.peers()` gives a protocol. A ring and a partial view do not limit who can be
//! reached: a protocol must be able to skip a dead neighbour, and to answer any process it meets. A
//! graph does: processes without a link cannot reach each other.

use super::sight::Sight;
use crate::coin::RunSeed;
use crate::network::Topology;
use crate::observer::id;
use crate::order::Order;
use crate::plan::Plan;
use bellwether_core::{NodeId, Peers};

/// The views of all processes of a run. Memory is reused from run to run.
#[derive(Clone, Debug, Default)]
pub(super) struct Views {
    kind: Kind,
    count: u32,
    /// On a ring: the process at each place, and the place of each process.
    order: Vec<u32>,
    place: Vec<u32>,
    /// In a graph: the neighbours of each process, in order of id.
    links: Vec<Vec<u32>>,
    /// For partial views.
    sight: Sight,
    /// Who votes at first; all if it is empty.
    founders: Vec<NodeId>,
    /// A random number that identifies the run.
    group: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Group,
    Ring,
    Part,
    Graph,
}

impl Views {
    pub(super) fn reset(&mut self, plan: &Plan, run_seed: RunSeed) {
        (self.count, self.group) = (plan.nodes, run_seed.group());
        self.founders.clear();
        self.founders.extend(plan.founders.iter().map(|node| id(*node)));
        self.kind = match (&plan.network.topology, &plan.order) {
            (Topology::Graph { links }, _) => {
                self.link_up(links);
                Kind::Graph
            }
            (Topology::Group, Order::Ascending) if plan.view.is_certain() => Kind::Group,
            (Topology::Group, Order::Ascending) => {
                self.sight = Sight::new(plan.view, plan.nodes, run_seed);
                Kind::Part
            }
            (Topology::Group, order) => {
                order.arrange(plan.nodes, run_seed, &mut self.order);
                self.place.clear();
                self.place.resize(plan.nodes as usize, 0);
                for (place, node) in (0..).zip(&self.order) {
                    self.place[*node as usize] = place;
                }
                Kind::Ring
            }
        };
    }

    fn link_up(&mut self, links: &[(u32, u32)]) {
        self.links.iter_mut().for_each(Vec::clear);
        self.links.resize_with(self.count as usize, Vec::new);
        for &(a, b) in links {
            self.link(a, b, true);
        }
    }

    /// Adds or removes a link. False if nothing changed.
    pub(super) fn link(&mut self, a: u32, b: u32, up: bool) -> bool {
        if a == b || a.max(b) as usize >= self.links.len() {
            return false;
        }
        let mut changed = false;
        for (from, to) in [(a, b), (b, a)] {
            let neighbours = &mut self.links[from as usize];
            match (neighbours.binary_search(&to), up) {
                (Err(place), true) => neighbours.insert(place, to),
                (Ok(place), false) => drop(neighbours.remove(place)),
                _ => continue,
            }
            changed = true;
        }
        changed
    }

    /// Whether a message from `from` can reach `to`.
    #[inline]
    pub(super) fn reaches(&self, from: u32, to: u32) -> bool {
        match self.kind {
            Kind::Group | Kind::Ring | Kind::Part => from != to,
            Kind::Graph => self.links[from as usize].binary_search(&to).is_ok(),
        }
    }

    /// The view of one process.
    #[inline]
    pub(super) fn of(&self, me: u32) -> View<'_> {
        View { views: self, me }
    }
}

/// The view of one process; nothing is computed until it is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    views: &'a Views,
    me: u32,
}

impl View<'_> {
    /// The number of the process with this id, if there is one.
    fn number(&self, id: NodeId) -> Option<u32> {
        u32::try_from(id.0).ok().filter(|number| *number < self.views.count)
    }

    /// Whether it contains this process, where that has to be computed. Apart from the rest, which
    /// is so short that to save registers would be most of it.
    #[inline(never)]
    fn draws_or_links(&self, number: u32) -> bool {
        match self.views.kind {
            Kind::Part => self.views.sight.sees(self.me, number),
            _ => self.views.reaches(self.me, number),
        }
    }

    fn node_at(&self, place: u32) -> Option<NodeId> {
        self.views.order.get(place as usize).map(|node| id(*node))
    }
}

impl Peers for View<'_> {
    fn len(&self) -> usize {
        match self.views.kind {
            Kind::Group | Kind::Ring => self.views.count as usize - 1,
            Kind::Part => self.views.sight.len(self.me),
            Kind::Graph => self.views.links[self.me as usize].len(),
        }
    }

    fn group_size_hint(&self) -> usize {
        self.views.count as usize - 1
    }

    fn contains(&self, id: NodeId) -> bool {
        self.number(id).is_some_and(|number| match self.views.kind {
            Kind::Group | Kind::Ring => number != self.me,
            Kind::Part | Kind::Graph => self.draws_or_links(number),
        })
    }

    fn contain_all(&self, me: NodeId, ids: &[NodeId]) -> bool {
        match self.views.kind {
            Kind::Group | Kind::Ring if me.0 == u64::from(self.me) => {
                ids.iter().all(|id| id.0 < u64::from(self.views.count))
            }
            _ => ids.iter().all(|id| *id == me || self.contains(*id)),
        }
    }

    fn founders(&self) -> Option<&[NodeId]> {
        Some(&self.views.founders[..]).filter(|founders| !founders.is_empty())
    }

    fn group(&self) -> u64 {
        self.views.group
    }

    fn show(&self, see: &mut dyn FnMut(NodeId)) {
        match self.views.kind {
            Kind::Part => self.views.sight.show(self.me, see),
            _ => (self as &dyn Peers).iter().for_each(see),
        }
    }

    fn after(&self, after: Option<NodeId>) -> Option<NodeId> {
        let mine = u64::from(self.me);
        match self.views.kind {
            Kind::Group => {
                let mut next = after.map_or(0, |id| id.0.saturating_add(1));
                if next == mine {
                    next += 1;
                }
                (next < u64::from(self.views.count)).then_some(NodeId(next))
            }
            Kind::Ring => {
                let order = &self.views.order;
                let place = match after {
                    None => 0,
                    Some(id) => *self.views.place.get(usize::try_from(id.0).ok()?)? as usize + 1,
                };
                let mut next = *order.get(place)?;
                if next == self.me {
                    next = *order.get(place + 1)?;
                }
                Some(id(next))
            }
            Kind::Part => {
                let from = after.map_or(0, |id| id.0.saturating_add(1));
                self.views.sight.first_from(self.me, u32::try_from(from).ok()?)
            }
            Kind::Graph => {
                let neighbours = &self.views.links[self.me as usize];
                let next = match after {
                    None => 0,
                    Some(id) => neighbours.partition_point(|peer| u64::from(*peer) <= id.0),
                };
                neighbours.get(next).map(|peer| id(*peer))
            }
        }
    }

    fn place(&self, of: NodeId) -> usize {
        if let Kind::Group = self.views.kind {
            let before = of.0.min(u64::from(self.views.count));
            return (before - u64::from(of.0 > u64::from(self.me))) as usize;
        }
        std::iter::successors(self.before(Some(of)), |peer| self.before(Some(*peer))).count()
    }

    fn at(&self, place: usize) -> Option<NodeId> {
        if let Kind::Group = self.views.kind {
            let number = place as u64 + u64::from(place as u64 >= u64::from(self.me));
            return (number < u64::from(self.views.count)).then_some(NodeId(number));
        }
        (self as &dyn Peers).iter().nth(place)
    }

    fn before(&self, before: Option<NodeId>) -> Option<NodeId> {
        let mine = u64::from(self.me);
        match self.views.kind {
            Kind::Group => {
                let count = u64::from(self.views.count);
                let mut end = before.map_or(count, |id| id.0.min(count));
                if end.checked_sub(1) == Some(mine) {
                    end -= 1;
                }
                end.checked_sub(1).map(NodeId)
            }
            Kind::Ring => {
                let mut end = match before {
                    None => self.views.count,
                    Some(id) => self.views.place[self.number(id)? as usize],
                };
                let last = |end: u32| end.checked_sub(1).and_then(|place| self.node_at(place));
                if last(end) == Some(NodeId(mine)) {
                    end -= 1;
                }
                last(end)
            }
            Kind::Part => {
                let count = self.views.count;
                let end = before.map_or(count, |id| u32::try_from(id.0).unwrap_or(count));
                self.views.sight.last_below(self.me, end)
            }
            Kind::Graph => {
                let neighbours = &self.views.links[self.me as usize];
                let end = match before {
                    None => neighbours.len(),
                    Some(id) => neighbours.partition_point(|peer| u64::from(*peer) < id.0),
                };
                end.checked_sub(1).map(|last| id(neighbours[last]))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{Network, Probability};

    fn plan(order: Order, topology: Topology) -> Plan {
        let network = Network { topology, ..Network::default() };
        Plan { order, network, ..Plan::new(5) }
    }

    fn walk(plan: &Plan, me: u32) -> (Vec<u64>, Vec<u64>) {
        let mut views = Views::default();
        views.reset(plan, RunSeed::new(1, 0));
        let view = views.of(me);
        let peers: &dyn Peers = &view;
        assert_eq!(peers.len(), peers.iter().count());
        assert!(peers.iter().all(|id| peers.contains(id)) && !peers.contains(NodeId(me.into())));
        for (place, id) in peers.iter().enumerate() {
            assert_eq!((peers.place(id), peers.at(place)), (place, Some(id)));
        }
        assert_eq!(peers.at(peers.len()), None);
        let back = std::iter::successors(peers.before(None), |last| peers.before(Some(*last)));
        (peers.iter().map(|id| id.0).collect(), back.map(|id| id.0).collect())
    }

    #[test]
    fn both_ways_lead_past_everyone_but_oneself() {
        let star = Topology::Graph { links: vec![(2, 0), (2, 4), (1, 2), (0, 1)] };
        let listed = Order::Listed(vec![3, 1, 4, 0, 2]);
        let half = Probability::try_from(0.5).unwrap();
        for (plan, me, expected) in [
            (plan(Order::Ascending, Topology::Group), 2, vec![0, 1, 3, 4]),
            (plan(Order::Ascending, Topology::Group), 0, vec![1, 2, 3, 4]),
            (plan(Order::Descending, Topology::Group), 4, vec![3, 2, 1, 0]),
            (plan(listed.clone(), Topology::Group), 4, vec![3, 1, 0, 2]),
            (plan(listed.clone(), Topology::Group), 3, vec![1, 4, 0, 2]),
            (plan(listed, Topology::Group), 2, vec![3, 1, 4, 0]),
            (plan(Order::Ascending, star.clone()), 2, vec![0, 1, 4]),
            (plan(Order::Ascending, star.clone()), 3, vec![]),
            (plan(Order::Ascending, star), 1, vec![0, 2]),
            // As the seed of this run draws it.
            (Plan { view: half, ..plan(Order::Ascending, Topology::Group) }, 1, vec![0, 3]),
        ] {
            let (forth, mut back) = walk(&plan, me);
            back.reverse();
            assert_eq!((&forth, &back), (&expected, &expected), "{me} in {plan:?}");
        }
    }

    #[test]
    fn the_ring_closes_both_ways_for_the_process_itself() {
        let mut views = Views::default();
        views.reset(&plan(Order::Listed(vec![3, 1, 4, 0, 2]), Topology::Group), RunSeed::new(1, 0));
        for (me, next, last) in [(3, 1, 2), (1, 4, 3), (2, 3, 0)] {
            let view = views.of(me);
            let peers: &dyn Peers = &view;
            assert_eq!(peers.successor(NodeId(me.into())), Some(NodeId(next)));
            assert_eq!(peers.predecessor(NodeId(me.into())), Some(NodeId(last)));
        }
    }

    #[test]
    fn a_link_that_goes_is_out_of_reach_and_says_so_once() {
        let mut views = Views::default();
        let line = Topology::Graph { links: vec![(0, 1), (1, 2)] };
        views.reset(&plan(Order::Ascending, line), RunSeed::new(1, 0));
        assert!(views.reaches(0, 1) && views.reaches(1, 0) && !views.reaches(0, 2));
        assert!(views.link(1, 0, false) && !views.link(0, 1, false));
        assert!(!views.reaches(0, 1) && !views.reaches(1, 0));
        assert!(!views.link(0, 9, true) && !views.link(3, 3, true));
    }
}
