//! Work that takes a while, on threads of its own, whose results are streamed line by line.
//!
//! **Promise.** At most [`AT_ONCE`] requests work at a time; who comes later waits for a moment,
//! and is turned away then. The work of a client that has gone, and work that takes longer than its
//! limit, is told so; its slot is free as soon as it has noticed. What waits to be read is bounded:
//! a slow reader slows its own work. Work that panics says so in its last line.

use crate::reply;
use axum::body::{Body, Bytes};
use axum::http::HeaderValue;
use axum::response::Response;
use bellwether_core::Instant;
use bellwether_net::clock::{BootTime, Clock};
use futures_util::stream;
use hyper::StatusCode;
use serde::Serialize;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::timeout;

/// The most requests that work at a time.
pub(crate) const AT_ONCE: usize = 6;
/// The most that take only a moment.
pub(crate) const QUICK: usize = 12;
/// The most recorded traces that are held and judged at a time: each may need much memory.
pub(crate) const TRACES: usize = 2;
/// The most who watch live members at a time.
pub(crate) const WATCHERS: usize = 8;
/// How long a request waits for its turn.
const PATIENCE: Duration = Duration::from_secs(3);
/// How many bytes are sent at a time.
const PIECE: usize = 64 * 1024;
/// How many pieces wait to be read.
const PIECES: usize = 8;

/// What is said of work that panicked.
const BUG: &str = "the work ended without a result; this is a bug of the program";

const LINES: HeaderValue = HeaderValue::from_static("application/x-ndjson");

/// The slots for requests of one kind: so many are worked on at a time.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    free: Arc<Semaphore>,
    most: usize,
    /// How long one request may take.
    limit: Option<bellwether_core::Duration>,
}

/// The right to work on one request, until it is dropped.
pub(crate) type Slot = OwnedSemaphorePermit;

impl Slots {
    /// So many.
    pub(crate) fn new(most: usize) -> Self {
        Self { free: Arc::new(Semaphore::new(most)), most, limit: None }
    }

    /// The same for requests that may take so long.
    pub(crate) fn at_most(self, limit: bellwether_core::Duration) -> Self {
        Self { limit: Some(limit), ..self }
    }

    /// Waits for a free slot, for a moment.
    pub(crate) async fn enter(&self) -> Result<Slot, Response> {
        match timeout(PATIENCE, Arc::clone(&self.free).acquire_owned()).await {
            Ok(Ok(slot)) => Ok(slot),
            _ => Err(reply::busy(format!(
                "{} such requests are worked on already; close one of them, or ask again later",
                self.most
            ))),
        }
    }

    /// Does the work and streams its lines.
    pub(crate) async fn stream(
        &self,
        work: impl FnOnce(&mut Lines) -> Result<(), String> + Send + 'static,
    ) -> Response {
        match self.enter().await {
            Ok(slot) => self.stream_in(slot, work),
            Err(refused) => refused,
        }
    }

    /// The same in a slot that was entered before.
    pub(crate) fn stream_in(
        &self,
        slot: Slot,
        work: impl FnOnce(&mut Lines) -> Result<(), String> + Send + 'static,
    ) -> Response {
        let (sender, receiver) = mpsc::channel(PIECES);
        let limit = self.limit;
        let until = limit.map_or(Instant::NEVER, |limit| BootTime.now() + limit);
        tokio::task::spawn_blocking(move || {
            let client = Client { sender, until, late: Arc::default() };
            let mut lines = Lines { client, waiting: Vec::new() };
            // Nothing of the work is used after a panic.
            let worked = catch_unwind(AssertUnwindSafe(|| work(&mut lines)));
            let late = lines.client.late.load(Ordering::Relaxed);
            let problem = match (worked, limit.filter(|_| late)) {
                (Err(_), _) => Some(BUG.to_owned()),
                (Ok(_), Some(limit)) => Some(too_long(limit)),
                (Ok(done), None) => done.err(),
            };
            if let Some(why) = problem {
                lines.say(&serde_json::json!({ "lab": "error", "error": reply::one_line(why) }));
            }
            lines.send();
            drop(slot);
        });
        let pieces = stream::unfold(receiver, |mut receiver| async move {
            let piece: Bytes = receiver.recv().await?;
            Some((Ok::<_, std::convert::Infallible>(piece), receiver))
        });
        reply::of(StatusCode::OK, LINES, Body::from_stream(pieces))
    }

    /// Does the work and answers with its result.
    pub(crate) async fn answer<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Response> {
        self.answer_unless(|_| work()).await
    }

    /// The same; the work can ask whether the client has gone, so that nobody waits for it, or
    /// whether it takes too long, which is then the answer.
    pub(crate) async fn answer_unless<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Fn() -> bool) -> T + Send + 'static,
    ) -> Result<T, Response> {
        let slot = self.enter().await?;
        // The server drops this future when its client has gone.
        let waiting = Arc::new(());
        let watched = Arc::downgrade(&waiting);
        let limit = self.limit;
        let until = limit.map_or(Instant::NEVER, |limit| BootTime.now() + limit);
        let done = tokio::task::spawn_blocking(move || {
            let late = Cell::new(false);
            let done = work(&|| {
                late.set(late.get() || (until != Instant::NEVER && BootTime.now() >= until));
                late.get() || watched.strong_count() == 0
            });
            drop(slot);
            (done, late.get())
        });
        let done = done.await;
        drop(waiting);
        match (done, limit) {
            (Ok((_, true)), Some(limit)) => Err(reply::refused(too_long(limit))),
            (Ok((done, _)), _) => Ok(done),
            (Err(_), _) => Err(reply::error(StatusCode::INTERNAL_SERVER_ERROR, BUG)),
        }
    }
}

/// What is said of work that took longer than this.
fn too_long(limit: bellwether_core::Duration) -> String {
    format!(
        "this took longer than {limit}, which is the limit of a request; choose fewer runs, fewer \
         processes or a shorter time, or start with a longer --time-limit"
    )
}

/// Who waits for lines, and until when.
#[derive(Clone, Debug)]
struct Client {
    sender: mpsc::Sender<Bytes>,
    until: Instant,
    /// Whether the work was told that it takes too long.
    late: Arc<AtomicBool>,
}

impl Client {
    /// Whether the client has gone, or the work takes too long.
    fn is_over(&self) -> bool {
        if self.until != Instant::NEVER && BootTime.now() >= self.until {
            self.late.store(true, Ordering::Relaxed);
            return true;
        }
        self.sender.is_closed()
    }
}

/// Lines on their way to a client.
pub(crate) struct Lines {
    client: Client,
    waiting: Vec<u8>,
}

impl Lines {
    /// Writes a value as a line. It is sent at the latest with the next [`send`](Self::send).
    pub(crate) fn say(&mut self, value: &impl Serialize) {
        if serde_json::to_writer(&mut self.waiting, value).is_ok() {
            self.waiting.push(b'\n');
        }
        self.send_if_full();
    }

    /// Writes lines that are made already.
    pub(crate) fn put(&mut self, text: &str) {
        self.waiting.extend_from_slice(text.as_bytes());
        self.send_if_full();
    }

    fn send_if_full(&mut self) {
        if self.waiting.len() >= PIECE {
            self.send();
        }
    }

    /// Sends what waits. What nobody reads any more is forgotten.
    pub(crate) fn send(&mut self) {
        let piece = std::mem::take(&mut self.waiting);
        if !piece.is_empty() {
            let _ = self.client.sender.blocking_send(piece.into()); // the client may have gone
        }
    }

    /// Whether the work is to end: the client has gone, or it takes too long.
    pub(crate) fn is_over(&self) -> bool {
        self.client.is_over()
    }

    /// A way to ask that from another thread.
    pub(crate) fn watch(&self) -> impl Fn() -> bool + Send + Sync + 'static {
        let client = self.client.clone();
        move || client.is_over()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::to_bytes;
    use std::sync::mpsc::channel;
    use tokio::runtime::{Builder, Runtime};

    fn runtime() -> Runtime {
        Builder::new_current_thread().enable_all().build().expect("a runtime")
    }

    /// The lines that this work streams.
    fn streamed(
        slots: &Slots,
        work: impl FnOnce(&mut Lines) -> Result<(), String> + Send + 'static,
    ) -> String {
        runtime().block_on(async {
            let response = slots.stream(work).await;
            let bytes = to_bytes(response.into_body(), usize::MAX).await.expect("a body");
            String::from_utf8(bytes.to_vec()).expect("text")
        })
    }

    #[test]
    fn work_that_panics_says_so_and_frees_its_slot() {
        let slots = Slots::new(1);
        let said = streamed(&slots, |lines| {
            lines.say(&"begun");
            panic!("for a test");
        });
        assert_eq!(said, format!("\"begun\"\n{{\"lab\":\"error\",\"error\":\"{BUG}\"}}\n"));
        assert_eq!(slots.free.available_permits(), 1);
    }

    #[test]
    fn work_that_takes_too_long_is_told_so_and_so_is_its_client() {
        let slots = Slots::new(1).at_most(bellwether_core::Duration::from_millis(20));
        let said = streamed(&slots, |lines| {
            let over = lines.watch();
            while !over() {}
            Ok(())
        });
        assert!(said.contains("this took longer than 0.02s"), "{said}");
        // What ends in time is not blamed for what comes after it.
        let said = streamed(&slots, |lines| {
            lines.say(&"done");
            Ok(())
        });
        assert_eq!(said, "\"done\"\n");
    }

    #[test]
    fn an_answer_that_takes_too_long_is_refused_with_a_word() {
        let slots = Slots::new(1).at_most(bellwether_core::Duration::from_millis(20));
        let refused = runtime().block_on(slots.answer_unless(|over| while !over() {}));
        assert_eq!(refused.expect_err("it took too long").status(), 422);
        assert_eq!(slots.free.available_permits(), 1);
        assert!(runtime().block_on(slots.answer(|| 7)).is_ok_and(|it| it == 7));
    }

    #[test]
    fn an_answer_that_nobody_waits_for_is_given_up() {
        let (slots, (ended, end)) = (Slots::new(1), channel());
        runtime().block_on(async {
            let work = move |over: &dyn Fn() -> bool| {
                while !over() {}
                let _ = ended.send(());
            };
            let gone = timeout(Duration::from_millis(50), slots.answer_unless(work)).await;
            assert!(gone.is_err(), "nobody waits any more");
        });
        end.recv_timeout(Duration::from_secs(60)).expect("the work ends");
    }
}
