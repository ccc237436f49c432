//! Looks names up repeatedly in a thread of its own, so that the member's thread never waits for
//! it.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How often names are looked up.
const EVERY: Duration = Duration::from_secs(30);
/// How often while a name is not found.
const SOON: Duration = Duration::from_secs(2);

type Found = BTreeMap<String, Vec<SocketAddr>>;

/// The latest addresses of some names. The thread ends soon after this is dropped.
#[derive(Debug)]
pub(crate) struct Resolver {
    found: Arc<Mutex<Found>>,
    again: mpsc::Sender<()>,
}

impl Resolver {
    /// Starts to look these names up; `None` if there are none.
    pub(crate) fn start(
        names: Vec<String>,
        changed: impl Fn() + Send + 'static,
    ) -> io::Result<Option<Self>> {
        if names.is_empty() {
            return Ok(None);
        }
        let (again, wanted) = mpsc::channel::<()>();
        let found = Arc::new(Mutex::new(Found::new()));
        let shared = Arc::clone(&found);
        let work = move || {
            loop {
                let mut all = true;
                for name in &names {
                    let addresses = lookup(name);
                    all &= !addresses.is_empty();
                    // A name that is not found now keeps its address.
                    if !addresses.is_empty() {
                        let mut found = shared.lock().unwrap_or_else(PoisonError::into_inner);
                        found.insert(name.clone(), addresses);
                    }
                }
                changed();
                let pause = if all { EVERY - SOON } else { Duration::ZERO };
                // At most this often, however often a lookup is requested.
                thread::sleep(SOON);
                if wanted.try_iter().count() == 0
                    && wanted.recv_timeout(pause) == Err(RecvTimeoutError::Disconnected)
                {
                    return;
                }
            }
        };
        thread::Builder::new().name("bellwether-names".into()).spawn(work)?;
        Ok(Some(Self { found, again }))
    }

    /// Requests another lookup soon.
    pub(crate) fn look_again(&self) {
        let _ = self.again.send(()); // the thread runs as long as this exists
    }

    /// The latest addresses.
    pub(crate) fn found(&self) -> Found {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// All addresses of `HOST:PORT`, sorted and each once; empty if the name is not found.
pub(crate) fn lookup(place: &str) -> Vec<SocketAddr> {
    let found = place.to_socket_addrs().map_or_else(|_| Vec::new(), Iterator::collect);
    let distinct: BTreeSet<SocketAddr> = found.into_iter().collect();
    distinct.into_iter().collect()
}
