//! A thread that takes the addresses and starts the command, so that the guardian does not wait.
//!
//! **Source.** Starting a program may take long: a file may have to be read, a processor may be
//! busy. Neighbours who have an address take a moment to answer. The guardian must answer
//! extensions in the meantime. When nothing is to be done the thread listens to the neighbours.
//!
//! **Assumptions.** One start at a time: the next one is requested after the result of the last.
//!
//! **Promise.** The thread lives as long as the guardian's loop, because the kernel kills the
//! command when the thread that started it ends.

use super::Plan;
use super::alarm::now;
use super::child::{self, Terms};
use super::claim::{Claim, take};
use crate::address::{Addresses, Lookout, Neighbourhood};
use crate::wake_fd::WakeFd;
use bellwether_core::{Duration, Instant, Term};
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
    /// The addresses are set, until the kernel removes them.
    Taken(Arc<Neighbourhood>, Instant),
    /// They were taken on the word of the member that gave them up, and somebody else has one: who.
    /// They are removed. It is tried again.
    Contested(String),
    /// They, or the file, cannot be had; some of them may be set. The last step.
    NotTaken(io::Error),
    /// The claim was given up before they were set. The last step.
    GivenUp,
    /// The command was started, if there is one, or cannot be. The last step.
    Started(io::Result<Option<Pid>>),
}

/// What the thread is asked to do.
#[derive(Debug)]
enum Order {
    /// Ask the neighbours for so long who has the addresses: they may be wanted soon.
    Look(Duration),
    /// Take the addresses and start the command.
    Start(Box<Plan>, Option<Term>),
}

/// The handle of the thread.
#[derive(Debug)]
pub(super) struct Starter {
    /// As long as this is there, so is the thread.
    orders: Option<Sender<Order>>,
    bell: WakeFd,
    steps: Receiver<Step>,
}

impl Starter {
    /// Starts the thread; it writes to `wake` at each step. An answer of a neighbour takes `answer`
    /// at most; that a member gave the addresses up is `believed` for so long.
    pub(super) fn new(
        terms: Terms,
        (addresses, claim): (Arc<Addresses>, Arc<Claim>),
        (answer, believed): (Duration, Duration),
        mut wake: UnixStream,
    ) -> io::Result<Self> {
        let (orders, asked) = channel();
        let (done, steps) = channel();
        let bell = WakeFd::new()?;
        let rung = bell.clone();
        thread::Builder::new().name("starter".to_owned()).spawn(move || {
            let mut tell = |step| {
                let _ = done.send(step); // or the guardian ends
                let _ = wake.write_all(&[0]);
            };
            let mut lookout = Lookout::new(answer, believed);
            let _ = lookout.open(&addresses); // or it is tried when they are wanted
            loop {
                rung.clear();
                match asked.try_recv() {
                    Ok(Order::Look(within)) => {
                        let _ = lookout.open(&addresses); // the same
                        lookout.ask_until(now() + within);
                    }
                    Ok(Order::Start(plan, term)) => {
                        let given = (&*addresses, &*claim, &mut lookout);
                        let last = begin(&plan, term, &terms, given, &mut tell);
                        tell(last);
                        lookout.forget();
                    }
                    Err(TryRecvError::Empty) => lookout.attend(&rung),
                    Err(TryRecvError::Disconnected) => return,
                }
            }
        })?;
        Ok(Self { orders: Some(orders), bell, steps })
    }

    /// Requests a start.
    pub(super) fn start(&self, plan: Plan, term: Option<Term>) {
        self.order(Order::Start(Box::new(plan), term));
    }

    /// Requests that the neighbours are asked for so long who has the addresses.
    pub(super) fn look(&self, within: Duration) {
        self.order(Order::Look(within));
    }

    fn order(&self, order: Order) {
        // If the thread has ended, the next step says so.
        let _ = self.orders.as_ref().map(|orders| orders.send(order));
        self.bell.wake();
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

impl Drop for Starter {
    fn drop(&mut self) {
        self.orders = None;
        self.bell.wake(); // it sees that nobody orders anything any more
    }
}

/// Takes the addresses, then starts the command; returns the last step.
fn begin(
    plan: &Plan,
    term: Option<Term>,
    terms: &Terms,
    (addresses, claim, lookout): (&Addresses, &Claim, &mut Lookout),
    tell: &mut dyn FnMut(Step),
) -> Step {
    if !addresses.has_none() {
        match take(addresses, claim, lookout, tell) {
            Ok(true) => {}
            Ok(false) => return Step::GivenUp,
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
