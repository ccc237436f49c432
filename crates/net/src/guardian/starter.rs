//! A thread that starts the command, so that the guardian does not wait for it.
//!
//! **Source.** Starting a program may take long: a file may have to be read, a processor may be
//! busy. The guardian must answer extensions in the meantime.
//!
//! **Assumptions.** One start at a time: the next one is requested after the result of the last.
//!
//! **Promise.** The thread lives as long as the process, because the kernel kills the command when
//! the thread that started it ends.

use super::Plan;
use super::child::{self, Terms};
use bellwether_core::Term;
use rustix::process::Pid;
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread;

/// The handle of the thread.
#[derive(Debug)]
pub(super) struct Starter {
    plans: Sender<(Plan, Option<Term>)>,
    results: Receiver<io::Result<Pid>>,
}

impl Starter {
    /// Starts the thread; it writes to `wake` when there is a result.
    pub(super) fn new(terms: Terms, mut wake: UnixStream) -> io::Result<Self> {
        let (plans, orders) = channel::<(Plan, Option<Term>)>();
        let (results, outcomes) = channel();
        thread::Builder::new().name("starter".to_owned()).spawn(move || {
            for (plan, term) in orders {
                let _ = results.send(child::start(&plan, term, &terms)); // or the guardian ends
                let _ = wake.write_all(&[0]);
            }
        })?;
        Ok(Self { plans, results: outcomes })
    }

    /// Requests a start.
    pub(super) fn start(&self, plan: Plan, term: Option<Term>) {
        let _ = self.plans.send((plan, term)); // if the thread has ended, the result says so
    }

    /// The result of the start, once there is one.
    pub(super) fn result(&self) -> Option<io::Result<Pid>> {
        match self.results.try_recv() {
            Ok(result) => Some(result),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => {
                Some(Err(io::Error::other("the thread that starts it has ended")))
            }
        }
    }
}
