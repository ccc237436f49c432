//! The addresses of one member, and the means to set, announce and remove them.

use super::lookout::ASKING;
use super::neighbourhood::Neighbourhood;
use super::netlink::Netlink;
use super::{Address, netlink};
use crate::leader_file;
use bellwether_core::{Duration, Instant, Term};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The addresses, with a connection to the kernel that was opened before it is needed.
#[derive(Debug)]
pub(crate) struct Addresses {
    /// With the number that each interface had at first.
    all: Vec<(Address, u32)>,
    kernel: Option<Netlink>,
    /// The file that is there as long as they are, if there is one.
    file: Option<PathBuf>,
}

impl Addresses {
    /// # Errors
    /// If an interface is not there, or the system gives no socket.
    pub(crate) fn open(all: &[Address]) -> io::Result<Self> {
        let kernel = if all.is_empty() { None } else { Some(Netlink::new()?) };
        let numbered = |address: &Address| match netlink::index(&address.interface) {
            Ok(index) => Ok((address.clone(), index)),
            Err(error) => Err(told(address, "find the interface of", &error)),
        };
        let all = all.iter().map(numbered).collect::<io::Result<_>>()?;
        Ok(Self { all, kernel, file: None })
    }

    /// The same with a file that is there as long as they are.
    pub(crate) fn with_file(self, file: Option<&Path>) -> Self {
        Self { file: file.map(Path::to_owned), ..self }
    }

    /// Whether there is neither an address nor a file.
    pub(crate) fn is_empty(&self) -> bool {
        self.all.is_empty() && self.file.is_none()
    }

    /// Whether there is no address, but perhaps a file.
    pub(crate) fn has_none(&self) -> bool {
        self.all.is_empty()
    }

    /// Whether there is a file.
    pub(crate) fn has_file(&self) -> bool {
        self.file.is_some()
    }

    /// Writes the file, if there is one: see [`leader_file`].
    pub(crate) fn write(&self, term: Option<Term>, ends: Instant) -> io::Result<()> {
        self.file.as_ref().map_or(Ok(()), |file| leader_file::write(file, term, ends))
    }

    /// Who is asked for them, and told who has them; the former ones, if the interfaces are the
    /// same. It asks the kernel by a connection of its own, since others may use the usual one.
    pub(super) fn neighbourhood(
        &self,
        former: &Arc<Neighbourhood>,
    ) -> io::Result<Arc<Neighbourhood>> {
        if self.has_none() {
            return Ok(Arc::clone(former));
        }
        let addresses = self.all.iter().map(|(address, _)| address);
        Netlink::new()
            .and_then(|kernel| Neighbourhood::of(&kernel, addresses, former))
            .map_err(|error| io::Error::other(format!("{ASKING}: {error}")))
    }

    /// Sets all of them, for so long, also if they are set; returns those that were not there.
    pub(crate) fn set(&self, valid: Duration) -> io::Result<Vec<&Address>> {
        let (Some(kernel), mut new) = (&self.kernel, Vec::new()) else { return Ok(Vec::new()) };
        for (address, _) in &self.all {
            let absent = netlink::index(&address.interface)
                .and_then(|index| kernel.set(address.ip, address.prefix, index, valid))
                .map_err(|error| told(address, "set", &error))?;
            new.extend(absent.then_some(address));
        }
        Ok(new)
    }

    /// Removes all of them, and the file; tries each, also if one cannot be removed.
    pub(crate) fn remove(&self) -> io::Result<()> {
        let mut done = self.file.as_ref().map_or(Ok(()), |file| leader_file::remove(file));
        let Some(kernel) = &self.kernel else { return done };
        for (address, at_first) in &self.all {
            // An interface may have been made anew since, with another number.
            let now = netlink::index(&address.interface).unwrap_or(*at_first);
            let others = (now != *at_first).then_some(*at_first);
            for index in [now].into_iter().chain(others) {
                let removed = kernel.remove(address.ip, address.prefix, index);
                done = done.and(removed.map_err(|error| told(address, "remove", &error)));
            }
        }
        done
    }
}

fn told(address: &Address, what: &str, error: &io::Error) -> io::Error {
    io::Error::other(format!("cannot {what} {address}: {error}"))
}
