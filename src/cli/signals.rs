//! Signals as a file descriptor to wait for, beside others.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH, SIGXFSZ};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::SignalOnly;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

/// The signals of this process, from now on.
#[derive(Debug)]
pub(in crate::cli) struct Signals {
    delivery: SignalDelivery<UnixStream, SignalOnly>,
}

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Asked {
    /// To end.
    End,
    /// To read the settings again.
    Reload,
    /// To pass this signal on to the command.
    Forward(i32),
}

impl Signals {
    /// Catches the signals from now on.
    pub(in crate::cli) fn new() -> io::Result<Self> {
        let (read, write) = UnixStream::pair()?;
        // SIGXFSZ: a file that may not grow is an error of that file, and no reason to die. It is
        // caught and not ignored, because the command would inherit an ignored signal.
        let signals = [SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGWINCH, SIGXFSZ];
        Ok(Self { delivery: SignalDelivery::with_pipe(read, write, SignalOnly, signals)? })
    }

    /// The signals since the last call.
    pub(in crate::cli) fn pending(&mut self) -> Vec<Asked> {
        let asked = |signal| match signal {
            SIGTERM | SIGINT => Some(Asked::End),
            SIGHUP => Some(Asked::Reload),
            SIGXFSZ => None,
            other => Some(Asked::Forward(other)),
        };
        self.delivery.pending().filter_map(asked).collect()
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.delivery.get_read().as_fd()
    }
}
