//! Members of live groups.
//!
//! **Assumptions.** A member is used in the process that joined: its thread does not exist in a
//! child that was forked. There every call is refused, and nothing is released: the parent still
//! leads.
//!
//! **Promise.** Whoever waits, waits for a file descriptor, so that signals and event loops work.
//! The member's thread only makes it readable, and never waits for the interpreter.

use crate::errors::{BellwetherError, ForkError, GoneError, NotNowError, ParameterError};
use crate::parameters::{raised, read};
use bellwether::cli::ask;
use bellwether::core::{Duration, NodeId};
use bellwether::net::{self, BadSettings, NamesSettings as _, NotNow, WakeFd};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::mem::forget;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

/// Something of a member, in the process that joined.
struct Owned<T: Send> {
    /// Nothing once it was released.
    held: Mutex<Option<T>>,
    pid: u32,
}

impl<T: Send> Owned<T> {
    fn new(held: T) -> Self {
        Self { held: Mutex::new(Some(held)), pid: std::process::id() }
    }

    fn is_here(&self) -> bool {
        self.pid == std::process::id()
    }

    /// Does something with it; nothing if it was released.
    fn with<R>(&self, act: impl FnOnce(&mut T) -> R) -> PyResult<Option<R>> {
        if !self.is_here() {
            return Err(ForkError::new_err(format!(
                "process {} joined the group, and process {} was forked from it: its member does \
                 not exist here; join after the fork, or start the child with spawn",
                self.pid,
                std::process::id()
            )));
        }
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(held.as_mut().map(act))
    }

    fn take(&self) -> PyResult<Option<T>> {
        self.with(|_| ())?;
        Ok(self.held.lock().unwrap_or_else(PoisonError::into_inner).take())
    }
}

impl<T: Send> Drop for Owned<T> {
    fn drop(&mut self) {
        let mut held = self.held.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        // The threads and locks of the parent do not exist in a child.
        if !self.is_here() {
            forget(held);
            return;
        }
        // The last handle of a member that nobody has left waits until the member has: the
        // interpreter is free meanwhile, unless it is ending.
        let freed = Python::try_attach(|py| py.detach(|| drop(held.take())));
        if freed.is_none() {
            drop(held);
        }
    }
}

fn gone() -> PyErr {
    GoneError::new_err("the member has left its group")
}

/// The exception for a request that was not granted.
fn not_now(why: NotNow) -> PyErr {
    match why {
        NotNow::Gone => gone(),
        other => NotNowError::new_err(other.to_string()),
    }
}

/// The exception for settings that break a rule.
fn refused(bad: BadSettings) -> PyErr {
    let line = bad.explain(&|setting| setting.name().replace('-', "_"));
    if bad.is_config() {
        ParameterError::new_err((line, None::<String>))
    } else {
        BellwetherError::new_err(line)
    }
}

/// The id of a member, its role, the leaders that it follows, the term, and how many seconds that
/// holds unless it is renewed.
type Believed = (u64, &'static str, Vec<u64>, Option<u64>, f64);

/// A member of a group.
#[pyclass(frozen, module = "bellwether._native")]
pub(crate) struct Member(Owned<net::Election>);

#[pymethods]
impl Member {
    /// Joins a group.
    #[staticmethod]
    fn join(py: Python<'_>, group: String, parameters: &Bound<'_, PyDict>) -> PyResult<Self> {
        let parameters = read(parameters)?;
        let builder = py.detach(|| ask::member(&group, &parameters)).map_err(raised)?;
        py.detach(|| builder.join()).map(|member| Self(Owned::new(member))).map_err(refused)
    }

    /// What the member believes now.
    fn leadership(&self) -> PyResult<Believed> {
        let snapshot = self.0.with(|member| member.leadership())?.ok_or_else(gone)?;
        let leaders = snapshot.leaders.iter().map(|leader| leader.0).collect();
        let left = snapshot.remaining().map_or(f64::INFINITY, Duration::as_secs_f64);
        let term = snapshot.term.map(|term| term.0.get());
        Ok((snapshot.me.0, snapshot.role().name(), leaders, term, left))
    }

    /// All that the member knows of itself, as JSON.
    fn status(&self, py: Python<'_>) -> PyResult<String> {
        let member = self.handle()?;
        let status = py.detach(|| member.status()).map_err(|_| gone())?;
        serde_json::to_string(&status).map_err(|error| BellwetherError::new_err(error.to_string()))
    }

    /// Begins to wait until it leads.
    fn campaign(&self) -> PyResult<Campaign> {
        let future = Box::pin(self.handle()?.campaign());
        let fd = WakeFd::new()?;
        Ok(Campaign { future: Owned::new(future), waker: Arc::new(Wakes(fd)) })
    }

    /// Begins to watch it.
    fn watch(&self) -> PyResult<Watch> {
        Ok(Watch(Owned::new(self.handle()?.watch())))
    }

    /// Stops leading and stays in the group.
    fn resign(&self, py: Python<'_>) -> PyResult<()> {
        let member = self.handle()?;
        py.detach(|| member.resign()).map_err(not_now)
    }

    /// Stops leading in favour of this member.
    fn transfer(&self, py: Python<'_>, to: u64) -> PyResult<()> {
        let member = self.handle()?;
        py.detach(|| member.transfer(NodeId(to))).map_err(not_now)
    }

    /// Why the member has ended, if it did not leave.
    fn failure(&self) -> PyResult<Option<String>> {
        Ok(self.0.with(|member| member.failure())?.flatten())
    }

    /// Leaves the group; does nothing if it has left.
    fn leave(&self, py: Python<'_>) -> PyResult<()> {
        if let Some(member) = self.0.take()? {
            py.detach(|| {
                member.leave();
                drop(member);
            });
        }
        Ok(())
    }
}

impl Member {
    /// Another handle of the member, for calls that block.
    fn handle(&self) -> PyResult<net::Election> {
        self.0.with(|member| member.clone())?.ok_or_else(gone)
    }
}

/// Makes a file descriptor readable; the member's thread calls it.
struct Wakes(WakeFd);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.wake();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.wake();
    }
}

/// Waits until a member leads.
#[pyclass(frozen, module = "bellwether._native")]
pub(crate) struct Campaign {
    future: Owned<Pin<Box<net::Campaign>>>,
    waker: Arc<Wakes>,
}

#[pymethods]
impl Campaign {
    /// A file descriptor that is readable when `poll` may have a guard.
    fn fileno(&self) -> i32 {
        self.waker.0.as_fd().as_raw_fd()
    }

    /// A guard if the member leads.
    fn poll(&self) -> PyResult<Option<Guard>> {
        self.waker.0.clear();
        let waker = Waker::from(Arc::clone(&self.waker));
        let polled =
            self.future.with(|future| future.as_mut().poll(&mut Context::from_waker(&waker)))?;
        match polled {
            None => Err(gone()),
            Some(Poll::Pending) => Ok(None),
            Some(Poll::Ready(guard)) => {
                self.future.take()?;
                guard.map(|guard| Some(Guard(Owned::new(guard)))).map_err(|_| gone())
            }
        }
    }
}

/// Watches what a member believes.
#[pyclass(frozen, module = "bellwether._native")]
pub(crate) struct Watch(Owned<net::Watch>);

#[pymethods]
impl Watch {
    /// A file descriptor that is readable when something has changed.
    fn fileno(&self) -> PyResult<i32> {
        let fd = self.0.with(|watch| watch.fd().map(|fd| fd.as_raw_fd()))?;
        Ok(fd.ok_or_else(gone)??)
    }

    /// Makes it unreadable until the next change; false once the member has ended.
    fn clear(&self) -> PyResult<bool> {
        let next = self.0.with(net::Watch::try_next)?;
        Ok(next.is_some_and(|next| next != net::Next::Ended))
    }
}

/// Proof that a member leads, for one reign.
#[pyclass(frozen, module = "bellwether._native")]
pub(crate) struct Guard(Owned<net::Guard>);

#[pymethods]
impl Guard {
    /// Whether the member still leads at this moment.
    fn still_leading(&self) -> PyResult<bool> {
        Ok(self.0.with(|guard| guard.still_leading())?.unwrap_or(false))
    }

    /// The seconds until the deadline.
    fn remaining(&self) -> PyResult<f64> {
        let left = self.0.with(|guard| guard.remaining())?.unwrap_or_default();
        Ok(if left == std::time::Duration::MAX { f64::INFINITY } else { left.as_secs_f64() })
    }

    /// The fencing token, if the reign lasts and the protocol counts terms.
    fn term(&self) -> PyResult<Option<u64>> {
        Ok(self.0.with(|guard| guard.term())?.flatten().map(|term| term.0.get()))
    }

    /// Resigns, and waits until the lease is released.
    fn resign(&self, py: Python<'_>) -> PyResult<()> {
        match self.0.take()? {
            Some(guard) => py.detach(|| guard.resign()).map_err(not_now),
            None => Err(NotNowError::new_err("this guard was released before")),
        }
    }

    /// Releases the guard: the last one resigns.
    fn release(&self, py: Python<'_>) -> PyResult<()> {
        if let Some(guard) = self.0.take()? {
            py.detach(|| drop(guard));
        }
        Ok(())
    }
}
