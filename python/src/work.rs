//! Work that Python waits for: the interpreter is free meanwhile, is asked for signals, and is told
//! of progress.

use crate::errors::BellwetherError;
use crate::parameters::raised;
use bellwether::cli::ask::{self, Follower, Refused};
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How often signals are looked for, and progress is told.
const GLANCE: Duration = Duration::from_millis(50);

/// How far the work is, and whether anybody still wants it.
#[derive(Debug, Default)]
struct State {
    done: AtomicU64,
    /// Zero if it is not known.
    total: AtomicU64,
    over: AtomicBool,
}

impl Follower for State {
    fn begin(&self, total: Option<u64>) {
        self.done.store(0, Ordering::Relaxed);
        self.total.store(total.unwrap_or(0), Ordering::Relaxed);
    }

    fn reach(&self, done: u64) {
        self.done.fetch_max(done, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }
}

/// Does this work on a thread of its own, and waits for it. `progress` is called with what is done
/// and the whole, for the last time when all is done. If a signal or `progress` raises an
/// exception, the work is told to end, and the exception is raised at once.
pub(crate) fn wait_for<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce() -> Result<T, Refused> + Send + 'static,
) -> PyResult<T> {
    let state = Arc::new(State::default());
    let (given, mut result) = channel();
    let follower: Arc<dyn Follower> = Arc::<State>::clone(&state);
    let thread = std::thread::Builder::new().name("bellwether".to_owned());
    thread.spawn(move || {
        let caught = catch_unwind(AssertUnwindSafe(|| ask::follow(follower, work)));
        let _ = given.send(caught); // nobody takes the result of work that was given up
    })?;
    loop {
        let received;
        (received, result) = py.detach(move || (result.recv_timeout(GLANCE), result));
        match received {
            Ok(Ok(result)) => {
                let result = result.map_err(raised)?;
                return tell(&state, progress).map(|()| result);
            }
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => {
                let line = "this is a mistake in Bellwether: a thread panicked; please report it";
                return Err(BellwetherError::new_err(line));
            }
            Err(RecvTimeoutError::Timeout) => {
                let told = py.check_signals().and_then(|()| tell(&state, progress));
                if let Err(raised) = told {
                    state.over.store(true, Ordering::Relaxed);
                    return Err(raised);
                }
            }
        }
    }
}

/// Tells how far the work is.
fn tell(state: &State, progress: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
    if let Some(progress) = progress {
        let (done, total) = (&state.done, &state.total);
        progress.call1((done.load(Ordering::Relaxed), total.load(Ordering::Relaxed)))?;
    }
    Ok(())
}
