//! Looking names up again and again, apart from the thread that must not wait for it.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How often names are looked up.
const EVERY: Duration = Duration::from_secs(30);
/// How often while one of them is not found.
const SOON: Duration = Duration::from_secs(2);

type Found = BTreeMap<String, Vec<SocketAddr>>;

/// What was last found under some names. The thread ends soon after it.
#[derive(Debug)]
pub(crate) struct Resolver {
    found: Arc<Mutex<Found>>,
    again: mpsc::Sender<()>,
}

impl Resolver {
    /// Begins to look these up; nothing to do if there are none.
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
                    // A name that cannot be found just now is still where it was.
                    if !addresses.is_empty() {
                        let mut found = shared.lock().unwrap_or_else(PoisonError::into_inner);
                        found.insert(name.clone(), addresses);
                    }
                }
                changed();
                let pause = if all { EVERY - SOON } else { Duration::ZERO };
                // Not more often than that, however often it is wanted.
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

    /// Looks them up again soon.
    pub(crate) fn look_again(&self) {
        let _ = self.again.send(()); // the thread lives as long as this
    }

    /// What was found.
    pub(crate) fn found(&self) -> Found {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// All addresses of `HOST:PORT`, each once and in order, whatever the order of the answer; none if
/// it cannot be found.
pub(crate) fn lookup(place: &str) -> Vec<SocketAddr> {
    let found = place.to_socket_addrs().map_or_else(|_| Vec::new(), Iterator::collect);
    let distinct: BTreeSet<SocketAddr> = found.into_iter().collect();
    distinct.into_iter().collect()
}
