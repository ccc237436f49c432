//! A few processes, their clocks and the packets between them, as an all-knowing observer sees
//! them: every packet has the real times of its stamps with it.

use crate::clock::Clock;
use crate::judge::{Hearing, Judge, Stamped};
use crate::probe::{Probe, Word};
use crate::weather::Weather;
use bellwether_core::harness::{Harness, Scripted};
use bellwether_core::{Boot, Command, Dest, Memory, NodeId};
use bellwether_protocols::local_leader::fail_aware::{FailAware, Frame, Params};

/// More deliveries than this in a history are a conversation without end.
const DELIVERIES_MAX: usize = 2_000;

type Layer = FailAware<Probe>;

struct Process {
    /// The process itself, which draws nothing.
    inner: Harness<Layer>,
    clock: Clock,
    life: u64,
    /// Until then it handles nothing.
    paused: u64,
}

/// A frame on its way.
struct Packet {
    from: NodeId,
    to: usize,
    /// When it is handled.
    at: u64,
    /// c: the real time of its stamp C.
    sent: u64,
    /// b: the real time of B in the receiver's row.
    heard: Option<u64>,
    frame: Frame<Word>,
}

pub(crate) struct World<'a> {
    pub(crate) weather: Weather,
    /// The number of this history.
    history: u64,
    now: u64,
    processes: Vec<Process>,
    packets: Vec<Packet>,
    delivered: usize,
    params: &'a Params<()>,
    judge: &'a mut Judge,
}

impl<'a> World<'a> {
    pub(crate) fn new(
        history: u64,
        weather: Weather,
        params: &'a Params<()>,
        judge: &'a mut Judge,
    ) -> Self {
        let (processes, packets, now, delivered) = (Vec::new(), Vec::new(), 0, 0);
        Self { weather, history, now, processes, packets, delivered, params, judge }
    }

    /// The next process starts, in a group of `count`.
    pub(crate) fn join(&mut self, mut clock: Clock, count: u64) {
        let index = self.processes.len();
        let peers = (0..count).map(NodeId).filter(|peer| *peer != id(index)).collect();
        let (boot, now) = (Boot::first(id(index)), clock.read(self.now));
        let inner = Harness::begin(boot, self.params.clone(), peers, now, Scripted::default());
        self.processes.push(Process { inner, clock, life: 1, paused: 0 });
        self.post(index);
    }

    /// A process loses all it knew, and its clock so many nanoseconds.
    pub(crate) fn restart(&mut self, index: usize, back: u64) {
        let process = &mut self.processes[index];
        process.clock.reborn(self.now, back);
        process.life += 1;
        let boot =
            Boot { incarnation: process.life, memory: Memory::Lost, ..Boot::first(id(index)) };
        process.inner.restart(boot, process.clock.read(self.now));
        self.post(index);
    }

    /// How far a process's clock could be set back.
    pub(crate) fn clock_shows(&mut self, index: usize) -> u64 {
        self.processes[index].clock.nanos(self.now)
    }

    /// From now on a process's clock runs at this rate.
    pub(crate) fn drift(&mut self, index: usize, rate: u64) {
        self.processes[index].clock.drift(self.now, rate);
    }

    /// A process sleeps; its clock does not.
    pub(crate) fn pause(&mut self, index: usize, length: u64) {
        self.processes[index].paused = self.now + length;
    }

    /// A process sees to a timer, or says a word, unless it sleeps.
    pub(crate) fn wake(&mut self, index: usize, word: Option<Command>) {
        let process = &mut self.processes[index];
        if process.paused > self.now {
            return;
        }
        process.inner.set_clock(process.clock.read(self.now));
        match word {
            None => _ = process.inner.timeout(),
            Some(command) => {
                process.inner.command(command).expect("the probe speaks when told to");
            }
        }
        self.post(index);
    }

    /// Lets time pass and delivers what arrives in it.
    pub(crate) fn wait(&mut self, length: u64) {
        let end = self.now + length;
        while self.deliver_before(end) {}
        self.now = end;
    }

    /// Delivers all that is under way, and what comes of it.
    pub(crate) fn finish(mut self) {
        while self.deliver_before(u64::MAX) {}
        self.judge.endless += u64::from(!self.packets.is_empty());
    }

    /// Delivers the first packet, if it arrives by `end`.
    fn deliver_before(&mut self, end: u64) -> bool {
        let first = (0..self.packets.len()).min_by_key(|&packet| self.packets[packet].at);
        let Some(first) = first.filter(|&packet| self.packets[packet].at <= end) else {
            return false;
        };
        let packet = &mut self.packets[first];
        let awake = self.processes[packet.to].paused;
        if packet.at < awake {
            packet.at = awake;
            return true;
        }
        if self.delivered == DELIVERIES_MAX {
            return false;
        }
        self.delivered += 1;
        let packet = self.packets.swap_remove(first);
        self.now = packet.at;
        self.deliver(packet);
        true
    }

    fn deliver(&mut self, packet: Packet) {
        let Packet { from, to, sent, heard, frame, .. } = packet;
        let process = &mut self.processes[to];
        let now = process.clock.read(self.now);
        let row = frame.echoes.iter().find(|row| row.node == id(to)).copied();
        let stamp = frame.sent;
        let words = process.inner.state().inner().words;
        process.inner.set_clock(now).message(from.0, frame);
        let probe = process.inner.state().inner();
        if probe.words > words {
            let stamped = row.map(|row| Stamped {
                readings: [row.sent, row.received, stamp, now],
                asked: process.clock.when(row.sent),
                heard,
            });
            let usual = self.weather.fastest + self.weather.pace;
            let (bound, handled) = (probe.bound, self.now);
            let word = Hearing { bound, stamped, sent, handled, usual };
            self.judge.hears(self.history, self.params, &word);
        }
        self.post(to);
    }

    /// Sends what the last step asked for.
    fn post(&mut self, index: usize) {
        let (from, sent, process) = (id(index), self.now, &self.processes[index]);
        for (dest, frame) in process.inner.sends() {
            for to in (0..self.processes.len()).filter(|to| *to != index) {
                if dest != Dest::Everyone && dest != Dest::Node(id(to)) {
                    continue;
                }
                let row = frame.echoes.iter().find(|row| row.node == id(to));
                let heard = row.and_then(|row| process.clock.when(row.received));
                for delay in self.weather.copies().into_iter().flatten() {
                    let (at, frame) = (sent + delay, frame.clone());
                    self.packets.push(Packet { from, to, at, sent, heard, frame });
                }
            }
        }
    }
}

/// The name of a process.
fn id(index: usize) -> NodeId {
    NodeId(index as u64)
}
