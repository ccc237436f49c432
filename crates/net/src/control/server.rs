//! The side that answers: threads of its own, which only ever hold a handle of the member.

use super::{Answer, Ask, BadPlace, Change, Question, socket_path};
use crate::clock::{BootTime, Clock};
use crate::status::Status;
use bellwether_core::{Duration, Instant};
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fs::{FlockOperation, flock};
use rustix::net::sockopt::socket_peercred;
use std::fmt;
use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};

/// The most that are answered at once.
const CONNECTIONS_MAX: usize = 32;
/// The longest question, in bytes.
const QUESTION_MAX: usize = 4096;
/// The longest a question may take, and an answer be left unread.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(5);
/// How often a watch looks whether anybody still listens.
const LOOK: std::time::Duration = std::time::Duration::from_millis(500);
/// What a thread that answers needs.
const STACK: usize = 256 * 1024;

/// What is asked of a member; every method may block for a moment, and may be called by several
/// threads at once.
pub trait Desk: Send + Sync + 'static {
    /// All that it knows of itself.
    ///
    /// # Errors
    /// Why it does not tell, in a sentence.
    fn status(&self) -> Result<Status, String>;

    /// Gives up the leadership, and comes back once that is so.
    ///
    /// # Errors
    /// Why it does not, in a sentence.
    fn resign(&self) -> Result<(), String>;

    /// Its present state and what becomes of it.
    fn watch(&self) -> Box<dyn Watcher>;
}

/// Who is told of changes.
pub trait Watcher: Send {
    /// Waits for the next change, or for this long. The first is the present state, at once.
    fn next(&mut self, within: std::time::Duration) -> Heard;
}

/// What a [`Watcher`] was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// Something changed.
    Change(Change),
    /// Nothing did.
    Nothing,
    /// Nothing ever will: the member has ended.
    Ended,
}

/// Why nobody can ask.
#[derive(Debug)]
pub enum CannotServe {
    /// There is no such place.
    Place(BadPlace),
    /// Another process answers there.
    Taken(PathBuf),
    /// The machine refused.
    Io(PathBuf, io::Error),
}

impl CannotServe {
    /// Whether the settings are to blame, and not the machine.
    pub fn is_config(&self) -> bool {
        !matches!(self, Self::Io(..))
    }
}

impl fmt::Display for CannotServe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Place(bad) => bad.fmt(f),
            Self::Taken(path) => write!(
                f,
                "{} answers already: this member runs; end it first, or choose another --id or \
                 --dir",
                path.display()
            ),
            Self::Io(path, error) => write!(f, "cannot listen at {}: {error}", path.display()),
        }
    }
}

impl std::error::Error for CannotServe {}

/// Answers for a member until it is dropped.
#[derive(Debug)]
pub struct Server {
    path: PathBuf,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// What all threads of a server know.
#[derive(Debug)]
struct Shared {
    over: AtomicBool,
    /// Readable once it is over.
    bell: OwnedFd,
    connections: AtomicUsize,
}

impl Server {
    /// Answers at the member's place in this directory. What a dead process left there is
    /// replaced.
    ///
    /// # Errors
    /// [`CannotServe`], with the path and the way out.
    pub fn start(
        dir: &Path,
        group: &str,
        id: u64,
        desk: Arc<dyn Desk>,
    ) -> Result<Self, CannotServe> {
        let path = socket_path(dir, group, id).map_err(CannotServe::Place)?;
        let listener = bind(dir, &path)?;
        let failed = |error: io::Error| CannotServe::Io(path.clone(), error);
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let bell = eventfd(0, flags).map_err(|error| failed(error.into()))?;
        let shared = Arc::new(Shared { over: AtomicBool::new(false), bell, connections: 0.into() });
        let threads = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("control".to_owned())
            .stack_size(STACK)
            .spawn(move || accept(&listener, &threads, &desk))
            .map_err(failed)?;
        Ok(Self { path, shared, thread: Some(thread) })
    }

    /// Where it answers.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Release);
        let _ = rustix::io::write(&self.shared.bell, &1u64.to_ne_bytes()); // it can only be full
        let _ = fs::remove_file(&self.path); // somebody else may have
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // whatever it died of, it is over
        }
    }
}

/// Takes the place. Whoever else wants it meanwhile waits for the directory's lock.
fn bind(dir: &Path, path: &Path) -> Result<UnixListener, CannotServe> {
    let failed = |error: io::Error| CannotServe::Io(path.to_owned(), error);
    let lock = File::open(dir).map_err(failed)?;
    flock(&lock, FlockOperation::LockExclusive).map_err(|error| failed(error.into()))?;
    match UnixStream::connect(path) {
        Ok(_) => return Err(CannotServe::Taken(path.to_owned())),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(failed)?;
        }
        Err(error) => return Err(failed(error)),
    }
    let listener = UnixListener::bind(path).map_err(failed)?;
    fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    Ok(listener)
}

fn accept(listener: &UnixListener, shared: &Arc<Shared>, desk: &Arc<dyn Desk>) {
    while !shared.over.load(Ordering::Acquire) {
        let mut fds =
            [PollFd::new(listener, PollFlags::IN), PollFd::new(&shared.bell, PollFlags::IN)];
        let _ = poll(&mut fds, None); // interrupted or not: look what there is
        match listener.accept() {
            Ok((stream, _)) => admit(stream, shared, desk),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            // Out of file descriptors, perhaps: wait rather than spin.
            Err(_) => thread::sleep(std::time::Duration::from_millis(100)),
        }
    }
}

/// Gives a visitor a thread, if it may ask and there is room.
fn admit(stream: UnixStream, shared: &Arc<Shared>, desk: &Arc<dyn Desk>) {
    let allowed = socket_peercred(&stream)
        .is_ok_and(|peer| peer.uid.is_root() || peer.uid == rustix::process::geteuid());
    let prepared = stream
        .set_nonblocking(false)
        .and_then(|()| stream.set_write_timeout(Some(PATIENCE)))
        .is_ok();
    if !allowed || !prepared {
        return;
    }
    if shared.connections.fetch_add(1, Ordering::AcqRel) >= CONNECTIONS_MAX {
        shared.connections.fetch_sub(1, Ordering::AcqRel);
        let text = format!("{CONNECTIONS_MAX} are being answered already; try again later");
        let _ = say(&stream, &Answer::Error(text)); // or it sees that we hang up
        return;
    }
    let seat = Seat(Arc::clone(shared));
    let desk = Arc::clone(desk);
    let answering = thread::Builder::new().name("control".to_owned()).stack_size(STACK);
    // Without a thread the seat and the stream are dropped, and the visitor sees that.
    let _ = answering.spawn(move || {
        let _ = converse(&stream, &seat.0, desk.as_ref()); // whoever hung up needs no answer
    });
}

/// One of the connections, given back when dropped.
struct Seat(Arc<Shared>);

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Answers until the visitor leaves or says nothing for too long.
fn converse(stream: &UnixStream, shared: &Shared, desk: &dyn Desk) -> io::Result<()> {
    let mut unread = Vec::new();
    while let Some(line) = question(stream, &mut unread)? {
        let ask = match serde_json::from_slice::<Question>(&line) {
            Ok(question) => question.ask,
            Err(error) => {
                let text = format!("not a question: {error}; ask {{\"ask\":\"status\"}}");
                return say(stream, &Answer::Error(text));
            }
        };
        let answer = match ask {
            Ask::Status => desk.status().map(|status| Answer::Status(Box::new(status))),
            Ask::Resign => desk.resign().map(|()| Answer::Done(true)),
            Ask::Watch => return stream_changes(stream, shared, &mut *desk.watch()),
        };
        say(stream, &answer.unwrap_or_else(Answer::Error))?;
    }
    Ok(())
}

/// The next line; nothing if there is none.
fn question(mut stream: &UnixStream, unread: &mut Vec<u8>) -> io::Result<Option<Vec<u8>>> {
    let patience = Duration::from_nanos(PATIENCE.as_nanos() as u64);
    let deadline = BootTime.now() + patience;
    loop {
        if let Some(end) = unread.iter().position(|byte| *byte == b'\n') {
            let rest = unread.split_off(end + 1);
            return Ok(Some(std::mem::replace(unread, rest)));
        }
        if unread.len() >= QUESTION_MAX {
            let text = format!("a question has at most {QUESTION_MAX} bytes");
            say(stream, &Answer::Error(text))?;
            return Ok(None);
        }
        let Some(left) = remaining(deadline) else { return Ok(None) };
        stream.set_read_timeout(Some(left))?;
        let mut part = [0; 512];
        match stream.read(&mut part) {
            Ok(0) => return Ok(None),
            Ok(count) => unread.extend_from_slice(&part[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// What is left until then; nothing if it has come.
fn remaining(deadline: Instant) -> Option<std::time::Duration> {
    let left = deadline.since(BootTime.now()).as_nanos();
    (left > 0).then(|| std::time::Duration::from_nanos(left))
}

fn stream_changes(
    stream: &UnixStream,
    shared: &Shared,
    watcher: &mut dyn Watcher,
) -> io::Result<()> {
    while !shared.over.load(Ordering::Acquire) && !has_left(stream) {
        match watcher.next(LOOK) {
            Heard::Change(change) => say(stream, &Answer::Change(change))?,
            Heard::Nothing => {}
            Heard::Ended => break,
        }
    }
    Ok(())
}

/// Whether the visitor hung up. One that says more than it was asked for is not read.
fn has_left(stream: &UnixStream) -> bool {
    let mut fds = [PollFd::new(stream, PollFlags::RDHUP)];
    let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
    let _ = poll(&mut fds, Some(&now)); // an error leaves no events behind
    fds[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::RDHUP)
}

fn say(mut stream: &UnixStream, answer: &Answer) -> io::Result<()> {
    let mut line = serde_json::to_vec(answer)?;
    line.push(b'\n');
    stream.write_all(&line)
}
