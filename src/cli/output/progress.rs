//! A progress bar, shown only on a terminal and after a second; and Ctrl-C.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use signal_hook::consts::SIGINT;
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// Counts what is finished, and clears its bar when it is dropped, however the work ends.
pub(in crate::cli) struct Progress {
    done: Arc<AtomicU64>,
    /// The name of the present work, if it has one.
    now: Arc<Mutex<String>>,
    /// Draws, on a thread of its own: a single run may be long, and reports nothing meanwhile.
    painter: Mutex<Option<(Sender<()>, JoinHandle<()>)>>,
}

/// Work shorter than this gets no bar.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often an interrupt is looked for.
const GLANCE: Duration = Duration::from_millis(20);
/// The time between two pictures.
const FRAME: Duration = Duration::from_millis(100);

impl Progress {
    pub(in crate::cli) fn new(runs: u64) -> Self {
        Self::of(runs, "runs")
    }

    /// The progress of so many things with this name.
    pub(in crate::cli) fn of(total: u64, things: &'static str) -> Self {
        Self::shown(Some(total), things, io::stderr().is_terminal())
    }

    /// The progress of an unknown number of things.
    pub(in crate::cli) fn without_end(things: &'static str) -> Self {
        Self::shown(None, things, io::stderr().is_terminal())
    }

    fn shown(total: Option<u64>, things: &'static str, shown: bool) -> Self {
        let (done, now) = (Arc::new(AtomicU64::new(0)), Arc::new(Mutex::new(String::new())));
        let painter = shown.then(|| {
            let (stop, stopped) = channel();
            let work = Work { total, things, done: Arc::clone(&done), now: Arc::clone(&now) };
            (stop, std::thread::spawn(move || work.paint(&stopped)))
        });
        Self { done, now, painter: Mutex::new(painter) }
    }

    /// Names what is being worked on.
    pub(in crate::cli) fn tell(&self, what: &str) {
        // A painter that panicked has nothing more to show.
        if let Ok(mut now) = self.now.lock() {
            what.clone_into(&mut now);
        }
    }

    /// So many are finished by now; returns whether that is more than before.
    pub(in crate::cli) fn reach(&self, count: u64) -> bool {
        self.done.fetch_max(count, Ordering::Relaxed) < count
    }

    pub(in crate::cli) fn tick(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// How many are finished.
    pub(in crate::cli) fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// Clears the bar for good.
    pub(in crate::cli) fn clear(&self) {
        let painter = self.painter.lock().ok().and_then(|mut painter| painter.take());
        if let Some((stop, painter)) = painter {
            drop(stop); // which wakes the painter
            let _ = painter.join(); // a bar that failed is no reason to fail
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

/// What the painter looks at.
struct Work {
    total: Option<u64>,
    things: &'static str,
    done: Arc<AtomicU64>,
    now: Arc<Mutex<String>>,
}

impl Work {
    /// Waits, then draws until the other end of the channel is gone, then clears.
    fn paint(&self, stopped: &Receiver<()>) {
        let waits = |time| stopped.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
        if !waits(PATIENCE) {
            return;
        }
        let bar = ProgressBar::with_draw_target(self.total, ProgressDrawTarget::stderr());
        let bar = bar.with_elapsed(PATIENCE);
        let style = |end: &str| {
            let (bar, end) = match self.total {
                Some(_) => ("{spinner} {bar:40.cyan/blue} {human_pos}/{human_len}", end),
                None => ("{spinner} {human_pos}", ""),
            };
            let template = format!("{bar} {}, {{elapsed}} so far{end}{{msg}}", self.things);
            ProgressStyle::with_template(&template).ok()
        };
        // The time left is unknown before anything is done.
        let mut styles = [style(""), style(", {eta} left")].map(Option::into_iter);
        loop {
            let position = self.done.load(Ordering::Relaxed);
            if let Some(style) = styles[usize::from(position > 0)].next() {
                bar.set_style(style);
            }
            match self.now.lock() {
                Ok(now) if !now.is_empty() => bar.set_message(format!(": {now}")),
                _ => {}
            }
            bar.set_position(position);
            bar.tick();
            if !waits(FRAME) {
                break;
            }
        }
        bar.finish_and_clear();
    }
}

/// Ctrl-C, caught, so that what was found by then can be printed. A second one ends the process as
/// usual.
#[derive(Debug)]
pub(in crate::cli) struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Catches it from now on.
    pub(in crate::cli) fn catch() -> io::Result<Self> {
        let came = Arc::new(AtomicBool::new(false));
        // In this order: the first interrupt finds that none came before.
        signal_hook::flag::register_conditional_default(SIGINT, Arc::clone(&came))?;
        signal_hook::flag::register(SIGINT, Arc::clone(&came))?;
        Ok(Self(came))
    }

    /// Whether it came.
    pub(in crate::cli) fn came(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Does work that cannot be stopped, and returns what it gives, or nothing if Ctrl-C comes
    /// first. The work then goes on until the process ends, which should be soon.
    pub(in crate::cli) fn unless<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<Option<T>> {
        let (given, result) = channel();
        // Nobody takes the result of work that was given up.
        let thread = std::thread::Builder::new().spawn(move || drop(given.send(work())))?;
        loop {
            match result.recv_timeout(GLANCE) {
                Ok(result) => return Ok(Some(result)),
                Err(RecvTimeoutError::Timeout) if self.came() => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => match thread.join() {
                    Ok(()) => return Err(io::Error::other("a thread gave no result")),
                    Err(panic) => std::panic::resume_unwind(panic),
                },
            }
        }
    }
}

/// Wall time, for showing only: no result depends on it.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli) struct Stopwatch(std::time::Instant);

impl Stopwatch {
    #[expect(clippy::disallowed_methods, reason = "the command line tells how long it took")]
    pub(in crate::cli) fn start() -> Self {
        Self(std::time::Instant::now())
    }

    pub(in crate::cli) fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_work_does_not_wait_for_its_bar() {
        let watch = Stopwatch::start();
        let progress = Progress::shown(Some(10), "runs", true);
        progress.tick();
        drop(progress);
        assert!(watch.elapsed() < PATIENCE, "{:?}", watch.elapsed());
    }

    #[test]
    fn without_a_terminal_nobody_draws() {
        assert!(Progress::shown(Some(10), "runs", false).painter.lock().unwrap().is_none());
    }
}
