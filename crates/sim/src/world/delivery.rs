//! Sending and delivering packets.

use super::in_flight::{EVERYONE, INBOX, InFlight, Packet};
use super::{Handling, World};
use crate::multicast_filter::{LANES, MulticastFilter, Receivers};
use crate::network::{Delay, Fate, Network};
use crate::observer::{Cause, Observer, id};
use bellwether_core::{Dest, Duration, Event, Input, Message, Protocol};
use std::borrow::Cow;

impl<P: Protocol> World<P> {
    #[inline(always)] // copying a forwarded message is most of a small step
    pub(super) fn send<O: Observer<P>>(
        &mut self,
        from: u32,
        to: Dest,
        message: &mut P::Message,
        observer: &mut O,
    ) {
        let number = self.in_flight.next_number(from);
        observer.on_send(self.now, from, to, message, number);
        if O::TRACES {
            let (kind, number) = (Cow::Borrowed(message.kind()), u64::from(number));
            let to = if let Dest::Node(node) = to { Some(node) } else { None };
            self.record(from, Event::Send { to, message: kind, number }, observer);
        }
        match to {
            Dest::Everyone => {
                let cause = Cause { from, number, sent: self.now };
                match self.is_one_event() {
                    true => self.send_to_all(message, cause, observer),
                    false => self.send_to_each(message, cause, observer),
                }
            }
            Dest::Node(node) => match u32::try_from(node.0) {
                Ok(to) if (to as usize) < self.members.nodes.len() => {
                    self.send_to_one(from, number, to, message, observer);
                }
                _ => {} // no such process
            },
        }
    }

    fn is_one_event(&self) -> bool {
        self.in_flight.plain && self.in_flight.cuts.is_empty() && !self.members.need_processing()
    }

    /// Sends a multicast as one event.
    fn send_to_all<O: Observer<P>>(
        &mut self,
        message: &mut P::Message,
        cause: Cause,
        observer: &mut O,
    ) {
        let Delay::Constant(delay) = self.network.multicast.delay else { return };
        let (draws, loss) = (self.in_flight.draws(cause), self.network.multicast.loss);
        if O::TRACES {
            for to in 0..self.members.nodes.len() as u32 {
                if to != cause.from && loss.loses(draws, to, &mut false) {
                    self.record_loss(to, message, cause, "loss", observer);
                }
            }
        }
        // Decided now, because the network may have changed when the packet is due.
        let threshold = loss.of_all(draws);
        let packet = self.in_flight.packets.insert(message, cause, 1, threshold);
        self.in_flight.push(self.now + delay, packet, EVERYONE);
    }

    /// Sends a multicast as one event per receiver.
    fn send_to_each<O: Observer<P>>(
        &mut self,
        message: &mut P::Message,
        cause: Cause,
        observer: &mut O,
    ) {
        let packet = self.in_flight.packets.insert(message, cause, 0, None);
        let mut left = 0;
        for to in 0..self.members.nodes.len() as u32 {
            if !self.members.views.reaches(cause.from, to) {
                continue;
            }
            match self.fate(cause, to, true) {
                Ok((takes, again)) => {
                    left += 1 + u32::from(again.is_some());
                    self.schedule_copies(packet, to, takes, again);
                }
                Err(why) if O::TRACES => {
                    let message = self.in_flight.packets.get(packet).map(|it| it.message.clone());
                    message.iter().for_each(|message| {
                        self.record_loss(to, message, cause, why, observer);
                    });
                }
                Err(_) => {}
            }
        }
        match self.in_flight.packets.get_mut(packet) {
            Some(packet) if left > 0 => packet.left = left,
            _ => self.in_flight.packets.remove(packet),
        }
    }

    /// Sends a message to one process. It gets the parts of a cause, not one: a cause in memory
    /// that is copied right after its parts were written keeps the processor waiting.
    #[inline(always)]
    fn send_to_one<O: Observer<P>>(
        &mut self,
        from: u32,
        number: u32,
        to: u32,
        message: &mut P::Message,
        observer: &mut O,
    ) {
        if let Some(takes) = self.in_flight.sure_delay
            && self.in_flight.cuts.is_empty()
            && self.members.views.reaches(from, to)
        {
            // The delay is constant and nothing is lost, so no draw is read.
            let packet = self.keep_packet::<O>(from, number, message, 1);
            return self.in_flight.push(self.now + takes, packet, to);
        }
        let cause = Cause { from, number, sent: self.now };
        let fate = if to == from {
            Ok((Duration::ZERO, None)) // not over the network
        } else if self.members.views.reaches(from, to) {
            self.fate(cause, to, false)
        } else {
            Err("reach")
        };
        match fate {
            Ok((takes, again)) => {
                let copies = 1 + u32::from(again.is_some());
                let packet = self.keep_packet::<O>(from, number, message, copies);
                self.schedule_copies(packet, to, takes, again);
            }
            Err(why) if O::TRACES => self.record_loss(to, message, cause, why, observer),
            Err(_) => {}
        }
    }

    /// Stores a packet to one process, together with those before it if all of them carry the same
    /// message.
    #[inline(always)]
    fn keep_packet<O: Observer<P>>(
        &mut self,
        from: u32,
        number: u32,
        message: &mut P::Message,
        copies: u32,
    ) -> usize {
        let InFlight { packets, last, alike, .. } = &mut self.in_flight;
        if !O::TRACES
            && !O::HEARS
            && *alike
            && let Some(key) = *last
            && let Some(packet) = packets.get_mut(key)
        {
            *alike = packet.message == *message;
            if *alike {
                packet.left += copies;
                return key;
            }
        }
        let cause = Cause { from, number, sent: self.now };
        let key = self.in_flight.packets.insert(message, cause, copies, None);
        self.in_flight.last = Some(key);
        key
    }

    /// The delays of a packet and of its second copy if there is one; or why it does not arrive.
    #[inline]
    fn fate(
        &mut self,
        cause: Cause,
        to: u32,
        multicast: bool,
    ) -> Result<(Duration, Option<Duration>), &'static str> {
        if self.in_flight.cuts.severs(cause.from, to) {
            return Err("cut");
        }
        let draws = self.in_flight.draws(cause);
        let Network { multicast: to_all, unicast: to_one, .. } = &self.network;
        let channel = if multicast { to_all } else { to_one };
        let mut good = false;
        let bad = self.in_flight.bad.get_mut(to as usize).unwrap_or(&mut good);
        match self.network.fate(channel, draws, cause.from, to, bad) {
            Fate::Lost => Err("loss"),
            Fate::Arrives(takes, again) => Ok((takes, again)),
        }
    }

    #[inline]
    fn schedule_copies(
        &mut self,
        packet: usize,
        to: u32,
        takes: Duration,
        again: Option<Duration>,
    ) {
        self.in_flight.push(self.now + takes, packet, to);
        if let Some(again) = again {
            self.in_flight.push(self.now + again, packet, to);
        }
    }

    #[inline]
    pub(super) fn deliver<O: Observer<P>>(&mut self, observer: &mut O) {
        let Some(delivery) = self.in_flight.pop() else { return };
        if delivery.packet == INBOX {
            if let Some((cause, message)) = self.members.take(delivery.to, self.now) {
                self.receive(delivery.to, message, cause, observer);
            }
            return;
        }
        let key = delivery.packet as usize;
        if delivery.to == EVERYONE {
            if let Some(packet) = self.in_flight.packets.take(key) {
                self.deliver_to_all(&packet, observer);
            }
            return;
        }
        if !O::TRACES && P::Message::IS_ONLY_READ && self.members.is_open(delivery.to) {
            return self.deliver_in_place(delivery.to, key, observer);
        }
        let packet = match self.in_flight.packets.get_mut(key) {
            Some(packet) if packet.left > 1 => {
                packet.left -= 1;
                Some(packet.clone())
            }
            _ => self.in_flight.packets.take(key),
        };
        if let Some(Packet { message, cause, .. }) = packet {
            self.deliver_to_one(delivery.to, message, cause, observer);
        }
    }

    /// Lets a process handle a message in place, which avoids a copy.
    #[inline(always)]
    fn deliver_in_place<O: Observer<P>>(&mut self, to: u32, key: usize, observer: &mut O) {
        let Some(packet) = self.in_flight.packets.get_mut(key) else { return };
        packet.left -= 1;
        let (last, cause, message) = (packet.left == 0, packet.cause, &packet.message);
        self.deliveries += 1;
        if O::HEARS {
            observer.on_receive(self.now, to, cause);
        }
        let mut stepped = None;
        if message.weight() >= self.members.min_weights[to as usize] {
            let input = Input::Message(id(cause.from), Cow::Borrowed(message));
            let (params, effects) = (self.params.of(to), &mut self.effects);
            let handling = Handling { now: self.now, params, effects };
            stepped = handling.run(&mut self.members, to, input, Some(cause), observer);
        }
        if last {
            self.in_flight.packets.remove(key);
        }
        self.conclude(to, stepped, observer);
    }

    fn deliver_to_one<O: Observer<P>>(
        &mut self,
        to: u32,
        message: P::Message,
        cause: Cause,
        observer: &mut O,
    ) {
        if self.members.is_open(to) {
            self.receive(to, message, cause, observer);
        } else if self.node(to).is_some() {
            self.enqueue(to, message, cause);
        }
    }

    /// Puts a message into the inbox of a process that is paused or slow.
    fn enqueue(&mut self, to: u32, message: P::Message, cause: Cause) {
        let until = self.members.enqueue(to, cause, message, self.now);
        self.in_flight.push(until, INBOX as usize, to);
    }

    /// Lets a process handle a message.
    pub(super) fn receive<O: Observer<P>>(
        &mut self,
        to: u32,
        message: P::Message,
        cause: Cause,
        observer: &mut O,
    ) {
        self.deliveries += 1;
        if O::HEARS {
            observer.on_receive(self.now, to, cause);
        }
        if O::TRACES {
            self.record_receipt(to, &message, cause, observer);
        }
        if message.weight() >= self.members.min_weights[to as usize] {
            let input = Input::Message(id(cause.from), Cow::Owned(message));
            self.step(to, input, Some(cause), observer);
        }
    }

    fn deliver_to_all<O: Observer<P>>(&mut self, packet: &Packet<P::Message>, observer: &mut O) {
        let Packet { message, cause, threshold, .. } = packet;
        let Some(threshold) = *threshold else { return };
        let draws = self.in_flight.draws(*cause);
        let mut receivers = std::mem::take(&mut self.receivers);
        let filter = MulticastFilter {
            draws,
            threshold,
            weight: message.weight(),
            min_weights: &self.members.min_weights,
            open: &self.members.open,
        };
        filter.apply(self.arch, &mut receivers);
        let (word, lane) = (cause.from as usize / LANES, cause.from as usize % LANES);
        receivers[word].reached &= !(1 << lane);
        receivers[word].concerned &= !(1 << lane);
        for (word, &Receivers { reached, concerned }) in receivers.iter().enumerate() {
            self.deliveries += u64::from(reached.count_ones());
            let mut rest = if O::TRACES || O::HEARS { reached } else { concerned };
            while rest != 0 {
                let lane = rest.trailing_zeros();
                rest &= rest - 1;
                let to = (word * LANES) as u32 + lane;
                if O::HEARS {
                    observer.on_receive(self.now, to, *cause);
                }
                if O::TRACES {
                    self.record_receipt(to, message, *cause, observer);
                }
                let knows = || {
                    let state = self.members.nodes[to as usize].as_ref();
                    state.is_some_and(|state| state.is_redundant(message, self.params.of(to)))
                };
                if concerned >> lane & 1 == 1 && !knows() {
                    let input = Input::Message(id(cause.from), Cow::Borrowed(message));
                    self.step(to, input, Some(*cause), observer);
                }
            }
        }
        self.receivers = receivers;
        self.hand_to_inboxes(packet, threshold);
    }

    fn hand_to_inboxes(&mut self, packet: &Packet<P::Message>, threshold: u32) {
        if self.members.paused == 0 && !self.members.slowed {
            return;
        }
        let draws = self.in_flight.draws(packet.cause);
        let mut next = 0;
        while let Some((&to, _)) = self.members.lives.range(next..).next() {
            next = to + 1;
            let takes_later = self.node(to).is_some() && !self.members.is_open(to);
            if takes_later && to != packet.cause.from && draws.loss(to) >= threshold {
                self.enqueue(to, packet.message.clone(), packet.cause);
            }
        }
    }
}
