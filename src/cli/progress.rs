//! A bar that shows only when there is a terminal and the wait is worth it.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Counts finished runs.
pub(super) struct Progress {
    bar: ProgressBar,
    done: AtomicU64,
    stride: u64,
    started: Stopwatch,
}

/// Work shorter than this gets no bar.
const PATIENCE: Duration = Duration::from_secs(1);

impl Progress {
    pub(super) fn new(runs: u64) -> Self {
        let bar = ProgressBar::with_draw_target(Some(runs), ProgressDrawTarget::hidden());
        let style = "{bar:40.cyan/blue} {human_pos}/{human_len} runs, {eta} left";
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style);
        }
        // A look at the clock costs more than a small run, so not every run looks.
        let stride = (runs / 1000).clamp(1, 1000);
        Self { bar, done: AtomicU64::new(0), stride, started: Stopwatch::start() }
    }

    pub(super) fn tick(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if done.is_multiple_of(self.stride) && self.started.elapsed() > PATIENCE {
            if self.bar.is_hidden() {
                // Draws only if the standard error is a terminal.
                self.bar.set_draw_target(ProgressDrawTarget::stderr());
            }
            self.bar.set_position(done);
        }
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Wall time, for showing only: no result depends on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stopwatch(std::time::Instant);

impl Stopwatch {
    #[expect(clippy::disallowed_methods, reason = "the command line tells how long it took")]
    pub(super) fn start() -> Self {
        Self(std::time::Instant::now())
    }

    pub(super) fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}
