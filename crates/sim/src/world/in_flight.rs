//! Packets in flight.

use crate::coin::{PacketDraws, RunSeed};
use crate::fault::Cuts;
use crate::network::{Channel, Loss, Network};
use crate::observer::Cause;
use crate::plan::Plan;
use crate::queue::Queue;
use bellwether_core::{Duration, Message, SimTime};

/// The address of a multicast that is one event.
pub(super) const EVERYONE: u32 = u32::MAX;
/// Stands for the first packet in the receiver's inbox.
pub(super) const INBOX: u32 = u32::MAX;

#[derive(Clone)]
pub(super) struct InFlight<M> {
    pub(super) packets: Packets<M>,
    queue: Queue<Delivery>,
    /// The number of messages each process has sent.
    numbers: Vec<u32>,
    /// Which receivers' channels are in the bad state, for bursts.
    pub(super) bad: Vec<bool>,
    pub(super) cuts: Cuts,
    run_seed: RunSeed,
    pub(super) plain: bool,
    /// The delay of every unicast, if it is constant and each arrives exactly once.
    pub(super) sure_delay: Option<Duration>,
    /// The packet of the unicasts that the current step has sent, if there are any.
    pub(super) last: Option<usize>,
    /// Whether all of them carry the same message. If two differ, those after them do as a rule.
    pub(super) alike: bool,
}

/// A message in flight, stored once for all its receivers. Equal unicasts of one step share a
/// packet too; only the number of the first is known then.
#[derive(Clone)]
pub(super) struct Packet<M> {
    pub(super) message: M,
    pub(super) cause: Cause,
    /// Deliveries still to come.
    pub(super) left: u32,
    /// For a multicast that is one event: draws below this are losses. `None` if all receivers lose
    /// it.
    pub(super) threshold: Option<u32>,
}

/// The packets in flight, by their keys. A packet has room for the longest message, so to move one
/// takes long: it stays where it is, also when it is done with, until its place is needed.
#[derive(Clone)]
pub(super) struct Packets<M> {
    places: Vec<Option<Packet<M>>>,
    /// The keys of places that may be taken; the last is the next.
    free: Vec<usize>,
}

impl<M: Message> Packets<M> {
    fn new() -> Self {
        Self { places: Vec::with_capacity(64), free: Vec::with_capacity(64) }
    }

    fn clear(&mut self) {
        self.places.clear();
        self.free.clear();
    }

    /// Adds a packet. Returns its key. It gets the parts of one: a packet made elsewhere would be
    /// copied once more.
    #[inline(always)]
    pub(super) fn insert(
        &mut self,
        message: &mut M,
        cause: Cause,
        left: u32,
        threshold: Option<u32>,
    ) -> usize {
        if let Some(key) = self.free.pop() {
            match &mut self.places[key] {
                Some(place) => {
                    message.move_into(&mut place.message);
                    (place.cause, place.left, place.threshold) = (cause, left, threshold);
                }
                none => *none = Some(Packet { message: message.take(), cause, left, threshold }),
            }
            return key;
        }
        let message = message.take();
        self.places.push(Some(Packet { message, cause, left, threshold }));
        // So that nothing is allocated when all of these are done with.
        if self.free.capacity() < self.places.capacity() {
            self.free.reserve_exact(self.places.capacity());
        }
        self.places.len() - 1
    }

    #[inline]
    pub(super) fn get(&self, key: usize) -> Option<&Packet<M>> {
        self.places.get(key)?.as_ref()
    }

    #[inline]
    pub(super) fn get_mut(&mut self, key: usize) -> Option<&mut Packet<M>> {
        self.places.get_mut(key)?.as_mut()
    }

    /// Takes a packet out.
    #[inline]
    pub(super) fn take(&mut self, key: usize) -> Option<Packet<M>> {
        let packet = self.places.get_mut(key)?.take()?;
        self.free.push(key);
        Some(packet)
    }

    /// A packet is done with.
    #[inline]
    pub(super) fn remove(&mut self, key: usize) {
        self.free.push(key);
    }
}

/// One delivery to come, or all deliveries of a multicast.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivery {
    pub(super) packet: u32,
    pub(super) to: u32,
}

impl<M: Message> InFlight<M> {
    pub(super) fn new() -> Self {
        Self {
            packets: Packets::new(),
            queue: Queue::new(),
            numbers: Vec::new(),
            bad: Vec::new(),
            cuts: Cuts::default(),
            run_seed: RunSeed::new(0, 0),
            plain: true,
            sure_delay: None,
            last: None,
            alike: true,
        }
    }

    pub(super) fn reset(&mut self, plan: &Plan, run_seed: RunSeed, batch: bool) {
        self.packets.clear();
        self.queue.clear();
        self.numbers.clear();
        self.numbers.reserve_exact(plan.nodes as usize);
        self.numbers.resize(plan.nodes as usize, 0);
        self.cuts.heal();
        self.run_seed = run_seed;
        self.set_network(&plan.network, batch);
    }

    /// Draws what is not drawn yet from another seed; see [`World::branch`](super::World::branch).
    pub(super) fn branch(&mut self, run_seed: RunSeed) {
        self.run_seed = run_seed;
    }

    /// Replaces the network for packets sent from now on. Bursts start anew.
    pub(super) fn set_network(&mut self, network: &Network, batch: bool) {
        self.plain = batch && network.is_plain();
        self.sure_delay = network.unicasts_surely();
        self.bad.clear();
        let Network { multicast, unicast, .. } = network;
        // A receiver has one state for multicasts and unicasts; the first channel with bursts draws
        // it.
        let bursty = |channel: &&&Channel| matches!(channel.loss, Loss::Bursts(_));
        if let Some(channel) = [multicast, unicast].iter().find(bursty) {
            let receivers = 0..self.numbers.len() as u32;
            self.bad.extend(receivers.map(|to| channel.loss.begins_badly(self.run_seed, to)));
        }
    }

    /// A step begins to send.
    #[inline]
    pub(super) fn begin_step(&mut self) {
        (self.last, self.alike) = (None, true);
    }

    /// The number of the sender's next packet.
    #[inline]
    pub(super) fn next_number(&mut self, from: u32) -> u32 {
        let number = self.numbers[from as usize];
        self.numbers[from as usize] = number.wrapping_add(1);
        number
    }

    #[inline]
    pub(super) fn draws(&self, cause: Cause) -> PacketDraws {
        self.run_seed.packet(cause.from, cause.number)
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
