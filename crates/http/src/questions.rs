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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handler::Tallies;
    use bellwether_core::NodeId;
    use bellwether_net::control::{ChangeStream, ControlHandler};
    use bellwether_net::{Snapshot, VoterChange, Watch};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Counts how often it is asked for the status.
    #[derive(Default)]
    struct Asked(AtomicUsize);

    impl ControlHandler for Asked {
        fn status(&self) -> Result<Status, String> {
            self.0.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(50));
            Err("it has none".to_owned())
        }

        fn resign(&self) -> Result<(), String> {
            Err("it does not lead".to_owned())
        }

        fn transfer(&self, _to: NodeId) -> Result<(), String> {
            self.resign()
        }

        fn change_voters(&self, _change: VoterChange, _list: Option<u64>) -> Result<(), String> {
            self.resign()
        }

        fn forget(&self, _id: NodeId) -> Result<(), String> {
            self.resign()
        }

        fn watch(&self) -> Box<dyn ChangeStream> {
            unreachable!("nobody watches it")
        }
    }

    impl HttpHandler for Asked {
        fn group(&self) -> &'static str {
            "web"
        }

        fn standing(&self) -> Result<Snapshot, String> {
            Err("it has none".to_owned())
        }

        fn note(&self, _standing: &Snapshot) {}

        fn changes(&self) -> Option<Watch> {
            None
        }

        fn tallies(&self) -> Tallies {
            Tallies::default()
        }
    }

    #[test]
    fn however_many_ask_the_member_is_asked_once_at_a_time() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let member = Arc::new(Asked::default());
        runtime.block_on(async {
            let (questions, asking) = Questions::new(Arc::clone(&member) as _);
            tokio::spawn(asking);
            let ask = |_| {
                let questions = questions.clone();
                tokio::spawn(async move { questions.status().await })
            };
            let clients: Vec<_> = (0..WAITING_MAX).map(ask).collect();
            for client in clients {
                assert_eq!(client.await.unwrap(), Err("it has none".to_owned()));
            }
        });
        // Those that came while the first was asked are answered together.
        assert!(member.0.load(Ordering::Relaxed) <= 2, "{:?}", member.0);
    }
}
