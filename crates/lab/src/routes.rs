//! The paths, and what is answered at each.

use crate::doors::Doors;
use crate::program::{Demo, Program};
use crate::server::Settings;
use crate::work::{AT_ONCE, QUICK, Slots, TRACES, WATCHERS};
use crate::{figures, files, lessons, live, measure, recorded, reply, stage, trials};
use axum::Router;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_LENGTH, CONTENT_SECURITY_POLICY, HeaderName};
use axum::http::header::{REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::{get, post};
use hyper::{Method, StatusCode, Uri};
use serde::de::DeserializeOwned;
use serde_json::json;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::timeout;

/// The most bytes of a request's body.
pub(crate) const BODY_MAX: usize = 1 << 20;
/// How long the body of a request may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most characters that a refusal shows of a path that nobody knows.
const SHOWN: usize = 64;

/// Scripts of the page alone; pictures may have their own style.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
                      img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const OPENER: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// What all requests share.
pub(crate) struct App {
    pub(crate) doors: Doors,
    pub(crate) program: Arc<dyn Program>,
    /// The slots of requests that simulate: they may take minutes.
    pub(crate) slots: Slots,
    /// The slots of recorded traces.
    pub(crate) traces: Slots,
    /// The slots of requests that take a moment. They do not wait for those that simulate.
    pub(crate) quick: Slots,
    /// The slots of pages that watch live members, for as long as they are open.
    pub(crate) watchers: Slots,
    pub(crate) members: Vec<String>,
    /// How long a request that simulates may take.
    time_limit: bellwether_core::Duration,
    /// Whether it begins with a demonstration.
    pub(crate) begins_with_demo: bool,
    demo: Mutex<Option<Arc<dyn Demo>>>,
    /// Why there is no demonstration, if the server could not begin with one.
    pub(crate) complaint: Mutex<Option<String>>,
    pub(crate) figures: figures::Known,
}

pub(crate) type Shared = State<Arc<App>>;

impl App {
    pub(crate) fn new(doors: Doors, program: Arc<dyn Program>, settings: &Settings) -> Self {
        Self {
            doors,
            program,
            slots: Slots::new(AT_ONCE).at_most(settings.time_limit),
            traces: Slots::new(TRACES).at_most(settings.time_limit),
            quick: Slots::new(QUICK),
            watchers: Slots::new(WATCHERS),
            members: settings.members.clone(),
            time_limit: settings.time_limit,
            begins_with_demo: settings.demo,
            demo: Mutex::new(None),
            complaint: Mutex::new(None),
            figures: figures::Known::default(),
        }
    }

    /// The group of real processes, if there is one.
    pub(crate) fn demo(&self) -> MutexGuard<'_, Option<Arc<dyn Demo>>> {
        self.demo.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends what it started.
    pub(crate) fn end(&self) {
        let demo = self.demo().take();
        if let Some(demo) = demo {
            demo.end();
        }
    }
}

/// All paths.
pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/api/about", get(about))
        .route("/api/protocols", get(protocols))
        .route("/api/run", post(stage::run))
        .route("/api/command", post(stage::command))
        .route("/api/diagram", post(stage::diagram))
        .route("/api/lessons", get(lessons::list))
        .route("/api/lessons/{name}", get(lessons::one))
        .route("/api/measure", post(measure::measure))
        .route("/api/sweep", post(measure::sweep))
        .route("/api/figures", get(figures::list))
        .route("/api/figures/{id}", post(figures::one))
        .route("/api/check", post(trials::check))
        .route("/api/live", get(live::watch))
        .route("/api/live/resign", post(live::resign))
        .route("/api/demo/start", post(live::start))
        .route("/api/demo/stop", post(live::stop))
        .route("/api/demo/trace", get(live::trace))
        .route("/api/demo/{member}/{what}", post(live::act_on))
        .route("/api/judge", post(recorded::judge))
        .method_not_allowed_fallback(bad_method)
        .fallback(page)
        .layer(from_fn_with_state(Arc::clone(&app), guard))
        .with_state(app)
}

/// Turns away whoever may not ask, and says what a page may do.
async fn guard(State(app): Shared, request: Request, next: Next) -> Response {
    let mut response = match app.doors.refusal(request.uri(), request.headers()) {
        Some(refused) => refused,
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (OPENER, "same-origin"),
        (RESOURCE, "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

async fn page(method: Method, uri: Uri) -> Response {
    let path: String = uri.path().chars().take(SHOWN).collect();
    if method != Method::GET && method != Method::HEAD {
        let why = format!("{method} is not for {}; ask with GET", path.escape_debug());
        return reply::error(StatusCode::METHOD_NOT_ALLOWED, why);
    }
    files::at(uri.path()).unwrap_or_else(|| {
        let why = format!("there is no {}; the page is at /", path.escape_debug());
        reply::error(StatusCode::NOT_FOUND, why)
    })
}

async fn bad_method(method: Method, uri: Uri) -> Response {
    let why = format!("{method} is not for {}; the header Allow says what is", uri.path());
    reply::error(StatusCode::METHOD_NOT_ALLOWED, why)
}

async fn about(State(app): Shared) -> Response {
    reply::json(&json!({
        "version": env!("CARGO_PKG_VERSION"),
        "limits": {
            "nodes": stage::NODES_MAX,
            "events": stage::EVENTS_MAX,
            "measure_nodes": measure::NODES_MAX,
            "runs": measure::RUNS_MAX,
            "schedules": trials::SCHEDULES_MAX,
            "trace_bytes": recorded::BYTES_MAX,
            "seconds": app.time_limit.as_secs_f64(),
        },
        "demo": app.begins_with_demo,
        "members": app.members,
    }))
}

async fn protocols(State(app): Shared) -> Response {
    let program = Arc::clone(&app.program);
    match app.quick.answer(move || program.protocols()).await {
        Ok(protocols) => reply::json(&protocols),
        Err(refused) => refused,
    }
}

/// The body of a request, of at most so many bytes.
pub(crate) async fn body(request: Request, most: usize) -> Result<Vec<u8>, Response> {
    let large = || {
        let why = format!("the body of this request has at most {most} bytes; send less");
        reply::error(StatusCode::PAYLOAD_TOO_LARGE, why)
    };
    let length = request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok());
    if length.and_then(|length| length.parse().ok()).is_some_and(|it: u64| it > most as u64) {
        return Err(large());
    }
    match timeout(PATIENCE, to_bytes(request.into_body(), most)).await {
        Ok(Ok(bytes)) => Ok(bytes.to_vec()),
        Ok(Err(_)) => Err(large()),
        Err(_) => {
            let why = format!("the body did not come within {} s", PATIENCE.as_secs());
            Err(reply::error(StatusCode::REQUEST_TIMEOUT, why))
        }
    }
}

/// The body of a request, read as JSON.
pub(crate) async fn read<T: DeserializeOwned>(request: Request) -> Result<T, Response> {
    let bytes = body(request, BODY_MAX).await?;
    parse(&bytes).map_err(|why| reply::error(StatusCode::BAD_REQUEST, why))
}

/// The same of its bytes.
pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    serde_json::from_slice(bytes)
        .map_err(|error| format!("the body is not as it should be: {error}"))
}
