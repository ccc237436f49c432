//! The guardian of a member that runs no command: it keeps the member's last will.
//!
//! **Promise.** The loop never waits for it. If it ends, another one is started, a few times.

use super::printer::Printer;
use super::worker::guard;
use bellwether::net::LastWill;
use bellwether::net::guardian::WithoutCommand;
use std::io;
use std::os::fd::BorrowedFd;

/// How often another one is started.
const AGAIN: u32 = 3;

/// The guardian, while there is one.
#[derive(Debug)]
pub(super) struct Keeper {
    guardian: Option<WithoutCommand>,
    will: LastWill,
    errors: Printer,
    left: u32,
}

fn start(will: &LastWill) -> io::Result<WithoutCommand> {
    WithoutCommand::spawn(guard("bellwether-guardian"), will)
}

impl Keeper {
    /// Starts it. Without one a leader that is killed keeps its lease, which is no reason not to
    /// start.
    pub(super) fn start(will: LastWill, errors: Printer) -> Self {
        let mut keeper = Self { guardian: None, will, errors, left: AGAIN };
        keeper.begin();
        keeper
    }

    fn begin(&mut self) {
        match start(&self.will) {
            Ok(guardian) => self.guardian = Some(guardian),
            Err(error) => self.errors.say(&no_guardian(&error)),
        }
    }

    /// Starts another one if it has ended.
    pub(super) fn look(&mut self) {
        if self.guardian.as_ref().is_some_and(WithoutCommand::has_ended) {
            self.guardian = None;
            if self.left == 0 {
                let often = io::Error::other("it has ended too often");
                return self.errors.say(&no_guardian(&often));
            }
            self.left -= 1;
            self.begin();
        }
    }

    /// Readable when it has ended.
    pub(super) fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.guardian.as_ref().map(WithoutCommand::fd)
    }
}

/// What the operator is told if there is no guardian.
pub(super) fn no_guardian(error: &io::Error) -> String {
    format!(
        "there is no guardian ({error}): if this member is killed while it leads, its lease must \
         run out first"
    )
}
