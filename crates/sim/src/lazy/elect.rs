//! Elections: the best claim leads, and silences the others in some protocols.

use super::air::Air;
use super::calendar::Call;
use super::order::{Block, Order};
use super::{StartConditions, Tally};
use crate::coin::{PacketDraws, RunSeed};
use bellwether_protocols::announce_listen::Yields;
use pulp::{Simd, WithSimd};

/// One run of an election, compiled for the vector instructions of the machine.
pub(super) struct Election<'a, A: Air> {
    pub(super) setting: StartConditions<'a>,
    pub(super) order: &'a Order,
    pub(super) run_seed: RunSeed,
    pub(super) air: &'a mut A,
    /// The times of messages that may have been sent after the converging one.
    pub(super) later: &'a mut Vec<u64>,
}

/// The process with the best claim, which no other silences.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leader {
    run_seed: RunSeed,
    node: u32,
    every: u64,
    /// When it first announces itself.
    pub(super) first: u64,
    /// The delay of its messages.
    pub(super) delay: u64,
    /// The number of its last announcement, from 0, that arrives before the world ends.
    pub(super) last: u32,
}

impl Leader {
    #[inline(always)]
    pub(super) fn packet(&self, round: u32) -> PacketDraws {
        self.run_seed.packet(self.node, round)
    }

    #[inline(always)]
    pub(super) fn sent(&self, round: u32) -> u64 {
        self.first + u64::from(round) * self.every
    }
}

impl<A: Air> WithSimd for Election<'_, A> {
    type Output = Option<Tally>;

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _simd: S) -> Option<Tally> {
        self.air.clear();
        self.later.clear();
        if self.setting.nodes == 1 {
            // It believes in itself from the start, and may have announced that by then.
            let messages = u64::from(!self.setting.params.opening().suppresses());
            let (firsts, at_convergence) = (messages, messages);
            return Some(Tally { messages, firsts, at_convergence, ..Tally::default() });
        }
        let leader = self.leader()?;
        let falls_silent = self.setting.params.yields() == Yields::ToBetter;
        let (first_first, last_first) = (leader.first, leader.first);
        let mut tally = Tally { first_first, last_first, ..Tally::default() };
        let mut place = 1;
        while place < self.setting.nodes {
            let mut block = self.order.block(self.setting, self.run_seed, place);
            self.air.rounds(&leader, &mut block)?;
            for &round in &block.rounds[..block.count] {
                tally.rounds = tally.rounds.max(round + 1);
                tally.rounds_sum += u64::from(round) + 1;
            }
            if falls_silent {
                self.speak(&leader, &block, &mut tally);
            } else {
                self.go_on(&leader, &block, place, &mut tally);
            }
            place += block.count as u32;
        }
        Some(self.conclude(&leader, tally))
    }
}

impl<A: Air> Election<'_, A> {
    /// The leader, if any of its announcements arrives before the world ends.
    #[inline(always)]
    fn leader(&self) -> Option<Leader> {
        let StartConditions { delay, announce: every, end, .. } = self.setting;
        let best = self.order.at(self.setting, self.run_seed, 0);
        let (node, first) = (best.node, best.wake);
        let left = end.checked_sub(delay)?.checked_sub(first)?;
        let last = u32::try_from(left / every).unwrap_or(u32::MAX - 1);
        Some(Leader { run_seed: self.run_seed, node, every, first, delay, last })
    }

    /// Each process of the block announces itself until it hears a better one.
    #[inline(always)]
    fn speak(&mut self, leader: &Leader, block: &Block, tally: &mut Tally) {
        let StartConditions { delay, announce, opening, .. } = self.setting;
        let mut rest = self.air.may_speak(leader, block);
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let (node, wake) = (block.nodes[lane], block.wakes[lane]);
            let told = leader.sent(block.rounds[lane]);
            // At equal times a message comes before a timer: a process silenced at that time does
            // not speak.
            let silent = self.air.first_heard(node, told) + delay;
            if wake >= silent {
                continue;
            }
            tally.area += u128::from(silent - wake);
            tally.first_first = tally.first_first.min(wake);
            tally.last_first = tally.last_first.max(wake);
            tally.firsts += 1;
            tally.seconds += u64::from(wake + announce < silent);
            let (mut at, mut number) = (wake, 0);
            while at < silent {
                self.air.say(Call { at, packet: self.run_seed.packet(node, number) });
                tally.messages += 1;
                tally.early += u64::from(at < opening);
                if at > leader.first {
                    self.later.push(at);
                }
                at += announce;
                number += 1;
            }
        }
    }

    /// Each process of the block announces itself for ever, but counts as a leader only until it
    /// hears a better one.
    #[inline(always)]
    fn go_on(&mut self, leader: &Leader, block: &Block, place: u32, tally: &mut Tally) {
        let all = (self.setting, self.order, self.run_seed);
        for (lane, &round) in block.rounds[..block.count].iter().enumerate() {
            let heard = self.air.first_round(all, place + lane as u32, round);
            tally.area += u128::from(leader.sent(heard) + leader.delay);
        }
    }

    /// Adds the leader's own part, and everything that is known only at the end.
    #[inline(always)]
    fn conclude(&self, leader: &Leader, mut tally: Tally) -> Tally {
        tally.converged = leader.sent(tally.rounds - 1);
        tally.received = tally.converged + leader.delay;
        tally.area += u128::from(tally.received - leader.first);
        // All that fall silent have done so by now, so only those that go on are cut off.
        let each = (tally.received - leader.first).div_ceil(leader.every);
        let going_on = match self.setting.params.yields() {
            Yields::Never => u64::from(self.setting.nodes),
            _ => 1,
        };
        tally.messages += each * going_on;
        tally.firsts += going_on;
        tally.seconds += going_on * u64::from(leader.first + leader.every < tally.received);
        // The converging message is one of the leader's, and so of all that go on.
        let after = self.later.iter().filter(|at| **at > tally.converged).count() as u64;
        let still = each - ((tally.converged - leader.first) / leader.every + 1);
        tally.at_convergence = tally.messages - after - still * going_on;
        let opening = self.setting.opening.min(tally.received);
        let early = opening.saturating_sub(leader.first).div_ceil(leader.every);
        tally.early += early * going_on;
        tally
    }
}
