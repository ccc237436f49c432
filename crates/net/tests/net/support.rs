//! Places, folders and members of a test's own.

use bellwether_net::{Builder, Election, Peers};
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Long enough for a stalled machine; nothing waits for it if all is well.
pub(crate) const PATIENCE: Option<Duration> = Some(Duration::from_secs(20));

/// The next number that no other test of this process has.
fn number() -> u32 {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    COUNT.fetch_add(1, Ordering::Relaxed)
}

/// A place on the loopback that nobody else has: an address that is made of this process's number.
/// A port that was free a moment ago may be somebody else's by now.
fn own_place() -> String {
    let (pid, count) = (std::process::id(), number());
    let (a, b) = (1 + pid % 250, pid / 250 % 250);
    format!("127.{a}.{b}.{}:{}", 1 + count % 250, 7400 + count / 250)
}

/// A list of members, each at a place of its own.
pub(crate) fn places(count: u64) -> Vec<String> {
    (1..=count).map(|id| format!("{id}={}", own_place())).collect()
}

pub(crate) fn peers(places: &[String]) -> Peers {
    places.join(",").parse().expect("a list")
}

/// A member without keys.
pub(crate) fn member(id: u64, places: &[String]) -> Builder {
    Election::builder("test").peers(peers(places)).id(id).insecure()
}

/// An empty folder of a test's own, removed at its end.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        let name = format!("bw-{}-{}", std::process::id(), number());
        let path = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&path); // of a process that had this number before
        fs::create_dir(&path).expect("there is room for a folder");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0); // a failed test has said what matters
    }
}
