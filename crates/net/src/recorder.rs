//! The trace of a live member: the same records as in a simulation, so that the same checks and
//! diagrams serve both.
//!
//! A record is written before its step takes effect: a process that is killed in between may have
//! recorded a step that it did not take. Each step goes to the file at once, so a killed process
//! loses at most the last line.

use crate::files;
use crate::past::PastWriter;
use bellwether_core::{
    BeliefTracer, Command, Dest, Endpoint, Event, Instant, LifeHeader, NodeId, Output, Record,
    SimTime, to_hex,
};
use rustix::fs::{Mode, OFlags};
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

/// Writes the trace of one member to a file, if there is one, and its changes to memory.
#[derive(Debug)]
pub(crate) struct Recorder {
    file: Option<File>,
    node: NodeId,
    /// The lines of the current step.
    lines: Vec<u8>,
    told: BeliefTracer,
    past: PastWriter,
    /// Why recording has stopped, if it has.
    pub(crate) failed: Option<String>,
}

impl Recorder {
    /// Appends to this file, if one is given. Only a regular file is accepted: a pipe or a device
    /// could block the election.
    pub(crate) fn open(path: Option<&Path>, node: NodeId, past: PastWriter) -> io::Result<Self> {
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE;
        let open = |path: &Path| files::open(path, flags, Mode::RUSR | Mode::WUSR);
        let file = path.map(open).transpose()?;
        let (lines, told, failed) = (Vec::new(), BeliefTracer::default(), None);
        Ok(Self { file, node, lines, told, past, failed })
    }

    fn add(&mut self, now: Instant, event: Event) {
        let record = Record { t: SimTime::from_nanos(now.as_nanos()), node: self.node, event };
        // A record is strings and numbers under fixed keys, and a vector takes all bytes.
        if serde_json::to_writer(&mut self.lines, &record).is_ok() {
            self.lines.push(b'\n');
        }
    }

    fn is_on(&self) -> bool {
        self.file.is_some()
    }

    /// Records that an incarnation begins.
    pub(crate) fn begin(&mut self, now: Instant, head: LifeHeader) {
        self.past.begin(now, &head);
        if self.is_on() {
            let incarnation = head.incarnation;
            self.told = BeliefTracer::default();
            // An earlier incarnation may have left half a line.
            if self.file.as_ref().is_some_and(|file| file.metadata().is_ok_and(|it| it.len() > 0)) {
                self.lines.push(b'\n');
            }
            self.add(now, Event::Begin(head));
            self.add(now, Event::Start { incarnation });
        }
    }

    /// Records that a message arrived, with the incarnation of its sender and its number there.
    pub(crate) fn received(
        &mut self,
        now: Instant,
        from: NodeId,
        message: &'static str,
        (life, number): (u64, u64),
        body: &[u8],
    ) {
        self.past.received(now, from, message, (life, number));
        if self.is_on() {
            let (message, sent) = (Cow::Borrowed(message), SimTime::from_nanos(now.as_nanos()));
            let (life, body) = (Some(life), Some(to_hex(body)));
            self.add(now, Event::Recv { from, message, number, sent, life, body });
        }
    }

    /// Records that a timer fires.
    pub(crate) fn timer(&mut self, now: Instant, endpoint: &dyn Endpoint) {
        self.past.step();
        if self.is_on()
            && let Some(timer) = endpoint.due(now)
        {
            self.add(now, Event::Timer { timer });
        }
    }

    /// Records a command of the application.
    pub(crate) fn command(&mut self, now: Instant, command: Command, taken: bool) {
        self.past.command(now, command, taken);
        if self.is_on() {
            self.add(now, Event::Command { command: format!("{command:?}"), taken });
        }
    }

    /// Records that the set of known members changed.
    pub(crate) fn peers(&mut self, now: Instant, members: Vec<NodeId>) {
        self.past.members(now, &members);
        if self.is_on() {
            self.add(now, Event::Peers { members });
        }
    }

    /// Records that something is stored or sent; `number` is the frame's.
    pub(crate) fn output(&mut self, now: Instant, output: &Output, number: u64) {
        if !self.is_on() {
            return;
        }
        match output {
            Output::Store(bytes) => self.add(now, Event::Store { bytes: bytes.len() }),
            Output::Send { to, message, .. } => {
                let to = match to {
                    Dest::Everyone => None,
                    Dest::Node(to) => Some(*to),
                };
                self.add(now, Event::Send { to, message: Cow::Borrowed(message), number });
            }
            Output::Leadership => {}
        }
    }

    /// Records what the process believes, where that changed or was prolonged.
    pub(crate) fn belief(&mut self, now: Instant, endpoint: &dyn Endpoint, changed: bool) {
        self.past.belief(now, &endpoint.leadership(now));
        if !self.is_on() {
            return;
        }
        let mut facts = Vec::new();
        endpoint.facts(now, &mut |fact| facts.push(fact));
        let mut told = std::mem::take(&mut self.told);
        let leadership = endpoint.leadership(now);
        told.tell(now, &leadership, &facts, changed, &mut |event| self.add(now, event));
        self.told = told;
    }

    /// Notes that the member withdraws. In the file its life just ends.
    pub(crate) fn withdraw(&mut self, now: Instant, why: &'static str) {
        self.past.withdraw(now, why);
    }

    /// Records that the member leaves.
    pub(crate) fn leave(&mut self, now: Instant) {
        self.past.leave(now);
        if self.is_on() {
            self.add(now, Event::Leave);
        }
    }

    /// Forgets the records of a step that did not happen: it could not be stored.
    pub(crate) fn discard(&mut self) {
        self.lines.clear();
    }

    /// Writes the records of the step to the file.
    pub(crate) fn flush(&mut self) {
        let Some(file) = &mut self.file else { return };
        if self.lines.is_empty() {
            return;
        }
        // A trace with a gap would mislead, so recording stops at the first failure.
        if let Err(error) = file.write_all(&self.lines) {
            self.failed = Some(format!("the trace ends here: it cannot be written: {error}"));
            self.file = None;
        }
        self.lines.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::past::Ring;
    use std::sync::Arc;

    #[test]
    fn a_life_that_follows_half_a_line_begins_a_line_of_its_own() {
        let name = format!("bellwether-recorder-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, "{\"t\":5,\"nod").expect("it can be written");
        let past = PastWriter::new(Arc::new(Ring::new()), NodeId(3));
        let mut recorder = Recorder::open(Some(&path), NodeId(3), past).expect("it can be opened");
        let [boot, group, protocol, params] = [(); 4].map(|()| String::new());
        let (members, memory, work) = (Vec::new(), None, None);
        let (incarnation, rank, seed) = (7, 0, 0);
        let head = LifeHeader {
            boot,
            group,
            protocol,
            params,
            incarnation,
            rank,
            candidacy: bellwether_core::Candidacy::default(),
            members,
            founders: None,
            seed,
            memory,
            work,
        };
        recorder.begin(Instant::from_nanos(9), head);
        recorder.flush();
        let text = std::fs::read_to_string(&path).expect("it was written");
        std::fs::remove_file(&path).expect("it is there");
        let whole: Vec<Record> =
            text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        assert!(matches!(whole[0].event, Event::Begin(_)), "{text}");
        assert_eq!(whole[1].event, Event::Start { incarnation: 7 });
    }
}
