//! The thread that serves all connections.
//!
//! **Promise.** It is one thread, with less priority than others of the process; it never takes the
//! processor from the election. What has to wait for the member does so on a few others. When the
//! server is dropped, all of its connections are closed.

use crate::doors::Doors;
use crate::handler::HttpHandler;
use crate::news::{self, News};
use crate::patient::Patient;
use crate::place::{Listener, Place, SocketFile};
use crate::questions::Questions;
use crate::routes::{self, App, CHANGES_MAX, Origin};
use crate::token::Token;
use axum::Router;
use axum::extract::Extension;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::fmt;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, oneshot};
use tokio::time::sleep;

/// How long the head of a request may take, and how long a connection may be idle.
const PATIENCE: Duration = Duration::from_secs(5);
/// The most bytes of the head of a request, and of an answer that waits to be read.
const HEAD_MAX: usize = 16 * 1024;
/// The most headers.
const HEADERS_MAX: usize = 64;
/// How long to wait if the system has no descriptor for a connection.
const NO_ROOM: Duration = Duration::from_millis(100);
/// Threads that wait for the member: those that resign, and one that asks for the status.
const WAITERS: usize = CHANGES_MAX + 1;
/// The stack size of such a thread.
const STACK: usize = 256 * 1024;
/// How much less important than others the thread is.
const NICE: i32 = 5;
/// How long answers that are under way may take at the end.
const LAST_ANSWERS: Duration = Duration::from_millis(100);

/// Why a member cannot answer there.
#[derive(Debug)]
pub struct CannotServe {
    place: Place,
    error: io::Error,
}

impl CannotServe {
    /// Whether the settings are wrong, rather than the machine.
    pub fn is_config(&self) -> bool {
        matches!(self.error.kind(), ErrorKind::NotFound | ErrorKind::AddrNotAvailable)
    }

    /// Whether somebody answers there already.
    pub fn is_taken(&self) -> bool {
        self.error.kind() == ErrorKind::AddrInUse
    }
}

impl fmt::Display for CannotServe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, error } = self;
        let hint = match (error.kind(), place) {
            (ErrorKind::AddrInUse, Place::Tcp(_)) => "; another process has it: choose another",
            (ErrorKind::AddrInUse, Place::Unix(_)) => {
                "; another process answers there, or it is no socket: choose another path"
            }
            (ErrorKind::AddrNotAvailable, _) => "; choose an address of this machine",
            (ErrorKind::NotFound, _) => "; make its directory first",
            _ => "",
        };
        write!(f, "cannot answer HTTP at {place}: {error}{hint}")
    }
}

impl std::error::Error for CannotServe {}

/// Serves HTTP for a member until it is dropped.
#[derive(Debug)]
pub struct Server {
    address: Option<SocketAddr>,
    token: Arc<Mutex<Option<Token>>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Answers at this place. Whoever has the token may change something; without one, only who
    /// comes through a Unix socket may.
    ///
    /// # Errors
    /// [`CannotServe`], with the place and what to do.
    pub fn start(
        place: &Place,
        token: Option<Token>,
        handler: Arc<dyn HttpHandler>,
    ) -> Result<Self, CannotServe> {
        let failed = |error| CannotServe { place: place.clone(), error };
        let listener = place.listen().map_err(failed)?;
        let address = match &listener {
            Listener::Tcp(listener) => listener.local_addr().ok(),
            Listener::Unix(..) => None,
        };
        let runtime = Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(WAITERS)
            .thread_name("http-waits")
            .thread_stack_size(STACK)
            .build()
            .map_err(failed)?;
        let door = Door::open(&runtime, listener).map_err(failed)?;
        let (stop, stopped) = oneshot::channel();
        let thread = thread::Builder::new().name("http".to_owned());
        let token = Arc::new(Mutex::new(token));
        let shown = Arc::clone(&token);
        let serve = move || serve(runtime, door, shown, handler, stopped);
        let thread = Some(thread.spawn(serve).map_err(failed)?);
        Ok(Self { address, token, stop: Some(stop), thread })
    }

    /// From the next request on, whoever has this token may change something. Connections stay.
    pub fn set_token(&self, token: Option<Token>) {
        *self.token.lock().unwrap_or_else(PoisonError::into_inner) = token;
    }

    /// Its address, if it is not a path: the port that was chosen, if port 0 was asked for.
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.stop.take().map(|stop| stop.send(())); // it may have ended already
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // a panic there ends it as well
        }
    }
}

/// A socket that listens, known to the runtime.
enum Door {
    Tcp(TcpListener),
    Unix(UnixListener, SocketFile),
}

impl Door {
    fn open(runtime: &Runtime, listener: Listener) -> io::Result<Self> {
        let _inside = runtime.enter();
        Ok(match listener {
            Listener::Tcp(listener) => Self::Tcp(TcpListener::from_std(listener)?),
            Listener::Unix(listener, file) => Self::Unix(UnixListener::from_std(listener)?, file),
        })
    }
}

/// Serves until it is told to stop.
fn serve(
    runtime: Runtime,
    door: Door,
    token: Arc<Mutex<Option<Token>>>,
    handler: Arc<dyn HttpHandler>,
    stopped: oneshot::Receiver<()>,
) {
    // If that is refused, the thread is as important as others, and less than the election's.
    let _ = rustix::process::setpriority_process(None, NICE);
    runtime.block_on(async move {
        let news = Arc::new(News::new());
        let (questions, asking) = Questions::new(Arc::clone(&handler));
        let doors = Arc::new(Doors::new());
        tokio::spawn(asking);
        tokio::spawn(news::follow(Arc::clone(&handler), Arc::clone(&news)));
        let changes = Arc::new(Semaphore::new(CHANGES_MAX));
        let app = App { handler, token, news, questions, doors: Arc::clone(&doors), changes };
        let accepting = tokio::spawn(accept(door, routes::router(Arc::new(app)), doors));
        let _ = stopped.await; // a server that is gone has stopped, too
        accepting.abort();
        sleep(LAST_ANSWERS).await;
    });
    // A thread that waits for the member is not waited for.
    runtime.shutdown_background();
}

/// Accepts connections.
async fn accept(door: Door, router: Router, doors: Arc<Doors>) {
    loop {
        let accepted = match &door {
            Door::Tcp(listener) => listener.accept().await.map(|(stream, _)| {
                let _ = stream.set_nodelay(true); // answers are short
                let _ = rustix::net::sockopt::set_tcp_user_timeout(
                    &stream,
                    u32::try_from(4 * PATIENCE.as_millis()).unwrap_or(u32::MAX),
                );
                enter(stream, false, &router, &doors);
            }),
            Door::Unix(listener, _file) => {
                let accepted = listener.accept().await;
                accepted.map(|(stream, _)| enter(stream, true, &router, &doors))
            }
        };
        if let Err(error) = accepted
            && !matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset)
        {
            sleep(NO_ROOM).await;
        }
    }
}

/// Serves one connection in a task of its own.
fn enter<S>(stream: S, private: bool, router: &Router, doors: &Arc<Doors>)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let number = doors.number();
    let service = router.clone().layer(Extension(Origin { number, private }));
    let leaving = Leaving(Arc::clone(doors), number);
    let task = tokio::spawn(async move {
        let _leaving = leaving;
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(PATIENCE)
            .max_buf_size(HEAD_MAX)
            .max_headers(HEADERS_MAX)
            .serve_connection(
                TokioIo::new(Patient::new(stream)),
                TowerToHyperService::new(service),
            );
        let _ = connection.await; // whatever is wrong with it, it is over
    });
    doors.enter(number, task.abort_handle());
}

/// Says that a connection is over.
struct Leaving(Arc<Doors>, u64);

impl Drop for Leaving {
    fn drop(&mut self) {
        self.0.leave(self.1);
    }
}
