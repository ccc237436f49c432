//! Writes lines to the standard output or the standard error, from a thread of its own.
//!
//! **Source.** Ours. Whether writes to a pipe block is shared with all processes that have the pipe
//! open, so it is not changed: the write may block, but nobody waits for it.
//!
//! **Assumptions.** Nothing else in this process writes to the same stream.
//!
//! **Promise.** Printing neither waits nor fails, whether the reader is slow, reads nothing, or has
//! gone. Lines that find no room are left out and counted. The end waits for readers for a second
//! at most.

use super::log::{Budget, Level, Logging};
use crate::cli::commands::sim::count;
use bellwether::net::WakeFd;
use bellwether::net::clock::{BootTime, Clock};
use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The most lines that wait to be read.
const WAITING_MAX: usize = 1024;
/// How long to wait, at the end, for a reader that still reads.
const PATIENCE: Duration = Duration::from_secs(1);

/// Where lines go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    /// Changes, for programs and people.
    Output,
    /// Messages for the operator. A reader that has gone changes nothing.
    Error,
}

/// The thread that prints. Clones print to the same stream.
#[derive(Clone, Debug)]
pub(super) struct Printer {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    stream: Stream,
    queue: Mutex<Queue>,
    /// Notified when there is a line, when it is over, and when all is written.
    news: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    /// The form of messages, and which of them.
    logging: Logging,
    waiting: VecDeque<String>,
    /// Lines that found no room.
    left_out: u64,
    /// How many of those were reported to the reader.
    reported: u64,
    /// How many messages are written at once.
    budget: Budget,
    over: bool,
    written: bool,
    closed: bool,
}

impl Printer {
    /// Starts it; wakes the loop when nobody reads any more.
    pub(super) fn start(stream: Stream, waker: WakeFd) -> io::Result<Self> {
        Self::start_log(stream, Logging::default(), waker)
    }

    /// The same, with messages of this form.
    pub(super) fn start_log(stream: Stream, logging: Logging, waker: WakeFd) -> io::Result<Self> {
        let queue = Mutex::new(Queue { logging, ..Queue::default() });
        let shared = Arc::new(Shared { stream, queue, news: Condvar::new() });
        let own = Arc::clone(&shared);
        let write = move |line: &str| match stream {
            Stream::Output => write_to(&mut io::stdout().lock(), line),
            Stream::Error => write_to(&mut io::stderr().lock(), line),
        };
        let name = "printer".to_owned();
        thread::Builder::new().name(name).spawn(move || own.work(write, &waker))?;
        Ok(Self { shared })
    }

    /// Writes a line. If too many wait already, nobody reads, and it is left out.
    pub(super) fn print(&self, line: &str) {
        let mut queue = self.shared.lock();
        if queue.waiting.len() >= WAITING_MAX {
            queue.left_out += 1;
            return;
        }
        queue.waiting.push_back(format!("{line}\n"));
        drop(queue);
        self.shared.news.notify_all();
    }

    /// Writes a line for the operator.
    pub(super) fn say(&self, line: &str) {
        self.log(Level::Warning, line);
    }

    /// Writes a message for the operator, if ones like this are wanted and there are not too many.
    pub(super) fn log(&self, level: Level, message: &str) {
        let now = BootTime.now();
        let logging = self.shared.lock().logging;
        let Some(line) = logging.line(level, message, now) else { return };
        let mut queue = self.shared.lock();
        if !queue.budget.allows(now) {
            queue.left_out += 1;
            return;
        }
        drop(queue);
        self.print(&line);
    }

    /// Writes messages in this form from now on.
    pub(super) fn set_logging(&self, logging: Logging) {
        self.shared.lock().logging = logging;
    }

    /// Whether each change is to be a message.
    pub(super) fn logs_changes(&self) -> bool {
        self.shared.lock().logging.is_asked()
    }

    /// Whether nobody reads any more.
    pub(super) fn is_closed(&self) -> bool {
        self.shared.lock().closed
    }

    /// A warning, if lines were left out.
    pub(super) fn warning(&self) -> Option<String> {
        let left_out = self.shared.lock().left_out;
        let stream = match self.shared.stream {
            Stream::Output => "output",
            Stream::Error => "error",
        };
        let lines = count(left_out, "line was", "lines were");
        (left_out > 0)
            .then(|| format!("{lines} left out: nobody reads the standard {stream} in time"))
    }

    /// Prints panics of any thread in one line: the default hook would wait for the reader.
    pub(super) fn take_panics(&self) {
        let printer = self.clone();
        std::panic::set_hook(Box::new(move |panic| {
            let text = panic.to_string().replace('\n', " ");
            let text = format!("{text}; this is a mistake in the program, please report it");
            printer.log(Level::Error, &text);
        }));
    }

    /// Waits until all is written, for a second at most.
    pub(super) fn end(&self) {
        let mut queue = self.shared.lock();
        queue.over = true;
        self.shared.news.notify_all();
        let unwritten = |queue: &mut Queue| !queue.written;
        let ended = self.shared.news.wait_timeout_while(queue, PATIENCE, unwritten);
        drop(ended); // or it is left unread
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes until it is over, or nobody reads.
    fn work(&self, write: impl Fn(&str) -> io::Result<()>, waker: &WakeFd) {
        while let Some(line) = self.next() {
            // After an error try again: the disk of a log may have room later.
            if write(&line).is_err() && self.stream == Stream::Output {
                self.lock().closed = true;
                waker.wake();
                break;
            }
        }
        self.lock().written = true;
        self.news.notify_all();
    }

    /// The next line, once there is one; `None` at the end.
    fn next(&self) -> Option<String> {
        let mut queue = self.lock();
        loop {
            if let Some(line) = queue.waiting.pop_front() {
                return Some(line);
            }
            let missing = queue.left_out - queue.reported;
            if missing > 0 && self.stream == Stream::Error {
                queue.reported = queue.left_out;
                let lines = count(missing, "line was", "lines were");
                let told = format!("{lines} left out here");
                let line = queue.logging.line(Level::Error, &told, BootTime.now());
                return Some(line.unwrap_or(told) + "\n");
            }
            if queue.over {
                return None;
            }
            queue = self.news.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn write_to(stream: &mut dyn Write, line: &str) -> io::Result<()> {
    stream.write_all(line.as_bytes())?;
    stream.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, sync_channel};

    /// A stream that takes a line only when somebody reads one.
    fn slow(stream: Stream) -> (Printer, Receiver<String>) {
        let (pipe, reader) = sync_channel(0);
        let shared = Shared { stream, queue: Mutex::default(), news: Condvar::new() };
        let shared = Arc::new(shared);
        let (own, waker) = (Arc::clone(&shared), WakeFd::new().unwrap());
        let write = move |line: &str| pipe.send(line.to_owned()).map_err(io::Error::other);
        thread::spawn(move || own.work(write, &waker));
        (Printer { shared }, reader)
    }

    #[test]
    fn lines_that_nobody_reads_are_left_out_and_that_is_told_afterwards() {
        let (printer, reader) = slow(Stream::Error);
        let all = WAITING_MAX as u64 + 10;
        (0..all).for_each(|number| printer.say(&number.to_string()));
        assert!(printer.warning().unwrap().ends_with("nobody reads the standard error in time"));
        printer.end();
        let lines: Vec<String> = reader.iter().collect();
        let (last, first) = lines.split_last().unwrap();
        let left_out = all - first.len() as u64;
        assert!((9..=10).contains(&left_out), "{left_out}: one may be on its way");
        assert_eq!(first[0], "bellwether: 0\n");
        assert_eq!(*last, format!("bellwether: {left_out} lines were left out here\n"));
    }

    #[test]
    fn a_reader_that_has_gone_ends_the_output_and_not_the_errors() {
        for stream in [Stream::Output, Stream::Error] {
            let (printer, reader) = slow(stream);
            drop(reader);
            printer.print("x");
            printer.end();
            assert_eq!(printer.is_closed(), stream == Stream::Output);
        }
    }
}
