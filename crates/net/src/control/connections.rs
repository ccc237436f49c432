//! The connections of the control socket. One thread reads from all that have sent no whole
//! question yet; a whole question gets a thread of its own.
//!
//! **Assumptions.** Calls of a [`ControlHandler`] take a moment, except that a leader that resigns
//! may have to end its command first.
//!
//! **Promise.** A connection without a question costs a file descriptor for a few seconds at most,
//! and is closed for a newer one if there are many. So a question is answered however many
//! connections are idle. Connections, threads, questions and times are bounded.

use super::handler::{ChangeStream, ControlHandler, WatchEvent};
use super::socket::Socket;
use super::{Answer, Ask, Question, STACK};
use crate::clock::{BootTime, Clock};
use crate::past::Past;
use crate::voter_change::VoterChange;
use crate::wake_fd::WakeFd;
use bellwether_core::{Duration, Instant, NodeId};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// The most connections without a whole question; beyond it, the one idle for longest is closed.
const SILENT_MAX: usize = 64;
/// The most questions answered at once.
const ANSWERED_MAX: usize = 32;
/// The most watches among them: the other threads are for questions with one answer.
const WATCHES_MAX: usize = 24;
/// The longest question, in bytes.
const QUESTION_MAX: usize = 4096;
/// The longest time for sending a question.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest time for reading an answer.
const UNREAD: std::time::Duration = std::time::Duration::from_secs(5);
/// How often a watch checks whether the client is still connected.
const LOOK: std::time::Duration = std::time::Duration::from_millis(500);
/// How long the end of the server waits for answers under way.
const LAST_ANSWERS: Duration = Duration::from_millis(200);

/// The state that all threads of a server share.
pub(super) struct Shared {
    desk: Arc<dyn ControlHandler>,
    over: AtomicBool,
    /// Wakes the thread that reads: the server ends, or a connection was answered.
    wake: WakeFd,
    answered: Arc<AtomicUsize>,
    watches: Arc<AtomicUsize>,
    /// Connections that were answered, and may ask again.
    back: Mutex<Vec<Connection>>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("answered", &self.answered).finish_non_exhaustive()
    }
}

impl Shared {
    pub(super) fn new(desk: Arc<dyn ControlHandler>) -> io::Result<Self> {
        let wake = WakeFd::new()?;
        let (answered, watches) = (Arc::default(), Arc::default());
        Ok(Self { desk, over: false.into(), wake, answered, watches, back: Mutex::default() })
    }

    /// Ends all threads soon, once the last answers are sent.
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
        self.wake.wake();
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    fn give_back(&self, connection: Connection) {
        self.back.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        self.wake.wake();
    }

    fn take_back(&self) -> Vec<Connection> {
        self.wake.clear();
        std::mem::take(&mut *self.back.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// One of a bounded number of permits, given back when dropped.
struct Permit(Arc<AtomicUsize>);

impl Permit {
    fn take(count: &Arc<AtomicUsize>, most: usize) -> Option<Self> {
        let more = |taken| (taken < most).then_some(taken + 1);
        let taken = count.fetch_update(Ordering::AcqRel, Ordering::Acquire, more);
        taken.is_ok().then(|| Self(Arc::clone(count)))
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Accepts connections and reads questions until the server ends.
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

/// Waits for a connection, for bytes, or until a connection was idle for too long.
fn wait(listener: &UnixListener, shared: &Shared, silent: &VecDeque<Connection>) {
    let first = silent.iter().map(|connection| connection.until).min();
    let timeout = first.and_then(|first| {
        let left = std::time::Duration::from_nanos(first.since(BootTime.now()).as_nanos());
        Timespec::try_from(left).ok()
    });
    let mut fds =
        vec![PollFd::new(listener, PollFlags::IN), PollFd::new(&shared.wake, PollFlags::IN)];
    fds.extend(silent.iter().map(|connection| PollFd::new(&connection.stream, PollFlags::IN)));
    let _ = poll(&mut fds, timeout.as_ref()); // an interruption is harmless
}

/// Accepts new connections, as many as there is room for.
fn accept(listener: &UnixListener, silent: &mut VecDeque<Connection>) {
    for _ in 0..SILENT_MAX {
        match listener.accept() {
            Ok((stream, _)) => silent.extend(Connection::admit(stream)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return,
            Err(_) => {
                // Perhaps out of file descriptors: close one, and wait rather than spin.
                drop(silent.pop_front());
                return thread::sleep(std::time::Duration::from_millis(10));
            }
        }
    }
}

/// Gives a whole question a thread, if a permit is free.
fn answer(connection: Connection, shared: &Arc<Shared>) {
    let refuse = |text: String| {
        let _ = say(&connection.stream, &Answer::Error(text)); // or it sees the close
    };
    let watch = if connection.asks_to_watch() {
        let Some(watch) = Permit::take(&shared.watches, WATCHES_MAX) else {
            return refuse(too_many_watch());
        };
        Some(watch)
    } else {
        None
    };
    let Some(permit) = Permit::take(&shared.answered, ANSWERED_MAX) else {
        return refuse(format!(
            "{ANSWERED_MAX} questions are being answered already; try again later"
        ));
    };
    let own = Arc::clone(shared);
    let answering = thread::Builder::new().name("control".to_owned()).stack_size(STACK);
    // Without a thread the permits and the connection are dropped, and the client sees that.
    let _ = answering.spawn(move || {
        let _permit = permit;
        // A client that disconnected needs no answer.
        if let Ok(Some(connection)) = converse(connection, &own, watch) {
            own.give_back(connection);
        }
    });
}

fn too_many_watch() -> String {
    format!("{WATCHES_MAX} clients watch already; try again later")
}

/// Answers all whole questions; returns the connection if it may ask more.
fn converse(
    mut connection: Connection,
    shared: &Shared,
    mut watch: Option<Permit>,
) -> io::Result<Option<Connection>> {
    connection.stream.set_nonblocking(false)?;
    connection.stream.set_write_timeout(Some(UNREAD))?;
    while let Some(line) = connection.question() {
        let stream = &connection.stream;
        let question = serde_json::from_slice::<Question>(&line);
        let question = match question {
            Ok(question) => question,
            Err(error) => {
                let text = format!("not a question: {error}; ask {{\"ask\":\"status\"}}");
                return say(stream, &Answer::Error(text)).map(|()| None);
            }
        };
        match question.ask {
            Ask::Watch => {
                // A connection that asked something else first has no permit yet.
                match watch.take().or_else(|| Permit::take(&shared.watches, WATCHES_MAX)) {
                    Some(_permit) => {
                        let mut watcher = shared.desk.watch();
                        return stream_changes(stream, shared, &mut *watcher).map(|()| None);
                    }
                    None => say(stream, &Answer::Error(too_many_watch()))?,
                }
            }
            Ask::Past => match shared.desk.past(question.last) {
                Ok(past) => stream_past(stream, shared, past)?,
                Err(why) => say(stream, &Answer::Error(why))?,
            },
            _ => say(stream, &answer_to(question, &*shared.desk).unwrap_or_else(Answer::Error))?,
        }
    }
    connection.stream.set_nonblocking(true)?;
    connection.until = BootTime.now() + PATIENCE;
    Ok(Some(connection))
}

/// The answer to a question that has one.
fn answer_to(question: Question, desk: &dyn ControlHandler) -> Result<Answer, String> {
    let Question { ask, to, add, remove, lock, drift_ppm, list, member, step, force, .. } =
        question;
    let done = |()| Answer::Done(true);
    match ask {
        Ask::Status => desk.status().map(|status| Answer::Status(Box::new(status))),
        Ask::Resign => desk.resign().map(done),
        Ask::Transfer => match to {
            Some(to) => desk.transfer(NodeId(to)).map(done),
            None => {
                Err("the member that is to lead is missing: ask {\"ask\":\"transfer\",\"to\":2}"
                    .to_owned())
            }
        },
        Ask::Voters => {
            match VoterChange::of(add, remove).xor(VoterChange::of_lengths(lock, drift_ppm)) {
                Some(change) => desk.change_voters(change, list).map(done),
                None => Err("one change at a time: a voter, {\"ask\":\"voters\",\"add\":4}, or \
                             lockTime and drift, {\"ask\":\"voters\",\"lock\":\"300ms\"}"
                    .to_owned()),
            }
        }
        Ask::Forget => match member {
            Some(id) => desk.forget(NodeId(id)).map(done),
            None => Err("whom? Ask {\"ask\":\"forget\",\"member\":4}".to_owned()),
        },
        Ask::Reload => Ok(desk.reload().map_or_else(Answer::Unchanged, Answer::Reloaded)),
        Ask::Keys => match step {
            Some(step) => Ok(desk.keys(step, force).map_or_else(Answer::NoStep, Answer::Keys)),
            None => Err("which step? Ask {\"ask\":\"keys\",\"step\":\"list\"}".to_owned()),
        },
        // Answered before, with many lines.
        Ask::Past | Ask::Watch => Err("this question has no single answer".to_owned()),
    }
}

/// A connected client.
struct Connection {
    stream: UnixStream,
    unread: Vec<u8>,
    /// The deadline for a whole question.
    until: Instant,
}

/// What a connection sent.
enum Said {
    Nothing,
    Question,
    Goodbye,
}

impl Connection {
    /// Every client that could connect may ask: the kernel checked the mode of the socket's file.
    /// The client's user id is not checked, because another namespace may not map it.
    fn admit(stream: UnixStream) -> Option<Self> {
        stream.set_nonblocking(true).ok()?;
        Some(Self { stream, unread: Vec::new(), until: BootTime.now() + PATIENCE })
    }

    /// Reads what has arrived, without waiting.
    fn listen(&mut self) -> Said {
        loop {
            if self.unread.contains(&b'\n') {
                return Said::Question;
            }
            if self.unread.len() >= QUESTION_MAX {
                let text = format!("a question has at most {QUESTION_MAX} bytes");
                let _ = say(&self.stream, &Answer::Error(text)); // or it sees the close
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
    watcher: &mut dyn ChangeStream,
) -> io::Result<()> {
    while !shared.is_over() && !has_left(stream) {
        match watcher.next(LOOK) {
            WatchEvent::Change(change) => say(stream, &Answer::Change(change))?,
            WatchEvent::Nothing => {}
            WatchEvent::Ended => break,
        }
    }
    Ok(())
}

/// Sends one record a line, and so keeps one of them in memory.
fn stream_past(stream: &UnixStream, shared: &Shared, past: Past) -> io::Result<()> {
    let mut buffered = BufWriter::new(stream);
    for record in past.take_while(|_| !shared.is_over()) {
        serde_json::to_writer(&mut buffered, &Answer::Record(Box::new(record)))?;
        buffered.write_all(b"\n")?;
    }
    buffered.flush()
}

/// Whether the client disconnected. Bytes after the question are not read.
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
