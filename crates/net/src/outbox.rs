//! What becomes of the outputs of a step: stored, recorded, told and sent, in this order.
//!
//! **Promise.** A step of an election that goes as usual allocates nothing: frames are sealed into
//! buffers that were used before, and what the application is told is changed in place.

use crate::frame::Kind;
use crate::member::Member;
use crate::snapshot::Snapshot;
use crate::socket::Sockets;
use crate::status::Traffic;
use crate::withdrawal::Reason;
use bellwether_core::{Dest, Instant, NodeId, Output};
use std::collections::VecDeque;
use std::net::SocketAddr;

/// Sealed frames that wait until the application was told.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    frames: VecDeque<Sealed>,
    /// Buffers of frames that were sent.
    spare: Vec<Vec<u8>>,
}

/// A sealed frame: its destination, its number and its bytes.
type Sealed = (Dest, u64, Vec<u8>);

/// The most buffers that are kept: a step sends few frames.
const SPARE_MAX: usize = 8;

impl Outbox {
    /// A buffer for a frame.
    fn buffer(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    fn put(&mut self, to: Dest, number: u64, frame: Vec<u8>) {
        self.frames.push_back((to, number, frame));
    }

    fn take(&mut self) -> Option<Sealed> {
        self.frames.pop_front()
    }

    /// Takes a buffer back.
    fn recycle(&mut self, frame: Vec<u8>) {
        if self.spare.len() < SPARE_MAX {
            self.spare.push(frame);
        }
    }
}

/// The outputs of a step.
impl Member {
    /// Executes the outputs of a step in this order: store, record, tell, send.
    pub(crate) fn finish(&mut self, now: Instant) {
        let Some(life) = &mut self.life else { return };
        let mut changed = false;
        let mut problem = None;
        while let Some(output) = life.output() {
            let mut number = 0;
            match &output {
                Output::Store(bytes) => {
                    problem = self.state.store(bytes).err();
                    if problem.is_some() {
                        break;
                    }
                }
                Output::Send { to, bytes, .. } => {
                    let mut frame = self.outbox.buffer();
                    let front = self.multicast.as_ref().and_then(|it| it.front(*to, bytes.len()));
                    let kind = front.map_or(Kind::Message, |_| Kind::Acknowledging);
                    let parts = (front.as_ref().map_or(&[][..], |front| front), &bytes[..]);
                    match self.sealer.seal_both(kind, receiver(*to), parts, &mut frame) {
                        Ok(sequence) => {
                            number = sequence;
                            self.outbox.put(*to, number, frame);
                        }
                        Err(not_sealed) => {
                            self.traffic.send_failures += 1;
                            self.warning = Some(not_sealed.to_string());
                        }
                    }
                }
                Output::Leadership => changed = true,
            }
            self.recorder.output(now, &output, number);
            if let Output::Send { bytes, .. } = output {
                life.recycle(bytes);
            }
        }
        if let Some(error) = problem {
            // The step's state is not durable: nothing of this step may be sent, and nobody may act
            // on what the protocol believes since.
            self.outbox.frames.clear();
            self.recorder.discard();
            return self.withdraw(Reason::Disk(error.to_string()));
        }
        self.recorder.belief(now, life.endpoint(), changed);
        self.recorder.flush();
        self.tell(now, changed);
        while let Some((to, number, frame)) = self.outbox.take() {
            self.transmit(to, number, &frame, now);
            self.outbox.recycle(frame);
        }
    }

    fn tell(&mut self, now: Instant, changed: bool) {
        let Some(life) = &self.life else { return };
        let leadership = life.leadership(now);
        if changed || !self.shared.prolong(&leadership, now) {
            let kept = self.settings.program.founding_record.is_some();
            self.shared.tell(Snapshot {
                me: self.settings.me,
                leaders: leadership.leaders.to_vec(),
                term: leadership.term,
                term_kept: leadership.term.is_some() && kept,
                reign: 0, // counted where it is told
                until: leadership.until,
                stage: leadership.stage,
                withdrawn: None,
                at: now,
            });
        }
        self.shared.set_successor(life.endpoint().successor(now));
        if self.settings.program.leases.is_some_and(|leases| !leases.majority) {
            let leader = leadership.leaders.first().copied();
            let partition = life.endpoint().partition(now).zip(leader);
            self.shared.note_partition(partition, || life.endpoint().partition_members(now));
        }
        if changed {
            self.changed(now);
        }
    }

    /// Sends the frame with this number to its destination.
    pub(crate) fn transmit(&mut self, to: Dest, number: u64, frame: &[u8], now: Instant) {
        let Self { directory, sockets, traffic, multicast, .. } = self;
        match to {
            Dest::Everyone => {
                let chosen = multicast.as_mut().and_then(|multicast| {
                    let group = multicast.choose(number, directory, now)?;
                    Some((group, &*multicast))
                });
                // Before the copies: whoever gets both learns that it hears this one.
                let chosen = chosen.filter(|(group, _)| send(sockets, traffic, *group, frame));
                let Some((_, multicast)) = chosen else {
                    return directory.everyone(&mut |at| {
                        send(sockets, traffic, at, frame);
                    });
                };
                directory.listed(&mut |id, at| {
                    if !multicast.covers(id) {
                        send(sockets, traffic, at, frame);
                    }
                });
            }
            Dest::Node(id) => match directory.address(id) {
                Some(address) => {
                    send(sockets, traffic, address, frame);
                }
                None => traffic.send_failures += 1,
            },
        }
    }

    /// Sends a frame to an address.
    pub(crate) fn send(&mut self, address: SocketAddr, frame: &[u8]) {
        send(&self.sockets, &mut self.traffic, address, frame);
    }
}

/// Sends a frame to an address, and counts it. False if the system refused it.
fn send(sockets: &Sockets, traffic: &mut Traffic, address: SocketAddr, frame: &[u8]) -> bool {
    let sent = sockets.send(address, frame).is_ok();
    if sent {
        traffic.sent += 1;
        traffic.multicast += u64::from(address.ip().is_multicast());
        traffic.sent_bytes += frame.len() as u64;
    } else {
        traffic.send_failures += 1;
    }
    sent
}

/// The receiver that a frame names.
fn receiver(to: Dest) -> Option<NodeId> {
    match to {
        Dest::Everyone => None,
        Dest::Node(id) => Some(id),
    }
}
