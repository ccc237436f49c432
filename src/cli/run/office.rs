//! Answers those who ask the running member, and passes on what is for the loop to do.

use super::bell::Bell;
use super::hooks::Tally;
use super::worker::Notes;
use bellwether::net::control::{Change, Desk, Heard, Watcher};
use bellwether::net::status::Status;
use bellwether::net::{Election, Next, Watch};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::Duration;

/// How long a command may take to end before whoever asked is told to look later.
const PATIENCE: Duration = Duration::from_secs(60);
/// The most who wait to be answered.
const WAITING_MAX: usize = 32;

/// Where the answer goes.
pub(super) type Reply = SyncSender<Result<(), String>>;

/// What the threads that answer hold.
#[derive(Debug)]
pub(super) struct Office {
    group: String,
    election: Election,
    resignations: SyncSender<Reply>,
    bell: Bell,
    hooks: Tally,
    notes: Notes,
}

impl Office {
    /// The office, and where the wish to resign arrives after the bell has rung.
    pub(super) fn new(
        group: &str,
        election: Election,
        bell: Bell,
        (hooks, notes): (Tally, Notes),
    ) -> (Self, Receiver<Reply>) {
        let (resignations, asked) = sync_channel(WAITING_MAX);
        (Self { group: group.to_owned(), election, resignations, bell, hooks, notes }, asked)
    }
}

impl Desk for Office {
    fn status(&self) -> Result<Status, String> {
        let mut status = self.election.status().map_err(|gone| gone.to_string())?;
        status.warnings.extend(self.hooks.warning());
        status.warnings.extend(self.notes.all());
        Ok(status)
    }

    fn resign(&self) -> Result<(), String> {
        let (reply, replied) = sync_channel(1);
        match self.resignations.try_send(reply) {
            Ok(()) => self.bell.ring(),
            Err(TrySendError::Full(_)) => return Err("it is being asked already".to_owned()),
            Err(TrySendError::Disconnected(_)) => return Err("it ends".to_owned()),
        }
        match replied.recv_timeout(PATIENCE) {
            Ok(done) => done,
            Err(RecvTimeoutError::Disconnected) => Err("it ends".to_owned()),
            Err(RecvTimeoutError::Timeout) => {
                Err("its command has not ended yet; it resigns as soon as it has".to_owned())
            }
        }
    }

    fn watch(&self) -> Box<dyn Watcher> {
        Box::new(Window { group: self.group.clone(), watch: self.election.watch() })
    }
}

/// One who watches.
#[derive(Debug)]
struct Window {
    group: String,
    watch: Watch,
}

impl Watcher for Window {
    fn next(&mut self, within: Duration) -> Heard {
        match self.watch.next_within(Some(within)) {
            Next::Changed(standing) => Heard::Change(Change::of(&self.group, &standing)),
            Next::Prolonged(_) | Next::Nothing => Heard::Nothing,
            Next::Ended => Heard::Ended,
        }
    }
}
