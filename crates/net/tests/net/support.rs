//! Places, folders and members of a test's own.

use bellwether_core::NodeId;
use bellwether_net::{Builder, Election, Peers};
use bellwether_protocols::choice::Config;
use bellwether_protocols::local_leader::{self, Mode, Preset, Tokens};
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
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

/// Leases that a stalled machine costs nobody.
pub(crate) fn patient_leases(mode: Mode, tokens: Tokens) -> Config {
    let (preset, other) = (Preset::Wan, local_leader::Config::default());
    Config::LocalLeader(local_leader::Config { mode, tokens, preset, ..other })
}

/// Looks again and again until it is there.
pub(crate) fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    for _ in 0..4_000 {
        if let Some(seen) = look() {
            return seen;
        }
        sleep(Duration::from_millis(5));
    }
    panic!("it never came: {what}");
}

/// Whom all of them follow.
pub(crate) fn leader(members: &[Election]) -> NodeId {
    eventually("a leader that all follow", || {
        let named = |election: &Election| election.leadership().leaders.first().copied();
        let first = named(members.first()?)?;
        members.iter().all(|election| named(election) == Some(first)).then_some(first)
    })
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
