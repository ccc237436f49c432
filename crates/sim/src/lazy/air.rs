//! Which announcements reach which listeners: one draw for all listeners, or one for each.

use super::calendar::{Calendar, Call};
use super::order::{Block, LANES, Order};
use super::{StartConditions, elect::Leader};
use crate::coin::{PacketDraws, RunSeed};
use crate::multicast_filter::pack;
use crate::network::{Loss, Probability};

/// The medium of an election. Processes ask in their order, the best first.
pub(super) trait Air {
    /// Begins a run.
    fn clear(&mut self);

    /// Finds the leader's first announcement that reaches each process of the block. `None` if some
    /// process is not reached before the world ends.
    fn rounds(&mut self, leader: &Leader, block: &mut Block) -> Option<()>;

    /// The processes of the block that may speak, one bit each; the others have certainly fallen
    /// silent before they wake.
    fn may_speak(&self, leader: &Leader, block: &Block) -> u64;

    /// When the first announcement that reaches this process was sent, if before the given time;
    /// otherwise that time.
    fn first_heard(&mut self, node: u32, before: u64) -> u64;

    /// Adds an announcement of a process that is better than all that will ask.
    fn say(&mut self, call: Call);

    /// For protocols in which everyone keeps announcing: the first round in which the process at
    /// this place hears a better one; at most `round`, in which it hears the leader.
    fn first_round(
        &mut self,
        all: (StartConditions<'_>, &Order, RunSeed),
        place: u32,
        round: u32,
    ) -> u32;
}

/// All listeners lose a message together, or none does.
#[derive(Debug)]
pub(super) struct Shared {
    loss: Loss,
    /// The round of the leader's first announcement that is not lost, once it is known.
    round: Option<u32>,
    /// When the first announcement that was not lost was sent.
    earliest: u64,
}

impl Shared {
    pub(super) fn new(loss: Loss) -> Self {
        Self { loss, round: None, earliest: u64::MAX }
    }

    fn gets_through(&self, packet: PacketDraws) -> bool {
        self.loss.of_all(packet).is_some()
    }
}

impl Air for Shared {
    fn clear(&mut self) {
        (self.round, self.earliest) = (None, u64::MAX);
    }

    #[inline(always)]
    fn rounds(&mut self, leader: &Leader, block: &mut Block) -> Option<()> {
        if self.round.is_none() {
            let mut rounds = 0..=leader.last;
            self.round = rounds.find(|round| self.gets_through(leader.packet(*round)));
        }
        block.rounds = [self.round?; LANES];
        Some(())
    }

    #[inline(always)]
    fn may_speak(&self, leader: &Leader, block: &Block) -> u64 {
        let told = leader.sent(self.round.unwrap_or(0));
        let silent = self.earliest.min(told) + leader.delay;
        let mut early = [0u8; LANES];
        for (early, &wake) in early.iter_mut().zip(&block.wakes) {
            *early = u8::from(wake < silent);
        }
        pack(&early)
    }

    #[inline(always)]
    fn first_heard(&mut self, _node: u32, before: u64) -> u64 {
        self.earliest.min(before)
    }

    #[inline(always)]
    fn say(&mut self, call: Call) {
        if call.at < self.earliest && self.gets_through(call.packet) {
            self.earliest = call.at;
        }
    }

    /// Here `earliest` counts rounds.
    fn first_round(
        &mut self,
        all: (StartConditions<'_>, &Order, RunSeed),
        place: u32,
        round: u32,
    ) -> u32 {
        let (setting, order, run_seed) = all;
        let heard = self.earliest.min(u64::from(round)) as u32;
        let node = order.node(setting, place);
        let mut earlier = 0..heard;
        let own = earlier.find(|round| self.gets_through(run_seed.packet(node, *round)));
        self.earliest = u64::from(own.unwrap_or(heard));
        heard
    }
}

/// Each listener loses messages independently.
#[derive(Debug)]
pub(super) struct Own {
    /// Draws below this are losses.
    threshold: u32,
    /// The leader's announcements.
    packets: Vec<PacketDraws>,
    calendar: Calendar,
}

/// How many announcements are checked against a whole block at once.
const CHECKED: usize = 4;

impl Own {
    pub(super) fn new(loss: Probability) -> Self {
        let threshold = loss.threshold();
        let calendar = Calendar::new(loss.value(), threshold);
        Self { threshold, packets: Vec::new(), calendar }
    }

    /// Adds the processes of the block that this announcement silences before they wake.
    #[inline(always)]
    fn silence(&self, packet: PacketDraws, arrives: u64, block: &Block, silent: &mut [u8; LANES]) {
        let mut late = [0u8; LANES];
        for (late, &wake) in late.iter_mut().zip(&block.wakes) {
            *late = u8::from(wake >= arrives);
        }
        for ((silent, late), &node) in silent.iter_mut().zip(late).zip(&block.nodes) {
            *silent |= late & u8::from(packet.loss(node) >= self.threshold);
        }
    }
}

impl Air for Own {
    fn clear(&mut self) {
        self.packets.clear();
        self.calendar.clear();
    }

    #[inline(always)]
    fn rounds(&mut self, leader: &Leader, block: &mut Block) -> Option<()> {
        let mut missing = [1u32; LANES];
        for round in 0..=leader.last {
            if self.packets.len() == round as usize {
                self.packets.push(leader.packet(round));
            }
            let packet = self.packets[round as usize];
            let mut any = 0;
            for (lane, missing) in missing.iter_mut().enumerate() {
                *missing &= u32::from(packet.loss(block.nodes[lane]) < self.threshold);
                block.rounds[lane] += *missing;
                any |= *missing;
            }
            if any == 0 {
                return Some(());
            }
        }
        None
    }

    #[inline(always)]
    fn may_speak(&self, leader: &Leader, block: &Block) -> u64 {
        let mut silent = [0u8; LANES];
        let arrives = leader.first + leader.delay;
        for (lane, silent) in silent.iter_mut().enumerate() {
            let late = u8::from(block.wakes[lane] >= arrives);
            *silent = late & u8::from(block.rounds[lane] == 0);
        }
        for call in self.calendar.earliest(CHECKED) {
            self.silence(call.packet, call.at + leader.delay, block, &mut silent);
        }
        let present = if block.count == LANES { u64::MAX } else { (1 << block.count) - 1 };
        !pack(&silent) & present
    }

    #[inline(always)]
    fn first_heard(&mut self, node: u32, before: u64) -> u64 {
        self.calendar.first_heard(node, before)
    }

    #[inline(always)]
    fn say(&mut self, call: Call) {
        self.calendar.add(call);
    }

    fn first_round(
        &mut self,
        all: (StartConditions<'_>, &Order, RunSeed),
        place: u32,
        round: u32,
    ) -> u32 {
        let (setting, order, run_seed) = all;
        let node = order.node(setting, place);
        let hears = |round| {
            // The leader, at place zero, is not heard before `round`.
            (1..place).any(|better| {
                let packet = run_seed.packet(order.node(setting, better), round);
                packet.loss(node) >= self.threshold
            })
        };
        (0..round).find(|round| hears(*round)).unwrap_or(round)
    }
}
