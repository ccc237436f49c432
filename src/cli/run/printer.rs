//! Writes changes to the standard output, from a thread of its own: whoever reads slowly, or not at
//! all, must not hold up an election.

use super::bell::Bell;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

/// The most lines that wait to be read.
const WAITING_MAX: usize = 1024;
/// How long to wait, at the end, for whoever still reads.
const PATIENCE: Duration = Duration::from_secs(1);

/// The thread that prints.
#[derive(Debug)]
pub(super) struct Printer {
    lines: SyncSender<String>,
    done: Receiver<()>,
    closed: Arc<AtomicBool>,
}

impl Printer {
    /// Starts it; the bell rings when nobody reads any more.
    pub(super) fn start(bell: Bell) -> io::Result<Self> {
        let (lines, waiting) = sync_channel::<String>(WAITING_MAX);
        let (finished, done) = sync_channel(1);
        let closed = Arc::new(AtomicBool::new(false));
        let shut = Arc::clone(&closed);
        thread::Builder::new().name("printer".to_owned()).spawn(move || {
            for line in waiting {
                let mut out = io::stdout().lock();
                if out.write_all(line.as_bytes()).and_then(|()| out.flush()).is_err() {
                    shut.store(true, Ordering::Release);
                    bell.ring();
                    break;
                }
            }
            let _ = finished.send(()); // or nobody waits for it
        })?;
        Ok(Self { lines, done, closed })
    }

    /// Writes a line. If too many wait already, nobody reads, and it is left out.
    pub(super) fn print(&self, line: String) {
        let _ = self.lines.try_send(line + "\n");
    }

    /// Whether nobody reads any more.
    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Waits until all is written, for as long as that may take.
    pub(super) fn end(self) {
        drop(self.lines);
        let _ = self.done.recv_timeout(PATIENCE); // or it is left unread
    }
}
