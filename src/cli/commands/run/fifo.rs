//! Tells changes of state through a named pipe, as keepalived's `notify_fifo` does.
//!
//! **Source.** The lines are those that keepalived writes for an instance, as hooks get them:
//! `INSTANCE "name" MASTER|BACKUP|FAULT|STOP priority`.
//!
//! **Promise.** A reader that is missing or stuck costs nothing: what it does not take at once is
//! lost, and counted. Whoever reads gets whole lines.

use crate::cli::failure::Failure;
use bellwether::core::Instant;
use bellwether::net::clock::{BootTime, Clock};
use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, mkfifoat, open};
use rustix::io::Errno;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

/// The most lines that wait until the thread has opened the pipe.
const WAITING_MAX: usize = 64;
/// How long the end waits for the last line.
const PATIENCE: Duration = Duration::from_secs(1);

/// Refuses a place where something else is; in words, how it is used.
pub(super) fn check(path: &Path) -> Result<String, Failure> {
    let place = path.display();
    match fs::metadata(path) {
        Ok(found) if found.file_type().is_fifo() => Ok(format!("{place} is written to")),
        Ok(_) => Err(Failure::Config(format!(
            "--notify-fifo {place}: it is no named pipe; give another path, or remove it"
        ))),
        Err(_)
            if path.parent().is_some_and(|folder| folder.is_dir() || folder == Path::new("")) =>
        {
            Ok(format!("{place} is made"))
        }
        Err(error) => Err(Failure::Config(format!(
            "--notify-fifo {place}: {error}; make its folder, or give another path"
        ))),
    }
}

/// How many lines were written, and how many were lost.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) written: AtomicU64,
    pub(super) lost: AtomicU64,
    /// When one was last lost, in nanoseconds of the clock; 0 if none was.
    lost_at: AtomicU64,
}

impl Lines {
    fn lose(&self) {
        self.lost_at.store(BootTime.now().as_nanos(), Ordering::Relaxed);
        self.lost.fetch_add(1, Ordering::Relaxed);
    }

    /// When a line was last lost, if one was.
    pub(super) fn lost_at(&self) -> Option<Instant> {
        let at = self.lost_at.load(Ordering::Relaxed);
        (at != 0).then(|| Instant::from_nanos(at))
    }
}

/// The pipe, and the thread that writes to it: a path may be on a disk that hangs.
#[derive(Debug)]
pub(super) struct Fifo {
    lines: SyncSender<String>,
    counts: Arc<Lines>,
    done: Receiver<()>,
}

impl Fifo {
    /// Makes the pipe, if it is not there.
    pub(super) fn start(path: PathBuf) -> io::Result<Self> {
        let made = match mkfifoat(CWD, &path, Mode::RUSR | Mode::WUSR) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(error) => {
                let place = path.display();
                return Err(io::Error::other(format!("--notify-fifo {place}: {error}")));
            }
        };
        let (lines, wanted) = sync_channel::<String>(WAITING_MAX);
        let (finished, done) = sync_channel(1);
        let counts = Arc::new(Lines::default());
        let own = Arc::clone(&counts);
        thread::Builder::new().name("notify".to_owned()).spawn(move || {
            let (mut pipe, mut last) = (None, String::new());
            for line in wanted {
                if line == last {
                    continue; // another leader to follow is no other state
                }
                match write(&path, &mut pipe, &line) {
                    Ok(()) => {
                        own.written.fetch_add(1, Ordering::Relaxed);
                        last = line;
                    }
                    // The next reader has heard of no state.
                    Err(_) => {
                        own.lose();
                        last.clear();
                    }
                }
            }
            if made {
                let _ = fs::remove_file(&path); // somebody may have removed it
            }
            drop(pipe); // so that whoever waits finds it closed
            drop(finished);
        })?;
        Ok(Self { lines, counts, done })
    }

    /// Tells this state.
    pub(super) fn tell(&self, group: &str, state: &str, rank: u64) {
        let line = format!("INSTANCE \"{group}\" {state} {rank}\n");
        if self.lines.try_send(line).is_err() {
            self.counts.lose();
        }
    }

    pub(super) fn counts(&self) -> Arc<Lines> {
        Arc::clone(&self.counts)
    }

    /// Waits until the last line is written, for a second at most.
    pub(super) fn end(self) {
        drop(self.lines);
        let _ = self.done.recv_timeout(PATIENCE); // or its disk hangs
    }
}

/// Writes a line, or fails at once. A reader may have gone and another come since the last one.
fn write(path: &Path, pipe: &mut Option<OwnedFd>, line: &str) -> io::Result<()> {
    for _ in 0..2 {
        let open = match pipe {
            Some(open) => open,
            None => pipe.insert(open_pipe(path)?),
        };
        match rustix::io::write(&*open, line.as_bytes()) {
            Ok(count) if count == line.len() => return Ok(()),
            Ok(_) => return Err(io::Error::other("a part of a line")), // no pipe does that
            Err(Errno::PIPE) => *pipe = None,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Errno::PIPE.into())
}

/// Opens it for writing, which fails if nobody reads.
fn open_pipe(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let pipe = open(path, flags, Mode::empty())?;
    let is_pipe = FileType::from_raw_mode(fstat(&pipe)?.st_mode).is_fifo();
    if is_pipe { Ok(pipe) } else { Err(io::Error::other("it is no named pipe any more")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn lines_reach_a_reader_and_are_counted_as_lost_without_one() {
        let path = std::env::temp_dir().join(format!("bw-fifo-{}", std::process::id()));
        let fifo = Fifo::start(path.clone()).unwrap();
        let counts = fifo.counts();
        fifo.tell("web", "BACKUP", 9);
        while counts.lost.load(Ordering::Relaxed) == 0 {
            thread::yield_now(); // nobody reads it
        }
        let reader = open(&path, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty()).unwrap();
        for state in ["BACKUP", "MASTER", "MASTER", "STOP"] {
            fifo.tell("web", state, 9);
        }
        fifo.end();
        let mut told = String::new();
        fs::File::from(reader).read_to_string(&mut told).unwrap();
        let expected =
            ["BACKUP", "MASTER", "STOP"].map(|state| format!("INSTANCE \"web\" {state} 9\n"));
        assert_eq!(told, expected.concat(), "also the state that nobody had read");
        assert_eq!(counts.written.load(Ordering::Relaxed), 3);
        assert!(!path.exists(), "what it made it removes");
    }
}
