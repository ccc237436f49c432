//! Sending and receiving.

use super::post::{EVERYONE, INBOX, Letter};
use super::{Handling, World};
use crate::network::{Delay, Fate, Network};
use crate::observer::{Cause, Observer, id};
use crate::sieve::{LANES, Question, Sieved, sieve};
use bellwether_core::{Dest, Duration, Event, Input, Message, Protocol};
use std::borrow::Cow;
use std::mem::needs_drop;

impl<P: Protocol> World<P> {
    #[inline(always)] // a message that is handed on is copied, which is most of a small step
    pub(super) fn send<O: Observer<P>>(
        &mut self,
        from: u32,
        to: Dest,
        message: P::Message,
        observer: &mut O,
    ) {
        let cause = self.post.stamp(from, self.now);
        observer.on_send(self.now, from, to, &message, cause.number);
        if O::TRACES {
            let (kind, number) = (Cow::Borrowed(message.kind()), u64::from(cause.number));
            let to = if let Dest::Node(node) = to { Some(node) } else { None };
            self.record(from, Event::Send { to, message: kind, number }, observer);
        }
        match to {
            Dest::Everyone if self.is_one_event() => self.post_to_all(message, cause, observer),
            Dest::Everyone => self.post_to_each(message, cause, observer),
            Dest::Node(node) => match u32::try_from(node.0) {
                Ok(to) if (to as usize) < self.members.nodes.len() => {
                    self.post_to_one(to, message, cause, observer);
                }
                _ => {} // nobody has that name
            },
        }
    }

    fn is_one_event(&self) -> bool {
        self.post.plain && self.post.cuts.is_empty() && !self.members.take_their_time()
    }

    /// Posts a multicast as one event.
    fn post_to_all<O: Observer<P>>(&mut self, message: P::Message, cause: Cause, observer: &mut O) {
        let Delay::Constant(delay) = self.network.multicast.delay else { return };
        let (packet, loss) = (self.post.coins(cause), self.network.multicast.loss);
        if O::TRACES {
            for to in 0..self.members.nodes.len() as u32 {
                if to != cause.from && loss.strikes(packet, to, &mut false) {
                    self.record_loss(to, &message, cause, "loss", observer);
                }
            }
        }
        // Decided now: when it is due the network may be another.
        let threshold = loss.of_all(packet);
        let letter = self.post.letters.insert(Letter { message, cause, left: 1, threshold });
        self.post.push(self.now + delay, letter, EVERYONE);
    }

    /// Posts a multicast receiver by receiver.
    fn post_to_each<O: Observer<P>>(
        &mut self,
        message: P::Message,
        cause: Cause,
        observer: &mut O,
    ) {
        let letter = Letter { message, cause, left: 0, threshold: None };
        let letter = self.post.letters.insert(letter);
        for to in 0..self.members.nodes.len() as u32 {
            if !self.members.views.reaches(cause.from, to) {
                continue;
            }
            match self.fate(cause, to, true) {
                Ok((takes, again)) => {
                    self.post.letters[letter].left += 1 + u32::from(again.is_some());
                    self.post_copies(letter, to, takes, again);
                }
                Err(why) if O::TRACES => {
                    let message = self.post.letters[letter].message.clone();
                    self.record_loss(to, &message, cause, why, observer);
                }
                Err(_) => {}
            }
        }
        if self.post.letters[letter].left == 0 {
            self.post.letters.remove(letter);
        }
    }

    /// Posts a message to one process.
    #[inline(always)]
    fn post_to_one<O: Observer<P>>(
        &mut self,
        to: u32,
        message: P::Message,
        cause: Cause,
        observer: &mut O,
    ) {
        if let Some(takes) = self.post.sure
            && self.post.cuts.is_empty()
            && self.members.views.reaches(cause.from, to)
        {
            // No coin is read, and nothing is to be remembered but the letter.
            let letter = self.put::<O>(message, cause, 1);
            return self.post.push(self.now + takes, letter, to);
        }
        let fate = if to == cause.from {
            Ok((Duration::ZERO, None)) // over no network
        } else if self.members.views.reaches(cause.from, to) {
            self.fate(cause, to, false)
        } else {
            Err("reach")
        };
        match fate {
            Ok((takes, again)) => {
                let letter = self.put::<O>(message, cause, 1 + u32::from(again.is_some()));
                self.post_copies(letter, to, takes, again);
            }
            Err(why) if O::TRACES => self.record_loss(to, &message, cause, why, observer),
            Err(_) => {}
        }
    }

    /// Keeps a letter to one process, together with the one before if that says the same.
    #[inline(always)]
    fn put<O: Observer<P>>(&mut self, message: P::Message, cause: Cause, copies: u32) -> usize {
        if !O::TRACES && !O::HEARS {
            let last = self.post.last.and_then(|key| Some((key, self.post.letters.get_mut(key)?)));
            if let Some((key, letter)) = last
                && letter.message == message
            {
                letter.left += copies;
                return key;
            }
        }
        let key =
            self.post.letters.insert(Letter { message, cause, left: copies, threshold: None });
        self.post.last = Some(key);
        key
    }

    /// After how long a packet arrives, and its second copy if there is one; or why it does not.
    #[inline]
    fn fate(
        &mut self,
        cause: Cause,
        to: u32,
        multicast: bool,
    ) -> Result<(Duration, Option<Duration>), &'static str> {
        if self.post.cuts.severs(cause.from, to) {
            return Err("cut");
        }
        let packet = self.post.coins(cause);
        let Network { multicast: to_all, unicast: to_one, .. } = &self.network;
        let channel = if multicast { to_all } else { to_one };
        let mut good = false;
        let bad = self.post.bad.get_mut(to as usize).unwrap_or(&mut good);
        match self.network.fate(channel, packet, cause.from, to, bad) {
            Fate::Lost => Err("loss"),
            Fate::Arrives(takes, again) => Ok((takes, again)),
        }
    }

    #[inline]
    fn post_copies(&mut self, letter: usize, to: u32, takes: Duration, again: Option<Duration>) {
        self.post.push(self.now + takes, letter, to);
        if let Some(again) = again {
            self.post.push(self.now + again, letter, to);
        }
    }

    #[inline]
    pub(super) fn deliver<O: Observer<P>>(&mut self, observer: &mut O) {
        let Some(parcel) = self.post.pop() else { return };
        if parcel.letter == INBOX {
            if let Some((cause, message)) = self.members.take(parcel.to, self.now) {
                self.receive(parcel.to, message, cause, observer);
            }
            return;
        }
        let key = parcel.letter as usize;
        if parcel.to == EVERYONE {
            let letter = self.post.letters.remove(key);
            self.deliver_to_all(&letter, observer);
            return;
        }
        let letter = &mut self.post.letters[key];
        let last = letter.left == 1;
        if last && !O::TRACES && !needs_drop::<P::Message>() && self.members.is_open(parcel.to) {
            return self.deliver_in_place(parcel.to, key, observer);
        }
        let Letter { message, cause, .. } = if last {
            self.post.letters.remove(key)
        } else {
            letter.left -= 1;
            letter.clone()
        };
        self.deliver_to_one(parcel.to, message, cause, observer);
    }

    /// A process reads a message where it lies: to own it would be to copy it, if it is plain data.
    #[inline(always)]
    fn deliver_in_place<O: Observer<P>>(&mut self, to: u32, key: usize, observer: &mut O) {
        let Letter { message, cause, .. } = &self.post.letters[key];
        let cause = *cause;
        self.deliveries += 1;
        if O::HEARS {
            observer.on_receive(self.now, to, cause);
        }
        let mut stepped = None;
        if message.weight() >= self.members.bars[to as usize] {
            let input = Input::Message(id(cause.from), Cow::Borrowed(message));
            let (params, effects) = (self.params.of(to), &mut self.effects);
            let handling = Handling { now: self.now, params, effects };
            stepped = handling.run(&mut self.members, to, input, Some(cause), observer);
        }
        self.post.letters.remove(key);
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
            self.keep(to, message, cause);
        }
    }

    /// What arrives at a process that stands still or is slow waits in its inbox.
    fn keep(&mut self, to: u32, message: P::Message, cause: Cause) {
        let until = self.members.keep(to, cause, message, self.now);
        self.post.push(until, INBOX as usize, to);
    }

    /// A process handles a message.
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
        if message.weight() >= self.members.bars[to as usize] {
            let input = Input::Message(id(cause.from), Cow::Owned(message));
            self.step(to, input, Some(cause), observer);
        }
    }

    fn deliver_to_all<O: Observer<P>>(&mut self, letter: &Letter<P::Message>, observer: &mut O) {
        let Letter { message, cause, threshold, .. } = letter;
        let Some(threshold) = *threshold else { return };
        let packet = self.post.coins(*cause);
        let mut sieved = std::mem::take(&mut self.sieved);
        let question = Question {
            packet,
            threshold,
            weight: message.weight(),
            bars: &self.members.bars,
            open: &self.members.open,
        };
        sieve(self.arch, question, &mut sieved);
        let (word, lane) = (cause.from as usize / LANES, cause.from as usize % LANES);
        sieved[word].reached &= !(1 << lane);
        sieved[word].concerned &= !(1 << lane);
        for (word, &Sieved { reached, concerned }) in sieved.iter().enumerate() {
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
                    state.is_some_and(|state| state.knows(message, self.params.of(to)))
                };
                if concerned >> lane & 1 == 1 && !knows() {
                    let input = Input::Message(id(cause.from), Cow::Borrowed(message));
                    self.step(to, input, Some(*cause), observer);
                }
            }
        }
        self.sieved = sieved;
        self.hand_to_inboxes(letter, threshold);
    }

    fn hand_to_inboxes(&mut self, letter: &Letter<P::Message>, threshold: u32) {
        if self.members.paused == 0 && !self.members.slowed {
            return;
        }
        let packet = self.post.coins(letter.cause);
        let mut next = 0;
        while let Some((&to, _)) = self.members.lives.range(next..).next() {
            next = to + 1;
            let takes_later = self.node(to).is_some() && !self.members.is_open(to);
            if takes_later && to != letter.cause.from && packet.loss(to) >= threshold {
                self.keep(to, letter.message.clone(), letter.cause);
            }
        }
    }
}
