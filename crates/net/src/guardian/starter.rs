//! The thread that starts the command, so that nobody waits for that.
//!
//! **Source.** To start a program takes as long as the system takes: a file may have to be read,
//! a processor to be had. The guardian has extensions to answer meanwhile.
//!
//! **Assumptions.** One start at a time: the next one is asked for after the result of the last.
//!
//! **Promise.** The thread lives as long as the process does, since the kernel ends the command
//! when the thread that started it is gone.

use super::Plan;
use super::child::{self, Terms};
use rustix::process::Pid;
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread;

/// The thread, from outside.
#[derive(Debug)]
pub(super) struct Starter {
    plans: Sender<Plan>,
    results: Receiver<io::Result<Pid>>,
}

impl Starter {
    /// Starts the thread; it writes to `bell` when there is a result.
    pub(super) fn new(terms: Terms, mut bell: UnixStream) -> io::Result<Self> {
        let (plans, orders) = channel::<Plan>();
        let (results, outcomes) = channel();
        thread::Builder::new().name("starter".to_owned()).spawn(move || {
            for plan in orders {
                let _ = results.send(child::start(&plan, &terms)); // or the guardian is going
                let _ = bell.write_all(&[0]);
            }
        })?;
        Ok(Self { plans, results: outcomes })
    }

    /// Asks for a start.
    pub(super) fn start(&self, plan: Plan) {
        let _ = self.plans.send(plan); // if the thread is gone, the result says so
    }

    /// How it went, once it has.
    pub(super) fn result(&self) -> Option<io::Result<Pid>> {
        match self.results.try_recv() {
            Ok(result) => Some(result),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => {
                Some(Err(io::Error::other("the thread that starts it is gone")))
            }
        }
    }
}
