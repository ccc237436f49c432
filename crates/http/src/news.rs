//! The last changes, and the streams that read them.
//!
//! **Source.** Server-sent events, of the HTML standard: an `id:` that a client sends again as
//! `Last-Event-ID`, `event:`, `data:`, and comments as a sign of life.
//!
//! **Promise.** There is one ring of [`RING`] changes, and a stream is a number in it: however slow
//! its client is, nothing is queued for it. A stream whose next change is no longer there is told
//! so, and ends. A change is noted as told before any stream can read it.

use crate::doors::Streaming;
use crate::handler::HttpHandler;
use crate::history::History;
use bellwether_net::clock::{BootTime, Clock};
use bellwether_net::control::Change;
use bellwether_net::{Next, Snapshot, Watch};
use futures_util::Stream;
use futures_util::stream::unfold;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::unix::pipe::Receiver;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

/// How many changes can be read again.
pub const RING: usize = 256;
/// How often a silent stream shows that it is there.
const SIGN_OF_LIFE: Duration = Duration::from_secs(10);
/// How often to look whether the member has joined.
const LOOK: Duration = Duration::from_millis(50);

/// The last changes.
#[derive(Debug)]
pub(crate) struct News {
    /// Tells the changes of this run from those of another: they begin anew with each.
    run: u64,
    past: Mutex<Past>,
    /// How many changes there were; `None` when the member has ended.
    count: watch::Sender<Option<u64>>,
}

#[derive(Debug, Default)]
struct Past {
    /// The text of each change; the last one has the number `count`.
    ring: VecDeque<Arc<str>>,
    count: u64,
    history: History,
}

/// What a stream finds.
enum Found {
    Event(String),
    /// The next change is no longer in the ring.
    Gone,
    Nothing,
}

impl News {
    pub(crate) fn new() -> Self {
        let run = BootTime.now().as_nanos() ^ u64::from(std::process::id()) << 40;
        Self { run, past: Mutex::default(), count: watch::Sender::new(Some(0)) }
    }

    fn past(&self) -> MutexGuard<'_, Past> {
        self.past.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn history(&self) -> History {
        self.past().history.clone()
    }

    /// Adds a change, which was noted as told.
    fn push(&self, group: &str, standing: &Snapshot) {
        let mut past = self.past();
        past.history.note(standing);
        past.ring.push_back(text(group, standing).into());
        past.count += 1;
        if past.ring.len() > RING {
            past.ring.pop_front();
        }
        let count = past.count;
        drop(past);
        self.count.send_replace(Some(count));
    }

    /// Writes an event.
    fn event(&self, number: u64, kind: &str, data: &str) -> String {
        format!("id: {:x}-{number}\nevent: {kind}\ndata: {data}\n\n", self.run)
    }

    /// The change after this one.
    fn after(&self, number: u64) -> Found {
        let past = self.past();
        if number >= past.count {
            return Found::Nothing;
        }
        let first = past.count - past.ring.len() as u64 + 1;
        let Some(at) = (number + 1).checked_sub(first) else { return Found::Gone };
        match past.ring.get(at as usize) {
            Some(data) => Found::Event(self.event(number + 1, "change", data)),
            None => Found::Gone,
        }
    }

    /// Where a stream goes on whose client has last seen this id; `None` if that cannot be found.
    fn resume(&self, last: &str) -> Option<u64> {
        let (run, number) = last.trim().split_once('-')?;
        let (run, number) = (u64::from_str_radix(run, 16).ok()?, number.parse().ok()?);
        let known = number <= self.past().count && !matches!(self.after(number), Found::Gone);
        (run == self.run && known).then_some(number)
    }

    /// A stream that goes on after the id that its client has last seen, or begins with the
    /// present state.
    pub(crate) fn stream(
        self: &Arc<Self>,
        handler: Arc<dyn HttpHandler>,
        last: Option<&str>,
        place: Streaming,
    ) -> impl Stream<Item = Result<String, Infallible>> + Send + use<> {
        let from = last.and_then(|last| self.resume(last));
        let mut first = String::new();
        let number = from.unwrap_or_else(|| {
            let count = self.past().count;
            if last.is_some() {
                let why = "{\"error\":\"what came after that id is no longer known\"}";
                first += &self.event(count, "missed", why);
            }
            // The state is that of now, and notes itself as told.
            if let Ok(standing) = handler.standing() {
                first += &self.event(count, "state", &text(handler.group(), &standing));
            }
            count
        });
        first += ": the next change is sent at once\n\n";
        let count = self.count.subscribe();
        let news = Arc::clone(self);
        let reader = Reader { news, count, number, first: Some(first), over: false, _place: place };
        unfold(reader, |mut reader| async {
            let next = reader.next().await?;
            Some((Ok(next), reader))
        })
    }
}

/// The present state or a change, as `watch` writes it.
fn text(group: &str, standing: &Snapshot) -> String {
    serde_json::to_string(&Change::of(group, standing)).unwrap_or_default()
}

/// One stream.
struct Reader {
    news: Arc<News>,
    count: watch::Receiver<Option<u64>>,
    /// The last change that it was sent.
    number: u64,
    first: Option<String>,
    over: bool,
    _place: Streaming,
}

impl Reader {
    /// What to send next; `None` at the end.
    async fn next(&mut self) -> Option<String> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        loop {
            if self.over {
                return None;
            }
            let ended = self.count.borrow_and_update().is_none();
            match self.news.after(self.number) {
                Found::Event(text) => {
                    self.number += 1;
                    return Some(text);
                }
                Found::Gone => {
                    self.over = true;
                    let why = "{\"error\":\"more changes came than were read; connect again\"}";
                    return Some(self.news.event(self.number, "missed", why));
                }
                Found::Nothing if ended => {
                    self.over = true;
                    return Some(self.news.event(self.number, "ended", "{}"));
                }
                Found::Nothing => {}
            }
            match timeout(SIGN_OF_LIFE, self.count.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return None,
                Err(_) => return Some(": here\n\n".to_owned()),
            }
        }
    }
}

/// Follows the changes of the member until it ends.
///
/// The member's thread wakes this one by a descriptor alone: it takes no lock that this one holds.
pub(crate) async fn follow(handler: Arc<dyn HttpHandler>, news: Arc<News>) {
    let mut watch = loop {
        match handler.changes() {
            Some(watch) => break watch,
            None => sleep(LOOK).await,
        }
    };
    let wakes = watched(&mut watch);
    loop {
        match watch.try_next() {
            Next::Changed(standing) => {
                handler.note(&standing);
                news.push(handler.group(), &standing);
            }
            Next::Prolonged(standing) => news.past().history.prolong(&standing),
            Next::Ended => break,
            Next::Nothing => match &wakes {
                Some(wakes) if wakes.readable().await.is_ok() => {
                    while wakes.try_read(&mut [0; 8]).is_ok() {} // until it is not readable
                }
                _ => sleep(LOOK).await,
            },
        }
    }
    news.past().history.end();
    news.count.send_replace(None);
}

/// The descriptor that is readable when there may be a change, if the system has one.
///
/// It is read like a pipe, does not block, and reads as nothing else than numbers.
fn watched(watch: &mut Watch) -> Option<Receiver> {
    let fd = watch.fd().ok()?.try_clone_to_owned().ok()?;
    Receiver::from_owned_fd_unchecked(fd).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bellwether_core::{Instant, NodeId, Stage};

    fn looking() -> Snapshot {
        Snapshot {
            me: NodeId(1),
            leaders: Vec::new(),
            term: None,
            term_kept: false,
            reign: 0,
            until: Instant::NEVER,
            stage: Stage::Undecided,
            withdrawn: None,
            at: Instant::ZERO,
        }
    }

    #[test]
    fn the_ring_is_bounded_and_what_has_left_it_is_missed() {
        let news = News::new();
        let id = |number| format!("{:x}-{number}", news.run);
        assert_eq!(news.resume(&id(0)), Some(0));
        for _ in 0..RING + 10 {
            news.push("web", &looking());
        }
        assert_eq!(news.past().ring.len(), RING);
        let last = RING as u64 + 10;
        for (number, known) in [(9, false), (10, true), (last, true), (last + 1, false)] {
            let found = news.resume(&id(number));
            assert_eq!(found, known.then_some(number), "{number}");
        }
        assert!(matches!(news.after(9), Found::Gone));
        assert!(matches!(news.after(last), Found::Nothing));
        let Found::Event(text) = news.after(10) else { panic!("it is in the ring") };
        assert!(text.starts_with(&format!("id: {}\nevent: change\ndata: {{", id(11))), "{text}");
        assert!(text.ends_with("}\n\n"), "{text}");
        for foreign in ["", "7", "x-7", "-", "1-1", &format!("{:x}-7", news.run ^ 1)] {
            assert_eq!(news.resume(foreign), None, "{foreign:?}");
        }
    }
}
