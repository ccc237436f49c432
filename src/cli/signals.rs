//! Signals as something to wait for, beside everything else.

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
    /// To come to an end.
    End,
    /// To read again what may have changed.
    Reload,
    /// Something that is the command's business.
    Forward(i32),
}

impl Signals {
    /// Takes the signals over.
    pub(in crate::cli) fn new() -> io::Result<Self> {
        let (read, write) = UnixStream::pair()?;
        // A file that may grow no further is an error of that file's, and no reason to die. Caught
        // and not ignored: what is ignored the command would inherit.
        let signals = [SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGWINCH, SIGXFSZ];
        Ok(Self { delivery: SignalDelivery::with_pipe(read, write, SignalOnly, signals)? })
    }

    /// What came since the last look.
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
