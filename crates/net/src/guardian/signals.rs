//! The signals of the guardian and of the watchdog: they survive all but SIGKILL and SIGSTOP.
//!
//! **Source.** `sigprocmask(2)`. A blocked signal stays pending; a blocked stop signal of a
//! terminal does not stop the process.
//!
//! **Assumptions.** It is called before the process has other threads, which inherit the mask.
//!
//! **Promise.** No signal but SIGKILL and SIGSTOP ends or stops a process that called [`block`];
//! only SIGCHLD is delivered. A fault of its own (a bad address, say) still ends it. Blocked
//! signals are inherited across `exec`, so the command gets its mask back by [`Mask::restore`].

use rustix::io::{self, Errno};

/// Which signals are blocked: bit N - 1 is signal N.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mask(pub(super) u64);

/// All signals but SIGCHLD.
const ALL: Mask = Mask(!(1 << (libc::SIGCHLD - 1)));

/// Blocks all signals that can be blocked; returns the former mask.
pub(super) fn block() -> io::Result<Mask> {
    set(ALL)
}

impl Mask {
    /// Sets this mask again. It makes one system call and nothing else, so it may be called between
    /// `fork` and `exec`.
    pub(super) fn restore(self) -> io::Result<()> {
        set(self).map(|_before| ())
    }
}

/// Uses the system call, not the C library: the latter leaves out signals 32 and 33, which it uses
/// between its threads, and each of which would end the process.
#[allow(unsafe_code)]
fn set(mask: Mask) -> io::Result<Mask> {
    let mut before = Mask(0);
    // SAFETY: the kernel reads 8 bytes at the second pointer and writes 8 bytes at the third;
    // both point to a u64 that lives until the call returns (`Mask` has no other field). With
    // every signal blocked the C library's own signals (cancellation, set*id in all threads)
    // wait too; the guardian cancels no thread and does not change its user.
    let done = unsafe {
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            libc::SIG_SETMASK,
            &raw const mask.0,
            &raw mut before.0,
            size_of::<u64>(),
        )
    };
    if done == 0 { Ok(before) } else { Err(last_error()) }
}

/// The error of the last call, read without allocating.
fn last_error() -> Errno {
    let error = std::io::Error::last_os_error();
    error.raw_os_error().map_or(Errno::INVAL, Errno::from_raw_os_error)
}
