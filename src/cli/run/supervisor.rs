//! The loop of `bellwether run`: waits for signals, changes, the guardian, whoever asks, and time.
//!
//! **Promise.** A command is gone before the leadership that it needs is given up: to resign or to
//! end is a wish until the command is idle, and only then done.

use super::super::change;
use super::super::signals::{Asked, Signals};
use super::bell::Bell;
use super::complaints::Complaints;
use super::hooks::Hooks;
use super::office::Reply;
use super::options::Format;
use super::printer::Printer;
use super::settings::read_keys;
use super::worker::{Fate, Worker};
use bellwether::core::{Duration, Instant, NodeId};
use bellwether::net::clock::{BootTime, Clock};
use bellwether::net::control::Change;
use bellwether::net::{Election, Next, Standing, Watch};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::Receiver;

/// Not elected in time.
pub(super) const NOT_ELECTED: u8 = 124;
/// Leadership was lost, with --once.
pub(super) const LOST: u8 = 75;
/// The command is there, but cannot be started; and: it is not there.
const NOT_STARTED: u8 = 126;
const NOT_FOUND: u8 = 127;

/// All that the loop looks after.
pub(super) struct Supervisor {
    pub(super) group: String,
    pub(super) election: Election,
    pub(super) watch: Watch,
    pub(super) signals: Signals,
    pub(super) bell: Bell,
    pub(super) resignations: Receiver<Reply>,
    pub(super) hooks: Hooks,
    pub(super) printer: Option<(Printer, Format)>,
    pub(super) worker: Option<Worker>,
    pub(super) keys: Option<PathBuf>,
    pub(super) complaints: Complaints,
    /// When it must lead at the latest, if it must.
    pub(super) deadline: Option<(Instant, Duration)>,
    pub(super) once: bool,
    /// Whether it has led.
    pub(super) led: bool,
    /// Who wait for it to resign.
    pub(super) resigning: Vec<Reply>,
    /// How it ends, once the command is gone.
    pub(super) ending: Option<u8>,
}

impl Supervisor {
    /// Looks after everything until it is over; the exit code.
    pub(super) fn run(mut self) -> io::Result<u8> {
        loop {
            for asked in self.signals.pending() {
                self.signalled(asked);
            }
            self.hear_changes();
            self.hear_worker();
            self.bell.quiet();
            self.resigning.extend(self.resignations.try_iter());
            if self.printer.as_ref().is_some_and(|(printer, _)| printer.is_closed()) {
                self.end_with(0); // as any program does whose reader has gone
            }
            let standing = self.election.leadership();
            self.judge(&standing);
            self.complaints.look(&standing, &self.election);
            if let Some(code) = self.act(&standing) {
                return Ok(self.finish(code));
            }
            self.sleep(&standing)?;
        }
    }

    fn end_with(&mut self, code: u8) {
        self.ending.get_or_insert(code);
    }

    fn signalled(&mut self, asked: Asked) {
        match asked {
            Asked::End => self.end_with(0),
            Asked::Reload => self.reload(),
            Asked::Forward(signal) => {
                if let Some(worker) = &mut self.worker {
                    worker.signal(signal);
                }
            }
        }
    }

    /// Reads the keys again; what cannot be read changes nothing.
    fn reload(&self) {
        let Some(file) = &self.keys else { return };
        match read_keys(file) {
            Ok(keyring) => {
                let ids = keyring.ids(&self.group).join(", accepts ");
                if self.election.set_keyring(keyring).is_ok() {
                    eprintln!("bellwether: read {} again: sends with {ids}", file.display());
                }
            }
            Err(failure) => eprintln!("bellwether: {failure}; the keys stay as they were"),
        }
    }

    fn hear_changes(&mut self) {
        loop {
            match self.watch.try_next() {
                Next::Changed(standing) => self.tell(&standing),
                Next::Prolonged(_) => {}
                Next::Nothing => return,
                Next::Ended => {
                    if self.ending.is_none() {
                        eprintln!("bellwether: the member has ended");
                    }
                    return self.end_with(1);
                }
            }
        }
    }

    fn tell(&mut self, standing: &Standing) {
        let seen = Change::of(&self.group, standing);
        self.complaints.hear(standing, self.printer.is_some());
        if let Some((printer, format)) = &self.printer {
            printer.print(match format {
                Format::Text => change::text(&seen),
                Format::Json => change::json(&seen),
            });
        }
        self.hooks.tell(&seen);
    }

    fn hear_worker(&mut self) {
        let Some(worker) = &mut self.worker else { return };
        match worker.news(BootTime.now()) {
            Ok(None) => {}
            Ok(Some(Fate::Done(code))) => self.end_with(code),
            Ok(Some(Fate::NotStarted(error))) => {
                eprintln!("bellwether: cannot start the command: {error}");
                let missing = error.contains("No such file");
                self.end_with(if missing { NOT_FOUND } else { NOT_STARTED });
            }
            Ok(Some(Fate::Lost)) => {
                eprintln!("bellwether: the guardian was lost, and the command with it; it resigns");
                let _ = self.election.resign(); // it may not lead any more
            }
            Err(error) => {
                eprintln!("bellwether: the guardian was lost, and no other starts: {error}");
                self.worker = None; // all that it guarded has ended
                self.end_with(1);
            }
        }
    }

    /// Whether it has to end, as things stand.
    fn judge(&mut self, standing: &Standing) {
        if standing.leads() {
            self.led = true;
        } else if self.led && self.once && self.ending.is_none() {
            eprintln!("bellwether: it leads no longer");
            self.end_with(LOST);
        }
        if let Some((deadline, within)) = self.deadline
            && !self.led
            && standing.at >= deadline
            && self.ending.is_none()
        {
            eprintln!("bellwether: it was not elected within {within}");
            self.end_with(NOT_ELECTED);
        }
    }

    /// Does what can be done now; the exit code, if that was the last.
    fn act(&mut self, standing: &Standing) -> Option<u8> {
        let wanted = standing.leads() && self.ending.is_none() && self.resigning.is_empty();
        if let Some(worker) = &mut self.worker {
            if wanted {
                worker.lead(standing);
            } else {
                worker.end();
            }
            if !worker.is_idle() {
                return None;
            }
        }
        for reply in self.resigning.drain(..) {
            let done = self.election.resign().map_err(|refused| {
                let ask = |leader: &NodeId| format!("it follows {leader}: ask that one");
                let leader = standing.leaders.first().filter(|leader| **leader != standing.me);
                leader.map_or_else(|| refused.to_string(), ask)
            });
            let _ = reply.send(done); // whoever asked may not wait any more
        }
        self.ending
    }

    /// Waits until there is something to do.
    fn sleep(&mut self, standing: &Standing) -> io::Result<()> {
        let worker = self.worker.as_ref();
        let mut wake = worker.map_or(Instant::NEVER, |worker| worker.poll_timeout(standing));
        if let Some((deadline, _)) = self.deadline.filter(|_| !self.led) {
            wake = wake.min(deadline);
        }
        if standing.leads() {
            wake = wake.min(standing.until);
        }
        wake = wake.min(self.complaints.next());
        let left = std::time::Duration::from_nanos(wake.since(BootTime.now()).as_nanos());
        let timeout = (wake != Instant::NEVER).then(|| Timespec::try_from(left).ok()).flatten();
        let watch = self.watch.fd()?;
        let mut fds = vec![
            PollFd::new(&self.signals, PollFlags::IN),
            PollFd::new(&self.bell, PollFlags::IN),
            PollFd::from_borrowed_fd(watch, PollFlags::IN),
        ];
        fds.extend(worker.map(|worker| PollFd::from_borrowed_fd(worker.fd(), PollFlags::IN)));
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Hands over and says goodbye; nothing of the command is left by now.
    fn finish(self, code: u8) -> u8 {
        self.election.leave();
        let last = Change::of(&self.group, &self.election.leadership());
        drop(self.worker);
        self.hooks.end(last);
        if let Some((printer, _)) = self.printer {
            printer.end();
        }
        code
    }
}
