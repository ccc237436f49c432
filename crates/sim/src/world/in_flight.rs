//! Letters under way.

use crate::coin::{Coins, PacketDraws};
use crate::fault::Cuts;
use crate::network::{Channel, Loss, Network};
use crate::observer::Cause;
use crate::plan::Plan;
use crate::queue::Queue;
use bellwether_core::{Duration, SimTime};
use slab::Slab;

/// The address of a multicast that is one event.
pub(super) const EVERYONE: u32 = u32::MAX;
/// The packet that stands for the first one in the receiver's inbox.
pub(super) const INBOX: u32 = u32::MAX;

pub(super) struct InFlight<M> {
    pub(super) packets: Slab<Packet<M>>,
    queue: Queue<Delivery>,
    /// How many messages each process has sent.
    numbers: Vec<u32>,
    /// Whose channel is in its bad state, for bursts.
    pub(super) bad: Vec<bool>,
    pub(super) cuts: Cuts,
    coins: Coins,
    pub(super) plain: bool,
    /// How long every packet to one process takes, if nothing can become of it but that.
    pub(super) sure_delay: Option<Duration>,
    /// The last packet to one process that the present step posted.
    pub(super) last: Option<usize>,
}

/// A message under way, kept once however many receive it: also if it was sent to one after the
/// other in the same step. Of these only the first one's number is known.
#[derive(Clone)]
pub(super) struct Packet<M> {
    pub(super) message: M,
    pub(super) cause: Cause,
    /// Receptions to come.
    pub(super) left: u32,
    /// Of a multicast that is one event: the coins below this are losses, if not all are.
    pub(super) threshold: Option<u32>,
}

/// One reception to come, or a whole multicast's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivery {
    pub(super) packet: u32,
    pub(super) to: u32,
}

impl<M> InFlight<M> {
    pub(super) fn new() -> Self {
        Self {
            packets: Slab::with_capacity(64),
            queue: Queue::new(),
            numbers: Vec::new(),
            bad: Vec::new(),
            cuts: Cuts::default(),
            coins: Coins::new(0, 0),
            plain: true,
            sure_delay: None,
            last: None,
        }
    }

    pub(super) fn reset(&mut self, plan: &Plan, coins: Coins, batch: bool) {
        self.packets.clear();
        self.queue.clear();
        self.numbers.clear();
        self.numbers.reserve_exact(plan.nodes as usize);
        self.numbers.resize(plan.nodes as usize, 0);
        self.cuts.heal();
        self.coins = coins;
        self.set_network(&plan.network, batch);
    }

    /// From now on packets travel through this network. Bursts begin anew.
    pub(super) fn set_network(&mut self, network: &Network, batch: bool) {
        self.plain = batch && network.is_plain();
        self.sure_delay = network.unicasts_surely();
        self.bad.clear();
        let Network { multicast, unicast, .. } = network;
        // A receiver has one state for both ways to send; the first that has bursts begins it.
        let bursty = |channel: &&&Channel| matches!(channel.loss, Loss::Bursts(_));
        if let Some(channel) = [multicast, unicast].iter().find(bursty) {
            let receivers = 0..self.numbers.len() as u32;
            self.bad.extend(receivers.map(|to| channel.loss.begins_badly(self.coins, to)));
        }
    }

    /// Gives the sender's next packet its number.
    pub(super) fn stamp(&mut self, from: u32, sent: SimTime) -> Cause {
        let number = self.numbers[from as usize];
        self.numbers[from as usize] = number.wrapping_add(1);
        Cause { from, number, sent }
    }

    pub(super) fn draws(&self, cause: Cause) -> PacketDraws {
        self.coins.packet(cause.from, cause.number)
    }

    #[inline]
    pub(super) fn next_at(&self) -> u64 {
        self.queue.next_at()
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<Delivery> {
        self.queue.pop().map(|(_, delivery)| delivery)
    }

    #[inline]
    pub(super) fn push(&mut self, at: SimTime, packet: usize, to: u32) {
        self.queue.push(at.as_nanos(), Delivery { packet: packet as u32, to });
    }
}
