//! The processes from the best claim to the worst, and when each would announce itself.
//!
//! Where the larger id leads, the order is known and nothing is stored: a process's draws are made
//! when its turn comes. Otherwise all draws are made first and sorted.

use super::StartConditions;
use crate::coin::RunSeed;
use crate::observer::id;
use bellwether_protocols::announce_listen::{Criterion, first_claim, wake_up};

/// Processes handled together, so that their draws can be read in vector code.
pub(super) const LANES: usize = 64;

/// One process at the start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// Its claim.
    pub(super) weight: u64,
    /// When it announces itself, unless it is silenced before.
    pub(super) wake: u64,
    pub(super) node: u32,
}

impl Candidate {
    /// The draws of one process, made by the protocol's own functions in the protocol's own order.
    #[inline(always)]
    pub(super) fn draw(setting: StartConditions<'_>, run_seed: RunSeed, node: u32) -> Self {
        let params = setting.params;
        let mut stream = run_seed.stream(node);
        let weight = first_claim(params, id(node), setting.ranks.of(run_seed, node), &mut stream);
        let suppresses = params.opening().suppresses();
        let wake = if suppresses { wake_up(params, weight, &mut stream).as_nanos() } else { 0 };
        Self { weight, wake, node }
    }
}

/// Consecutive processes of the order.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) nodes: [u32; LANES],
    pub(super) wakes: [u64; LANES],
    /// The leader's first announcement that reaches each one; filled in later.
    pub(super) rounds: [u32; LANES],
    /// How many there are. The lanes beyond are copies of the first, and never wake.
    pub(super) count: usize,
}

#[derive(Debug)]
pub(super) struct Order {
    by_id: bool,
    sorted: Vec<Candidate>,
}

impl Order {
    pub(super) fn new(setting: StartConditions<'_>) -> Self {
        Self { by_id: setting.params.criterion() == Criterion::HighestId, sorted: Vec::new() }
    }

    /// Makes those draws of a run that the order depends on.
    pub(super) fn prepare(&mut self, setting: StartConditions<'_>, run_seed: RunSeed) {
        self.sorted.clear();
        if !self.by_id {
            let draw = |node| Candidate::draw(setting, run_seed, node);
            self.sorted.reserve_exact(setting.nodes as usize);
            self.sorted.extend((0..setting.nodes).map(draw));
            self.sorted.sort_unstable_by_key(|known| {
                std::cmp::Reverse((u128::from(known.weight) << 32) | u128::from(known.node))
            });
        }
    }

    /// The process at this place; the best one is at place zero.
    #[inline(always)]
    pub(super) fn at(
        &self,
        setting: StartConditions<'_>,
        run_seed: RunSeed,
        place: u32,
    ) -> Candidate {
        if self.by_id {
            Candidate::draw(setting, run_seed, setting.nodes - 1 - place)
        } else {
            self.sorted[place as usize]
        }
    }

    /// The number of the process at this place.
    #[inline(always)]
    pub(super) fn node(&self, setting: StartConditions<'_>, place: u32) -> u32 {
        if self.by_id { setting.nodes - 1 - place } else { self.sorted[place as usize].node }
    }

    /// The block of processes that starts at this place.
    #[inline(always)]
    pub(super) fn block(
        &self,
        setting: StartConditions<'_>,
        run_seed: RunSeed,
        from: u32,
    ) -> Block {
        let count = ((setting.nodes - from) as usize).min(LANES);
        let first = self.node(setting, from);
        let (nodes, wakes) = ([first; LANES], [u64::MAX; LANES]);
        let mut block = Block { nodes, wakes, rounds: [0; LANES], count };
        for lane in 0..count {
            let Candidate { wake, node, .. } = self.at(setting, run_seed, from + lane as u32);
            (block.nodes[lane], block.wakes[lane]) = (node, wake);
        }
        block
    }
}
