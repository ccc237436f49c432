//! Those who have connected: one thread listens to all that are silent, and only a whole question
//! gets a thread of its own.
//!
//! **Assumptions.** What a [`Desk`] does takes a moment, except that a leader that resigns may have
//! to end its command first.
//!
//! **Promise.** Whoever connects and says nothing costs a file descriptor, for a few seconds at
//! most, and yields it to a newcomer when many do: somebody who asks is answered however many are
//! silent. Connections, threads, questions and times are bounded.

use super::desk::{Desk, Heard, Watcher};
use super::socket::Socket;
use super::{Answer, Ask, Question, STACK};
use crate::clock::{BootTime, Clock};
use bellwether_core::{Duration, Instant};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// The most who are connected without a whole question; the one that is silent for longest yields.
const SILENT_MAX: usize = 64;
/// The most who are answered at once.
const ANSWERED_MAX: usize = 32;
/// The most of those who watch: the other threads are for questions with one answer.
const WATCHES_MAX: usize = 24;
/// The longest question, in bytes.
const QUESTION_MAX: usize = 4096;
/// The longest a question may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest an answer may be left unread.
const UNREAD: std::time::Duration = std::time::Duration::from_secs(5);
/// How often a watch looks whether anybody still listens.
const LOOK: std::time::Duration = std::time::Duration::from_millis(500);
/// How long the end waits for answers that are being given.
const LAST_ANSWERS: Duration = Duration::from_millis(200);

/// What all threads of a server know.
pub(super) struct Shared {
    desk: Arc<dyn Desk>,
    over: AtomicBool,
    /// Readable once it is over, or somebody was answered.
    bell: OwnedFd,
    answered: Arc<AtomicUsize>,
    watches: Arc<AtomicUsize>,
    /// Those who were answered, and may ask again.
    back: Mutex<Vec<Connection>>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("answered", &self.answered).finish_non_exhaustive()
    }
}

impl Shared {
    pub(super) fn new(desk: Arc<dyn Desk>) -> io::Result<Self> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let (answered, watches) = (Arc::default(), Arc::default());
        Ok(Self { desk, over: false.into(), bell, answered, watches, back: Mutex::default() })
    }

    /// Ends all threads soon, once the last answers are given.
    pub(super) fn end(&self) {
        let limit = BootTime.now() + LAST_ANSWERS;
        let busy = || {
            let watches = self.watches.load(Ordering::Acquire);
            self.answered.load(Ordering::Acquire).saturating_sub(watches) > 0
        };
        while busy() && BootTime.now() < limit {
            thread::sleep(std::time::Duration::from_millis(2));
        }
        self.over.store(true, Ordering::Release);
        self.ring();
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    fn ring(&self) {
        let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes()); // it can only be full
    }

    fn give_back(&self, connection: Connection) {
        self.back.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        self.ring();
    }

    fn take_back(&self) -> Vec<Connection> {
        let _ = rustix::io::read(&self.bell, &mut [0; 8]); // it can only be empty
        std::mem::take(&mut *self.back.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A place among a number that is bounded, given back when dropped.
struct Seat(Arc<AtomicUsize>);

impl Seat {
    fn take(count: &Arc<AtomicUsize>, most: usize) -> Option<Self> {
        let more = |taken| (taken < most).then_some(taken + 1);
        let taken = count.fetch_update(Ordering::AcqRel, Ordering::Acquire, more);
        taken.is_ok().then(|| Self(Arc::clone(count)))
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Listens until it is over.
pub(super) fn serve(socket: &Socket, shared: &Arc<Shared>) {
    let mut silent: VecDeque<Connection> = VecDeque::new();
    while !shared.is_over() {
        wait(&socket.listener, shared, &silent);
        silent.extend(shared.take_back());
        accept(&socket.listener, &mut silent);
        let now = BootTime.now();
        for _ in 0..silent.len() {
            let Some(mut connection) = silent.pop_front() else { break };
            match connection.listen() {
                Said::Question => answer(connection, shared),
                Said::Nothing if now < connection.until => silent.push_back(connection),
                Said::Nothing | Said::Goodbye => {}
            }
        }
        let too_many = silent.len().saturating_sub(SILENT_MAX);
        drop(silent.drain(..too_many));
    }
}

/// Waits until somebody comes, says something, or was silent for too long.
fn wait(listener: &UnixListener, shared: &Shared, silent: &VecDeque<Connection>) {
    let first = silent.iter().map(|connection| connection.until).min();
    let timeout = first.and_then(|first| {
        let left = std::time::Duration::from_nanos(first.since(BootTime.now()).as_nanos());
        Timespec::try_from(left).ok()
    });
    let mut fds =
        vec![PollFd::new(listener, PollFlags::IN), PollFd::new(&shared.bell, PollFlags::IN)];
    fds.extend(silent.iter().map(|connection| PollFd::new(&connection.stream, PollFlags::IN)));
    let _ = poll(&mut fds, timeout.as_ref()); // interrupted or not: look what there is
}

/// Admits those who have connected, as many as there is room for.
fn accept(listener: &UnixListener, silent: &mut VecDeque<Connection>) {
    for _ in 0..SILENT_MAX {
        match listener.accept() {
            Ok((stream, _)) => silent.extend(Connection::admit(stream)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return,
            Err(_) => {
                // Out of file descriptors, perhaps: make room, and wait rather than spin.
                drop(silent.pop_front());
                return thread::sleep(std::time::Duration::from_millis(10));
            }
        }
    }
}

/// Gives a whole question a thread, if there is room.
fn answer(connection: Connection, shared: &Arc<Shared>) {
    let refuse = |text: String| {
        let _ = say(&connection.stream, &Answer::Error(text)); // or it sees that we hang up
    };
    let watch = if connection.asks_to_watch() {
        let Some(watch) = Seat::take(&shared.watches, WATCHES_MAX) else {
            return refuse(too_many_watch());
        };
        Some(watch)
    } else {
        None
    };
    let Some(seat) = Seat::take(&shared.answered, ANSWERED_MAX) else {
        return refuse(format!("{ANSWERED_MAX} are being answered already; try again later"));
    };
    let own = Arc::clone(shared);
    let answering = thread::Builder::new().name("control".to_owned()).stack_size(STACK);
    // Without a thread the seats and the connection are dropped, and the visitor sees that.
    let _ = answering.spawn(move || {
        let _seat = seat;
        // Whoever hung up needs no answer.
        if let Ok(Some(connection)) = converse(connection, &own, watch) {
            own.give_back(connection);
        }
    });
}

fn too_many_watch() -> String {
    format!("{WATCHES_MAX} watch already; try again later")
}

/// Answers all whole questions; the connection, if it may ask more.
fn converse(
    mut connection: Connection,
    shared: &Shared,
    mut watch: Option<Seat>,
) -> io::Result<Option<Connection>> {
    connection.stream.set_nonblocking(false)?;
    connection.stream.set_write_timeout(Some(UNREAD))?;
    while let Some(line) = connection.question() {
        let stream = &connection.stream;
        let ask = match serde_json::from_slice::<Question>(&line) {
            Ok(question) => question.ask,
            Err(error) => {
                let text = format!("not a question: {error}; ask {{\"ask\":\"status\"}}");
                return say(stream, &Answer::Error(text)).map(|()| None);
            }
        };
        let answer = match ask {
            Ask::Status => shared.desk.status().map(|status| Answer::Status(Box::new(status))),
            Ask::Resign => shared.desk.resign().map(|()| Answer::Done(true)),
            Ask::Watch => {
                // One that asked something else first has no place yet.
                match watch.take().or_else(|| Seat::take(&shared.watches, WATCHES_MAX)) {
                    Some(_seat) => {
                        let mut watcher = shared.desk.watch();
                        return stream_changes(stream, shared, &mut *watcher).map(|()| None);
                    }
                    None => Err(too_many_watch()),
                }
            }
        };
        say(stream, &answer.unwrap_or_else(Answer::Error))?;
    }
    connection.stream.set_nonblocking(true)?;
    connection.until = BootTime.now() + PATIENCE;
    Ok(Some(connection))
}

/// Somebody who asks.
struct Connection {
    stream: UnixStream,
    unread: Vec<u8>,
    /// When a whole question must have come.
    until: Instant,
}

/// What was heard from a connection.
enum Said {
    Nothing,
    Question,
    Goodbye,
}

impl Connection {
    /// Whoever could connect may ask: the kernel looked at the mode of the socket's file. Who the
    /// peer is does not matter, and in another namespace it may have no name here.
    fn admit(stream: UnixStream) -> Option<Self> {
        stream.set_nonblocking(true).ok()?;
        Some(Self { stream, unread: Vec::new(), until: BootTime.now() + PATIENCE })
    }

    /// Takes what was said, without waiting.
    fn listen(&mut self) -> Said {
        loop {
            if self.unread.contains(&b'\n') {
                return Said::Question;
            }
            if self.unread.len() >= QUESTION_MAX {
                let text = format!("a question has at most {QUESTION_MAX} bytes");
                let _ = say(&self.stream, &Answer::Error(text)); // or it sees that we hang up
                return Said::Goodbye;
            }
            let mut part = [0; 512];
            match self.stream.read(&mut part) {
                Ok(0) => return Said::Goodbye,
                Ok(count) => self.unread.extend_from_slice(&part[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Said::Nothing,
                Err(_) => return Said::Goodbye,
            }
        }
    }

    /// Whether its next question is to watch.
    fn asks_to_watch(&self) -> bool {
        let line = self.unread.split(|byte| *byte == b'\n').next().unwrap_or_default();
        serde_json::from_slice(line).is_ok_and(|question: Question| question.ask == Ask::Watch)
    }

    /// The next whole line.
    fn question(&mut self) -> Option<Vec<u8>> {
        let end = self.unread.iter().position(|byte| *byte == b'\n')?;
        let rest = self.unread.split_off(end + 1);
        Some(std::mem::replace(&mut self.unread, rest))
    }
}

fn stream_changes(
    stream: &UnixStream,
    shared: &Shared,
    watcher: &mut dyn Watcher,
) -> io::Result<()> {
    while !shared.is_over() && !has_left(stream) {
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
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let _ = poll(&mut fds, Some(&now)); // an error leaves no events behind
    fds[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::RDHUP)
}

fn say(mut stream: &UnixStream, answer: &Answer) -> io::Result<()> {
    let mut line = serde_json::to_vec(answer)?;
    line.push(b'\n');
    stream.write_all(&line)
}
