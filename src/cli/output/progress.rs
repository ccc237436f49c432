//! A progress bar, shown only on a terminal and after a second; and Ctrl-C.
//!
//! Where another program asks, its [`Follower`] is told of progress and says when to stop: there is
//! no bar then, and no signal is caught. A follower belongs to a thread, since the commands know
//! of none.

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use signal_hook::consts::SIGINT;
use std::cell::RefCell;
use std::io::{self, IsTerminal, Write as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// The program that asks: it follows the work, and may end it. All threads of the work call it.
pub trait Follower: Send + Sync {
    /// Work begins, of so many parts if that is known.
    fn begin(&self, total: Option<u64>);
    /// So many parts are finished by now.
    fn reach(&self, done: u64);
    /// Whether to begin no more.
    fn is_over(&self) -> bool;
}

/// Whoever follows some work, if it is not a terminal.
pub(in crate::cli) type Followed = Option<Arc<dyn Follower>>;

thread_local! {
    static FOLLOWED: RefCell<Followed> = const { RefCell::new(None) };
}

/// Who follows the work of this thread.
pub(in crate::cli) fn followed() -> Followed {
    FOLLOWED.with_borrow(Clone::clone)
}

/// Does work that this one follows, on this thread.
pub(in crate::cli) fn follow<T>(follower: Arc<dyn Follower>, work: impl FnOnce() -> T) -> T {
    let before = FOLLOWED.replace(Some(follower));
    let result = work();
    FOLLOWED.set(before);
    result
}

/// Counts what is finished, and clears its bar when it is dropped, however the work ends.
pub(in crate::cli) struct Progress {
    done: Arc<AtomicU64>,
    /// How many of those took no time: they were there before, or are not needed.
    skipped: Arc<AtomicU64>,
    followed: Followed,
    /// The name of the present work, if it has one.
    now: Arc<Mutex<String>>,
    /// The bar, once it is drawn.
    bar: Arc<Mutex<Option<ProgressBar>>>,
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
        Self::told(Total::Of(total), things, followed())
    }

    /// The progress of so many runs, or fewer.
    pub(in crate::cli) fn at_most(total: u64) -> Self {
        Self::told(Total::AtMost(total), "runs", followed())
    }

    /// The progress of an unknown number of things.
    pub(in crate::cli) fn without_end(things: &'static str) -> Self {
        Self::told(Total::Unknown, things, followed())
    }

    /// The progress of so many runs, told to whoever follows another thread.
    pub(in crate::cli) fn of_runs(total: u64, followed: Followed) -> Self {
        Self::told(Total::Of(total), "runs", followed)
    }

    fn told(total: Total, things: &'static str, followed: Followed) -> Self {
        let shown = followed.is_none() && io::stderr().is_terminal();
        if let Some(follower) = &followed {
            follower.begin(total.number());
        }
        let mut progress = Self::shown(total, things, shown);
        progress.followed = followed;
        progress
    }

    fn shown(total: Total, things: &'static str, shown: bool) -> Self {
        let [done, skipped] = [(); 2].map(|()| Arc::new(AtomicU64::new(0)));
        let now = Arc::new(Mutex::new(String::new()));
        let bar = Arc::new(Mutex::new(None));
        let painter = shown.then(|| {
            let (stop, stopped) = channel();
            let [done, skipped] = [&done, &skipped].map(Arc::clone);
            let (now, bar) = (Arc::clone(&now), Arc::clone(&bar));
            let work = Work { total, things, done, skipped, now, bar };
            (stop, std::thread::spawn(move || work.paint(&stopped)))
        });
        Self { done, skipped, followed: None, now, bar, painter: Mutex::new(painter) }
    }

    /// Names what is being worked on.
    pub(in crate::cli) fn tell(&self, what: &str) {
        // A painter that panicked has nothing more to show.
        if let Ok(mut now) = self.now.lock() {
            what.clone_into(&mut now);
        }
    }

    /// Writes a line or several to the standard output, above the bar.
    pub(in crate::cli) fn print(&self, text: &str) -> io::Result<()> {
        let write = || writeln!(io::stdout(), "{text}");
        // No bar begins while this is written. One whose painter panicked is not drawn again.
        match self.bar.lock().as_deref() {
            Ok(Some(bar)) => bar.suspend(write),
            _ => write(),
        }
    }

    /// So many are finished by now; returns whether that is more than before.
    pub(in crate::cli) fn reach(&self, count: u64) -> bool {
        let more = self.done.fetch_max(count, Ordering::Relaxed) < count;
        if let Some(follower) = self.followed.as_ref().filter(|_| more) {
            follower.reach(count);
        }
        more
    }

    pub(in crate::cli) fn tick(&self) {
        self.add(1);
    }

    /// So many more are finished.
    pub(in crate::cli) fn add(&self, count: u64) {
        let before = self.done.fetch_add(count, Ordering::Relaxed);
        if let Some(follower) = &self.followed {
            follower.reach(before + count);
        }
    }

    /// So many more need no work. The time left follows from the others alone.
    pub(in crate::cli) fn skip(&self, count: u64) {
        self.skipped.fetch_add(count, Ordering::Relaxed);
        self.add(count);
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

/// How much there is to do.
#[derive(Clone, Copy, Debug)]
enum Total {
    /// So much.
    Of(u64),
    /// So much, or less.
    AtMost(u64),
    Unknown,
}

impl Total {
    fn number(self) -> Option<u64> {
        match self {
            Self::Of(total) | Self::AtMost(total) => Some(total),
            Self::Unknown => None,
        }
    }

    /// The time left in words, after this time in which so much was done, of which so much needed
    /// no work. It is unknown before any work is done.
    fn left(self, took: Duration, done: u64, skipped: u64) -> String {
        let made = done.saturating_sub(skipped);
        let (Some(total), 1..) = (self.number(), made) else { return String::new() };
        let per = took.as_secs_f64() / made as f64;
        let left = Duration::try_from_secs_f64(per * total.saturating_sub(done) as f64);
        let words = HumanDuration(left.unwrap_or(Duration::MAX));
        match self {
            Self::AtMost(_) => format!(", at most {words:#} left"),
            Self::Of(_) | Self::Unknown => format!(", {words:#} left"),
        }
    }
}

/// What the painter looks at.
struct Work {
    total: Total,
    things: &'static str,
    done: Arc<AtomicU64>,
    skipped: Arc<AtomicU64>,
    now: Arc<Mutex<String>>,
    bar: Arc<Mutex<Option<ProgressBar>>>,
}

impl Work {
    /// Waits, then draws until the other end of the channel is gone, then clears.
    fn paint(&self, stopped: &Receiver<()>) {
        let watch = Stopwatch::start();
        let waits = |time| stopped.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
        if !waits(PATIENCE) {
            return;
        }
        let bar = ProgressBar::with_draw_target(self.total.number(), ProgressDrawTarget::stderr());
        let bar = bar.with_elapsed(PATIENCE);
        if let Ok(mut shared) = self.bar.lock() {
            *shared = Some(bar.clone());
        }
        let counts = match self.total.number() {
            Some(_) => "{spinner} {bar:40.cyan/blue} {human_pos}/{human_len}",
            None => "{spinner} {human_pos}",
        };
        let template = format!("{counts} {}, {{elapsed}} so far{{msg}}", self.things);
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        loop {
            // In this order: what is skipped between the two reads is not taken for work.
            let position = self.done.load(Ordering::Relaxed);
            let skipped = self.skipped.load(Ordering::Relaxed);
            let mut message = self.total.left(watch.elapsed(), position, skipped);
            match self.now.lock() {
                Ok(now) if !now.is_empty() => message += &format!(": {now}"),
                _ => {}
            }
            // Each of the two may draw: the time left is that of the position.
            bar.set_position(position);
            bar.set_message(message);
            bar.tick();
            if !waits(FRAME) {
                break;
            }
        }
        bar.finish_and_clear();
    }
}

/// Ctrl-C, caught, so that what was found by then can be printed. A second one ends the process as
/// usual. A follower says itself when it is enough.
pub(in crate::cli) enum Interrupt {
    Signal(Arc<AtomicBool>),
    Follower(Arc<dyn Follower>),
}

impl Interrupt {
    /// Catches it from now on.
    pub(in crate::cli) fn catch() -> io::Result<Self> {
        if let Some(follower) = followed() {
            return Ok(Self::Follower(follower));
        }
        let came = Arc::new(AtomicBool::new(false));
        // In this order: the first interrupt finds that none came before.
        signal_hook::flag::register_conditional_default(SIGINT, Arc::clone(&came))?;
        signal_hook::flag::register(SIGINT, Arc::clone(&came))?;
        Ok(Self::Signal(came))
    }

    /// Whether it came.
    pub(in crate::cli) fn came(&self) -> bool {
        match self {
            Self::Signal(came) => came.load(Ordering::Relaxed),
            Self::Follower(follower) => follower.is_over(),
        }
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
        let progress = Progress::shown(Total::Of(10), "runs", true);
        progress.tick();
        drop(progress);
        assert!(watch.elapsed() < PATIENCE, "{:?}", watch.elapsed());
    }

    #[test]
    fn without_a_terminal_nobody_draws() {
        assert!(Progress::shown(Total::Of(10), "runs", false).painter.lock().unwrap().is_none());
    }

    #[test]
    fn the_time_left_follows_from_what_took_time() {
        let took = Duration::from_secs(10);
        let left = |total: Total, done, skipped| total.left(took, done, skipped);
        assert_eq!(left(Total::Of(100), 50, 0), ", 10s left");
        assert_eq!(left(Total::Of(100), 50, 40), ", 50s left", "ten took all the time");
        assert_eq!(left(Total::Of(100), 40, 40), "", "nobody knows how long a run takes");
        assert_eq!(left(Total::AtMost(100), 50, 40), ", at most 50s left");
        assert_eq!(left(Total::Unknown, 50, 0), "");
    }

    #[derive(Default)]
    struct Notes {
        said: Mutex<Vec<(&'static str, Option<u64>)>>,
        over: AtomicBool,
    }

    impl Follower for Notes {
        fn begin(&self, total: Option<u64>) {
            self.said.lock().unwrap().push(("begin", total));
        }

        fn reach(&self, done: u64) {
            self.said.lock().unwrap().push(("reach", Some(done)));
        }

        fn is_over(&self) -> bool {
            self.over.load(Ordering::Relaxed)
        }
    }

    #[test]
    fn a_follower_is_told_of_progress_and_ends_the_work_of_its_thread_alone() {
        let notes = Arc::new(Notes::default());
        let follower: Arc<dyn Follower> = Arc::<Notes>::clone(&notes);
        let interrupt = follow(follower, || {
            let progress = Progress::new(3);
            progress.tick();
            assert!(progress.reach(3) && !progress.reach(2));
            Interrupt::catch().unwrap()
        });
        let said = [("begin", Some(3)), ("reach", Some(1)), ("reach", Some(3))];
        assert_eq!(*notes.said.lock().unwrap(), said);
        assert!(!interrupt.came());
        notes.over.store(true, Ordering::Relaxed);
        assert!(interrupt.came());
        assert!(followed().is_none(), "its work is done");
    }
}
