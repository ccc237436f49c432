//! The thread that serves all connections.
//!
//! **Promise.** What takes a while is done on other threads. Connections, sizes and times are
//! bounded. When the laboratory is dropped, its connections are closed, work for them is told to
//! end, and the processes of its demonstration end.

use crate::doors::Doors;
use crate::live;
use crate::program::Program;
use crate::routes::{self, App};
use crate::work::{AT_ONCE, QUICK, WATCHERS};
use axum::Router;
use bellwether_http::{Patient, Token};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustix::rand::{GetRandomFlags, getrandom};
use std::fmt;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, oneshot};
use tokio::time::sleep;

/// How long the head of a request may take, and how long a connection may be idle.
const PATIENCE: Duration = Duration::from_secs(30);
/// The most bytes of the head of a request, and of an answer that waits to be read.
const HEAD_MAX: usize = 64 * 1024;
/// The most headers.
const HEADERS_MAX: usize = 64;
/// The most connections.
const CONNECTIONS_MAX: usize = 128;
/// How long to wait if the system has no descriptor for a connection.
const NO_ROOM: Duration = Duration::from_millis(100);
/// Threads for what blocks: the work, questions to members, and the start of a demonstration.
const WAITERS: usize = AT_ONCE + QUICK + WATCHERS + 1;
/// How many random bytes a token has.
const TOKEN_BYTES: usize = 16;

/// Where the laboratory answers, and to whom.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The address; port 0 for any that is free.
    pub listen: SocketAddr,
    /// What clients must show; drawn at random if absent.
    pub token: Option<Token>,
    /// Names, beside addresses and `localhost`, that it may be reached by.
    pub hosts: Vec<String>,
    /// The HTTP addresses of members elsewhere that are to be shown.
    pub members: Vec<String>,
    /// Whether it begins with a group of real processes.
    pub demo: bool,
    /// How long a request that simulates may take.
    pub time_limit: bellwether_core::Duration,
}

/// Why the laboratory cannot answer there.
#[derive(Debug)]
pub struct CannotStart {
    listen: SocketAddr,
    error: io::Error,
}

impl CannotStart {
    /// Whether another process answers there.
    pub fn is_taken(&self) -> bool {
        self.error.kind() == ErrorKind::AddrInUse
    }
}

impl fmt::Display for CannotStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { listen, error } = self;
        let hint = match error.kind() {
            ErrorKind::AddrInUse => "; another process has it: choose another port",
            ErrorKind::AddrNotAvailable => "; choose an address of this machine",
            ErrorKind::PermissionDenied => "; choose a port from 1024 on",
            _ => "",
        };
        write!(f, "cannot answer at {listen}: {error}{hint}")
    }
}

impl std::error::Error for CannotStart {}

/// The laboratory. It answers until it is dropped.
#[derive(Debug)]
pub struct Lab {
    address: SocketAddr,
    /// The token, if it was drawn here.
    drawn: Option<String>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Lab {
    /// Starts to answer.
    ///
    /// # Errors
    /// [`CannotStart`], with the address and what to do.
    pub fn start(settings: Settings, program: Arc<dyn Program>) -> Result<Self, CannotStart> {
        let failed = |error| CannotStart { listen: settings.listen, error };
        let listener = TcpListener::bind(settings.listen).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let (token, drawn) = match settings.token.clone() {
            Some(token) => (token, None),
            None => {
                let text = draw().map_err(failed)?;
                (Token::of(&text), Some(text))
            }
        };
        let runtime = Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(WAITERS)
            .thread_name("lab")
            .build()
            .map_err(failed)?;
        let doors = Doors { token, port: address.port(), hosts: settings.hosts.clone() };
        let app = Arc::new(App::new(doors, program, &settings));
        let (stop, stopped) = oneshot::channel();
        let thread = thread::Builder::new().name("lab-main".to_owned());
        let serving = thread.spawn(move || serve(runtime, listener, app, stopped));
        Ok(Self { address, drawn, stop: Some(stop), thread: Some(serving.map_err(failed)?) })
    }

    /// Its address, with the port that was chosen.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where a browser finds it. A token that was drawn is part of it, behind the sign that keeps
    /// it out of requests and logs.
    pub fn url(&self) -> String {
        let token = self.drawn.as_ref().map(|token| format!("#token={token}"));
        format!("http://{}/{}", self.address, token.unwrap_or_default())
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = self.stop.take().map(|stop| stop.send(())); // it may have ended already
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // a panic there ends it as well
        }
    }
}

/// A token that nobody can guess.
fn draw() -> io::Result<String> {
    let mut bytes = [0_u8; TOKEN_BYTES];
    let mut filled = 0;
    while filled < bytes.len() {
        match getrandom(&mut bytes[filled..], GetRandomFlags::empty()) {
            Ok(count) => filled += count,
            Err(rustix::io::Errno::INTR) => {} // a signal interrupted it
            Err(error) => return Err(error.into()),
        }
    }
    Ok(bellwether_core::to_hex(&bytes))
}

/// Serves until it is told to stop.
fn serve(runtime: Runtime, listener: TcpListener, app: Arc<App>, stopped: oneshot::Receiver<()>) {
    runtime.block_on(async {
        let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
        let shared = Arc::clone(&app);
        let demo = tokio::task::spawn_blocking(move || {
            if shared.begins_with_demo {
                live::begin_by_itself(&shared);
            }
        });
        let accepting = tokio::spawn(accept(listener, routes::router(Arc::clone(&app))));
        let _ = stopped.await; // a laboratory that is gone has stopped, too
        accepting.abort();
        let _ = demo.await; // what begins after the end would not be ended
    });
    // The processes of the demonstration are waited for; work that nobody reads is not.
    app.end();
    runtime.shutdown_background();
}

/// Accepts connections.
async fn accept(listener: tokio::net::TcpListener, router: Router) {
    let slots = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let Ok(slot) = Arc::clone(&slots).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let _ = stream.set_nodelay(true); // lines are short
                let service = TowerToHyperService::new(router.clone());
                tokio::spawn(async move {
                    let connection = http1::Builder::new()
                        .timer(TokioTimer::new())
                        .header_read_timeout(PATIENCE)
                        .max_buf_size(HEAD_MAX)
                        .max_headers(HEADERS_MAX)
                        .serve_connection(TokioIo::new(Patient::new(stream)), service);
                    let _ = connection.await; // whatever is wrong with it, it is over
                    drop(slot);
                });
            }
            Err(error) => {
                let over = [ErrorKind::ConnectionAborted, ErrorKind::ConnectionReset];
                if !over.contains(&error.kind()) {
                    sleep(NO_ROOM).await;
                }
            }
        }
    }
}
