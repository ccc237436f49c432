//! The laboratory for groups that run for real: networks, members, faults, and instruments.
//!
//! **What it is.** Everything that the live tests and the live benchmark have in common. Members
//! are processes of the command itself; networks are made of namespaces, or are the loopback with a
//! relay in between; what befalls them is written down for the judge.
//!
//! **Assumptions.** Linux, root, `ip`, `nft`, `nsenter`, `setpriv`, `unshare` and `flock` of
//! util-linux, and `stdbuf` of coreutils. Where one is missing the laboratory says so and fails:
//! nothing is skipped.
//!
//! **Promise.** Nothing touches the network of the host. Whatever was made is removed when its
//! owner goes, in a panic too; what a killed run left behind is removed by the next one.

pub(crate) mod clock;
pub(crate) mod faults;
pub(crate) mod group;
pub(crate) mod hub;
pub(crate) mod log;
pub(crate) mod machine;
pub(crate) mod marks;
pub(crate) mod member;
pub(crate) mod network;
pub(crate) mod overlap;
pub(crate) mod relay;
pub(crate) mod shell;
pub(crate) mod stalls;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The machine to oneself, but for what other programs do in a [quiet](machine::quiet) way.
pub(crate) fn stage() -> (MutexGuard<'static, ()>, machine::Turn) {
    static STAGE: Mutex<()> = Mutex::new(());
    (STAGE.lock().unwrap_or_else(PoisonError::into_inner), machine::quiet())
}

/// A name that nothing else on this machine has: process and count.
pub(crate) fn unique() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("{}x{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Where files are in memory: a disk that is busy would make members wait, and tests fail.
fn memory() -> PathBuf {
    let shared = PathBuf::from("/dev/shm");
    if shared.is_dir() { shared } else { std::env::temp_dir() }
}

/// A folder of one's own; kept for whoever looks for the reason if its owner panics or says so.
pub(crate) struct Folder {
    path: PathBuf,
    kept: AtomicBool,
}

impl Folder {
    pub(crate) fn new() -> Self {
        let path = memory().join(format!("bellwether-live-{}", unique()));
        std::fs::create_dir_all(&path).expect("there is room for a folder");
        Self { path, kept: AtomicBool::new(false) }
    }

    /// It stays when its owner goes.
    pub(crate) fn keep(&self) {
        self.kept.store(true, Ordering::Relaxed);
    }

    /// Removes all folders of this process, those that were kept too: nobody looks for a reason.
    pub(crate) fn remove_all() {
        let own = format!("bellwether-live-{}x", std::process::id());
        for entry in std::fs::read_dir(memory()).into_iter().flatten().filter_map(Result::ok) {
            if entry.file_name().to_string_lossy().starts_with(&own) {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
    }

    /// A file in it, as a text that a command line can hold.
    pub(crate) fn file(&self, name: &str) -> String {
        self.path.join(name).to_str().expect("the temporary folder has a plain name").to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if std::thread::panicking() || self.kept.load(Ordering::Relaxed) {
            eprintln!("what was recorded is in {}", self.path.display());
        } else {
            // A folder that stays is untidy and no failure.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}
