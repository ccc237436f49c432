//! Live leader election for C: what `include/bellwether.h` declares, which cbindgen makes of this
//! file.
//!
//! **What it is.** A border around [`Election`] and [`Guard`], for the live part alone. It adds
//! nothing to them.
//!
//! **Assumptions.** The caller keeps what the header says: texts end with a zero byte, a handle is
//! one that a function here returned, and one that was taken is not used again. C has no means to
//! check that, so neither have we. NULL is checked.
//!
//! **Promise.** No panic crosses the border. Where a question cannot be answered, the answer is
//! "you do not lead". In a child that was forked every call fails, and nothing is released: its
//! parent still leads.
//!
//! This is the one crate besides `net` that has `unsafe`: for reading and freeing what C points to.

#![expect(unsafe_code, reason = "C hands over pointers; each block has its proof")]

mod failure;
#[cfg(test)]
mod tests;

use bellwether_net::{Election, Guard, Keyring, NamesSettings as _, Peers};
use failure::border;
use std::ffi::{CStr, c_char, c_int};
use std::mem::forget;
use std::path::Path;
use std::time::Duration;

/// A member of a group.
#[expect(non_camel_case_types, reason = "its name in C")]
#[derive(Debug)]
pub struct bellwether_election(Owned<Election>);

/// Proof that a member leads, for one reign.
#[expect(non_camel_case_types, reason = "its name in C")]
#[derive(Debug)]
pub struct bellwether_guard(Owned<Guard>);

/// The settings of a member; what is NULL or 0 is not given. Set all of it to zero first.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct bellwether_settings {
    /// The name of the group.
    pub group: *const c_char,
    /// The members, as in "1=10.0.0.1:7400,2=10.0.0.2:7400,3=10.0.0.3:7400".
    pub peers: *const c_char,
    /// The file of the group's keys, as `bellwether keygen` makes them.
    pub key_file: *const c_char,
    /// Which member this is; if it is NULL, the one whose address is here.
    pub id: *const u64,
    /// Where to listen, if not at the listed address.
    pub listen: *const c_char,
    /// Where the state is stored, and where `bellwether status` asks; without it nothing is stored.
    pub dir: *const c_char,
    /// Not 0: there is no key, and everybody who reaches the port can lead.
    pub insecure: c_int,
}

// C may use a member and a guard in several threads at once.
const _: () = {
    const fn shared_by_threads<T: Send + Sync>() {}
    shared_by_threads::<bellwether_election>();
    shared_by_threads::<bellwether_guard>();
};

/// Something that only the process may use that made it.
#[derive(Debug)]
struct Owned<T> {
    held: T,
    pid: u32,
}

impl<T> Owned<T> {
    fn new(held: T) -> Self {
        Self { held, pid: std::process::id() }
    }

    fn get(&self) -> Result<&T, String> {
        let here = std::process::id();
        if self.pid == here {
            return Ok(&self.held);
        }
        Err(format!(
            "process {} joined the group, and process {here} was forked from it: its member does \
             not exist here; join after the fork",
            self.pid
        ))
    }

    /// Takes it. In a forked child nothing is dropped: the threads and locks of the parent do not
    /// exist there.
    fn take(self) -> Result<T, String> {
        match self.get() {
            Ok(_) => Ok(self.held),
            Err(line) => {
                forget(self.held);
                Err(line)
            }
        }
    }
}

/// A text of the caller; nothing if it is NULL.
///
/// # Safety
/// The pointer is NULL, or points to a text that ends with a zero byte and does not change
/// meanwhile.
unsafe fn text<'a>(text: *const c_char, name: &str) -> Result<Option<&'a str>, String> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: it is not NULL, and the caller of this function promises the rest.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().map(Some).map_err(|_| format!("{name}: the text is not UTF-8"))
}

fn join(settings: &bellwether_settings) -> Result<Election, String> {
    let bellwether_settings { group, peers, key_file, id, listen, dir, insecure } = *settings;
    // SAFETY: the header asks for these: each is NULL or a text that lives as long as the call.
    let [group, peers, key_file, listen, dir] = unsafe {
        [
            text(group, "group")?,
            text(peers, "peers")?,
            text(key_file, "key_file")?,
            text(listen, "listen")?,
            text(dir, "dir")?,
        ]
    };
    let group = group.ok_or("group is NULL: give the name of the group")?;
    let mut builder = Election::builder(group);
    if let Some(peers) = peers {
        builder = builder.peers(peers.parse::<Peers>().map_err(|bad| format!("peers: {bad}"))?);
    }
    if !id.is_null() {
        // SAFETY: it is not NULL, and the header asks for a pointer to a number then.
        builder = builder.id(unsafe { *id });
    }
    if let Some(listen) = listen {
        let bad = |_| format!("listen {listen}: write an address and a port, as in 10.0.0.1:7400");
        builder = builder.listen(listen.parse().map_err(bad)?);
    }
    if let Some(dir) = dir {
        builder = builder.dir(dir).control_dir(dir);
    }
    builder = match (key_file, insecure != 0) {
        (Some(_), true) => {
            return Err("key_file and insecure are both given: choose one of them".to_owned());
        }
        (Some(file), false) => {
            builder.keyring(Keyring::read(Path::new(file)).map_err(|bad| bad.to_string())?)
        }
        (None, true) => builder.insecure(),
        (None, false) => builder,
    };
    let named = |setting: bellwether_net::Setting| match setting {
        bellwether_net::Setting::Key => "key_file".to_owned(),
        other => other.name().to_owned(),
    };
    builder.join().map_err(|bad| bad.explain(&named))
}

/// What went wrong in the last call of this thread that failed, in one line; empty if none has
/// failed. It is valid until the next call of this thread.
#[unsafe(no_mangle)]
pub extern "C" fn bellwether_error() -> *const c_char {
    failure::last()
}

/// Joins a group: from now on this process may be elected. NULL if it cannot.
///
/// # Safety
/// The settings and their texts live as long as the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bellwether_join(
    settings: *const bellwether_settings,
) -> *mut bellwether_election {
    border(std::ptr::null_mut(), || {
        // SAFETY: it is NULL, or the caller's settings, which live as long as the call.
        let settings = unsafe { settings.as_ref() }.ok_or("settings are NULL")?;
        let election = join(settings)?;
        Ok(Box::into_raw(Box::new(bellwether_election(Owned::new(election)))))
    })
}

/// Waits until the member leads: 1 and a guard, 0 if the time passed first, -1 if it failed. A
/// negative time is none.
///
/// # Safety
/// The member was not taken, and `guard` points to a place for a guard.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bellwether_wait(
    election: *const bellwether_election,
    timeout_ms: i64,
    guard: *mut *mut bellwether_guard,
) -> c_int {
    border(-1, || {
        if guard.is_null() {
            return Err("there is no place for the guard: it is NULL".to_owned());
        }
        // SAFETY: it is not NULL, and the caller's place for a pointer. Whoever does not look at
        // the result finds no guard there.
        unsafe { guard.write(std::ptr::null_mut()) };
        // SAFETY: it is NULL, or a member that `bellwether_join` returned and nobody took.
        let election = unsafe { election.as_ref() }.ok_or("the election is NULL")?.0.get()?;
        let timeout = u64::try_from(timeout_ms).ok().map(Duration::from_millis);
        let Some(found) = election.wait(timeout).map_err(|gone| gone.to_string())? else {
            return Ok(0);
        };
        let made = Box::into_raw(Box::new(bellwether_guard(Owned::new(found))));
        // SAFETY: as above.
        unsafe { guard.write(made) };
        Ok(1)
    })
}

/// The guard of a caller.
///
/// # Safety
/// It is NULL, or a guard that [`bellwether_wait`] returned and nobody took.
unsafe fn guarded<'a>(guard: *const bellwether_guard) -> Result<&'a Guard, String> {
    // SAFETY: the caller of this function promises it.
    let guard = unsafe { guard.as_ref() };
    guard.ok_or("the guard is NULL")?.0.get()
}

/// Whether the member still leads at this moment, by the clock: 1 or 0. Ask before each action that
/// only a leader may take. It is 0 if the question cannot be answered.
///
/// # Safety
/// The guard was not taken.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bellwether_still_leading(guard: *const bellwether_guard) -> c_int {
    // SAFETY: the header asks for it.
    border(0, || Ok(c_int::from(unsafe { guarded(guard) }?.still_leading())))
}

/// The nanoseconds until the reign ends unless it is renewed: 0 if it is over or the question
/// cannot be answered, INT64_MAX if it has no end.
///
/// # Safety
/// The guard was not taken.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bellwether_remaining_ns(guard: *const bellwether_guard) -> i64 {
    border(0, || {
        // SAFETY: the header asks for it.
        let left = unsafe { guarded(guard) }?.remaining();
        Ok(i64::try_from(left.as_nanos()).unwrap_or(i64::MAX))
    })
}

/// The fencing token, higher than that of every leader before: 1 and the token, 0 if the reign is
/// over or there are no tokens, -1 if it failed.
///
/// # Safety
/// The guard was not taken, and `term` points to a place for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bellwether_term(guard: *const bellwether_guard, term: *mut u64) -> c_int {
    border(-1, || {
        // SAFETY: the header asks for it.
        let found = unsafe { guarded(guard) }?.term();
        if term.is_null() {
            return Err("there is no place for the term: it is NULL".to_owned());
        }
        if let Some(found) = found {
            // SAFETY: it is not NULL, and the caller's place for a number.
            unsafe { term.write(found.0.get()) };
        }
        Ok(c_int::from(found.is_some()))
    })
}

/// Resigns and waits until the lease is released; takes the guard. 0, or -1 if it failed.
///
/// # Safety
/// The guard was not taken before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bellwether_resign(guard: *mut bellwether_guard) -> c_int {
    border(-1, || {
        if guard.is_null() {
            return Err("the guard is NULL".to_owned());
        }
        // SAFETY: `bellwether_wait` made it of a box, and nobody took it before.
        let guard = unsafe { Box::from_raw(guard) };
        guard.0.take()?.resign().map_err(|why| why.to_string())?;
        Ok(0)
    })
}

/// Releases the guard, and takes it; the last guard of a reign resigns. NULL does nothing.
///
/// # Safety
/// The guard was not taken before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bellwether_release(guard: *mut bellwether_guard) {
    border((), || {
        if guard.is_null() {
            return Ok(());
        }
        // SAFETY: `bellwether_wait` made it of a box, and nobody took it before.
        let guard = unsafe { Box::from_raw(guard) };
        guard.0.take().map(drop)
    });
}

/// Leaves the group, and does not take the member: a wait of another thread ends, and every later
/// one fails. Nothing but bellwether_leave is of use then. 0, or -1 if it failed.
///
/// # Safety
/// The member was not taken.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bellwether_stop(election: *const bellwether_election) -> c_int {
    border(-1, || {
        // SAFETY: it is NULL, or a member that `bellwether_join` returned and nobody took.
        unsafe { election.as_ref() }.ok_or("the election is NULL")?.0.get()?.leave();
        Ok(0)
    })
}

/// Leaves the group, and takes the member; a leader hands over first. Guards of it lead no
/// longer, and are still to be released. NULL does nothing. 0, or -1 if it failed.
///
/// # Safety
/// The member was not taken before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bellwether_leave(election: *mut bellwether_election) -> c_int {
    border(-1, || {
        if election.is_null() {
            return Ok(0);
        }
        // SAFETY: `bellwether_join` made it of a box, and nobody took it before.
        let election = unsafe { Box::from_raw(election) };
        election.0.take()?.leave();
        Ok(0)
    })
}
