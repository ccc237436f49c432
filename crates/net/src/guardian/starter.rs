//! A thread that takes the addresses and starts the command, so that the guardian does not wait.
//!
//! **Source.** Starting a program may take long: a file may have to be read, a processor may be
//! busy. Neighbours who have an address take a moment to answer. The guardian must answer
//! extensions in the meantime.
//!
//! **Assumptions.** One start at a time: the next one is requested after the result of the last.
//!
//! **Promise.** The thread lives as long as the process, because the kernel kills the command when
//! the thread that started it ends.

use super::Plan;
use super::child::{self, Terms};
use super::claim::{Claim, take};
use crate::address::{Addresses, Neighbourhood};
use bellwether_core::{Instant, Term};
use rustix::process::Pid;
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread;

/// What the thread did.
#[derive(Debug)]
pub(super) enum Step {
    /// Somebody else has an address: who. It is tried again.
    InUse(String),
    /// The addresses are set, until the kernel removes them. The command follows.
    Taken(Neighbourhood, Instant),
    /// They, or the file, cannot be had; some of them may be set. The last step.
    NotTaken(io::Error),
    /// The claim was given up before they were set. The last step.
    GivenUp,
    /// The command was started, if there is one, or cannot be. The last step.
    Started(io::Result<Option<Pid>>),
}

/// The handle of the thread.
#[derive(Debug)]
pub(super) struct Starter {
    plans: Sender<(Plan, Option<Term>)>,
    steps: Receiver<Step>,
}

impl Starter {
    /// Starts the thread; it writes to `wake` at each step.
    pub(super) fn new(
        terms: Terms,
        (addresses, claim): (Arc<Addresses>, Arc<Claim>),
        mut wake: UnixStream,
    ) -> io::Result<Self> {
        let (plans, orders) = channel::<(Plan, Option<Term>)>();
        let (done, steps) = channel();
        thread::Builder::new().name("starter".to_owned()).spawn(move || {
            let mut tell = |step| {
                let _ = done.send(step); // or the guardian ends
                let _ = wake.write_all(&[0]);
            };
            for (plan, term) in orders {
                let last = begin(&plan, term, &terms, (&addresses, &claim), &mut tell);
                tell(last);
            }
        })?;
        Ok(Self { plans, steps })
    }

    /// Requests a start.
    pub(super) fn start(&self, plan: Plan, term: Option<Term>) {
        let _ = self.plans.send((plan, term)); // if the thread has ended, the next step says so
    }

    /// The next step of the start, once there is one.
    pub(super) fn step(&self) -> Option<Step> {
        match self.steps.try_recv() {
            Ok(step) => Some(step),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => {
                let error = io::Error::other("the thread that starts it has ended");
                Some(Step::Started(Err(error)))
            }
        }
    }
}

/// Takes the addresses, then starts the command; returns the last step.
fn begin(
    plan: &Plan,
    term: Option<Term>,
    terms: &Terms,
    (addresses, claim): (&Addresses, &Claim),
    tell: &mut dyn FnMut(Step),
) -> Step {
    if !addresses.has_none() {
        match take(addresses, claim, plan.probe, |who| tell(Step::InUse(who))) {
            Ok(Some((neighbourhood, expires))) => tell(Step::Taken(neighbourhood, expires)),
            Ok(None) => return Step::GivenUp,
            Err(error) => return Step::NotTaken(error),
        }
    }
    if !addresses.is_empty() {
        match claim.mark(addresses, term) {
            Ok(true) => {}
            Ok(false) => return Step::GivenUp,
            Err(error) => return Step::NotTaken(error),
        }
    }
    let has_command = !plan.program.is_empty();
    Step::Started(has_command.then(|| child::start(plan, term, terms)).transpose())
}
