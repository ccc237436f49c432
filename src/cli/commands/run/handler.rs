//! Answers requests at the control socket, and passes on what the loop has to do.
//!
//! **Promise.** It also answers before the member has joined, and then says so.

use super::hooks::Tally;
use super::printer::Printer;
use super::worker::Notes;
use bellwether::net::WakeFd;
use bellwether::net::control::{Change, ChangeStream, ControlHandler, WatchEvent};
use bellwether::net::status::Status;
use bellwether::net::{Election, Next, Watch};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// How long a command may take to end before the answer is "look later".
const PATIENCE: Duration = Duration::from_secs(60);
/// The most requests that wait for an answer.
const WAITING_MAX: usize = 32;
/// How often a watching client checks whether the member has joined.
const LOOK: Duration = Duration::from_millis(50);

/// Where the answer goes.
pub(super) type Reply = SyncSender<Result<(), String>>;

/// The state that the answering threads share.
#[derive(Debug)]
pub(super) struct RunHandler {
    group: String,
    joined: Arc<OnceLock<Election>>,
    hooks: OnceLock<Tally>,
    notes: OnceLock<Notes>,
    resignations: SyncSender<Reply>,
    waker: WakeFd,
    printers: Vec<Printer>,
}

impl RunHandler {
    /// The handler of a member that is yet to join, and where requests to resign arrive; each wakes
    /// the loop.
    pub(super) fn new(
        group: &str,
        waker: WakeFd,
        printers: Vec<Printer>,
    ) -> (Self, Receiver<Reply>) {
        let (resignations, asked) = sync_channel(WAITING_MAX);
        let handler = Self {
            group: group.to_owned(),
            joined: Arc::default(),
            hooks: OnceLock::new(),
            notes: OnceLock::new(),
            resignations,
            waker,
            printers,
        };
        (handler, asked)
    }

    /// The member has joined.
    pub(super) fn open(&self, election: Election, hooks: Tally, notes: Option<Notes>) {
        let _ = self.hooks.set(hooks); // it joins only once
        let _ = notes.map(|notes| self.notes.set(notes));
        let _ = self.joined.set(election);
    }

    fn election(&self) -> Result<&Election, String> {
        self.joined.get().ok_or_else(|| {
            format!("the member is joining {}: it takes no part yet; ask again soon", self.group)
        })
    }
}

impl ControlHandler for RunHandler {
    fn status(&self) -> Result<Status, String> {
        let mut status = self.election()?.status().map_err(|gone| gone.to_string())?;
        status.warnings.extend(self.hooks.get().into_iter().flat_map(Tally::warnings));
        status.warnings.extend(self.notes.get().into_iter().flat_map(Notes::all));
        status.warnings.extend(self.printers.iter().filter_map(Printer::warning));
        Ok(status)
    }

    fn resign(&self) -> Result<(), String> {
        self.election()?;
        let (reply, replied) = sync_channel(1);
        match self.resignations.try_send(reply) {
            Ok(()) => self.waker.wake(),
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

    fn watch(&self) -> Box<dyn ChangeStream> {
        let (group, joined) = (self.group.clone(), Arc::clone(&self.joined));
        Box::new(Window { group, joined, watch: None })
    }
}

/// A watching client.
#[derive(Debug)]
struct Window {
    group: String,
    joined: Arc<OnceLock<Election>>,
    watch: Option<Watch>,
}

impl ChangeStream for Window {
    fn next(&mut self, within: Duration) -> WatchEvent {
        if self.watch.is_none() {
            self.watch = self.joined.get().map(Election::watch);
        }
        let Some(watch) = &mut self.watch else {
            std::thread::sleep(within.min(LOOK));
            return WatchEvent::Nothing;
        };
        match watch.next_within(Some(within)) {
            Next::Changed(snapshot) => WatchEvent::Change(Change::of(&self.group, &snapshot)),
            Next::Prolonged(_) | Next::Nothing => WatchEvent::Nothing,
            Next::Ended => WatchEvent::Ended,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_that_has_not_joined_says_so() {
        let (handler, _resignations) = RunHandler::new("web", WakeFd::new().unwrap(), Vec::new());
        let joining = "the member is joining web: it takes no part yet; ask again soon";
        assert_eq!(handler.status().unwrap_err(), joining);
        assert_eq!(handler.resign().unwrap_err(), joining);
        assert_eq!(handler.watch().next(Duration::ZERO), WatchEvent::Nothing);
    }
}
