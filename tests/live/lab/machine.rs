//! The machine as test programs share it: those that hold times against bounds may run beside each
//! other, but not beside one that takes all processors.
//!
//! **How.** A lock of the kernel's on a file, which ends with its owner however that ends: shared
//! by whoever needs the machine [`quiet`], exclusive for a [`load`]. A process that was killed
//! keeps what it holds until it gets a processor once more, so beside a load even a command that
//! was killed in time seems to run on. Everybody passes a gate first, so that a load waits only for
//! those that were there before it.

use std::fs::{File, OpenOptions, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};

/// A share of the machine, until it is dropped.
#[must_use]
pub(crate) struct Turn(#[allow(dead_code, reason = "the lock lasts as long as the file")] File);

/// Whoever comes first makes the file for all users. One that is there is opened as it is: in a
/// folder that everybody may write, the kernel refuses to create a file that is somebody else's.
fn open(name: &str) -> File {
    let path = std::env::temp_dir().join(name);
    let there = || OpenOptions::new().read(true).open(&path);
    let create = |_| -> std::io::Result<File> {
        let file = OpenOptions::new().create_new(true).write(true).mode(0o666).open(&path)?;
        // Whatever the umask is.
        file.set_permissions(Permissions::from_mode(0o666))?;
        Ok(file)
    };
    let file = match there().or_else(create) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => there(), // made meanwhile
        file => file,
    };
    file.unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn turn(lock: fn(&File) -> std::io::Result<()>) -> Turn {
    let (gate, machine) = (open("bellwether-tests.gate"), open("bellwether-tests.machine"));
    File::lock(&gate).expect("a file can be locked");
    lock(&machine).expect("a file can be locked");
    Turn(machine)
}

/// Waits until nobody takes all processors, and keeps others from it. A thread that has one turn
/// asks for no other: whoever waits at the gate waits for it.
pub(crate) fn quiet() -> Turn {
    turn(File::lock_shared)
}

/// Waits until nobody needs the machine quiet, and keeps others from it.
pub(crate) fn load() -> Turn {
    turn(File::lock)
}
