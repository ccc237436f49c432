//! Questions to the member's thread: the status.
//!
//! **Promise.** One is asked at a time, and the next not before [`REST`] has passed, however many
//! clients want to know: all that wait get the same answer. Nobody waits for longer than
//! [`PATIENCE`].

use crate::handler::HttpHandler;
use bellwether_net::Status;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, timeout};

/// How long the member's thread rests between two questions.
const REST: Duration = Duration::from_millis(20);
/// How long to wait for an answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// The most clients that wait.
const WAITING_MAX: usize = 256;

type Answer = Arc<Result<Status, String>>;

/// Where questions are put.
#[derive(Clone, Debug)]
pub(crate) struct Questions(mpsc::Sender<oneshot::Sender<Answer>>);

impl Questions {
    /// Where to put them, and who asks them: to be run beside.
    pub(crate) fn new(handler: Arc<dyn HttpHandler>) -> (Self, impl Future<Output = ()> + Send) {
        let (put, waiting) = mpsc::channel(WAITING_MAX);
        (Self(put), ask(handler, waiting))
    }

    /// The status; why there is none, in a sentence.
    pub(crate) async fn status(&self) -> Result<Status, String> {
        let (reply, replied) = oneshot::channel();
        if self.0.try_send(reply).is_err() {
            return Err(format!("{WAITING_MAX} clients wait already; ask again later"));
        }
        match timeout(PATIENCE, replied).await {
            Ok(Ok(answer)) => answer.as_ref().clone(),
            Ok(Err(_)) => Err("the member ends".to_owned()),
            Err(_) => Err(format!(
                "the member's thread has not answered within {} s: a disk may hold it up",
                PATIENCE.as_secs()
            )),
        }
    }
}

/// Asks for all that wait. The thread that waits for the answer is not the one of the connections.
async fn ask(handler: Arc<dyn HttpHandler>, mut waiting: mpsc::Receiver<oneshot::Sender<Answer>>) {
    while let Some(first) = waiting.recv().await {
        let mut clients = vec![first];
        while let Ok(next) = waiting.try_recv() {
            clients.push(next);
        }
        clients.retain(|client| !client.is_closed());
        if clients.is_empty() {
            continue;
        }
        let own = Arc::clone(&handler);
        let asked = tokio::task::spawn_blocking(move || own.status()).await;
        let answer = Arc::new(asked.unwrap_or_else(|_| Err("it cannot be asked".to_owned())));
        for client in clients {
            let _ = client.send(Arc::clone(&answer)); // it may not wait any more
        }
        sleep(REST).await;
    }
}
