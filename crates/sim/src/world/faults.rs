//! Applies faults and commands.

use super::World;
use crate::clock::Clock;
use crate::fault::{Disk, Fault, Who};
use crate::observer::{Observer, id};
use bellwether_core::{Change, Command, Dest, Event, Input, Instant, Node, Protocol, Reach};
use std::collections::BTreeMap;

impl<P: Protocol> World<P> {
    pub(super) fn inject<O: Observer<P>>(&mut self, fault: &Fault, observer: &mut O) {
        match fault {
            Fault::Cut { from, to } => return self.in_flight.cuts.add(from, to),
            Fault::Heal => return self.in_flight.cuts.heal(),
            Fault::Mend { from, to } => return self.in_flight.cuts.mend(from, to),
            Fault::Link { ends: (a, b), up } => {
                if self.members.views.link(*a, *b, *up) {
                    self.link(*a, *b, *up, observer);
                    self.link(*b, *a, *up, observer);
                }
                return;
            }
            Fault::Network { network } => {
                self.network.clone_from(network);
                return self.in_flight.set_network(network, self.batch);
            }
            _ => {}
        }
        let Some(node) = fault.node().and_then(|who| self.find(who)) else { return };
        match (fault, self.node(node).is_some()) {
            (Fault::Join { .. }, false) => self.enter(node, Disk::Kept, observer),
            (Fault::Restart { disk, reboot, .. }, false) => {
                if *reboot {
                    let clock = self.members.clock(node).rebooted(self.now);
                    self.members.clocks[node as usize] = clock;
                }
                self.enter(node, *disk, observer);
            }
            (Fault::Renumber { life, .. }, false) => self.members.renumber(node, *life),
            (Fault::Release { .. }, runs) => {
                let life = self.members.life(node);
                let life = if runs { life.incarnation } else { life.former() };
                self.will(node, life, observer);
            }
            // A clock belongs to the machine and runs on without the process.
            (Fault::Drift { parts_per_billion, .. }, false) => {
                let clock = self.members.clock(node).drifting(self.now, *parts_per_billion);
                self.members.clocks[node as usize] = clock;
            }
            (Fault::Join { .. } | Fault::Restart { .. }, true) | (_, false) => {}
            (_, true) => self.inject_into(node, fault, observer),
        }
    }

    /// The process that is meant. The leader is the process that most others name first; the one
    /// with the greatest id if several tie.
    fn find(&self, who: Who) -> Option<u32> {
        if let Who::Node(node) = who {
            return Some(node);
        }
        let mut votes = BTreeMap::<u64, u32>::new();
        for (node, state) in self.members.nodes.iter().enumerate() {
            if let Some(state) = state
                && let [first, ..] = state.leadership(self.clock(node as u32)).leaders
            {
                *votes.entry(first.0).or_default() += 1;
            }
        }
        let most = votes.into_iter().max_by_key(|(id, votes)| (*votes, *id));
        most.and_then(|(id, _)| u32::try_from(id).ok())
    }

    fn inject_into<O: Observer<P>>(&mut self, node: u32, fault: &Fault, observer: &mut O) {
        match fault {
            Fault::Crash { .. } => self.remove(node, Event::Crash, observer),
            Fault::Kill { release, .. } => {
                self.remove(node, Event::Crash, observer);
                let (at, life) = (self.now + *release, self.members.life(node).former());
                let place = self.wills.partition_point(|(due, ..)| *due <= at);
                self.wills.insert(place, (at, node, life));
            }
            Fault::Pause { .. } => {
                self.members.pause(node);
                self.record(node, Event::Pause, observer);
            }
            Fault::Resume { .. } => self.resume(node, observer),
            Fault::Slow { by, .. } => {
                self.members.life(node).slow = *by;
                self.members.slowed = true;
                self.members.update_open(node);
            }
            Fault::Drift { parts_per_billion, .. } => {
                let clock = self.members.clock(node).drifting(self.now, *parts_per_billion);
                self.set_clock(node, clock);
            }
            Fault::Jump { by, .. } => {
                let clock = self.members.clock(node).jumped(self.now, *by);
                self.set_clock(node, clock);
                self.record(node, Event::Jump { reads: clock.read(self.now) }, observer);
            }
            _ => {
                let Some(command) = fault.command() else { return };
                if self.members.is_paused(node) {
                    self.members.life(node).asked.push(command);
                } else {
                    self.command(node, command, observer);
                }
            }
        }
    }

    fn command<O: Observer<P>>(&mut self, node: u32, command: Command, observer: &mut O) {
        let (params, effects) = (self.params.of(node), &mut self.effects);
        let asked = self.members.act(node, self.now, |state, env| {
            let answer = state.command(command, env, params, effects);
            if answer == Ok(Change::Changed) && command != Command::Leave {
                observer.on_change(self.now, node, &state.leadership(env.now), None);
            }
            (answer, state.poll_timeout())
        });
        let Some((answer, wake)) = asked else { return };
        let taken = answer.is_ok();
        if O::TRACES {
            self.record(node, Event::Command { command: format!("{command:?}"), taken }, observer);
        }
        self.settle(node, wake, observer);
        if command == Command::Leave {
            self.remove(node, Event::Leave, observer);
            let life = self.members.life(node).former();
            return observer.on_farewell(self.now, node, life);
        }
        if O::TRACES {
            self.record_belief(node, answer == Ok(Change::Changed), observer);
        }
        self.show(node, observer);
    }

    fn remove<O: Observer<P>>(&mut self, node: u32, event: Event, observer: &mut O) {
        self.members.remove(node);
        self.told.remove(&node);
        observer.on_gone(self.now, node);
        self.record(node, event, observer);
        self.show(node, observer);
        self.schedule_detection(node, Reach::Down);
    }

    /// Sends the last will that is due, unless a later incarnation has the same number.
    pub(super) fn send_will<O: Observer<P>>(&mut self, observer: &mut O) {
        let Some((_, node, life)) = self.wills.pop_front() else { return };
        if self.node(node).is_none() || self.members.life(node).incarnation != life {
            self.will(node, life, observer);
        }
    }

    /// Sends the last will of an incarnation, if the protocol has one.
    fn will<O: Observer<P>>(&mut self, node: u32, life: u64, observer: &mut O) {
        if let Some(mut message) = P::last_will(life, self.params.of(node)) {
            self.in_flight.begin_step();
            self.send(node, Dest::Everyone, &mut message, observer);
            observer.on_farewell(self.now, node, life);
        }
    }

    /// Starts a process during a run.
    fn enter<O: Observer<P>>(&mut self, node: u32, disk: Disk, observer: &mut O) {
        self.start(node, disk, observer);
        if self.detection.is_none() {
            return;
        }
        self.schedule_detection(node, Reach::Up);
        for other in 0..self.members.nodes.len() as u32 {
            if self.node(other).is_none() && self.members.views.reaches(node, other) {
                self.tell(node, other, Reach::Down, observer);
            }
        }
    }

    /// Schedules the detection of a start or a stop: all that see the process will be told.
    pub(super) fn schedule_detection(&mut self, node: u32, reach: Reach) {
        if let Some(after) = self.detection {
            self.detections.push_back((self.now + after, node, reach));
        }
    }

    /// Tells all that see a process whether it can be reached: the first of the scheduled
    /// detections.
    pub(super) fn spread_detection<O: Observer<P>>(&mut self, observer: &mut O) {
        let Some((_, node, reach)) = self.detections.pop_front() else { return };
        for to in 0..self.members.nodes.len() as u32 {
            if self.members.views.reaches(to, node) {
                self.tell(to, node, reach, observer);
            }
        }
    }

    /// Tells a process that a link to another appeared or disappeared. A link to a stopped process
    /// is no sign of life; where failures are detected, the process is told that the other one is
    /// down.
    fn link<O: Observer<P>>(&mut self, to: u32, node: u32, up: bool, observer: &mut O) {
        match (up, self.node(node).is_some()) {
            (true, true) => self.tell(to, node, Reach::Up, observer),
            (true, false) if self.detection.is_none() => {}
            _ => self.tell(to, node, Reach::Down, observer),
        }
    }

    /// Tells a process whether another can be reached. A paused process learns it when it resumes.
    fn tell<O: Observer<P>>(&mut self, to: u32, node: u32, reach: Reach, observer: &mut O) {
        if self.members.is_paused(to) {
            self.members.life(to).heard.push((node, reach));
        } else if self.node(to).is_some() {
            if O::TRACES {
                let event = Event::Reach { peer: id(node), up: reach == Reach::Up };
                self.record(to, event, observer);
            }
            self.step(to, Input::Peer(id(node), reach), None, observer);
        }
    }

    fn resume<O: Observer<P>>(&mut self, node: u32, observer: &mut O) {
        if !self.members.unpause(node) {
            return;
        }
        let life = self.members.life(node);
        let (asked, heard) = (std::mem::take(&mut life.asked), std::mem::take(&mut life.heard));
        self.members.update_open(node);
        self.record(node, Event::Resume, observer);
        while let Some((cause, message)) = self.members.take(node, self.now) {
            self.receive(node, message, cause, observer);
        }
        for (peer, reach) in heard {
            self.tell(node, peer, reach, observer);
        }
        for command in asked {
            self.command(node, command, observer);
        }
        self.queue_again(node);
    }

    fn set_clock(&mut self, node: u32, clock: Clock) {
        self.members.clocks[node as usize] = clock;
        self.queue_again(node);
    }

    /// Queues a process anew after its clock or its pause changed.
    fn queue_again(&mut self, node: u32) {
        if let Some(wake) = self.node(node).map(Node::poll_timeout) {
            let when = self.members.when(node, wake, self.now);
            if wake != Instant::NEVER {
                self.members.queue(node, when);
            }
        }
    }
}
